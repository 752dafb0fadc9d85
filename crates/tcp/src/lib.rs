//! The modelled TCP endpoint: sender and receiver as pure state machines.
//!
//! Time comes in as an argument, segments and acknowledgements go in and out by
//! value. Sequence numbers count segments; a stack profile says which kernel's habits
//! the endpoint has.

mod ack;
mod ecn;
mod frto;
mod rack;
mod ranges;
mod receiver;
mod recent_min;
mod recovery;
mod reordering;
mod ring;
mod rtt;
mod scoreboard;
mod sender;
mod stack;
mod tail_probe;
mod undo;

pub use ack::{Ack, SACK_BLOCKS_MAX, SackBlocks};
pub use rack::Moment;
pub use ranges::RangeSet;
pub use receiver::Receiver;
pub use reordering::Reordering;
pub use rtt::{RttEstimator, RttSummary};
pub use scoreboard::{Delivery, Losses, Scoreboard};
pub use sender::{Congestion, Observer, Segment, Sender, SenderConfig, SenderCounters};
pub use stack::{
    Ecn, Growth, LossDetection, PROFILES, ProbeRule, Profile, Reduction, RtoRule, SWITCHES, Stack,
    StackChoice, describe_profiles,
};
