//! The network between the hosts: packets, queues, links, loss and topologies.
//!
//! It has no clock and does no I/O. A driver injects packets, asks when the next
//! thing happens and lets it happen, in virtual time (the simulator) or in real
//! time (the testbed's emulator).

mod agenda;
mod bucket;
mod chance;
mod check;
mod delay_histograms;
mod delays;
mod drops;
mod express;
mod fifo;
mod graph;
mod line;
mod link;
mod link_config;
mod loss;
mod occupancy;
mod one_way;
mod packet;
mod plan;
mod policer;
mod queue;
mod random;
mod schedule;
mod serializer;
mod transmitter;
mod units;

pub use agenda::Agenda;
pub use chance::Chance;
pub use check::Check;
pub use delay_histograms::{DelayCount, DelayHistograms, Periods, QueueDelays};
pub use delays::{Batch, Delays, Jitter, Reorder, ReorderConfig};
pub use drops::{Drops, FlowDrops};
pub use express::{Express, Roads};
pub use graph::{Arrival, Fate, GroupId, Hop, LinkId, Network, Path, Route, Turn};
pub use link::{DropCause, Link, LinkCounters, Passage};
pub use link_config::LinkConfig;
pub use loss::{
    GilbertElliott, GilbertElliottConfig, LossConfig, LossModel, Losses, ScheduledLoss, Scripted,
    ScriptedDrop,
};
pub use one_way::{OneWay, OneWayCounters};
pub use packet::{Direction, Ecn, Flags, Packet};
pub use plan::Drive;
pub use policer::{Policer, PolicerConfig};
pub use queue::{
    Admission, Backlog, ClassOf, Classes, ClassesConfig, CoDel, CoDelConfig, Discipline,
    EcnClasses, Fq, FqCoDel, FqCoDelConfig, FqConfig, Limit, Manager, Pie, PieConfig, Precedence,
    QueueConfig, Queued, Red, RedConfig, Scheduler, Serve, Turns, Verdict, scheduler,
};
pub use random::Random;
pub use schedule::{Schedule, Steps};
pub use serializer::Serializer;
pub use transmitter::{
    RateConfig, Stepped, TokenBucket, TokenBucketConfig, Trace, TraceConfig, Transmitter,
};
pub use units::{Rate, Span, Time};
