//! The hosts at both ends of every flow: what they do when something arrives or a
//! timer is due.

use dumbbell_network::{
    Arrival, Direction, DropCause, Ecn, Fate, Flags, GroupId, Network, Packet, Random, Span, Time,
};
use dumbbell_record::{EventKind, Request};
use dumbbell_tcp::{Ack, clock};
use dumbbell_workload::Scenario;

use crate::app::Message;
use crate::capture::Capture;
use crate::express::Lanes;
use crate::flow::{Ends, FlowState, Host};
use crate::recorder::Recorder;
use crate::stretch::SharedLanes;
use crate::timers::{Task, Timers};
use crate::wire::{ParkedAcks, ack_of, arrival_of};

/// Random streams of flows begin here; those of links lie below.
const FLOW_STREAMS: u64 = 1 << 32;

/// Every host of a simulation.
#[derive(Debug)]
pub struct AllHosts {
    pub flows: Vec<FlowState>,
    pub recorder: Recorder,
    pub timers: Timers,
    /// Absent where nothing is captured.
    pub capture: Option<Box<Capture>>,
    parked: ParkedAcks,
    pub lanes: Vec<Lanes>,
    /// Of each group, if all its connections have the same.
    pub shared_lanes: Vec<Option<SharedLanes>>,
}

/// What a sender's packet says of ECN.
pub const fn ecn_of(capable: bool) -> Ecn {
    if capable { Ecn::Ect0 } else { Ecn::NotEct }
}

/// The route at whose end a flow's receiver is.
pub const fn receiver_of(flow: usize) -> usize {
    2 * flow
}

/// The route at whose end a flow's sender is.
pub const fn sender_of(flow: usize) -> usize {
    2 * flow + 1
}

impl AllHosts {
    /// Hosts that have done nothing.
    pub fn new(scenario: Scenario, network: &mut Network) -> Self {
        let interval = scenario.record.interval_ns.map(|interval| Span(interval.get()));
        let mut timers = Timers::new(network, interval);
        let recorder = Recorder::new(&scenario.record, scenario.flows.len());
        let captures = scenario.record.capture;
        let capture = captures.then(|| Box::new(Capture::new(scenario.flows.len())));
        let hosts = Host::all(&scenario);
        let flows =
            scenario.flows.into_iter().zip(hosts).enumerate().map(|(index, (spec, host))| {
                timers.set(sender_of(index), spec.start_ns, network);
                let random = Random::new(scenario.seed, FLOW_STREAMS + index as u64);
                FlowState::new(spec, host, random)
            });
        let flows: Vec<_> = flows.collect();
        // What is captured are packets, and lanes have none.
        let lane = |flow: usize| {
            let lanes = Lanes::of(flow, timers.group_of(receiver_of(flow)), network);
            match &flows[flow].ends {
                _ if captures => lanes.closed(),
                Ends::Tcp(connection) if connection.parks_acks => lanes.without_acks(),
                _ => lanes,
            }
        };
        let lanes: Vec<_> = (0..flows.len()).map(lane).collect();
        let shared_lanes = SharedLanes::of_groups(&lanes, network);
        let parked = ParkedAcks::default();
        Self { flows, recorder, timers, capture, parked, lanes, shared_lanes }
    }

    /// Takes what reaches a host.
    #[inline]
    pub fn hear(&mut self, Arrival { time, packet }: Arrival, network: &mut Network) {
        let route = match packet.direction() {
            Direction::Forward => receiver_of(packet.flow() as usize),
            Direction::Reverse => sender_of(packet.flow() as usize),
        };
        let group = self.timers.group_of(route);
        if self.timers.is_behind(group, time) {
            self.catch_up(group, time, network);
        }
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.arrives(time, packet),
        };
        match packet.direction() {
            Direction::Forward => self.data_arrives(time, packet, network),
            Direction::Reverse => self.ack_arrives(time, packet, network),
        }
    }

    /// Lets a group do what is due before `time`.
    #[cold]
    pub fn catch_up(&mut self, group: GroupId, time: Time, network: &mut Network) {
        while let Some(task) = self.timers.next_task(group, time) {
            match task {
                Task::Act(route, due) if route == sender_of(route / 2) => {
                    self.sender_acts(route / 2, due, network);
                }
                Task::Act(route, due) => self.receiver_acts(route / 2, due, network),
                Task::Sample(at) => {
                    for &route in self.timers.routes(group) {
                        let flow = &self.flows[route / 2];
                        if route == sender_of(route / 2) {
                            self.recorder.sample_sender(at, (route / 2) as u32, flow);
                        } else {
                            self.recorder.sample_receiver(route / 2, flow);
                        }
                    }
                }
            }
        }
    }

    /// Samples what is still to be sampled when the network stands still after `end`.
    pub fn finish(&mut self, end: Time, network: &mut Network) {
        for group in 0..network.groups().count() {
            self.catch_up(group, end + Span(1), network);
        }
    }

    /// Follows a packet that was sent.
    #[inline]
    pub fn follow(&mut self, fate: Fate, network: &mut Network) {
        match fate {
            Fate::UnderWay => {}
            Fate::Delivered(arrival) => self.hear(arrival, network),
            Fate::Lost(arrival, _, cause) => self.lose(arrival, cause),
            Fate::Doubled(packet) => self.double(packet),
            Fate::News => {
                while let Some(fate) = network.news() {
                    self.follow(fate, network);
                }
            }
        }
    }

    #[inline]
    fn data_arrives(&mut self, now: Time, packet: Packet, network: &mut Network) {
        let index = packet.flow() as usize;
        let arrival = arrival_of(packet, now, self.flows[index].spec.packet_bytes);
        self.receive(now, index, arrival, packet.bytes(), network);
    }

    /// Sends an acknowledgement and those that go with it.
    #[inline]
    pub fn send_acks(&mut self, now: Time, index: usize, first: Ack, network: &mut Network) {
        let mut next = Some(first);
        while let Some(ack) = next {
            let flow = &mut self.flows[index];
            let Ends::Tcp(connection) = &mut flow.ends else { return };
            let blocks = || connection.receiver.blocks();
            let stamp = connection.parks_acks.then(|| clock(now));
            let bytes = flow.spec.header_bytes;
            let packet = self.parked.packet_of(index as u32, bytes, ack, stamp, blocks);
            let packet = match &mut self.capture {
                None => packet,
                Some(capture) => capture.sends_ack(now, packet, ack, blocks),
            };
            next = connection.receiver.also();
            let fate = network.send(now, packet);
            self.follow(fate, network);
        }
    }

    /// Makes sure that a receiver is not late for what it wants.
    #[inline]
    pub fn plan_receiver(&mut self, index: usize, network: &mut Network) {
        if let Ends::Tcp(connection) = &self.flows[index].ends
            && let Some(deadline) = connection.receiver.deadline()
        {
            self.timers.at_latest(receiver_of(index), deadline, network);
        }
    }

    #[inline]
    fn ack_arrives(&mut self, now: Time, packet: Packet, network: &mut Network) {
        let index = packet.flow() as usize;
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { unreachable!("datagrams are not ACKed") };
        let sender = connection.sender.as_mut().expect("an ACK for a flow that has begun");
        let fetched;
        let (ack, blocks) = if packet.has(Flags::PARKED) {
            fetched = self.parked.fetch(packet);
            if let Some(stamp) = fetched.stamp {
                sender.hear_stamp(stamp, fetched.ack.echo);
            }
            (fetched.ack, &fetched.blocks)
        } else {
            (ack_of(packet, now), &self.parked.none)
        };
        let mut watch = self.recorder.watch(now, packet.flow(), sender.next_new_segment());
        sender.on_ack(now, ack, blocks, &mut watch);
        if let Some(message) = connection.app.complete(now, sender.acked_segs()) {
            self.completed(now, index, message);
        }
        self.transmit(now, index, network);
        self.plan_sender(index, network);
    }

    /// Sends all that a connection may send now.
    #[inline]
    pub fn transmit(&mut self, now: Time, index: usize, network: &mut Network) {
        if let Some(lane) = self.lanes[index].data.filter(|lane| lane.is_open(now)) {
            return self.transmit_in_express(now, index, &lane, network);
        }
        let note = clock(now) & (Packet::NOTES - 1);
        if let Some((first, count, ecn)) = self.next_run(now, index) {
            let bytes = self.flows[index].spec.packet_bytes;
            for number in first..first + u64::from(count) {
                let packet = Packet::new(index as u32, Direction::Forward, bytes, number);
                self.send_data(now, packet.with_ecn(ecn).with_note(note), network);
            }
            return;
        }
        while let Some((segment, payload, ends_message)) = self.next_segment(now, index) {
            let bytes = payload as u16 + self.flows[index].spec.header_bytes;
            let flags = Flags::RESENT
                .when(segment.is_retransmission)
                .and(Flags::END.when(ends_message))
                .and(Flags::CWR.when(segment.cwr));
            let packet = Packet::new(index as u32, Direction::Forward, bytes, segment.number)
                .with_flags(flags)
                .with_ecn(ecn_of(segment.ect))
                .with_note(note);
            self.send_data(now, packet, network);
        }
    }

    /// Sends data of either kind.
    #[inline]
    fn send_data(&mut self, now: Time, packet: Packet, network: &mut Network) {
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.sends_data(now, packet),
        };
        let fate = network.send(now, packet);
        self.follow(fate, network);
    }

    /// Makes sure that a sender is not late for what it wants.
    #[inline]
    pub fn plan_sender(&mut self, index: usize, network: &mut Network) {
        let due = self.flows[index].sender_due();
        self.timers.at_latest(sender_of(index), due, network);
    }

    #[cold]
    fn completed(&mut self, now: Time, index: usize, message: Message) {
        self.recorder.request(Request {
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

    /// Lets a receiver do what is due at `now`.
    fn receiver_acts(&mut self, index: usize, now: Time, network: &mut Network) {
        let Ends::Tcp(connection) = &mut self.flows[index].ends else { return };
        if let Some(ack) = connection.receiver.on_timer(now) {
            self.send_acks(now, index, ack, network);
        }
        let Ends::Tcp(connection) = &self.flows[index].ends else { return };
        let next = connection.receiver.deadline().unwrap_or(Time::NEVER);
        self.timers.set(receiver_of(index), next, network);
    }

    /// Lets a sender do what is due at `now`.
    fn sender_acts(&mut self, index: usize, now: Time, network: &mut Network) {
        let flow = &mut self.flows[index];
        if flow.sender_due() <= now {
            if flow.stop_pending && flow.spec.stop_ns.is_some_and(|stop| stop <= now) {
                self.stop(now, index);
            }
            match &mut self.flows[index].ends {
                Ends::Tcp(_) => self.connection_acts(now, index, network),
                Ends::Udp(_) => self.datagrams_act(now, index, network),
            }
        }
        self.timers.set(sender_of(index), self.flows[index].sender_due(), network);
    }

    fn connection_acts(&mut self, now: Time, index: usize, network: &mut Network) {
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
            if let Some(capture) = &mut self.capture {
                capture.begins(now, index);
            }
        }
        self.transmit(now, index, network);
    }

    fn datagrams_act(&mut self, now: Time, index: usize, network: &mut Network) {
        let flow = &mut self.flows[index];
        let bytes = flow.spec.packet_bytes;
        let Ends::Udp(datagrams) = &mut flow.ends else { return };
        let number = datagrams.number;
        if datagrams.act(now, bytes) {
            flow.counters.sent_packets += 1;
            flow.counters.sent_bytes += u64::from(flow.spec.mss_bytes());
            let packet = Packet::new(index as u32, Direction::Forward, bytes, number);
            self.send_data(now, packet, network);
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

    #[cold]
    fn double(&mut self, packet: Packet) {
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.doubles(packet),
        };
        self.parked.share(packet);
        if packet.direction() == Direction::Forward {
            self.flows[packet.flow() as usize].counters.duplicated_packets += 1;
        }
    }

    /// A link lost data at `now`.
    #[cold]
    pub fn drop_data(&mut self, now: Time, packet: Packet, cause: DropCause) {
        self.lose(Arrival { time: now, packet }, cause);
    }

    #[cold]
    fn lose(&mut self, Arrival { time, packet }: Arrival, cause: DropCause) {
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.loses(packet),
        };
        if packet.direction() == Direction::Reverse {
            self.parked.forget(packet);
            return;
        }
        let counters = &mut self.flows[packet.flow() as usize].counters;
        let (kind, count) = match cause {
            DropCause::Overflow => (EventKind::Drop, &mut counters.dropped_packets),
            DropCause::Random => (EventKind::Loss, &mut counters.lost_packets),
        };
        *count += 1;
        self.recorder.drop(time, kind, packet.flow(), packet.number());
    }
}
