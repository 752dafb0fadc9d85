//! Delays of single packets, compared with closed forms.

use std::collections::BTreeMap;

use crate::common::{MILLISECOND, SECOND, flow, run, scenario, with};
use dumbbell_record::{NO_FLOW, NO_QUEUE, Output};
use serde_json::{Value, json};

/// Datagrams of 1,500 bytes.
fn udp(rate_bps: u64, rtt_ms: u64) -> Value {
    let mut flow = flow("reno", None, rtt_ms * MILLISECOND);
    flow["label"] = json!("udp");
    flow["transport"] = json!({"udp": {"rate_bps": rate_bps, "on_off": null}});
    flow
}

fn with_delays(scenario: Value, length_ns: u64) -> Value {
    let mut scenario = scenario;
    scenario["record"]["delays_ns"] = json!(length_ns);
    scenario
}

/// Number of packets for each delay, over all periods: in a queue, or one-way, and of a flow.
fn counts(output: &Output, queue: u32, flow: u32) -> BTreeMap<u64, u64> {
    let delays = &output.delays;
    let mut counts = BTreeMap::new();
    for row in 0..delays.queue.len() {
        if (delays.queue[row], delays.flow[row]) == (queue, flow) {
            *counts.entry(delays.delay_ns[row]).or_insert(0) += delays.packets[row];
        }
    }
    counts
}

fn assert_near(measured: u64, expected: u64) {
    assert!(measured.abs_diff(expected) * 100 <= expected, "{measured} instead of {expected}");
}

/// A link of 10 Mbit/s with twice as much traffic. Once the queue is full, each packet waits for
/// all packets in the queue.
#[test]
fn datagrams_that_overfill_a_queue_wait_for_all_of_it() {
    let output = run(&with_delays(scenario(10_000_000, 40, 10, vec![udp(20_000_000, 20)]), SECOND));
    let service = 1_500 * 8 * SECOND / 10_000_000;
    let waits = counts(&output, 0, 0);
    assert_eq!(waits.values().sum::<u64>(), output.summary.queues[0].departed_packets + 1);
    // Two packets arrive while one is sent. One of them finds space: either when the next one
    // begins to be sent, or in the middle of that. So it waits for 40 or 39.5 others.
    let last = *waits.keys().last().unwrap();
    assert_near(last, 40 * service);
    let settled: u64 = waits.range(39 * service..).map(|(_, packets)| packets).sum();
    assert!(settled > 8_000, "{settled} of {}", waits.values().sum::<u64>());
    // Then it is sent, and travels for 10 ms.
    let summary = &output.summary.flows[0];
    let delay = summary.delay.unwrap();
    assert_eq!(delay.min_ns, service + 10 * MILLISECOND);
    assert_near(delay.max_ns, 41 * service + 10 * MILLISECOND);
    let one_way = counts(&output, NO_QUEUE, 0);
    assert_eq!(one_way.values().sum::<u64>(), summary.received_packets);
    assert_near(*one_way.keys().last().unwrap(), delay.max_ns);
    assert_near(*one_way.keys().next().unwrap(), delay.min_ns);
    // Every second packet is dropped. The queue is full after 80 of them.
    let lost = summary.dropped_packets as f64 / summary.sent_segs as f64;
    assert!((lost - 0.5).abs() < 0.01, "{lost}");
}

/// Two flows in step, each at half the rate.
#[test]
fn of_two_datagrams_at_once_one_waits_for_the_other() {
    let flows = vec![udp(5_000_000, 20), udp(5_000_000, 20)];
    let output = run(&with_delays(scenario(10_000_000, 40, 10, flows), 10 * SECOND));
    let service = 1_500 * 8 * SECOND / 10_000_000;
    let waits = [counts(&output, 0, 0), counts(&output, 0, 1)];
    for (waits, expected) in waits.iter().zip([0, service]) {
        let (&delay, _) = waits.iter().next().unwrap();
        assert_near(delay, expected);
        assert_eq!(waits.len(), 1, "{waits:?}");
    }
    for (flow, waited) in output.summary.flows.iter().zip([0, service]) {
        let delay = flow.delay.unwrap();
        assert_eq!(delay.mean_ns, waited + service + 10 * MILLISECOND);
        assert_eq!((delay.min_ns, delay.max_ns), (delay.mean_ns, delay.mean_ns));
        assert_eq!(delay.jitter_ns, Some(0));
    }
}

/// Every second datagram takes 3 ms more, so each delay differs from the one before by 3 ms.
#[test]
fn jitter_is_how_much_delays_of_neighbours_differ() {
    let mut scenario = scenario(10_000_000, 40, 10, vec![udp(1_000_000, 20)]);
    scenario["record"]["interval_ns"] = json!(SECOND);
    let steps: Vec<_> = (0..2_000u64)
        .map(|step| json!([step * 12 * MILLISECOND, (1 + 3 * (step % 2)) * MILLISECOND]))
        .collect();
    let mut resolved = crate::common::resolve(&scenario);
    resolved["links"][0]["delay"] = json!(steps);
    let output = crate::common::run_resolved(&resolved);
    let delay = output.summary.flows[0].delay.unwrap();
    assert_eq!(delay.max_ns - delay.min_ns, 3 * MILLISECOND);
    assert_eq!(delay.jitter_ns, Some(3 * MILLISECOND));
    // The samples add up to the same.
    let table = &output.datagrams;
    let last = table.time_ns.len() - 1;
    assert_eq!(table.time_ns[last], 10 * SECOND);
    let received = table.received_packets[last];
    assert_eq!(received, output.summary.flows[0].received_packets);
    assert_eq!(table.variation_sum_ns[last], (received - 1) * 3 * MILLISECOND);
    assert_eq!(table.delay_sum_ns[last] / received, delay.mean_ns);
    assert_eq!(table.sent_segs[last], output.summary.flows[0].sent_segs);
    assert_eq!(table.received_bytes[last], received * 1_448);
}

/// Keeping delays does not change the run, and the waiting packets agree with the summary.
#[test]
fn delays_are_those_of_the_summary_in_every_discipline() {
    let fq_codel = json!({
        "kind": "fq-codel", "target_ns": 5 * MILLISECOND, "interval_ns": 100 * MILLISECOND,
        "ecn": false, "queues": 1024, "quantum_bytes": 1514,
    });
    for discipline in [json!({"kind": "fifo"}), fq_codel] {
        let flows = vec![flow("cubic", None, 40 * MILLISECOND), udp(2_000_000, 30)];
        let plain = with(scenario(20_000_000, 100, 20, flows), "/network/discipline", discipline);
        let plain = with(plain, "/record/interval_ns", json!(100 * MILLISECOND));
        let (without, output) = (run(&plain), run(&with_delays(plain, SECOND)));
        let summary = |output: &Output| serde_json::to_string(&output.summary).unwrap();
        assert_eq!(summary(&without), summary(&output));
        assert_eq!(without.flows, output.flows);
        let rows = output.delays.queue.iter().zip(&output.delays.flow);
        let whom: std::collections::BTreeSet<_> = rows.collect();
        let expected = [(0, 0), (0, 1), (1, NO_FLOW), (NO_QUEUE, 1)];
        assert_eq!(whom, expected.iter().map(|(queue, flow)| (queue, flow)).collect());
        // All packets are of full size, so the mean over bytes is the mean over packets.
        let all = [counts(&output, 0, 0), counts(&output, 0, 1)];
        let sums = all.iter().flatten().fold((0, 0), |(packets, waited), (delay, count)| {
            (packets + count, waited + u128::from(*delay) * u128::from(*count))
        });
        let queue = &output.summary.queues[0];
        let begun = queue.departed_packets + 1;
        assert!((begun - 1..=begun).contains(&sums.0), "{} of {begun}", sums.0);
        // Little's law: the mean number of waiting packets follows from the mean wait.
        let mean = sums.1 as f64 * 1_500.0 / (20.0 * 1e9);
        let summarised = queue.waiting_bytes_mean as f64;
        assert!((mean / summarised - 1.0).abs() < 0.02, "{mean} for {summarised}");
    }
}

/// Datagrams are lost, duplicated and reordered, and the record of their departures stays right.
#[test]
fn datagrams_in_trouble_are_measured_all_the_same() {
    let mut scenario = scenario(10_000_000, 20, 10, vec![udp(9_900_000, 20)]);
    scenario["network"]["duplicate"] = json!([0.1, 0.0]);
    scenario["network"]["reorder"] =
        json!([{"probability": 0.1, "delay_ns": 5 * MILLISECOND}, null]);
    scenario["network"]["loss"]["bottleneck"] = json!(0.05);
    let output = run(&with(scenario, "/record/interval_ns", json!(SECOND)));
    let flow = &output.summary.flows[0];
    let table = &output.datagrams;
    let summarised = (flow.dropped_packets + flow.lost_packets, flow.received_packets);
    let last = (table.lost_packets.last().unwrap(), table.received_packets.last().unwrap());
    assert_eq!(last, (&summarised.0, &summarised.1));
    assert!(table.lost_packets.is_sorted() && table.lost_packets[4] > summarised.0 / 3);
    assert!(flow.duplicated_packets > 100 && flow.lost_packets > 100 && flow.dropped_packets > 100);
    let one_way = counts(&output, NO_QUEUE, 0);
    assert_eq!(one_way.values().sum::<u64>(), flow.received_packets);
    let delay = flow.delay.unwrap();
    assert!(delay.min_ns >= 11 * MILLISECOND && delay.max_ns < 45 * MILLISECOND, "{delay:?}");
    assert!(delay.jitter_ns.unwrap() > MILLISECOND / 2, "{delay:?}");
}
