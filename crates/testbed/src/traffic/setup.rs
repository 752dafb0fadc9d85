//! The flows that the applications serve, and how a run is conducted.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_network::{Span, Time};
use dumbbell_record::RecordConfig;
use dumbbell_workload::Flow;

use super::output::Seen;
use crate::namespace::Namespace;
use crate::processors::Processors;

/// One flow, where it runs and how its sockets are set up.
#[derive(Clone, Debug)]
pub struct Connection<'a> {
    /// Index of the flow, which gives its ports.
    pub flow: usize,
    /// What it is.
    pub spec: &'a Flow,
    /// Where its sender is, as 10.0.0.1.
    pub sender: &'a Namespace,
    /// Where its receiver is, as 10.0.0.2.
    pub receiver: &'a Namespace,
    /// The kernel's name of its congestion control; none: datagrams.
    pub congestion: Option<String>,
    /// Its receiver must have it, too, or the kernel grants no ECN.
    pub at_both_ends: bool,
    /// How its sockets are set up.
    pub tuning: SocketTuning,
}

/// How the sockets of a flow are set up.
#[derive(Clone, Copy, Debug)]
pub struct SocketTuning {
    /// Most that the receiver offers.
    pub window_clamp_bytes: Option<u32>,
    /// The stack paces the flow even if its algorithm does not.
    pub pace_all: bool,
    /// The rate at which the kernel paces is the algorithm's (or `pace_all`), and sampled.
    pub paced: bool,
    /// What the application hands over ahead of what is sent, at most; half of it is left when it
    /// is asked for more. It is what the flow still sends after its stop.
    pub backlog_bytes: u32,
    /// What it hands over in one call, at most.
    pub write_bytes: u32,
    /// How many flows the scenario has.
    pub flows: u32,
    /// How long before its start the flow connects; none: at its start, and it begins once its
    /// SYN is answered.
    pub lead: Option<Span>,
}

/// How a run is to be conducted.
pub struct Plan<'a> {
    /// What to record.
    pub record: &'a RecordConfig,
    /// The scenario's seed.
    pub seed: u64,
    /// When it ends.
    pub end: Time,
    /// Set by whoever wants it to stop.
    pub cancel: Arc<AtomicBool>,
    /// Tells what the kernel keeps of a flow beside TCP_INFO.
    pub look: Look,
    /// The processors, where the applications keep to one of them.
    pub processors: Option<Processors>,
}

/// Looks at the sending socket of a flow.
pub type Look = Box<dyn FnMut(usize, BorrowedFd<'_>) -> Option<Seen> + Send>;
