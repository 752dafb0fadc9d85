//! Virtual time: the next event happens at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dumbbell_network::{
    Direction, Drive, Event, Flags, LinkId, Network, NetworkConfig, Outcome, ProcessId, Span, Time,
};
use dumbbell_record::{FlowSummary, Output, QueueSummary, Summary};
use dumbbell_workload::{Outline, Scenario, Transport, summarise_delays, summarise_queue};

use crate::choice::Choice;
use crate::flow::{FlowState, sender_of};
use crate::hosts::AllHosts;
use crate::recorder::Tables;
use crate::shortcuts::Shortcuts;
use crate::traffic::traffic_of_links;
use crate::{Control, Error};

/// Events between two checks for cancellation.
const EVENTS_AT_ONCE: u32 = 1 << 8;
/// Batches of events between two searches for connections to forget.
const FORGET_EVERY: u32 = 1 << 8;

/// Point where a simulation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// At the alarm. It can continue.
    Alarm,
    End,
}

/// A running simulation.
#[derive(Debug)]
pub struct Engine {
    network: Network,
    pub hosts: AllHosts,
    end: Time,
    interval: Option<Span>,
    outline: Outline,
    /// Links with samples, and their names.
    sampled: Vec<(LinkId, String)>,
    /// Simulated time that it has reached, in ns, for other threads.
    reached_ns: Arc<AtomicU64>,
    /// The process whose timer is the alarm, or no process without an alarm.
    alarm: ProcessId,
    /// Batches of events so far.
    batches: u32,
}

impl Engine {
    /// A simulation before its first event, of a scenario that has been checked. With an alarm,
    /// [`Self::run`] can stop at it.
    ///
    /// # Errors
    /// If it was cancelled.
    pub fn new(
        scenario: Scenario,
        choices: Vec<Option<Box<Choice>>>,
        shortcuts: Shortcuts,
        control: &Control,
        has_alarm: bool,
    ) -> Result<Self, Error> {
        let end = Time::ZERO + scenario.duration_ns;
        let interval = scenario.record.interval_ns.map(|interval| Span(interval.get()));
        let sampled = scenario.links.iter().enumerate().filter(|(_, link)| link.sampled);
        let sampled: Vec<_> = sampled.map(|(id, link)| (id, link.name.clone())).collect();
        let outline = Outline::of(&scenario);
        let (paths, seed) = (scenario.paths(), scenario.seed);
        control.check_cancelled()?;
        let drive = Drive::Virtual;
        let config = NetworkConfig { seed, end, interval, drive, shortcuts: shortcuts.link };
        let traffic = traffic_of_links(&scenario, &choices);
        let mut network = Network::new(&scenario.links, &paths, &traffic, config);
        let alarm = if has_alarm { network.add_alarm() } else { ProcessId::MAX };
        if let Some(delays) = scenario.queue_delays() {
            sampled.iter().for_each(|(link, _)| network.keep_delays(*link, delays.clone()));
        }
        control.check_cancelled()?;
        let hosts = AllHosts::new(scenario, choices, shortcuts, control, &mut network);
        let (reached_ns, batches) = (Arc::clone(&control.reached_ns), 0);
        Ok(Self { network, hosts, end, interval, outline, sampled, reached_ns, alarm, batches })
    }

    /// Run up to and including the alarm or the end, whichever comes first.
    ///
    /// # Errors
    /// If it was cancelled, or a table is full.
    pub fn run(&mut self) -> Result<Reached, Error> {
        let mut reached = None;
        while !self.hosts.is_cancelled() && reached.is_none() {
            reached = self.take_batch();
            self.batches = self.batches.wrapping_add(1);
            if self.batches % FORGET_EVERY == 0 {
                self.hosts.forget_what_is_over(&self.network);
            }
        }
        // A full table stops the run like a cancellation, but has a different error.
        self.hosts.recorder.check()?;
        reached.filter(|_| !self.hosts.is_cancelled()).ok_or(Error::Cancelled)
    }

    /// Process the next events; return the reason to stop, if there is one.
    fn take_batch(&mut self) -> Option<Reached> {
        let (network, hosts) = (&mut self.network, &mut self.hosts);
        let has_trains = hosts.has_trains();
        for _ in 0..EVENTS_AT_ONCE {
            if has_trains && hosts.take_train(network) {
                continue;
            }
            match network.next_event() {
                Event::Arrival(arrival) => hosts.receive(arrival, network),
                Event::Outcome(Outcome::Delivered(arrival)) => hosts.receive_data(arrival, network),
                Event::Outcome(outcome) => hosts.follow(outcome, network),
                Event::Service(link, time) => match network.serve(time, link) {
                    Outcome::Departs(arrival, link) => {
                        hosts.on_tx_completion(arrival, link, network)
                    }
                    outcome => hosts.follow(outcome, network),
                },
                Event::Timer(process, time) => {
                    self.reached_ns.store(time.0, Ordering::Relaxed);
                    if process == self.alarm {
                        network.set_timer(process, Time::NEVER);
                        return Some(Reached::Alarm);
                    }
                    // A process acts before a time, so add 1 ns to include `time`.
                    hosts.catch_up(process, time + Span(1), network);
                }
                Event::End => {
                    hosts.finish(self.end, network);
                    return Some(Reached::End);
                }
            }
        }
        None
    }

    /// Time just after the event that begins a flow.
    pub fn begins(&self, flow: usize) -> Time {
        let start = self.hosts.flows[flow].spec.start_ns;
        self.network.alarm_at(self.hosts.timers.process_of(sender_of(flow)), start)
    }

    /// Let [`Self::run`] stop at this time. It stops at the end in any case.
    pub fn set_alarm(&mut self, at: Time) {
        self.network.set_timer(self.alarm, if at < self.end { at } else { Time::NEVER });
    }

    /// Set window and rate of a flow at the alarm of that time.
    pub fn steer(&mut self, flow: usize, alarm: Time, setting: (u32, u64)) {
        self.hosts.steer(flow, alarm, setting, &mut self.network);
    }

    /// Its end.
    pub const fn end(&self) -> Time {
        self.end
    }

    /// Return everything recorded.
    pub fn finish(mut self) -> Output {
        let end = self.end;
        let mut in_flight = vec![0; self.hosts.flows.len()];
        for packet in self.network.under_way() {
            // The summary balances data packets only, not acknowledgements and handshakes.
            if packet.direction() == Direction::Forward && !packet.has(Flags::OPENS) {
                in_flight[packet.flow() as usize] += 1;
            }
        }
        let flows = (0..).zip(&self.hosts.flows).zip(in_flight);
        let flows: Vec<_> =
            flows.map(|((index, flow), packets)| summarise(index, flow, packets, end)).collect();
        let packets = flows.iter().map(|flow| flow.received_packets).sum();
        let queues = self.finish_queues();
        let doubts = self.outline.doubts(&flows, &mut self.network);
        let summary = Summary { duration_ns: end.0, queues, flows, packets, doubts, testbed: None };
        let captures = self.hosts.capture.map(|capture| capture.finish(&self.hosts.flows));
        let tables = self.hosts.recorder.finish(self.interval, self.hosts.flows);
        let Tables { flows, datagrams, delays, internals, modes, queues, events, requests } =
            tables;
        Output {
            summary,
            flows,
            datagrams,
            delays,
            internals,
            modes,
            queues,
            events,
            requests,
            captures,
        }
    }

    fn finish_queues(&mut self) -> Vec<QueueSummary> {
        let sampled = std::mem::take(&mut self.sampled);
        let queues = (0..).zip(sampled).map(|(queue, (link, name))| {
            let (counters, samples) = self.network.counters(link);
            if let Some(interval) = self.interval {
                self.hosts.recorder.sample_queue(queue, interval, &samples);
            }
            if let Some(delays) = self.network.take_delays(link) {
                self.hosts.recorder.count_queue(queue, delays);
            }
            summarise_queue(name, &counters, self.end)
        });
        queues.collect()
    }
}

/// Marks that acknowledgements have reported to the sender; none: they do not count marks.
fn counted_marks(flow: &FlowState) -> Option<u64> {
    let counts = flow.choice.as_ref().is_some_and(|choice| choice.stack.accecn);
    flow.totals().filter(|_| counts).map(|totals| totals.reported_marks)
}

fn summarise(index: u32, flow: &FlowState, in_flight_packets: u64, end: Time) -> FlowSummary {
    let totals = flow.totals();
    let counters = totals.map(|totals| totals.counters).unwrap_or_default();
    let rtt = totals.and_then(|totals| totals.rtt);
    let tcp = match &flow.spec.transport {
        Transport::Tcp(tcp) => Some(tcp),
        Transport::Udp(_) => None,
    };
    FlowSummary {
        flow: index,
        label: flow.spec.label.clone(),
        algorithm: tcp.map(|tcp| tcp.algorithm.clone()),
        preset: tcp.and_then(|tcp| tcp.preset.clone()),
        start_ns: flow.spec.start_ns.0,
        end_ns: flow.ended.unwrap_or(end).0,
        sent_segs: flow.counters.sent_packets,
        sent_bytes: flow.sent_bytes(),
        retransmitted_segs: counters.retransmitted_segs,
        acked_bytes: totals.map_or(0, |totals| totals.acked_bytes),
        received_bytes: flow.received_bytes(),
        received_packets: flow.counters.received_packets,
        dropped_packets: flow.counters.dropped_packets,
        lost_packets: flow.counters.lost_packets,
        duplicated_packets: flow.counters.duplicated_packets,
        marked_packets: flow.counters.marked_packets,
        counted_marks: counted_marks(flow),
        in_flight_packets,
        congestion_events: counters.congestion_events,
        timeouts: counters.timeouts,
        spurious_recoveries: counters.spurious_recoveries,
        tail_probes: totals.map(|totals| totals.counters.tail_probes),
        local_drops: totals.map(|totals| totals.counters.local_drops),
        rtt_min_us: rtt.map(|rtt| rtt.min_us),
        rtt_mean_us: rtt.map(|rtt| rtt.sum_us / rtt.samples),
        rtt_max_us: rtt.map(|rtt| rtt.max_us),
        delay: flow
            .datagrams()
            .and_then(|datagrams| summarise_delays(datagrams.one_way.counters())),
    }
}
