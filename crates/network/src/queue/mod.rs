//! Queue disciplines: which packet goes next, and which are dropped or marked.
//!
//! There are two kinds. An *admission* decides when a packet arrives and keeps the
//! order, so that its departure is known at once. A *scheduler* decides when the
//! transmitter is free, and so must be asked then.

mod admission;
mod classes;
mod codel;
mod config;
mod fq;
mod fq_codel;
mod limit;
mod pie;
mod pool;
#[cfg(test)]
mod properties;
mod red;
mod rotation;
mod sparse;
#[cfg(test)]
mod testing;

pub use admission::Admission;
pub use classes::{ClassOf, ClassesConfig};
pub use config::{Discipline, QueueConfig};
pub use limit::Limit;

use self::classes::Classes;
use self::codel::CoDel;
use self::fq::Fq;
use self::fq_codel::FqCoDel;

use crate::packet::{Ecn, Packet};
use crate::random::Random;
use crate::units::{Span, Time};

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
    fn of_congestion(packet: Packet, ecn: bool) -> Self {
        if ecn && packet.ecn() != Ecn::NotEct { Self::Mark } else { Self::Drop }
    }
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
    /// Packets that it marked so far.
    fn marked(&self) -> u64;
    /// Every packet in the queue, in no particular order.
    fn waiting(&self) -> Vec<Packet>;
}

/// A discipline that decides when the transmitter is free, as one type.
#[derive(Debug)]
pub enum AnyScheduler {
    /// Controlled delay.
    CoDel(Box<CoDel>),
    /// Controlled delay for each flow.
    FqCoDel(Box<FqCoDel>),
    /// Fair queueing.
    Fq(Box<Fq>),
    /// Classes.
    Classes(Box<Classes>),
}

/// Asks whichever discipline it is.
macro_rules! of_each {
    ($any:expr, $scheduler:ident => $answer:expr) => {
        match $any {
            Self::CoDel($scheduler) => $answer,
            Self::FqCoDel($scheduler) => $answer,
            Self::Fq($scheduler) => $answer,
            Self::Classes($scheduler) => $answer,
        }
    };
}

impl AnyScheduler {
    /// An empty queue; none if the discipline decides on arrival, as an [`Admission`].
    #[must_use]
    pub fn new(config: &QueueConfig, random: Random) -> Option<Self> {
        let limit = config.limit;
        Some(match &config.discipline {
            Discipline::CoDel(codel) => Self::CoDel(Box::new(CoDel::new(codel, limit))),
            Discipline::FqCoDel(it) => Self::FqCoDel(Box::new(FqCoDel::new(it, limit, random))),
            Discipline::Fq(fq) => Self::Fq(Box::new(Fq::new(fq, limit))),
            Discipline::Classes(classes) => Self::Classes(Box::new(Classes::new(classes, limit))),
            Discipline::Fifo {}
            | Discipline::Step { .. }
            | Discipline::Red(_)
            | Discipline::Pie(_) => return None,
        })
    }

    /// Whether a packet goes on as it came that finds no other in the queue, and would wait so
    /// long for the transmitter; no other flow may come.
    #[inline]
    pub fn passes(&mut self, wire_bytes: u32, wait: Span) -> bool {
        match self {
            Self::CoDel(codel) => codel.passes(wire_bytes, wait),
            Self::FqCoDel(fq_codel) => fq_codel.passes(wire_bytes, wait),
            Self::Fq(_) | Self::Classes(_) => false,
        }
    }

    /// Whether there is always room for `packets`, however large they are.
    #[must_use]
    pub fn holds(&self, packets: u32) -> bool {
        let limit = match self {
            Self::CoDel(codel) => codel.limit(),
            Self::FqCoDel(fq_codel) => fq_codel.limit(),
            Self::Fq(_) | Self::Classes(_) => return false,
        };
        limit.is_none_or(|limit| limit.holds(packets, u64::from(packets) * BYTES_MAX))
    }
}

/// No packet has more on the wire.
const BYTES_MAX: u64 = 2 * u16::MAX as u64;

impl Scheduler for AnyScheduler {
    #[inline]
    fn enqueue(&mut self, now: Time, queued: Queued, dropped: &mut Vec<Packet>) {
        of_each!(self, it => it.enqueue(now, queued, dropped));
    }

    #[inline]
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        of_each!(self, it => it.dequeue(now, dropped))
    }

    #[inline]
    fn packets(&self) -> u32 {
        of_each!(self, it => it.packets())
    }

    fn bytes(&self) -> u64 {
        of_each!(self, it => it.bytes())
    }

    fn marked(&self) -> u64 {
        of_each!(self, it => it.marked())
    }

    fn waiting(&self) -> Vec<Packet> {
        of_each!(self, it => it.waiting())
    }
}
