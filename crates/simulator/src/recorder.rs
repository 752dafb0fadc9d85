//! Keeps what the scenario asks for: samples and events.

use dumbbell_algorithm::Conn;
use dumbbell_network::{LinkId, Network, Time};
use dumbbell_record::{
    Event, EventKind, Events, FlowSample, FlowSamples, Internal, Internals, QueueSample,
    QueueSamples, RecordConfig, Requests,
};
use dumbbell_tcp::{Congestion, Observer, Sender};

use crate::flow::FlowState;

/// Marks a value that does not exist yet.
const NONE_U32: u32 = u32::MAX;

/// The tables of a run while it goes on.
#[derive(Debug)]
pub struct Recorder {
    kinds: u16,
    algorithm_state: bool,
    pub flows: FlowSamples,
    pub internals: Internals,
    pub queues: QueueSamples,
    pub events: EventLog,
    pub requests: Requests,
}

/// Events as they come: hosts and links run ahead of each other, so not in order.
#[derive(Debug, Default)]
pub struct EventLog(Vec<Event>);

impl EventLog {
    /// The events in order of time.
    pub fn in_order(mut self) -> Events {
        self.0.sort_by_key(|event| event.time_ns);
        let mut events = Events::default();
        self.0.into_iter().for_each(|event| events.push(event));
        events
    }
}

impl Recorder {
    /// Empty tables.
    pub fn new(config: &RecordConfig) -> Self {
        Self {
            kinds: config.events.iter().fold(0, |kinds, kind| kinds | 1 << *kind as u8),
            algorithm_state: config.algorithm_state,
            flows: FlowSamples::default(),
            internals: Internals::default(),
            queues: QueueSamples::default(),
            events: EventLog::default(),
            requests: Requests::default(),
        }
    }

    /// Samples the flows that have begun.
    pub fn sample_flows(&mut self, now: Time, flows: &[FlowState]) {
        for (flow, state) in (0..).zip(flows).filter(|(_, state)| state.spec.sampled) {
            if let Some((_, sender)) = state.sender() {
                self.sample_flow(now, flow, state, sender);
            }
        }
    }

    /// Samples queues.
    pub fn sample_queues(
        &mut self,
        now: Time,
        network: &mut Network,
        sampled: &[(LinkId, String)],
    ) {
        for (queue, (link, _)) in (0..).zip(sampled) {
            let counters = network.counters(*link, now);
            self.queues.push(QueueSample {
                time_ns: now.0,
                queue,
                backlog_packets: counters.backlog_packets,
                backlog_bytes: counters.backlog_bytes,
                arrived_packets: counters.arrived_packets,
                departed_packets: counters.departed_packets,
                departed_bytes: counters.departed_bytes,
                dropped_packets: counters.dropped_packets,
                lost_packets: counters.lost_packets,
            });
        }
    }

    fn sample_flow(&mut self, now: Time, flow: u32, state: &FlowState, sender: &Sender) {
        let (conn, counters, rtt) = (sender.conn(), sender.counters(), sender.rtt());
        self.flows.push(FlowSample {
            time_ns: now.0,
            flow,
            state: conn.state as u8,
            cwnd_segs: conn.cwnd_segs,
            ssthresh_segs: conn.ssthresh_segs,
            in_flight_segs: sender.in_flight(),
            srtt_us: rtt.srtt_us().unwrap_or(NONE_U32),
            rtt_us: rtt.latest_us().unwrap_or(NONE_U32),
            sent_segs: counters.sent_segs,
            retransmitted_segs: counters.retransmitted_segs,
            sent_bytes: state.counters.sent_bytes,
            acked_bytes: state.acked_bytes(),
            received_bytes: state.counters.received_bytes,
            congestion_events: counters.congestion_events,
            pacing_rate_bytes_per_s: conn.pacing_rate_bytes_per_s,
        });
        if self.algorithm_state {
            let [info0, info1, info2, info3] = sender.algorithm_info();
            self.internals.push(Internal { time_ns: now.0, flow, info0, info1, info2, info3 });
        }
    }

    #[inline]
    fn keep(&mut self, kind: EventKind, event: Event) {
        if self.kinds & (1 << kind as u8) != 0 {
            self.events.0.push(event);
        }
    }

    /// Keeps an event of a flow if its kind is wanted.
    #[inline]
    pub fn event(&mut self, now: Time, kind: EventKind, flow: u32, segment: u64, sender: &Sender) {
        let (time_ns, &Conn { cwnd_segs, ssthresh_segs, .. }) = (now.0, sender.conn());
        let event = Event { time_ns, kind: kind as u8, flow, segment, cwnd_segs, ssthresh_segs };
        self.keep(kind, event);
    }

    /// Keeps an event that concerns no segment in particular.
    pub fn event_of(&mut self, now: Time, kind: EventKind, flow: u32, sender: &Sender) {
        self.event(now, kind, flow, sender.next_new_segment(), sender);
    }

    /// Keeps the loss of a segment.
    pub fn drop(&mut self, now: Time, kind: EventKind, flow: u32, segment: u64) {
        let (time_ns, cwnd_segs, ssthresh_segs) = (now.0, 0, 0);
        let event = Event { time_ns, kind: kind as u8, flow, segment, cwnd_segs, ssthresh_segs };
        self.keep(kind, event);
    }

    /// An observer for one flow's sender at one moment.
    #[inline]
    pub fn watch(&mut self, now: Time, flow: u32, next_segment: u64) -> Watch<'_> {
        Watch { recorder: self, now, flow, next_segment }
    }
}

/// Turns a sender's reports into events.
pub struct Watch<'a> {
    recorder: &'a mut Recorder,
    now: Time,
    flow: u32,
    next_segment: u64,
}

impl Watch<'_> {
    fn keep(&mut self, kind: EventKind, cwnd_segs: u32, ssthresh_segs: u32) {
        let (time_ns, flow, segment) = (self.now.0, self.flow, self.next_segment);
        let event = Event { time_ns, kind: kind as u8, flow, segment, cwnd_segs, ssthresh_segs };
        self.recorder.keep(kind, event);
    }
}

impl Observer for Watch<'_> {
    fn congestion(&mut self, congestion: Congestion) {
        self.keep(EventKind::Congestion, congestion.cwnd_segs, congestion.ssthresh_segs);
    }

    fn timeout(&mut self, cwnd_segs: u32, ssthresh_segs: u32) {
        self.keep(EventKind::Timeout, cwnd_segs, ssthresh_segs);
    }

    fn recovered(&mut self, cwnd_segs: u32, ssthresh_segs: u32) {
        self.keep(EventKind::Recovered, cwnd_segs, ssthresh_segs);
    }
}
