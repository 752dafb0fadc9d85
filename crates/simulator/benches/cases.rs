//! What benchmarks run: one dumbbell, described by a few numbers.

use std::sync::atomic::AtomicBool;

use dumbbell_workload::Scenario;
use serde_json::{Value, json};

#[path = "../tests/common/mod.rs"]
mod common;

use common::{MILLISECOND, SECOND, with};

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

/// The case as a resolved scenario.
fn scenario(case: &Case) -> Value {
    let flow = |index: usize| {
        let mut flow = common::flow("cubic", None, case.rtt_ms * MILLISECOND);
        flow["start_ns"] = json!(index as u64 * MILLISECOND);
        flow["label"] = json!(format!("cubic {index}"));
        flow
    };
    let flows = (0..case.flows).map(flow).collect();
    let scenario = common::scenario(case.rate_mbps * 1_000_000, case.queue_packets, 1, flows);
    let scenario = with(scenario, "/duration_ns", json!(case.duration_ms * MILLISECOND));
    let scenario = with(scenario, "/network/loss/receiver", json!(case.loss));
    common::resolve(&with(scenario, "/record/interval_ns", json!(SECOND)))
}
