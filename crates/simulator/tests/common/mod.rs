//! Scenarios for tests, in the form that the front end writes.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::atomic::AtomicBool;

use dumbbell_simulator::Output;
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

pub const SECOND: u64 = 1_000_000_000;
pub const MILLISECOND: u64 = 1_000_000;

pub fn flow(algorithm: &str, preset: Option<&str>, rtt_ns: u64) -> Value {
    json!({
        "label": algorithm, "algorithm": algorithm, "preset": preset, "parameters": {},
        "rtt_ns": rtt_ns, "start_ns": 0, "stop_ns": null, "bytes": null,
        "packet_bytes": 1500, "header_bytes": 52,
    })
}

pub fn scenario(rate_bps: u64, queue_packets: u32, seconds: u64, flows: Vec<Value>) -> Value {
    json!({
        "seed": 1, "duration_ns": seconds * SECOND,
        "stack": {"profile": "linux-6", "switches": {}},
        "network": {
            "rate_bps": rate_bps, "delay_ns": 0, "queue": {"packets": queue_packets},
            "overhead_bytes": 0, "edge_rate_bps": null, "edge_jitter_ns": 0,
            "reverse": {"rate_bps": rate_bps, "queue": {"packets": 10_000}}, "loss": [],
        },
        "flows": flows,
        "record": {"interval_ns": null, "events": [], "algorithm_state": false},
    })
}

pub fn with(mut scenario: Value, pointer: &str, value: Value) -> Value {
    *scenario.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    scenario
}

pub fn run(scenario: &Value) -> Output {
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a valid scenario");
    dumbbell_simulator::run(scenario, &AtomicBool::new(false)).expect("a complete run")
}

/// Packets of 1500 bytes that fit on the path.
pub fn bdp_packets(rate_bps: u64, rtt_ns: u64) -> f64 {
    rate_bps as f64 * rtt_ns as f64 / 1e9 / 8.0 / 1500.0
}
