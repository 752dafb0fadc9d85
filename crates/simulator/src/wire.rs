//! Where the SACK blocks of acknowledgements in the network are kept: few
//! acknowledgements carry any, so packets only name the place.

use dumbbell_network::{Flags, Packet};
use dumbbell_tcp::SackBlocks;

/// SACK blocks of the acknowledgements now in the network.
#[derive(Debug, Default)]
pub struct ParkedBlocks {
    /// Blocks, and how many packets name the place.
    places: Vec<(SackBlocks, u32)>,
    free: Vec<u32>,
}

impl ParkedBlocks {
    /// Keeps blocks until they are fetched; gives the note that names their place.
    pub fn park(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = (blocks, 1);
            return place;
        }
        let place = u32::try_from(self.places.len()).unwrap_or(Packet::NOTES);
        assert!(place < Packet::NOTES, "too many acknowledgements with blocks under way");
        self.places.push((blocks, 1));
        place
    }

    /// Fetches the blocks of a packet, if it has any; their place is free then.
    #[inline]
    pub fn blocks_of(&mut self, packet: Packet) -> SackBlocks {
        if packet.has(Flags::PARKED) { self.fetch(packet.note()) } else { SackBlocks::default() }
    }

    /// There is one more packet like this.
    pub fn share(&mut self, packet: Packet) {
        if packet.has(Flags::PARKED) {
            self.places[packet.note() as usize].1 += 1;
        }
    }

    #[cold]
    fn fetch(&mut self, place: u32) -> SackBlocks {
        let (blocks, packets) = &mut self.places[place as usize];
        *packets -= 1;
        if *packets > 0 {
            return blocks.clone();
        }
        self.free.push(place);
        std::mem::take(blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_network::Direction;

    fn packet(place: u32) -> Packet {
        Packet::new(0, Direction::Reverse, 52, 1).with_note(place).with_flags(Flags::PARKED)
    }

    #[test]
    fn blocks_are_fetched_in_any_order_and_places_used_again() {
        let mut parked = ParkedBlocks::default();
        let blocks = [3..4, 7..9, 1..2].map(|block| {
            let mut blocks = SackBlocks::default();
            blocks.push(block);
            blocks
        });
        let packets = blocks.clone().map(|blocks| packet(parked.park(blocks)));
        parked.share(packets[2]);
        for index in [2, 0, 1, 2] {
            assert_eq!(parked.blocks_of(packets[index]), blocks[index]);
        }
        let plain = Packet::new(0, Direction::Reverse, 52, 1);
        assert_eq!(parked.blocks_of(plain), SackBlocks::default());
        parked.park(blocks[0].clone());
        assert_eq!(parked.places.len(), 3);
    }
}
