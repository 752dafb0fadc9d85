//! The network between the hosts: packets, queues, links, loss and topologies.
//!
//! It has no clock and does no I/O. A driver injects packets, asks when the next
//! thing happens and lets it happen, in virtual time (the simulator) or in real
//! time (the testbed's emulator).

mod agenda;
mod bucket;
mod chance;
mod check;
mod delays;
mod dumbbell;
mod fifo;
mod graph;
mod link;
mod loss;
mod packet;
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
pub use delays::{Batch, Delays, Jitter, Reorder, ReorderConfig};
pub use dumbbell::{
    DumbbellConfig, FORWARD_BOTTLENECK, Loss, Place, Queue, REVERSE_BOTTLENECK, Reverse,
};
pub use graph::{LinkId, Network, Path, Step};
pub use link::{Arrival, DropCause, Link, LinkConfig, LinkCounters, QueueLimit};
pub use loss::{
    GilbertElliott, GilbertElliottConfig, LossConfig, LossModel, ScheduledLoss, Scripted,
    ScriptedDrop,
};
pub use packet::{Direction, Ecn, Flags, Packet};
pub use policer::{Policer, PolicerConfig};
pub use queue::{
    Admission, Backlog, CoDel, CoDelConfig, Discipline, Fq, FqCoDel, FqCoDelConfig, FqConfig,
    Limit, Manager, Pie, PieConfig, QueueConfig, Queued, Red, RedConfig, Scheduler, TwoClass,
    TwoClassConfig, Verdict, scheduler,
};
pub use random::{Bernoulli, Random};
pub use schedule::{Schedule, Steps};
pub use serializer::Serializer;
pub use transmitter::{
    RateConfig, STUCK, Stepped, TokenBucket, TokenBucketConfig, Trace, TraceConfig, Transmitter,
};
pub use units::{Rate, Span, Time};
