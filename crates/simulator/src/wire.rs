//! The encoding of segments and acknowledgements in packets.
//!
//! A packet's number is the segment or the cumulative acknowledgement, and its note the timestamp.
//! For acknowledgements with more content see [`crate::side_table`].

use dumbbell_network::{Direction, Ecn, Flags, Packet, Time};
use dumbbell_tcp::{Ack, Arrival, clock};

/// The timestamp of a segment sent at `now`, reduced to the bits that a packet has space for.
#[inline]
pub const fn note_of(now: Time) -> u32 {
    clock(now) & (Packet::NOTES - 1)
}

/// The latest timestamp, not later than `now`, whose lower bits are the note.
#[inline]
pub const fn stamp_of(note: u32, now: Time) -> u32 {
    let clock = clock(now);
    // It is unique unless a packet is in flight for 2^24 ms (4.6 h).
    clock.wrapping_sub(clock.wrapping_sub(note) & (Packet::NOTES - 1))
}

/// The fields of a data packet for the receiver.
#[inline]
pub fn arrival_of(packet: Packet, now: Time, full_bytes: u16) -> Arrival {
    Arrival {
        number: packet.number(),
        stamp: stamp_of(packet.note(), now),
        ce: packet.ecn() == Ecn::Ce,
        cwr: packet.has(Flags::CWR),
        full: packet.bytes() == full_bytes,
        pushed: packet.has(Flags::PSH),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_outlast_the_bits_of_a_note() {
        let sent = (3 << 24) + 5;
        let echoing = Ack { cumulative: 2, echo: sent, ece: false, has_blocks: false };
        let packet = plain_packet(0, 52, echoing);
        let received = ack_of(packet, Time(u64::from(sent + 1_000) * 1_000_000));
        assert_eq!(received.echo, sent);
        let data = Packet::new(0, Direction::Forward, 1_500, 3).with_note(sent & 0xff_ffff);
        let arrival = arrival_of(data, Time(u64::from(sent) * 1_000_000), 1_500);
        assert_eq!((arrival.stamp, arrival.full, arrival.ce), (sent, true, false));
    }
}
