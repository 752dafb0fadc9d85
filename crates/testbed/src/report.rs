//! The result of a run: everything that emulator, applications and kernel saw, as one output.

use std::fs;

use dumbbell_network::{QueueDelays, Span, Time};
use dumbbell_record::{
    DatagramSamples, DelayBuckets, Event, EventKind, Events, FlowSamples, FlowSummary, Internals,
    Invalid, ModeChanges, Output, QueueSamples, QueueSummary, Request, Requests, RowLimits, Rows,
    Summary, TestbedSummary,
};
use dumbbell_tcp::Stack;
use dumbbell_workload::{
    Demand, Outline, Tcp, Transport, one_way_buckets, queue_buckets, queue_samples,
    summarise_delays, summarise_queue,
};

use crate::emulator::{Emulated, Wire};
use crate::error::Error;
use crate::guards::Limits;
use crate::ports::flow_of_port;
use crate::setup::Setup;
use crate::traffic::{FlowEnd, TrafficOutput};
use crate::watch::{KernelEvent, KernelEventKind};

/// All measurements of a run.
pub struct Measured {
    /// Measurements of the emulator.
    pub emulated: Emulated,
    /// Measurements of the applications.
    pub traffic: TrafficOutput,
    /// Events from the kernel, each with its time in the run.
    pub events: Vec<(Time, KernelEvent)>,
    /// Share of the machine's time that its host gave to others, in 1/1000.
    pub stolen_permille: u32,
}

/// Combine all measurements.
///
/// # Errors
/// If a host does not report its drops, or a table is full.
pub fn report(setup: &Setup<'_>, measured: Measured) -> Result<Output, Error> {
    let scenario = setup.scenario;
    let end = Time::ZERO + scenario.duration_ns;
    let mut testbed = testbed(setup, &measured)?;
    testbed.invalid = reasons(setup, &measured, &testbed);
    let events = events(setup, &measured)?;
    let Measured { mut emulated, mut traffic, .. } = measured;
    let flows = (0..).zip(&emulated.flows).zip(&traffic.ends);
    let flows: Vec<_> =
        flows.map(|((index, wire), sockets)| summarise(setup, index, wire, sockets)).collect();
    let (queue_summaries, queues) = queues(setup, &emulated, end);
    let doubts = Outline::of(scenario).doubts(&flows, &mut emulated.network);
    let summary = Summary {
        duration_ns: end.0,
        doubts,
        packets: flows.iter().map(|flow| flow.received_packets).sum(),
        flows,
        queues: queue_summaries,
        testbed: Some(testbed),
    };
    let (mut samples, mut internals) = (FlowSamples::default(), Internals::default());
    traffic.flows.into_iter().for_each(|row| samples.push(row));
    traffic.internals.into_iter().for_each(|row| internals.push(row));
    let mut modes = ModeChanges::default();
    traffic.modes.into_iter().for_each(|row| modes.push(row));
    let mut requests = Requests::default();
    traffic.requests.sort_by_key(Request::order);
    traffic.requests.into_iter().for_each(|row| requests.push(row));
    let mut datagrams = DatagramSamples::default();
    emulated.datagrams.into_iter().for_each(|row| datagrams.push(row));
    let delays = delays(emulated.flows, emulated.delays);
    Ok(Output {
        summary,
        flows: samples,
        datagrams,
        delays,
        internals,
        modes,
        queues,
        events,
        requests,
        captures: None,
    })
}

fn delays(flows: Vec<Wire>, queues: Vec<QueueDelays>) -> DelayBuckets {
    let of_queues = (0..).zip(queues).flat_map(|(queue, delays)| queue_buckets(queue, delays));
    let of_flows = (0..).zip(flows).filter_map(|(flow, wire)| Some((flow, wire.one_way?)));
    let of_flows = of_flows.flat_map(|(flow, one_way)| one_way_buckets(flow, one_way));
    let mut rows: Vec<_> = of_queues.chain(of_flows).collect();
    rows.sort_by_key(|row| (row.time_ns, row.queue, row.flow));
    let mut table = DelayBuckets::default();
    rows.into_iter().for_each(|row| table.push(row));
    table
}

fn testbed(setup: &Setup<'_>, measured: &Measured) -> Result<TestbedSummary, Error> {
    let Measured { emulated, traffic, .. } = measured;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut local_drops = emulated.refused;
    for host in setup.pairs.iter().flat_map(|pair| [&pair.sender, &pair.receiver]) {
        let drops = host.drops()?;
        local_drops += drops.sent + drops.delivered;
    }
    let lateness = &emulated.lateness;
    Ok(TestbedSummary {
        kernel: kernel.trim().to_owned(),
        invalid: Vec::new(),
        not_offered: setup.not_offered(),
        held_permille: (1_000 * emulated.stalled_ns / setup.scenario.duration_ns.0) as u32,
        held_max_ns: emulated.stalled_max_ns,
        delivered_packets: lateness.len(),
        lateness_mean_ns: lateness.mean() as u64,
        lateness_p99_ns: lateness.value_at_quantile(0.99),
        lateness_max_ns: lateness.max(),
        waiting_p99_ns: emulated.waiting.value_at_quantile(0.99),
        emulator_busy_permille: emulated.busy_permille,
        traffic_busy_permille: traffic.busy_permille,
        traffic_held_permille: (1_000 * traffic.stalled_ns / setup.scenario.duration_ns.0) as u32,
        traffic_held_max_ns: traffic.stalled_max_ns,
        starved_permille: limited_permille(setup, traffic, is_endless, |end| end.limits.buffer_us),
        window_limited_permille: limited_permille(
            setup,
            traffic,
            |tcp, stack| is_endless(tcp, stack) && has_open_window(tcp, stack),
            |end| end.limits.window_us,
        ),
        stolen_permille: measured.stolen_permille,
        local_drops,
        datagrams_sent_permille: traffic
            .datagrams
            .map(|count| (1_000 * count.sent / count.due.max(1)) as u32),
    })
}

/// Share of the time in which certain connections were limited by something other than the network.
fn limited_permille(
    setup: &Setup<'_>,
    traffic: &TrafficOutput,
    counts: impl Fn(&Tcp, &Stack) -> bool,
    limited_us: impl Fn(&FlowEnd) -> u64,
) -> u32 {
    let (mut limited, mut busy) = (0, 0);
    for (flow, end) in traffic.ends.iter().enumerate() {
        let Transport::Tcp(tcp) = &setup.scenario.flows[flow].transport else { continue };
        if counts(tcp, setup.stack(flow)) {
            limited += limited_us(end);
            busy += end.limits.busy_us;
        }
    }
    (1_000 * limited / busy.max(1)) as u32
}

/// True if the application always has data, and its send buffer has no small limit.
fn is_endless(tcp: &Tcp, _: &Stack) -> bool {
    let small = tcp.tcp_bpf.is_some_and(|settings| settings.send_buffer_bytes.is_some());
    matches!(tcp.demand, Demand::Endless) && !small
}

/// True if the receiver has no small window, and its application does not lag.
fn has_open_window(tcp: &Tcp, stack: &Stack) -> bool {
    let small = tcp.tcp_bpf.is_some_and(|settings| settings.receive_buffer_bytes.is_some());
    stack.receive_window_bytes.is_none() && tcp.reading.is_none() && !small
}

/// Reasons why the run is invalid.
fn reasons(setup: &Setup<'_>, measured: &Measured, testbed: &TestbedSummary) -> Vec<String> {
    let mut reasons = Limits::for_paths(setup.shortest_rtt().0).reasons(testbed);
    let label = |flow: &usize| setup.scenario.flows[*flow].label.as_str();
    let late: Vec<_> = measured.traffic.late_connections.iter().map(label).collect();
    if !late.is_empty() {
        reasons.push(format!("not connected when they were to start: {}", late.join(", ")));
    }
    reasons
}

fn summarise(setup: &Setup<'_>, index: u32, wire: &Wire, sockets: &FlowEnd) -> FlowSummary {
    let one_way = wire.one_way.as_ref();
    let wire = &wire.counters;
    let spec = &setup.scenario.flows[index as usize];
    let tcp = match &spec.transport {
        Transport::Tcp(tcp) => Some(tcp),
        Transport::Udp(_) => None,
    };
    let seen = sockets.seen.unwrap_or_default();
    FlowSummary {
        flow: index,
        label: spec.label.clone(),
        algorithm: tcp.map(|tcp| tcp.algorithm.clone()),
        preset: tcp.and_then(|tcp| tcp.preset.clone()),
        start_ns: spec.start_ns.0,
        end_ns: sockets.end_ns.unwrap_or(setup.scenario.duration_ns.0),
        sent_segs: wire.sent_packets,
        sent_bytes: wire.sent_bytes,
        retransmitted_segs: wire.retransmitted_packets,
        acked_bytes: sockets.acked_bytes,
        received_bytes: sockets.received_bytes,
        received_packets: wire.received_packets,
        dropped_packets: wire.dropped_packets,
        lost_packets: wire.lost_packets,
        duplicated_packets: wire.duplicated_packets,
        marked_packets: wire.marked_packets,
        counted_marks: setup.stack(index as usize).accecn.then_some(sockets.reported_marks),
        in_flight_packets: wire.in_flight_packets,
        congestion_events: seen.congestion_events,
        timeouts: seen.timeouts,
        spurious_recoveries: seen.spurious,
        tail_probes: None,
        local_drops: None,
        rtt_min_us: seen.rtt.map(|rtt| rtt.min_us),
        rtt_mean_us: seen.rtt.map(|rtt| rtt.mean_us),
        rtt_max_us: seen.rtt.map(|rtt| rtt.max_us),
        delay: one_way.and_then(|one_way| summarise_delays(one_way.counters())),
    }
}

fn queues(setup: &Setup<'_>, emulated: &Emulated, end: Time) -> (Vec<QueueSummary>, QueueSamples) {
    let names = setup.scenario.links.iter().filter(|link| link.sampled).map(|link| &link.name);
    let summaries = names
        .zip(&emulated.links)
        .map(|(name, (counters, _))| summarise_queue(name.clone(), counters, end))
        .collect();
    let mut table = QueueSamples::default();
    if let Some(interval) = setup.scenario.record.interval_ns {
        let rows = (0..)
            .zip(&emulated.links)
            .flat_map(|(queue, (_, samples))| queue_samples(queue, Span(interval.get()), samples));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by_key(|row| (row.time_ns, row.queue));
        rows.into_iter().for_each(|row| table.push(row));
    }
    (summaries, table)
}

/// Events of the flows, in order of time.
fn events(setup: &Setup<'_>, measured: &Measured) -> Result<Events, Invalid> {
    let kinds = &setup.scenario.record.events;
    let windows = measured.events.iter().filter_map(|(time, event)| window_event(*time, event));
    let windows = windows.filter(|(kind, _)| kinds.contains(kind)).map(|(_, event)| event);
    measured.emulated.events.check()?;
    let others = measured.emulated.events.as_slice().iter().chain(&measured.traffic.events);
    let all = others.copied().chain(windows);
    let mut rows = Rows::new(RowLimits::default().events);
    for event in all.filter(|event| event.time_ns <= setup.scenario.duration_ns.0) {
        rows.push(event);
    }
    rows.check()?;
    let mut rows = rows.into_vec();
    rows.sort_by_key(Event::order);
    let mut table = Events::default();
    rows.into_iter().for_each(|row| table.push(row));
    Ok(table)
}

fn window_event(time: Time, event: &KernelEvent) -> Option<(EventKind, Event)> {
    let kind = match event.kind {
        KernelEventKind::Congestion => EventKind::Congestion,
        KernelEventKind::Timeout => EventKind::Timeout,
        KernelEventKind::Recovered => EventKind::Recovered,
        KernelEventKind::Undone => EventKind::Undone,
    };
    let row = Event {
        time_ns: time.0,
        kind: kind as u8,
        flow: u32::try_from(flow_of_port(event.port)?).ok()?,
        segment: 0,
        cwnd_segs: event.cwnd_segs,
        ssthresh_segs: event.ssthresh_segs,
    };
    Some((kind, row))
}
