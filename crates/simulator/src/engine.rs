//! Virtual time: the network runs from sample to sample.

use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_network::{Direction, LinkId, Network, Span, Time};
use dumbbell_record::{FlowSummary, QueueSummary, Summary};
use dumbbell_workload::{Scenario, Transport};

use crate::flow::FlowState;
use crate::hosts::AllHosts;
use crate::recorder::Recorder;
use crate::{Cancelled, Output};

/// Most time between two looks at the cancellation flag; hosts run ahead of each other
/// by no more, which bounds what is under way.
const STRIDE: Span = Span::from_millis(100);

/// A simulation under way.
pub struct Engine {
    network: Network,
    hosts: AllHosts,
    sample_interval: Option<Span>,
    /// Links whose counters are wanted, and their names.
    sampled: Vec<(LinkId, String)>,
}

impl Engine {
    /// Everything idle; the scenario has been checked.
    pub fn new(scenario: Scenario) -> Self {
        let sampled = scenario.links.iter().enumerate().filter(|(_, link)| link.sampled);
        Self {
            network: Network::new(&scenario.links, &scenario.paths(), scenario.seed),
            sample_interval: scenario.record.interval_ns.map(|interval| Span(interval.get())),
            sampled: sampled.map(|(id, link)| (id, link.name.clone())).collect(),
            hosts: AllHosts::new(scenario),
        }
    }

    /// Runs until `end`, that moment included.
    pub fn run(&mut self, end: Time, cancel: &AtomicBool) -> Result<(), Cancelled> {
        let interval = |now: Time| self.sample_interval.map_or(Time::NEVER, |span| now + span);
        let mut sample = interval(Time::ZERO);
        let mut now = Time::ZERO;
        while now < end {
            if cancel.load(Ordering::Relaxed) {
                return Err(Cancelled);
            }
            now = (now + STRIDE).min(sample).min(end);
            self.network.run_until(now + Span(1), &mut self.hosts);
            if now == sample {
                self.hosts.sample(now, &mut self.network, &self.sampled);
                sample = interval(now);
            }
        }
        Ok(())
    }

    /// Everything recorded, as of `end`.
    pub fn finish(mut self, end: Time) -> Output {
        let mut in_flight = vec![0; self.hosts.flows.len()];
        for packet in self.network.under_way() {
            if packet.direction() == Direction::Forward {
                in_flight[packet.flow() as usize] += 1;
            }
        }
        let flows = (0..).zip(&self.hosts.flows).zip(in_flight);
        let flows: Vec<_> =
            flows.map(|((index, flow), packets)| summarise(index, flow, packets, end)).collect();
        let packets = flows.iter().map(|flow| flow.received_packets).sum();
        let queues = std::mem::take(&mut self.sampled);
        let queues = queues.into_iter().map(|(link, name)| self.summarise_queue(name, link, end));
        let summary = Summary { duration_ns: end.0, queues: queues.collect(), flows, packets };
        let Recorder { flows, internals, queues, requests, events, .. } = self.hosts.recorder;
        Output { summary, flows, internals, queues, requests, events: events.in_order() }
    }

    fn summarise_queue(&mut self, name: String, link: LinkId, end: Time) -> QueueSummary {
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
    let sender = flow.sender().map(|(_, sender)| sender);
    let counters = sender.map(|sender| *sender.counters()).unwrap_or_default();
    let rtt = sender.and_then(|sender| sender.rtt().summary());
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
        sent_bytes: flow.counters.sent_bytes,
        retransmitted_segs: counters.retransmitted_segs,
        acked_bytes: flow.acked_bytes(),
        received_bytes: flow.counters.received_bytes,
        received_packets: flow.counters.received_packets,
        dropped_packets: flow.counters.dropped_packets,
        lost_packets: flow.counters.lost_packets,
        in_flight_packets,
        congestion_events: counters.congestion_events,
        timeouts: counters.timeouts,
        rtt_min_us: rtt.map(|rtt| rtt.min_us),
        rtt_mean_us: rtt.map(|rtt| rtt.sum_us / rtt.samples),
        rtt_max_us: rtt.map(|rtt| rtt.max_us),
    }
}
