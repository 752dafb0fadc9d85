//! Bursts that a sender hands to the network.

/// Consecutive segments to send. Two words without a gap are never copied piece by piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// Number of the first segment.
    pub first: u64,
    /// Number of segments.
    pub segs: u32,
    /// True if they have been sent before.
    pub is_retransmission: bool,
    /// True if the first reports to the receiver that the window was reduced (CWR, RFC 3168).
    pub cwr: bool,
    /// True if the last ends a chunk of several segments and carries PSH.
    pub pushed: bool,
    /// True if the sender has nothing more to send now.
    pub is_last: bool,
}
