//! The network between the hosts: packets, queues, links, loss and topologies.
//!
//! It has no clock and does no I/O. A driver injects packets, asks when the next
//! thing happens and lets it happen, in virtual time (the simulator) or in real
//! time (the testbed's emulator).

mod agenda;
mod dumbbell;
mod fifo;
mod graph;
mod link;
mod packet;
mod random;
mod serializer;
mod units;

pub use agenda::Agenda;
pub use dumbbell::{
    DumbbellConfig, FORWARD_BOTTLENECK, Loss, Place, Queue, REVERSE_BOTTLENECK, Reverse,
};
pub use graph::{LinkId, Network, Path, Step};
pub use link::{Arrival, DropCause, Link, LinkConfig, LinkCounters, QueueLimit};
pub use packet::{Direction, Packet};
pub use random::{Bernoulli, Random};
pub use serializer::Serializer;
pub use units::{Rate, Span, Time};
