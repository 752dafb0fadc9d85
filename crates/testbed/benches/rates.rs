//! The highest rate that the emulator carries within its guards, on this machine.
//!
//! `cargo bench -p dumbbell-testbed --bench rates` runs one bulk flow of CUBIC over a link of each
//! rate, with a round trip of 20 ms. The machine should have nothing else to do.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_algorithm::Algorithms;
use dumbbell_testbed::{Options, run};
use dumbbell_workload::Scenario;
use serde_json::json;

const RATES_MBIT: [u64; 9] = [10, 100, 250, 500, 1_000, 1_500, 2_000, 2_500, 3_000];
const SECONDS: u64 = 10;
const RTT_MS: u64 = 20;

fn scenario(rate_mbit: u64) -> Scenario {
    let packets = rate_mbit * 1_000 * RTT_MS / 12_000;
    let queue = json!({"limit": {"packets": packets.max(10)}, "discipline": {"kind": "fifo"}});
    let link = |name: &str| {
        json!({
            "name": name, "rate": {"constant": rate_mbit * 1_000_000},
            "delay": [[0, RTT_MS * 500_000]], "overhead_bytes": 0, "queue": queue,
            "policer": null, "loss": [], "duplicate": 0.0, "reorder": null, "jitter_ns": 0,
            "batch_ns": 0, "sampled": true,
        })
    };
    let route = |link: usize| json!({"hops": [{"link": link, "delay_ns": 0}], "delay_ns": 0});
    let text = json!({
        "seed": 1, "duration_ns": SECONDS * 1_000_000_000,
        "links": [link("forward"), link("reverse")],
        "flows": [{
            "label": "bulk", "start_ns": 0, "stop_ns": null, "packet_bytes": 1500,
            "header_bytes": 52, "forward": route(0), "reverse": route(1), "sampled": true,
            "transport": {"tcp": {
                "algorithm": "cubic", "preset": null, "parameters": {}, "tcp_bpf": null,
                "stack": {"profile": "linux-6", "switches": {}}, "demand": "endless",
            }},
        }],
        "record": {"interval_ns": 100_000_000, "events": [], "algorithm_state": false,
                   "capture": false},
    });
    Scenario::from_json(&text.to_string()).expect("a valid scenario")
}

fn main() {
    println!(
        "{:>8} {:>8} {:>10} {:>10} {:>10} {:>10} {:>6} {:>6}  valid",
        "Mbit/s", "carried", "mean us", "p99 us", "max us", "wait p99", "busy", "apps"
    );
    let kernel_modules = std::env::args().any(|argument| argument == "--kernel-modules");
    let options = Options { kernel_modules, ..Options::default() };
    for rate_mbit in RATES_MBIT {
        let scenario = scenario(rate_mbit);
        let cancel = Arc::new(AtomicBool::new(false));
        let output = run(&scenario, &Algorithms::default(), options, &cancel);
        let summary = output.unwrap_or_else(|error| panic!("{error}")).summary;
        let testbed = summary.testbed.expect("a run of the testbed");
        let us = |ns: u64| ns as f64 / 1e3;
        println!(
            "{rate_mbit:>8} {:>7.1}% {:>10.1} {:>10.1} {:>10.1} {:>10.1} {:>5.1}% {:>5.1}%  {}",
            summary.queues[0].departed_bytes as f64 * 8.0 / (rate_mbit * SECONDS) as f64 / 1e4,
            us(testbed.lateness_mean_ns),
            us(testbed.lateness_p99_ns),
            us(testbed.lateness_max_ns),
            us(testbed.waiting_p99_ns),
            f64::from(testbed.emulator_busy_permille) / 10.0,
            f64::from(testbed.traffic_busy_permille) / 10.0,
            if testbed.invalid.is_empty() { "yes".into() } else { testbed.invalid.join("; ") },
        );
    }
}
