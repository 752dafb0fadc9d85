//! The simulator compared with theory.
#![allow(clippy::disallowed_methods, reason = "what is expected is a band")]

use crate::common::{MILLISECOND, SECOND, bdp_packets, flow, run, scenario, with};
use serde_json::json;

/// Share of the bottleneck that data used, after a warm-up that ends slow start.
fn utilisation(algorithm: &str, preset: Option<&str>, queue_share: f64, flows: usize) -> f64 {
    let (rate, rtt, seconds) = (100_000_000, 82 * MILLISECOND, 600);
    let queue = (queue_share * bdp_packets(rate, rtt)) as u32;
    let scenario = scenario(rate, queue, seconds, vec![flow(algorithm, preset, rtt); flows]);
    let scenario = with(scenario, "/record/interval_ns", json!(100_000 * MILLISECOND));
    let output = run(&scenario);
    // Samples of the forward queue at 100 s and at the end.
    let departed: Vec<_> = output
        .queues
        .queue
        .iter()
        .zip(&output.queues.departed_bytes)
        .filter(|(queue, _)| **queue == 0)
        .map(|(_, bytes)| *bytes as f64)
        .collect();
    let (first, last) = (departed[0], departed[departed.len() - 1]);
    (last - first) * 8.0 / (rate as f64 * (seconds - 100) as f64)
}

fn assert_near(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    assert!(
        error.abs() <= tolerance,
        "{what}: measured {measured:.4}, expected {expected:.4} within {tolerance}"
    );
}

/// Sawtooth of a single flow that halves its window: W grows by one segment per round trip, from
/// (D+q)/2 to D+q.
#[test]
fn reno_alone_fills_the_link_as_the_sawtooth_does() {
    for (queue_share, expected) in [(0.05, 0.786), (0.1, 0.818), (0.2, 0.871), (0.5, 0.964)] {
        let what = format!("Reno, queue {queue_share} BDP");
        assert_near(&what, utilisation("reno", None, queue_share, 1), expected, 0.03);
    }
}

#[test]
fn scalable_alone_fills_the_link_as_the_sawtooth_does() {
    for (queue_share, expected) in [(0.05, 0.974), (0.1, 0.995), (0.2, 1.0)] {
        let what = format!("Scalable, queue {queue_share} BDP");
        assert_near(&what, utilisation("scalable", Some("li2007"), queue_share, 1), expected, 0.02);
    }
}

#[test]
fn a_queue_of_one_bdp_keeps_every_algorithm_at_full_utilisation() {
    for algorithm in ["reno", "scalable", "highspeed", "htcp", "bic", "cubic"] {
        assert_near(algorithm, utilisation(algorithm, None, 1.0, 1), 1.0, 0.005);
    }
}

/// Mean window of one flow under independent loss, in segments: its rate times the
/// round-trip time, on a path whose link is never full.
fn window_under_loss(algorithm: &str, preset: Option<&str>, probability: f64, seconds: u64) -> f64 {
    let (rate, rtt) = (100_000_000_000, 100 * MILLISECOND);
    let scenario = scenario(rate, 1_000_000, seconds, vec![flow(algorithm, preset, rtt)]);
    let output = run(&with(scenario, "/network/loss/receiver", json!(probability)));
    let delivered = output.summary.flows[0].received_packets as f64;
    delivered / seconds as f64 * 0.1
}

/// Deterministic forms; independent losses make the mean up to 15 % lower.
#[test]
fn response_functions_meet_their_closed_forms() {
    let cases = [
        ("reno", None, 1e-3, (1.5f64 / 1e-3).sqrt(), 0.2),
        ("reno", None, 1e-4, (1.5f64 / 1e-4).sqrt(), 0.2),
        ("highspeed", Some("li2007"), 1e-4, 0.12 / 1e-4f64.powf(0.835), 0.3),
        ("highspeed", Some("li2007"), 1e-5, 0.12 / 1e-5f64.powf(0.835), 0.3),
        ("scalable", Some("li2007"), 1e-3, 0.08 / 1e-3, 0.3),
        ("scalable", Some("li2007"), 1e-4, 0.08 / 1e-4, 0.3),
        ("cubic", None, 1e-4, 1.054 * (0.1f64 / 1e-4).powf(0.75), 0.3),
        ("cubic", None, 1e-5, 1.054 * (0.1f64 / 1e-5).powf(0.75), 0.3),
    ];
    for (algorithm, preset, probability, expected, tolerance) in cases {
        let measured = window_under_loss(algorithm, preset, probability, 2_000);
        let what = format!("{algorithm} at loss {probability}");
        assert_near(&what, measured, expected, tolerance);
    }
}

#[test]
fn two_reno_flows_share_equally_and_the_shorter_rtt_gets_more() {
    let rate = 10_000_000;
    // Five seeds, since chance decides which flow meets the full queue, and epochs are long.
    let shares = |rtts: [u64; 2]| {
        let flows = rtts.map(|rtt| flow("reno", None, rtt * MILLISECOND)).to_vec();
        let scenario =
            with(scenario(rate, 40, 1_000, flows), "/network/edge_jitter_ns", json!(1_200_000));
        let received = (1..=5).map(|seed| run(&with(scenario.clone(), "/seed", json!(seed))));
        let totals = received.fold([0, 0], |totals, output| {
            let flows = output.summary.flows;
            [totals[0] + flows[0].received_bytes, totals[1] + flows[1].received_bytes]
        });
        totals[0] as f64 / totals[1] as f64
    };
    assert_near("equal round trips", shares([82, 82]), 1.0, 0.1);
    assert!(shares([42, 162]) > 2.0, "42 ms against 162 ms: {}", shares([42, 162]));
}

/// The flow sends exactly the application's data, and none of it waits for the link.
#[test]
fn an_application_limited_flow_gets_the_rate_of_its_application() {
    let steps = json!([[0, 2_000_000], [10 * SECOND, 0], [20 * SECOND, 6_000_000]]);
    for algorithm in ["reno", "cubic", "bbr", "bbr3", "vegas"] {
        let mut flow = flow(algorithm, None, 40 * MILLISECOND);
        flow["demand"] = json!({"app_limited": {"rate_bps": steps}});
        let mut scenario = scenario(10_000_000, 50, 30, vec![flow]);
        scenario["record"]["interval_ns"] = json!(5 * SECOND);
        let output = run(&scenario);
        let received = &output.flows.received_bytes;
        let mbit = |from: usize, to: usize| (received[to] - received[from]) as f64 * 8.0 / 1e6;
        // Samples are at 5, 10, ... 30 s. They differ by a segment and the data in flight.
        assert!((mbit(0, 1) - 10.0).abs() < 0.03, "{algorithm}: {received:?}");
        assert!(mbit(2, 3) < 0.001, "{algorithm}: {received:?}");
        assert!((mbit(4, 5) - 30.0).abs() < 0.03, "{algorithm}: {received:?}");
        let flow = &output.summary.flows[0];
        assert_eq!((flow.retransmitted_segs, flow.dropped_packets), (0, 0), "{algorithm}");
    }
}

/// Duplicate ACKs count as segments that arrived, and the ACK that ends a recovery must not
/// count them again.
#[test]
fn westwood_never_estimates_more_than_the_link_carries() {
    let flows = vec![flow("westwood", None, 40 * MILLISECOND)];
    let lossy = with(scenario(10_000_000, 33, 20, flows), "/network/loss/receiver", json!(0.005));
    let sampled = with(lossy, "/record/interval_ns", json!(20 * MILLISECOND));
    let scenario = with(sampled, "/record/algorithm_state", json!(true));
    for seed in 1..=4 {
        let output = run(&with(scenario.clone(), "/seed", json!(seed)));
        let most_kbps = *output.internals.info0.iter().max().expect("samples");
        assert!((8_000..=9_653).contains(&most_kbps), "{most_kbps} of 9,653 kbit/s");
    }
}
