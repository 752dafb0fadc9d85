//! How fast the simulator is: nanoseconds per delivered data packet.
//!
//! `cargo bench -p dumbbell-simulator` prints one line for each scenario, with
//! `-- TEXT` for those whose name contains TEXT. Compare lines of one run only: the
//! machine's speed drifts.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dumbbell_workload::Scenario;
use serde_json::{Value, json};

#[path = "../tests/common/mod.rs"]
mod common;

use common::{MILLISECOND, SECOND, with};

struct Case {
    name: &'static str,
    rate_bps: u64,
    rtt_ms: u64,
    queue_packets: u32,
    loss: f64,
    flows: usize,
    seconds: u64,
}

const CASES: [Case; 6] = [
    Case {
        name: "1 flow, 250 Mbit/s, 162 ms",
        rate_bps: 250_000_000,
        rtt_ms: 162,
        queue_packets: 675,
        loss: 0.0,
        flows: 1,
        seconds: 300,
    },
    Case {
        name: "1 flow, 250 Mbit/s, 162 ms, loss 1e-5",
        rate_bps: 250_000_000,
        rtt_ms: 162,
        queue_packets: 675,
        loss: 1e-5,
        flows: 1,
        seconds: 300,
    },
    Case {
        name: "2 flows, 250 Mbit/s, 42 ms",
        rate_bps: 250_000_000,
        rtt_ms: 42,
        queue_packets: 175,
        loss: 0.0,
        flows: 2,
        seconds: 300,
    },
    Case {
        name: "1 flow, 10 Gbit/s, 12 ms",
        rate_bps: 10_000_000_000,
        rtt_ms: 12,
        queue_packets: 1000,
        loss: 0.0,
        flows: 1,
        seconds: 10,
    },
    Case {
        name: "24 flows, 200 Mbit/s, 92 ms",
        rate_bps: 200_000_000,
        rtt_ms: 92,
        queue_packets: 100,
        loss: 0.0,
        flows: 24,
        seconds: 300,
    },
    Case {
        name: "1000 flows, 10 Gbit/s, 50 ms",
        rate_bps: 10_000_000_000,
        rtt_ms: 50,
        queue_packets: 10_000,
        loss: 0.0,
        flows: 1000,
        seconds: 10,
    },
];

fn scenario(case: &Case) -> Value {
    let flow = |index: usize| {
        let mut flow = common::flow("cubic", None, case.rtt_ms * MILLISECOND);
        flow["start_ns"] = json!(index as u64 * MILLISECOND);
        flow["label"] = json!(format!("cubic {index}"));
        flow
    };
    let flows = (0..case.flows).map(flow).collect();
    let scenario = common::scenario(case.rate_bps, case.queue_packets, case.seconds, flows);
    let scenario = with(scenario, "/network/loss/receiver", json!(case.loss));
    with(scenario, "/record/interval_ns", json!(SECOND))
}

fn main() {
    println!("{:<40} {:>12} {:>10} {:>12}", "scenario", "packets", "ns/packet", "Mpackets/s");
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |case: &&Case| filter.as_ref().is_none_or(|filter| case.name.contains(filter));
    for case in CASES.iter().filter(wanted) {
        let scenario = Scenario::from_json(&common::resolve(&scenario(case)).to_string())
            .expect("a valid case");
        let begin = Instant::now();
        let output = dumbbell_simulator::run(scenario, &AtomicBool::new(false)).expect("a run");
        let seconds = begin.elapsed().as_secs_f64();
        let packets = output.summary.packets as f64;
        let (per_packet, rate) = (seconds * 1e9 / packets, packets / seconds / 1e6);
        println!("{:<40} {packets:>12} {per_packet:>10.1} {rate:>12.2}", case.name);
    }
}
