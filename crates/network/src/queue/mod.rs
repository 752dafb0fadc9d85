//! Queue disciplines: which packet goes next, and which are dropped or marked.
//!
//! There are two kinds. An *admission* decides when a packet arrives and keeps the
//! order, so that its departure is known at once. A *scheduler* decides when the
//! transmitter is free, and so must be asked then.

mod admission;
mod backlog;
mod cake;
mod cake_flows;
mod classes;
mod codel;
mod config;
mod dualpi2;
mod flow_queues;
mod fq;
mod fq_codel;
mod fq_pie;
mod inventory;
mod limit;
mod pie;
mod pool;
#[cfg(test)]
mod properties;
mod red;
mod rotation;
mod sparse;
mod step;
#[cfg(test)]
mod testing;

pub use admission::Admission;
pub use backlog::{Backlog, Verdict};
pub use cake::AckFilter;
pub use classes::{ClassOf, ClassesConfig};
pub use config::QueueConfig;
pub use inventory::{AnyScheduler, Discipline};
pub use limit::Limit;

use crate::check::Check;
use crate::packet::Packet;
use crate::random::Random;
use crate::transmitter::ShaperConfig;
use crate::units::{Span, Time};

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

/// A queue that tests try, for each discipline at least one.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// What is special about it.
    pub name: &'static str,
    /// The queue as a scenario has it, in JSON.
    pub queue: &'static str,
}

/// The parameters of a discipline, as a scenario states them.
pub trait Parameters {
    /// Queues that tests try.
    const EXAMPLES: &'static [Example];
    /// The same with times of microseconds, the discipline alone.
    const QUICK_EXAMPLES: &'static [&'static str];

    /// Checks what the types do not ensure.
    ///
    /// # Errors
    /// The first key at fault.
    fn check(&self) -> Check;

    /// See [`Discipline::untouched_below`].
    fn untouched_below(&self) -> Option<Span> {
        None
    }

    /// See [`Discipline::shaper`].
    fn shaper(&self) -> Option<ShaperConfig> {
        None
    }
}

/// The parameters of a discipline that decides when a packet arrives and keeps the order.
pub trait Managed: Parameters {
    /// What decides.
    type Law: Manage;

    /// It with an empty queue; `packet_time` is what a full packet typically takes to send.
    fn manager(&self, packet_time: Span, random: Random) -> Self::Law;
}

/// What decides when a packet arrives.
pub trait Manage {
    /// What becomes of a packet that arrives at `now`, which never goes back.
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: Packet) -> Verdict;
}

/// The parameters of a discipline that decides when the transmitter is free.
pub trait Scheduled: Parameters {
    /// What decides.
    type Law: Scheduler;

    /// It with an empty queue.
    fn scheduler(&self, limit: Option<Limit>, random: Random) -> Self::Law;
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
    /// Bytes on the wire in that of its queues which a packet would join, as far as each has space
    /// of its own.
    fn bytes_with(&self, _packet: Packet) -> u64 {
        self.bytes()
    }
    /// Packets that it marked so far.
    fn marked(&self) -> u64;
    /// Every packet in the queue, in no particular order.
    fn waiting(&self) -> Vec<Packet>;

    /// Whether a packet goes on as it came that finds no other in the queue, and would wait so
    /// long for the transmitter; no other flow may come.
    fn passes(&mut self, _wire_bytes: u32, _wait: Span) -> bool {
        false
    }

    /// Whether there is always space for so much, and [`Self::passes`] may say yes.
    fn holds(&self, _packets: u32, _bytes: u64) -> bool {
        false
    }
}
