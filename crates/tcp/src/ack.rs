//! An acknowledgement as one end sends and the other reads it.

use std::ops::Range;

/// Most SACK blocks that fit beside timestamps in the option space (RFC 2018).
pub const SACK_BLOCKS_MAX: usize = 3;

/// SACK blocks, the most recent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Range<u64>; SACK_BLOCKS_MAX],
    count: u8,
    /// The first block reports a duplicate (RFC 2883).
    first_is_duplicate: bool,
}

/// What every acknowledgement says, in segment numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Everything below has arrived.
    pub cumulative: u64,
    /// The timestamp it echoes, in ticks of 2^20 ns; 0: none.
    pub echo: u32,
    /// The receiver saw a congestion mark (ECN-Echo, RFC 3168).
    pub ece: bool,
    /// SACK blocks come with it.
    pub has_blocks: bool,
}

impl SackBlocks {
    /// Adds a block behind the others.
    ///
    /// # Panics
    /// If the option space is full.
    pub fn push(&mut self, block: Range<u64>) {
        self.blocks[self.count as usize] = block;
        self.count += 1;
    }

    /// Puts what arrived twice before all other blocks, which must not be there yet.
    ///
    /// # Panics
    /// If there are blocks already.
    pub fn report_duplicate(&mut self, block: Range<u64>) {
        assert!(self.is_empty(), "a duplicate after {:?}", self.blocks);
        self.push(block);
        self.first_is_duplicate = true;
    }

    /// What arrived twice, if that is reported (RFC 2883).
    #[must_use]
    pub fn duplicate(&self) -> Option<Range<u64>> {
        self.first_is_duplicate.then(|| self.blocks[0].clone())
    }

    /// The blocks that are above the cumulative acknowledgement and arrived once.
    #[must_use]
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.blocks[usize::from(self.first_is_duplicate)..self.count as usize]
    }

    /// Whether there is none, of duplicates either.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether there is no room for another.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.count as usize == SACK_BLOCKS_MAX
    }

    /// Size of the TCP option in bytes (RFC 2018, section 3), padded to whole words.
    #[must_use]
    pub const fn option_bytes(&self) -> u16 {
        if self.count == 0 { 0 } else { 4 + 8 * self.count as u16 }
    }
}
