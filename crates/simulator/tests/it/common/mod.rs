//! Scenarios for tests and benchmarks: a short description of a dumbbell, and the links and routes
//! that the front end makes of it.
#![allow(dead_code, reason = "each binary uses its own part")]

use dumbbell_algorithm::Algorithms;
use dumbbell_record::Output;
use dumbbell_simulator::Control;
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

pub const SECOND: u64 = 1_000_000_000;
pub const MILLISECOND: u64 = 1_000_000;

/// A bulk flow. `transport` may be set to any; `turned` reverses the direction of its data.
pub fn flow(algorithm: &str, preset: Option<&str>, rtt_ns: u64) -> Value {
    json!({
        "label": algorithm, "algorithm": algorithm, "preset": preset,
        "rtt_ns": rtt_ns, "start_ns": 0, "stop_ns": null, "demand": "endless",
        "packet_bytes": 1500, "switches": {}, "tcp_bpf": null,
    })
}

pub fn scenario(rate_bps: u64, queue_packets: u32, seconds: u64, flows: Vec<Value>) -> Value {
    json!({
        "seed": 1, "duration_ns": seconds * SECOND, "profile": "linux-6",
        "network": {
            "rate_bps": rate_bps, "delay_ns": 0, "queue": {"packets": queue_packets},
            "discipline": {"kind": "fifo"}, "overhead_bytes": 0,
            "edge_rate_bps": null, "edge_jitter_ns": 0, "host_delay_ns": 0,
            "edge_queue": {"limit": null, "discipline": {"kind": "fifo"}},
            // True if all flows send from one host.
            "one_host": false,
            "reverse_rate_bps": rate_bps, "reverse_queue": {"packets": 10_000},
            "reverse_discipline": {"kind": "fifo"},
            // Shares of packets that are duplicated or late, in each direction.
            "duplicate": [0.0, 0.0], "reorder": [null, null],
            // Probabilities of loss: at the sender, before and after the bottleneck, of ACKs.
            "loss": {"sender": 0.0, "bottleneck": 0.0, "receiver": 0.0, "reverse": 0.0},
        },
        "flows": flows,
        "record": {
            "interval_ns": null, "events": [], "algorithm_state": false, "modes": false,
            "capture": false,
        },
    })
}

pub fn with(mut scenario: Value, pointer: &str, value: Value) -> Value {
    *scenario.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    scenario
}

/// A link in the engine's form; `more` replaces any of its keys.
pub fn link(name: &str, rate_bps: Option<u64>, more: &Value) -> Value {
    let mut link = json!({
        "name": name, "rate": rate_bps.map(|rate| json!({"constant": rate})),
        "delay": [[0, 0]], "overhead_bytes": 0,
        "queue": {"limit": null, "discipline": {"kind": "fifo"}},
        "policer": null, "loss": [], "duplicate": 0.0, "reorder": null, "jitter_ns": 0,
        "batch_ns": 0, "sampled": false, "interface": false, "exit_jitter_ns": 0,
        "memory": null,
        "route": null, "variation": null, "holds": null,
    });
    for (key, value) in more.as_object().expect("keys of a link") {
        link[key] = value.clone();
    }
    link
}

fn losses(probability: &Value) -> Value {
    match probability.as_f64() {
        Some(p) if p > 0.0 => json!([{"kind": "bernoulli", "probability": [[0, p]]}]),
        _ => json!([]),
    }
}

/// The links and routes of a dumbbell.
pub fn resolve(short: &Value) -> Value {
    let network = &short["network"];
    let (loss, overhead) = (&network["loss"], &network["overhead_bytes"]);
    let delay = network["delay_ns"].as_u64().unwrap();
    let host_delay = network["host_delay_ns"].as_u64().unwrap();
    let bottleneck = |index: usize, name, prefix: &str, loss| {
        let of = |key: &str| &network[format!("{prefix}{key}")];
        link(
            name,
            of("rate_bps").as_u64(),
            &json!({
                "delay": [[0, delay]], "overhead_bytes": overhead, "loss": losses(loss), "sampled": true,
                "queue": {"limit": of("queue"), "discipline": of("discipline")},
                "duplicate": network["duplicate"][index], "reorder": network["reorder"][index],
            }),
        )
    };
    let mut links = vec![
        bottleneck(0, "forward", "", &loss["bottleneck"]),
        bottleneck(1, "reverse", "reverse_", &loss["reverse"]),
    ];
    let flows: Vec<_> = short["flows"].as_array().unwrap().iter().enumerate().map(|(index, flow)| {
        let edges = flow["rtt_ns"].as_u64().unwrap() - 2 * delay;
        let mut hops = Vec::new();
        let edge = !network["edge_rate_bps"].is_null() || network["edge_jitter_ns"] != 0 || loss["sender"] != 0.0;
        if edge && index > 0 && network["one_host"] == true {
            hops.push(json!({"link": 2, "delay_ns": 0}));
        } else if edge {
            hops.push(json!({"link": links.len(), "delay_ns": 0}));
            let rate = network["edge_rate_bps"].as_u64();
            links.push(link(&format!("edge {index}"), rate, &json!({
                "overhead_bytes": overhead, "loss": losses(&loss["sender"]), "exit_jitter_ns": network["edge_jitter_ns"],
                "queue": network["edge_queue"], "interface": rate.is_some(),
            })));
        }
        hops.push(json!({"link": 0, "delay_ns": edges / 2 + host_delay}));
        let mut before_receiver = host_delay;
        if loss["receiver"] != 0.0 {
            hops.push(json!({"link": links.len(), "delay_ns": before_receiver}));
            before_receiver = 0;
            links.push(link(&format!("receiver {index}"), None, &json!({"loss": losses(&loss["receiver"])})));
        }
        let transport = flow.get("transport").cloned().unwrap_or_else(|| json!({"tcp": {
            "algorithm": flow["algorithm"], "preset": flow["preset"], "parameters": {},
            "stack": {"profile": short["profile"], "switches": flow["switches"]}, "demand": flow["demand"],
            "tcp_bpf": flow["tcp_bpf"],
        }}));
        let data = json!({"hops": hops, "delay_ns": before_receiver});
        let back = json!([{"link": 1, "delay_ns": host_delay}]);
        let acks = json!({"hops": back, "delay_ns": edges - edges / 2 + host_delay});
        let turned = flow.get("turned").is_some_and(|turned| turned == true);
        let (forward, reverse) = if turned { (acks, data) } else { (data, acks) };
        json!({
            "label": flow["label"], "start_ns": flow["start_ns"], "stop_ns": flow["stop_ns"],
            "packet_bytes": flow["packet_bytes"], "header_bytes": 52, "sampled": true,
            "forward": forward, "reverse": reverse, "transport": transport,
        })
    }).collect();
    json!({
        "seed": short["seed"], "duration_ns": short["duration_ns"], "links": links, "flows": flows,
        "record": short["record"],
    })
}

/// Run a scenario in its short form.
pub fn run(short: &Value) -> Output {
    run_resolved(&resolve(short))
}

/// Run a scenario in the engine's form.
pub fn run_resolved(scenario: &Value) -> Output {
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a valid scenario");
    dumbbell_simulator::run(scenario, &Algorithms::default(), &Control::default())
        .expect("a complete run")
}

/// Capacity of the path in packets of 1500 bytes.
pub fn bdp_packets(rate_bps: u64, rtt_ns: u64) -> f64 {
    rate_bps as f64 * rtt_ns as f64 / 1e9 / 8.0 / 1500.0
}
