//! Slots for packets while they are in the network.

use dumbbell_network::Time;

/// Slots are allocated this many at a time.
const CHUNK: usize = 1 << 10;

/// Memory for packets, in slots of one size. A slot is used again once its packet is gone.
#[derive(Debug)]
pub struct Slots {
    slot_bytes: usize,
    chunks: Vec<Box<[u8]>>,
    infos: Vec<Info>,
    free: Vec<u32>,
}

/// Properties of the packet in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Its length in bytes.
    pub bytes: u16,
    /// True if it carries payload of a flow's sender.
    pub is_data: bool,
    /// Time when it left its host.
    pub sent: Time,
    /// Number of times that it will still be delivered or lost.
    holders: u16,
}

impl Slots {
    /// No slots, for packets of at most `packet_bytes`.
    pub const fn new(packet_bytes: u16) -> Self {
        let slot_bytes = (packet_bytes as usize).next_multiple_of(64);
        Self { slot_bytes, chunks: Vec::new(), infos: Vec::new(), free: Vec::new() }
    }

    /// Take a free slot, which the caller must release.
    #[inline]
    pub fn vacant(&mut self) -> u32 {
        if self.free.is_empty() {
            self.grow();
        }
        let slot = self.free.pop().expect("a free slot");
        self.infos[slot as usize] = Info { holders: 1, ..Info::default() };
        slot
    }

    /// Set the properties of the packet in a slot.
    #[inline]
    pub fn fill(&mut self, slot: u32, bytes: u16, is_data: bool, sent: Time) {
        let info = &mut self.infos[slot as usize];
        (info.bytes, info.is_data, info.sent) = (bytes, is_data, sent);
    }

    /// Note that the packet will be delivered or lost once more.
    ///
    /// # Panics
    /// If it has already left the slot.
    pub fn hold(&mut self, slot: u32) {
        let holders = &mut self.infos[slot as usize].holders;
        assert!(*holders > 0, "nobody holds slot {slot}");
        *holders += 1;
    }

    /// Note that the packet has been delivered or lost.
    #[inline]
    pub fn release(&mut self, slot: u32) {
        let info = &mut self.infos[slot as usize];
        info.holders -= 1;
        if info.holders == 0 {
            self.free.push(slot);
        }
    }

    /// The properties of the packet.
    #[inline]
    pub fn info(&self, slot: u32) -> Info {
        self.infos[slot as usize]
    }

    /// The packet.
    #[inline]
    pub fn packet(&mut self, slot: u32) -> &mut [u8] {
        let bytes = usize::from(self.infos[slot as usize].bytes);
        &mut self.space(slot)[..bytes]
    }

    /// The whole slot.
    #[inline]
    pub fn space(&mut self, slot: u32) -> &mut [u8] {
        let (chunk, place) = (slot as usize / CHUNK, slot as usize % CHUNK * self.slot_bytes);
        &mut self.chunks[chunk][place..place + self.slot_bytes]
    }

    #[cold]
    fn grow(&mut self) {
        let first = self.infos.len() as u32;
        self.chunks.push(vec![0; CHUNK * self.slot_bytes].into_boxed_slice());
        self.infos.resize(self.infos.len() + CHUNK, Info::default());
        self.free.extend((first..first + CHUNK as u32).rev());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_when_nobody_holds_it() {
        let mut slots = Slots::new(100);
        let first = slots.vacant();
        slots.space(first)[0] = 7;
        slots.fill(first, 3, true, Time(9));
        slots.hold(first);
        slots.release(first);
        let second = slots.vacant();
        assert_ne!(second, first);
        slots.fill(second, 1, false, Time(9));
        assert_eq!((slots.packet(first)[0], slots.packet(first).len()), (7, 3));
        assert!(slots.info(first).is_data && !slots.info(second).is_data);
        slots.release(first);
        assert_eq!(slots.vacant(), first);
    }

    #[test]
    fn there_are_always_more_slots() {
        let mut slots = Slots::new(64);
        for number in 0..5_000u32 {
            let slot = slots.vacant();
            slots.space(slot)[..4].copy_from_slice(&number.to_le_bytes());
            slots.fill(slot, 4, false, Time::ZERO);
        }
        let stored = |slots: &mut Slots, slot| {
            u32::from_le_bytes(slots.packet(slot).try_into().expect("four bytes"))
        };
        assert!((0..5_000).all(|slot| stored(&mut slots, slot) == slot));
    }
}
