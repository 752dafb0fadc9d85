//! The event loop: virtual time jumps from one event to the next.
//!
//! Events are packets that reach the end of a link, timers of flows, and samples.
//! Those of the network come before the others of the same moment, samples last.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_network::{
    Agenda, Direction, DropCause, FORWARD_BOTTLENECK, Network, Packet, REVERSE_BOTTLENECK, Span,
    Step, Time,
};
use dumbbell_record::{EventKind, FlowSummary, QueueSummary, Summary};
use dumbbell_tcp::{Ack, SackBlocks, Stack};
use dumbbell_workload::Scenario;

use crate::flow::FlowState;
use crate::recorder::Recorder;
use crate::wire::{ParkedBlocks, segment_of_tag, tag_of_segment};
use crate::{Cancelled, Output};

/// Events between two looks at the cancellation flag.
const CANCEL_CHECK_EVENTS: u64 = 1 << 16;

/// A simulation under way.
pub struct Engine {
    stack: Stack,
    network: Network,
    flows: Vec<FlowState>,
    /// One leaf for each flow, and the last for samples. A flow's leaf is never later
    /// than what the flow wants; it may be earlier, and is then set again.
    timers: Agenda,
    sample_interval: Option<Span>,
    recorder: Recorder,
    parked: ParkedBlocks,
    /// Packets that reached a host without passing any time.
    inbox: VecDeque<Packet>,
    packets: u64,
    events: u64,
}

impl Engine {
    /// Everything idle; the scenario has been checked.
    pub fn new(scenario: Scenario, stack: Stack) -> Self {
        let rtts = scenario.flows.iter().map(|flow| flow.rtt_ns);
        let network = scenario.network.build(rtts, scenario.seed);
        let mut timers = Agenda::new(scenario.flows.len() + 1);
        for (leaf, flow) in scenario.flows.iter().enumerate() {
            timers.set(leaf, flow.start_ns);
        }
        let sample_interval = scenario.record.interval_ns.map(|interval| Span(interval.get()));
        if let Some(interval) = sample_interval {
            timers.set(scenario.flows.len(), Time::ZERO + interval);
        }
        Self {
            network,
            flows: scenario.flows.into_iter().map(|flow| FlowState::new(flow, &stack)).collect(),
            stack,
            timers,
            sample_interval,
            recorder: Recorder::new(&scenario.record),
            parked: ParkedBlocks::default(),
            inbox: VecDeque::new(),
            packets: 0,
            events: 0,
        }
    }

    /// Runs until `end`, that moment included.
    pub fn run(&mut self, end: Time, cancel: &AtomicBool) -> Result<(), Cancelled> {
        loop {
            let (network, timer) = (self.network.next_event(), self.timers.earliest().0);
            if network.min(timer) > end {
                return Ok(());
            }
            self.events += 1;
            if self.events % CANCEL_CHECK_EVENTS == 0 && cancel.load(Ordering::Relaxed) {
                return Err(Cancelled);
            }
            if network <= timer {
                let step = self.network.step();
                self.after(network, step);
            } else {
                self.fire(timer);
            }
            while let Some(packet) = self.inbox.pop_front() {
                self.deliver(network.min(timer), packet);
            }
        }
    }

    #[inline]
    fn after(&mut self, now: Time, step: Step) {
        match step {
            Step::Forwarded => {}
            Step::Delivered(packet) => self.deliver(now, packet),
            Step::Dropped(packet, _, cause) => self.drop(now, packet, cause),
        }
    }

    #[inline]
    fn deliver(&mut self, now: Time, packet: Packet) {
        match packet.direction() {
            Direction::Forward => self.deliver_data(now, packet),
            Direction::Reverse => self.deliver_ack(now, packet),
        }
    }

    #[inline]
    fn deliver_data(&mut self, now: Time, packet: Packet) {
        let index = packet.flow() as usize;
        let flow = &mut self.flows[index];
        self.packets += 1;
        flow.received_packets += 1;
        let before = flow.receiver.received_segs();
        let ack = flow.receiver.on_data(now, segment_of_tag(packet.tag()));
        if flow.receiver.received_segs() > before {
            flow.received_bytes += u64::from(packet.bytes() - flow.spec.header_bytes);
        }
        match ack {
            Some(ack) => self.send_ack(now, index, ack),
            None => self.plan(index),
        }
    }

    #[inline]
    fn deliver_ack(&mut self, now: Time, packet: Packet) {
        let index = packet.flow() as usize;
        let (ack, blocks) = self.parked.ack_of_tag(packet.tag());
        let sender = self.flows[index].sender.as_mut().expect("an ACK for a flow that has begun");
        let mut watch = self.recorder.watch(now, packet.flow(), sender.next_new_segment());
        sender.on_ack(now, ack, &blocks, &mut watch);
        if sender.is_done() && self.flows[index].ended.is_none() {
            self.flows[index].ended = Some(now);
            self.note(now, EventKind::Done, index);
        }
        self.transmit(now, index);
        self.plan(index);
    }

    /// Sends all that a flow may send now.
    #[inline]
    fn transmit(&mut self, now: Time, index: usize) {
        loop {
            let flow = &mut self.flows[index];
            let Some(sender) = &mut flow.sender else { return };
            let Some(segment) = sender.next_segment(now) else { return };
            let bytes = flow.packet_bytes(segment.number);
            flow.sent_bytes += u64::from(bytes - flow.spec.header_bytes);
            if segment.is_retransmission {
                let sender = flow.sender.as_ref().expect("the sender that just sent");
                let kind = EventKind::Retransmit;
                self.recorder.event(now, kind, index as u32, segment.number, sender);
            }
            let tag = tag_of_segment(segment.number);
            let packet = Packet::new(index as u32, Direction::Forward, bytes, tag);
            self.inject(now, packet);
        }
    }

    #[inline]
    fn send_ack(&mut self, now: Time, index: usize, (ack, blocks): (Ack, SackBlocks)) {
        let bytes = self.flows[index].spec.header_bytes + blocks.option_bytes();
        let tag = self.parked.tag_of_ack(ack, blocks);
        self.inject(now, Packet::new(index as u32, Direction::Reverse, bytes, tag));
    }

    #[inline]
    fn inject(&mut self, now: Time, packet: Packet) {
        match self.network.inject(now, packet) {
            Step::Delivered(packet) => self.inbox.push_back(packet),
            step => self.after(now, step),
        }
    }

    #[cold]
    fn drop(&mut self, now: Time, packet: Packet, cause: DropCause) {
        if packet.direction() == Direction::Reverse {
            self.parked.ack_of_tag(packet.tag());
            return;
        }
        let flow = &mut self.flows[packet.flow() as usize];
        let (kind, count) = match cause {
            DropCause::Overflow => (EventKind::Drop, &mut flow.dropped_packets),
            DropCause::Random => (EventKind::Loss, &mut flow.lost_packets),
        };
        *count += 1;
        let sender = flow.sender.as_ref().expect("data of a flow that has begun");
        self.recorder.event(now, kind, packet.flow(), segment_of_tag(packet.tag()), sender);
    }

    /// Makes sure that a flow's leaf is not later than what the flow wants.
    #[inline]
    fn plan(&mut self, index: usize) {
        let deadline = self.flows[index].deadline();
        if deadline < self.timers.get(index) {
            self.timers.set(index, deadline);
        }
    }

    fn fire(&mut self, now: Time) {
        let leaf = self.timers.earliest().1;
        if leaf == self.flows.len() {
            self.recorder.sample(now, &self.flows, &mut self.network);
            let interval = self.sample_interval.expect("the interval of a planned sample");
            self.timers.set(leaf, now + interval);
            return;
        }
        if self.flows[leaf].deadline() <= now {
            self.act(now, leaf);
        }
        self.timers.set(leaf, self.flows[leaf].deadline());
    }

    /// Lets a flow do what is due.
    fn act(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        if flow.sender.is_none() {
            let algorithm = FlowState::algorithm(&flow.spec).expect("a checked algorithm");
            flow.begin(now, &self.stack, algorithm);
            self.note(now, EventKind::Start, index);
        }
        let flow = &mut self.flows[index];
        if flow.stop_pending && flow.spec.stop_ns.is_some_and(|stop| stop <= now) {
            flow.stop_pending = false;
            flow.sender.as_mut().expect("a flow that has begun").stop();
            flow.ended.get_or_insert(now);
            self.note(now, EventKind::Stop, index);
        }
        let flow = &mut self.flows[index];
        if let Some(sender) = &mut flow.sender {
            let next = sender.next_new_segment();
            sender.on_timer(now, &mut self.recorder.watch(now, index as u32, next));
        }
        if let Some(ack) = self.flows[index].receiver.on_timer(now) {
            self.send_ack(now, index, ack);
        }
        self.transmit(now, index);
    }

    fn note(&mut self, now: Time, kind: EventKind, index: usize) {
        let sender = self.flows[index].sender.as_ref().expect("a flow that has begun");
        self.recorder.event(now, kind, index as u32, sender.next_new_segment(), sender);
    }

    /// Everything recorded, as of `end`.
    pub fn finish(mut self, end: Time) -> Output {
        let mut in_flight = vec![0; self.flows.len()];
        for packet in self.network.under_way() {
            if packet.direction() == Direction::Forward {
                in_flight[packet.flow() as usize] += 1;
            }
        }
        let flows = (0..).zip(&self.flows).zip(in_flight);
        let summary = Summary {
            duration_ns: end.0,
            flows: flows
                .map(|((index, flow), packets)| summarise(index, flow, packets, end))
                .collect(),
            queues: vec![
                self.summarise_queue("forward", FORWARD_BOTTLENECK, end),
                self.summarise_queue("reverse", REVERSE_BOTTLENECK, end),
            ],
            packets: self.packets,
            events: self.events,
        };
        let Recorder { flows, internals, queues, events, .. } = self.recorder;
        Output { summary, flows, internals, queues, events }
    }

    fn summarise_queue(&mut self, name: &'static str, link: usize, end: Time) -> QueueSummary {
        let counters = self.network.counters(link, end);
        QueueSummary {
            name,
            arrived_packets: counters.arrived_packets,
            departed_packets: counters.departed_packets,
            departed_bytes: counters.departed_bytes,
            dropped_packets: counters.dropped_packets,
            lost_packets: counters.lost_packets,
            backlog_packets: counters.backlog_packets,
            backlog_packets_max: counters.backlog_packets_max,
            waiting_bytes_mean: (counters.waiting_byte_ns / u128::from(end.0)) as u64,
        }
    }
}

fn summarise(index: u32, flow: &FlowState, in_flight_packets: u64, end: Time) -> FlowSummary {
    let counters = flow.sender.as_ref().map(|sender| *sender.counters()).unwrap_or_default();
    let rtt = flow.sender.as_ref().and_then(|sender| sender.rtt().summary());
    FlowSummary {
        flow: index,
        label: flow.spec.label.clone(),
        algorithm: flow.spec.algorithm.clone(),
        preset: flow.spec.preset.clone(),
        start_ns: flow.spec.start_ns.0,
        end_ns: flow.ended.unwrap_or(end).0,
        sent_segs: counters.sent_segs,
        sent_bytes: flow.sent_bytes,
        retransmitted_segs: counters.retransmitted_segs,
        acked_bytes: flow.acked_bytes(),
        received_bytes: flow.received_bytes,
        received_packets: flow.received_packets,
        dropped_packets: flow.dropped_packets,
        lost_packets: flow.lost_packets,
        in_flight_packets,
        congestion_events: counters.congestion_events,
        timeouts: counters.timeouts,
        rtt_min_us: rtt.map(|rtt| rtt.min_us),
        rtt_mean_us: rtt.map(|rtt| rtt.sum_us / rtt.samples),
        rtt_max_us: rtt.map(|rtt| rtt.max_us),
    }
}
