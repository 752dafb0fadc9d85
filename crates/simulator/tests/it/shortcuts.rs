//! Shortcuts change only the cost of a run: with any of them disabled, and with all, whole outputs
//! are the same to the byte.

use crate::common::{MILLISECOND, flow, resolve, scenario};
use crate::invariants::any_scenario;
use dumbbell_algorithm::{Algorithms, registry};
use dumbbell_record::Output;
use dumbbell_simulator::{Control, Shortcuts};
use dumbbell_workload::Scenario;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Each shortcut disabled, and all of them.
pub const CLOSED: [(&str, Shortcuts); 5] = {
    const OPEN: Shortcuts = Shortcuts { sender: true, receiver: true, link: true, trains: true };
    [
        ("sender", Shortcuts { sender: false, ..OPEN }),
        ("receiver", Shortcuts { receiver: false, ..OPEN }),
        ("link", Shortcuts { link: false, ..OPEN }),
        ("trains", Shortcuts { trains: false, ..OPEN }),
        ("all", Shortcuts { sender: false, receiver: false, link: false, trains: false }),
    ]
};

fn run_by(shortcuts: Shortcuts, resolved: &Value) -> Output {
    let scenario = Scenario::from_json(&resolved.to_string()).expect("a valid scenario");
    dumbbell_simulator::run_by(shortcuts, scenario, &Algorithms::default(), &Control::default())
        .expect("a whole run")
}

/// The first column or part of the summary that differs between two outputs.
fn difference(one: &Output, other: &Output) -> Option<String> {
    for ((name, columns), (_, others)) in one.tables().into_iter().zip(other.tables()) {
        for (column, other) in columns.iter().zip(&others) {
            if column != other {
                return Some(format!("column {} of {name}", column.name));
            }
        }
    }
    let summary = |output: &Output| serde_json::to_value(&output.summary).expect("plain values");
    let (summary, other_summary) = (summary(one), summary(other));
    if summary != other_summary {
        return Some(format!("the summary: {summary} and {other_summary}"));
    }
    (one.captures != other.captures).then(|| "what was captured".to_owned())
}

fn assert_shortcuts_change_nothing(resolved: &Value) {
    let short = run_by(Shortcuts::default(), resolved);
    for (closed, shortcuts) in CLOSED {
        let long = run_by(shortcuts, resolved);
        let first_difference = difference(&short, &long);
        assert!(
            first_difference.is_none(),
            "without {closed}: {first_difference:?} differs in {resolved}"
        );
    }
}

fn one_of<T: Clone + std::fmt::Debug + 'static>(all: &[T]) -> impl Strategy<Value = T> + use<T> {
    prop::sample::select(all.to_vec())
}

/// Rates at which the time of a 1500-byte packet divides a round trip, so that packets of several
/// hosts reach a link at the same moment.
const RATES: [u64; 8] =
    [100_000, 300_000, 1_000_000, 12_000_000, 24_000_000, 120_000_000, 120_000_000, 240_000_000];

prop_compose! {
    /// Features of receivers and senders on which shortcuts depend.
    fn any_switches()(
        delayed_ack in one_of(&["adaptive", "fixed"]),
        delayed_ack_ms in one_of(&[0u64, 1, 10, 40, 100, 200]),
        timer_tick_ms in one_of(&[None, Some(1u64), Some(10)]),
        quick_acks in one_of(&[0, 1, 16]),
        rto_min_ms in one_of(&[10u64, 200]),
        growth in one_of(&["acks", "segments", "bytes"]),
        timestamps: bool,
        sack: bool,
        receive_window in one_of(&[None, Some(30_000), Some(60_000)]),
        receive_buffer in one_of(&[(0u64, 0u64), (100_000, 100_000), (100_000, 6_000_000)]),
        ecn in one_of(&["off", "classic"]),
        gro in one_of(&[(0u32, 20_000u64), (0, 0), (3, 20_000), (3, 5_000_000), (44, 500_000)]),
        handshake in prop::bool::weighted(0.3),
    ) -> Value {
        let mut switches = json!({
            "handshake": handshake,
            "delayed_ack": delayed_ack, "delayed_ack_ns": delayed_ack_ms * MILLISECOND,
            "timer_tick_ns": timer_tick_ms.map(|ms| ms * MILLISECOND),
            "quick_acks": quick_acks, "growth": growth, "ecn": ecn,
            "rto_min_ns": rto_min_ms * MILLISECOND,
            "gro_segs": gro.0, "gro_flush_ns": gro.1,
            "receive_buffer_bytes": receive_buffer.0, "receive_buffer_max_bytes": receive_buffer.1,
        });
        if let Some(bytes) = receive_window {
            switches["receive_window_bytes"] = json!(bytes);
        }
        if !timestamps {
            switches["timestamps"] = json!(false);
        }
        if !sack {
            switches["sack"] = json!(false);
            switches["loss_detection"] = json!("new-reno");
        }
        switches
    }
}

prop_compose! {
    fn any_flow()(
        algorithm in 0..registry().len(),
        rtt_ms in one_of(&[6u64, 12, 24, 48, 96, 600]),
        start_ms in one_of(&[0u64, 0, 12, 240]),
        stop in prop::option::weighted(0.1, 1_000u64..3_000),
        demand in prop_oneof![
            6 => Just(json!("endless")),
            1 => (1u64..3_000_000).prop_map(|bytes| json!({"transfer": bytes})),
            1 => Just(json!({"requests": {"bytes": 100_000, "pause_ns": 20 * MILLISECOND}})),
            1 => Just(json!({"on_off": {"on_ns": 200 * MILLISECOND, "off_ns": 100 * MILLISECOND,
                                         "random": true}})),
        ],
        packet_bytes in one_of(&[1_500u16, 1_500, 1_500, 600]),
        switches in any_switches(),
        plain in prop::bool::weighted(0.5),
    ) -> Value {
        let name = if plain { ["reno", "cubic"][algorithm % 2] } else { registry()[algorithm].name };
        let mut flow = flow(name, None, rtt_ms * MILLISECOND);
        flow["start_ns"] = json!(start_ms * MILLISECOND);
        flow["stop_ns"] = json!(stop.map(|ms| ms * MILLISECOND));
        flow["demand"] = demand;
        flow["packet_bytes"] = json!(packet_bytes);
        flow["switches"] = switches;
        flow
    }
}

prop_compose! {
    fn any_losses()(
        lossy: bool,
        sender in one_of(&[0.0, 0.0, 0.0, 0.0, 0.001]),
        bottleneck in one_of(&[0.0, 0.0, 0.0005, 0.01, 0.1, 0.4]),
        receiver in one_of(&[0.0, 0.0005, 0.01]),
        reverse in one_of(&[0.0, 0.0, 0.05]),
    ) -> Value {
        match lossy {
            true => json!({"sender": sender, "bottleneck": bottleneck, "receiver": receiver,
                           "reverse": reverse}),
            false => json!({"sender": 0.0, "bottleneck": 0.0, "receiver": 0.0, "reverse": 0.0}),
        }
    }
}

/// Queues of hosts. Schedulers take a shortcut while packets wait for less than the target.
fn any_edge_queue() -> impl Strategy<Value = Value> {
    let delays = |kind: &str, target_us: u64| json!({"kind": kind, "target_ns": target_us * 1_000, "interval_ns": 20_000_000, "ecn": true});
    let fq_codel = move |target_us| {
        let mut discipline = delays("fq-codel", target_us);
        discipline["queues"] = json!(16);
        discipline["quantum_bytes"] = json!(1_514);
        discipline
    };
    let discipline = one_of(&[
        json!({"kind": "fifo"}),
        fq_codel(5_000),
        fq_codel(100),
        delays("codel", 5_000),
        delays("codel", 100),
    ]);
    discipline
        .prop_map(|discipline| json!({"limit": {"packets": 10_240}, "discipline": discipline}))
}

prop_compose! {
    /// A dumbbell without trouble: plain links, and round-trip times that several flows share.
    /// Often, only full queues lose packets.
    fn any_plain_dumbbell()(
        mut flows in prop_oneof![
            prop::collection::vec(any_flow(), 1),
            prop::collection::vec(any_flow(), 2..6),
        ],
        alike: bool,
        behind in prop::option::weighted(0.5, one_of(&[0.001, 0.05])),
        rate in one_of(&RATES),
        back in one_of(&[1u64, 1, 1, 20, 50]),
        queue in prop_oneof![Just(json!(null)), (1u32..300).prop_map(|limit| json!({"packets": limit}))],
        loss in any_losses(),
        edge in prop::option::weighted(0.2, one_of(&[120_000_000u64, 1_200_000_000])),
        edge_queue in any_edge_queue(),
        host_delay_us in one_of(&[0u64, 0, 1, 1_000]),
        interval_ms in one_of(&[None, Some(1u64), Some(50)]),
        profile in one_of(&["linux-6", "linux-6", "linux-2.6.6"]),
        capture in prop::bool::weighted(0.1),
        silent in prop::option::weighted(0.3, 0..2usize),
        seed: u64,
    ) -> Value {
        let (mut loss, mut edge) = (loss, edge);
        if let (1, Some(probability)) = (flows.len(), behind) {
            // If a lone flow's last link only loses packets, that is a shortcut, too.
            (loss["sender"], loss["receiver"], edge) = (json!(0.0), json!(probability), None);
            flows[0]["demand"] = json!("endless");
        }
        if alike {
            let first = flows[0].clone();
            for flow in &mut flows {
                for key in ["rtt_ns", "switches", "packet_bytes"] {
                    flow[key] = first[key].clone();
                }
            }
        }
        let seconds = if rate < 1_000_000 { 20 } else { 3 };
        let mut short = scenario(rate, 1, seconds, flows);
        short["seed"] = json!(seed);
        short["profile"] = json!(profile);
        short["network"]["queue"] = queue;
        short["network"]["reverse_rate_bps"] = json!(rate / back);
        short["network"]["edge_rate_bps"] = json!(edge);
        short["network"]["edge_queue"] = edge_queue;
        short["network"]["host_delay_ns"] = json!(host_delay_us * 1_000);
        short["network"]["loss"] = loss;
        short["record"] = json!({
            "interval_ns": interval_ms.map(|ms| ms * MILLISECOND), "algorithm_state": true,
            "events": ["start", "stop", "done", "congestion", "timeout", "recovered", "drop",
                       "loss", "retransmit"],
            "capture": capture,
        });
        let mut whole = resolve(&short);
        if let Some(link) = silent {
            // For a while, no packet passes in either direction.
            whole["links"][link]["loss"] = json!([{
                "kind": "gilbert-elliott", "to_bad": 0.003, "to_good": 0.02, "loss_good": 0.0,
                "loss_bad": 1.0,
            }]);
        }
        whole
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn they_change_nothing_on_plain_paths(whole in any_plain_dumbbell()) {
        assert_shortcuts_change_nothing(&whole);
    }

    #[test]
    fn they_change_nothing_whatever_else_happens(short in any_scenario()) {
        assert_shortcuts_change_nothing(&resolve(&short));
    }
}

/// While packets wait for less than the target, departures are known on arrival. Beyond the target,
/// the queue decides later, and drops packets.
#[test]
fn they_change_nothing_where_a_host_controls_its_delay() {
    for kind in ["codel", "fq-codel"] {
        let mut short =
            scenario(1_000_000_000, 1_000, 3, vec![flow("reno", None, 10 * MILLISECOND)]);
        let mut discipline =
            json!({"kind": kind, "target_ns": 100_000, "interval_ns": 20_000_000, "ecn": false});
        if kind == "fq-codel" {
            discipline["queues"] = json!(16);
            discipline["quantum_bytes"] = json!(1_514);
        }
        short["network"]["edge_rate_bps"] = json!(50_000_000);
        short["network"]["edge_queue"] =
            json!({"limit": {"packets": 10_240}, "discipline": discipline});
        let resolved = resolve(&short);
        assert_shortcuts_change_nothing(&resolved);
        assert!(run_by(Shortcuts::default(), &resolved).summary.flows[0].dropped_packets > 0);
    }
}

/// A host's FIFO queue reports refusals to the sender, and classes do not. So classes are used
/// there even if only one has traffic.
#[test]
fn they_change_nothing_where_one_class_of_a_host_is_used() {
    let mut short = scenario(300_000, 1, 8, vec![flow("bic", None, 10 * MILLISECOND)]);
    short["network"]["edge_rate_bps"] = json!(1_000_000);
    short["network"]["edge_queue"] = json!({"limit": {"packets": 2}, "discipline": {
        "kind": "classes", "by": {"ecn": {"capable": 1, "other": 0}}, "threshold": null,
        "serve": {"round_robin": {"quantum_bytes": 1_514, "weights": [1, 1]}},
    }});
    let resolved = resolve(&short);
    assert_shortcuts_change_nothing(&resolved);
    let flow = &run_by(Shortcuts::default(), &resolved).summary.flows[0];
    assert!(flow.dropped_packets > 0 && flow.local_drops == Some(0));
}

/// The only flow of each host never waits for the target. Of the switch's classes, one or both are
/// used: the class of DCTCP, whose packets are marked, and the class of all other flows.
#[test]
fn they_change_nothing_where_a_scheduler_has_nothing_to_choose() {
    let mixed = ["reno", "bbr", "cubic"];
    for (names, ecn) in [(mixed, "off"), (mixed, "classic"), (["dctcp"; 3], "classic")] {
        let mut flows: Vec<_> = names.map(|name| flow(name, None, 10 * MILLISECOND)).into();
        for (flow, ecn) in flows.iter_mut().zip(["off", "off", ecn]) {
            flow["switches"] =
                json!({"tsq_bytes": 65_536, "tso": true, "pacing": "fq", "ecn": ecn});
        }
        let mut short = scenario(100_000_000, 1, 2, flows);
        short["record"]["interval_ns"] = json!(50 * MILLISECOND);
        let network = &mut short["network"];
        network["queue"] = json!({"bytes": 60_000});
        network["discipline"] = json!({
            "kind": "classes", "by": {"ecn": {"capable": 0, "other": 1}},
            "threshold": {"packets": 20},
            "serve": {"round_robin": {"quantum_bytes": 1_514, "weights": [1, 1]}},
        });
        network["edge_rate_bps"] = json!(1_000_000_000);
        network["edge_jitter_ns"] = json!(12_000);
        network["edge_queue"] = json!({"limit": {"packets": 10_240}, "discipline": {
            "kind": "fq-codel", "target_ns": 5 * MILLISECOND, "interval_ns": 100 * MILLISECOND,
            "ecn": true, "queues": 1_024, "quantum_bytes": 1_514,
        }});
        let resolved = resolve(&short);
        assert_shortcuts_change_nothing(&resolved);
        let flow = &run_by(Shortcuts::default(), &resolved).summary.flows[0];
        let troubled = if names == mixed { flow.dropped_packets } else { flow.marked_packets };
        assert!(troubled > 0);
    }
}
