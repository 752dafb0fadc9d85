//! The sender's part of explicit congestion notification (RFC 3168).

use dumbbell_algorithm::{Instance, Need};

use crate::stack::{Ecn, Stack};

/// What one sender knows about marking.
#[derive(Clone, Debug)]
pub struct EcnSender {
    negotiated: bool,
    /// Retransmissions may be marked too (RFC 8257, section 3.1).
    marks_all: bool,
    reduced: bool,
}

impl EcnSender {
    /// As the stack negotiated it and the algorithm needs it.
    #[must_use]
    pub fn new(stack: &Stack, algorithm: &Instance) -> Self {
        let negotiated = stack.ecn != Ecn::Off;
        let marks_all = algorithm.algorithm().flags.contains(&Need::Ecn);
        Self { negotiated, marks_all, reduced: false }
    }

    /// Whether an acknowledgement's ECN-Echo means anything.
    #[inline]
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.negotiated
    }

    /// Whether a segment may be marked: new data, classically (RFC 3168, 6.1.5).
    #[inline]
    #[must_use]
    pub const fn is_capable(&self, is_retransmission: bool) -> bool {
        self.negotiated && (self.marks_all || !is_retransmission)
    }

    /// The window was reduced: the next new segment says so.
    pub const fn on_reduction(&mut self) {
        self.reduced = self.negotiated;
    }

    /// The reduction was taken back.
    pub const fn on_undo(&mut self) {
        self.reduced = false;
    }

    /// Whether the next new segment carries CWR.
    #[inline]
    #[must_use]
    pub const fn is_reduced(&self) -> bool {
        self.reduced
    }

    /// Whether the new segment now sent carries CWR.
    #[inline]
    pub const fn take_reduced(&mut self) -> bool {
        std::mem::replace(&mut self.reduced, false)
    }
}
