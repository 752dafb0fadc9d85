//! Queue disciplines: the order of packets, and which of them are dropped or marked.
//!
//! There are two kinds. An *admission* decides when a packet arrives and keeps the order, so the
//! departure is known at once. A *scheduler* decides when the transmitter is free, and must be
//! asked then.

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
    /// Its size on the wire, in bytes.
    pub wire_bytes: u32,
    /// Time at which it joined.
    pub since: Time,
}

/// A queue for tests. Each discipline has at least one.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Name of the example, which describes its particular setting.
    pub name: &'static str,
    /// The queue in JSON, as in a scenario.
    pub queue: &'static str,
}

/// The parameters of a discipline, as a scenario states them.
pub trait Parameters {
    /// Example queues, for tests.
    const EXAMPLES: &'static [Example];
    /// Disciplines with times of microseconds in JSON, without the rest of the queue.
    const QUICK_EXAMPLES: &'static [&'static str];

    /// Check the values that the types do not restrict.
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

/// The parameters of a discipline that decides on arrival and keeps the order.
pub trait Managed: Parameters {
    /// The algorithm that decides.
    type Law: Manage;

    /// Return the algorithm with an empty queue. `packet_time` is the transmission time of a
    /// typical full packet.
    fn manager(&self, packet_time: Span, random: Random) -> Self::Law;
}

/// An algorithm that decides on arrival.
pub trait Manage {
    /// Return the decision about a packet that arrives at `now`, which never goes back.
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: Packet) -> Verdict;
}

/// The parameters of a discipline that decides when the transmitter is free.
pub trait Scheduled: Parameters {
    /// The algorithm that decides.
    type Law: Scheduler;

    /// Return the algorithm with an empty queue.
    fn scheduler(&self, limit: Option<Limit>, random: Random) -> Self::Law;
}

/// A discipline that decides when the transmitter is free.
pub trait Scheduler: Send + std::fmt::Debug {
    /// Add a packet. Push packets that are refused or pushed out to `dropped`.
    fn enqueue(&mut self, now: Time, queued: Queued, dropped: &mut Vec<Packet>);
    /// Remove and return the packet to send now, possibly marked. Push packets that the discipline
    /// gives up to `dropped`. None if no packet is left.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued>;
    /// Packets in the queue.
    fn packets(&self) -> u32;
    /// Bytes on the wire in the queue.
    fn bytes(&self) -> u64;
    /// Bytes on the wire in the queue that a packet would join, where each queue has a separate
    /// limit.
    fn bytes_with(&self, _packet: Packet) -> u64 {
        self.bytes()
    }
    /// Number of packets marked so far.
    fn marked(&self) -> u64;
    /// All packets in the queue, in no particular order.
    fn waiting(&self) -> Vec<Packet>;

    /// Return whether a packet that finds an empty queue leaves unchanged after waiting so long for
    /// the transmitter. Only one flow may use the queue.
    fn passes(&mut self, _wire_bytes: u32, _wait: Span) -> bool {
        false
    }

    /// Return whether there is always space for so much, and [`Self::passes`] may return true.
    fn holds(&self, _packets: u32, _bytes: u64) -> bool {
        false
    }
}
