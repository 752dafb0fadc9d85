//! Captured runs are the runs that they would have been, and nothing is missing in them.

mod common;

use common::{MILLISECOND, flow, resolve, run_resolved, scenario, with};
use dumbbell_record::Output;
use serde_json::{Value, json};

/// Everything at once: losses of all kinds, marks, duplicates, reordering, requests,
/// transfers, datagrams, an old stack without options.
fn eventful() -> Value {
    let with_demand =
        |demand: Value| with(flow("cubic", None, 20 * MILLISECOND), "/demand", demand);
    let marked = json!({"ecn": "classic"});
    let bare = json!({"sack": false, "timestamps": false, "loss_detection": "new-reno"});
    let mut datagrams = flow("cubic", None, 20 * MILLISECOND);
    datagrams["transport"] = json!({"udp": {"rate_bps": 1_000_000, "on_off": null}});
    let flows = vec![
        with(with_demand(json!("endless")), "/switches", marked),
        with(with_demand(json!({"transfer": 1_000_000})), "/switches", bare),
        with_demand(json!({"requests": {"bytes": 10_000, "pause_ns": MILLISECOND}})),
        datagrams,
        with(with_demand(json!("endless")), "/start_ns", json!(700 * MILLISECOND)),
    ];
    let short = scenario(20_000_000, 40, 5, flows);
    let short =
        with(short, "/network/discipline", json!({"kind": "step", "threshold": {"packets": 15}}));
    let loss = json!({"sender": 0.001, "bottleneck": 0.001, "receiver": 0.001, "reverse": 0.01});
    let short = with(short, "/network/loss", loss);
    let events = json!(["drop", "loss", "retransmit", "congestion", "timeout", "recovered"]);
    let short = with(short, "/record/events", events);
    let short = with(short, "/record/interval_ns", json!(50 * MILLISECOND));
    let mut whole = resolve(&short);
    for link in [0, 1] {
        whole["links"][link]["duplicate"] = json!(0.002);
        whole["links"][link]["reorder"] = json!({"probability": 0.01, "delay_ns": 2_000_000});
    }
    whole
}

fn assert_same(plain: &Output, captured: &Output) {
    assert_eq!(plain.tables(), captured.tables());
    let summary = |output: &Output| serde_json::to_string(&output.summary).unwrap();
    assert_eq!(summary(plain), summary(captured));
}

fn both(scenario: &Value) -> (Output, [Vec<u8>; 2]) {
    let plain = run_resolved(scenario);
    assert!(plain.captures.is_none());
    let mut captured = run_resolved(&with(scenario.clone(), "/record/capture", json!(true)));
    assert_same(&plain, &captured);
    let files = captured.captures.take().expect("captures that were asked for");
    (plain, files)
}

/// A packet in a file: its time, and the flow if it carries data.
struct Seen {
    clock_ns: u64,
    data_of: Option<u32>,
}

fn packets(file: &[u8]) -> Vec<Seen> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (mut at, mut found) = (0, Vec::new());
    while at < file.len() {
        if word(at) == 6 {
            let clock_ns = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            let (captured, length) = (word(at + 20), word(at + 24));
            let source = u32::from_be_bytes(file[at + 40..at + 44].try_into().unwrap());
            let data_of = (length > captured).then(|| source - (10 << 24) - 1);
            found.push(Seen { clock_ns, data_of });
        }
        at += word(at + 4) as usize;
    }
    found
}

#[test]
fn a_captured_run_is_the_run_without_capture_and_nothing_is_missing() {
    let (run, files) = both(&eventful());
    let [sent, received] = files.each_ref().map(|file| packets(file));
    for seen in [&sent, &received] {
        assert!(seen.is_sorted_by_key(|packet| packet.clock_ns));
    }
    let data = |seen: &[Seen], flow| seen.iter().filter(|p| p.data_of == Some(flow)).count() as u64;
    for flow in &run.summary.flows {
        assert!(flow.received_packets > 0, "{flow:?}");
        assert_eq!(data(&sent, flow.flow), flow.sent_segs, "{flow:?}");
        assert_eq!(data(&received, flow.flow), flow.received_packets, "{flow:?}");
    }
    let total = |count: fn(&dumbbell_record::FlowSummary) -> u64| {
        run.summary.flows.iter().map(count).sum::<u64>()
    };
    assert!(total(|flow| flow.lost_packets) > 10);
    assert!(total(|flow| flow.marked_packets) > 10);
    assert!(total(|flow| flow.duplicated_packets) > 10);
    assert!(total(|flow| flow.dropped_packets) > 10);
}

#[test]
fn express_lanes_make_no_difference() {
    let flows = (0..3).map(|n| flow("cubic", None, (20 + n) * MILLISECOND)).collect();
    let short = scenario(50_000_000, 30, 5, flows);
    let (run, [sent, _]) = both(&resolve(&with(short, "/record/interval_ns", json!(MILLISECOND))));
    assert!(run.summary.flows.iter().all(|flow| flow.retransmitted_segs > 0));
    let sent_segs: u64 = run.summary.flows.iter().map(|flow| flow.sent_segs).sum();
    let data = packets(&sent).iter().filter(|packet| packet.data_of.is_some()).count();
    assert_eq!(data as u64, sent_segs);
}
