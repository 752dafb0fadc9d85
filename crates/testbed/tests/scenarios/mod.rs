//! Scenarios of tests.
#![allow(dead_code, reason = "each test uses some of it")]

use dumbbell_record::EventKind;
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

/// A dumbbell of `rate_bps` and 10 ms in each direction for `flows`, which runs for `ms`.
pub fn dumbbell(rate_bps: u64, ms: u64, flows: &[Value]) -> Value {
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

/// A flow whose packets have headers of `header_bytes`.
pub fn flow(transport: Value, header_bytes: u16) -> Value {
    let route = |link: usize| json!({"hops": [{"link": link, "delay_ns": 0}], "delay_ns": 0});
    json!({
        "label": "a", "start_ns": 0, "stop_ns": null, "packet_bytes": 1500,
        "header_bytes": header_bytes, "forward": route(0), "reverse": route(1), "sampled": true,
        "transport": transport,
    })
}

/// A connection on today's Linux.
pub fn tcp(algorithm: &str, demand: Value) -> Value {
    let transport = json!({"tcp": {
        "algorithm": algorithm, "preset": null, "parameters": {}, "tcp_bpf": null,
        "stack": {"profile": "linux-6", "switches": {}}, "demand": demand,
    }});
    flow(transport, 52)
}

/// Random losses on the data's path.
pub fn with_loss(mut scenario: Value, probability: f64) -> Value {
    scenario["links"][0]["loss"] =
        json!([{"kind": "bernoulli", "probability": [[0, probability]]}]);
    scenario
}

/// The scenario in the engines' form.
pub fn parsed(scenario: &Value) -> Scenario {
    Scenario::from_json(&scenario.to_string()).unwrap()
}
