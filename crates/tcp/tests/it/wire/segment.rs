//! The segments of a burst, one by one.

use dumbbell_tcp::{Burst, Sender};

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment.
    pub number: u64,
    /// True if it has been sent before.
    pub is_retransmission: bool,
    /// True if routers may mark it instead of dropping it (ECN-capable transport).
    pub ect: bool,
    /// True if it reports to the receiver that the window was reduced (RFC 3168).
    pub cwr: bool,
    /// True if it ends a chunk of several segments and carries PSH.
    pub pushed: bool,
}

/// The segments of a sender's burst, in their order.
pub fn segments(sender: &Sender, burst: Burst) -> impl Iterator<Item = Segment> + use<> {
    let last = burst.segs - 1;
    let ect = sender.is_ecn_capable(burst.is_retransmission);
    (0..burst.segs).map(move |place| Segment {
        number: burst.first + u64::from(place),
        is_retransmission: burst.is_retransmission,
        ect,
        cwr: burst.cwr && place == 0,
        pushed: burst.pushed && place == last,
    })
}
