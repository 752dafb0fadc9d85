//! The backlog that a packet finds at a first-in, first-out queue, and the verdict on the packet.

use crate::packet::{Ecn, Packet};
use crate::units::Span;

/// What a packet finds on arrival at a first-in, first-out queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting or being sent.
    pub packets: u32,
    /// Bytes on the wire waiting or being sent.
    pub bytes: u64,
    /// Size on the wire of the packet being sent; 0 if there is none.
    pub sending_bytes: u32,
    /// How long the packet will wait for the transmitter.
    pub wait: Span,
    /// How long the transmitter has had nothing to send.
    pub idle: Span,
}

impl Backlog {
    /// Bytes on the wire behind the packet being sent.
    #[inline]
    #[must_use]
    pub const fn waiting_bytes(&self) -> u64 {
        self.bytes - self.sending_bytes as u64
    }
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It joins the queue.
    Accept,
    /// It joins the queue and is marked; only said of ECN-capable packets.
    Mark,
    /// It is refused.
    Drop,
}

impl Verdict {
    /// Congestion is to be signalled: by a mark where the packet can carry one, else by loss.
    #[inline]
    pub(super) fn of_congestion(packet: Packet, ecn: bool) -> Self {
        if ecn && packet.ecn() != Ecn::NotEct { Self::Mark } else { Self::Drop }
    }
}
