//! A packet: it knows its flow, its size and how far it has come.

use std::fmt;

/// Direction of a packet: towards the receiver or back to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    /// From sender to receiver.
    Forward = 0,
    /// From receiver to sender.
    Reverse = 1,
}

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand ECN.
    #[default]
    NotEct = 0b00,
    /// ECN-capable, ECT(1).
    Ect1 = 0b01,
    /// ECN-capable, ECT(0).
    Ect0 = 0b10,
    /// Congestion experienced.
    Ce = 0b11,
}

/// Flags that a host sets in a packet's headers, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// TCP's ECN-Echo.
    pub const ECE: Self = Self(1 << 2);
    /// TCP's congestion window reduced.
    pub const CWR: Self = Self(1 << 3);
    /// The segment has been sent before.
    pub const RESENT: Self = Self(1 << 4);
    /// TCP's push: the segment ends a message, or a chunk of its host.
    pub const PSH: Self = Self(1 << 5);
    /// The host stores more about the packet. The note is its key.
    pub const OUT_OF_BAND: Self = Self(1 << 6);

    /// The packet opens a connection. This pair is free: no data segment is out of band, and no ACK
    /// is pushed.
    pub const OPENS: Self = Self::PSH.and(Self::OUT_OF_BAND);

    /// Return this flag if `condition` holds, otherwise no flag.
    #[inline]
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        Self(if condition { self.0 } else { 0 })
    }

    /// Return the flags of both.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A packet inside the network. Its number and note belong to the hosts, and the network carries
/// them unchanged. The simulator keeps a segment number there, and an emulator the index of a
/// buffer.
///
/// The packet has two words, so it travels in two registers.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Packet {
    /// The note in the upper bits, and the number below.
    tag: u64,
    /// The flow in the upper half, then direction, bytes, flags, ECN and links passed. Flow and
    /// direction together are the route.
    word: u64,
}

const NUMBER_BITS: u32 = 40;
const FLOW_SHIFT: u32 = 32;
const ROUTE_SHIFT: u32 = 31;
const BYTES_SHIFT: u32 = 15;
/// Lowest bit of ECN and flags; ECN is below the flags.
const FLAGS_SHIFT: u32 = 8;
const ECN_MASK: u64 = 0b11 << FLAGS_SHIFT;
/// Mask of ECN and flags, after the shift.
const FLAGS_AND_ECN_MASK: u64 = 0x7f;
const HOP_MASK: u64 = 0xff;

impl Packet {
    /// Number of possible packet numbers, which begin at 0.
    pub const NUMBERS: u64 = 1 << NUMBER_BITS;
    /// Number of possible notes, which begin at 0.
    pub const NOTES: u32 = 1 << (64 - NUMBER_BITS);

    /// A packet of `bytes` at the IP layer that is about to leave its host.
    #[inline]
    #[must_use]
    pub const fn new(flow: u32, direction: Direction, bytes: u16, number: u64) -> Self {
        debug_assert!(number < Self::NUMBERS);
        let word = (flow as u64) << FLOW_SHIFT
            | (direction as u64) << ROUTE_SHIFT
            | (bytes as u64) << BYTES_SHIFT;
        Self { tag: number, word }
    }

    /// Return the packet with this ECN field.
    #[inline]
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> Self {
        Self { word: self.word & !ECN_MASK | (ecn as u64) << FLAGS_SHIFT, ..self }
    }

    /// Return the packet with these flags added.
    #[inline]
    #[must_use]
    pub const fn with_flags(self, flags: Flags) -> Self {
        Self { word: self.word | (flags.0 as u64) << FLAGS_SHIFT, ..self }
    }

    /// Return the packet with its number increased by `packets`.
    #[inline]
    #[must_use]
    pub const fn following(self, packets: u32) -> Self {
        Self { tag: self.tag + packets as u64, ..self }
    }

    /// Return the packet with a note of the hosts, modulo [`Self::NOTES`]. It must not have one.
    #[inline]
    #[must_use]
    pub const fn with_note(self, note: u32) -> Self {
        // The shift drops the bits above the note, which gives the modulo.
        Self { tag: self.tag | (note as u64) << NUMBER_BITS, ..self }
    }

    /// Return the packet with another note.
    #[inline]
    #[must_use]
    pub const fn renoted(self, note: u32) -> Self {
        Self { tag: self.number(), ..self }.with_note(note)
    }

    /// The hosts' number of the packet, such as a segment, an ACK or a buffer.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u64 {
        self.tag & (Self::NUMBERS - 1)
    }

    /// The hosts' note on the packet.
    #[inline]
    #[must_use]
    pub const fn note(self) -> u32 {
        (self.tag >> NUMBER_BITS) as u32
    }

    /// Index of the flow, which selects the path.
    #[inline]
    #[must_use]
    pub const fn flow(self) -> u32 {
        (self.word >> FLOW_SHIFT) as u32
    }

    /// Size at the IP layer in bytes. Links add their overhead.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u16 {
        (self.word >> BYTES_SHIFT) as u16
    }

    /// Direction, which selects one of the flow's two routes.
    #[inline]
    #[must_use]
    pub const fn direction(self) -> Direction {
        if self.word >> ROUTE_SHIFT & 1 == 0 { Direction::Forward } else { Direction::Reverse }
    }

    /// The ECN field.
    #[inline]
    #[must_use]
    pub const fn ecn(self) -> Ecn {
        match self.word >> FLAGS_SHIFT & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Return whether all of `flags` are set.
    #[inline]
    #[must_use]
    pub const fn has(self, flags: Flags) -> bool {
        (self.word >> FLAGS_SHIFT) as u8 & flags.0 == flags.0
    }

    /// Return whether no flag is set.
    #[inline]
    #[must_use]
    pub const fn is_bare(self) -> bool {
        self.flags_and_ecn() <= Ecn::Ce as u64
    }

    /// Return whether no flag is set and the packet is not marked CE.
    #[inline]
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.flags_and_ecn() < Ecn::Ce as u64
    }

    /// Flags, with ECN below them.
    #[inline]
    const fn flags_and_ecn(self) -> u64 {
        self.word >> FLAGS_SHIFT & FLAGS_AND_ECN_MASK
    }

    /// Index of the packet's route. Each flow has two routes.
    #[inline]
    pub(crate) const fn route(self) -> usize {
        (self.word >> ROUTE_SHIFT) as usize
    }

    /// Number of links already passed.
    #[inline]
    pub(crate) const fn hop(self) -> usize {
        (self.word & HOP_MASK) as usize
    }

    /// Return the packet after one more link.
    #[inline]
    pub(crate) const fn advanced(self) -> Self {
        // The lowest byte counts links, and a route has at most 255, so the sum never carries.
        Self { word: self.word + 1, ..self }
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("flow", &self.flow())
            .field("direction", &self.direction())
            .field("bytes", &self.bytes())
            .field("ecn", &self.ecn())
            .field("hop", &self.hop())
            .field("number", &self.number())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_gives_back_what_it_was_made_of(
            flow: u32, bytes: u16, number in 0u64..Packet::NUMBERS, back: bool,
            hops in 0usize..255, note in 0u32..Packet::NOTES, marked: bool, resent: bool,
        ) {
            let direction = if back { Direction::Reverse } else { Direction::Forward };
            let ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
            let mut packet = Packet::new(flow, direction, bytes, number)
                .with_ecn(Ecn::Ect1)
                .with_flags(Flags::RESENT.when(resent).and(Flags::CWR))
                .with_note(note)
                .with_ecn(ecn);
            for _ in 0..hops {
                packet = packet.advanced();
            }
            prop_assert_eq!((packet.flow(), packet.bytes()), (flow, bytes));
            prop_assert_eq!((packet.number(), packet.note()), (number, note));
            prop_assert_eq!((packet.direction(), packet.ecn()), (direction, ecn));
            let other = packet.renoted(Packet::NOTES - 1 - note);
            prop_assert_eq!((other.number(), other.note()), (number, Packet::NOTES - 1 - note));
            prop_assert_eq!(other.renoted(note), packet);
            prop_assert_eq!(packet.hop(), hops);
            prop_assert_eq!(packet.route(), flow as usize * 2 + usize::from(back));
            prop_assert_eq!(packet.has(Flags::RESENT), resent);
            prop_assert!(packet.has(Flags::CWR) && !packet.has(Flags::ECE) && !packet.has(Flags::PSH));
        }
    }
}
