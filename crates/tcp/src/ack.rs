//! An acknowledgement as one end sends and the other reads it.

use std::ops::Range;

/// Most SACK blocks that fit beside timestamps in the option space (RFC 2018).
pub const SACK_BLOCKS_MAX: usize = 3;

/// SACK blocks, the most recent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Range<u64>; SACK_BLOCKS_MAX],
    count: u8,
}

/// What an acknowledgement says, in segment numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Everything below has arrived.
    pub cumulative: u64,
    /// What else has arrived, as far as the option space holds it.
    pub sacked: SackBlocks,
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

    /// The blocks.
    #[must_use]
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.blocks[..self.count as usize]
    }

    /// Whether there is none.
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
