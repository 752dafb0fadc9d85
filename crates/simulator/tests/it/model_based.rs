//! BBR and BBRv3 on simulated paths: the values that their models of the path must reach.

use crate::common::{MILLISECOND, SECOND, bdp_packets, flow, run, scenario, with};
use dumbbell_record::Output;
use serde_json::{Value, json};

const RATE: u64 = 50_000_000;
const RTT: u64 = 40 * MILLISECOND;
/// Payload of a packet on a link without overhead.
const PAYLOAD: f64 = 1448.0 / 1500.0;

/// `count` flows of an algorithm, with a queue of `queue_share` bandwidth-delay products.
fn flows(algorithm: &str, count: usize, queue_share: f64, seconds: u64) -> Value {
    let queue = (queue_share * bdp_packets(RATE, RTT)) as u32;
    scenario(RATE, queue, seconds, vec![flow(algorithm, None, RTT); count])
}

fn with_loss(scenario: Value, probability: f64) -> Value {
    with(scenario, "/network/loss/bottleneck", json!(probability))
}

/// Share of the bottleneck's payload that all flows together received.
fn goodput(output: &Output) -> f64 {
    let summary = &output.summary;
    let bytes: u64 = summary.flows.iter().map(|flow| flow.received_bytes).sum();
    bytes as f64 * 8e9 / summary.duration_ns as f64 / (RATE as f64 * PAYLOAD)
}

fn retransmitted_share(output: &Output) -> f64 {
    let flows = &output.summary.flows;
    let sent: u64 = flows.iter().map(|flow| flow.sent_segs).sum();
    let again: u64 = flows.iter().map(|flow| flow.retransmitted_segs).sum();
    again as f64 / sent as f64
}

/// Mean queue at the bottleneck, in bandwidth-delay products.
fn standing_queue(output: &Output) -> f64 {
    output.summary.queues[0].waiting_bytes_mean as f64 / (1500.0 * bdp_packets(RATE, RTT))
}

fn assert_within(what: &str, measured: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&measured), "{what}: {measured:.4}, not {low} to {high}");
}

/// In each ten seconds, ProbeRTT takes 200 ms and a round trip with next to nothing in flight (2.4
/// %). Pacing takes one percent, and Startup some round trips. Path and queue hold the data that
/// Startup has in flight (see below).
#[test]
fn a_lone_flow_fills_the_path_and_leaves_its_queue_empty() {
    for algorithm in ["bbr", "bbr3"] {
        let output = run(&flows(algorithm, 1, 2.5, 60));
        assert_within(&format!("{algorithm}: goodput"), goodput(&output), 0.93, 0.99);
        assert_within(&format!("{algorithm}: queue"), standing_queue(&output), 0.0, 0.15);
        assert_within(algorithm, retransmitted_share(&output), 0.0, 0.0);
    }
}

/// BBR's window in Startup is 2.887 times the bandwidth-delay product, and three chunks of 1/1024 s
/// at 2.887 times its rate: 482 and 36 segments. The path and a queue of twice its product hold
/// 500. The rest is lost in each of the at most three round trips in which Startup sees no growth
/// of the rate. The first round trip of recovery is an exception, as its window follows the data in
/// flight. BBRv3's window is twice the product, and fits.
#[test]
fn startup_overflows_a_queue_of_two_products_by_what_its_window_is_beyond() {
    let lost = |algorithm, seconds| {
        let output = run(&flows(algorithm, 1, 2.0, seconds));
        output.summary.flows[0].retransmitted_segs
    };
    let in_startup = lost("bbr", 2);
    assert!((1..=3 * 18).contains(&in_startup), "bbr: {in_startup}");
    assert_eq!(lost("bbr", 30), in_startup, "none later");
    assert_eq!(lost("bbr3", 30), 0);
}

/// Each flow keeps twice the best rate of its last ten round trips in flight. Together these rates
/// are somewhat more than the link's.
#[test]
fn several_flows_of_bbr_keep_a_queue_of_a_bandwidth_delay_product() {
    let output = run(&flows("bbr", 4, 3.0, 60));
    assert_within("goodput", goodput(&output), 0.95, 1.0);
    assert_within("queue", standing_queue(&output), 0.4, 1.5);
}

/// A flight delivers 99 % of a window. BBRv3 keeps that much of it after each round trip with a
/// loss (four of five), until the next probe, 62 round trips later: 0.79 on average.
#[test]
fn one_percent_of_random_loss_costs_bbr_next_to_nothing_and_bbr3_some() {
    for (algorithm, low, high) in [("bbr", 0.90, 0.99), ("bbr3", 0.65, 0.92), ("cubic", 0.0, 0.5)] {
        let output = run(&with_loss(flows(algorithm, 1, 1.0, 60), 0.01));
        assert_within(algorithm, goodput(&output), low, high);
    }
}

#[test]
fn in_a_shallow_queue_bbr3_loses_far_less_than_bbr() {
    let lost = |algorithm| retransmitted_share(&run(&flows(algorithm, 2, 0.1, 60)));
    let (first, third) = (lost("bbr"), lost("bbr3"));
    assert!(first > 0.03, "bbr: {first:.4}");
    assert!(third < first / 3.0, "bbr3: {third:.4}, bbr: {first:.4}");
}

/// Pacing, not the window, limits a lone flow.
#[test]
fn the_window_leaves_room_beyond_what_is_in_flight() {
    let scenario = with(flows("bbr", 1, 2.0, 20), "/record/interval_ns", json!(SECOND / 10));
    let output = run(&scenario);
    let samples = &output.flows;
    let roomy = samples.cwnd_segs.iter().zip(&samples.in_flight_segs).skip(20);
    let roomy = roomy.filter(|&(cwnd, in_flight)| *cwnd > *in_flight).count();
    assert!(roomy > 160, "{roomy} of 180 samples");
}
