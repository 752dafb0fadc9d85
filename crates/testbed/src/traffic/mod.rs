//! The applications of all flows of a run, on sockets of the kernel.
//!
//! One thread serves them all: it connects, sends, receives and samples when it is due, and
//! measures how busy that keeps it. What an application wants, and when, is decided apart
//! from sockets (`app`, `datagrams`) and as the simulator decides it.

mod alarm;
mod app;
mod datagrams;
mod driver;
mod flow;
mod options;
mod receiver;
mod recorder;
mod sockets;
mod stream;
mod tcp_info;

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use dumbbell_algorithm::INFO_MAX;
use dumbbell_network::{Span, Time};
use dumbbell_record::{Event, FlowSample, Internal, ModeChange, RecordConfig, Request};
use dumbbell_workload::Flow;

use crate::clock::Clock;
use crate::error::Error;
use crate::namespace::Namespace;
use crate::processors::Processors;
use driver::Driver;

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

/// What TCP_INFO does not tell of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The latest round-trip sample; none yet.
    pub rtt_us: Option<u32>,
    /// Reductions of the window.
    pub congestion_events: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Reductions that were undone.
    pub spurious: u32,
    /// All round-trip samples; none: there are none.
    pub rtt: Option<SeenRtt>,
    /// What the algorithm reports, where it is asked for and known.
    pub report: Option<Report>,
}

/// What an algorithm reports about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its mode; none: it has no modes.
    pub mode: Option<u8>,
    /// All its internal values.
    pub values: [u32; INFO_MAX],
}

/// Round-trip samples of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenRtt {
    /// The smallest.
    pub min_us: u32,
    /// Their mean.
    pub mean_us: u64,
    /// The largest.
    pub max_us: u32,
}

/// What the applications did and found.
#[derive(Debug, Default)]
pub struct TrafficOutput {
    /// Samples, in order of time, then flow.
    pub flows: Vec<FlowSample>,
    /// Samples of the algorithms' internal values in the same order.
    pub internals: Vec<Internal>,
    /// Changes of the algorithms' modes, as samples show them.
    pub modes: Vec<ModeChange>,
    /// Requests and transfers in the order of their completion.
    pub requests: Vec<Request>,
    /// Starts, stops and completions, as far as they are to be recorded.
    pub events: Vec<Event>,
    /// Each flow at the end, in the order of the connections.
    pub ends: Vec<FlowEnd>,
    /// Share of the time in which the applications' thread computed, in 1/1000.
    pub busy_permille: u32,
    /// For how long the applications' thread was held up, in ns: in all, ...
    pub held_ns: u64,
    /// ... and at most.
    pub held_max_ns: u64,
    /// Datagrams that were due and those that were sent; none: no flow sends any.
    pub datagrams: Option<DatagramCount>,
    /// Flows whose connection was not there when they were to start.
    pub late_connections: Vec<usize>,
}

/// Datagrams that were due and those that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramCount {
    /// Due by the flow's rate.
    pub asked: u64,
    /// Taken by the kernel.
    pub sent: u64,
}

/// A flow at the end of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowEnd {
    /// When it was told to stop or its transfer was complete, whichever was first.
    pub end_ns: Option<u64>,
    /// Data segments (datagrams) sent, retransmissions included.
    pub sent_segs: u64,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Retransmissions.
    pub retransmitted_segs: u64,
    /// Payload cumulatively acknowledged.
    pub acked_bytes: u64,
    /// Payload at the receiver: what is in order, or all that came in datagrams.
    pub received_bytes: u64,
    /// Marked segments that its acknowledgements have told of.
    pub told_marks: u64,
    /// What kept the connection from sending, beside the network.
    pub limits: Limits,
    /// What TCP_INFO does not tell.
    pub seen: Option<Seen>,
}

/// For how long a connection had data to send, and what held it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// It had data under way or to send.
    pub busy_us: u64,
    /// Within that, the receiver's window was the limit.
    pub window_us: u64,
    /// Within that, the application was not fast enough to fill the send buffer.
    pub buffer_us: u64,
}

/// Applications whose sockets are open, and which have sent nothing yet.
pub struct Prepared {
    driver: Driver,
}

/// The applications at work.
#[derive(Debug)]
pub struct Traffic {
    thread: Option<JoinHandle<Result<TrafficOutput, Error>>>,
    abandoned: Arc<AtomicBool>,
}

impl Prepared {
    /// Opens the sockets of all flows. That takes time, so the clock is better set
    /// afterwards.
    ///
    /// # Errors
    /// If the system refuses a socket or one of its options.
    pub fn new(connections: &[Connection<'_>], plan: Plan<'_>) -> Result<Self, Error> {
        Driver::new(connections, plan).map(|driver| Self { driver })
    }

    /// Sets the applications to work. Those that start soon connect at once.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(self, clock: Clock) -> Result<Traffic, Error> {
        let abandoned = Arc::new(AtomicBool::new(false));
        let (driver, flag) = (self.driver, Arc::clone(&abandoned));
        let thread = std::thread::Builder::new().name("dumbbell-apps".into());
        let thread = thread.spawn(move || driver.run(clock, &flag)).map_err(|error| {
            sockets::failed("cannot start the applications' thread".into(), &error)
        })?;
        Ok(Traffic { thread: Some(thread), abandoned })
    }
}

impl Traffic {
    /// Whether there is nothing left to wait for: the end has come, or an error.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end and gives what the applications did. All connections have been
    /// reset then.
    ///
    /// # Errors
    /// What went wrong with a socket meanwhile, or that the run was cancelled.
    pub fn finish(mut self) -> Result<TrafficOutput, Error> {
        let thread = self.thread.take().expect("a thread until it is finished");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Whoever drops it does not want to know how it went.
            drop(thread.join());
        }
    }
}
