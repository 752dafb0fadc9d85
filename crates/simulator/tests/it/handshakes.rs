//! Connections with simulated handshakes.
#![allow(clippy::disallowed_methods, reason = "what is expected is a band")]

use crate::common::{MILLISECOND, SECOND, flow, resolve, run, run_resolved, scenario, with};
use dumbbell_record::Output;
use serde_json::{Value, json};

const MSS: u64 = 1_448;

/// A transfer of ten segments by a flow of 40 ms that opens its connection.
fn opening(switches: &Value) -> Value {
    let mut flow = flow("reno", None, 40 * MILLISECOND);
    (flow["demand"], flow["switches"]) = (json!({"transfer": 10 * MSS}), switches.clone());
    flow["switches"]["handshake"] = json!(true);
    flow
}

/// Duration in ms of such a flow's transfer, if all packets are lost until some time.
fn latency_ms(profile: &str, switches: &Value, lost_until_ms: u64) -> f64 {
    let mut short = scenario(10_000_000_000, 1_000, 20, vec![opening(switches)]);
    short["profile"] = json!(profile);
    let mut whole = resolve(&short);
    let lossy = json!([[0, 1.0], [lost_until_ms * MILLISECOND, 0.0]]);
    if lost_until_ms > 0 {
        whole["links"][0]["loss"] = json!([{"kind": "bernoulli", "probability": lossy}]);
    }
    let output = run_resolved(&whole);
    assert_eq!(output.summary.flows[0].retransmitted_segs, 0);
    output.requests.latency_ns[0] as f64 / 1e6
}

#[test]
fn a_transfer_takes_a_round_trip_longer_and_each_lost_syn_its_timeout() {
    let cases = [
        ("linux-6", 0, 80.0),
        ("linux-6", 500, 1_080.0),
        // The second loss costs 1 s and, in this window of one segment, three round trips more.
        ("linux-6", 1_500, 2_000.0 + 5.0 * 40.0),
        ("linux-4.14", 1_500, 3_000.0 + 5.0 * 40.0),
        ("linux-2.6.26", 500, 3_000.0 + 4.0 * 40.0),
        ("rfc", 500, 1_000.0 + 5.0 * 40.0),
    ];
    for (profile, lost_until_ms, expected_ms) in cases {
        let measured_ms = latency_ms(profile, &json!({}), lost_until_ms);
        let what = format!("{profile}, lost until {lost_until_ms} ms: {measured_ms} ms");
        assert!((measured_ms - expected_ms).abs() < 0.1, "{what}, expected {expected_ms}");
    }
    let free = latency_ms("rfc", &json!({"syn_retries_free": null}), 500);
    assert!((free - 1_080.0).abs() < 0.1, "{free}");
}

/// Only the SYN-ACK is lost. SYN and SYN-ACK are sent again after a second, and the loss costs one
/// packet in total.
#[test]
fn a_lost_syn_ack_is_sent_again() {
    let mut whole = resolve(&scenario(10_000_000_000, 1_000, 3, vec![opening(&json!({}))]));
    let lossy = json!([[0, 1.0], [500 * MILLISECOND, 0.0]]);
    whole["links"][1]["loss"] = json!([{"kind": "bernoulli", "probability": lossy}]);
    let output = run_resolved(&whole);
    let latency_ms = output.requests.latency_ns[0] as f64 / 1e6;
    assert!((latency_ms - 1_080.0).abs() < 0.1, "{latency_ms}");
    // SYN twice, ACK, ten segments; SYN-ACK twice, ten ACKs.
    let arrived = output.summary.queues.iter().map(|queue| queue.arrived_packets);
    assert_eq!(arrived.collect::<Vec<_>>(), [13, 12]);
}

fn late_flow(handshake: bool) -> Output {
    let mut late = flow("reno", None, 40 * MILLISECOND);
    late["start_ns"] = json!(4 * SECOND);
    late["switches"] = json!({"handshake": handshake});
    let flows = vec![flow("cubic", None, 40 * MILLISECOND), late];
    run(&with(scenario(10_000_000, 200, 5, flows), "/record/interval_ns", json!(MILLISECOND)))
}

#[test]
fn a_late_flow_learns_the_round_trip_time_of_a_full_path() {
    let first = |output: &Output| {
        let rows = &output.flows;
        let late = rows.flow.iter().position(|flow| *flow == 1).expect("a sample");
        (rows.time_ns[late] / MILLISECOND - 4_000, u64::from(rows.srtt_us[late]) / 1_000)
    };
    let (began_ms, srtt_ms) = first(&late_flow(false));
    assert_eq!((began_ms, srtt_ms), (0, 40));
    let (began_ms, srtt_ms) = first(&late_flow(true));
    // The queue of 200 packets is at least half full, which takes 120 ms or more.
    assert!((160..290).contains(&srtt_ms), "{srtt_ms} ms");
    assert_eq!(began_ms, srtt_ms + 1, "it begins when it has measured that");
}

#[test]
fn a_flow_that_stops_before_its_syn_is_answered_sends_nothing() {
    let mut stopped = opening(&json!({}));
    stopped["stop_ns"] = json!(30 * MILLISECOND);
    let mut short = scenario(10_000_000, 100, 1, vec![stopped]);
    short["record"]["events"] = json!(dumbbell_record::EventKind::ALL);
    let output = run(&short);
    let flow = &output.summary.flows[0];
    assert_eq!((flow.sent_segs, flow.end_ns), (0, 30 * MILLISECOND));
    assert!(output.events.kind.is_empty(), "{:?}", output.events.kind);
}
