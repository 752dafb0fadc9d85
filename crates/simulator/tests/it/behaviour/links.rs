//! Every feature of links, one at a time.

use dumbbell_network::Discipline;
use serde_json::{Value, json};

use crate::common::{MILLISECOND, SECOND, flow, resolve, scenario, with};

/// A key of a link and its value.
pub type Feature = (&'static str, Value);

pub fn cases() -> Vec<(String, Value)> {
    let mut cases = Vec::new();
    let others = [classes_of_flows(), shares_of_hosts(), lines(), rings()].concat();
    for (name, feature) in [features(), others].concat() {
        cases.push((format!("link/{name}"), having(&feature, 0)));
        if feature.get("queue").is_none() {
            cases.push((format!("link/{name}, on the way back"), having(&feature, 1)));
        }
    }
    cases.push(("link/both queues of DualPI2".into(), coupled(&json!({"ecn": "l4s"}))));
    cases.push(("link/both queues of DualPI2, marks counted".into(), counted()));
    let classes = classes_of_flows().swap_remove(0).1;
    for (name, queue) in [("first in, first out", fifo()), ("classes", classes)] {
        cases.push((format!("link/memory that is shared, {name}"), sharing(&queue)));
    }
    cases
}

/// A connection with L4S and one without, so that `DualPI2` couples its queues.
fn coupled(switches: &Value) -> Value {
    let low = with(flow("prague", None, 24 * MILLISECOND), "/switches", switches.clone());
    let flows = vec![low, flow("reno", None, 24 * MILLISECOND)];
    let (_, feature) = queues().into_iter().find(|(name, _)| *name == "DualPI2").expect("its name");
    with(resolve(&scenario(10_000_000, 40, 6, flows)), "/links/0/queue", feature["queue"].clone())
}

/// As [`coupled`], with handshakes and Accurate ECN, over a path where many acknowledgements are
/// lost or cover many segments.
fn counted() -> Value {
    let whole = coupled(&json!({
        "ecn": "l4s", "accecn": true, "accecn_option": "changes", "handshake": true, "gro_segs": 20,
    }));
    with(whole, "/links/1/loss", json!([{"kind": "bernoulli", "probability": [[0, 0.2]]}]))
}

fn fifo() -> Value {
    json!({"queue": {"limit": null, "discipline": {"kind": "fifo"}}})
}

/// Ports for both directions that share the memory of their switch.
fn sharing(feature: &Value) -> Value {
    let memory = json!({"switch": 0, "bytes": 60_000, "alpha": 0.5});
    let whole = with(having(feature, 0), "/links/0/memory", memory.clone());
    with(with(whole, "/links/1/memory", memory), "/links/1/queue", fifo()["queue"].clone())
}

/// Two connections, one of which reacts to congestion marks, and datagrams in bursts.
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

/// Features from which scenarios are drawn. The digests of drawn scenarios depend on them.
pub fn features() -> Vec<Feature> {
    [queues(), rates(), troubles()].concat()
}

fn queues() -> Vec<Feature> {
    let parsed = |json: &str| serde_json::from_str::<Value>(json).expect("a queue");
    let examples = Discipline::examples();
    examples.iter().map(|it| (it.name, json!({"queue": parsed(it.queue)}))).collect()
}

/// Rings of receiving hosts, which are not drawn.
pub fn rings() -> Vec<Feature> {
    vec![("packets at a rate", json!({"rate": {"packets": 700}}))]
}

/// Classes for three flows, which may share a class.
fn classes_of_flows() -> Vec<Feature> {
    let classes = |by: Value, serve: Value| {
        let classes = json!({"kind": "classes", "by": by, "serve": serve, "threshold": null});
        json!({"queue": {"limit": {"packets": 60}, "discipline": classes}})
    };
    let weights = json!({"round_robin": {"quantum_bytes": 1514, "weights": [3, 1]}});
    let precedence = json!({"priority": {"classes": 3}});
    vec![
        ("classes of flows by weight", classes(json!({"flows": [0, 1, 1]}), weights)),
        ("classes of flows by precedence", classes(json!({"flows": [0, 1, 2]}), precedence)),
    ]
}

/// Three flows: two from one host, and two to another.
fn shares_of_hosts() -> Vec<Feature> {
    let cake = |isolation: &str| {
        let cake = json!({
            "kind": "cake", "interval_ns": 100 * MILLISECOND, "quantum_bytes": 1514,
            "isolation": isolation, "hosts": [[0, 1], [0, 2], [3, 2]], "ack_filter": "off",
            "shaper": null,
        });
        json!({"queue": {"limit": {"bytes": 60_000}, "discipline": cake}})
    };
    vec![
        ("CAKE, a queue for each source", cake("source")),
        ("CAKE, a queue for each destination", cake("destination")),
        ("CAKE, a queue for each pair of hosts", cake("hosts")),
        ("CAKE, equal shares of destinations", cake("dual-destination")),
        ("CAKE, equal shares of sources and destinations", cake("triple")),
    ]
}

/// Delays as in netem's lines, and as on paths with epochs.
fn lines() -> Vec<Feature> {
    let varying = |distribution: Value, overtaken: bool| {
        let variation = json!({
            "mean_ns": 4 * MILLISECOND, "deviation_ns": 2 * MILLISECOND,
            "distribution": distribution, "overtaken": overtaken,
        });
        json!({"variation": variation})
    };
    let delays = json!([[0, 30 * MILLISECOND], [2 * SECOND, 5 * MILLISECOND], [4 * SECOND, 0]]);
    let routes = json!([[0, 1], [2 * SECOND, 2], [4 * SECOND, 1]]);
    let (_, fair) = queues().into_iter().find(|(name, _)| *name == "FQ-CoDel").expect("its name");
    let mut scheduled = varying(json!("normal"), false);
    scheduled["queue"] = fair["queue"].clone();
    scheduled["holds"] = json!(12);
    vec![
        ("delays by a uniform distribution", varying(json!("uniform"), false)),
        ("delays by a normal distribution", varying(json!("normal"), false)),
        ("delays by a normal distribution, overtaken", varying(json!("normal"), true)),
        ("delays by a Pareto distribution", varying(json!("pareto"), true)),
        ("delays by a Pareto-normal distribution", varying(json!("pareto-normal"), false)),
        ("delays by a table", varying(json!({"table": [-8192, 0, 0, 20000]}), false)),
        ("delays behind a scheduler", scheduled),
        ("routes", json!({"delay": delays, "route": routes})),
        ("a limit on what it holds", json!({"delay": [[0, 20 * MILLISECOND]], "holds": 15})),
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
