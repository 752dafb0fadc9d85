//! Results of the applications: samples, events and the end of each flow.

use dumbbell_algorithm::INFO_MAX;
use dumbbell_record::{Event, FlowSample, Internal, ModeChange, Request};

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
