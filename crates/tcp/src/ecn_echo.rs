//! The receiver's reports of congestion marks to its sender.

use dumbbell_network::{Span, Time};

use crate::accecn::{MarkCounter, MarkCounts};
use crate::arrival::Aggregate;
use crate::stack::{Ecn, Stack};

/// The marks that the next ACKs report: ECN-Echo, or counts.
#[derive(Clone, Debug)]
pub struct EcnEcho {
    mode: Ecn,
    ece: bool,
    /// None unless ACKs count marks.
    counter: Option<Box<MarkCounter>>,
}

/// Effects of a segment on its ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// True if the ACK may not wait.
    pub at_once: bool,
    /// True if the echo begins with this segment.
    pub begins: bool,
}

impl EcnEcho {
    /// State before the first mark.
    pub const fn new(mode: Ecn) -> Self {
        Self { mode, ece: false, counter: None }
    }

    /// Count marks instead of echoing them. Full segments have a payload of `mss_bytes`, and others
    /// of `short_bytes`.
    pub fn count(&mut self, stack: &Stack, mss_bytes: u32, short_bytes: u64, rtt: Span) {
        self.mode = Ecn::Off;
        self.counter = Some(Box::new(MarkCounter::new(stack, mss_bytes, short_bytes, rtt)));
    }

    /// Return whether marks are counted.
    pub const fn counts(&self) -> bool {
        self.counter.is_some()
    }

    /// Return the counts of the ACK that leaves now, which has SACK blocks of `sack_bytes`.
    pub fn report(&mut self, sack_bytes: u16) -> MarkCounts {
        self.counter.as_mut().map_or_else(MarkCounts::default, |counter| counter.report(sack_bytes))
    }

    /// Count a marked packet without data.
    pub fn on_marked_control(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.on_marked_control();
        }
    }

    /// Return whether ACKs carry ECE.
    #[inline]
    pub const fn ece(&self) -> bool {
        self.ece
    }

    /// Return whether waiting data must be acknowledged before a segment with this mark. Each
    /// segment is then acknowledged with its own mark (RFC 8257, section 3.2: the first of two
    /// possible ACKs).
    pub fn separates(&self, ce: bool) -> bool {
        matches!(self.mode, Ecn::Dctcp | Ecn::L4s) && ce != self.ece
    }

    /// Process segments with one mark.
    pub fn on_aggregate(&mut self, now: Time, aggregate: &Aggregate) -> Echo {
        match &mut self.counter {
            None => self.on_data(aggregate.ce, aggregate.cwr),
            Some(counter) => Echo { at_once: counter.on_data(now, aggregate), begins: false },
        }
    }

    /// Process a segment's mark and the sender's report that it has reduced its window.
    fn on_data(&mut self, ce: bool, cwr: bool) -> Echo {
        let before = self.ece;
        self.ece = match self.mode {
            Ecn::Off => return Echo { at_once: false, begins: false },
            // A mark in the segment that carries CWR is a new one (RFC 3168, section 6.1.3).
            Ecn::Classic => ce || (before && !cwr),
            Ecn::Dctcp | Ecn::L4s => ce,
        };
        // After CWR the sender's window may be very small, so the ACK must not wait.
        Echo { at_once: cwr || self.ece != before, begins: self.ece && !before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echoes(mode: Ecn, marks: &[(bool, bool)]) -> Vec<(bool, bool)> {
        let mut echo = EcnEcho::new(mode);
        let after = |&(ce, cwr): &(bool, bool)| (echo.on_data(ce, cwr).at_once, echo.ece());
        marks.iter().map(after).collect()
    }

    const MARKS: [(bool, bool); 6] = [
        (false, false),
        (true, false),
        (false, false),
        (true, true),
        (false, true),
        (false, false),
    ];

    #[test]
    fn without_ecn_marks_say_nothing() {
        assert_eq!(echoes(Ecn::Off, &MARKS), [(false, false); 6]);
    }

    #[test]
    fn the_classic_echo_lasts_until_cwr() {
        let expected = [
            (false, false),
            (true, true),
            (false, true),
            (true, true),
            (true, false),
            (false, false),
        ];
        assert_eq!(echoes(Ecn::Classic, &MARKS), expected);
    }

    #[test]
    fn the_echo_of_dctcp_is_the_last_mark() {
        let expected = [
            (false, false),
            (true, true),
            (true, false),
            (true, true),
            (true, false),
            (false, false),
        ];
        assert_eq!(echoes(Ecn::Dctcp, &MARKS), expected);
    }
}
