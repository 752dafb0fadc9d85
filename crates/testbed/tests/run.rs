//! Whole runs on the real kernel.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_record::{EventKind, Output};
use dumbbell_testbed::{Error, Options, run};
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

/// A dumbbell of `rate_bps` and 10 ms each way for `flows`, which last `ms`.
fn dumbbell(rate_bps: u64, ms: u64, flows: &[Value]) -> Value {
    let queue = json!({"limit": {"packets": 100}, "discipline": {"kind": "fifo"}});
    let link = |name: &str| {
        json!({
            "name": name, "rate": {"constant": rate_bps}, "delay": [[0, 10_000_000]],
            "overhead_bytes": 0, "queue": queue, "policer": null, "loss": [], "duplicate": 0.0,
            "reorder": null, "jitter_ns": 0, "batch_ns": 0, "sampled": true,
        })
    };
    json!({
        "seed": 1, "duration_ns": ms * 1_000_000,
        "links": [link("forward"), link("reverse")], "flows": flows,
        "record": {
            "interval_ns": 100_000_000, "events": EventKind::ALL.map(|kind| json!(kind)),
            "algorithm_state": true, "capture": false,
        },
    })
}

fn flow(transport: Value, header_bytes: u16) -> Value {
    let route = |link: usize| json!({"hops": [{"link": link, "delay_ns": 0}], "delay_ns": 0});
    json!({
        "label": "a", "start_ns": 0, "stop_ns": null, "packet_bytes": 1500,
        "header_bytes": header_bytes, "forward": route(0), "reverse": route(1), "sampled": true,
        "transport": transport,
    })
}

fn tcp(algorithm: &str, demand: Value) -> Value {
    let transport = json!({"tcp": {
        "algorithm": algorithm, "preset": null, "parameters": {}, "tcp_bpf": null,
        "stack": {"profile": "linux-6", "switches": {}}, "demand": demand,
    }});
    flow(transport, 52)
}

fn carried_out(scenario: &Value) -> Result<Output, Error> {
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    run(&scenario, Options::default(), &Arc::new(AtomicBool::new(false)))
}

#[test]
fn every_algorithm_fills_a_link_and_is_sampled() {
    for algorithm in dumbbell_algorithm::registry() {
        let output =
            carried_out(&dumbbell(50_000_000, 2_000, &[tcp(algorithm.name, json!("endless"))]));
        let output = output.unwrap_or_else(|error| panic!("{}: {error}", algorithm.name));
        let flow = &output.summary.flows[0];
        println!("{}: {:?} {:?}", algorithm.name, flow, output.summary.testbed);
        let goodput = flow.received_bytes as f64 * 8.0 / 2.0;
        assert!((0.7 * 48e6..=48.3e6).contains(&goodput), "{}: {goodput}", algorithm.name);
        assert_eq!(output.flows.time_ns.len(), 20);
        assert_eq!(output.internals.time_ns.len(), 20);
        assert_eq!(
            flow.sent_segs,
            flow.received_packets
                + flow.dropped_packets
                + flow.lost_packets
                + flow.in_flight_packets
        );
    }
}
