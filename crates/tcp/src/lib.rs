//! The modelled TCP endpoint: sender and receiver as pure state machines.
//!
//! Time comes in as an argument, segments and acknowledgements go in and out by
//! value. Sequence numbers count segments; a stack profile says which kernel's habits
//! the endpoint has.

mod ack;
mod arrival;
mod coalesce;
mod compression;
mod delayed_ack;
mod ecn_echo;
mod ranges;
mod reassembly;
mod receiver;
mod recovery;
mod ring;
mod rtt;
mod scoreboard;
mod sender;
mod stack;

pub use ack::{Ack, SACK_BLOCKS_MAX, SackBlocks};
pub use arrival::Arrival;
pub use ranges::RangeSet;
pub use receiver::Receiver;
pub use rtt::{RttEstimator, RttSummary};
pub use scoreboard::{Delivery, Scoreboard};
pub use sender::{Congestion, Observer, Segment, Sender, SenderConfig, SenderCounters};
pub use stack::{
    AckDelay, Ecn, Growth, LossDetection, PROFILES, Profile, Reduction, SWITCHES, Stack,
    StackChoice, describe_profiles,
};
