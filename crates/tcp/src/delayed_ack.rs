//! Delayed ACKs: the longest wait of an ACK, and the ACKs that may not wait.
//!
//! A delayed ACK saves packets. An ACK that leaves at once lets a sender start or restart quickly.
//! A quota of quick ACKs serves the start, and a timeout (ATO) that follows the gaps between
//! segments limits the delay. Linux counts the timeout and the gaps in ticks of its timers.

use dumbbell_network::{Span, Time};

use crate::stack::{AckDelay, Stack};
use crate::tick::Tick;

/// The acknowledgement timeout and the quota of quick acknowledgements.
#[derive(Clone, Debug)]
#[repr(C)] // Fields that every segment touches come first.
pub struct DelayedAck {
    /// Arrival of the last segment in order.
    last: Time,
    /// Gaps shorter than this change nothing.
    short: Span,
    /// Current longest wait of an ACK.
    wait: Span,
    /// Rest of the quota.
    quick: u32,
    quick_max: u32,
    policy: AckDelay,
    begun: bool,
    tick: Tick,
    /// This and the following fields are in ticks.
    shortest: u32,
    longest: u32,
    /// The ATO.
    timeout: u32,
    rtt: u32,
    rto: u32,
}

impl DelayedAck {
    /// State after the handshake, with its round-trip time and the retransmission timeout that it
    /// gives.
    pub fn new(stack: &Stack, rtt: Span, rto: Span) -> Self {
        let short = match stack.delayed_ack {
            AckDelay::Fixed => Span(u64::MAX),
            AckDelay::Adaptive => Span::ZERO,
        };
        let tick = Tick::of(stack);
        Self {
            last: Time::ZERO,
            short,
            wait: stack.delayed_ack_ns,
            quick: stack.quick_acks,
            quick_max: stack.quick_acks,
            policy: stack.delayed_ack,
            begun: false,
            tick,
            shortest: tick.count(stack.delayed_ack_ns),
            longest: tick.count(stack.delayed_ack_max_ns),
            timeout: tick.count(stack.delayed_ack_ns),
            rtt: tick.count(rtt),
            rto: tick.count(rto),
        }
    }

    /// Return whether a segment in order at `now` changes nothing here but the time.
    #[inline]
    pub fn predicts(&self, now: Time) -> bool {
        now.since(self.last) < self.short
    }

    /// Take a segment in order for which [`Self::predicts`] holds.
    #[inline]
    pub const fn on_predicted_data(&mut self, now: Time) {
        self.last = now;
    }

    /// Take a segment in order.
    pub fn on_data(&mut self, now: Time) {
        let gap = self.tick.clock(now).wrapping_sub(self.tick.clock(self.last));
        self.last = now;
        // Nothing precedes the first segment, so a late start of its flow is no gap.
        let first = !std::mem::replace(&mut self.begun, true);
        if self.policy == AckDelay::Adaptive {
            if !first {
                self.adapt(gap);
            }
            self.settle();
        }
    }

    /// Return the time at which a wait until `due` ends.
    pub const fn end(&self, due: Time) -> Time {
        match self.policy {
            AckDelay::Adaptive if self.wait.0 > 0 => self.tick.end(due, self.wait),
            _ => due,
        }
    }

    /// Return whether a wait that ends at `due` is in its last quarter at `now`; never if `due` is
    /// [`Time::NEVER`]. Linux then acknowledges the next segment at once.
    pub fn is_nearly_over(&self, due: Time, now: Time) -> bool {
        // The rule of tcp_send_delayed_ack, in whole ticks.
        let rest = self.tick.clock(due).wrapping_sub(self.tick.clock(now));
        due < Time::NEVER
            && self.policy == AckDelay::Adaptive
            && rest <= self.tick.count(self.wait) / 4
    }

    /// Record that a wait was in vain, because no other segment came. The next wait may be longer.
    pub fn on_expiry(&mut self) {
        if self.policy == AckDelay::Adaptive {
            // As in tcp_delack_timer_handler, for a connection that is not interactive.
            self.timeout = self.timeout.saturating_mul(2).min(self.rto);
            self.settle();
        }
    }

    /// Follow the gaps between segments: half of the old timeout plus the gap.
    fn adapt(&mut self, gap: u32) {
        // The cases of tcp_event_data_recv. A gap between the timeout and the RTO is in none of
        // them and changes nothing.
        if gap <= self.shortest / 2 {
            self.timeout = self.after_short_gap();
        } else if gap < self.timeout {
            self.timeout = (self.timeout / 2 + gap).min(self.rto);
        } else if gap > self.rto {
            // After such a pause the sender may restart with a small window, which needs every ACK.
            self.hurry(u32::MAX);
        }
    }

    const fn after_short_gap(&self) -> u32 {
        self.timeout / 2 + self.shortest / 2
    }

    /// Update the values that depend on the timeout. A wait longer than a round trip would only
    /// stop the sender. A wait below the shortest would not be worth its timer.
    fn settle(&mut self) {
        let settled = self.after_short_gap() == self.timeout;
        // A gap of so many ticks, wherever in a tick it begins.
        self.short = if settled {
            Span(self.tick.span(self.shortest / 2).0.saturating_add(1))
        } else {
            Span::ZERO
        };
        // The bounds are those of tcp_send_delayed_ack.
        let round_trip = self.rtt.max(self.shortest);
        self.wait = self.tick.span(self.timeout.min(round_trip).min(self.longest));
    }

    /// Longest wait of an ACK for another segment.
    #[inline]
    pub const fn wait(&self) -> Span {
        self.wait
    }

    /// Let the next `acks` ACKs leave at once, up to the quota of the stack.
    pub fn hurry(&mut self, acks: u32) {
        if self.policy == AckDelay::Adaptive {
            self.quick = self.quick.max(acks.min(self.quick_max));
        }
    }

    /// Let the next ACK leave at once, because a segment has raised the offered window.
    pub const fn quicken(&mut self) {
        if matches!(self.policy, AckDelay::Adaptive) {
            // As in tcp_grow_window, which sets the lowest bit: an even quota grows by one, and an
            // odd one stays.
            self.quick |= 1;
        }
    }

    /// Let the next ACKs wait again.
    pub const fn leave_quick_mode(&mut self) {
        self.quick = 0;
    }

    /// Return whether the next ACK may not wait.
    #[inline]
    pub const fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// Count an ACK that leaves.
    #[inline]
    pub fn on_ack(&mut self) {
        if self.quick > 0 {
            self.use_quota();
        }
    }

    /// Use one of the quota. At its end the timeout becomes the initial one.
    fn use_quota(&mut self) {
        self.quick -= 1;
        if self.quick == 0 && self.policy == AckDelay::Adaptive {
            // The end of quick mode forgets the gaps (tcp_dec_quickack_mode).
            self.timeout = self.shortest;
            self.settle();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::stack::linux_6;

    fn adaptive(rtt_ms: u64, rto_ms: u64) -> DelayedAck {
        let stack = Stack { delayed_ack: AckDelay::Adaptive, ..linux_6() };
        DelayedAck::new(&stack, Span::from_millis(rtt_ms), Span::from_millis(rto_ms))
    }

    /// Return the waits in ms after segments with the given gaps in ms.
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
        let mut delay = adaptive(500, 1_500);
        // 40; 20 + 30; 25 + 40; then short gaps lead back: 32 + 20, 26 + 20.
        assert_eq!(waits(&mut delay, &[0, 30, 40, 1, 1]), [40, 50, 65, 52, 46]);
        // A gap of the timeout or more changes nothing.
        assert_eq!(waits(&mut delay, &[100, 45]), [46, 68]);
        // The wait never exceeds 200 ms, even if segments come slowly.
        let grown = waits(&mut delay, &[60, 80, 110, 150, 200, 240]);
        assert_eq!(grown.last(), Some(&200));
    }

    #[test]
    fn it_is_settled_after_a_few_short_gaps_and_counts_in_whole_milliseconds() {
        let mut delay = adaptive(500, 1_500);
        assert_eq!(waits(&mut delay, &[0, 39, 39, 39]), [40, 59, 68, 73]);
        assert_eq!(waits(&mut delay, &[0, 0, 0, 0, 0]), [56, 48, 44, 42, 41]);
        assert!(!delay.predicts(delay.last), "it still moves");
        assert_eq!(waits(&mut delay, &[0, 0]), [40, 40]);
        assert!(delay.predicts(delay.last + Span::from_millis(20)));
        // From 0.9 ms of a tick, 39.2 ms end in the 40th tick after it, which is not below 40.
        let last = Time(delay.last.0 + 900_000);
        delay.on_data(last);
        delay.on_data(last + Span::from_micros(39_200));
        assert_eq!(delay.wait(), Span::from_millis(40));
        // 38.2 ms end in the 39th tick.
        let last = Time(last.0 + 1_000_000_000);
        delay.on_data(last);
        delay.on_data(last + Span::from_micros(38_200));
        assert_eq!(delay.wait(), Span::from_millis(59));
    }

    #[test]
    fn a_short_round_trip_limits_the_wait() {
        let mut delay = adaptive(50, 250);
        assert_eq!(waits(&mut delay, &[0, 35, 50]), [40, 50, 50]);
        assert_eq!(waits(&mut adaptive(1, 201), &[0, 35, 50]), [40, 40, 40]);
    }

    #[test]
    fn a_wait_in_vain_doubles_the_timeout_until_short_gaps_lead_it_back() {
        let mut delay = adaptive(150, 450);
        let expired = |delay: &mut DelayedAck| {
            delay.on_expiry();
            delay.wait().as_micros() / 1_000
        };
        assert_eq!(waits(&mut delay, &[0]), [40]);
        // The wait stays within a round trip, and the timeout within the RTO.
        let grown: Vec<_> = (0..4).map(|_| expired(&mut delay)).collect();
        assert_eq!(grown, [80, 150, 150, 150]);
        assert_eq!(delay.timeout, 450);
        assert_eq!(waits(&mut delay, &[1, 1, 1]), [150, 142, 91]);
        let stack = Stack { delayed_ack: AckDelay::Fixed, ..linux_6() };
        let mut fixed = DelayedAck::new(&stack, Span::from_millis(150), Span::from_millis(450));
        assert_eq!([expired(&mut fixed), expired(&mut fixed)], [40, 40]);
    }

    #[test]
    fn long_ticks_are_the_unit_and_waits_end_with_one() {
        let timer_tick_ns = NonZeroU64::new(4_000_000);
        let stack = Stack { delayed_ack: AckDelay::Adaptive, timer_tick_ns, ..linux_6() };
        let rtt = Span::from_millis(150);
        let mut delay = DelayedAck::new(&stack, rtt, Span::from_millis(450));
        // The waits in ticks are 10, 5 + 8 and 6 + 10.
        assert_eq!(waits(&mut delay, &[0, 32, 40]), [40, 52, 64]);
        delay.on_expiry();
        assert_eq!(delay.wait(), Span::from_millis(128));
        delay.on_expiry();
        assert_eq!(delay.wait(), Span::from_millis(152), "a round trip in ticks");
        let at = |us| Time::ZERO + Span::from_micros(us);
        assert_eq!(delay.end(at(40_001)), at(44_000));
        assert_eq!(delay.end(at(44_000)), at(44_000));
        let exact = Stack { delayed_ack: AckDelay::Fixed, timer_tick_ns, ..linux_6() };
        assert_eq!(DelayedAck::new(&exact, rtt, rtt).end(at(40_001)), at(40_001));
        let none = Stack { delayed_ack_ns: Span::ZERO, ..stack };
        assert_eq!(DelayedAck::new(&none, rtt, rtt).end(at(40_001)), at(40_001));
    }

    #[test]
    fn a_wait_is_nearly_over_in_its_last_quarter_in_whole_ticks() {
        let timer_tick_ns = NonZeroU64::new(4_000_000);
        let stack = Stack { delayed_ack: AckDelay::Adaptive, timer_tick_ns, ..linux_6() };
        let delay = DelayedAck::new(&stack, Span::from_millis(150), Span::from_millis(450));
        let at = |us| Time::ZERO + Span::from_micros(us);
        // Ten ticks, of which two are left; the wait began in the tick that ends at 4 ms.
        let due = at(43_999);
        assert!(!delay.is_nearly_over(due, at(31_999)));
        assert!(delay.is_nearly_over(due, at(32_000)));
        assert!(!delay.is_nearly_over(Time::NEVER, at(32_000)), "nothing waits");
        let fixed = Stack { delayed_ack: AckDelay::Fixed, ..stack };
        let fixed = DelayedAck::new(&fixed, Span::from_millis(150), Span::from_millis(450));
        assert!(!fixed.is_nearly_over(due, due));
    }

    #[test]
    fn the_start_of_a_late_flow_is_no_gap() {
        let mut delay = adaptive(50, 250);
        delay.on_data(Time(30_000_000));
        assert_eq!(delay.wait(), Span::from_millis(40));
        assert!(delay.predicts(Time(50_000_000)), "a gap of half the timeout changes nothing");
        assert!(!delay.predicts(Time(50_000_001)));
    }

    #[test]
    fn a_gap_beyond_the_rto_fills_the_quota_again() {
        let mut delay = adaptive(50, 250);
        delay.on_data(Time::ZERO);
        delay.on_expiry();
        for _ in 0..16 {
            assert!(delay.is_quick() && delay.timeout == 80);
            delay.on_ack();
        }
        assert_eq!(delay.timeout, 40, "with the quota the longer timeout is gone");
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
        let mut delay = DelayedAck::new(&stack, Span::from_millis(50), Span::from_millis(250));
        assert!(delay.predicts(Time(u64::MAX - 1)));
        assert_eq!(waits(&mut delay, &[30, 30, 5_000]), [40, 40, 40]);
        delay.quick = 0;
        delay.hurry(16);
        assert!(!delay.is_quick());
    }
}
