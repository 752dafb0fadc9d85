//! Each stack profile, and each switch of one.

use dumbbell_tcp::{PROFILES, SWITCHES};
use serde_json::{Value, json};

use crate::common::{MILLISECOND, SECOND, flow, resolve, scenario, with};

pub fn cases() -> Vec<(String, Value)> {
    let profiles = PROFILES
        .iter()
        .map(|profile| (format!("stack/{}", profile.name), under(profile.name, &json!({}))));
    let switches = values().into_iter().flat_map(|(switch, values)| {
        values.into_iter().map(move |value| {
            let mut set = json!({ switch: value });
            if switch == "sack" {
                set["loss_detection"] = json!("new-reno");
            }
            if switch == "tso_push" {
                set["tso"] = json!(true);
            }
            if switch == "byte_counting_segs" {
                set["growth"] = json!("bytes");
            }
            if switch == "limited_slow_start_segs" {
                set["slow_start"] = json!("limited");
            }
            if switch.starts_with("resume_") {
                set["slow_start"] = json!("careful-resume");
                for (name, usual) in
                    [("resume_window_segs", json!(60)), ("resume_rtt_ns", json!(30 * MILLISECOND))]
                {
                    if set[name].is_null() {
                        set[name] = usual;
                    }
                }
            }
            if ["accecn", "accecn_option", "ecn_peer"].contains(&switch) {
                set["ecn"] = json!("classic");
            }
            if switch == "accecn_option" {
                set["accecn"] = json!(true);
            }
            let opens = switch == "handshake" || switch.starts_with("syn_");
            if switch.starts_with("syn_") {
                set["handshake"] = json!(true);
            }
            let case = under("linux-6", &set);
            (format!("stack/{switch} {value}"), if opens { without_beginning(case) } else { case })
        })
    });
    profiles.chain(switches).collect()
}

/// Switches that have no value here except that of linux-6.
pub fn unset() -> Vec<&'static str> {
    let stack = PROFILES.iter().find(|profile| profile.name == "linux-6").expect("linux-6").stack;
    let usual = json!(stack());
    let set = values();
    let differs = |name: &str| {
        set.iter().any(|(switch, values)| {
            *switch == name && values.iter().any(|value| *value != usual[name])
        })
    };
    SWITCHES.iter().map(|(name, _)| *name).filter(|name| !differs(name)).collect()
}

/// Bulk data, requests, bursts and a rate, over a path with loss, delay and reordering.
fn under(profile: &str, switches: &Value) -> Value {
    let with_demand = |algorithm: &str, rtt_ms: u64, demand: Value| {
        let one = with(flow(algorithm, None, rtt_ms * MILLISECOND), "/demand", demand);
        let mut switches = switches.clone();
        if algorithm == "bbr" {
            // BBR has its own start, and accepts no other.
            switches.as_object_mut().expect("switches by name").retain(|switch, _| {
                !["slow_start", "resume_window_segs", "resume_rtt_ns"].contains(&switch.as_str())
            });
        }
        with(one, "/switches", switches)
    };
    let requests = json!({"requests": {"bytes": 60_000, "pause_ns": 250 * MILLISECOND}});
    let bursts = json!({"on_off": {"on_ns": 300 * MILLISECOND, "off_ns": 1_100 * MILLISECOND, "random": false}});
    let flows = vec![
        with_demand("cubic", 30, json!("endless")),
        with_demand("reno", 80, requests),
        with_demand("bbr", 40, json!("endless")),
        with_demand("reno", 20, bursts),
    ];
    let mut short = scenario(12_000_000, 50, 8, flows);
    short["profile"] = json!(profile);
    short["network"]["edge_rate_bps"] = json!(60_000_000);
    short["network"]["loss"]["bottleneck"] = json!(0.002);
    short["network"]["loss"]["reverse"] = json!(0.005);
    short["network"]["discipline"] = json!({"kind": "step", "threshold": {"packets": 30}});
    short["record"]["interval_ns"] = json!(100 * MILLISECOND);
    short["record"]["events"] = json!(dumbbell_record::EventKind::ALL);
    let mut whole = resolve(&short);
    let delays = json!([[0, 0], [3 * SECOND, 120 * MILLISECOND], [5 * SECOND, 0]]);
    whole["links"][0]["delay"] = delays;
    whole["links"][0]["reorder"] = json!({"probability": 0.002, "delay_ns": 9 * MILLISECOND});
    whole["links"][0]["duplicate"] = json!(0.001);
    let option = switches.get("accecn_option").unwrap_or(&json!("always")).clone();
    if switches["accecn"] == json!(true) && option == json!("always") {
        // The option takes space in each segment.
        for flow in whole["flows"].as_array_mut().expect("flows") {
            flow["header_bytes"] = json!(52 + 12);
        }
    }
    whole
}

/// As `whole`, over a path that loses everything until two SYNs are lost.
fn without_beginning(whole: Value) -> Value {
    let losses = json!([[0, 1.0], [1_100 * MILLISECOND, 0.002]]);
    with(whole, "/links/0/loss", json!([{"kind": "bernoulli", "probability": losses}]))
}

/// Values of each switch. At least one differs from that of linux-6.
fn values() -> Vec<(&'static str, Vec<Value>)> {
    let words = |words: &[&str]| words.iter().map(|word| json!(word)).collect();
    let times = |times_ms: &[u64]| times_ms.iter().map(|time| json!(time * MILLISECOND)).collect();
    let both = || vec![json!(false), json!(true)];
    let numbers = |numbers: &[u64]| numbers.iter().map(|number| json!(number)).collect();
    vec![
        ("initial_window_segs", numbers(&[2])),
        ("handshake", both()),
        ("syn_timeout_ns", times(&[300])),
        ("syn_linear_timeouts", numbers(&[0])),
        ("syn_retries_free", vec![json!(null), json!(0)]),
        ("growth", words(&["acks", "segments", "bytes"])),
        ("byte_counting_segs", numbers(&[1, 4])),
        ("slow_start_inclusive", both()),
        ("reduction", words(&["rate-halving", "prr-slow-start", "prr-cautious", "prr"])),
        ("loss_detection", words(&["fack", "fack-rack", "sacked", "rack", "new-reno"])),
        ("reordering_segs", numbers(&[5])),
        ("reordering_max_segs", numbers(&[4])),
        ("early_retransmit", both()),
        ("tail_probe", words(&["off", "draft", "rfc8985"])),
        ("frto", both()),
        ("undo", both()),
        ("rto_rule", words(&["linux", "rfc6298"])),
        ("rtt_from_timestamps", both()),
        ("reports_all_acks", both()),
        ("ack_event_first", both()),
        ("min_rtt_window_ns", vec![json!(null), json!(SECOND)]),
        ("burst_after_recovery_segs", vec![json!(null), json!(3)]),
        ("pacing", words(&["off", "fq"])),
        ("pacing_free_segs", numbers(&[0, 30])),
        ("pacing_credit", both()),
        ("pacing_late_ns", vec![json!(0), json!(200_000)]),
        ("tso", both()),
        ("tso_push", both()),
        ("window_push", both()),
        ("tsq_bytes", vec![json!(null), json!(4_000)]),
        ("local_drops", both()),
        ("slow_start", words(&["own", "standard", "limited", "hystart", "hystart++", "search"])),
        ("limited_slow_start_segs", numbers(&[8])),
        ("resume_window_segs", numbers(&[40, 400])),
        ("resume_rtt_ns", times(&[10, 100])),
        ("slow_start_after_idle", both()),
        ("window_validation", both()),
        ("receive_window_bytes", vec![json!(null), json!(50_000)]),
        ("receive_buffer_bytes", numbers(&[20_000, 500_000])),
        ("receive_buffer_max_bytes", numbers(&[0, 200_000])),
        ("receive_spare_segs", numbers(&[0, 100])),
        ("rto_min_ns", times(&[20, 1_000])),
        ("rto_max_ns", times(&[400])),
        ("delayed_ack_ns", times(&[0, 100])),
        ("quick_acks", numbers(&[0, 4])),
        ("delayed_ack", words(&["fixed", "adaptive"])),
        ("delayed_ack_max_ns", times(&[50])),
        ("timer_tick_ns", times(&[4, 10])),
        ("sack", both()),
        ("dsack", both()),
        ("timestamps", both()),
        ("ecn", words(&["off", "classic", "dctcp", "l4s"])),
        ("accecn", both()),
        ("accecn_option", words(&["always", "changes", "never"])),
        ("ecn_peer", words(&["same", "classic", "off"])),
        ("sack_compression_ns", vec![json!(0), json!(MILLISECOND)]),
        ("sack_compression_segs", numbers(&[2, 44])),
        ("gro_segs", numbers(&[0, 8])),
        ("gro_flush_ns", vec![json!(0), json!(200_000)]),
    ]
}
