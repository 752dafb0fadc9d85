//! How what endpoints say rides in packets.
//!
//! A packet's number is the segment or the cumulative acknowledgement, its note the
//! timestamp. Few acknowledgements carry SACK blocks: those are parked, and the note
//! names the place.

use dumbbell_network::{Direction, Ecn, Flags, Packet, Time};
use dumbbell_tcp::{Ack, Arrival, SackBlocks};

/// Timestamps count 2^20 ns, about a millisecond.
const TICK_SHIFT: u32 = 20;

/// The hosts' clock for timestamps (RFC 7323).
#[inline]
pub const fn clock(now: Time) -> u32 {
    (now.0 >> TICK_SHIFT) as u32
}

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

/// SACK blocks of the acknowledgements now in the network.
#[derive(Debug, Default)]
pub struct ParkedBlocks {
    places: Vec<Parked>,
    free: Vec<u32>,
    /// What an acknowledgement without blocks has.
    pub none: SackBlocks,
}

#[derive(Debug, Default)]
struct Parked {
    blocks: SackBlocks,
    echo: u32,
    /// How many packets name the place.
    packets: u32,
}

impl ParkedBlocks {
    /// The packet of an acknowledgement whose IP header and beyond takes `header_bytes`.
    #[inline]
    pub fn packet_of(
        &mut self,
        flow: u32,
        header_bytes: u16,
        ack: Ack,
        blocks: impl FnOnce() -> SackBlocks,
    ) -> Packet {
        let flags = Flags::ECE.when(ack.ece);
        if ack.has_blocks {
            let blocks = blocks();
            let bytes = header_bytes + blocks.option_bytes();
            let place = self.park(Parked { blocks, echo: ack.echo, packets: 1 });
            return Packet::new(flow, Direction::Reverse, bytes, ack.cumulative)
                .with_flags(flags.and(Flags::PARKED))
                .with_note(place);
        }
        Packet::new(flow, Direction::Reverse, header_bytes, ack.cumulative)
            .with_flags(flags)
            .with_note(ack.echo & (Packet::NOTES - 1))
    }

    /// The acknowledgement in a packet with blocks; their place is free from then on.
    #[cold]
    pub fn fetch(&mut self, packet: Packet) -> (Ack, SackBlocks) {
        let place = packet.note();
        let parked = &mut self.places[place as usize];
        parked.packets -= 1;
        let (echo, ece) = (parked.echo, packet.has(Flags::ECE));
        let ack = Ack { cumulative: packet.number(), echo, ece, has_blocks: true };
        if parked.packets > 0 {
            return (ack, parked.blocks.clone());
        }
        self.free.push(place);
        (ack, std::mem::take(&mut parked.blocks))
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
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = parked;
            return place;
        }
        let place = u32::try_from(self.places.len()).unwrap_or(Packet::NOTES);
        assert!(place < Packet::NOTES, "too many acknowledgements with blocks under way");
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
        let mut parked = ParkedBlocks::default();
        let acks = [(1, 5), (2, 9), (3, 4)];
        let packets = acks.map(|(cumulative, first)| {
            parked.packet_of(0, 52, ack(cumulative, true), || blocks(first))
        });
        assert_eq!(packets[0].bytes(), 52 + 12);
        parked.share(packets[2]);
        for index in [2, 0, 1, 2] {
            let (cumulative, first) = acks[index];
            let expected = (ack(cumulative, true), blocks(first));
            assert_eq!(parked.fetch(packets[index]), expected);
        }
        parked.packet_of(0, 52, ack(8, true), || blocks(1));
        assert_eq!(parked.places.len(), 3);
    }

    #[test]
    fn timestamps_outlast_the_bits_of_a_note() {
        let mut parked = ParkedBlocks::default();
        let sent = (3 << 24) + 5;
        let packet =
            parked.packet_of(0, 52, Ack { echo: sent, ..ack(2, false) }, || unreachable!());
        let received = ack_of(packet, Time(u64::from(sent + 1_000) << TICK_SHIFT));
        assert_eq!(received.echo, sent);
        let data = Packet::new(0, Direction::Forward, 1_500, 3).with_note(sent & 0xff_ffff);
        let arrival = arrival_of(data, Time(u64::from(sent) << TICK_SHIFT), 1_500);
        assert_eq!((arrival.stamp, arrival.full, arrival.ce), (sent, true, false));
    }
}
