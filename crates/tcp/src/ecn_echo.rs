//! The receiver's reports of congestion marks to its sender.

use dumbbell_network::{Span, Time};

use crate::accecn::{MarkCounter, MarkCounts};
use crate::arrival::Aggregate;
use crate::stack::{Ecn, Stack};

/// What the acknowledgements to come say of marks: the ECN-Echo, or counts.
#[derive(Clone, Debug)]
pub struct EcnEcho {
    mode: Ecn,
    ece: bool,
    /// There only if acknowledgements count marks.
    counter: Option<Box<MarkCounter>>,
}

/// What a segment means for its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// It may not wait.
    pub at_once: bool,
    /// The echo begins with this segment.
    pub begins: bool,
}

impl EcnEcho {
    /// No mark has been seen.
    pub const fn new(mode: Ecn) -> Self {
        Self { mode, ece: false, counter: None }
    }

    /// Counts marks. Segments have this payload, those that are not full the other.
    pub fn count(&mut self, stack: &Stack, mss_bytes: u32, short_bytes: u64, rtt: Span) {
        self.mode = Ecn::Off;
        self.counter = Some(Box::new(MarkCounter::new(stack, mss_bytes, short_bytes, rtt)));
    }

    /// Whether marks are counted.
    pub const fn counts(&self) -> bool {
        self.counter.is_some()
    }

    /// What the acknowledgement says that now leaves, with SACK blocks of so many bytes.
    pub fn report(&mut self, sack_bytes: u16) -> MarkCounts {
        self.counter.as_mut().map_or_else(MarkCounts::default, |counter| counter.report(sack_bytes))
    }

    /// A packet without data has arrived, marked.
    pub fn on_marked_control(&mut self) {
        if let Some(counter) = &mut self.counter {
            counter.on_marked_control();
        }
    }

    /// Whether acknowledgements carry ECE.
    #[inline]
    pub const fn ece(&self) -> bool {
        self.ece
    }

    /// Whether what waits must be acknowledged before a segment with this mark is
    /// taken, so that each segment is acknowledged under its own (RFC 8257, section
    /// 3.2: the first of the two acknowledgements it allows).
    pub fn separates(&self, ce: bool) -> bool {
        matches!(self.mode, Ecn::Dctcp | Ecn::L4s) && ce != self.ece
    }

    /// Takes segments with one mark.
    pub fn on_aggregate(&mut self, now: Time, aggregate: &Aggregate) -> Echo {
        match &mut self.counter {
            None => self.on_data(aggregate.ce, aggregate.cwr),
            Some(counter) => Echo { at_once: counter.on_data(now, aggregate), begins: false },
        }
    }

    /// Takes a segment's mark, and the sender's word that it has reduced its window.
    fn on_data(&mut self, ce: bool, cwr: bool) -> Echo {
        let before = self.ece;
        self.ece = match self.mode {
            Ecn::Off => return Echo { at_once: false, begins: false },
            // A mark in the very segment that carries CWR is a new one (RFC 3168,
            // section 6.1.3).
            Ecn::Classic => ce || (before && !cwr),
            Ecn::Dctcp | Ecn::L4s => ce,
        };
        // After CWR the sender's window may be very small: it must not wait.
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
