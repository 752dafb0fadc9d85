//! Applications that lag: closed forms, and windows that close.

use dumbbell_algorithm::Algorithms;
use dumbbell_record::FlowSummary;
use dumbbell_simulator::{Control, run};
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

use crate::common::{MILLISECOND, flow, resolve, run_resolved, scenario, with};

/// A flow whose application reads `block_bytes` at a time, at a rate, from a buffer of this size.
fn lagging(rate_bps: u64, block_bytes: u64, buffer_bytes: u64, seconds: u64) -> Value {
    let switches =
        json!({"receive_buffer_bytes": buffer_bytes, "receive_buffer_max_bytes": buffer_bytes});
    let one = with(flow("cubic", None, 20 * MILLISECOND), "/switches", switches);
    let mut whole = resolve(&scenario(20_000_000, 40, seconds, vec![one]));
    whole["flows"][0]["transport"]["tcp"]["reading"] =
        json!({"rate_bps": rate_bps, "block_bytes": block_bytes});
    whole
}

fn only(whole: &Value) -> FlowSummary {
    run_resolved(whole).summary.flows.remove(0)
}

#[test]
fn goodput_is_the_rate_of_reading_and_what_waits_in_the_buffer() {
    let (seconds, buffer) = (20, 128_000);
    for block in [1_448, 14_480, 40_000] {
        let flow = only(&lagging(5_000_000, block, buffer, seconds));
        let read = 5_000_000 / 8 * seconds;
        let waits = flow.received_bytes.saturating_sub(read - block);
        assert!(flow.received_bytes > read - 2 * block, "{block}: {flow:?}");
        assert!(waits <= buffer * 5 / 8 + 2 * block, "{block}: {flow:?}");
        // An acknowledgement that waits for a read may look like a lost tail.
        assert_eq!((flow.timeouts, flow.congestion_events), (0, 0), "{block}");
    }
}

#[test]
fn a_closed_window_opens_again_though_its_update_is_lost() {
    // Two blocks fill the buffer, and each takes two seconds.
    let open = lagging(80_000, 20_000, 64_000, 120);
    let flow = only(&open);
    assert!(flow.received_bytes >= 1_150_000, "{flow:?}");
    let losses = json!([{"kind": "bernoulli", "probability": [[0, 0.4]]}]);
    let lossy = only(&with(open, "/links/1/loss", losses));
    // The intervals of probes grow, and a block lasts only two seconds.
    assert!(lossy.received_bytes > flow.received_bytes / 4, "{lossy:?}");
    assert!(lossy.received_packets * 1_448 > lossy.received_bytes, "{lossy:?}");
}

#[test]
fn a_window_update_is_no_duplicate_acknowledgement() {
    let mut whole = lagging(2_000_000, 3_000, 64_000, 20);
    whole["flows"][0]["transport"]["tcp"]["stack"]["switches"]["sack"] = json!(false);
    whole["flows"][0]["transport"]["tcp"]["stack"]["switches"]["dsack"] = json!(false);
    whole["flows"][0]["transport"]["tcp"]["stack"]["switches"]["loss_detection"] =
        json!("new-reno");
    assert_eq!(only(&whole).retransmitted_segs, 0);
}

#[test]
fn a_buffer_without_room_is_refused() {
    let whole = lagging(2_000_000, 3_000, 0, 1);
    let scenario = Scenario::from_json(&whole.to_string()).expect("a valid scenario");
    let Err(refusal) = run(scenario, &Algorithms::default(), &Control::default()) else {
        panic!("a window of nothing")
    };
    assert!(format!("{refusal:?}").contains("receive_buffer_max_bytes"), "{refusal:?}");
}
