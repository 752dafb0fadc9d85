//! Proofs that a reduction of the window was spurious.
//!
//! There are two proofs. An ACK may echo a timestamp older than the first retransmission (Eifel,
//! RFC 3522). Or the receiver reports that every retransmission arrived as a duplicate (D-SACK, RFC
//! 3708).

use std::ops::Range;

use dumbbell_network::Time;

use crate::arrival::clock;
use crate::ranges::RangeSet;

/// State of the reduction under way, or of the last one.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    under_watch: bool,
    /// Ssthresh before the reduction; None if the reduction stays.
    prior_ssthresh: Option<u32>,
    first_resent_at: Option<u32>,
    /// The first outstanding segment at the start of the reduction.
    from: u64,
    /// Retransmissions that were not reported as duplicates. None before the first retransmission.
    needed: Option<u64>,
    resent: RangeSet,
    /// Segments that were reported as duplicates on this connection.
    reported: u64,
}

impl Undo {
    /// Begin a reduction while `una` is the first outstanding segment. `outstanding` counts earlier
    /// retransmissions.
    pub fn begin(&mut self, prior_ssthresh: Option<u32>, una: u64, outstanding: u64) {
        // ACKs of earlier retransmissions are later than the first of them, not than the next one.
        let first_resent_at = self.first_resent_at.filter(|_| outstanding > 0);
        self.end();
        (self.under_watch, self.prior_ssthresh, self.from) = (true, prior_ssthresh, una);
        self.first_resent_at = first_resent_at;
        // Linux's `undo_retrans`, where -1 means "none yet", is None here (tcp_init_undo).
        self.needed = (outstanding > 0).then_some(outstanding);
    }

    /// End the reduction, with nothing left to undo.
    pub fn end(&mut self) {
        *self = Self { reported: self.reported, ..Self::default() };
    }

    /// Forbid an undo, because the network itself reported congestion.
    pub fn forbid(&mut self) {
        self.prior_ssthresh = None;
    }

    /// Ssthresh to restore. None if the reduction must not be undone.
    #[must_use]
    pub const fn prior_ssthresh(&self) -> Option<u32> {
        if self.under_watch { self.prior_ssthresh } else { None }
    }

    /// Record that a segment was sent again.
    pub fn on_resent(&mut self, now: Time, segment: u64) {
        if self.under_watch {
            self.first_resent_at.get_or_insert(clock(now));
            self.needed = Some(self.needed.unwrap_or(0) + 1);
            self.resent.insert(segment..segment + 1);
        }
    }

    /// Record that the receiver got `duplicate` twice, when `una` was not acknowledged before. If
    /// there are more reports than retransmissions, the network duplicated packets. Until then a
    /// report of acknowledged segments counts whether they were sent again or not, as in Linux.
    pub fn on_duplicate(&mut self, duplicate: &Range<u64>, una: u64, retransmissions: u64) {
        self.reported += duplicate.end - duplicate.start;
        let Some(needed) = self.needed.as_mut().filter(|_| self.reported <= retransmissions) else {
            return;
        };
        let counts = |segment: &u64| match duplicate.end <= una {
            true => duplicate.end > self.from,
            false => self.resent.contains(*segment),
        };
        *needed = needed.saturating_sub(duplicate.clone().filter(counts).count() as u64);
    }

    /// Return whether every retransmission arrived as a duplicate.
    #[must_use]
    pub fn is_proved_by_duplicates(&self) -> bool {
        self.under_watch && self.needed == Some(0)
    }

    /// Return whether a segment that was sent before the first retransmission caused the ACK.
    /// `echo` is the timestamp that the ACK echoes.
    #[must_use]
    pub fn is_proved_by_echo(&self, echo: Option<u32>) -> bool {
        match (self.first_resent_at, echo) {
            // An equal clock proves nothing: original and retransmission left in the same
            // millisecond.
            (Some(resent), Some(echo)) => self.under_watch && echo < resent,
            (None, _) => self.under_watch && self.needed.is_none(),
            (Some(_), None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at_tick(tick: u64) -> Time {
        Time(tick * 1_000_000)
    }

    fn resent(segments: &[u64]) -> Undo {
        let mut undo = Undo::default();
        undo.begin(Some(40), 3, 0);
        segments.iter().for_each(|&segment| undo.on_resent(at_tick(9), segment));
        undo
    }

    #[test]
    fn an_older_echo_proves_it_and_one_as_old_does_not() {
        let undo = resent(&[5]);
        assert!(undo.is_proved_by_echo(Some(8)));
        assert!(!undo.is_proved_by_echo(Some(9)));
        assert!(!undo.is_proved_by_echo(None));
        assert!(resent(&[]).is_proved_by_echo(None), "nothing was sent again");
        assert!(!Undo::default().is_proved_by_echo(Some(0)));
    }

    #[test]
    fn retransmissions_of_the_reduction_before_prove_nothing() {
        let mut undo = resent(&[5]);
        undo.begin(Some(20), 5, 1);
        undo.on_resent(at_tick(30), 8);
        assert!(!undo.is_proved_by_echo(Some(9)), "it is that of segment 5, sent again");
        assert!(undo.is_proved_by_echo(Some(8)));
        undo.begin(Some(20), 5, 0);
        undo.on_resent(at_tick(30), 8);
        assert!(undo.is_proved_by_echo(Some(9)));
    }

    #[test]
    fn duplicates_prove_it_once_each_retransmission_is_reported() {
        let mut undo = resent(&[5, 6, 9]);
        undo.on_duplicate(&(5..7), 4, 20);
        assert!(!undo.is_proved_by_duplicates());
        undo.on_duplicate(&(8..9), 4, 20);
        assert!(!undo.is_proved_by_duplicates(), "the network duplicated what was sent once");
        undo.on_duplicate(&(2..3), 12, 20);
        assert!(!undo.is_proved_by_duplicates(), "it was sent before");
        undo.on_duplicate(&(9..10), 4, 20);
        assert!(undo.is_proved_by_duplicates());
        assert!(!resent(&[]).is_proved_by_duplicates());
    }

    #[test]
    fn of_what_is_acknowledged_any_duplicate_counts_up_to_the_number_of_retransmissions() {
        let mut undo = resent(&[5]);
        undo.on_duplicate(&(7..8), 12, 0);
        assert!(!undo.is_proved_by_duplicates(), "nothing was sent again so far");
        undo.on_duplicate(&(7..8), 12, 2);
        assert!(undo.is_proved_by_duplicates());
        undo.begin(Some(20), 12, 0);
        undo.on_resent(at_tick(20), 14);
        undo.on_duplicate(&(14..15), 20, 2);
        assert!(!undo.is_proved_by_duplicates(), "three reports, two retransmissions");
    }

    #[test]
    fn nothing_is_taken_back_after_a_report_of_congestion() {
        let mut undo = resent(&[5]);
        assert_eq!(undo.prior_ssthresh(), Some(40));
        undo.forbid();
        assert_eq!(undo.prior_ssthresh(), None);
    }
}
