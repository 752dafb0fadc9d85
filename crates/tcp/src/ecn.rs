//! The sender's part of explicit congestion notification (RFC 3168, RFC 9768).

use dumbbell_algorithm::{Instance, Need};

use crate::accecn::{MarkCounts, MarkReader};
use crate::stack::{Ecn, Stack};

/// What one sender knows about marking.
#[derive(Clone, Debug)]
pub struct EcnSender {
    negotiated: bool,
    /// Retransmissions may be marked too (RFC 8257, section 3.1, and with accurate counts).
    marks_all: bool,
    reduced: bool,
    /// There only if acknowledgements count marks.
    counted: Option<Box<Counted>>,
}

/// What acknowledgements count.
#[derive(Clone, Debug)]
struct Counted {
    reader: MarkReader,
    /// What the next one says.
    counts: MarkCounts,
}

impl EcnSender {
    /// As the stack negotiated it and the algorithm needs it.
    #[must_use]
    pub fn new(stack: &Stack, algorithm: &Instance, mss_bytes: u32) -> Self {
        let negotiated = stack.ecn != Ecn::Off;
        let marks_all = algorithm.algorithm().flags.contains(&Need::Ecn) || stack.accecn;
        let counted = stack.accecn.then(|| {
            let (reader, counts) = (MarkReader::new(mss_bytes), MarkCounts::default());
            Box::new(Counted { reader, counts })
        });
        Self { negotiated, marks_all, reduced: false, counted }
    }

    /// Whether acknowledgements count marks, and have no ECN-Echo.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        self.counted.is_some()
    }

    /// The next acknowledgement says this of marks.
    pub fn take(&mut self, counts: MarkCounts) {
        if let Some(counted) = &mut self.counted {
            counted.counts = counts;
        }
    }

    /// How many packets were marked, as an acknowledgement says that delivers so many segments,
    /// with ECN-Echo or not. ECN-Echo does not say which of them: all.
    #[inline]
    pub fn marked_segs(&mut self, ece: bool, delivered_segs: u64) -> u64 {
        match &mut self.counted {
            // Linux also books all that such an ACK delivers as marked (delivered_ce).
            None if ece && self.negotiated => delivered_segs,
            None => 0,
            // One that delivers nothing may be older than others. Its counts are in the next.
            Some(_) if delivered_segs == 0 => 0,
            Some(counted) => counted.reader.read(counted.counts, delivered_segs),
        }
    }

    /// Whether an acknowledgement, with ECN-Echo or not, reports marks: these.
    #[inline]
    #[must_use]
    pub const fn tells_of_marks(&self, ece: bool, marked_segs: u64) -> bool {
        if self.counted.is_some() { marked_segs > 0 } else { ece && self.negotiated }
    }

    /// Whether a segment may be marked: new data, classically (RFC 3168, 6.1.5).
    #[inline]
    #[must_use]
    pub const fn is_capable(&self, is_retransmission: bool) -> bool {
        self.negotiated && (self.marks_all || !is_retransmission)
    }

    /// The window was reduced: the next new segment says so.
    pub const fn on_reduction(&mut self) {
        self.reduced = self.negotiated && self.counted.is_none();
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
