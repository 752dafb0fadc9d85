//! The totals of a run: one entry per flow and per queue.

use schemars::JsonSchema;
use serde::Serialize;

/// Summary of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// Length of the run in ns.
    pub duration_ns: u64,
    /// The flows in their order.
    pub flows: Vec<FlowSummary>,
    /// The sampled links in their order.
    pub queues: Vec<QueueSummary>,
    /// Data packets that reached their receivers.
    pub packets: u64,
    /// Reasons to doubt that the run shows its algorithms; empty: none known.
    pub doubts: Vec<Doubt>,
    /// Report of the testbed; none: the simulator ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub testbed: Option<TestbedSummary>,
}

/// Something that may have decided a run instead of its algorithms. The run is valid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Doubt {
    /// The cause.
    pub cause: Cause,
    /// The same in words and numbers, with the flows that it concerns.
    pub text: String,
}

/// Causes that may decide a run instead of its algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The bottleneck was a host's own interface.
    Host,
    /// A flow met a full queue again and again where another never did.
    LockedOut,
    /// Dropped packets had come at one point of the service of another packet.
    Phase,
}

/// Report of a run in real time: lateness of the machine, and missing features.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestbedSummary {
    /// Release of the kernel.
    pub kernel: String,
    /// Reasons why the run is invalid; empty: it is valid.
    pub invalid: Vec<String>,
    /// Features of the scenario's stack that this kernel cannot offer.
    pub not_offered: Vec<String>,
    /// Share of the time for which the emulator, and with it network and hosts, was delayed, in
    /// 1/1000.
    pub held_permille: u32,
    /// Longest of these delays, in ns.
    pub held_max_ns: u64,
    /// Packets that the emulator delivered.
    pub delivered_packets: u64,
    /// By how much it delivered them too late otherwise, in ns: on average, ...
    pub lateness_mean_ns: u64,
    /// ... exceeded by one packet in a hundred ...
    pub lateness_p99_ns: u64,
    /// ... and at most.
    pub lateness_max_ns: u64,
    /// Time that packets waited before the emulator took them, at most, in ns: exceeded by one
    /// packet in a hundred.
    pub waiting_p99_ns: u64,
    /// Share of the time in which the emulator had work to do, in 1/1000.
    pub emulator_busy_permille: u32,
    /// Share of the time in which the applications' thread had work to do, in 1/1000.
    pub traffic_busy_permille: u32,
    /// Share of the time for which the applications' thread was delayed, in 1/1000.
    pub traffic_held_permille: u32,
    /// Longest of these delays, in ns.
    pub traffic_held_max_ns: u64,
    /// Share of the time in which flows with data without end waited for their application to
    /// hand it over, in 1/1000.
    pub starved_permille: u32,
    /// Share of the time in which flows waited for their receiver's window that was not
    /// asked to be small, in 1/1000.
    pub window_limited_permille: u32,
    /// Share of the machine's time that its host gave to others, in 1/1000.
    pub stolen_permille: u32,
    /// Packets that got lost between a host and the emulator.
    pub local_drops: u64,
    /// Share of the requested datagrams that were sent, in 1/1000; none: no datagrams.
    pub datagrams_sent_permille: Option<u32>,
}

/// Summary of one flow. Packets are conserved:
/// `sent_segs + duplicated_packets = received_packets + dropped_packets + lost_packets +
/// in_flight_packets`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FlowSummary {
    /// Index of the flow.
    pub flow: u32,
    /// Its label.
    pub label: String,
    /// Its congestion-control algorithm; none for datagrams.
    pub algorithm: Option<String>,
    /// The preset of the algorithm's parameters, if one was named.
    pub preset: Option<String>,
    /// When it began, in ns.
    pub start_ns: u64,
    /// When it stopped or its transfer was complete, in ns; else the run's length.
    pub end_ns: u64,
    /// Data segments sent, retransmissions included.
    pub sent_segs: u64,
    /// Payload sent in bytes, retransmissions included.
    pub sent_bytes: u64,
    /// Retransmissions.
    pub retransmitted_segs: u64,
    /// Payload cumulatively acknowledged, in bytes.
    pub acked_bytes: u64,
    /// Distinct payload that reached the receiver, in bytes.
    pub received_bytes: u64,
    /// Data packets that reached the receiver, duplicates included.
    pub received_packets: u64,
    /// Data packets refused by full queues.
    pub dropped_packets: u64,
    /// Data packets lost at random.
    pub lost_packets: u64,
    /// Data packets that a link sent twice.
    pub duplicated_packets: u64,
    /// Data packets that reached the receiver with a congestion mark.
    pub marked_packets: u64,
    /// Marked packets that its sender knows of; none: acknowledgements do not count them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_marks: Option<u64>,
    /// Data packets in the network when the run ended.
    pub in_flight_packets: u64,
    /// Reductions of the window.
    pub congestion_events: u32,
    /// Retransmission timeouts.
    pub timeouts: u32,
    /// Reductions that proved spurious and were undone.
    pub spurious_recoveries: u32,
    /// Tail loss probes sent; none: the kernel does not report them.
    pub tail_probes: Option<u32>,
    /// Segments that their host's own queue refused, counted at each refusal; none: the kernel does
    /// not report them.
    pub local_drops: Option<u32>,
    /// Smallest round-trip sample in us.
    pub rtt_min_us: Option<u32>,
    /// Mean of the round-trip samples in us.
    pub rtt_mean_us: Option<u64>,
    /// Largest round-trip sample in us.
    pub rtt_max_us: Option<u32>,
    /// One-way delays of its datagrams; none: it has none, or none arrived.
    pub delay: Option<DelaySummary>,
}

/// One-way delays of a flow's datagrams, from leaving their host to reaching the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DelaySummary {
    /// The smallest in ns.
    pub min_ns: u64,
    /// Their mean in ns.
    pub mean_ns: u64,
    /// The largest in ns.
    pub max_ns: u64,
    /// Jitter: by how much the delay of one datagram differs from that of the one that arrived
    /// before it (RFC 3393), on average, in ns; none: a single one arrived.
    pub jitter_ns: Option<u64>,
}

/// Summary of one queue. Packets are conserved:
/// `arrived + duplicated = departed + dropped + lost + backlog at the end`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct QueueSummary {
    /// The link's name.
    pub name: String,
    /// Packets that reached the link, with the lost and the dropped ones.
    pub arrived_packets: u64,
    /// Packets that joined the queue a second time.
    pub duplicated_packets: u64,
    /// Packets that the queue marked.
    pub marked_packets: u64,
    /// Packets sent.
    pub departed_packets: u64,
    /// Bytes on the wire sent.
    pub departed_bytes: u64,
    /// Packets refused by the full queue.
    pub dropped_packets: u64,
    /// Packets lost at random before the queue.
    pub lost_packets: u64,
    /// Packets waiting or being sent when the run ended.
    pub backlog_packets: u32,
    /// Most packets ever waiting or being sent.
    pub backlog_packets_max: u32,
    /// Bytes waiting for the transmitter, averaged over time.
    pub waiting_bytes_mean: u64,
}
