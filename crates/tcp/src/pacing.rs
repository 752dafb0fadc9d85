//! Pacing: the earliest departure of the next chunk, and the stack's own rate.

use dumbbell_algorithm::Conn;
use dumbbell_network::{Span, Time};

use crate::stack::Stack;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const MICROS_PER_SECOND: u64 = 1_000_000;

/// Spreads the chunks of a flow over time.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Time at which the next chunk would leave by the rate.
    due: Time,
    /// Time at which it may leave.
    earliest: Time,
    free_segs: u64,
    gives_credit: bool,
    late: Span,
}

impl Pacer {
    /// A pacer whose first chunk may leave at once.
    pub const fn new(stack: &Stack) -> Self {
        Self {
            due: Time::ZERO,
            earliest: Time::ZERO,
            free_segs: stack.pacing_free_segs as u64,
            gives_credit: stack.pacing_credit,
            late: stack.pacing_late_ns,
        }
    }

    /// Time at which the next chunk may leave.
    #[inline]
    pub const fn earliest(&self) -> Time {
        self.earliest
    }

    /// Forget all chunks that were sent.
    pub const fn restart(&mut self, now: Time) {
        self.due = now;
        self.earliest = now;
    }

    /// Charge a chunk that leaves now. `sent_segs` counts all segments of the connection up to its
    /// end, and `rate` is in bytes per second.
    #[inline]
    pub fn charge(&mut self, now: Time, bytes: u64, sent_segs: u64, rate: u64) {
        // Linux does not pace the first segments of a connection (tcp_update_skb_after_send).
        if sent_segs < self.free_segs {
            return;
        }
        let length = bytes * NANOS_PER_SECOND / rate;
        let late = now.0.saturating_sub(self.due.0);
        // The credit is at most half a chunk, so a late sender catches up gradually.
        let credit = if self.gives_credit { late.min(length / 2) } else { 0 };
        self.due = self.due.max(now) + Span(length - credit);
        self.earliest = self.due + self.late;
    }
}

/// Return Linux's own pacing rate in bytes per second. It is 200 % of the window per smoothed round
/// trip below half of ssthresh, and 120 % above.
pub fn stack_rate(conn: &Conn, outstanding_segs: u64) -> u64 {
    let percent = if conn.cwnd_segs < conn.ssthresh_segs / 2 { 200 } else { 120 };
    // More than the window is outstanding after a reduction. Linux takes the larger of both, so the
    // rate does not fall before the flight does (tcp_update_pacing_rate).
    let window = u64::from(conn.cwnd_segs).max(outstanding_segs) * u64::from(conn.mss_bytes);
    let per_second = window.saturating_mul(MICROS_PER_SECOND / 100 * percent);
    per_second / u64::from(conn.srtt_us.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::PROFILES;
    use proptest::prelude::*;

    fn pacer(free_segs: u32, credit: bool) -> Pacer {
        let linux = (PROFILES.last().unwrap().stack)();
        Pacer::new(&Stack { pacing_free_segs: free_segs, pacing_credit: credit, ..linux })
    }

    #[test]
    fn the_tenth_segment_is_the_first_to_make_the_next_one_wait() {
        let mut pacer = pacer(10, true);
        for sent in 1..10 {
            pacer.charge(Time(5), 1500, sent, 1_500_000);
            assert_eq!(pacer.earliest(), Time::ZERO);
        }
        pacer.charge(Time(5), 1500, 10, 1_500_000);
        assert!(pacer.earliest() > Time(5));
    }

    #[test]
    fn lateness_gives_at_most_half_a_chunk_of_credit() {
        for (late, wait) in [(0, 1_000_000), (300_000, 700_000), (9_000_000, 500_000)] {
            let mut pacer = pacer(0, true);
            pacer.charge(Time::ZERO, 1500, 1, 1_500_000);
            let now = Time(1_000_000 + late);
            pacer.charge(now, 1500, 2, 1_500_000);
            assert_eq!(pacer.earliest(), now + Span(wait), "late by {late} ns");
        }
    }

    #[test]
    fn without_credit_the_wait_is_the_length() {
        let mut pacer = pacer(0, false);
        pacer.charge(Time(7_000_000), 1500, 1, 1_500_000);
        assert_eq!(pacer.earliest(), Time(8_000_000));
    }

    #[test]
    fn the_stack_paces_at_twice_the_window_in_slow_start_and_at_1_2_later() {
        let mut conn = Conn { cwnd_segs: 100, srtt_us: 100_000, ..Conn::default() };
        assert_eq!(stack_rate(&conn, 0), 2 * 1_448_000);
        assert_eq!(stack_rate(&conn, 150), 3 * 1_448_000);
        conn.ssthresh_segs = 200;
        assert_eq!(stack_rate(&conn, 0), 1_737_600);
    }

    #[test]
    fn a_late_timer_slows_a_flow_that_gets_no_credit_for_it() {
        for (credit, period_ns) in [(false, 1_250_000), (true, 1_000_000)] {
            let mut pacer = Pacer { late: Span(250_000), ..pacer(0, credit) };
            let mut departures = Vec::new();
            for _ in 0..20 {
                let now = pacer.earliest();
                pacer.charge(now, 1500, 1, 1_500_000);
                departures.push(now.0);
            }
            assert_eq!(departures[0], 0, "the first one waits for no timer");
            assert_eq!(departures[19] - departures[9], 10 * period_ns);
        }
    }

    proptest! {
        /// Upper bound in any interval: the rate, the chunk at its start, and half a chunk of
        /// credit.
        #[test]
        fn no_interval_sees_more_than_the_rate_and_a_chunk_and_a_half(
            waits in prop::collection::vec(0u64..3_000_000, 1..60),
            chunk in 1u64..45,
            rate in 100_000u64..2_000_000_000,
        ) {
            let mut pacer = pacer(0, true);
            let bytes = chunk * 1500;
            let mut now = Time::ZERO;
            let mut departures = Vec::new();
            for wait in waits {
                now = (now + Span(wait)).max(pacer.earliest());
                pacer.charge(now, bytes, 1, rate);
                departures.push(now.0);
            }
            for (first, &begin) in departures.iter().enumerate() {
                for (last, &end) in departures.iter().enumerate().skip(first) {
                    let count = (last - first + 1) as u64;
                    // Lengths are whole nanoseconds, rounded down.
                    let span = u128::from(end - begin + 2 * count);
                    let allowed = u128::from(rate) * span / 1_000_000_000;
                    prop_assert!(u128::from(count * bytes) <= allowed + u128::from(bytes * 3 / 2) + 1);
                }
            }
        }
    }
}
