//! Everything that a link may be or do, one thing at a time.

use serde_json::{Value, json};

use crate::common::{MILLISECOND, SECOND, flow, resolve, scenario, with};

/// What is set of a link, by name.
pub type Feature = (&'static str, Value);

pub fn cases() -> Vec<(String, Value)> {
    let mut cases = Vec::new();
    for (name, feature) in [features(), classes_of_flows()].concat() {
        cases.push((format!("link/{name}"), having(&feature, 0)));
        if feature.get("queue").is_none() {
            cases.push((format!("link/{name}, on the way back"), having(&feature, 1)));
        }
    }
    cases
}

/// Two connections, of which one hears congestion marks, and datagrams in bursts.
fn having(feature: &Value, link: usize) -> Value {
    let marked =
        with(flow("cubic", None, 24 * MILLISECOND), "/switches", json!({"ecn": "classic"}));
    let mut datagrams = flow("reno", None, 24 * MILLISECOND);
    let bursts = json!({"on_ns": 300 * MILLISECOND, "off_ns": 200 * MILLISECOND, "random": true});
    datagrams["transport"] = json!({"udp": {"rate_bps": 3_000_000, "on_off": bursts}});
    datagrams["packet_bytes"] = json!(500);
    let flows = vec![marked, flow("reno", None, 40 * MILLISECOND), datagrams];
    let mut short = scenario(10_000_000, 40, 6, flows);
    short["record"]["interval_ns"] = json!(50 * MILLISECOND);
    short["record"]["events"] = json!(["drop", "loss", "congestion", "timeout", "undone"]);
    let mut whole = resolve(&short);
    for (key, value) in feature.as_object().expect("keys of a link") {
        assert!(whole["links"][link].get(key).is_some(), "no key {key}");
        whole["links"][link][key] = value.clone();
    }
    whole
}

fn classes(by: Value, serve: Value, threshold: Value) -> Value {
    let classes = json!({"kind": "classes", "by": by, "serve": serve, "threshold": threshold});
    queue(json!({"packets": 60}), classes)
}

fn queue(limit: Value, discipline: Value) -> Value {
    json!({"queue": {"limit": limit, "discipline": discipline}})
}

/// Every feature, with other settings where they matter.
pub fn features() -> Vec<Feature> {
    [queues(), rates(), troubles()].concat()
}

fn queues() -> Vec<Feature> {
    let packets = |limit: u32| json!({"packets": limit});
    let red = |gentle: bool, adaptive: bool, ecn: bool| {
        let red = json!({
            "kind": "red", "min_packets": 5.0, "max_packets": 15.5, "max_probability": 0.1,
            "weight": 0.002, "gentle": gentle, "adaptive": adaptive, "ecn": ecn,
        });
        queue(packets(60), red)
    };
    let codel = |ecn: bool| {
        let times = json!({
            "kind": "codel", "target_ns": 5 * MILLISECOND, "interval_ns": 100 * MILLISECOND,
            "ecn": ecn,
        });
        queue(packets(100), times)
    };
    let fq_codel = |ecn: bool, queues: u32| {
        let flows = json!({
            "kind": "fq-codel", "target_ns": 5 * MILLISECOND, "interval_ns": 60 * MILLISECOND,
            "ecn": ecn, "queues": queues, "quantum_bytes": 1514,
        });
        queue(packets(100), flows)
    };
    let pie = |ecn: bool| {
        let pie = json!({
            "kind": "pie", "target_ns": 15 * MILLISECOND, "update_ns": 15 * MILLISECOND,
            "alpha": 0.125, "beta": 1.25, "burst_ns": 150 * MILLISECOND, "ecn": ecn,
        });
        queue(packets(100), pie)
    };
    let fq = json!({
        "kind": "fq", "quantum_bytes": 3028, "initial_quantum_bytes": 15140,
        "flow_limit_packets": 30,
    });
    let by_ecn = json!({"ecn": {"capable": 1, "other": 0}});
    let turns = json!({"round_robin": {"quantum_bytes": 1514, "weights": [1, 1]}});
    let step = |threshold: Value| json!({"kind": "step", "threshold": threshold});
    vec![
        ("first in, first out", queue(packets(20), json!({"kind": "fifo"}))),
        ("bytes", queue(json!({"bytes": 30_000}), json!({"kind": "fifo"}))),
        ("no limit", queue(json!(null), json!({"kind": "fifo"}))),
        ("marks by packets", queue(packets(60), step(packets(10)))),
        ("marks by bytes", queue(packets(60), step(json!({"bytes": 20_000})))),
        ("RED", red(false, false, false)),
        ("gentle RED", red(true, false, false)),
        ("RED that marks", red(false, false, true)),
        ("adaptive RED", red(true, true, true)),
        ("CoDel", codel(false)),
        ("CoDel that marks", codel(true)),
        ("FQ-CoDel", fq_codel(false, 1024)),
        ("FQ-CoDel that marks, one queue", fq_codel(true, 1)),
        ("PIE", pie(false)),
        ("PIE that marks", pie(true)),
        ("FQ", queue(packets(100), fq)),
        ("classes by marks", classes(by_ecn.clone(), turns.clone(), json!(null))),
        ("classes by marks that mark", classes(by_ecn, turns, packets(5))),
    ]
}

/// Of three flows, as many as there are.
fn classes_of_flows() -> Vec<Feature> {
    let weights = json!({"round_robin": {"quantum_bytes": 1514, "weights": [3, 1]}});
    let precedence = json!({"priority": {"classes": 3}});
    vec![
        ("classes of flows by weight", classes(json!({"flows": [0, 1, 1]}), weights, json!(null))),
        (
            "classes of flows by precedence",
            classes(json!({"flows": [0, 1, 2]}), precedence, json!(null)),
        ),
    ]
}

fn rates() -> Vec<Feature> {
    let steps = json!([[0, 10_000_000], [2 * SECOND, 0], [2_300 * MILLISECOND, 3_000_000]]);
    let trace = json!({
        "times_ns": [MILLISECOND, MILLISECOND, 2 * MILLISECOND, 5 * MILLISECOND],
        "period_ns": 5 * MILLISECOND, "bytes": 1504,
    });
    let bucket = |peak: Value| {
        json!({"rate": {"token_bucket":
            {"rate_bps": 7_000_000, "burst_bytes": 20_000, "peak_bps": peak}}})
    };
    vec![
        ("any rate", json!({"rate": null})),
        ("an odd rate", json!({"rate": {"constant": 7_777_777}})),
        ("rates with an outage", json!({"rate": {"steps": steps}})),
        ("a trace", json!({"rate": {"trace": trace}})),
        ("a token bucket", bucket(json!(null))),
        ("a token bucket with a peak", bucket(json!(50_000_000))),
    ]
}

fn troubles() -> Vec<Feature> {
    let bernoulli = |steps: Value| json!({"kind": "bernoulli", "probability": steps});
    let bursts = json!({
        "kind": "gilbert-elliott", "to_bad": 0.002, "to_good": 0.3, "loss_good": 0.0001,
        "loss_bad": 0.5,
    });
    let timed = json!({
        "kind": "bursts", "mean_good_ns": 700 * MILLISECOND, "mean_bad_ns": 30 * MILLISECOND,
        "loss_good": 0.0001, "loss_bad": 0.9,
    });
    let bits = json!({"kind": "bit-errors", "probability": 1e-7});
    let named = json!({"kind": "scripted", "drops": [
        {"flow": 0, "number": 300, "times": 1}, {"flow": 1, "number": 500, "times": 3},
    ]});
    let once = bernoulli(json!([[0, 0.003]]));
    let delays = json!([[0, MILLISECOND], [2 * SECOND, 20 * MILLISECOND], [4 * SECOND, 0]]);
    vec![
        ("a delay", json!({"delay": [[0, 3 * MILLISECOND]]})),
        ("delays", json!({"delay": delays})),
        ("overhead", json!({"overhead_bytes": 38})),
        ("a policer", json!({"policer": {"rate_bps": 6_000_000, "burst_bytes": 30_000}})),
        ("losses", json!({"loss": [once]})),
        ("losses that change", json!({"loss": [bernoulli(json!([[0, 0.0], [SECOND, 0.01]]))]})),
        ("losses in bursts", json!({"loss": [bursts]})),
        ("losses in bursts of time", json!({"loss": [timed]})),
        ("losses by wrong bits", json!({"loss": [bits]})),
        ("losses by name", json!({"loss": [named]})),
        ("losses of two kinds", json!({"loss": [once, bursts]})),
        ("duplicates", json!({"duplicate": 0.01})),
        ("reordering", json!({"reorder": {"probability": 0.02, "delay_ns": 4 * MILLISECOND}})),
        ("jitter", json!({"jitter_ns": 2 * MILLISECOND})),
        ("batches", json!({"batch_ns": 4 * MILLISECOND})),
        ("no samples", json!({"sampled": false})),
    ]
}
