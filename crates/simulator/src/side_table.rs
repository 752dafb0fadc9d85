//! The side table: parts of acknowledgements for which their packets have no space.
//!
//! Few acknowledgements carry SACK blocks. These are in a side table, and the packet's note is
//! their place there. The table also has acknowledgements with the receiver's timestamp, its
//! window, or counts of marks.

use std::collections::VecDeque;

use dumbbell_network::{Direction, Flags, Packet};
use dumbbell_tcp::{Ack, MarkCounts, SackBlocks};

use crate::wire::plain_packet;

/// Contents of acknowledgements in the network for which their packets have no space.
#[derive(Debug, Default)]
pub struct SideTable {
    places: Vec<Entry>,
    /// Free places, taken in turn, so that those in use are in the order of their packets.
    free: VecDeque<u32>,
    /// The blocks of an acknowledgement without blocks.
    pub none: SackBlocks,
}

#[derive(Debug, Default)]
struct Entry {
    ack: Ack,
    blocks: SackBlocks,
    more: More,
    /// Flow of the packets with this place, and their number.
    flow: u32,
    packets: u32,
}

/// Fields of an acknowledgement that only some senders need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct More {
    /// The receiver's timestamp, in ms of its clock.
    pub stamp: Option<u32>,
    /// The window that the receiver offers, in segments.
    pub window: Option<u64>,
    /// Counts of the marks that have arrived.
    pub marks: Option<MarkCounts>,
}

/// An acknowledgement from the side table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchedAck<'a> {
    pub ack: Ack,
    pub blocks: &'a SackBlocks,
    pub more: More,
}

impl SideTable {
    /// Make the packet of an acknowledgement. `header_bytes` is its size without options that not
    /// every acknowledgement has.
    #[inline]
    pub fn packet_of(
        &mut self,
        flow: u32,
        header_bytes: u16,
        ack: Ack,
        more: More,
        blocks: &SackBlocks,
    ) -> Packet {
        if !ack.has_blocks && more == More::default() {
            return plain_packet(flow, header_bytes, ack);
        }
        let place = self.free_place();
        let entry = &mut self.places[place as usize];
        entry.blocks = if ack.has_blocks { blocks.clone() } else { SackBlocks::default() };
        (entry.flow, entry.ack, entry.more, entry.packets) = (flow, ack, more, 1);
        let marks_bytes = more.marks.map_or(0, |marks| marks.option_bytes());
        let bytes = header_bytes + entry.blocks.option_bytes() + marks_bytes;
        Packet::new(flow, Direction::Reverse, bytes, ack.cumulative)
            .with_flags(Flags::ECE.when(ack.ece).and(Flags::OUT_OF_BAND))
            .with_note(place)
    }

    /// Take the acknowledgement of a packet with a place. The place is free after its last packet.
    #[inline]
    pub fn fetch(&mut self, packet: Packet) -> FetchedAck<'_> {
        let entry = self.entry(packet);
        entry.packets -= 1;
        if entry.packets == 0 {
            // The place keeps its content until it is used again, so the reference returned stays
            // valid.
            self.free.push_back(packet.note());
        }
        let Entry { ack, blocks, more, .. } = &self.places[packet.note() as usize];
        FetchedAck { ack: *ack, blocks, more: *more }
    }

    /// Forget the entry of a lost packet.
    pub fn forget(&mut self, packet: Packet) {
        if packet.has(Flags::OUT_OF_BAND) {
            self.fetch(packet);
        }
    }

    /// Note a duplicate of a packet.
    pub fn share(&mut self, packet: Packet) {
        if packet.has(Flags::OUT_OF_BAND) {
            self.entry(packet).packets += 1;
        }
    }

    /// The entry at a packet's place.
    ///
    /// # Panics
    /// If it is not kept for this packet: another acknowledgement would get its blocks.
    fn entry(&mut self, packet: Packet) -> &mut Entry {
        let entry = &mut self.places[packet.note() as usize];
        let belongs = (entry.flow, entry.ack.cumulative) == (packet.flow(), packet.number());
        assert!(entry.packets > 0 && belongs, "{packet:?} names the place of {entry:?}");
        entry
    }

    #[inline]
    fn free_place(&mut self) -> u32 {
        self.free.pop_front().unwrap_or_else(|| {
            let place = u32::try_from(self.places.len()).unwrap_or(Packet::NOTES);
            assert!(place < Packet::NOTES, "too many acknowledgements under way");
            self.places.push(Entry::default());
            place
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_tcp::ByteCounts;
    use proptest::prelude::*;

    const NONE: More = More { stamp: None, window: None, marks: None };

    fn ack(cumulative: u64, has_blocks: bool) -> Ack {
        Ack { cumulative, echo: 7, ece: cumulative % 2 == 1, has_blocks }
    }

    fn blocks(first: u64) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        blocks.push(first..first + 2);
        blocks
    }

    #[test]
    fn acknowledgements_come_back_in_any_order_and_places_are_used_again() {
        let mut table = SideTable::default();
        let acks = [(1, 5), (2, 9), (3, 4)];
        let packets = acks.map(|(cumulative, first)| {
            table.packet_of(0, 52, ack(cumulative, true), NONE, &blocks(first))
        });
        assert_eq!(packets[0].bytes(), 52 + 12);
        table.share(packets[2]);
        for index in [2, 0, 1, 2] {
            let (cumulative, first) = acks[index];
            let ack = ack(cumulative, true);
            let expected = FetchedAck { ack, blocks: &blocks(first), more: NONE };
            assert_eq!(table.fetch(packets[index]), expected);
        }
        table.packet_of(0, 52, ack(8, true), NONE, &blocks(1));
        assert_eq!(table.places.len(), 3);
    }

    #[test]
    fn acknowledgements_whose_sender_wants_more_carry_it() {
        let mut table = SideTable::default();
        let stamped = More { stamp: Some(12), ..NONE };
        let offering = More { window: Some(0), ..NONE };
        let plain = table.packet_of(0, 52, ack(1, false), stamped, &blocks(9));
        assert!(plain.has(Flags::OUT_OF_BAND));
        assert_eq!(plain.bytes(), 52, "both timestamps have always been in the header");
        let option = Some(ByteCounts { ect0: 1, ce: 0, ect1: 1, is_short: true });
        let counting = More { marks: Some(MarkCounts { ace: 5, option }), ..NONE };
        let counted = table.packet_of(0, 52, ack(6, true), counting, &blocks(9));
        assert_eq!(counted.bytes(), 52 + 12 + 8);
        assert_eq!(table.fetch(counted).more, counting);
        let with_blocks = table.packet_of(0, 52, ack(2, true), offering, &blocks(9));
        let expected = FetchedAck { ack: ack(2, true), blocks: &blocks(9), more: offering };
        assert_eq!(table.fetch(with_blocks), expected);
        let blocks = SackBlocks::default();
        let expected = FetchedAck { ack: ack(1, false), blocks: &blocks, more: stamped };
        assert_eq!(table.fetch(plain), expected);
    }
    /// Events of packets in flight: a new one is sent, or one of them is duplicated, lost or
    /// arrives.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Send { flow: u32, cumulative: u64, blocks: u64, more: More },
        Double(prop::sample::Index),
        Lose(prop::sample::Index),
        Arrive(prop::sample::Index),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        let stamp = prop::option::of(any::<u32>());
        let send = (0u32..3, 1u64..5, 0u64..4, stamp, prop::option::of(any::<u64>()));
        prop_oneof![
            3 => send.prop_map(|(flow, cumulative, blocks, stamp, window)| {
                Step::Send { flow, cumulative, blocks, more: More { stamp, window, ..NONE } }
            }),
            1 => any::<prop::sample::Index>().prop_map(Step::Double),
            1 => any::<prop::sample::Index>().prop_map(Step::Lose),
            3 => any::<prop::sample::Index>().prop_map(Step::Arrive),
        ]
    }

    proptest! {
        /// `crates/network/tests/outcomes.rs` checks the network's part of this.
        #[test]
        fn every_copy_brings_what_its_acknowledgement_was_sent_with(
            steps in prop::collection::vec(any_step(), 1..300),
        ) {
            let mut table = SideTable::default();
            let mut under_way: Vec<(Packet, Ack, SackBlocks, More)> = Vec::new();
            for step in steps {
                match step {
                    Step::Send { flow, cumulative, blocks: first, more } => {
                        let ack = ack(cumulative, first > 0);
                        let blocks = if first > 0 { blocks(first) } else { SackBlocks::default() };
                        let packet = table.packet_of(flow, 52, ack, more, &blocks);
                        under_way.push((packet, ack, blocks, more));
                    }
                    Step::Double(index) if !under_way.is_empty() => {
                        let twice = index.get(&under_way).clone();
                        table.share(twice.0);
                        under_way.push(twice);
                    }
                    Step::Lose(index) if !under_way.is_empty() => {
                        table.forget(under_way.swap_remove(index.index(under_way.len())).0);
                    }
                    Step::Arrive(index) if !under_way.is_empty() => {
                        let arrives = under_way.swap_remove(index.index(under_way.len()));
                        let (packet, ack, blocks, more) = &arrives;
                        let sent = FetchedAck { ack: *ack, blocks, more: *more };
                        if packet.has(Flags::OUT_OF_BAND) {
                            prop_assert_eq!(table.fetch(*packet), sent);
                        } else {
                            prop_assert_eq!(sent.more, NONE);
                            prop_assert_eq!(sent.blocks, &SackBlocks::default());
                        }
                    }
                    _ => {}
                }
                let entries = under_way.iter().filter(|packet| packet.0.has(Flags::OUT_OF_BAND)).count();
                let shared: u32 = table.places.iter().map(|place| place.packets).sum();
                prop_assert_eq!(shared as usize, entries);
            }
        }
    }

    #[test]
    fn a_place_that_is_free_or_another_s_is_never_read() {
        for (reused, doubles) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut table = SideTable::default();
            let gone = table.packet_of(0, 52, ack(5, true), NONE, &blocks(9));
            table.forget(gone);
            if reused {
                table.packet_of(1, 52, ack(5, true), NONE, &blocks(7));
            }
            let reads = std::panic::AssertUnwindSafe(|| match doubles {
                true => table.share(gone),
                false => table.forget(gone),
            });
            std::panic::catch_unwind(reads).expect_err("nothing is kept for this packet");
        }
    }
}
