//! An ACK, as one end sends and the other reads it.
//!
//! Its fixed part is small and copied often. Few ACKs have SACK blocks, which travel separately.

use std::ops::Range;

/// Most SACK blocks that fit in the option space (RFC 2018, section 3).
pub const SACK_BLOCKS_MAX: usize = 4;
/// Most bytes of the SACK option.
pub const SACK_BYTES_MAX: u16 = 4 + 8 * SACK_BLOCKS_MAX as u16;

/// The fixed part of an ACK, in segment numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// All segments below have arrived.
    pub cumulative: u64,
    /// The echoed timestamp (RFC 7323, section 4.3); 0 without timestamps.
    pub echo: u32,
    /// True if the receiver has seen congestion marks (RFC 3168 or RFC 8257).
    pub ece: bool,
    /// True if [`SackBlocks`] come with it.
    pub has_blocks: bool,
}

/// The SACK option: segments that arrived above the cumulative ACK, the most recent first. A block
/// of segments that arrived twice may precede them (RFC 2883).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Range<u64>; SACK_BLOCKS_MAX],
    count: u8,
    first_is_duplicate: bool,
}

impl SackBlocks {
    /// Put a block of segments that arrived twice before all other blocks.
    ///
    /// # Panics
    /// If there are blocks already.
    pub fn report_duplicate(&mut self, block: Range<u64>) {
        assert!(self.is_empty(), "a duplicate after {:?}", self.blocks);
        self.push(block);
        self.first_is_duplicate = true;
    }

    /// The block of segments that arrived twice; None if there is none.
    #[must_use]
    pub fn duplicate(&self) -> Option<Range<u64>> {
        self.first_is_duplicate.then(|| self.blocks[0].clone())
    }

    /// Add a block behind the others.
    ///
    /// # Panics
    /// If the option space is full.
    pub fn push(&mut self, block: Range<u64>) {
        self.blocks[self.count as usize] = block;
        self.count += 1;
    }

    /// The blocks of segments above the cumulative ACK, without the duplicate.
    #[must_use]
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.blocks[usize::from(self.first_is_duplicate)..self.count as usize]
    }

    /// Return whether there is neither a block nor a duplicate.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Return whether there is no space for another block.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.len() == SACK_BLOCKS_MAX
    }

    /// Number of blocks in the option, with the duplicate.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Size of the TCP option in bytes (RFC 2018, section 3), padded to whole words.
    #[must_use]
    pub const fn option_bytes(&self) -> u16 {
        // The 4 bytes are kind, length and two NOPs that align the blocks.
        if self.is_empty() { 0 } else { 4 + 8 * self.len() as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_counts_the_duplicate() {
        let mut blocks = SackBlocks::default();
        assert_eq!((blocks.is_empty(), blocks.option_bytes()), (true, 0));
        blocks.report_duplicate(1..2);
        assert_eq!(blocks.duplicate(), Some(1..2));
        assert_eq!((blocks.len(), blocks.option_bytes()), (1, 12));
        blocks.push(5..9);
        blocks.push(3..4);
        assert_eq!((blocks.as_slice(), blocks.option_bytes()), (&[5..9, 3..4][..], 28));
        blocks.push(11..12);
        assert!(blocks.is_full());
    }
}
