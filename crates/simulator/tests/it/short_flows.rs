//! Thousands of short flows, with few at the same time.

use crate::common::{MILLISECOND, SECOND, flow, run, scenario};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Transfers that begin one after the other.
fn short_flows(count: u64, gap_ns: u64, sizes: &[u64], network: &Value) -> Value {
    let flows = (0..count).map(|number| {
        let algorithm = ["cubic", "reno", "bbr"][number as usize % 3];
        let mut flow = flow(algorithm, None, (5 + number % 40) * MILLISECOND);
        flow["label"] = json!(format!("web {number}"));
        flow["start_ns"] = json!(number * gap_ns);
        flow["demand"] = json!({"transfer": sizes[number as usize % sizes.len()]});
        flow
    });
    let mut scenario = scenario(100_000_000, 200, 0, flows.collect());
    scenario["duration_ns"] = json!(count * gap_ns + SECOND);
    for (key, value) in network.as_object().unwrap() {
        scenario["network"][key] = value.clone();
    }
    scenario
}

/// Sampled flows are kept to the end. Others are forgotten once they are over.
fn with_samples(short: &Value, sampled: bool) -> Value {
    let mut resolved = crate::common::resolve(short);
    for flow in resolved["flows"].as_array_mut().unwrap() {
        flow["sampled"] = json!(sampled);
    }
    resolved
}

fn summary(resolved: &Value) -> String {
    let output = crate::common::run_resolved(resolved);
    let requests = output.requests.latency_ns;
    serde_json::to_string(&(output.summary, requests)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn what_is_forgotten_is_over(
        sizes in prop::collection::vec(1u64..60_000, 1..8),
        gap_us in 1_500u64..3_000,
        loss in prop_oneof![Just(0.0), 0.0f64..0.1],
        reverse_loss in prop_oneof![Just(0.0), 0.0f64..0.1],
        duplicate in 0.0f64..0.2,
        late_ms in 1u64..100,
        handshake: bool,
        seed: u64,
    ) {
        let network = json!({
            "loss": {"sender": 0.0, "bottleneck": loss, "receiver": 0.0, "reverse": reverse_loss},
            "duplicate": [duplicate, duplicate],
            "reorder": [{"probability": 0.05, "delay_ns": late_ms * MILLISECOND}, null],
        });
        let mut short = short_flows(1_000, gap_us * 1_000, &sizes, &network);
        short["seed"] = json!(seed);
        for flow in short["flows"].as_array_mut().unwrap() {
            flow["switches"]["handshake"] = json!(handshake);
        }
        prop_assert_eq!(summary(&with_samples(&short, false)), summary(&with_samples(&short, true)));
    }
}

#[test]
fn every_short_flow_is_reported() {
    let scenario = short_flows(3_000, 2 * MILLISECOND, &[20_000], &json!({}));
    let output = run(&scenario);
    assert_eq!(output.summary.flows.len(), 3_000);
    for flow in &output.summary.flows {
        assert_eq!((flow.acked_bytes, flow.received_bytes), (20_000, 20_000), "{flow:?}");
        assert!(flow.rtt_min_us.is_some() && flow.end_ns > flow.start_ns, "{flow:?}");
    }
    assert_eq!(output.requests.latency_ns.len(), 3_000);
}

/// More than 16 bits can number.
#[test]
fn the_last_of_seventy_thousand_flows_is_its_own() {
    let last = 69_999;
    let mut scenario = short_flows(last + 1, MILLISECOND / 5, &[1_000], &json!({}));
    scenario["flows"][last as usize]["demand"] = json!({"transfer": 2_000});
    let output = run(&scenario);
    let with_more: Vec<_> =
        output.summary.flows.iter().filter(|flow| flow.acked_bytes > 1_000).collect();
    let [flow] = with_more[..] else { panic!("{with_more:?}") };
    assert_eq!((u64::from(flow.flow), flow.acked_bytes, flow.received_bytes), (last, 2_000, 2_000));
    assert!(output.summary.flows.iter().all(|flow| flow.acked_bytes >= 1_000));
}
