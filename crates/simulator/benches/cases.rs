//! What benchmarks run: one dumbbell, described by a few numbers.

use std::sync::atomic::AtomicBool;

use dumbbell_workload::Scenario;
use serde_json::{Value, json};

/// Some equal CUBIC flows over one bottleneck.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub rate_mbps: u64,
    pub rtt_ms: u64,
    pub queue_packets: u32,
    pub loss: f64,
    pub flows: usize,
    pub duration_ms: u64,
}

impl Case {
    /// Runs the case; returns the data packets that were delivered.
    pub fn run(&self) -> u64 {
        let scenario = Scenario::from_json(&scenario(self).to_string()).expect("a valid case");
        let output = dumbbell_simulator::run(scenario, &AtomicBool::new(false)).expect("a run");
        output.summary.packets
    }
}

/// The case as a resolved scenario: the one place that knows the JSON.
fn scenario(case: &Case) -> Value {
    let flow = |index: usize| {
        json!({
            "label": format!("cubic {index}"), "algorithm": "cubic", "preset": null,
            "parameters": {}, "rtt_ns": case.rtt_ms * 1_000_000,
            "start_ns": index as u64 * 1_000_000, "stop_ns": null, "bytes": null,
            "packet_bytes": 1500, "header_bytes": 52,
        })
    };
    let loss = if case.loss > 0.0 {
        json!([{"place": "receiver", "probability": case.loss}])
    } else {
        json!([])
    };
    let rate_bps = case.rate_mbps * 1_000_000;
    json!({
        "seed": 1, "duration_ns": case.duration_ms * 1_000_000,
        "stack": {"profile": "linux-6"},
        "network": {
            "rate_bps": rate_bps, "delay_ns": 0, "queue": {"packets": case.queue_packets},
            "overhead_bytes": 0, "edge_rate_bps": null, "edge_jitter_ns": 0,
            "reverse": {"rate_bps": rate_bps, "queue": {"packets": 10_000}}, "loss": loss,
        },
        "flows": (0..case.flows).map(flow).collect::<Vec<_>>(),
        "record": {"interval_ns": 1_000_000_000, "events": [], "algorithm_state": false},
    })
}
