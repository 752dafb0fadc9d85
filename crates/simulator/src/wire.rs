//! How segments and acknowledgements ride in a packet's tag.
//!
//! A tag holds a segment number, or a cumulative acknowledgement with the slot at
//! which its SACK blocks are parked: few acknowledgements carry any.

use dumbbell_tcp::{Ack, SackBlocks};

const NUMBER_BITS: u32 = 40;
const NUMBER_MASK: u64 = (1 << NUMBER_BITS) - 1;

/// SACK blocks of the acknowledgements now in the network.
#[derive(Debug, Default)]
pub struct ParkedBlocks {
    slots: Vec<SackBlocks>,
    free: Vec<u32>,
}

/// The tag of a data segment.
#[inline]
pub fn tag_of_segment(number: u64) -> u64 {
    assert!(number <= NUMBER_MASK, "segment {number} does not fit in {NUMBER_BITS} bits");
    number
}

/// The segment number in a tag.
#[inline]
pub const fn segment_of_tag(tag: u64) -> u64 {
    tag & NUMBER_MASK
}

impl ParkedBlocks {
    /// The tag of an acknowledgement, which holds its blocks until it is read.
    #[inline]
    pub fn tag_of_ack(&mut self, ack: Ack, blocks: SackBlocks) -> u64 {
        let cumulative = tag_of_segment(ack.cumulative);
        if !ack.has_blocks {
            return cumulative;
        }
        let slot = self.park(blocks);
        cumulative | (u64::from(slot) + 1) << NUMBER_BITS
    }

    /// The acknowledgement in a tag, whose slot is free from then on.
    #[inline]
    pub fn ack_of_tag(&mut self, tag: u64) -> (Ack, SackBlocks) {
        let cumulative = segment_of_tag(tag);
        let blocks = match tag >> NUMBER_BITS {
            0 => SackBlocks::default(),
            slot => self.unpark(slot as u32 - 1),
        };
        (Ack { cumulative, has_blocks: !blocks.is_empty(), ..Ack::default() }, blocks)
    }

    fn park(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = blocks;
            return slot;
        }
        let slot = self.slots.len() as u32;
        assert!(slot < (1 << (64 - NUMBER_BITS)) - 1, "too many acknowledgements under way");
        self.slots.push(blocks);
        slot
    }

    fn unpark(&mut self, slot: u32) -> SackBlocks {
        self.free.push(slot);
        std::mem::take(&mut self.slots[slot as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(cumulative: u64, ranges: &[std::ops::Range<u64>]) -> (Ack, SackBlocks) {
        let mut blocks = SackBlocks::default();
        ranges.iter().for_each(|block| blocks.push(block.clone()));
        (Ack { cumulative, has_blocks: !blocks.is_empty(), ..Ack::default() }, blocks)
    }

    #[test]
    fn acknowledgements_survive_the_tag_in_any_order() {
        let mut parked = ParkedBlocks::default();
        let acks = [
            ack(5, &[]),
            ack(7, &[9..12, 20..21]),
            ack(0, &[1..2, 5..6]),
            ack(NUMBER_MASK, &[3..4, 8..9]),
        ];
        let tags = acks.clone().map(|(ack, blocks)| parked.tag_of_ack(ack, blocks));
        for index in [2, 0, 3, 1] {
            assert_eq!(parked.ack_of_tag(tags[index]), acks[index]);
        }
        assert_eq!(parked.free.len(), 3);
        parked.tag_of_ack(acks[1].0, acks[1].1.clone());
        assert_eq!(parked.slots.len(), 3, "slots are used again");
    }
}
