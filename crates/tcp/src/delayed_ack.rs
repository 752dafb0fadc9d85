//! How long an acknowledgement may wait, and when none may.
//!
//! Acknowledgements that wait save packets; those sent at once let a sender start or
//! start again quickly. A quota of quick acknowledgements covers the latter, a timeout
//! (ATO) that follows the gaps between segments the former.

use dumbbell_network::{Span, Time};

use crate::stack::{AckDelay, Stack};

/// The acknowledgement timeout and the quota of quick acknowledgements.
#[derive(Clone, Debug)]
#[repr(C)] // What every segment touches comes first.
pub struct DelayedAck {
    /// When the last segment in order arrived.
    last: Time,
    /// Gaps shorter than this leave everything as it is.
    usual: Span,
    /// How long an acknowledgement may wait now.
    wait: Span,
    /// What is left of the quota.
    quick: u32,
    quick_max: u32,
    policy: AckDelay,
    begun: bool,
    shortest: Span,
    longest: Span,
    /// The ATO.
    timeout: Span,
    rtt: Option<Span>,
    rto: Span,
}

impl DelayedAck {
    /// Nothing has arrived.
    pub const fn new(stack: &Stack) -> Self {
        let usual = match stack.delayed_ack {
            AckDelay::Fixed => Span(u64::MAX),
            AckDelay::Adaptive => Span::ZERO,
        };
        Self {
            last: Time::ZERO,
            usual,
            wait: stack.delayed_ack_ns,
            quick: stack.quick_acks,
            quick_max: stack.quick_acks,
            policy: stack.delayed_ack,
            begun: false,
            shortest: stack.delayed_ack_ns,
            longest: stack.delayed_ack_max_ns,
            timeout: stack.delayed_ack_ns,
            rtt: None,
            rto: stack.rto_initial_ns,
        }
    }

    /// Takes the round-trip time, and the retransmission timeout that follows from it.
    pub fn set_rtt(&mut self, rtt: Span, rto: Span) {
        self.rtt = Some(rtt);
        self.rto = rto;
        self.settle();
    }

    /// Whether a segment in order at `now` changes nothing here but the time.
    #[inline]
    pub fn is_usual(&self, now: Time) -> bool {
        now.since(self.last) < self.usual
    }

    /// Takes a segment in order for which [`Self::is_usual`] holds.
    #[inline]
    pub const fn on_usual_data(&mut self, now: Time) {
        self.last = now;
    }

    /// Takes a segment in order.
    pub fn on_data(&mut self, now: Time) {
        let gap = now.since(self.last);
        self.last = now;
        let first = !std::mem::replace(&mut self.begun, true);
        if self.policy == AckDelay::Adaptive {
            if !first {
                self.adapt(gap);
            }
            let settled = self.after_short_gap() == self.timeout;
            self.usual = if settled { Span(self.shortest.0 / 2 + 1) } else { Span::ZERO };
            self.settle();
        }
    }

    /// Follows the gaps between segments: half of the old timeout, and the gap.
    fn adapt(&mut self, gap: Span) {
        if gap.0 <= self.shortest.0 / 2 {
            self.timeout = self.after_short_gap();
        } else if gap < self.timeout {
            self.timeout = Span(self.timeout.0 / 2 + gap.0).min(self.rto);
        } else if gap > self.rto {
            self.hurry(u32::MAX);
        }
    }

    const fn after_short_gap(&self) -> Span {
        Span(self.timeout.0 / 2 + self.shortest.0 / 2)
    }

    /// A wait longer than a round trip would only make the sender stop, one shorter
    /// than the shortest would never be worth its timer.
    fn settle(&mut self) {
        if self.policy == AckDelay::Adaptive {
            let round_trip = self.rtt.map_or(self.longest, |rtt| rtt.max(self.shortest));
            self.wait = self.timeout.min(round_trip).min(self.longest);
        }
    }

    /// How long an acknowledgement may wait for another segment.
    #[inline]
    pub const fn wait(&self) -> Span {
        self.wait
    }

    /// Lets the next `acks` acknowledgements go at once, as many as the stack allows.
    pub fn hurry(&mut self, acks: u32) {
        if self.policy == AckDelay::Adaptive {
            self.quick = self.quick.max(acks.min(self.quick_max));
        }
    }

    /// Whether the next acknowledgement may not wait.
    #[inline]
    pub const fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// Counts an acknowledgement that is being sent.
    #[inline]
    pub const fn on_ack(&mut self) {
        self.quick = self.quick.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::linux_6;

    fn adaptive() -> DelayedAck {
        let stack = Stack { delayed_ack: AckDelay::Adaptive, ..linux_6() };
        let mut delay = DelayedAck::new(&stack);
        delay.set_rtt(Span::from_millis(50), Span::from_millis(250));
        delay
    }

    /// Waits in ms after segments with the given gaps in ms.
    fn waits(delay: &mut DelayedAck, gaps_ms: &[u64]) -> Vec<u64> {
        let mut now = delay.last;
        let after = |gap: &u64| {
            now += Span::from_millis(*gap);
            delay.on_data(now);
            delay.wait().as_micros() / 1_000
        };
        gaps_ms.iter().map(after).collect()
    }

    #[test]
    fn the_timeout_follows_the_gaps() {
        let mut delay = adaptive();
        delay.set_rtt(Span::from_millis(500), Span::from_millis(1_500));
        // 40; 20 + 30; 25 + 40; short gaps lead back: 32 + 20, 26 + 20.
        assert_eq!(waits(&mut delay, &[0, 30, 40, 1, 1]), [40, 50, 65, 52, 46]);
        // A gap of the timeout or more leaves it alone.
        assert_eq!(waits(&mut delay, &[100, 46]), [46, 69]);
        // The wait never exceeds 200 ms, however slowly segments come.
        let grown = waits(&mut delay, &[60, 80, 110, 150, 200, 240]);
        assert_eq!(grown.last(), Some(&200));
    }

    #[test]
    fn a_short_round_trip_limits_the_wait() {
        let mut delay = adaptive();
        assert_eq!(waits(&mut delay, &[0, 35, 50]), [40, 50, 50]);
        delay.set_rtt(Span::from_millis(1), Span::from_millis(201));
        assert_eq!(delay.wait(), Span::from_millis(40));
    }

    #[test]
    fn the_start_of_a_late_flow_is_no_gap() {
        let mut delay = adaptive();
        delay.on_data(Time(30_000_000));
        assert_eq!(delay.wait(), Span::from_millis(40));
        assert!(delay.is_usual(Time(50_000_000)), "a gap of half the timeout changes nothing");
        assert!(!delay.is_usual(Time(50_000_001)));
    }

    #[test]
    fn a_gap_beyond_the_rto_fills_the_quota_again() {
        let mut delay = adaptive();
        delay.on_data(Time::ZERO);
        for _ in 0..16 {
            assert!(delay.is_quick());
            delay.on_ack();
        }
        waits(&mut delay, &[250]);
        assert!(!delay.is_quick());
        waits(&mut delay, &[251]);
        assert_eq!(delay.quick, 16);
        delay.quick = 1;
        delay.hurry(2);
        assert_eq!(delay.quick, 2);
    }

    #[test]
    fn a_fixed_delay_never_changes_and_its_quota_is_never_filled_again() {
        let stack = Stack { delayed_ack: AckDelay::Fixed, ..linux_6() };
        let mut delay = DelayedAck::new(&stack);
        assert!(delay.is_usual(Time(u64::MAX - 1)));
        assert_eq!(waits(&mut delay, &[30, 30, 5_000]), [40, 40, 40]);
        delay.quick = 0;
        delay.hurry(16);
        assert!(!delay.is_quick());
    }
}
