//! Where the SACK blocks of acknowledgements in the network are kept: few
//! acknowledgements carry any, so packets only name the place.

use dumbbell_tcp::SackBlocks;

/// SACK blocks of the acknowledgements now in the network.
#[derive(Debug, Default)]
pub struct ParkedBlocks {
    /// Blocks, and how many packets name the place.
    places: Vec<(SackBlocks, u32)>,
    free: Vec<u32>,
}

impl ParkedBlocks {
    /// Keeps blocks until they are fetched; gives their slot, which is never 0.
    pub fn park(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.places[slot as usize - 1] = (blocks, 1);
            return slot;
        }
        self.places.push((blocks, 1));
        u32::try_from(self.places.len()).expect("fewer than 2^32 acknowledgements under way")
    }

    /// Fetches the blocks of a slot, which is free from then on; slot 0 holds none.
    #[inline]
    pub fn unpark(&mut self, slot: u32) -> SackBlocks {
        if slot == 0 {
            return SackBlocks::default();
        }
        let (blocks, packets) = &mut self.places[slot as usize - 1];
        *packets -= 1;
        if *packets > 0 {
            return blocks.clone();
        }
        self.free.push(slot);
        std::mem::take(blocks)
    }

    /// One more packet names a slot.
    pub fn share(&mut self, slot: u32) {
        if slot > 0 {
            self.places[slot as usize - 1].1 += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_fetched_in_any_order_and_slots_used_again() {
        let mut parked = ParkedBlocks::default();
        let blocks = [3..4, 7..9, 1..2].map(|block| {
            let mut blocks = SackBlocks::default();
            blocks.push(block);
            blocks
        });
        let slots = blocks.clone().map(|blocks| parked.park(blocks));
        for index in [2, 0, 1] {
            assert_eq!(parked.unpark(slots[index]), blocks[index]);
        }
        assert_eq!(parked.unpark(0), SackBlocks::default());
        parked.park(blocks[0].clone());
        assert_eq!(parked.places.len(), 3);
    }
}
