//! What travels: a packet knows its flow, its size and how far it has come.

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
/// the network hands `tag` through untouched (the simulator keeps a sequence
/// number there, an emulator the index of a buffer).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The hosts' own data.
    pub tag: u64,
    /// Index of the flow, which selects the route.
    pub flow: u32,
    /// Size at the IP layer in bytes; links add their own overhead.
    pub bytes: u16,
    /// Which of the flow's two routes the packet follows.
    pub direction: Direction,
    /// Number of links already passed.
    pub(crate) hop: u8,
}

impl Packet {
    /// A packet about to leave its host.
    #[inline]
    #[must_use]
    pub const fn new(flow: u32, direction: Direction, bytes: u16, tag: u64) -> Self {
        Self { tag, flow, bytes, direction, hop: 0 }
    }
}
