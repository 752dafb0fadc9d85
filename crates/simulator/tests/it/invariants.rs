//! Properties of every run of every scenario.

use crate::common::{MILLISECOND, SECOND, run};
use dumbbell_algorithm::registry;
use dumbbell_network::{Discipline, Example};
use dumbbell_record::Output;
use dumbbell_tcp::PROFILES;
use proptest::prelude::*;
use serde_json::{Value, json};

fn any_flow() -> impl Strategy<Value = Value> {
    let preset = prop_oneof![Just(None), Just(Some("li2007"))];
    let paced = (1u64..20_000_000, 0u64..20_000_000).prop_map(
        |(first, then)| json!({"app_limited": {"rate_bps": [[0, first], [2 * SECOND, then]]}}),
    );
    let demand = prop_oneof![
        2 => Just(json!("endless")),
        2 => (1u64..3_000_000).prop_map(|bytes| json!({"transfer": bytes})),
        1 => paced,
    ];
    let stop = prop_oneof![Just(None), (2_500u64..6_000).prop_map(Some)];
    let ways = (0..registry().len(), 0u8..8, any::<[bool; 2]>());
    (ways, preset, 10u64..300, 0u64..2_000, stop, demand, 200u16..2_000).prop_map(
        |(
            (algorithm, turn, [ecn, handshake]),
            preset,
            rtt_ms,
            start_ms,
            stop_ms,
            demand,
            packet_bytes,
        )| {
            let algorithm = &registry()[algorithm];
            let has = |preset: &&str| algorithm.presets.iter().any(|known| known.name == *preset);
            let ecn = if ecn { "classic" } else { "off" };
            let switches = json!({"ecn": ecn, "handshake": handshake});
            json!({
                "label": algorithm.name, "algorithm": algorithm.name,
                "preset": preset.filter(has), "switches": switches,
                "turned": turn == 0,
                "rtt_ns": rtt_ms * MILLISECOND, "start_ns": start_ms * MILLISECOND,
                "stop_ns": stop_ms.map(|stop| stop * MILLISECOND),
                "demand": demand,
                "packet_bytes": packet_bytes,
            })
        },
    )
}

/// Every discipline, each as often as it has examples other than FIFO.
fn any_discipline() -> impl Strategy<Value = Value> {
    let of = |example: &Example| {
        let queue: Value = serde_json::from_str(example.queue).unwrap();
        queue["discipline"].clone()
    };
    let all: Vec<Value> = Discipline::examples().iter().map(of).collect();
    prop_oneof![1 => Just(json!({"kind": "fifo"})), 1 => prop::sample::select(all)]
}

/// The queue of a host: of any discipline, or without a limit.
fn any_edge_queue() -> impl Strategy<Value = Value> {
    let endless = json!({"limit": null, "discipline": {"kind": "fifo"}});
    let limited =
        |(limit, discipline)| json!({"limit": {"packets": limit}, "discipline": discipline});
    prop_oneof![1 => Just(endless), 3 => (2u32..1_000, any_discipline()).prop_map(limited)]
}

fn any_share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0f64..0.3]
}

fn any_reordering() -> impl Strategy<Value = Value> {
    let late = |(share, ms)| json!({"probability": share, "delay_ns": ms * MILLISECOND});
    prop_oneof![2 => Just(Value::Null), 1 => (0.01f64..0.3, 1u64..20).prop_map(late)]
}

prop_compose! {
    /// Shares of duplicated and late packets, in each direction. Every second network has neither,
    /// so that its links are plain.
    fn any_trouble()(
        plain: bool,
        duplicate in prop::array::uniform2(any_share()),
        reorder in prop::array::uniform2(any_reordering()),
    ) -> (Value, Value) {
        match plain {
            true => (json!([0.0, 0.0]), json!([null, null])),
            false => (json!(duplicate), json!(reorder)),
        }
    }
}

prop_compose! {
    fn any_network()(
        discipline in any_discipline(),
        reverse_discipline in any_discipline(),
        (duplicate, reorder) in any_trouble(),
        rate_bps in 300_000u64..300_000_000,
        delay_ms in 0u64..5,
        limit in 1u32..300,
        in_bytes: bool,
        edge in prop_oneof![Just(None), (1_000_000u64..1_000_000_000).prop_map(Some)],
        edge_queue in any_edge_queue(),
        one_host: bool,
        jitter_us in 0u64..500,
        host_delay_us in prop_oneof![Just(0), 1u64..2_000],
        reverse_bps in 300_000u64..300_000_000,
        reverse_limit in 1u32..100,
        loss in prop::array::uniform4(prop_oneof![Just(0.0), 0.0f64..0.1]),
        overhead in prop_oneof![Just(0u16), Just(38)],
    ) -> Value {
        let queue = if in_bytes { json!({"bytes": u64::from(limit) * 1_500}) } else { json!({"packets": limit}) };
        let [sender, bottleneck, receiver, reverse] = loss;
        json!({
            "rate_bps": rate_bps, "delay_ns": delay_ms * MILLISECOND, "queue": queue,
            "discipline": discipline, "overhead_bytes": overhead, "edge_rate_bps": edge,
            "edge_jitter_ns": jitter_us * 1_000, "edge_queue": edge_queue, "one_host": one_host,
            "host_delay_ns": host_delay_us * 1_000,
            "reverse_rate_bps": reverse_bps, "reverse_queue": {"packets": reverse_limit},
            "reverse_discipline": reverse_discipline, "duplicate": duplicate, "reorder": reorder,
            "loss": {"sender": sender, "bottleneck": bottleneck, "receiver": receiver, "reverse": reverse},
        })
    }
}

prop_compose! {
    pub fn any_scenario()(
        network in any_network(),
        flows in prop::collection::vec(any_flow(), 1..5),
        profile in 0..PROFILES.len(),
        seed: u64,
    ) -> Value {
        let profile = PROFILES[profile].name;
        json!({
            "seed": seed, "duration_ns": 8 * SECOND,
            "profile": profile, "network": network, "flows": flows,
            "record": {
                "interval_ns": 50 * MILLISECOND,
                "events": ["start", "stop", "done", "congestion", "timeout", "recovered", "drop", "loss", "retransmit"],
                "algorithm_state": true,
                "capture": false,
            },
        })
    }
}

fn packets_are_conserved(output: &Output) {
    for flow in &output.summary.flows {
        let accounted = flow.received_packets
            + flow.dropped_packets
            + flow.lost_packets
            + flow.in_flight_packets;
        assert_eq!(flow.sent_segs + flow.duplicated_packets, accounted, "{flow:?}");
        assert!(flow.acked_bytes <= flow.received_bytes, "{flow:?}");
        assert!(flow.received_bytes <= flow.sent_bytes, "{flow:?}");
        assert!(flow.retransmitted_segs <= flow.sent_segs, "{flow:?}");
    }
    for queue in &output.summary.queues {
        let accounted = queue.departed_packets
            + queue.dropped_packets
            + queue.lost_packets
            + u64::from(queue.backlog_packets);
        assert_eq!(queue.arrived_packets + queue.duplicated_packets, accounted, "{queue:?}");
    }
}

fn transfers_are_exact(output: &Output, scenario: &Value) {
    for (flow, spec) in output.summary.flows.iter().zip(scenario["flows"].as_array().unwrap()) {
        if let Some(bytes) = spec["demand"]["transfer"].as_u64() {
            assert!(flow.acked_bytes <= bytes && flow.received_bytes <= bytes, "{flow:?}");
            let complete = spec["stop_ns"].is_null() && flow.end_ns < output.summary.duration_ns;
            assert!(!complete || flow.acked_bytes == bytes, "{flow:?} of {bytes} bytes");
        }
    }
}

fn windows_stay_in_bounds_and_time_advances(output: &Output) {
    let flows = &output.flows;
    assert!(flows.cwnd_segs.iter().all(|&cwnd| (1..1 << 28).contains(&cwnd)));
    assert!(flows.ssthresh_segs.iter().all(|&ssthresh| ssthresh >= 1));
    assert!(flows.time_ns.is_sorted() && output.events.time_ns.is_sorted());
    let mut latest = std::collections::BTreeMap::new();
    for row in 0..flows.time_ns.len() {
        let now = [
            flows.sent_segs[row],
            flows.retransmitted_segs[row],
            flows.acked_bytes[row],
            flows.received_bytes[row],
        ];
        if let Some(before) = latest.insert(flows.flow[row], now) {
            assert!(
                now.iter().zip(before).all(|(now, before)| *now >= before),
                "{before:?} {now:?}"
            );
        }
    }
}

fn queues_respect_their_limit(output: &Output, scenario: &Value) {
    let forward = &output.summary.queues[0];
    let rate = scenario["network"]["rate_bps"].as_u64().unwrap();
    let capacity =
        u128::from(rate) * u128::from(output.summary.duration_ns) / 8 / u128::from(SECOND);
    assert!(u128::from(forward.departed_bytes) <= capacity + 1);
    if scenario["network"]["discipline"]["kind"] == "classes" {
        // It has a limit for each class.
        return;
    }
    let packet_max = scenario["flows"].as_array().unwrap().iter();
    let packet_max = packet_max.map(|flow| flow["packet_bytes"].as_u64().unwrap()).max().unwrap();
    let overhead = scenario["network"]["overhead_bytes"].as_u64().unwrap();
    match scenario["network"]["queue"]["packets"].as_u64() {
        // One more packet is being sent.
        Some(limit) => assert!(u64::from(forward.backlog_packets_max) <= limit + 1),
        None => {
            let limit = scenario["network"]["queue"]["bytes"].as_u64().unwrap();
            let most = limit + packet_max + overhead;
            let backlog = output.queues.queue.iter().zip(&output.queues.backlog_bytes);
            assert!(backlog.filter(|(queue, _)| **queue == 0).all(|(_, &bytes)| bytes <= most));
        }
    }
}

/// Nothing arrives before it was sent, and no queue holds more than ever came.
fn time_passes_on_the_way(output: &Output, scenario: &Value) {
    // Packets pass a host four times in a round trip.
    let hosts_ns = 4 * scenario["network"]["host_delay_ns"].as_u64().unwrap();
    for (flow, spec) in output.summary.flows.iter().zip(scenario["flows"].as_array().unwrap()) {
        let base_us = (spec["rtt_ns"].as_u64().unwrap() + hosts_ns) / 1_000;
        assert!(flow.rtt_min_us.is_none_or(|rtt| u64::from(rtt) >= base_us), "{flow:?}");
    }
    for queue in &output.summary.queues {
        let arrived = queue.arrived_packets + queue.duplicated_packets;
        assert!(queue.waiting_bytes_mean <= arrived * 2_100, "{queue:?}");
    }
}

fn events_agree_with_the_counters(output: &Output) {
    let count = |kind: u8, flow: u32| {
        let kinds = output.events.kind.iter().zip(&output.events.flow);
        kinds.filter(|&(k, f)| *k == kind && *f == flow).count() as u64
    };
    for flow in &output.summary.flows {
        assert_eq!(count(3, flow.flow), u64::from(flow.congestion_events));
        assert_eq!(count(4, flow.flow), u64::from(flow.timeouts));
        assert_eq!(count(6, flow.flow), flow.dropped_packets);
        assert_eq!(count(7, flow.flow), flow.lost_packets);
        assert_eq!(count(8, flow.flow), flow.retransmitted_segs);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn every_run_keeps_the_invariants(scenario in any_scenario()) {
        let output = run(&scenario);
        packets_are_conserved(&output);
        transfers_are_exact(&output, &scenario);
        windows_stay_in_bounds_and_time_advances(&output);
        queues_respect_their_limit(&output, &scenario);
        time_passes_on_the_way(&output, &scenario);
        events_agree_with_the_counters(&output);
    }

    #[test]
    fn the_same_scenario_gives_the_same_bytes(scenario in any_scenario()) {
        let (first, second) = (run(&scenario), run(&scenario));
        prop_assert_eq!(first.tables(), second.tables());
        let summary = |output: &Output| serde_json::to_string(&output.summary).unwrap();
        prop_assert_eq!(summary(&first), summary(&second));
    }

    /// This holds although no train of acknowledgements is processed at once.
    #[test]
    fn a_run_whose_modes_are_kept_is_the_run_without(scenario in any_scenario()) {
        let plain = run(&scenario);
        let mut scenario = scenario;
        scenario["record"]["modes"] = json!(true);
        let kept = run(&scenario);
        let tables = |output: &Output| {
            output.tables().into_iter().filter(|(name, _)| *name != "modes").collect::<Vec<_>>()
        };
        prop_assert_eq!(tables(&plain), tables(&kept));
        let summary = |output: &Output| serde_json::to_string(&output.summary).unwrap();
        prop_assert_eq!(summary(&plain), summary(&kept));
        prop_assert!(plain.modes.time_ns.is_empty());
    }

    /// This holds although no train passes links with histograms of delays.
    #[test]
    fn a_run_whose_delays_are_kept_is_the_run_without(
        scenario in any_scenario(), length_ms in 1u64..10_000,
    ) {
        let plain = run(&scenario);
        let mut scenario = scenario;
        scenario["record"]["delays_ns"] = json!(length_ms * MILLISECOND);
        let kept = run(&scenario);
        let tables = |output: &Output| {
            output.tables().into_iter().filter(|(name, _)| *name != "delays").collect::<Vec<_>>()
        };
        prop_assert_eq!(tables(&plain), tables(&kept));
        let summary = |output: &Output| serde_json::to_string(&output.summary).unwrap();
        prop_assert_eq!(summary(&plain), summary(&kept));
        for (index, queue) in (0..).zip(&kept.summary.queues) {
            let rows = kept.delays.queue.iter().zip(&kept.delays.packets);
            let counted: u64 = rows.filter(|(q, _)| **q == index).map(|(_, packets)| packets).sum();
            // One packet may be leaving.
            prop_assert!((0..=1).contains(&(counted - queue.departed_packets)), "{queue:?}");
        }
    }

    #[test]
    fn a_captured_run_is_the_run_without_capture(scenario in any_scenario()) {
        let plain = run(&scenario);
        let captured = run(&crate::common::with(scenario, "/record/capture", json!(true)));
        prop_assert_eq!(plain.tables(), captured.tables());
        let summary = |output: &Output| serde_json::to_string(&output.summary).unwrap();
        prop_assert_eq!(summary(&plain), summary(&captured));
    }
}
