//! Tail loss probe: a segment sent early so that a lost tail needs no timeout.
//!
//! RFC 8985, section 7. If the last segments of a flight are lost, nothing delivered
//! after them tells; a probe after two round trips provokes the acknowledgement that
//! does.

use dumbbell_network::{Span, Time};

use crate::stack::ProbeRule;

/// The probing of one connection.
#[derive(Clone, Debug)]
pub struct TailProbe {
    rule: ProbeRule,
    /// Not later than the probe is wanted: it is found out then whether it is.
    deadline: Time,
    /// When something was last sent or heard.
    quiet_since: Time,
    due: bool,
    episode: Option<Episode>,
}

/// A probe whose effect is not known yet.
#[derive(Clone, Copy, Debug)]
struct Episode {
    /// Next new segment once the probe was sent.
    end: u64,
    /// The probe was no new segment.
    is_retransmission: bool,
}

/// What an acknowledgement says about the probe.
#[derive(Clone, Copy, Debug)]
pub struct Evidence {
    /// Lowest segment not yet acknowledged.
    pub una: u64,
    /// The receiver reports a duplicate.
    pub duplicate: bool,
    /// The acknowledgement says nothing new.
    pub is_repeated: bool,
}

/// The receiver may wait this long with the acknowledgement of a lone segment.
const DELAYED_ACK_MAX: Span = Span::from_millis(200);
/// Two ticks of a kernel's 1 ms clock.
const TIMER_SLACK: Span = Span::from_millis(2);
/// Before the first round-trip time (RFC 8985, section 7.2).
const FIRST_TIMEOUT: Span = Span::from_millis(1_000);
const DRAFT_TIMEOUT_MIN: Span = Span::from_millis(10);

impl TailProbe {
    /// Nothing probed.
    #[must_use]
    pub const fn new(rule: ProbeRule) -> Self {
        Self { rule, deadline: Time::NEVER, quiet_since: Time::ZERO, due: false, episode: None }
    }

    /// Whether the effect of a probe is not known yet.
    #[inline]
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.episode.is_some()
    }

    /// When to ask [`Self::wanted_at`].
    #[inline]
    #[must_use]
    pub const fn deadline(&self) -> Time {
        self.deadline
    }

    /// Whether the probe is to be sent now.
    #[inline]
    #[must_use]
    pub const fn is_due(&self) -> bool {
        self.due
    }

    /// Something was heard: the probe is wanted after that.
    #[inline]
    pub fn on_heard(&mut self, now: Time, srtt_us: Option<u32>) {
        self.quiet_since = now;
        if !matches!(self.rule, ProbeRule::Off) {
            self.deadline = self.deadline.min(now + self.timeout(srtt_us, u64::MAX));
        }
    }

    /// A new segment was sent.
    #[inline]
    pub fn on_new_sent(&mut self, now: Time, srtt_us: Option<u32>) {
        self.quiet_since = now;
        if self.deadline == Time::NEVER {
            self.on_heard(now, srtt_us);
        }
    }

    /// When the probe is wanted with `outstanding` segments under way; none: not.
    #[must_use]
    pub fn wanted_at(&self, srtt_us: Option<u32>, outstanding: u64) -> Option<Time> {
        let possible = !matches!(self.rule, ProbeRule::Off) && self.episode.is_none();
        possible.then(|| self.quiet_since + self.timeout(srtt_us, outstanding))
    }

    #[inline]
    fn timeout(&self, srtt_us: Option<u32>, outstanding: u64) -> Span {
        let Some(srtt_us) = srtt_us else { return FIRST_TIMEOUT };
        let srtt = u64::from(srtt_us) * 1_000;
        let twice = srtt * 2;
        match (self.rule, outstanding) {
            (ProbeRule::Draft, 1) => Span(twice.max(srtt * 3 / 2 + DELAYED_ACK_MAX.0)),
            (ProbeRule::Draft, _) => Span(twice).max(DRAFT_TIMEOUT_MIN),
            (_, 1) => Span(twice + DELAYED_ACK_MAX.0),
            _ => Span(twice + TIMER_SLACK.0),
        }
    }

    /// Asks again at `time`.
    pub fn wait_until(&mut self, time: Time) {
        self.deadline = time;
    }

    /// Takes the plan back.
    #[inline]
    pub fn cancel(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// The timer expired.
    pub fn expire(&mut self) {
        self.cancel();
        self.due = true;
    }

    /// The probe was sent; `next` is the next new segment.
    pub fn on_sent(&mut self, next: u64, is_retransmission: bool) {
        self.due = false;
        self.episode = Some(Episode { end: next, is_retransmission });
    }

    /// Another mechanism took over.
    #[inline]
    pub fn abandon(&mut self) {
        self.due = false;
        self.episode = None;
        self.cancel();
    }

    /// Takes an acknowledgement; gives whether the probe repaired a loss.
    #[inline]
    pub fn on_ack(&mut self, evidence: Evidence) -> bool {
        match self.episode {
            Some(episode) if evidence.una >= episode.end => self.conclude(episode, evidence),
            _ => false,
        }
    }

    /// RFC 8985, section 7.4.2: the probe arrived. Had the original arrived too, the
    /// receiver would have reported a duplicate or acknowledged twice.
    fn conclude(&mut self, episode: Episode, evidence: Evidence) -> bool {
        let both_arrived = evidence.duplicate || evidence.is_repeated;
        let beyond = evidence.una > episode.end;
        if !episode.is_retransmission || both_arrived || beyond {
            self.episode = None;
        }
        episode.is_retransmission && beyond && !both_arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned_ms(rule: ProbeRule, outstanding: u64, srtt_ms: u32) -> u64 {
        let mut probe = TailProbe::new(rule);
        probe.on_heard(Time::ZERO, Some(srtt_ms * 1_000));
        let wanted = probe.wanted_at(Some(srtt_ms * 1_000), outstanding).expect("a probe");
        assert!(probe.deadline() <= wanted);
        wanted.0 / 1_000_000
    }

    #[test]
    fn the_timeout_is_two_round_trips_and_what_the_receiver_may_wait() {
        assert_eq!(planned_ms(ProbeRule::Rfc8985, 10, 100), 202);
        assert_eq!(planned_ms(ProbeRule::Rfc8985, 1, 100), 400);
        assert_eq!(planned_ms(ProbeRule::Draft, 10, 100), 200);
        assert_eq!(planned_ms(ProbeRule::Draft, 10, 1), 10);
        assert_eq!(planned_ms(ProbeRule::Draft, 1, 100), 350);
        let mut probe = TailProbe::new(ProbeRule::Rfc8985);
        probe.on_new_sent(Time(7), None);
        assert_eq!(probe.wanted_at(None, 10), Some(Time(1_000_000_007)));
        assert_eq!(TailProbe::new(ProbeRule::Off).wanted_at(None, 10), None);
    }

    fn evidence(una: u64) -> Evidence {
        Evidence { una, duplicate: false, is_repeated: false }
    }

    fn probed(is_retransmission: bool) -> TailProbe {
        let mut probe = TailProbe::new(ProbeRule::Rfc8985);
        probe.on_sent(10, is_retransmission);
        probe
    }

    #[test]
    fn an_advance_beyond_a_repeated_tail_without_a_duplicate_means_a_loss() {
        let mut probe = probed(true);
        assert!(!probe.on_ack(evidence(9)));
        assert!(!probe.on_ack(evidence(10)));
        assert!(probe.is_open(), "the next acknowledgement tells");
        assert!(probe.on_ack(evidence(12)));
        assert!(!probe.is_open());
        assert!(!probe.on_ack(evidence(14)), "one reduction only");
    }

    #[test]
    fn a_duplicate_or_a_repeated_ack_means_that_both_arrived() {
        for proof in [
            Evidence { duplicate: true, ..evidence(10) },
            Evidence { is_repeated: true, ..evidence(10) },
        ] {
            let mut probe = probed(true);
            assert!(!probe.on_ack(proof));
            assert!(!probe.is_open());
        }
        let mut probe = probed(false);
        assert!(!probe.on_ack(evidence(10)), "a new segment repairs nothing");
        assert!(!probe.is_open());
    }
}
