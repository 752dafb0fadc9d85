//! The flows of the applications, and the plan of a run.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_network::{Span, Time};
use dumbbell_record::RecordConfig;
use dumbbell_workload::Flow;

use super::output::Seen;
use crate::namespace::Namespace;
use crate::processors::Processors;

/// One flow, its hosts and the setup of its sockets.
#[derive(Clone, Debug)]
pub struct Connection<'a> {
    /// Index of the flow, which determines its ports.
    pub flow: usize,
    /// The flow.
    pub spec: &'a Flow,
    /// Host of its sender, 10.0.0.1.
    pub sender: &'a Namespace,
    /// Host of its receiver, 10.0.0.2.
    pub receiver: &'a Namespace,
    /// The kernel's name of its congestion control; none: datagrams.
    pub congestion: Option<String>,
    /// True if its receiver needs the algorithm, too, or the kernel grants no ECN.
    pub at_both_ends: bool,
    /// Setup of its sockets.
    pub tuning: SocketTuning,
}

/// Setup of a flow's sockets.
#[derive(Clone, Copy, Debug)]
pub struct SocketTuning {
    /// Largest window that the receiver offers, in bytes; none: no limit.
    pub window_clamp_bytes: Option<u32>,
    /// The stack paces the flow even if its algorithm does not.
    pub pace_all: bool,
    /// True if the kernel's pacing rate is the algorithm's (or of `pace_all`), and sampled.
    pub paced: bool,
    /// Most bytes that the application writes ahead of sending. It writes more when half of them
    /// are left. The flow still sends them after its stop.
    pub backlog_bytes: u32,
    /// Most bytes of one write.
    pub write_bytes: u32,
    /// Number of flows in the scenario.
    pub flows: u32,
    /// Time by which the flow connects before its start. None: it connects at its start, and begins
    /// once its SYN is answered.
    pub lead: Option<Span>,
}

/// Plan of a run.
pub struct Plan<'a> {
    /// Recordings.
    pub record: &'a RecordConfig,
    /// The scenario's seed.
    pub seed: u64,
    /// Its end.
    pub end: Time,
    /// Set to cancel it.
    pub cancel: Arc<AtomicBool>,
    /// Reads the kernel's data on a flow that TCP_INFO does not have.
    pub look: Look,
    /// The processors. The applications stay on one of them.
    pub processors: Option<Processors>,
}

/// Reads the sending socket of a flow.
pub type Look = Box<dyn FnMut(usize, BorrowedFd<'_>) -> Option<Seen> + Send>;
