//! Scenarios of the benchmarks.

use std::sync::Arc;

use dumbbell_algorithm::Algorithms;
use dumbbell_simulator::Control;
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

#[path = "../tests/it/common/mod.rs"]
mod common;

use common::{MILLISECOND, SECOND};

/// A scenario of a benchmark.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    /// Makes the scenario when it is needed: a thousand flows take time and memory.
    scenario: Arc<dyn Fn() -> Value + Send + Sync>,
}

impl Case {
    /// Run the case; return the data packets that were delivered.
    pub fn run(&self) -> u64 {
        let scenario = Scenario::from_json(&(self.scenario)().to_string()).expect("a valid case");
        let output = dumbbell_simulator::run(scenario, &Algorithms::default(), &Control::default())
            .expect("a run");
        output.summary.packets
    }
}

/// A scenario of a study or of `dumbbell compare`, `times` as long as in its file (see
/// `benches/real_cases.py`).
pub fn real(name: &str, times: u64) -> Case {
    let path = format!("{}/benches/real/{name}.json", env!("CARGO_MANIFEST_DIR"));
    case(name, move || {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut scenario: Value = serde_json::from_str(&text).expect("JSON");
        let duration_ns = scenario["duration_ns"].as_u64().expect("a duration");
        scenario["duration_ns"] = json!(duration_ns * times);
        scenario
    })
}

/// The names of all these cases.
pub const REAL: [&str; 15] = [
    "compare, 1 flow",
    "compare, 2 flows",
    "compare, 24 flows",
    "compare, 100 flows",
    "compare, 2 BBR flows",
    "2 flows behind access links",
    "li2007 fairness",
    "mani2012, 1 flow",
    "kumazoe2012 udp",
    "lukaseder2016 fairness",
    "lukaseder2016 loss 1e-4",
    "brakmo2017 rack CUBIC",
    "brakmo2017 rack DCTCP",
    "brakmo2017 wide BBR",
    "brakmo2017 rack-sizes BBR",
];

/// A bottleneck: Mbit/s, ms of round trip, packets of queue.
pub type Path = (u64, u64, u32);

fn short(path: Path, flows: usize, duration_ms: u64) -> Value {
    let (rate_mbps, rtt_ms, queue_packets) = path;
    let flow = |index: usize| {
        let mut flow = common::flow("cubic", None, rtt_ms * MILLISECOND);
        flow["start_ns"] = json!(index as u64 * MILLISECOND);
        flow["label"] = json!(format!("cubic {index}"));
        flow
    };
    let flows = (0..flows).map(flow).collect();
    let mut scenario = common::scenario(rate_mbps * 1_000_000, queue_packets, 1, flows);
    scenario["duration_ns"] = json!(duration_ms * MILLISECOND);
    scenario["record"]["interval_ns"] = json!(SECOND);
    scenario
}

fn case(name: &str, scenario: impl Fn() -> Value + Send + Sync + 'static) -> Case {
    Case { name: name.to_owned(), scenario: Arc::new(scenario) }
}

/// Equal CUBIC flows over one bottleneck, with random loss behind it.
pub fn dumbbell(name: &str, path: Path, loss: f64, flows: usize, duration_ms: u64) -> Case {
    case(name, move || {
        let mut scenario = short(path, flows, duration_ms);
        scenario["network"]["loss"]["receiver"] = json!(loss);
        common::resolve(&scenario)
    })
}

/// The stack of 2004 as in li2007. Each sender is in a busy host, behind a link of 1 Gbit/s.
#[allow(dead_code, reason = "each benchmark has its own cases")]
pub fn behind_edges(name: &str, path: Path, flows: usize, duration_ms: u64) -> Case {
    case(name, move || {
        let mut scenario = short(path, flows, duration_ms);
        scenario["network"]["edge_rate_bps"] = json!(1_000_000_000);
        scenario["network"]["edge_jitter_ns"] = json!(96_000);
        scenario["profile"] = json!("linux-2.6.6");
        common::resolve(&scenario)
    })
}

/// Flows in the separate queues of FQ-CoDel.
#[allow(dead_code, reason = "each benchmark has its own cases")]
pub fn fq_codel(name: &str, path: Path, flows: usize, duration_ms: u64) -> Case {
    case(name, move || {
        let mut scenario = short(path, flows, duration_ms);
        scenario["network"]["discipline"] = json!({
            "kind": "fq-codel", "target_ns": 5 * MILLISECOND, "interval_ns": 100 * MILLISECOND,
            "ecn": false, "queues": 1024, "quantum_bytes": 1514,
        });
        common::resolve(&scenario)
    })
}

/// Requests of 10 kB and 1 MB, together with bulk flows.
#[allow(dead_code, reason = "each benchmark has its own cases")]
pub fn requests(name: &str, path: Path, flows: usize, duration_ms: u64) -> Case {
    case(name, move || {
        let mut scenario = short(path, flows, duration_ms);
        for (index, flow) in scenario["flows"].as_array_mut().expect("flows").iter_mut().enumerate()
        {
            let bytes = [None, Some(10_000), Some(1_000_000)][index % 3];
            if let Some(bytes) = bytes {
                flow["demand"] = json!({"requests": {"bytes": bytes, "pause_ns": 0}});
            }
        }
        common::resolve(&scenario)
    })
}

/// One flow over all hops, and one over each hop.
#[allow(dead_code, reason = "each benchmark has its own cases")]
pub fn parking_lot(name: &str, path: Path, hops: usize, duration_ms: u64) -> Case {
    case(name, move || {
        let (rate_mbps, rtt_ms, queue_packets) = path;
        let rate = rate_mbps * 1_000_000;
        let short = short(path, hops + 1, duration_ms);
        let mut scenario = common::resolve(&short);
        let link = |hop: usize, back: bool| {
            let limit = json!({"packets": if back { 10_000 } else { queue_packets }});
            let name = format!("hop {hop} {}", if back { "reverse" } else { "forward" });
            common::link(
                &name,
                Some(rate),
                &json!({
                    "queue": {"limit": limit, "discipline": {"kind": "fifo"}}, "sampled": !back,
                }),
            )
        };
        let links: Vec<_> = (0..hops)
            .map(|hop| link(hop, false))
            .chain((0..hops).map(|hop| link(hop, true)))
            .collect();
        scenario["links"] = json!(links);
        let half = rtt_ms * MILLISECOND / 2;
        for index in 0..=hops {
            let over: Vec<_> = if index == 0 { (0..hops).collect() } else { vec![index - 1] };
            let route = |links: &mut dyn Iterator<Item = usize>| {
                let hops: Vec<_> = links.map(|link| json!({"link": link, "delay_ns": 0})).collect();
                json!({"hops": hops, "delay_ns": half})
            };
            let flow = &mut scenario["flows"][index];
            flow["forward"] = route(&mut over.iter().copied());
            flow["reverse"] = route(&mut over.iter().rev().map(|hop| hops + hop));
        }
        scenario
    })
}
