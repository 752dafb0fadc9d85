//! TCP-BPF in the simulator, compared with the closed form: a window of w segments carries w * MSS
//! / RTT over an empty path.

use crate::common::{MILLISECOND, flow, run, scenario, with};
use dumbbell_algorithm::registry;
use dumbbell_record::Output;
use dumbbell_tcp::PROFILES;
use serde_json::{Value, json};

const GBIT: u64 = 1_000_000_000;
const RTT_NS: u64 = 50 * MILLISECOND;
const MSS_BYTES: u64 = 1_448;
const SECONDS: u64 = 20;

/// A flow alone on a path of 4,167 packets, with these settings.
fn steered(algorithm: &str, settings: Value) -> Output {
    run(&lossy(algorithm, settings, 0.0))
}

fn lossy(algorithm: &str, settings: Value, loss: f64) -> Value {
    let scenario = scenario(GBIT, 10_000, SECONDS, vec![flow(algorithm, None, RTT_NS)]);
    let scenario = with(scenario, "/flows/0/tcp_bpf", all_keys(settings));
    let scenario = with(scenario, "/network/loss/receiver", json!(loss));
    with(scenario, "/record/interval_ns", json!(MILLISECOND))
}

fn all_keys(settings: Value) -> Value {
    let mut all = json!({
        "cwnd_clamp_segs": null, "initial_window_segs": null, "send_buffer_bytes": null,
        "receive_buffer_bytes": null, "base_rtt_us": null,
    });
    for (key, value) in settings.as_object().expect("settings") {
        assert!(all.get(key).is_some(), "no key {key}");
        all[key] = value.clone();
    }
    all
}

/// The window to which the goodput of a run amounts, in segments.
fn used_window(output: &Output) -> f64 {
    let bytes = output.summary.flows[0].acked_bytes as f64;
    bytes / MSS_BYTES as f64 * RTT_NS as f64 / (SECONDS * GBIT) as f64
}

fn assert_window(what: &str, output: &Output, expected: f64) {
    let window = used_window(output);
    assert!((window / expected - 1.0).abs() < 0.02, "{what}: {window:.1}, expected {expected}");
}

/// Smallest share of the window that is used. Some algorithms give up a part.
fn least_share(algorithm: &str) -> f64 {
    match algorithm {
        // ProbeRTT: for 200 ms and a round trip, 4 segments every 10 s (BBR) or half the window
        // every 5 s (BBRv3).
        "bbr" | "bbr3" => 0.94,
        // Slowdowns take a tenth of the time, and each ends with another slow start.
        "ledbatpp" => 0.8,
        // TCP-LP has two states; in one of them it keeps a window of one segment.
        "lp" => 0.0,
        // The receiver's first delayed ACKs look like a queue.
        "nv" => 0.95,
        _ => 0.98,
    }
}

#[test]
fn a_clamped_window_carries_clamp_times_mss_each_round_trip() {
    for algorithm in registry() {
        let name = algorithm.name;
        let output = steered(name, json!({"cwnd_clamp_segs": 100}));
        let share = used_window(&output) / 100.0;
        assert!((least_share(name)..1.02).contains(&share), "{name}: {share:.3} of the clamp");
        let largest = output.flows.cwnd_segs.iter().max();
        assert!(largest == Some(&100) || name == "lp", "{name}: {largest:?}");
    }
}

#[test]
fn no_loss_and_no_recovery_leads_beyond_the_clamp() {
    let clamped = |algorithm: &str, profile: &str, loss: f64| {
        let scenario = lossy(algorithm, json!({"cwnd_clamp_segs": 100}), loss);
        let output = run(&with(scenario, "/profile", json!(profile)));
        let what = format!("{algorithm} on {profile} with losses of {loss}");
        let events = output.summary.flows[0].congestion_events;
        // Algorithms that yield continue with a window of a few segments, which lose little.
        let least = if algorithm == "lp" { 0 } else { 6 };
        assert!(events >= least, "{what}: only {events} reductions show nothing");
        // The window yields to one segment while more is in flight. Then PRR sends in proportion to
        // ssthresh / cwnd, which is 2, beyond any clamp, as Linux does.
        let gives_way = matches!(algorithm, "lp" | "hstcplp");
        let largest = output.flows.cwnd_segs.iter().max();
        assert!(gives_way || largest <= Some(&100), "{what}: {largest:?}");
    };
    for algorithm in registry() {
        clamped(algorithm.name, "linux-6", 0.001);
        clamped(algorithm.name, "linux-6", 0.02);
    }
    for profile in PROFILES {
        clamped("cubic", profile.name, 0.005);
    }
}

#[test]
fn a_smaller_clamp_holds_the_initial_window_too() {
    // A segment with PSH gets a separate ACK, so one of the four waits for the next round.
    let scenario = lossy("cubic", json!({"cwnd_clamp_segs": 4}), 0.0);
    let output = run(&with(scenario, "/flows/0/switches", json!({"window_push": false})));
    assert_eq!(output.flows.cwnd_segs.iter().max(), Some(&4));
    assert_window("clamp 4", &output, 4.0);
}

#[test]
fn a_transfer_as_large_as_the_initial_window_takes_one_round_trip() {
    let ended = |initial: Value| {
        let transfer = json!({"transfer": 32 * MSS_BYTES});
        let scenario = scenario(GBIT, 10_000, SECONDS, vec![flow("reno", None, RTT_NS)]);
        let scenario = with(scenario, "/flows/0/demand", transfer);
        let settings = all_keys(json!({"initial_window_segs": initial}));
        let output = run(&with(scenario, "/flows/0/tcp_bpf", settings));
        output.summary.flows[0].end_ns / RTT_NS
    };
    // 10 + 20 segments are sent in two round trips, the rest in a third.
    assert_eq!((ended(json!(32)), ended(json!(null))), (1, 3));
}

#[test]
fn buffers_limit_what_is_outstanding() {
    let bytes = 60 * MSS_BYTES;
    for algorithm in ["cubic", "fast"] {
        let receive = steered(algorithm, json!({"receive_buffer_bytes": bytes}));
        assert_window("receive buffer", &receive, 60.0);
        let send = steered(algorithm, json!({"send_buffer_bytes": bytes}));
        assert_window("send buffer", &send, 120.0);
        let both = json!({"send_buffer_bytes": bytes, "receive_buffer_bytes": 10 * bytes});
        assert_window("both buffers", &steered(algorithm, both), 120.0);
    }
}
