//! Tail loss probe: a segment sent early so that a lost tail needs no timeout.
//!
//! RFC 8985, section 7. If the last segments of a flight are lost, no later delivery shows the
//! loss. A probe after two round trips provokes the ACK that does.

use dumbbell_network::{Span, Time};

use crate::stack::{ProbeRule, Stack};
use crate::tick::{TIMER_MIN, Tick};

/// The probing of one connection.
#[derive(Clone, Debug)]
pub struct TailProbe {
    rule: ProbeRule,
    tick: Tick,
    /// Smallest difference between a retransmission timeout and a round trip.
    rto_min: Span,
    /// Time at which to check again; a probe is not due before.
    deadline: Time,
    /// Time of the last transmission or delivery.
    last_event: Time,
    /// True if that was a transmission.
    sent_last: bool,
    due: bool,
    episode: Option<Episode>,
}

/// A probe whose effect is still unknown.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// The next new segment after the probe.
    end: u64,
    /// True if the probe was not a new segment.
    is_retransmission: bool,
}

/// An ACK after the probe.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// The lowest segment that is not acknowledged.
    pub una: u64,
    /// True if the receiver reports a duplicate.
    pub duplicate: bool,
    /// True if the ACK delivers nothing new.
    pub is_repeated: bool,
}

/// Outstanding segments.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// Number of segments.
    pub segs: u64,
    /// Time at which a timeout has passed since the first of them was sent. A probe replaces a
    /// timeout that is due earlier. Linux checks this when data is sent, because the timer itself
    /// restarts with each ACK.
    pub first_expires: Time,
}

/// Longest time that the receiver may delay the ACK of a lone segment.
const DELAYED_ACK_MAX: Span = Span::from_millis(200);
const DRAFT_TIMEOUT_MIN: Span = Span::from_millis(10);

impl TailProbe {
    /// State before the first probe.
    #[must_use]
    pub fn new(stack: &Stack) -> Self {
        let (deadline, last_event) = (Time::NEVER, Time::ZERO);
        Self {
            rule: stack.tail_probe,
            tick: Tick::of(stack),
            rto_min: stack.rto_min_ns,
            deadline,
            last_event,
            sent_last: false,
            due: false,
            episode: None,
        }
    }

    /// Return whether the effect of a probe is still unknown.
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.episode.is_some()
    }

    /// Time at which to call [`Self::probe_at`].
    #[inline]
    #[must_use]
    pub const fn deadline(&self) -> Time {
        self.deadline
    }

    /// Return whether to send the probe now.
    #[inline]
    #[must_use]
    pub const fn is_due(&self) -> bool {
        self.due
    }

    /// Record a delivery. The probe is due some time after it.
    #[inline(always)]
    pub fn on_delivery(&mut self, now: Time, srtt_us: u32) {
        (self.last_event, self.sent_last) = (now, false);
        if !matches!(self.rule, ProbeRule::Off) {
            let timeout = self.timeout(srtt_us, u64::MAX).min(self.rto_min);
            self.deadline = self.deadline.min(now + timeout);
        }
    }

    /// Record that a new segment was sent.
    #[inline]
    pub fn on_new_sent(&mut self, now: Time, srtt_us: u32) {
        if self.deadline == Time::NEVER {
            self.on_delivery(now, srtt_us);
        }
        (self.last_event, self.sent_last) = (now, true);
    }

    /// Time at which the probe is due. None if there is to be no probe.
    #[must_use]
    pub fn probe_at(&self, srtt_us: u32, outstanding: Outstanding) -> Option<Time> {
        let timeout = self.timeout(srtt_us, outstanding.segs);
        let at = self.last_event + timeout;
        // As in tcp_schedule_loss_probe, which takes the earlier time when data is sent
        // (advancing_rto is false).
        let expires = (self.rule == ProbeRule::Rfc8985 && self.sent_last)
            .then_some(outstanding.first_expires)
            .filter(|&expires| expires > self.last_event);
        let possible = !matches!(self.rule, ProbeRule::Off) && self.episode.is_none();
        let due = expires.map_or(at, |expires| at.min(expires));
        possible.then(|| self.tick.end(due, timeout))
    }

    #[inline(always)]
    fn timeout(&self, srtt_us: u32, outstanding: u64) -> Span {
        let srtt = u64::from(srtt_us) * 1_000;
        let twice = srtt * 2;
        self.tick.set_for(match (self.rule, outstanding) {
            // The receiver may delay the ACK of a lone segment. The draft adds this delay to 1.5
            // round trips, and the RFC adds it to two.
            (ProbeRule::Draft, 1) => Span(twice.max(srtt * 3 / 2 + DELAYED_ACK_MAX.0)),
            (ProbeRule::Draft, _) => Span(twice).max(DRAFT_TIMEOUT_MIN),
            (_, 1) => Span(twice + DELAYED_ACK_MAX.0),
            _ => Span(twice + TIMER_MIN.0),
        })
    }

    /// Set the time of the next check.
    pub fn wait_until(&mut self, time: Time) {
        self.deadline = time;
    }

    /// Cancel the probe.
    #[inline]
    pub fn cancel(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Mark the probe due, because its timer expired.
    pub fn expire(&mut self) {
        self.cancel();
        self.due = true;
    }

    /// Record that the probe was sent. `next` is the next new segment.
    pub fn on_sent(&mut self, next: u64, is_retransmission: bool) {
        self.due = false;
        self.episode = Some(Episode { end: next, is_retransmission });
    }

    /// Stop probing, because another mechanism takes over.
    #[inline]
    pub fn abandon(&mut self) {
        self.due = false;
        self.episode = None;
        self.cancel();
    }

    /// Process an ACK. Return whether the probe repaired a loss.
    #[inline]
    pub fn on_ack(&mut self, reply: Reply) -> bool {
        match self.episode {
            Some(episode) if reply.una >= episode.end => self.conclude(episode, reply),
            _ => false,
        }
    }

    /// Conclude an episode (RFC 8985, section 7.4.2), because the probe arrived. If the original
    /// had arrived, too, the receiver would have reported a duplicate or acknowledged twice.
    fn conclude(&mut self, episode: Episode, reply: Reply) -> bool {
        let both_arrived = reply.duplicate || reply.is_repeated;
        // The ACK of the probe precedes an ACK of newer data, and would have reported a duplicate.
        let beyond = reply.una > episode.end;
        if !episode.is_retransmission || both_arrived || beyond {
            self.episode = None;
        }
        episode.is_retransmission && beyond && !both_arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::StackChoice;
    use serde_json::Map;

    fn probe_of(rule: ProbeRule) -> TailProbe {
        let choice = StackChoice { profile: "linux-6".into(), switches: Map::new() };
        let stack = choice.resolve().expect("a profile that exists");
        TailProbe::new(&Stack { tail_probe: rule, ..stack })
    }

    fn outstanding(segs: u64) -> Outstanding {
        Outstanding { segs, first_expires: Time::ZERO + Span::from_millis(300) }
    }

    fn planned_ms(rule: ProbeRule, segs: u64, srtt_ms: u32) -> u64 {
        let mut probe = probe_of(rule);
        probe.on_delivery(Time::ZERO, srtt_ms * 1_000);
        let at = probe.probe_at(srtt_ms * 1_000, outstanding(segs)).expect("a probe");
        assert!(probe.deadline() <= at);
        at.0 / 1_000_000
    }

    #[test]
    fn the_timeout_is_two_round_trips_and_what_the_receiver_may_wait() {
        assert_eq!(planned_ms(ProbeRule::Rfc8985, 10, 100), 202);
        assert_eq!(planned_ms(ProbeRule::Rfc8985, 1, 100), 400);
        assert_eq!(planned_ms(ProbeRule::Draft, 10, 100), 200);
        assert_eq!(planned_ms(ProbeRule::Draft, 10, 1), 10);
        assert_eq!(planned_ms(ProbeRule::Draft, 1, 100), 350);
        assert_eq!(probe_of(ProbeRule::Off).probe_at(100_000, outstanding(10)), None);
    }

    #[test]
    fn after_sending_the_first_segments_timeout_counts_if_it_is_to_come() {
        let (srtt_us, at_ms) = (200_000, |ms| Time::ZERO + Span::from_millis(ms));
        let mut probe = probe_of(ProbeRule::Rfc8985);
        probe.on_new_sent(at_ms(10), srtt_us);
        assert!(probe.deadline() <= at_ms(300));
        assert_eq!(probe.probe_at(srtt_us, outstanding(10)), Some(at_ms(300)));
        probe.on_delivery(at_ms(20), srtt_us);
        assert_eq!(probe.probe_at(srtt_us, outstanding(10)), Some(at_ms(422)));
        probe.on_new_sent(at_ms(310), srtt_us);
        assert_eq!(probe.probe_at(srtt_us, outstanding(10)), Some(at_ms(712)));
    }

    fn reply(una: u64) -> Reply {
        Reply { una, duplicate: false, is_repeated: false }
    }

    fn probed(is_retransmission: bool) -> TailProbe {
        let mut probe = probe_of(ProbeRule::Rfc8985);
        probe.on_sent(10, is_retransmission);
        probe
    }

    #[test]
    fn an_advance_beyond_a_repeated_tail_without_a_duplicate_means_a_loss() {
        let mut probe = probed(true);
        assert!(!probe.on_ack(reply(9)));
        assert!(!probe.on_ack(reply(10)));
        assert!(probe.is_open(), "the next acknowledgement tells");
        assert!(probe.on_ack(reply(12)));
        assert!(!probe.is_open());
        assert!(!probe.on_ack(reply(14)), "one reduction only");
    }

    #[test]
    fn a_duplicate_or_a_repeated_ack_means_that_both_arrived() {
        for proof in
            [Reply { duplicate: true, ..reply(10) }, Reply { is_repeated: true, ..reply(10) }]
        {
            let mut probe = probed(true);
            assert!(!probe.on_ack(proof));
            assert!(!probe.is_open());
        }
        let mut probe = probed(false);
        assert!(!probe.on_ack(reply(10)), "a new segment repairs nothing");
        assert!(!probe.is_open());
    }
}
