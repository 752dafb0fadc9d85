//! The tables of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::table::{Table, table};

/// Version of the schema; it changes whenever a column's name, type or meaning does.
pub const SCHEMA_VERSION: u32 = 4;

table! {
    /// One flow at one moment.
    row FlowSample;
    /// Samples of the flows, in order of time, then flow.
    table FlowSamples named "flows";
    time_ns: u64, "ns", "time since the run began";
    flow: u32, "", "index of the flow";
    state: u8, "", "congestion state of the sender (a code)";
    cwnd_segs: u32, "segments", "congestion window";
    ssthresh_segs: u32, "segments", "slow-start threshold; 2147483647: none yet";
    in_flight_segs: u32, "segments", "segments believed to be in the network";
    srtt_us: u32, "us", "smoothed round-trip time; 4294967295: no sample yet";
    rtt_us: u32, "us", "latest round-trip sample; 4294967295: no sample yet";
    min_rtt_us: u32, "us", "smallest recent round-trip time; 4294967295: no sample yet";
    rto_us: u64, "us", "retransmission timeout, back-off included";
    sent_segs: u64, "segments", "data segments sent so far, retransmissions included";
    retransmitted_segs: u64, "segments", "retransmissions among them";
    sent_bytes: u64, "bytes", "payload sent so far, retransmissions included: throughput";
    acked_bytes: u64, "bytes", "payload cumulatively acknowledged so far";
    received_bytes: u64, "bytes", "distinct payload that has reached the receiver: goodput";
    congestion_events: u32, "", "window reductions so far";
    pacing_rate_bytes_per_s: u64, "bytes/s", "rate set by the algorithm; 0: not paced";
}

table! {
    /// A flow of datagrams at one moment.
    row DatagramSample;
    /// Samples of the flows of datagrams, in order of time, then flow.
    table DatagramSamples named "datagrams";
    time_ns: u64, "ns", "time since the run began";
    flow: u32, "", "index of the flow";
    sent_segs: u64, "datagrams", "datagrams sent so far";
    sent_bytes: u64, "bytes", "payload sent so far";
    lost_packets: u64, "datagrams", "datagrams that full queues have refused or that were lost at random so far";
    received_packets: u64, "datagrams", "datagrams that have arrived so far; those that came twice count twice";
    received_bytes: u64, "bytes", "payload in them";
    delay_sum_ns: u64, "ns", "sum of the one-way delays of these";
    variation_sum_ns: u64, "ns", "sum of the differences of consecutive one-way delays";
}

table! {
    /// Packets with about the same delay.
    row DelayBucket;
    /// Histograms of the delays of single packets, in order of time, then queue, flow and delay.
    table DelayBuckets named "delays";
    time_ns: u64, "ns", "end of the period in which they were counted";
    queue: u32, "", "index of the sampled link at which they waited; 4294967295: not there, but all the way from host to host";
    flow: u32, "", "index of the flow whose data they carry; 4294967295: acknowledgements, and data of flows that are not sampled";
    delay_ns: u64, "ns", "middle of the bucket, which is less than 1 % wide";
    packets: u64, "packets", "packets in it";
}

table! {
    /// Internal values of one flow's algorithm at one moment.
    row Internal;
    /// Samples of internal values. The algorithm's description defines `info0` to `info3`.
    table Internals named "internals";
    time_ns: u64, "ns", "time since the run began";
    flow: u32, "", "index of the flow";
    info0: u32, "", "the algorithm's first internal value";
    info1: u32, "", "the algorithm's second internal value";
    info2: u32, "", "the algorithm's third internal value";
    info3: u32, "", "the algorithm's fourth internal value";
}

table! {
    /// One flow's algorithm as it has just entered a mode.
    row ModeChange;
    /// Changes of the algorithms' modes, in order of time. The first of each flow is when it
    /// begins. The algorithm's description names the modes and defines `info0` to `info15`.
    table ModeChanges named "modes";
    time_ns: u64, "ns", "time since the run began";
    flow: u32, "", "index of the flow";
    mode: u8, "", "the mode that it is in from then on (a code of its algorithm)";
    info0: u32, "", "the algorithm's first internal value";
    info1: u32, "", "the algorithm's second internal value";
    info2: u32, "", "the algorithm's third internal value";
    info3: u32, "", "the algorithm's fourth internal value";
    info4: u32, "", "the algorithm's fifth internal value";
    info5: u32, "", "the algorithm's sixth internal value";
    info6: u32, "", "the algorithm's seventh internal value";
    info7: u32, "", "the algorithm's eighth internal value";
    info8: u32, "", "the algorithm's ninth internal value";
    info9: u32, "", "the algorithm's tenth internal value";
    info10: u32, "", "the algorithm's eleventh internal value";
    info11: u32, "", "the algorithm's twelfth internal value";
    info12: u32, "", "the algorithm's thirteenth internal value";
    info13: u32, "", "the algorithm's fourteenth internal value";
    info14: u32, "", "the algorithm's fifteenth internal value";
    info15: u32, "", "the algorithm's sixteenth internal value";
}

table! {
    /// One queue at one moment.
    row QueueSample;
    /// Samples of the sampled links' queues, in order of time, then queue.
    table QueueSamples named "queues";
    time_ns: u64, "ns", "time since the run began";
    queue: u32, "", "index of the sampled link; in a dumbbell 0: forward bottleneck, 1: reverse bottleneck";
    backlog_packets: u32, "packets", "packets waiting or being sent";
    backlog_bytes: u64, "bytes", "bytes on the wire waiting or being sent";
    arrived_packets: u64, "packets", "packets that have reached the link so far, with the lost and the dropped ones";
    departed_packets: u64, "packets", "packets that have been sent so far";
    departed_bytes: u64, "bytes", "bytes on the wire that have been sent so far";
    dropped_packets: u64, "packets", "packets refused by the full queue so far";
    lost_packets: u64, "packets", "packets lost at random before the queue so far";
    marked_packets: u64, "packets", "packets that the queue marked so far (ECN)";
}

table! {
    /// Something that happened to a flow.
    row Event;
    /// Events in order of time, then flow, kind and segment.
    table Events named "events";
    time_ns: u64, "ns", "time since the run began";
    kind: u8, "", "what happened (a code)";
    flow: u32, "", "index of the flow";
    segment: u64, "", "segment number, for drop, loss and retransmit; else the next new segment";
    cwnd_segs: u32, "segments", "window; for congestion and timeout that before the reduction; 0 for drop and loss";
    ssthresh_segs: u32, "segments", "slow-start threshold after the event; 0 for drop and loss";
}

table! {
    /// One request that was answered, or one transfer that was completed.
    row Request;
    /// Requests in the order of their completion, then flow and number.
    table Requests named "requests";
    time_ns: u64, "ns", "time of its issue since the run began";
    flow: u32, "", "index of the flow";
    number: u64, "", "requests that the flow had issued before";
    bytes: u64, "bytes", "its payload";
    latency_ns: u64, "ns", "from issue to the reply that completed it";
}

impl Event {
    /// Sort key in the table. Events of one flow with equal keys keep the order in which they
    /// happened.
    #[must_use]
    pub const fn order(&self) -> (u64, u32, u8, u64) {
        (self.time_ns, self.flow, self.kind, self.segment)
    }
}

impl Request {
    /// Sort key in the table.
    #[must_use]
    pub const fn order(&self) -> (u64, u32, u64) {
        (self.time_ns + self.latency_ns, self.flow, self.number)
    }
}

impl ModeChange {
    /// A row of an algorithm's report: its mode and all its values.
    #[must_use]
    pub fn new(time_ns: u64, flow: u32, mode: u8, values: [u32; 16]) -> Self {
        let [info0, info1, info2, info3, info4, info5, info6, info7, rest @ ..] = values;
        let [info8, info9, info10, info11, info12, info13, info14, info15] = rest;
        Self {
            time_ns,
            flow,
            mode,
            info0,
            info1,
            info2,
            info3,
            info4,
            info5,
            info6,
            info7,
            info8,
            info9,
            info10,
            info11,
            info12,
            info13,
            info14,
            info15,
        }
    }
}

/// No queue in particular.
pub const NO_QUEUE: u32 = u32::MAX;
/// No flow in particular.
pub const NO_FLOW: u32 = u32::MAX;

/// Events of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum EventKind {
    /// The flow began to send.
    Start,
    /// The flow had to stop.
    Stop,
    /// Its last byte was acknowledged.
    Done,
    /// Its window is being reduced after an inferred loss.
    Congestion,
    /// Its retransmission timer expired.
    Timeout,
    /// It is back in the open state.
    Recovered,
    /// A full queue dropped one of its packets.
    Drop,
    /// One of its packets was lost at random.
    Loss,
    /// It sent a segment again.
    Retransmit,
    /// Its reduction proved spurious and was undone.
    Undone,
}

impl EventKind {
    /// Every kind, by code.
    pub const ALL: [Self; 10] = [
        Self::Start,
        Self::Stop,
        Self::Done,
        Self::Congestion,
        Self::Timeout,
        Self::Recovered,
        Self::Drop,
        Self::Loss,
        Self::Retransmit,
        Self::Undone,
    ];
}

/// Names of the sender's states, by code.
const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

/// The schema as JSON: `{"version", "tables": {name: [{name, dtype, unit, what}]},
/// "codes": {"state": [...], "kind": [...]}}`.
#[must_use]
pub fn describe_schema() -> Value {
    json!({
        "version": SCHEMA_VERSION,
        "tables": {
            FlowSamples::NAME: FlowSamples::COLUMNS,
            DatagramSamples::NAME: DatagramSamples::COLUMNS,
            DelayBuckets::NAME: DelayBuckets::COLUMNS,
            Internals::NAME: Internals::COLUMNS,
            ModeChanges::NAME: ModeChanges::COLUMNS,
            QueueSamples::NAME: QueueSamples::COLUMNS,
            Events::NAME: Events::COLUMNS,
            Requests::NAME: Requests::COLUMNS,
        },
        "codes": {"state": STATES, "kind": EventKind::ALL},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_positions() {
        for (position, kind) in EventKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, position);
        }
    }

    #[test]
    fn columns_hold_what_was_pushed() {
        let mut events = Events::default();
        assert!(events.is_empty());
        let event =
            Event { time_ns: 1, kind: 2, flow: 3, segment: 4, cwnd_segs: 5, ssthresh_segs: 6 };
        events.push(event);
        events.push(Event { time_ns: 258, ..event });
        let columns = events.columns();
        assert_eq!(events.len(), 2);
        assert_eq!(columns.len(), Events::COLUMNS.len());
        assert_eq!((columns[0].name, columns[0].dtype), ("time_ns", "<u8"));
        assert_eq!(columns[0].bytes, [1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!((columns[1].dtype, columns[1].bytes.as_slice()), ("|u1", &[2, 2][..]));
    }
}
