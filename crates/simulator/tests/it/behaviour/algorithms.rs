//! Each algorithm alone, and each of its presets together with others.

use dumbbell_algorithm::{Algorithm, Need, registry};
use dumbbell_tcp::PROFILES;
use serde_json::{Value, json};

use crate::common::{MILLISECOND, SECOND, flow, resolve, scenario, with};

const RTT: u64 = 30 * MILLISECOND;

pub fn cases() -> Vec<(String, Value)> {
    let mut cases = Vec::new();
    for algorithm in registry() {
        cases.push((format!("algorithm/{} alone", algorithm.name), alone(algorithm)));
        cases.push((format!("algorithm/{}", algorithm.name), among(algorithm, None, 0)));
        if algorithm.flags.contains(&Need::Pacing) {
            cases.push((format!("algorithm/{} after pauses", algorithm.name), pausing(algorithm)));
        }
        for (number, preset) in algorithm.presets.iter().enumerate() {
            let name = format!("algorithm/{}@{}", algorithm.name, preset.name);
            cases.push((name, among(algorithm, Some(preset.name), number)));
        }
    }
    cases
}

/// A clean path with nothing but acknowledgements for a long time, and then another rate.
fn alone(algorithm: &Algorithm) -> Value {
    let whole = recorded(scenario(50_000_000, 150, 6, vec![flow(algorithm.name, None, 2 * RTT)]));
    with(whole, "/links/0/rate", json!({"steps": [[0, 50_000_000], [4 * SECOND, 20_000_000]]}))
}

/// Single segments, full and short ones, after pauses that are longer than estimates last.
fn pausing(algorithm: &Algorithm) -> Value {
    let requests = |bytes: u64| {
        let demand = json!({"requests": {"bytes": bytes, "pause_ns": 11 * SECOND}});
        with(flow(algorithm.name, None, RTT), "/demand", demand)
    };
    recorded(scenario(10_000_000, 60, 24, vec![requests(1_448), requests(1_000)]))
}

/// The algorithm with itself in bursts, and with Reno for a while, over a lossy path that changes.
fn among(algorithm: &Algorithm, preset: Option<&str>, number: usize) -> Value {
    let bursts = json!({"on_ns": SECOND, "off_ns": 700 * MILLISECOND, "random": true});
    let flows = vec![
        flow(algorithm.name, preset, RTT),
        with(flow(algorithm.name, preset, 2 * RTT), "/demand", json!({"on_off": bursts})),
        with(
            with(flow("reno", None, RTT), "/start_ns", json!(2 * SECOND)),
            "/stop_ns",
            json!(7 * SECOND),
        ),
    ];
    let mut short = scenario(10_000_000, 60, 10, flows);
    short["profile"] = json!(PROFILES[number % PROFILES.len()].name);
    if algorithm.flags.contains(&Need::Ecn) {
        short["network"]["discipline"] = json!({"kind": "step", "threshold": {"packets": 20}});
    }
    short["network"]["loss"]["bottleneck"] = json!(0.0005);
    let whole = recorded(short);
    let delays = json!([[0, 0], [5 * SECOND, 10 * MILLISECOND], [8 * SECOND, MILLISECOND]]);
    let whole = with(whole, "/links/0/delay", delays);
    let rates = json!([[0, 10_000_000], [3 * SECOND, 4_000_000], [6 * SECOND, 20_000_000]]);
    with(whole, "/links/0/rate", json!({"steps": rates}))
}

fn recorded(mut short: Value) -> Value {
    short["record"] = json!({
        "interval_ns": 100 * MILLISECOND, "algorithm_state": true, "capture": false,
        "events": dumbbell_record::EventKind::ALL,
    });
    resolve(&short)
}
