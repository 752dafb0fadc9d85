//! Extreme scenarios: sums of times fit into 64 bits (a build with overflow checks shows that), and
//! a packet that never arrives never does.

use crate::common::{MILLISECOND, SECOND, flow, resolve, run_resolved, scenario, with};
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

const LONGEST: u64 = 1 << 60;

/// Two million datagrams within 2 ms, and a queue without limit.
fn flood() -> Value {
    let mut whole = resolve(&scenario(1, 1, 1, vec![flow("reno", None, 20 * MILLISECOND)]));
    whole["flows"][0]["transport"] =
        json!({"udp": {"rate_bps": 12_000_000_000_000u64, "on_off": null}});
    whole["flows"][0]["stop_ns"] = json!(2 * MILLISECOND);
    with(whole, "/links/0/queue/limit", json!(null))
}

#[test]
fn a_queue_of_many_centuries_is_no_queue_of_few() {
    // At 1 bit/s a packet takes 12,000 s. The last one would leave after 760 years, which are more
    // nanoseconds than 64 bits can hold.
    for rate in [
        json!({"constant": 1}),
        json!({"steps": [[0, 1], [LONGEST, 2]]}),
        json!({"token_bucket": {"rate_bps": 1, "burst_bytes": 1, "peak_bps": null}}),
        json!({"token_bucket": {"rate_bps": 1, "burst_bytes": 3_000, "peak_bps": 1}}),
        json!({"packets": 1}),
        json!({"trace": {"times_ns": [LONGEST], "period_ns": LONGEST, "bytes": 1}}),
    ] {
        let output = run_resolved(&with(flood(), "/links/0/rate", rate.clone()));
        let flow = &output.summary.flows[0];
        assert!(flow.received_packets <= 2, "{rate}");
        assert_eq!(flow.in_flight_packets + flow.received_packets, 2_000_000, "{rate}");
    }
}

#[test]
fn the_longest_run_over_the_longest_way_ends() {
    let one = with(flow("reno", None, 2 * MILLISECOND), "/demand", json!({"transfer": 3_000}));
    // With the usual two minutes between retransmissions there would be ten million of them.
    let one = with(one, "/switches", json!({"rto_max_ns": 86_400 * SECOND}));
    let short = scenario(1_000_000, 10, 1, vec![one]);
    let whole = with(resolve(&short), "/duration_ns", json!(LONGEST));
    let output = run_resolved(&whole);
    assert_eq!(output.summary.flows[0].acked_bytes, 3_000);
    // The return path takes as long as the run, so the first acknowledgement comes too late.
    let whole = with(whole, "/flows/0/reverse/delay_ns", json!(LONGEST));
    let output = run_resolved(&whole);
    assert_eq!(output.summary.flows[0].received_bytes, 3_000);
    assert_eq!(output.summary.flows[0].acked_bytes, 0);
}

#[test]
fn a_round_trip_beyond_what_algorithms_can_have_is_the_longest_that_they_can() {
    let hour = 3_600 * SECOND;
    let mut whole = resolve(&scenario(1_000_000, 10, 1, vec![flow("bbr", None, hour)]));
    whole["duration_ns"] = json!(30 * hour);
    let output = run_resolved(&whole);
    assert!(output.summary.flows[0].acked_bytes > 0);
    assert_eq!(output.summary.flows[0].rtt_min_us, Some(i32::MAX as u32));
}

#[test]
fn what_goes_beyond_is_refused_by_key() {
    let whole = resolve(&scenario(1_000_000, 10, 1, vec![flow("reno", None, MILLISECOND)]));
    let key = |pointer: &str, value: Value| {
        let wrong = with(whole.clone(), pointer, value);
        Scenario::from_json(&wrong.to_string()).expect_err("too much").key
    };
    assert_eq!(key("/links/0/delay", json!([[0, LONGEST]])), "flows.0.forward.hops");
    assert_eq!(key("/links/1/jitter_ns", json!(LONGEST)), "flows.0.reverse.hops");
    assert_eq!(key("/flows/0/reverse/hops/0/delay_ns", json!(LONGEST)), "flows.0.reverse.hops");
    assert_eq!(key("/duration_ns", json!(LONGEST + 1)), "scenario");
    let bursts = |on: u64| json!({"on_off": {"on_ns": on, "off_ns": 1, "random": true}});
    let demand = "/flows/0/transport/tcp/demand";
    assert_eq!(key(demand, bursts(u64::MAX)), "flows.0.transport.tcp.demand.on_off.on_ns");
    // A packet of 1500 bytes takes a nanosecond at 12 Tbit/s.
    let datagrams = |rate: u64| json!({"udp": {"rate_bps": rate, "on_off": null}});
    let fastest = 12_000_000_000_000;
    assert_eq!(key("/flows/0/transport", datagrams(fastest + 1)), "flows.0.transport.udp.rate_bps");
    let fast = with(whole.clone(), "/flows/0/transport", datagrams(fastest));
    let fast = with(fast, "/duration_ns", json!(100_000));
    assert_eq!(run_resolved(&fast).summary.flows[0].sent_segs, 100_001);
}
