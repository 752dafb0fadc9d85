//! The packets of a handshake, and when a file shows them.

/// A file's clock when the run begins, in ns. It is not zero, so that the handshake before has a
/// time as well.
pub const CLOCK_AT_START_NS: u64 = 1_000_000_000;

/// Initial round-trip time that a handshake shows, in ns. Wireshark takes a segment that fills a
/// gap within that time for reordered, or within 3 ms if the time is zero. Here such a segment was
/// retransmitted.
const HANDSHAKE_RTT_NS: u64 = 1;

/// The packets of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The sender opens.
    Syn,
    /// The receiver accepts.
    SynAck,
    /// The sender confirms.
    Ack,
}

impl Handshake {
    /// All of them, in their order.
    pub const ALL: [Self; 3] = [Self::Syn, Self::SynAck, Self::Ack];

    /// A file's clock at this packet, in ns, if the connection begins at `start_ns`.
    #[must_use]
    pub const fn clock_ns(self, start_ns: u64) -> u64 {
        let before_ns = if matches!(self, Self::Syn) { HANDSHAKE_RTT_NS } else { 0 };
        CLOCK_AT_START_NS + start_ns - before_ns
    }
}
