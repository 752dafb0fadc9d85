//! The modelled TCP endpoint: sender and receiver as pure state machines.
//!
//! Time is an argument. Segments and ACKs are arguments and results by value. Sequence numbers
//! count segments, and a stack profile selects the behaviour of a kernel.

#![forbid(unsafe_code)]

mod accecn;
mod ack;
mod arrival;
mod chunks;
mod coalesce;
mod compression;
mod config;
mod controller;
mod delayed_ack;
mod ecn;
mod ecn_echo;
mod frto;
mod handshake;
mod host_queue;
mod pacing;
mod rack;
mod ranges;
mod rate;
mod reader;
mod reassembly;
mod receive_window;
mod receiver;
mod recent_min;
mod recovery;
mod reordering;
mod ring;
mod round_trip;
mod rtt;
mod scoreboard;
mod sender;
mod shaping;
mod stack;
mod tail_probe;
mod tcp_bpf;
mod tick;
mod undo;
mod usage;

pub use accecn::{ByteCounts, MarkCounts, handshake_ace, opening_option_bytes, option_bytes};
pub use ack::{Ack, SACK_BYTES_MAX, SackBlocks};
pub use arrival::{Arrival, clock};
pub use config::SenderConfig;
pub use handshake::{Accepter, Handshake, Opener, syn_bytes};
pub use rack::LossContext;
pub use reader::Reading;
pub use receiver::Receiver;
pub use reordering::Reordering;
pub use rtt::RttSummary;
pub use scoreboard::{Delivery, NewLosses, Scoreboard};
pub use sender::{Burst, Congestion, Observer, Sender, SenderCounters};
pub use stack::{
    AccEcnOption, AckDelay, Ecn, EcnPeer, Growth, LossDetection, PROFILES, Pacing, ProbeRule,
    SWITCHES, SlowStart, Stack, StackChoice, describe_profiles,
};
pub use tcp_bpf::TcpBpf;
