//! How what endpoints say rides in packets.
//!
//! A packet's number is the segment or the cumulative acknowledgement, its note the
//! timestamp. Few acknowledgements carry SACK blocks: those are parked, and the note
//! names the place. So are those whose sender wants the receiver's timestamp too.

use std::collections::VecDeque;

use dumbbell_network::{Direction, Ecn, Flags, Packet, Time};
use dumbbell_tcp::{Ack, Arrival, SackBlocks, clock};

/// A timestamp of which a note holds the lower bits, not later than `now`.
#[inline]
const fn stamp_of(note: u32, now: Time) -> u32 {
    let clock = clock(now);
    clock.wrapping_sub(clock.wrapping_sub(note) & (Packet::NOTES - 1))
}

/// What a data packet brings to the receiver.
#[inline]
pub fn arrival_of(packet: Packet, now: Time, full_bytes: u16) -> Arrival {
    Arrival {
        number: packet.number(),
        stamp: stamp_of(packet.note(), now),
        ce: packet.ecn() == Ecn::Ce,
        cwr: packet.has(Flags::CWR),
        full: packet.bytes() == full_bytes,
        ends_message: packet.has(Flags::END),
    }
}

/// The acknowledgement in a packet without blocks.
#[inline]
pub fn ack_of(packet: Packet, now: Time) -> Ack {
    Ack {
        cumulative: packet.number(),
        echo: stamp_of(packet.note(), now),
        ece: packet.has(Flags::ECE),
        has_blocks: false,
    }
}

/// The packet of an acknowledgement without blocks.
#[inline]
pub const fn plain_packet(flow: u32, header_bytes: u16, ack: Ack) -> Packet {
    Packet::new(flow, Direction::Reverse, header_bytes, ack.cumulative)
        .with_flags(Flags::ECE.when(ack.ece))
        .with_note(ack.echo & (Packet::NOTES - 1))
}

/// What acknowledgements now in the network say that their packets have no room for.
#[derive(Debug, Default)]
pub struct ParkedAcks {
    places: Vec<Parked>,
    /// Taken in turns, so that those under way lie in the order of their packets.
    free: VecDeque<u32>,
    /// What an acknowledgement without blocks has.
    pub none: SackBlocks,
}

#[derive(Debug, Default)]
struct Parked {
    blocks: SackBlocks,
    has_blocks: bool,
    echo: u32,
    stamp: Option<u32>,
    /// How many packets name the place.
    packets: u32,
}

/// An acknowledgement that was parked.
#[derive(Debug, PartialEq, Eq)]
pub struct FetchedAck {
    pub ack: Ack,
    pub blocks: SackBlocks,
    /// The receiver's timestamp, where the sender wants it.
    pub stamp: Option<u32>,
}

impl ParkedAcks {
    /// The packet of an acknowledgement whose IP header and beyond takes `header_bytes`;
    /// `stamp` is the receiver's timestamp, if the sender wants it.
    #[inline]
    pub fn packet_of(
        &mut self,
        flow: u32,
        header_bytes: u16,
        ack: Ack,
        stamp: Option<u32>,
        blocks: impl FnOnce() -> SackBlocks,
    ) -> Packet {
        if ack.has_blocks || stamp.is_some() {
            let has_blocks = ack.has_blocks;
            let blocks = if has_blocks { blocks() } else { SackBlocks::default() };
            let bytes = header_bytes + blocks.option_bytes();
            let parked = Parked { blocks, has_blocks, echo: ack.echo, stamp, packets: 1 };
            let place = self.park(parked);
            return Packet::new(flow, Direction::Reverse, bytes, ack.cumulative)
                .with_flags(Flags::ECE.when(ack.ece).and(Flags::PARKED))
                .with_note(place);
        }
        plain_packet(flow, header_bytes, ack)
    }

    /// The acknowledgement of a packet that names a place, which is free from then on.
    #[cold]
    pub fn fetch(&mut self, packet: Packet) -> FetchedAck {
        let place = packet.note();
        let parked = &mut self.places[place as usize];
        parked.packets -= 1;
        let ack = Ack {
            cumulative: packet.number(),
            echo: parked.echo,
            ece: packet.has(Flags::ECE),
            has_blocks: parked.has_blocks,
        };
        let stamp = parked.stamp;
        if parked.packets > 0 {
            return FetchedAck { ack, blocks: parked.blocks.clone(), stamp };
        }
        self.free.push_back(place);
        FetchedAck { ack, blocks: std::mem::take(&mut parked.blocks), stamp }
    }

    /// A packet is lost, and with it what was parked.
    pub fn forget(&mut self, packet: Packet) {
        if packet.has(Flags::PARKED) {
            self.fetch(packet);
        }
    }

    /// There is one more packet like this.
    pub fn share(&mut self, packet: Packet) {
        if packet.has(Flags::PARKED) {
            self.places[packet.note() as usize].packets += 1;
        }
    }

    #[cold]
    fn park(&mut self, parked: Parked) -> u32 {
        if let Some(place) = self.free.pop_front() {
            self.places[place as usize] = parked;
            return place;
        }
        let place = u32::try_from(self.places.len()).unwrap_or(Packet::NOTES);
        assert!(place < Packet::NOTES, "too many acknowledgements under way");
        self.places.push(parked);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut parked = ParkedAcks::default();
        let acks = [(1, 5), (2, 9), (3, 4)];
        let packets = acks.map(|(cumulative, first)| {
            parked.packet_of(0, 52, ack(cumulative, true), None, || blocks(first))
        });
        assert_eq!(packets[0].bytes(), 52 + 12);
        parked.share(packets[2]);
        for index in [2, 0, 1, 2] {
            let (cumulative, first) = acks[index];
            let ack = ack(cumulative, true);
            let expected = FetchedAck { ack, blocks: blocks(first), stamp: None };
            assert_eq!(parked.fetch(packets[index]), expected);
        }
        parked.packet_of(0, 52, ack(8, true), None, || blocks(1));
        assert_eq!(parked.places.len(), 3);
    }

    #[test]
    fn acknowledgements_whose_sender_wants_the_receiver_s_timestamp_carry_it() {
        let mut parked = ParkedAcks::default();
        let plain = parked.packet_of(0, 52, ack(1, false), Some(12), || unreachable!());
        assert!(plain.has(Flags::PARKED));
        assert_eq!(plain.bytes(), 52, "both timestamps have always been in the header");
        let with_blocks = parked.packet_of(0, 52, ack(2, true), Some(13), || blocks(9));
        let expected = FetchedAck { ack: ack(2, true), blocks: blocks(9), stamp: Some(13) };
        assert_eq!(parked.fetch(with_blocks), expected);
        let blocks = SackBlocks::default();
        let expected = FetchedAck { ack: ack(1, false), blocks, stamp: Some(12) };
        assert_eq!(parked.fetch(plain), expected);
    }

    #[test]
    fn timestamps_outlast_the_bits_of_a_note() {
        let mut parked = ParkedAcks::default();
        let sent = (3 << 24) + 5;
        let echoing = Ack { echo: sent, ..ack(2, false) };
        let packet = parked.packet_of(0, 52, echoing, None, || unreachable!());
        let received = ack_of(packet, Time(u64::from(sent + 1_000) * 1_000_000));
        assert_eq!(received.echo, sent);
        let data = Packet::new(0, Direction::Forward, 1_500, 3).with_note(sent & 0xff_ffff);
        let arrival = arrival_of(data, Time(u64::from(sent) * 1_000_000), 1_500);
        assert_eq!((arrival.stamp, arrival.full, arrival.ce), (sent, true, false));
    }
}
