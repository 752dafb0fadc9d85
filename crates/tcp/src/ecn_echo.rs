//! How a receiver tells its sender of congestion marks.

use crate::stack::Ecn;

/// The ECN-Echo of the acknowledgements to come.
#[derive(Clone, Debug)]
pub struct EcnEcho {
    mode: Ecn,
    ece: bool,
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
        Self { mode, ece: false }
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

    /// Takes a segment's mark, and the sender's word that it has reduced its window.
    pub fn on_data(&mut self, ce: bool, cwr: bool) -> Echo {
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
