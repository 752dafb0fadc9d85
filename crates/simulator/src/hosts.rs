//! The hosts at both ends of every flow: what they do when something arrives or a
//! timer is due.

use dumbbell_network::{Direction, DropCause, Flags, Hosts, LinkId, Network, Packet, Time, Wires};
use dumbbell_record::{EventKind, Request};
use dumbbell_tcp::Ack;
use dumbbell_workload::Scenario;

use crate::app::Message;
use crate::flow::{Connection, Ends, FlowState};
use crate::recorder::Recorder;
use crate::wire::ParkedBlocks;

/// Random streams of flows begin here; those of links lie below.
const FLOW_STREAMS: u64 = 1 << 32;

/// Every host of a simulation.
#[derive(Debug)]
pub struct AllHosts {
    pub flows: Vec<FlowState>,
    pub recorder: Recorder,
    /// For each route, not later than the host at its end wants to act on its own; may
    /// be earlier, and is then set again.
    due: Vec<Time>,
    parked: ParkedBlocks,
}

/// The route at whose end a flow's receiver is.
const fn receiver_of(flow: usize) -> usize {
    2 * flow
}

/// The route at whose end a flow's sender is.
const fn sender_of(flow: usize) -> usize {
    2 * flow + 1
}

impl AllHosts {
    /// Hosts that have done nothing.
    pub fn new(scenario: Scenario) -> Self {
        let recorder = Recorder::new(&scenario.record);
        let mut due = vec![Time::NEVER; 2 * scenario.flows.len()];
        let flows = scenario.flows.into_iter().enumerate().map(|(index, spec)| {
            due[sender_of(index)] = spec.start_ns;
            FlowState::new(spec, scenario.seed, FLOW_STREAMS + index as u64)
        });
        let flows = flows.collect();
        Self { flows, recorder, due, parked: ParkedBlocks::default() }
    }

    /// Samples hosts and queues, all of which stand at `now`.
    pub fn sample(&mut self, now: Time, network: &mut Network, sampled: &[(LinkId, String)]) {
        self.recorder.sample_flows(now, &self.flows);
        self.recorder.sample_queues(now, network, sampled);
    }

    #[inline]
    fn data_arrives(&mut self, now: Time, packet: Packet, wires: &mut Wires) {
        let index = packet.flow() as usize;
        if self.due[receiver_of(index)] < now {
            self.receiver_acts(index, now, wires);
        }
        let flow = &mut self.flows[index];
        flow.counters.received_packets += 1;
        let payload = u64::from(packet.bytes() - flow.spec.header_bytes);
        let Ends::Tcp(connection) = &mut flow.ends else {
            flow.counters.received_bytes += payload;
            return;
        };
        let receiver = &mut connection.receiver;
        let before = receiver.received_segs();
        let ack = receiver.on_data(now, packet.number());
        flow.counters.received_bytes += payload * (receiver.received_segs() - before);
        let deadline = receiver.deadline().unwrap_or(Time::NEVER);
        self.due[receiver_of(index)] = self.due[receiver_of(index)].min(deadline);
        if let Some(ack) = ack {
            self.send_ack(now, index, ack, wires);
        }
    }

    #[inline]
    fn send_ack(&mut self, now: Time, index: usize, ack: Ack, wires: &mut Wires) {
        let bytes = self.flows[index].spec.header_bytes + ack.sacked.option_bytes();
        let packet = Packet::new(index as u32, Direction::Reverse, bytes, ack.cumulative);
        let slot = if ack.sacked.is_empty() { 0 } else { self.parked.park(ack.sacked) };
        wires.send(now, packet.with_stamp(0, slot));
    }

    #[inline]
    fn ack_arrives(&mut self, now: Time, packet: Packet, wires: &mut Wires) {
        let index = packet.flow() as usize;
        if self.due[sender_of(index)] < now {
            self.sender_acts(index, now, wires);
        }
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { unreachable!("datagrams are not ACKed") };
        let sender = connection.sender.as_mut().expect("an ACK for a flow that has begun");
        let ack = Ack { cumulative: packet.number(), sacked: self.parked.unpark(packet.slot()) };
        let mut watch = self.recorder.watch(now, packet.flow(), sender.next_new_segment());
        sender.on_ack(now, &ack, &mut watch);
        if let Some(message) = connection.app.complete(now, sender.acked_segs()) {
            self.completed(now, index, message);
        }
        self.transmit(now, index, wires);
        self.plan_sender(index);
    }

    /// Sends all that a connection may send now.
    #[inline]
    fn transmit(&mut self, now: Time, index: usize, wires: &mut Wires) {
        let flow = &mut self.flows[index];
        let Ends::Tcp(Connection { sender: Some(sender), app, .. }) = &mut flow.ends else {
            return;
        };
        let mss_bytes = flow.spec.mss_bytes();
        while let Some(segment) = sender.next_segment(now) {
            let ends = app.ends_message(segment.number);
            let payload = if ends { app.last_bytes() as u32 } else { mss_bytes };
            flow.counters.sent_packets += 1;
            flow.counters.sent_bytes += u64::from(payload);
            if segment.is_retransmission {
                let kind = EventKind::Retransmit;
                self.recorder.event(now, kind, index as u32, segment.number, sender);
            }
            let bytes = payload as u16 + flow.spec.header_bytes;
            let flags = Flags::RESENT.when(segment.is_retransmission).and(Flags::END.when(ends));
            let packet = Packet::new(index as u32, Direction::Forward, bytes, segment.number);
            wires.send(now, packet.with_flags(flags));
        }
    }

    /// Makes sure that a sender is not late for what it wants.
    #[inline]
    fn plan_sender(&mut self, index: usize) {
        let due = self.flows[index].sender_due();
        self.due[sender_of(index)] = self.due[sender_of(index)].min(due);
    }

    #[cold]
    fn completed(&mut self, now: Time, index: usize, message: Message) {
        self.recorder.requests.push(Request {
            time_ns: message.issued.0,
            flow: index as u32,
            number: message.number,
            bytes: message.bytes,
            latency_ns: now.since(message.issued).0,
        });
        let flow = &mut self.flows[index];
        let Some((connection, sender)) = flow.sender() else { return };
        if connection.app.due() == Time::NEVER {
            self.recorder.event_of(now, EventKind::Done, index as u32, sender);
            flow.ended.get_or_insert(now);
        }
    }

    /// Lets a receiver do what is due before `until`.
    #[cold]
    fn receiver_acts(&mut self, index: usize, until: Time, wires: &mut Wires) {
        loop {
            let Ends::Tcp(connection) = &mut self.flows[index].ends else { return };
            let deadline = connection.receiver.deadline().unwrap_or(Time::NEVER);
            self.due[receiver_of(index)] = deadline;
            if deadline >= until {
                return;
            }
            if let Some(ack) = connection.receiver.on_timer(deadline) {
                self.send_ack(deadline, index, ack, wires);
            }
        }
    }

    /// Lets a sender do what is due before `until`.
    #[cold]
    fn sender_acts(&mut self, index: usize, until: Time, wires: &mut Wires) {
        loop {
            let due = self.flows[index].sender_due();
            self.due[sender_of(index)] = due;
            if due >= until {
                return;
            }
            if self.flows[index].stop_pending && self.flows[index].spec.stop_ns == Some(due) {
                self.stop(due, index);
            }
            match &mut self.flows[index].ends {
                Ends::Tcp(_) => self.connection_acts(due, index, wires),
                Ends::Udp(_) => self.datagrams_act(due, index, wires),
            }
        }
    }

    fn connection_acts(&mut self, now: Time, index: usize, wires: &mut Wires) {
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { return };
        if let Some(sender) = &mut connection.sender {
            let next = sender.next_new_segment();
            if connection.app.due() <= now {
                sender.supply(connection.app.act(now, next));
            }
            sender.on_timer(now, &mut self.recorder.watch(now, index as u32, next));
        } else {
            let sender = connection.begin(now, &flow.spec);
            self.recorder.event_of(now, EventKind::Start, index as u32, sender);
        }
        self.transmit(now, index, wires);
    }

    fn datagrams_act(&mut self, now: Time, index: usize, wires: &mut Wires) {
        let flow = &mut self.flows[index];
        let bytes = flow.spec.packet_bytes;
        let Ends::Udp(datagrams) = &mut flow.ends else { return };
        let number = datagrams.number;
        if datagrams.act(now, bytes) {
            flow.counters.sent_packets += 1;
            flow.counters.sent_bytes += u64::from(flow.spec.mss_bytes());
            wires.send(now, Packet::new(index as u32, Direction::Forward, bytes, number));
        }
    }

    fn stop(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        flow.stop_pending = false;
        flow.ended.get_or_insert(now);
        match &mut flow.ends {
            Ends::Udp(datagrams) => datagrams.stop(),
            Ends::Tcp(connection) => {
                connection.app.stop();
                let sender = connection.sender.as_mut().expect("a flow that has begun");
                sender.stop();
                self.recorder.event_of(now, EventKind::Stop, index as u32, sender);
            }
        }
    }
}

impl Hosts for AllHosts {
    #[inline]
    fn deliver(&mut self, now: Time, packet: Packet, wires: &mut Wires) {
        match packet.direction() {
            Direction::Forward => self.data_arrives(now, packet, wires),
            Direction::Reverse => self.ack_arrives(now, packet, wires),
        }
    }

    #[inline]
    fn quiet(&mut self, route: usize, until: Time, wires: &mut Wires) {
        if self.due[route] >= until {
            return;
        }
        if route == sender_of(route / 2) {
            self.sender_acts(route / 2, until, wires);
        } else {
            self.receiver_acts(route / 2, until, wires);
        }
    }

    #[cold]
    fn lose(&mut self, now: Time, packet: Packet, _: LinkId, cause: DropCause) {
        if packet.direction() == Direction::Reverse {
            self.parked.unpark(packet.slot());
            return;
        }
        let counters = &mut self.flows[packet.flow() as usize].counters;
        let (kind, count) = match cause {
            DropCause::Overflow => (EventKind::Drop, &mut counters.dropped_packets),
            DropCause::Random => (EventKind::Loss, &mut counters.lost_packets),
        };
        *count += 1;
        self.recorder.drop(now, kind, packet.flow(), packet.number());
    }

    fn next_timer(&self) -> Time {
        self.due.iter().copied().min().unwrap_or(Time::NEVER)
    }
}
