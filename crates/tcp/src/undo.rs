//! Whether a reduction of the window proved spurious.
//!
//! Two proofs are known: an acknowledgement that echoes a timestamp older than the
//! first retransmission (Eifel, RFC 3522), and a report that every retransmission
//! arrived as a duplicate (D-SACK, RFC 3708).

use std::ops::Range;

use dumbbell_network::Time;

use crate::arrival::clock;
use crate::ranges::RangeSet;

/// What is remembered of the reduction under way, or of the last one.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    under_watch: bool,
    /// The threshold before the reduction; none: the reduction stays.
    prior_ssthresh: Option<u32>,
    first_resent_at: Option<u32>,
    /// Retransmissions that were not reported as duplicates; none were made yet.
    needed: Option<u64>,
    resent: RangeSet,
}

impl Undo {
    /// A reduction begins; `outstanding` are retransmissions made before it.
    pub fn begin(&mut self, prior_ssthresh: Option<u32>, outstanding: u64) {
        let needed = (outstanding > 0).then_some(outstanding);
        *self = Self { under_watch: true, prior_ssthresh, needed, ..Self::default() };
    }

    /// Nothing is left to undo.
    pub fn end(&mut self) {
        if self.under_watch {
            *self = Self::default();
        }
    }

    /// The network itself reported congestion: the reduction is right.
    pub fn forbid(&mut self) {
        self.prior_ssthresh = None;
    }

    /// The threshold to return to, if the reduction may be taken back.
    #[must_use]
    pub const fn prior_ssthresh(&self) -> Option<u32> {
        if self.under_watch { self.prior_ssthresh } else { None }
    }

    /// A segment was sent again.
    pub fn on_resent(&mut self, now: Time, segment: u64) {
        if self.under_watch {
            self.first_resent_at.get_or_insert(clock(now));
            self.needed = Some(self.needed.unwrap_or(0) + 1);
            self.resent.insert(segment..segment + 1);
        }
    }

    /// The receiver reports that it got `duplicate` twice.
    pub fn on_duplicate(&mut self, duplicate: &Range<u64>) {
        if let Some(needed) = &mut self.needed {
            let hits = duplicate.clone().filter(|&segment| self.resent.contains(segment)).count();
            *needed = needed.saturating_sub(hits as u64);
        }
    }

    /// Every retransmission arrived as a duplicate.
    #[must_use]
    pub fn is_proved_by_duplicates(&self) -> bool {
        self.under_watch && self.needed == Some(0)
    }

    /// The acknowledgement was caused by a segment sent before the first
    /// retransmission. `echo` is the timestamp that it echoes.
    #[must_use]
    pub fn is_proved_by_echo(&self, echo: Option<u32>) -> bool {
        match (self.first_resent_at, echo) {
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
        undo.begin(Some(40), 0);
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
    fn duplicates_prove_it_once_each_retransmission_is_reported() {
        let mut undo = resent(&[5, 6, 9]);
        undo.on_duplicate(&(5..7));
        assert!(!undo.is_proved_by_duplicates());
        undo.on_duplicate(&(2..3));
        assert!(!undo.is_proved_by_duplicates(), "the network duplicated what was sent once");
        undo.on_duplicate(&(9..10));
        assert!(undo.is_proved_by_duplicates());
        assert!(!resent(&[]).is_proved_by_duplicates());
    }

    #[test]
    fn nothing_is_taken_back_after_a_report_of_congestion() {
        let mut undo = resent(&[5]);
        assert_eq!(undo.prior_ssthresh(), Some(40));
        undo.forbid();
        assert_eq!(undo.prior_ssthresh(), None);
    }
}
