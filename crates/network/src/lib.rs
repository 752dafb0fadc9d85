//! The network between the hosts: packets, queues, links, loss and topologies.
//!
//! It has no clock and does no I/O. A driver injects packets, asks when the next
//! thing happens and lets it happen, in virtual time (the simulator) or in real
//! time (the testbed's emulator).

#![forbid(unsafe_code)]

mod bucket;
mod chance;
mod check;
mod delay_histograms;
mod delays;
mod drops;
mod event_queue;
mod fifo;
mod link;
mod link_config;
mod loss;
mod memory;
mod merge_queue;
mod netem_limit;
mod network;
mod network_config;
mod occupancy;
mod one_way;
mod packet;
mod policer;
mod queue;
mod random;
mod route;
mod routing;
mod schedule;
mod serializer;
mod traffic;
mod train;
mod transmitter;
mod units;
mod variation;

pub use check::Check;
pub use delay_histograms::{DelayCount, Periods, QueueDelays};
pub use drops::Drops;
pub use event_queue::EventQueue;
pub use link::{DropCause, LinkCounters};
pub use link_config::LinkConfig;
pub use memory::MemoryConfig;
pub use network::{Event, Network, Outcome};
pub use network_config::NetworkConfig;
pub use one_way::{OneWay, OneWayCounters};
pub use packet::{Direction, Ecn, Flags, Packet};
pub use queue::{AckFilter, ClassOf, ClassesConfig, Discipline, Example, Limit};
pub use random::Random;
pub use route::{Arrival, Hop, LinkId, Path, ProcessId, Route};
pub use routing::Drive;
pub use schedule::Steps;
pub use serializer::Serializer;
pub use traffic::Traffic;
pub use train::{DirectPath, Train};
pub use transmitter::{RateConfig, Stepped};
pub use units::{Rate, Span, Time};
