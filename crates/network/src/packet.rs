//! What travels: a packet knows its flow, its size and how far it has come.

use std::fmt;

/// Towards the receiver or back to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Direction {
    /// From sender to receiver.
    Forward = 0,
    /// From receiver to sender.
    Reverse = 1,
}

/// A packet inside the network. What it carries is the business of the hosts:
/// the network hands its tag through untouched (the simulator keeps a sequence
/// number there, an emulator the index of a buffer).
///
/// All else is one word, so that a packet moves from queue to queue in two registers:
/// the flow in the upper half, then bytes, direction and links passed.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Packet {
    tag: u64,
    word: u64,
}

const FLOW_SHIFT: u32 = 32;
const BYTES_SHIFT: u32 = 16;
const DIRECTION_SHIFT: u32 = 8;
const HOP_MASK: u64 = 0xff;

impl Packet {
    /// A packet of `bytes` at the IP layer, about to leave its host.
    #[inline]
    #[must_use]
    pub const fn new(flow: u32, direction: Direction, bytes: u16, tag: u64) -> Self {
        let word = (flow as u64) << FLOW_SHIFT
            | (bytes as u64) << BYTES_SHIFT
            | (direction as u64) << DIRECTION_SHIFT;
        Self { tag, word }
    }

    /// The hosts' own data.
    #[inline]
    #[must_use]
    pub const fn tag(self) -> u64 {
        self.tag
    }

    /// Index of the flow, which selects the route.
    #[inline]
    #[must_use]
    pub const fn flow(self) -> u32 {
        (self.word >> FLOW_SHIFT) as u32
    }

    /// Size at the IP layer in bytes; links add their own overhead.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> u16 {
        (self.word >> BYTES_SHIFT) as u16
    }

    /// Which of the flow's two routes the packet follows.
    #[inline]
    #[must_use]
    pub const fn direction(self) -> Direction {
        if self.word >> DIRECTION_SHIFT & 1 == 0 { Direction::Forward } else { Direction::Reverse }
    }

    /// Index of the packet's route: two for each flow.
    #[inline]
    pub(crate) const fn route(self) -> usize {
        self.flow() as usize * 2 + (self.word >> DIRECTION_SHIFT & 1) as usize
    }

    /// Number of links already passed.
    #[inline]
    pub(crate) const fn hop(self) -> usize {
        (self.word & HOP_MASK) as usize
    }

    /// The packet one link further on.
    #[inline]
    pub(crate) const fn advanced(self) -> Self {
        Self { tag: self.tag, word: self.word + 1 }
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("flow", &self.flow())
            .field("direction", &self.direction())
            .field("bytes", &self.bytes())
            .field("hop", &self.hop())
            .field("tag", &self.tag)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packet_gives_back_what_it_was_made_of(
            flow: u32, bytes: u16, tag: u64, back: bool, hops in 0usize..255
        ) {
            let direction = if back { Direction::Reverse } else { Direction::Forward };
            let mut packet = Packet::new(flow, direction, bytes, tag);
            for _ in 0..hops {
                packet = packet.advanced();
            }
            prop_assert_eq!(packet.flow(), flow);
            prop_assert_eq!(packet.bytes(), bytes);
            prop_assert_eq!(packet.tag(), tag);
            prop_assert_eq!(packet.direction(), direction);
            prop_assert_eq!(packet.hop(), hops);
            prop_assert_eq!(packet.route(), flow as usize * 2 + usize::from(back));
        }
    }
}
