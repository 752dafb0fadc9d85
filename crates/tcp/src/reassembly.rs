//! Data that arrived out of order, and the blocks that report it.

use std::ops::Range;

use crate::ack::SackBlocks;
use crate::ranges::RangeSet;

/// Number of blocks in the order of reports: as many as fit in an ACK, and as many that may be
/// acknowledged meanwhile.
const REPORTED_MAX: usize = 8;

/// Number of blocks that Linux remembers. More fit in the option without timestamps, and fewer may
/// exist.
const REMEMBERED_MAX: usize = 4;

/// Segments that have arrived above the next expected one.
#[derive(Clone, Debug)]
pub struct Reassembly {
    above: RangeSet,
    /// Blocks of `above` that grew or were reported recently, with the latest first.
    recent: Vec<Range<u64>>,
}

impl Reassembly {
    /// Reassembly before the first segment.
    pub fn new() -> Self {
        Self { above: RangeSet::default(), recent: Vec::with_capacity(REPORTED_MAX + 1) }
    }

    /// Return whether no segment waits behind a hole.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.above.is_empty()
    }

    /// Number of segments behind a hole.
    pub fn count(&self) -> u64 {
        self.above.count()
    }

    /// Return whether a segment has arrived behind a hole.
    pub fn contains(&mut self, number: u64) -> bool {
        self.above.contains(number)
    }

    /// The first part of `span` that has already arrived; None if there is none.
    pub fn duplicate(&mut self, span: Range<u64>) -> Option<Range<u64>> {
        self.above.first_common(span)
    }

    /// Return whether `span` would make Linux forget a block that it remembers.
    pub fn displaces(&self, span: &Range<u64>) -> bool {
        let extends = |block: &Range<u64>| block.start <= span.end && span.start <= block.end;
        // A full list of blocks sends a compressed ACK first (tcp_sack_compress_send_ack).
        self.recent.len() >= REMEMBERED_MAX && !self.recent.iter().any(extends)
    }

    /// Add `span` and put its block before all others (RFC 2018, section 4). Mostly the first block
    /// grows by a segment.
    pub fn insert(&mut self, span: Range<u64>) {
        let block = self.above.insert(span.clone());
        if let Some(latest) = self.recent.first_mut()
            && latest.end == span.start
            && block.end == span.start + 1
        {
            latest.end = block.end;
            return;
        }
        self.recent.retain(|old| old.end <= block.start || block.end <= old.start);
        self.recent.insert(0, block);
        self.recent.truncate(REPORTED_MAX);
    }

    /// Remove all segments below `next`, which have arrived. Return the next missing segment.
    pub fn advance(&mut self, next: u64) -> u64 {
        let next = self.above.next_absent(next);
        self.above.remove_below(next);
        self.recent.retain(|block| block.start >= next);
        next
    }

    /// The blocks to report: at most `count_max`, with the duplicate.
    #[inline]
    pub fn blocks(&self, duplicate: Option<Range<u64>>, count_max: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if let Some(duplicate) = duplicate {
            blocks.report_duplicate(duplicate);
        }
        let space = count_max - blocks.len();
        // The duplicate takes the place of the oldest block (RFC 2883, section 4).
        self.recent.iter().take(space).for_each(|block| blocks.push(block.clone()));
        blocks
    }
}
