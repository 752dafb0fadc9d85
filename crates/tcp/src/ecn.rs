//! The sender's part of explicit congestion notification (RFC 3168, RFC 9768).

use dumbbell_algorithm::{Instance, Need};

use crate::accecn::{MarkCounts, MarkReader};
use crate::stack::{Ecn, Stack};

/// State of one sender for congestion marks.
#[derive(Clone, Debug)]
pub struct EcnSender {
    negotiated: bool,
    /// True if retransmissions may be marked, too (RFC 8257, section 3.1, and with accurate
    /// counts).
    marks_all: bool,
    reduced: bool,
    /// None unless ACKs count marks.
    counted: Option<Box<Counted>>,
}

/// Marks that ACKs count.
#[derive(Clone, Debug)]
struct Counted {
    reader: MarkReader,
    /// Counts of the next ACK.
    counts: MarkCounts,
}

impl EcnSender {
    /// State for the stack's negotiation and the algorithm's needs.
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

    /// Return whether ACKs count marks, instead of ECN-Echo.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        self.counted.is_some()
    }

    /// Set the counts of marks of the next ACK.
    pub fn take(&mut self, counts: MarkCounts) {
        if let Some(counted) = &mut self.counted {
            counted.counts = counts;
        }
    }

    /// Return the number of packets that an ACK reports as marked. It delivers `delivered_segs`,
    /// and `ece` is its ECN-Echo. ECN-Echo does not identify packets, so all count.
    #[inline]
    pub fn marked_segs(&mut self, ece: bool, delivered_segs: u64) -> u64 {
        match &mut self.counted {
            // Linux also counts all segments that such an ACK delivers as marked (delivered_ce).
            None if ece && self.negotiated => delivered_segs,
            None => 0,
            // An ACK that delivers nothing may be older than others. The next ACK has its counts.
            Some(_) if delivered_segs == 0 => 0,
            Some(counted) => counted.reader.read(counted.counts, delivered_segs),
        }
    }

    /// Return whether an ACK reports marks, given its ECN-Echo and its marked segments.
    #[inline]
    #[must_use]
    pub const fn reports_marks(&self, ece: bool, marked_segs: u64) -> bool {
        if self.counted.is_some() { marked_segs > 0 } else { ece && self.negotiated }
    }

    /// Return whether a segment is ECN-capable. Classically only new data is (RFC 3168, 6.1.5).
    #[inline]
    #[must_use]
    pub const fn is_capable(&self, is_retransmission: bool) -> bool {
        self.negotiated && (self.marks_all || !is_retransmission)
    }

    /// Record a reduction of the window, which the next new segment reports.
    pub const fn on_reduction(&mut self) {
        self.reduced = self.negotiated && self.counted.is_none();
    }

    /// Record that the reduction was undone.
    pub const fn on_undo(&mut self) {
        self.reduced = false;
    }

    /// Return whether the next new segment carries CWR.
    #[inline]
    #[must_use]
    pub const fn is_reduced(&self) -> bool {
        self.reduced
    }

    /// Return whether the new segment that leaves now carries CWR, and clear that flag.
    #[inline]
    pub const fn take_reduced(&mut self) -> bool {
        std::mem::replace(&mut self.reduced, false)
    }
}
