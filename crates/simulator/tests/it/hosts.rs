//! Queues in a sender's host, and a run's doubts about its hosts.

use dumbbell_record::{Cause, FlowSummary, Output};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{MILLISECOND, SECOND, flow, run, scenario, with};

const MBIT: u64 = 1_000_000;

/// Flows of one host whose interface, with this queue, is far slower than the network.
fn behind_one_interface(flows: usize, tsq_bytes: Option<u64>, queue: &Value) -> Value {
    let flows = (0..flows).map(|index| {
        let mut flow = flow("reno", None, 10 * MILLISECOND);
        flow["label"] = json!(format!("reno {index}"));
        flow["switches"] = json!({"tsq_bytes": tsq_bytes});
        flow
    });
    let mut short = scenario(1_000 * MBIT, 1_000, 4, flows.collect());
    short["network"]["edge_rate_bps"] = json!(100 * MBIT);
    short["network"]["one_host"] = json!(true);
    short["network"]["edge_queue"] = queue.clone();
    short
}

fn fifo(packets: u32) -> Value {
    json!({"limit": {"packets": packets}, "discipline": {"kind": "fifo"}})
}

fn fq(packets: u32) -> Value {
    json!({"limit": {"packets": packets}, "discipline": {
        "kind": "fq", "quantum_bytes": 3028, "initial_quantum_bytes": 15140,
        "flow_limit_packets": packets,
    }})
}

fn fq_codel() -> Value {
    json!({"limit": {"packets": 10_240}, "discipline": {
        "kind": "fq-codel", "target_ns": 50 * MILLISECOND, "interval_ns": 100 * MILLISECOND,
        "ecn": true, "queues": 1024, "quantum_bytes": 1514,
    }})
}

fn in_turns() -> Value {
    json!({"limit": {"packets": 1_000}, "discipline": {
        "kind": "classes", "by": {"flows": [0, 1, 2]}, "threshold": null,
        "serve": {"round_robin": {"quantum_bytes": 1514, "weights": [1, 1, 1]}},
    }})
}

fn rtt_max_us(output: &Output) -> u32 {
    output.summary.flows.iter().filter_map(|flow| flow.rtt_max_us).max().unwrap()
}

fn received(output: &Output) -> Vec<u64> {
    output.summary.flows.iter().map(|flow| flow.received_bytes).collect()
}

#[test]
fn small_queues_hold_for_each_flow_of_a_host_whatever_its_discipline() {
    let limit_bytes = 20_000;
    for queue in [fifo(1_000), fq(1_000), fq_codel(), in_turns()] {
        let output = run(&behind_one_interface(3, Some(limit_bytes), &queue));
        let dropped: u64 = output.summary.flows.iter().map(|flow| flow.dropped_packets).sum();
        assert_eq!(dropped, 0, "{queue}");
        // Each flow may have the limit and one more packet in the queue: 1.7 ms at 100 Mbit/s.
        let most_us = 10_000 + 3 * (limit_bytes as u32 + 1_500) * 8 / 100;
        assert!(rtt_max_us(&output) <= most_us + 200, "{} us: {queue}", rtt_max_us(&output));
        let total: u64 = received(&output).iter().sum();
        assert!(total > 45_000_000, "{total} bytes of 4 s at 100 Mbit/s: {queue}");
    }
    // Without a limit, the queue fills.
    let output = run(&behind_one_interface(3, None, &fifo(1_000)));
    assert!(rtt_max_us(&output) > 100_000, "{} us", rtt_max_us(&output));
}

/// Totals of all flows: packets dropped, segments retransmitted, refusals, reductions.
fn troubles(output: &Output) -> [u64; 4] {
    let sum = |count: fn(&FlowSummary) -> u64| output.summary.flows.iter().map(count).sum();
    [
        sum(|flow| flow.dropped_packets),
        sum(|flow| flow.retransmitted_segs),
        sum(|flow| flow.local_drops.unwrap().into()),
        sum(|flow| flow.congestion_events.into()),
    ]
}

#[test]
fn what_a_full_host_refuses_is_congestion_and_no_loss() {
    for profile in ["linux-2.6.6", "linux-2.6.26", "linux-3.16", "linux-6"] {
        for tso in [false, true] {
            let mut short = behind_one_interface(4, None, &fifo(40));
            short["profile"] = json!(profile);
            for flow in short["flows"].as_array_mut().unwrap() {
                flow["switches"]["tso"] = json!(tso);
            }
            let output = run(&short);
            let [dropped, resent, refused, reductions] = troubles(&output);
            assert_eq!([dropped, resent], [0, 0], "{profile}, tso {tso}");
            assert!(reductions >= 10 && refused >= reductions, "{refused} refused, {reductions}");
            let total: u64 = received(&output).iter().sum();
            assert!(total > 45_000_000, "{total} bytes of 4 s at 100 Mbit/s: {profile}, tso {tso}");
            for flow in short["flows"].as_array_mut().unwrap() {
                flow["switches"]["local_drops"] = json!(false);
            }
            let [dropped, resent, refused, _] = troubles(&run(&short));
            assert!(dropped > 0 && resent > 0 && refused == 0, "{profile}, tso {tso}");
        }
    }
}

/// Tries of a sender without ACKs: it tries again after at most half a second.
const TRIES_IN_4_S: u32 = 7;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A host loses none of its own segments, however small its queue is, and keeps sending. Of
    /// eleven flows with a queue of one packet, one may find it full each time. Then it keeps
    /// trying.
    #[test]
    fn a_host_loses_none_of_its_own_segments(
        (packets, flows, rtt_ms) in (0u32..30, 1usize..12, 1u64..60),
        (tso, paced, rate_mbit) in (any::<bool>(), any::<bool>(), 20u64..200),
        algorithm in prop::sample::select(vec!["reno", "cubic", "bbr", "dctcp", "vegas"]),
        profile in prop::sample::select(vec!["linux-2.6.26", "linux-4.14", "linux-6"]),
    ) {
        let mut short = behind_one_interface(flows, None, &fifo(packets));
        short["profile"] = json!(profile);
        short["network"]["rate_bps"] = json!(rate_mbit * MBIT);
        short["network"]["queue"] = json!({"packets": 1_000_000});
        for flow in short["flows"].as_array_mut().unwrap() {
            flow["algorithm"] = json!(algorithm);
            flow["rtt_ns"] = json!(rtt_ms * MILLISECOND);
            flow["switches"] = json!({"tso": tso, "pacing": if paced { "fq" } else { "off" }});
        }
        let output = run(&short);
        let [dropped, ..] = troubles(&output);
        prop_assert_eq!(dropped, 0);
        for (flow, bytes) in output.summary.flows.iter().zip(received(&output)) {
            let is_alive = bytes > 0 || flow.local_drops >= Some(TRIES_IN_4_S);
            prop_assert!(is_alive, "{} sends nothing: {:?}", flow.label, flow.local_drops);
        }
    }
}

#[test]
fn fair_queues_of_a_host_share_it_among_its_flows() {
    for queue in [fq(1_000), fq_codel(), in_turns()] {
        let shares = received(&run(&behind_one_interface(3, Some(100_000), &queue)));
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        assert!(*most < least + least / 50, "{shares:?}: {queue}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A flow alone in its host behaves the same with a FIFO queue and with a queue for each flow
    /// or class. Departures are known at once from the first, and reported later by the others.
    #[test]
    fn a_flow_alone_hears_the_same_of_any_queue(
        (edge_mbit, rate_mbit, rtt_ms) in (5u64..80, 5u64..80, 1u64..60),
        (tso, paced, limit) in (any::<bool>(), any::<bool>(), 3_000u64..200_000),
        queue in 5u32..200,
    ) {
        let output = |edge_queue: Value| {
            let mut flow = flow("cubic", None, rtt_ms * MILLISECOND);
            flow["switches"] = json!({
                "tso": tso, "pacing": if paced { "fq" } else { "off" }, "tsq_bytes": limit,
            });
            let mut short = scenario(rate_mbit * MBIT, queue, 4, vec![flow]);
            short["network"]["edge_rate_bps"] = json!(edge_mbit * MBIT);
            short["network"]["edge_queue"] = edge_queue;
            short["record"]["interval_ns"] = json!(100 * MILLISECOND);
            run(&short)
        };
        let first = output(fifo(100_000));
        for other in [fq(100_000), json!({"limit": {"packets": 100_000}, "discipline": {
            "kind": "classes", "by": {"flows": [0]}, "threshold": null,
            "serve": {"priority": {"classes": 1}},
        }})] {
            prop_assert_eq!(first.tables(), output(other).tables());
        }
    }
}

/// Two flows, the second one later, from hosts that are exactly as fast as the bottleneck.
fn saturated() -> Value {
    let mut second = flow("reno", None, 5 * MILLISECOND);
    second["label"] = json!("second");
    second["start_ns"] = json!(2 * SECOND);
    let flows = vec![flow("reno", None, 5 * MILLISECOND), second];
    let mut short = scenario(200 * MBIT, 83, 8, flows);
    short["profile"] = json!("linux-3.16");
    short["network"]["edge_rate_bps"] = json!(200 * MBIT);
    short
}

fn causes(output: &Output) -> Vec<Cause> {
    output.summary.doubts.iter().map(|doubt| doubt.cause).collect()
}

#[test]
fn a_lock_out_is_reported_and_jitter_behind_the_interface_prevents_it() {
    let locked = run(&saturated());
    assert!(causes(&locked).contains(&Cause::LockedOut), "{:?}", locked.summary.doubts);
    assert!(locked.summary.flows[1].received_bytes < 1_000_000);
    let jittered = run(&with(saturated(), "/network/edge_jitter_ns", json!(60_000)));
    assert_eq!(causes(&jittered), []);
    assert!(jittered.summary.flows[1].received_bytes > 20_000_000);
}

#[test]
fn a_host_is_the_bottleneck_only_if_the_network_drops_and_marks_nothing() {
    let one = |rate_mbit: u64| {
        let mut short = scenario(200 * MBIT, 83, 4, vec![flow("reno", None, 5 * MILLISECOND)]);
        short["network"]["edge_rate_bps"] = json!(rate_mbit * MBIT);
        short
    };
    assert_eq!(causes(&run(&one(150))), [Cause::Host]);
    assert_eq!(causes(&run(&one(250))), []);
    // No host limits a flow that hardly sends.
    let idle = with(one(150), "/flows/0/demand", json!({"transfer": 100_000}));
    assert_eq!(causes(&run(&idle)), []);
}

#[test]
fn phases_are_of_several_flows_only() {
    let flows = |count: usize| {
        let flow = |index| {
            let mut flow = flow("reno", None, 20 * MILLISECOND);
            flow["label"] = json!(format!("reno {index}"));
            flow
        };
        let mut short = scenario(50 * MBIT, 50, 30, (0..count).map(flow).collect());
        short["profile"] = json!("linux-2.6.26");
        run(&short)
    };
    assert_eq!(causes(&flows(1)), []);
    assert_eq!(causes(&flows(2)), [Cause::Phase]);
}

/// A flow that begins in the queue of another one knows the RTT of the empty path.
#[test]
fn handshakes_measure_the_empty_path() {
    let rtt_ns = 40 * MILLISECOND;
    let mut late = flow("reno", None, rtt_ns);
    late["start_ns"] = json!(5 * SECOND);
    let flows = vec![flow("reno", None, rtt_ns), late];
    let output =
        run(&with(scenario(10_000_000, 100, 10, flows), "/record/interval_ns", json!(MILLISECOND)));
    let samples = &output.flows;
    let of_late: Vec<_> = (0..samples.flow.len()).filter(|&row| samples.flow[row] == 1).collect();
    let known: Vec<_> = of_late.iter().map(|&row| samples.min_rtt_us[row]).collect();
    assert!(known.len() > 1_000 && known.iter().all(|&us| us == 40_000), "{known:?}");
    let measured = output.summary.flows[1].rtt_min_us.unwrap();
    assert!(measured > 60_000, "{measured} us: its data met the other's queue");
}
