//! Capturing does not change a run, and captures are complete.

use crate::common::{MILLISECOND, SECOND, flow, resolve, run_resolved, scenario, with};
use dumbbell_record::Output;
use serde_json::{Value, json};

/// A run with losses of all kinds, marks, duplicates, reordering, requests, transfers, datagrams,
/// and an old stack without options.
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
        with(with_demand(json!({"transfer": 500_000})), "/switches", json!({"handshake": true})),
    ];
    let short = scenario(20_000_000, 25, 5, flows);
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

/// A packet in a file.
struct Seen {
    clock_ns: u64,
    /// The flow, if it carries data.
    data_of: Option<u32>,
    /// Its TCP flags.
    flags: u8,
    /// The window field, not scaled.
    window: u16,
    /// For TCP, the byte of the stream at which its payload ends, counted from one.
    end_byte: u32,
    psh: bool,
}

fn packets(file: &[u8]) -> Vec<Seen> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let wire = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
    let (mut at, mut packets) = (0, Vec::new());
    while at < file.len() {
        if word(at) == 6 {
            let clock_ns = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            let (captured, length) = (word(at + 20), word(at + 24));
            let (ip, tcp) = (at + 28, at + 48);
            let data_of = (length > captured).then(|| wire(ip + 12) - (10 << 24) - 1);
            let end_byte =
                (wire(tcp + 4).wrapping_add(length - captured)).wrapping_sub(1_000_000_001);
            let flags = file[tcp + 13];
            let psh = flags & 8 != 0;
            let window = u16::from_be_bytes([file[tcp + 14], file[tcp + 15]]);
            packets.push(Seen { clock_ns, data_of, flags, window, end_byte, psh });
        }
        at += word(at + 4) as usize;
    }
    packets
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
fn a_handshake_is_captured_where_and_when_it_passes() {
    let opening =
        with(flow("cubic", None, 20 * MILLISECOND), "/switches", json!({"handshake": true}));
    let short = scenario(1_000_000, 25, 1, vec![opening]);
    let (_, files) = both(&resolve(&short));
    let [sender, receiver] = files.each_ref().map(|file| {
        let seen = packets(file).into_iter().take(4);
        seen.map(|packet| (packet.flags, (packet.clock_ns - SECOND) / 10_000)).collect::<Vec<_>>()
    });
    // 60 bytes take 0.48 ms either way, in units of 10 us; data follows the ACK at once.
    let [syn, syn_ack, ack] = [0b10, 0b1_0010, 0b1_0000];
    assert_eq!(sender[..3], [(syn, 0), (syn_ack, 2_096), (ack, 2_096)]);
    assert_eq!(receiver[..3], [(syn, 1_048), (syn_ack, 1_048), (ack, 2_096 + 1_041)]);
    assert_eq!(sender[3], (ack, 2_096));
}

#[test]
fn the_window_of_a_slow_reader_is_captured() {
    let buffer = json!({"receive_buffer_bytes": 64_000, "receive_buffer_max_bytes": 64_000});
    let reads = with(flow("cubic", None, 20 * MILLISECOND), "/switches", buffer);
    let mut whole = resolve(&scenario(20_000_000, 40, 10, vec![reads]));
    whole["flows"][0]["transport"]["tcp"]["reading"] =
        json!({"rate_bps": 1_000_000, "block_bytes": 20_000});
    let (_, [_, receiver]) = both(&whole);
    let acks = packets(&receiver).into_iter().filter(|packet| packet.data_of.is_none()).skip(3);
    let windows: Vec<_> = acks.map(|packet| u64::from(packet.window)).collect();
    // The buffer needs no scale, and five eighths of it are window.
    assert!(windows.iter().all(|bytes| bytes % 1_448 == 0 && *bytes <= 64_000 * 5 / 8));
    assert!(windows.contains(&0) && windows.iter().any(|bytes| *bytes > 20_000), "{windows:?}");
}

#[test]
fn packets_that_are_looked_at_make_no_difference() {
    let flows = (0..3).map(|n| flow("cubic", None, (20 + n) * MILLISECOND)).collect();
    let short = scenario(50_000_000, 30, 5, flows);
    let (run, [sent, _]) = both(&resolve(&with(short, "/record/interval_ns", json!(MILLISECOND))));
    assert!(run.summary.flows.iter().all(|flow| flow.retransmitted_segs > 0));
    let sent_segs: u64 = run.summary.flows.iter().map(|flow| flow.sent_segs).sum();
    let data = packets(&sent).iter().filter(|packet| packet.data_of.is_some()).count();
    assert_eq!(data as u64, sent_segs);
}

#[test]
fn only_the_end_of_a_request_has_psh() {
    let (run, [sent, received]) = both(&eventful());
    for seen in [packets(&sent), packets(&received)] {
        let requests: Vec<_> = seen.iter().filter(|packet| packet.data_of == Some(2)).collect();
        assert!(requests.iter().filter(|packet| packet.psh).count() > 20);
        assert!(requests.iter().all(|packet| packet.psh == (packet.end_byte % 10_000 == 0)));
        assert!(!seen.iter().any(|packet| packet.psh && packet.data_of == Some(0)));
    }
    assert!(run.summary.flows[2].retransmitted_segs > 0);
}

#[test]
fn the_end_of_a_chunk_has_psh() {
    let sent = |tso_push: bool| {
        let mut sender = flow("reno", None, 20 * MILLISECOND);
        sender["switches"] = json!({"tso": true, "tso_push": tso_push, "pacing": "fq"});
        let (run, [sent, _]) = both(&resolve(&scenario(100_000_000, 10_000, 1, vec![sender])));
        assert_eq!(run.summary.flows[0].retransmitted_segs, 0);
        packets(&sent).into_iter().filter(|packet| packet.data_of.is_some()).collect::<Vec<_>>()
    };
    let pushed = sent(true);
    // The first window leaves without pacing, two chunks at once.
    let chunks: Vec<_> = pushed[10..].chunk_by(|one, next| one.clock_ns == next.clock_ns).collect();
    assert!(chunks.iter().filter(|chunk| chunk.len() > 1).count() > 50);
    for chunk in chunks {
        let (last, others) = chunk.split_last().unwrap();
        assert_eq!(last.psh, !others.is_empty());
        assert!(!others.iter().any(|packet| packet.psh));
    }
    assert!(!sent(false).iter().any(|packet| packet.psh), "before Linux 5.4");
}

/// Reasons for the end of a train, one at a time. Two bulk flows with equal round-trip times share
/// all links, unless one receiver has a separate link.
fn train_ends() -> Vec<(&'static str, Value)> {
    let pair = |rate_bps, queue, algorithm: &str| {
        let second = with(flow(algorithm, None, 20 * MILLISECOND), "/start_ns", json!(3_000_000));
        let flows = vec![flow(algorithm, None, 20 * MILLISECOND), second];
        resolve(&with(
            scenario(rate_bps, queue, 5, flows),
            "/record/interval_ns",
            json!(10 * MILLISECOND),
        ))
    };
    let plain = || pair(50_000_000, 100, "cubic");
    let loss = |p: f64| json!([{"kind": "bernoulli", "probability": [[0, p]]}]);
    let errors = json!([{
        "kind": "gilbert-elliott", "to_bad": 0.0005, "to_good": 1.0, "loss_good": 0.0, "loss_bad": 1.0,
    }]);
    let both = |p, errors: &Value| json!([loss(p)[0], errors[0]]);
    let late = json!([[0, 0.0], [2_000_000_000, 0.01]]);
    let late = json!([{"kind": "bernoulli", "probability": late}]);
    let named = json!([{"kind": "scripted", "drops": [{"flow": 1, "number": 700, "times": 2}]}]);
    let stack = |key: &str, value: Value| {
        let whole =
            with(plain(), "/flows/0/transport/tcp/stack/switches", json!({ key: value.clone() }));
        with(whole, "/flows/1/transport/tcp/stack/switches", json!({ key: value }))
    };
    let mut alone = pair(50_000_000, 100, "reno");
    alone["flows"].as_array_mut().unwrap().truncate(1);
    alone["links"].as_array_mut().unwrap().push(crate::common::link(
        "lossy",
        None,
        &json!({"loss": both(0.001, &errors)}),
    ));
    let hops = json!([{"link": 0, "delay_ns": 10_000_000}, {"link": 2, "delay_ns": 0}]);
    vec![
        ("nothing but the queue", plain()),
        ("a small queue", pair(50_000_000, 5, "cubic")),
        ("no queue limit", with(plain(), "/links/0/queue/limit", json!(null))),
        ("a slow link", pair(300_000, 20, "cubic")),
        ("losses before the queue", with(plain(), "/links/0/loss", loss(0.001))),
        ("many losses", with(plain(), "/links/0/loss", loss(0.1))),
        ("losses of two kinds", with(plain(), "/links/0/loss", both(0.0005, &errors))),
        ("losses that begin late", with(plain(), "/links/0/loss", late)),
        ("losses by name", with(plain(), "/links/0/loss", named)),
        ("losses behind the queue", with(alone, "/flows/0/forward/hops", hops)),
        ("lost acknowledgements", with(plain(), "/links/1/loss", loss(0.05))),
        ("a slow way back", with(plain(), "/links/1/rate/constant", json!(1_000_000))),
        ("a full way back", {
            let slow = with(plain(), "/links/1/rate/constant", json!(500_000));
            with(slow, "/links/1/queue/limit", json!({"packets": 20}))
        }),
        ("no timestamps", stack("timestamps", json!(false))),
        ("each segment acknowledged", stack("delayed_ack_ns", json!(0))),
        ("a fixed wait", stack("delayed_ack", json!("fixed"))),
        ("a receive window", stack("receive_window_bytes", json!(60_000))),
        ("a paced algorithm", pair(50_000_000, 100, "bbr")),
        ("a flow that stops", with(plain(), "/flows/0/stop_ns", json!(2_345_678_901u64))),
        (
            "a transfer",
            with(plain(), "/flows/0/transport/tcp/demand", json!({"transfer": 3_000_000})),
        ),
        ("different packets", with(plain(), "/flows/0/packet_bytes", json!(600))),
    ]
}

#[test]
fn trains_make_no_difference() {
    for (what, scenario) in train_ends() {
        let (run, _) = both(&scenario);
        assert!(run.summary.packets > 100, "{what}");
    }
}
