//! Keeps the samples and events that the scenario requests.

use dumbbell_algorithm::Conn;
use dumbbell_network::{LinkCounters, QueueDelays, Span, Time};
use dumbbell_record::{
    DatagramSamples, DelayBucket, DelayBuckets, Event, EventKind, Events, FlowSample, FlowSamples,
    Internal, Internals, Invalid, ModeChanges, QueueSample, QueueSamples, RecordConfig, Request,
    Requests, RowLimits, Rows,
};
use dumbbell_tcp::{Congestion, Observer, Sender};
use dumbbell_workload::{one_way_buckets, queue_buckets, queue_samples};

use crate::datagram_record::DatagramRecord;
use crate::flow::{Connection, Ends, FlowState};
use crate::modes::Modes;

/// A value that does not exist yet.
const NONE_U32: u32 = u32::MAX;

/// The tables of a running simulation.
#[derive(Debug)]
pub struct Recorder {
    kinds: u16,
    algorithm_state: bool,
    flows: Vec<FlowSample>,
    pub datagrams: DatagramRecord,
    delays: Vec<DelayBucket>,
    internals: Vec<Internal>,
    /// None: modes are not recorded.
    modes: Option<Modes>,
    queues: Vec<QueueSample>,
    events: Rows<Event>,
    requests: Rows<Request>,
    /// Distinct payload received by each flow at each sampling time.
    received: Vec<Vec<u64>>,
    /// True if a table had no space for a row, so the run must end.
    pub is_full: bool,
}

/// Everything recorded, each table in its order.
#[derive(Debug, Default)]
pub struct Tables {
    pub flows: FlowSamples,
    pub datagrams: DatagramSamples,
    pub delays: DelayBuckets,
    pub internals: Internals,
    pub modes: ModeChanges,
    pub queues: QueueSamples,
    pub events: Events,
    pub requests: Requests,
}

impl Recorder {
    /// Empty tables.
    pub fn new(config: &RecordConfig, limits: RowLimits, flows: usize) -> Self {
        let interval = config.interval_ns.map(|interval| Span(interval.get()));
        Self {
            kinds: config.events.iter().fold(0, |kinds, kind| kinds | 1 << *kind as u8),
            algorithm_state: config.algorithm_state,
            flows: Vec::new(),
            datagrams: DatagramRecord::new(interval),
            delays: Vec::new(),
            internals: Vec::new(),
            modes: config.modes.then(|| Modes::new(flows, limits.modes)),
            queues: Vec::new(),
            events: Rows::new(limits.events),
            requests: Rows::new(limits.requests),
            received: vec![Vec::new(); flows],
            is_full: false,
        }
    }

    /// Check that every row had space.
    ///
    /// # Errors
    /// If a table had no space.
    pub fn check(&self) -> Result<(), Invalid> {
        self.events.check()?;
        self.requests.check()?;
        self.modes.as_ref().map_or(Ok(()), |modes| modes.rows.check())
    }

    /// Sort all rows, since hosts and links ran ahead of each other. The delays of single datagrams
    /// are still with their flows.
    pub fn finish(mut self, interval: Option<Span>, flows: Vec<FlowState>) -> Tables {
        let mut tables = Tables { datagrams: self.datagrams.finish(), ..Tables::default() };
        self.flows.sort_by_key(|row| (row.time_ns, row.flow));
        for mut row in self.flows {
            let interval = interval.expect("the interval of the samples");
            // The first sample is one interval after the beginning, and has number 0.
            let number = (row.time_ns / interval.0) as usize - 1;
            row.received_bytes = self.received[row.flow as usize][number];
            tables.flows.push(row);
        }
        for (index, flow) in (0..).zip(flows) {
            if let Ends::Udp(datagrams) = flow.ends {
                self.delays.extend(one_way_buckets(index, datagrams.one_way));
            }
        }
        self.delays.sort_by_key(|row| (row.time_ns, row.queue, row.flow));
        self.delays.into_iter().for_each(|row| tables.delays.push(row));
        self.internals.sort_by_key(|row| (row.time_ns, row.flow));
        self.internals.into_iter().for_each(|row| tables.internals.push(row));
        tables.modes = self.modes.map(Modes::finish).unwrap_or_default();
        self.queues.sort_by_key(|row| (row.time_ns, row.queue));
        self.queues.into_iter().for_each(|row| tables.queues.push(row));
        let mut events = self.events.into_vec();
        events.sort_by_key(Event::order);
        events.into_iter().for_each(|row| tables.events.push(row));
        let mut requests = self.requests.into_vec();
        requests.sort_by_key(Request::order);
        requests.into_iter().for_each(|row| tables.requests.push(row));
        tables
    }

    /// Sample the sending end of a flow, if it has begun and is to be sampled.
    pub fn sample_sender(&mut self, now: Time, flow: u32, state: &FlowState) {
        if !state.spec.sampled {
            return;
        }
        if let Some(connection) = state.connection() {
            self.sample_flow(now, flow, state, connection);
        } else {
            self.datagrams.sample_sender(now, flow, state);
        }
    }

    /// Sample the receiving end of a flow.
    pub fn sample_receiver(&mut self, flow: usize, state: &FlowState) {
        if state.spec.sampled {
            self.received[flow].push(state.received_bytes());
            self.datagrams.sample_receiver(flow as u32, state);
        }
    }

    /// Add samples of a queue, one for each interval.
    pub fn sample_queue(&mut self, queue: u32, interval: Span, samples: &[LinkCounters]) {
        self.queues.extend(queue_samples(queue, interval, samples));
    }

    /// Add the waiting times of packets in a queue.
    pub fn count_queue(&mut self, queue: u32, delays: QueueDelays) {
        self.delays.extend(queue_buckets(queue, delays));
    }

    fn sample_flow(&mut self, now: Time, flow: u32, state: &FlowState, connection: &Connection) {
        let sender = &connection.sender;
        let (conn, counters, rtt) = (sender.conn(), sender.counters(), sender.rtt());
        self.flows.push(FlowSample {
            time_ns: now.0,
            flow,
            state: conn.state.code(),
            cwnd_segs: conn.cwnd_segs,
            ssthresh_segs: conn.ssthresh_segs,
            in_flight_segs: sender.in_flight(),
            srtt_us: rtt.srtt_us(),
            rtt_us: rtt.latest_us().unwrap_or(NONE_U32),
            min_rtt_us: conn.min_rtt_us,
            rto_us: rtt.rto().as_micros(),
            sent_segs: counters.sent_segs,
            retransmitted_segs: counters.retransmitted_segs,
            sent_bytes: state.sent_bytes(),
            acked_bytes: connection.acked_bytes(),
            // Only the receiver's end knows it, and that end is at another time.
            received_bytes: 0,
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
        // One bit for each kind, so an event that is not recorded costs one test.
        if self.kinds & (1 << kind as u8) != 0 {
            self.is_full |= !self.events.push(event);
        }
    }

    /// Add an event of a flow, if its kind is recorded.
    #[inline]
    pub fn event(&mut self, now: Time, kind: EventKind, flow: u32, segment: u64, sender: &Sender) {
        let (time_ns, &Conn { cwnd_segs, ssthresh_segs, .. }) = (now.0, sender.conn());
        let event = Event { time_ns, kind: kind as u8, flow, segment, cwnd_segs, ssthresh_segs };
        self.keep(kind, event);
    }

    /// Add an event without a particular segment.
    pub fn event_of(&mut self, now: Time, kind: EventKind, flow: u32, sender: &Sender) {
        self.event(now, kind, flow, sender.next_new_segment(), sender);
    }

    /// Add the mode of a sampled flow's algorithm, if it has changed.
    #[inline]
    pub fn note_mode(&mut self, now: Time, flow: u32, sender: &Sender) {
        if let Some(modes) = &mut self.modes {
            self.is_full |= !modes.note(now, flow, sender);
        }
    }

    /// Add a request or transfer that was completed.
    pub fn request(&mut self, request: Request) {
        self.is_full |= !self.requests.push(request);
    }

    /// Add the loss of a segment.
    pub fn drop(&mut self, now: Time, kind: EventKind, flow: u32, segment: u64) {
        let (time_ns, cwnd_segs, ssthresh_segs) = (now.0, 0, 0);
        let event = Event { time_ns, kind: kind as u8, flow, segment, cwnd_segs, ssthresh_segs };
        self.keep(kind, event);
    }

    /// An observer for one flow's sender at one moment.
    #[inline]
    pub fn observer(&mut self, now: Time, flow: u32, next_segment: u64) -> EventObserver<'_> {
        EventObserver { recorder: self, now, flow, next_segment }
    }
}

/// Turns a sender's reports into events.
pub struct EventObserver<'a> {
    recorder: &'a mut Recorder,
    now: Time,
    flow: u32,
    next_segment: u64,
}

impl EventObserver<'_> {
    fn keep(&mut self, kind: EventKind, cwnd_segs: u32, ssthresh_segs: u32) {
        let (time_ns, flow, segment) = (self.now.0, self.flow, self.next_segment);
        let event = Event { time_ns, kind: kind as u8, flow, segment, cwnd_segs, ssthresh_segs };
        self.recorder.keep(kind, event);
    }
}

impl Observer for EventObserver<'_> {
    fn congestion(&mut self, congestion: Congestion) {
        self.keep(EventKind::Congestion, congestion.cwnd_segs, congestion.ssthresh_segs);
    }

    fn timeout(&mut self, cwnd_segs: u32, ssthresh_segs: u32) {
        self.keep(EventKind::Timeout, cwnd_segs, ssthresh_segs);
    }

    fn recovered(&mut self, cwnd_segs: u32, ssthresh_segs: u32) {
        self.keep(EventKind::Recovered, cwnd_segs, ssthresh_segs);
    }

    fn undone(&mut self, cwnd_segs: u32, ssthresh_segs: u32) {
        self.keep(EventKind::Undone, cwnd_segs, ssthresh_segs);
    }
}
