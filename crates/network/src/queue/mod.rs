//! Queue disciplines: which packet goes next, and which are dropped or marked.
//!
//! There are two kinds. An *admission* decides when a packet arrives and keeps the
//! order, so that its departure is known at once. A *scheduler* decides when the
//! transmitter is free, and so must be asked then.

use crate::packet::Packet;
use crate::units::{Span, Time};

/// What a packet finds on arrival at a first-in, first-out queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting or being sent.
    pub packets: u32,
    /// Bytes on the wire waiting or being sent.
    pub bytes: u64,
    /// How long the packet will wait for the transmitter.
    pub wait: Span,
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

/// A packet in a scheduler's queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// The packet.
    pub packet: Packet,
    /// Its size on the wire.
    pub wire_bytes: u32,
    /// When it joined.
    pub since: Time,
}

/// A discipline that decides when the transmitter is free.
pub trait Scheduler: Send + std::fmt::Debug {
    /// Takes a packet; puts what is refused or pushed out into `dropped`.
    fn enqueue(&mut self, now: Time, queued: Queued, dropped: &mut Vec<Packet>);
    /// Gives the packet to send now, marked if so decided; puts what is given up into
    /// `dropped`.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued>;
    /// Packets in the queue.
    fn packets(&self) -> u32;
    /// Bytes on the wire in the queue.
    fn bytes(&self) -> u64;
    /// Every packet in the queue, in no particular order.
    fn waiting(&self) -> Vec<Packet>;
}
