//! The backlog that a packet finds at a first-in, first-out queue, and the verdict on the packet.

use crate::packet::{Ecn, Packet};
use crate::units::Span;

/// State of a first-in, first-out queue when a packet arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets that wait or are in transmission.
    pub packets: u32,
    /// Bytes on the wire that wait or are in transmission.
    pub bytes: u64,
    /// Size on the wire of the packet in transmission; 0 if there is none.
    pub sending_bytes: u32,
    /// Time that the packet will wait for the transmitter.
    pub wait: Span,
    /// Time since the transmitter had nothing to send.
    pub idle: Span,
}

impl Backlog {
    /// Bytes on the wire behind the packet in transmission.
    #[inline]
    #[must_use]
    pub const fn waiting_bytes(&self) -> u64 {
        self.bytes - self.sending_bytes as u64
    }
}

/// Decision about an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet joins the queue.
    Accept,
    /// The packet joins the queue and is marked. It must be ECN-capable.
    Mark,
    /// The packet is dropped.
    Drop,
}

impl Verdict {
    /// Return the signal of congestion: a mark if the packet can carry one, and otherwise a drop.
    #[inline]
    pub(super) fn of_congestion(packet: Packet, ecn: bool) -> Self {
        if ecn && packet.ecn() != Ecn::NotEct { Self::Mark } else { Self::Drop }
    }
}
