//! Data that arrived before what it follows, and the blocks that report it.

use std::ops::Range;

use crate::ack::SackBlocks;
use crate::ranges::RangeSet;

/// Blocks kept in the order of reporting: as many as fit in an acknowledgement, and as
/// many that may be acknowledged meanwhile.
const REPORTED_MAX: usize = 8;

/// Blocks that Linux remembers: more than fit next to timestamps, fewer than there may be.
const REMEMBERED_MAX: usize = 4;

/// What has arrived above the next segment expected.
#[derive(Clone, Debug)]
pub struct Reassembly {
    above: RangeSet,
    /// Blocks of `above` that grew or were asked for lately, the latest first.
    recent: Vec<Range<u64>>,
}

impl Reassembly {
    /// Nothing is missing.
    pub fn new() -> Self {
        Self { above: RangeSet::default(), recent: Vec::with_capacity(REPORTED_MAX + 1) }
    }

    /// Whether nothing waits for a hole to be filled.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.above.is_empty()
    }

    /// Segments that wait for a hole to be filled.
    pub fn count(&self) -> u64 {
        self.above.count()
    }

    /// Whether a segment is here.
    pub fn contains(&self, number: u64) -> bool {
        self.above.contains(number)
    }

    /// What of `span` is here already: the first piece of it.
    pub fn duplicate(&self, span: Range<u64>) -> Option<Range<u64>> {
        self.above.first_common(span)
    }

    /// Whether `span` would make Linux forget a block that it remembers.
    pub fn displaces(&self, span: &Range<u64>) -> bool {
        let extends = |block: &Range<u64>| block.start <= span.end && span.start <= block.end;
        // A full list of blocks sends a compressed ACK first (tcp_sack_compress_send_ack).
        self.recent.len() >= REMEMBERED_MAX && !self.recent.iter().any(extends)
    }

    /// Adds `span`, and puts its block before all others (RFC 2018, section 4). Mostly it is that
    /// which was there, and has grown by a segment.
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

    /// Everything below `next` has arrived; gives the next segment missing.
    pub fn advance(&mut self, next: u64) -> u64 {
        let next = self.above.next_absent(next);
        self.above.remove_below(next);
        self.recent.retain(|block| block.start >= next);
        next
    }

    /// The blocks to report: at most `count_max`, the duplicate among them.
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
