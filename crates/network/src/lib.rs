//! The network between the hosts: packets, queues, links, loss and topologies.
//!
//! It has no clock and does no I/O. A driver injects packets, asks when the next
//! thing happens and lets it happen, in virtual time (the simulator) or in real
//! time (the testbed's emulator).

mod agenda;
mod fifo;
mod graph;
mod link;
mod packet;
mod plan;
mod queue;
mod random;
mod serializer;
mod units;

pub use agenda::Agenda;
pub use graph::{Arrival, Fate, GroupId, Hop, LinkId, Network, Path, Route, Turn};
pub use link::{
    DropCause, Link, LinkConfig, LinkCounters, LossConfig, Passage, QueueConfig, QueueLimit,
    RateConfig,
};
pub use packet::{Direction, Ecn, Flags, Packet};
pub use queue::{Backlog, Queued, Scheduler, Verdict};
pub use random::{Bernoulli, Random};
pub use units::{Rate, Span, Time};
