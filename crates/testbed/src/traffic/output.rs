//! Results of the applications: samples, events and the end of each flow.

use dumbbell_algorithm::INFO_MAX;
use dumbbell_record::{Event, FlowSample, Internal, ModeChange, Request};

/// Measurements of a connection that TCP_INFO does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The latest round-trip sample; none: no sample yet.
    pub rtt_us: Option<u32>,
    /// Reductions of the window.
    pub congestion_events: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Reductions that were undone.
    pub spurious: u32,
    /// All round-trip samples; none: no sample yet.
    pub rtt: Option<SeenRtt>,
    /// The algorithm's report; none: not requested or unknown.
    pub report: Option<Report>,
}

/// Report of an algorithm.
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

/// Output of the applications.
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
    /// Starts, stops and completions, if they are recorded.
    pub events: Vec<Event>,
    /// State of each flow at the end, in the order of the connections.
    pub ends: Vec<FlowEnd>,
    /// Share of the time in which the applications' thread computed, in 1/1000.
    pub busy_permille: u32,
    /// Stalls of the applications' thread in ns: their sum, ...
    pub stalled_ns: u64,
    /// ... and the longest.
    pub stalled_max_ns: u64,
    /// Datagrams that were due and those that were sent; none: no flow sends datagrams.
    pub datagrams: Option<DatagramCount>,
    /// Flows that had no connection at their start.
    pub late_connections: Vec<usize>,
}

/// Datagrams that were due and those that were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramCount {
    /// Due by the flow's rate.
    pub due: u64,
    /// Taken by the kernel.
    pub sent: u64,
}

/// A flow at the end of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowEnd {
    /// Time of its stop or of its transfer's completion, whichever was first, in ns; none: neither
    /// came.
    pub end_ns: Option<u64>,
    /// Data segments (datagrams) sent, retransmissions included.
    pub sent_segs: u64,
    /// Payload sent in bytes, retransmissions included.
    pub sent_bytes: u64,
    /// Retransmissions.
    pub retransmitted_segs: u64,
    /// Payload cumulatively acknowledged, in bytes.
    pub acked_bytes: u64,
    /// Payload at the receiver in bytes: in order, or all of its datagrams.
    pub received_bytes: u64,
    /// Marked segments that its acknowledgements have reported.
    pub reported_marks: u64,
    /// Limits of the connection other than the network.
    pub limits: Limits,
    /// Measurements that TCP_INFO does not have.
    pub seen: Option<Seen>,
}

/// Time in which a connection had data to send, and the parts in which something limited it, in us.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// It had data in flight or to send.
    pub busy_us: u64,
    /// Within that, the receiver's window was the limit.
    pub window_us: u64,
    /// Within that, the application was not fast enough to fill the send buffer.
    pub buffer_us: u64,
}
