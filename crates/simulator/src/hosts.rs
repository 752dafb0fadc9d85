//! The hosts at both ends of every flow: their actions when a packet arrives or a timer is due.
//!
//! All long work checks at every step whether the run was cancelled. It then stops half done, as
//! its result is not used.

mod opening;
mod receiving;
mod sending;
mod shared_paths;
mod steering;
mod train;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_network::{
    Arrival, Direction, DropCause, Flags, Network, Outcome, Packet, ProcessId, Random, Span, Time,
};
use dumbbell_record::EventKind;
use dumbbell_tcp::Handshake;
use dumbbell_workload::{Flow, Queries, Scenario};

use self::shared_paths::SharedPaths;
use crate::Control;
use crate::capture::Capture;
use crate::choice::Choice;
use crate::flow::{Connection, Ends, FlowState, Host, sender_of};
use crate::recorder::Recorder;
use crate::shortcuts::Shortcuts;
use crate::side_table::SideTable;
use crate::timers::{Task, Timers};
use crate::traffic::routes_over_links;
use crate::wire::note_of;

/// First random stream of flows. Those of links have lower numbers.
const FLOW_STREAMS: u64 = 1 << 32;

/// Every host of a simulation.
#[derive(Debug)]
pub struct AllHosts {
    pub flows: Vec<FlowState>,
    pub recorder: Recorder,
    pub timers: Timers,
    /// None if nothing is captured.
    pub capture: Option<Box<Capture>>,
    side_table: SideTable,
    /// Queries that several flows answer together.
    queries: Queries,
    /// Connections that may soon be forgotten.
    done: Vec<u32>,
    /// For each process: the direct paths of its connections, if they are the same for all.
    shared_paths: Vec<Option<SharedPaths>>,
    /// True if every packet or every change of a mode is recorded.
    is_watched: bool,
    /// True once the run is cancelled.
    pub cancel: Arc<AtomicBool>,
}

impl AllHosts {
    /// Hosts before the first event.
    pub fn new(
        scenario: Scenario,
        choices: Vec<Option<Box<Choice>>>,
        shortcuts: Shortcuts,
        control: &Control,
        network: &mut Network,
    ) -> Self {
        let interval = scenario.record.interval_ns.map(|interval| Span(interval.get()));
        let mut timers = Timers::new(network, interval);
        let recorder = Recorder::new(&scenario.record, control.limits, scenario.flows.len());
        let captures = scenario.record.capture;
        let capture = captures.then(|| Box::new(Capture::new(scenario.flows.len())));
        let routes = routes_over_links(&scenario);
        let host = |(flow, choice): (&Flow, &Option<Box<Choice>>)| {
            Host::of(flow, choice.as_deref(), &scenario, &routes, network)
        };
        let hosts: Vec<_> = scenario.flows.iter().zip(&choices).map(host).collect();
        let periods = scenario.delay_periods();
        let queries = Queries::new(&scenario.flows, scenario.seed);
        let flows = scenario.flows.into_iter().zip(choices).zip(hosts).enumerate().map(
            |(index, ((spec, choice), host))| {
                timers.set(sender_of(index), spec.start_ns, network);
                let random = Random::new(scenario.seed, FLOW_STREAMS + index as u64);
                FlowState::new(spec, choice, host, shortcuts, random, periods)
            },
        );
        let flows: Vec<_> = flows.collect();
        let (side_table, done) = (SideTable::default(), Vec::new());
        let is_watched = captures || scenario.record.modes;
        let shared_paths = if shortcuts.trains && !is_watched {
            SharedPaths::of_processes(&flows, &timers, network)
        } else {
            vec![None; network.processes().count()]
        };
        let cancel = Arc::clone(&control.cancelled);
        Self {
            flows,
            recorder,
            timers,
            capture,
            side_table,
            queries,
            done,
            shared_paths,
            is_watched,
            cancel,
        }
    }

    /// Return true if the run has to stop: it was cancelled, or a table is full.
    #[inline(always)]
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed) || self.recorder.is_full
    }

    /// Take a packet that reaches a host.
    #[inline]
    pub fn receive(&mut self, arrival: Arrival, network: &mut Network) {
        match arrival.packet.direction() {
            Direction::Forward => self.receive_data_at_once(arrival, network),
            Direction::Reverse => self.receive_ack(arrival, network),
        }
    }

    #[inline(never)]
    fn receive_data_at_once(&mut self, arrival: Arrival, network: &mut Network) {
        self.receive_data(arrival, network);
    }

    /// Let the host at the end of a route act on everything due before `time`.
    #[inline]
    fn get_to(&mut self, route: usize, time: Time, network: &mut Network) {
        let process = self.timers.process_of(route);
        if self.timers.is_behind(process, time) {
            self.catch_up(process, time, network);
        }
    }

    /// Let a process act on everything due before `time`.
    #[cold]
    pub fn catch_up(&mut self, process: ProcessId, time: Time, network: &mut Network) {
        while let Some(task) = self.timers.next_task(process, time)
            && !self.is_cancelled()
        {
            match task {
                Task::Act(route, due) if route == sender_of(route / 2) => {
                    self.sender_acts(route / 2, due, network);
                }
                Task::Act(route, due) => self.receiver_acts(route / 2, due, network),
                Task::Sample(at) => {
                    for &route in self.timers.routes(process) {
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

    /// Take the remaining samples, after the network has stopped at `end`.
    pub fn finish(&mut self, end: Time, network: &mut Network) {
        for process in 0..network.processes().count() {
            // Samples at the very end are part of the run.
            self.catch_up(process, end + Span(1), network);
        }
    }

    /// Follow a packet to its outcome.
    #[inline(always)]
    pub fn follow(&mut self, outcome: Outcome, network: &mut Network) {
        match outcome {
            Outcome::UnderWay => {}
            // In virtual time only receivers take packets at once.
            Outcome::Delivered(arrival) => self.receive_data_at_once(arrival, network),
            outcome => self.follow_further(outcome, network),
        }
    }

    #[inline(never)]
    fn follow_further(&mut self, outcome: Outcome, network: &mut Network) {
        match outcome {
            Outcome::UnderWay => {}
            Outcome::Delivered(arrival) => self.receive(arrival, network),
            Outcome::Lost(arrival, link, cause) => {
                self.on_tx_completion(arrival, link, network);
                self.lose(arrival, cause);
            }
            Outcome::Departs(arrival, link) => self.on_tx_completion(arrival, link, network),
            Outcome::Duplicated(packet) => self.double(packet),
            Outcome::Reaches(arrival, link) => {
                let outcome = network.enter_other(arrival, link);
                self.follow_further(outcome, network);
            }
            Outcome::Several => self.follow_all(network),
        }
    }

    #[cold]
    fn follow_all(&mut self, network: &mut Network) {
        while !self.is_cancelled()
            && let Some(outcome) = network.next_outcome()
        {
            self.follow_further(outcome, network);
        }
    }

    /// Let a sender act on everything due at `now`.
    fn sender_acts(&mut self, index: usize, now: Time, network: &mut Network) {
        let flow = &mut self.flows[index];
        let stops = flow.stop_pending && flow.spec.stop_ns.is_some_and(|stop| stop <= now);
        // First the stop: an application that ends now supplies nothing more at this instant.
        if stops {
            self.stop(now, index);
        }
        let flow = &mut self.flows[index];
        match &mut flow.ends {
            Ends::Tcp(_) => self.connection_acts(now, index, stops, network),
            Ends::Ahead(_) if flow.spec.start_ns <= now => self.open(now, index, network),
            Ends::Udp(_) => self.datagrams_act(now, index, network),
            Ends::Ahead(_) | Ends::Over(_) => {}
        }
        self.timers.set(sender_of(index), self.flows[index].sender_due(), network);
    }

    #[cold]
    fn connection_begins(
        &mut self,
        now: Time,
        index: usize,
        handshake: Handshake,
        network: &mut Network,
    ) {
        let flow = &mut self.flows[index];
        let (Ends::Ahead(ahead), Some(choice)) = (&mut flow.ends, &flow.choice) else { return };
        let connection = Box::new(ahead.begin(now, handshake, &flow.spec, choice));
        self.recorder.event_of(now, EventKind::Start, index as u32, &connection.sender);
        if flow.spec.sampled {
            self.recorder.note_mode(now, index as u32, &connection.sender);
        }
        flow.ends = Ends::Tcp(connection);
        self.transmit(now, index, network);
    }

    /// Let a connection act on everything due; it stops now if `stops`.
    fn connection_acts(&mut self, now: Time, index: usize, stops: bool, network: &mut Network) {
        let flow = &mut self.flows[index];
        let Ends::Tcp(connection) = &mut flow.ends else { return };
        let Connection { sender, app, .. } = &mut **connection;
        let next = sender.next_new_segment();
        assert!(next < Packet::NUMBERS, "a connection of more than 2^40 segments");
        let supplies = app.due() <= now;
        if supplies {
            sender.supply(app.act(now, next));
        }
        let is_due = sender.on_timer(now, &mut self.recorder.observer(now, index as u32, next));
        if !(is_due || supplies || stops) {
            return;
        }
        let probes_window = sender.take_window_probe();
        if flow.spec.sampled {
            self.recorder.note_mode(now, index as u32, sender);
        }
        if probes_window {
            self.probe_window(now, index, network);
        }
        self.transmit_slowly(now, index, network);
    }

    /// Send a packet without payload and with an acknowledged number, to get an acknowledgement.
    #[cold]
    fn probe_window(&mut self, now: Time, index: usize, network: &mut Network) {
        let FlowState { spec, ends: Ends::Tcp(connection), counters, .. } = &mut self.flows[index]
        else {
            return;
        };
        counters.sent_packets += 1;
        counters.sent_short_bytes += u64::from(spec.mss_bytes());
        // The receiver has this segment and must answer at once. tcp_xmit_probe_skb likewise sends
        // the byte before SND.UNA.
        let number = connection.sender.acked_segs().saturating_sub(1);
        let packet = Packet::new(index as u32, Direction::Forward, spec.header_bytes, number)
            .with_note(note_of(now));
        self.send_data(now, packet, network);
    }

    /// Forget the connections that are over and have no packet in flight.
    pub fn forget_what_is_over(&mut self, network: &Network) {
        if self.done.is_empty() {
            return;
        }
        // A duplicate that arrives late needs the connection that it belongs to.
        let under_way: BTreeSet<u32> = network.under_way().map(Packet::flow).collect();
        let flows = &mut self.flows;
        self.done
            .retain(|&index| under_way.contains(&index) || !flows[index as usize].forget_if_over());
    }

    fn datagrams_act(&mut self, now: Time, index: usize, network: &mut Network) {
        let flow = &mut self.flows[index];
        let bytes = flow.spec.packet_bytes;
        let Ends::Udp(datagrams) = &mut flow.ends else { return };
        if datagrams.schedule.act(now) {
            let number = datagrams.number;
            assert!(number < Packet::NUMBERS, "a flow of more than 2^40 datagrams");
            datagrams.number += 1;
            // Before the packet is sent, since the network may lose it at once.
            datagrams.under_way.send(now);
            flow.counters.sent_packets += 1;
            let packet = Packet::new(index as u32, Direction::Forward, bytes, number);
            self.send_data(now, packet, network);
        }
    }

    fn stop(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        flow.stop_pending = false;
        flow.ended.get_or_insert(now);
        match &mut flow.ends {
            Ends::Udp(datagrams) => datagrams.schedule.stop(),
            Ends::Tcp(connection) => {
                connection.app.stop();
                connection.sender.stop();
                let sender = &connection.sender;
                self.recorder.event_of(now, EventKind::Stop, index as u32, sender);
            }
            // The flow stopped before its SYN was answered.
            Ends::Ahead(_) => flow.ends = Ends::Over(Box::default()),
            Ends::Over(_) => unreachable!("a flow stops once"),
        }
    }

    #[cold]
    fn double(&mut self, packet: Packet) {
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.doubles(packet),
        };
        if packet.has(Flags::OPENS) {
            return;
        }
        self.side_table.share(packet);
        if packet.direction() == Direction::Forward {
            let flow = &mut self.flows[packet.flow() as usize];
            flow.counters.duplicated_packets += 1;
            if let Ends::Udp(datagrams) = &mut flow.ends {
                datagrams.under_way.double(packet.number());
            }
        }
    }

    #[cold]
    fn lose(&mut self, Arrival { time, packet }: Arrival, cause: DropCause) {
        let packet = match &mut self.capture {
            None => packet,
            Some(capture) => capture.loses(packet),
        };
        // Handshakes have no segments to count. Their timers detect the loss.
        if packet.has(Flags::OPENS) {
            return;
        }
        if packet.direction() == Direction::Reverse {
            self.side_table.forget(packet);
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
    use dumbbell_algorithm::Algorithms;
    use dumbbell_network::{Drive, NetworkConfig};
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

    /// Bytes that the flow sends in its first millisecond.
    fn sent(transport: &Value, cancelled_by: impl FnOnce(&AtomicBool)) -> u64 {
        let control = Control::default();
        let scenario = scenario(transport);
        let end = Time::ZERO + scenario.duration_ns;
        let (links, paths) = (&scenario.links, scenario.paths());
        let choice = |flow| Choice::of_flow(flow, &Algorithms::default()).unwrap();
        let choices = scenario.flows.iter().map(choice).collect();
        let config =
            NetworkConfig { seed: 1, end, interval: None, drive: Drive::Virtual, shortcuts: true };
        let mut network = Network::new(links, &paths, &[], config);
        let mut hosts =
            AllHosts::new(scenario.clone(), choices, Shortcuts::default(), &control, &mut network);
        cancelled_by(&control.cancelled);
        let process = hosts.timers.process_of(sender_of(0));
        hosts.catch_up(process, Time(1_000_000), &mut network);
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
