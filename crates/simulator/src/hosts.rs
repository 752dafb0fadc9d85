//! The hosts at both ends of every flow: what they do when something arrives or a
//! timer is due.
//!
//! Whatever may go on for long looks at every step whether the run was cancelled, and then
//! leaves its work half done: nothing will come of it any more.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_network::{
    Arrival, Direction, DropCause, Ecn, Fate, Flags, GroupId, LinkId, Network, Packet, Random,
    Span, Time,
};
use dumbbell_record::{EventKind, Request};
use dumbbell_tcp::{Ack, clock};
use dumbbell_workload::{Scenario, Transport};

use crate::app::Message;
use crate::capture::Capture;
use crate::express::Lanes;
use crate::flow::{Connection, Ends, FlowState, Host, Interface, parks_acks};
use crate::parked::ParkedAcks;
use crate::recorder::Recorder;
use crate::shortcuts::Shortcuts;
use crate::stretch::SharedLanes;
use crate::timers::{Task, Timers};
use crate::wire::{ack_of, arrival_of};

/// Random streams of flows begin here; those of links lie below.
const FLOW_STREAMS: u64 = 1 << 32;

/// Every host of a simulation.
#[derive(Debug)]
pub struct AllHosts<'a> {
    pub flows: Vec<FlowState>,
    pub recorder: Recorder,
    pub timers: Timers,
    /// Absent where nothing is captured.
    pub capture: Option<Box<Capture>>,
    parked: ParkedAcks,
    /// Connections that may be forgotten soon.
    done: Vec<u32>,
    pub lanes: Vec<Lanes>,
    /// Of each group, if all its connections have the same.
    pub shared_lanes: Vec<Option<SharedLanes>>,
    /// The run was cancelled.
    pub cancel: &'a AtomicBool,
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

impl<'a> AllHosts<'a> {
    /// Hosts that have done nothing.
    pub fn new(
        scenario: Scenario,
        shortcuts: Shortcuts,
        cancel: &'a AtomicBool,
        network: &mut Network,
    ) -> Self {
        let interval = scenario.record.interval_ns.map(|interval| Span(interval.get()));
        let mut timers = Timers::new(network, interval);
        let recorder = Recorder::new(&scenario.record, scenario.flows.len());
        let (captures, keeps_modes) = (scenario.record.capture, scenario.record.modes);
        let capture = captures.then(|| Box::new(Capture::new(scenario.flows.len())));
        let (hosts, periods) = (Host::all(&scenario, network), scenario.delay_periods());
        let flows =
            scenario.flows.into_iter().zip(hosts).enumerate().map(|(index, (spec, host))| {
                timers.set(sender_of(index), spec.start_ns, network);
                let random = Random::new(scenario.seed, FLOW_STREAMS + index as u64);
                FlowState::new(spec, host, shortcuts, random, periods)
            });
        let flows: Vec<_> = flows.collect();
        // What is captured are packets, and lanes have none.
        let lane = |flow: usize| {
            let lanes = Lanes::of(flow, timers.group_of(receiver_of(flow)), network);
            let watches_host = flows[flow].interface.is_some();
            let lanes = if captures || watches_host { lanes.without_data() } else { lanes };
            match &flows[flow].spec.transport {
                _ if !shortcuts.lanes => lanes.without_data().without_acks(),
                Transport::Tcp(tcp) if captures || parks_acks(tcp) => lanes.without_acks(),
                _ if captures => lanes.without_acks(),
                _ => lanes,
            }
        };
        let lanes: Vec<_> = (0..flows.len()).map(lane).collect();
        // In a stretch nobody looks at modes.
        let shared_lanes = if shortcuts.stretches && !keeps_modes {
            SharedLanes::of_groups(&lanes, network)
        } else {
            vec![None; network.groups().count()]
        };
        let parked = ParkedAcks::default();
        let done = Vec::new();
        Self { flows, recorder, timers, capture, parked, done, lanes, shared_lanes, cancel }
    }

    /// Whether nobody wants the run's results any more.
    #[inline(always)]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
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
        while !self.is_cancelled()
            && let Some(task) = self.timers.next_task(group, time)
        {
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
            Fate::Lost(arrival, link, cause) => {
                self.departs(arrival, link, network);
                self.lose(arrival, cause);
            }
            Fate::Departs(arrival, link) => self.departs(arrival, link, network),
            Fate::Doubled(packet) => self.double(packet),
            Fate::News => {
                while !self.is_cancelled()
                    && let Some(fate) = network.news()
                {
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
        let Ends::Tcp(connection) = &mut flow.ends else { unreachable!("an ACK of no connection") };
        let sender = &mut connection.sender;
        let fetched;
        let (ack, blocks) = if packet.has(Flags::PARKED) {
            fetched = self.parked.fetch(packet);
            if let Some(capture) = &self.capture {
                capture.assert_sent_with(packet, &fetched.blocks);
            }
            if let Some(stamp) = fetched.stamp {
                sender.hear_stamp(stamp, fetched.ack.echo);
            }
            (fetched.ack, &fetched.blocks)
        } else {
            (ack_of(packet, now), &self.parked.none)
        };
        let mut watch = self.recorder.watch(now, packet.flow(), sender.next_new_segment());
        sender.on_ack(now, ack, blocks, &mut watch);
        if flow.spec.sampled {
            self.recorder.note_mode(now, packet.flow(), sender);
        }
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
                if self.is_cancelled() {
                    return;
                }
                let packet = Packet::new(index as u32, Direction::Forward, bytes, number);
                self.send_data(now, packet.with_ecn(ecn).with_note(note), network);
            }
            return;
        }
        while !self.is_cancelled()
            && let Some((segment, payload)) = self.next_segment(now, index)
        {
            let bytes = payload as u16 + self.flows[index].spec.header_bytes;
            let flags = Flags::RESENT
                .when(segment.is_retransmission)
                .and(Flags::PSH.when(segment.pushed))
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
        self.note_departure(packet, fate, network);
        self.follow(fate, network);
    }

    /// Tells a sender when the packet leaves that it has just sent, where its host's interface
    /// has decided that, and has not turned it away.
    #[inline]
    fn note_departure(&mut self, packet: Packet, fate: Fate, network: &Network) {
        let flow = &mut self.flows[packet.flow() as usize];
        let Some(Interface { link, is_told: false }) = flow.interface else { return };
        let is_lost = matches!(fate, Fate::Lost(_, at, _) if at == link);
        if let Ends::Tcp(connection) = &mut flow.ends
            && !is_lost
        {
            connection.sender.leaves_host(network.departs_by(link));
        }
    }

    /// Tells a sender of a packet that leaves the interface of its host, or is lost there.
    #[cold]
    fn departs(&mut self, arrival: Arrival, link: LinkId, network: &mut Network) {
        let Arrival { time, packet } = arrival;
        let index = packet.flow() as usize;
        let flow = &mut self.flows[index];
        if packet.direction() == Direction::Reverse
            || flow.interface.is_none_or(|interface| interface.link != link)
        {
            return;
        }
        if let Ends::Tcp(connection) = &mut flow.ends {
            connection.sender.leaves_host(time);
            self.plan_sender(index, network);
        }
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
        let Some(connection) = flow.connection() else { return };
        if connection.app.due() == Time::NEVER {
            self.recorder.event_of(now, EventKind::Done, index as u32, &connection.sender);
            flow.ended.get_or_insert(now);
            if !flow.spec.sampled {
                self.done.push(index as u32);
            }
        }
    }

    /// Lets a receiver do what is due at `now`.
    fn receiver_acts(&mut self, index: usize, now: Time, network: &mut Network) {
        if let Ends::Tcp(connection) = &mut self.flows[index].ends
            && let Some(ack) = connection.receiver.on_timer(now)
        {
            self.send_acks(now, index, ack, network);
        }
        let deadline = self.flows[index].connection().and_then(|ends| ends.receiver.deadline());
        self.timers.set(receiver_of(index), deadline.unwrap_or(Time::NEVER), network);
    }

    /// Lets a sender do what is due at `now`.
    fn sender_acts(&mut self, index: usize, now: Time, network: &mut Network) {
        let flow = &mut self.flows[index];
        if flow.sender_due() <= now {
            if flow.stop_pending && flow.spec.stop_ns.is_some_and(|stop| stop <= now) {
                self.stop(now, index);
            }
            match &mut self.flows[index].ends {
                Ends::Ahead(_) => self.connection_begins(now, index, network),
                Ends::Tcp(_) => self.connection_acts(now, index, network),
                Ends::Udp(_) => self.datagrams_act(now, index, network),
                Ends::Over(_) => {}
            }
        }
        self.timers.set(sender_of(index), self.flows[index].sender_due(), network);
    }

    #[cold]
    fn connection_begins(&mut self, now: Time, index: usize, network: &mut Network) {
        let flow = &mut self.flows[index];
        let Ends::Ahead(ahead) = &mut flow.ends else { return };
        let connection = Box::new(ahead.begin(now, &flow.spec));
        self.recorder.event_of(now, EventKind::Start, index as u32, &connection.sender);
        if flow.spec.sampled {
            self.recorder.note_mode(now, index as u32, &connection.sender);
        }
        flow.ends = Ends::Tcp(connection);
        if let Some(capture) = &mut self.capture {
            capture.begins(now, index);
        }
        self.transmit(now, index, network);
    }

    fn connection_acts(&mut self, now: Time, index: usize, network: &mut Network) {
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { return };
        let Connection { sender, app, .. } = &mut **connection;
        let next = sender.next_new_segment();
        assert!(next < Packet::NUMBERS, "a connection of more than 2^40 segments");
        if app.due() <= now {
            sender.supply(app.act(now, next));
        }
        sender.on_timer(now, &mut self.recorder.watch(now, index as u32, next));
        if flow.spec.sampled {
            self.recorder.note_mode(now, index as u32, sender);
        }
        self.transmit(now, index, network);
    }

    /// Forgets the connections that are over and of which nothing is under way.
    pub fn forget_what_is_over(&mut self, network: &Network) {
        if self.done.is_empty() {
            return;
        }
        let under_way: BTreeSet<u32> = network.under_way().map(Packet::flow).collect();
        let flows = &mut self.flows;
        self.done
            .retain(|&index| under_way.contains(&index) || !flows[index as usize].forget_if_over());
    }

    fn datagrams_act(&mut self, now: Time, index: usize, network: &mut Network) {
        let flow = &mut self.flows[index];
        let bytes = flow.spec.packet_bytes;
        let Ends::Udp(datagrams) = &mut flow.ends else { return };
        let number = datagrams.number;
        assert!(number < Packet::NUMBERS, "a flow of more than 2^40 datagrams");
        if datagrams.act(now, bytes) {
            datagrams.under_way.send(now);
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
                connection.sender.stop();
                let sender = &connection.sender;
                self.recorder.event_of(now, EventKind::Stop, index as u32, sender);
            }
            Ends::Ahead(_) | Ends::Over(_) => {
                unreachable!("a flow stops after its start, and once")
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
            let flow = &mut self.flows[packet.flow() as usize];
            flow.counters.duplicated_packets += 1;
            if let Ends::Udp(datagrams) = &mut flow.ends {
                datagrams.under_way.double(packet.number());
            }
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
        let flow = &mut self.flows[packet.flow() as usize];
        if let Ends::Udp(datagrams) = &mut flow.ends {
            datagrams.under_way.end(packet.number(), time);
            if flow.spec.sampled {
                self.recorder.datagrams.lose(time, packet.flow());
            }
        }
        let counters = &mut flow.counters;
        let (kind, count) = match cause {
            DropCause::Overflow => (EventKind::Drop, &mut counters.dropped_packets),
            DropCause::Random => (EventKind::Loss, &mut counters.lost_packets),
        };
        *count += 1;
        self.recorder.drop(time, kind, packet.flow(), packet.number());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_network::Drive;
    use serde_json::{Value, json};

    /// One flow over a link that takes no time.
    fn scenario(transport: &Value) -> Scenario {
        let queue = json!({"limit": null, "discipline": {"kind": "fifo"}});
        let link = json!({
            "name": "link", "rate": null, "delay": [[0, 0]], "overhead_bytes": 0, "queue": queue,
            "policer": null, "loss": [], "duplicate": 0.0, "reorder": null, "jitter_ns": 0,
            "batch_ns": 0, "sampled": false,
        });
        let route = json!({"hops": [{"link": 0, "delay_ns": 1_000_000}], "delay_ns": 0});
        let text = json!({
            "seed": 1, "duration_ns": 1_000_000_000, "links": [link],
            "flows": [{
                "label": "a", "group": null, "start_ns": 0, "stop_ns": null,
                "packet_bytes": 1500, "header_bytes": 52, "forward": route, "reverse": route,
                "sampled": true, "transport": transport,
            }],
            "record": {"interval_ns": null, "events": [], "algorithm_state": false, "capture": false},
        });
        Scenario::from_json(&text.to_string()).unwrap()
    }

    /// What the flow sends in its first millisecond.
    fn sent(transport: &Value, cancelled_by: impl FnOnce(&AtomicBool)) -> u64 {
        let cancel = AtomicBool::new(false);
        let scenario = scenario(transport);
        let end = Time::ZERO + scenario.duration_ns;
        let (links, paths) = (&scenario.links, scenario.paths());
        let mut network = Network::new(links, &paths, 1, end, None, Drive::Virtual);
        let mut hosts =
            AllHosts::new(scenario.clone(), Shortcuts::default(), &cancel, &mut network);
        cancelled_by(&cancel);
        let group = hosts.timers.group_of(sender_of(0));
        hosts.catch_up(group, Time(1_000_000), &mut network);
        hosts.flows[0].counters.sent_packets
    }

    #[test]
    fn datagrams_end_where_the_run_was_cancelled() {
        let udp = json!({"udp": {"rate_bps": 12_000_000_000u64, "on_off": null}});
        assert_eq!(sent(&udp, |_| {}), 1_000);
        assert_eq!(sent(&udp, |cancel| cancel.store(true, Ordering::Relaxed)), 0);
    }

    #[test]
    fn the_segments_of_a_window_end_where_the_run_was_cancelled() {
        let switches = json!({"initial_window_segs": 5_000});
        let tcp = json!({"tcp": {
            "algorithm": "reno", "preset": null, "parameters": {}, "tcp_bpf": null,
            "stack": {"profile": "linux-6", "switches": switches}, "demand": "endless",
        }});
        assert_eq!(sent(&tcp, |_| {}), 5_000);
        assert_eq!(sent(&tcp, |cancel| cancel.store(true, Ordering::Relaxed)), 0);
    }
}
