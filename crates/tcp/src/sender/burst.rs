//! Bursts that a sender hands to the network.

/// Segments to put on the wire, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The number of the first.
    pub first: u64,
    /// How many there are.
    pub segs: u32,
    /// They have been sent before.
    pub is_retransmission: bool,
    /// Routers may mark them instead of dropping them (ECN-capable transport).
    pub ect: bool,
    /// The first reports to the receiver that the window was reduced (CWR, RFC 3168).
    pub cwr: bool,
    /// The last ends a chunk of several, and says so (PSH).
    pub pushed: bool,
    /// The sender has nothing more to send now.
    pub is_last: bool,
}
