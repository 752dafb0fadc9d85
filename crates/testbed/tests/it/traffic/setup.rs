//! Scenarios, and applications that run them over a path.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_network::{Span, Time};
use dumbbell_record::{EventKind, RecordConfig};
use dumbbell_testbed::traffic::{Connection, Plan, Prepared, SocketTuning, Traffic, TrafficOutput};
use dumbbell_testbed::{Clock, Error, Namespace};
use dumbbell_workload::{Scenario, Transport};
use serde_json::{Value, json};

use super::path::Path;

pub const MS: u64 = 1_000_000;
pub const SEED: u64 = 7;

/// Sockets with default settings.
pub const PLAIN: SocketTuning = SocketTuning {
    window_clamp_bytes: None,
    flows: 1,
    pace_all: false,
    paced: false,
    backlog_bytes: 1 << 18,
    write_bytes: 1 << 13,
    lead: Some(Span(200 * MS)),
};

/// A flow over TCP, from a time in milliseconds on.
pub fn tcp(start_ms: u64, stop_ms: Option<u64>, demand: Value) -> Value {
    flow(
        start_ms,
        stop_ms,
        52,
        json!({"tcp": {
            "algorithm": "reno", "preset": null, "parameters": {}, "demand": demand,
            "stack": {"profile": "linux-6", "switches": {}},
        }}),
    )
}

/// A flow of datagrams.
pub fn udp(rate_bps: u64, on_off: Value) -> Value {
    flow(0, None, 28, json!({"udp": {"rate_bps": rate_bps, "on_off": on_off}}))
}

pub fn on_off(on_ms: u64, off_ms: u64, random: bool) -> Value {
    json!({"on_ns": on_ms * MS, "off_ns": off_ms * MS, "random": random})
}

fn flow(start_ms: u64, stop_ms: Option<u64>, header_bytes: u16, transport: Value) -> Value {
    let route = |link: usize| json!({"hops": [{"link": link, "delay_ns": 0}], "delay_ns": 0});
    json!({
        "label": "a", "start_ns": start_ms * MS, "stop_ns": stop_ms.map(|ms| ms * MS),
        "packet_bytes": 1_500, "header_bytes": header_bytes,
        "forward": route(0), "reverse": route(1), "sampled": true, "transport": transport,
    })
}

/// A scenario of some flows over a link of 100 Mbit/s, which only the simulator uses.
pub fn scenario(duration_ms: u64, interval_ms: u64, flows: &[Value]) -> Scenario {
    let queue = json!({"limit": {"packets": 1_000}, "discipline": {"kind": "fifo"}});
    let link = |name: &str| {
        json!({
            "name": name, "rate": {"constant": 100_000_000}, "delay": [[0, MS]],
            "overhead_bytes": 0, "queue": queue, "policer": null, "loss": [], "duplicate": 0.0,
            "reorder": null, "jitter_ns": 0, "batch_ns": 0, "sampled": true,
        })
    };
    let scenario = json!({
        "seed": SEED, "duration_ns": duration_ms * MS,
        "links": [link("forward"), link("reverse")], "flows": flows,
        "record": {
            "interval_ns": interval_ms * MS, "events": ["start", "stop", "done"],
            "algorithm_state": false, "capture": false,
        },
    });
    Scenario::from_json(&scenario.to_string()).unwrap()
}

/// The applications of a scenario, started.
pub fn start(path: &Path, scenario: &Scenario) -> Result<Traffic, Error> {
    start_with(path.hosts(), scenario, PLAIN, &Arc::default())
}

/// The applications of a scenario, with other sockets and another switch.
pub fn start_with(
    hosts: [&Namespace; 2],
    scenario: &Scenario,
    tuning: SocketTuning,
    cancel: &Arc<AtomicBool>,
) -> Result<Traffic, Error> {
    let plan = Plan { cancel: Arc::clone(cancel), ..plan_of(scenario) };
    start_as_planned(hosts, scenario, tuning, plan)
}

/// The plan of a run with default settings.
pub fn plan_of(scenario: &Scenario) -> Plan<'_> {
    Plan {
        record: &scenario.record,
        seed: scenario.seed,
        end: Time::ZERO + scenario.duration_ns,
        cancel: Arc::default(),
        look: Box::new(|_, _| None),
        processors: None,
    }
}

/// The applications of a scenario, with another plan.
pub fn start_as_planned(
    [sender, receiver]: [&Namespace; 2],
    scenario: &Scenario,
    tuning: SocketTuning,
    plan: Plan<'_>,
) -> Result<Traffic, Error> {
    let connections: Vec<_> = scenario
        .flows
        .iter()
        .enumerate()
        .map(|(flow, spec)| Connection {
            flow,
            spec,
            sender,
            receiver,
            at_both_ends: false,
            congestion: match &spec.transport {
                Transport::Tcp(tcp) => Some(tcp.algorithm.clone()),
                Transport::Udp(_) => None,
            },
            tuning,
        })
        .collect();
    Prepared::new(&connections, plan)?.start(Clock::starting_in(tuning.lead.unwrap_or(Span::ZERO)))
}

/// Output of a scenario's applications.
pub fn run(path: &Path, scenario: &Scenario) -> TrafficOutput {
    let output = start(path, scenario).unwrap().finish().unwrap();
    assert_eq!(output.late_connections, [] as [usize; 0]);
    check_samples(&output, scenario);
    output
}

/// Check that samples are at exact multiples, none is missing, and counters never fall.
fn check_samples(output: &TrafficOutput, scenario: &Scenario) {
    let RecordConfig { interval_ns, .. } = scenario.record;
    let interval = interval_ns.unwrap().get();
    let mut rows: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    output.flows.iter().for_each(|row| rows.entry(row.flow).or_default().push(row));
    for (flow, rows) in rows {
        let spec = &scenario.flows[flow as usize];
        let first = spec.start_ns.0.max(1).div_ceil(interval);
        let expected = first..=scenario.duration_ns.0 / interval;
        assert!(rows.iter().map(|row| row.time_ns).eq(expected.map(|number| number * interval)));
        assert!(rows.is_sorted_by_key(|row| (row.sent_bytes, row.acked_bytes)));
    }
}

/// Times of the events of a kind.
pub fn times(output: &TrafficOutput, kind: EventKind) -> Vec<u64> {
    let events = output.events.iter().filter(|event| event.kind == kind as u8);
    events.map(|event| event.time_ns).collect()
}
