//! Data of flows, their times and routes, and the recordings of them.

use serde_json::{Value, json};

use crate::common::{MILLISECOND, SECOND, flow, link, resolve, scenario, with};

pub fn cases() -> Vec<(String, Value)> {
    let named = |part: &str, cases: Vec<(&str, Value)>| -> Vec<(String, Value)> {
        cases.into_iter().map(|(name, case)| (format!("{part}/{name}"), case)).collect()
    };
    [
        named("flow", single()),
        named("tcp-bpf", tcp_bpf_flows()),
        named("way", ways()),
        named("handshake", handshakes()),
        named("record", records()),
    ]
    .concat()
}

fn cubic(rtt_ms: u64) -> Value {
    flow("cubic", None, rtt_ms * MILLISECOND)
}

fn over_a_path(flows: Vec<Value>) -> Value {
    let mut short = scenario(10_000_000, 40, 6, flows);
    short["record"]["interval_ns"] = json!(50 * MILLISECOND);
    short["record"]["events"] = json!(dumbbell_record::EventKind::ALL);
    short
}

/// A flow of one kind, together with a bulk flow.
fn single() -> Vec<(&'static str, Value)> {
    let with_flow = |pointer: &str, value: Value| {
        resolve(&over_a_path(vec![with(cubic(30), pointer, value), cubic(20)]))
    };
    let requests = |bytes: u64, pause_ms: u64| {
        with_flow(
            "/demand",
            json!({"requests": {"bytes": bytes, "pause_ns": pause_ms * MILLISECOND}}),
        )
    };
    let thinking = |rhythm: &Value| with_flow("/demand", requests_of(20_000, rhythm));
    let together = |rhythm: &Value| {
        let mut requests = requests_of(20_000, rhythm);
        requests["requests"]["query"] = json!(0);
        let answers = |_| with(cubic(30), "/demand", requests.clone());
        resolve(&over_a_path((0..12).map(answers).chain([cubic(20)]).collect()))
    };
    let bursts = |random: bool| json!({"on_ns": 400 * MILLISECOND, "off_ns": 900 * MILLISECOND, "random": random});
    let datagrams = |on_off: Value| {
        let whole = with_flow("/packet_bytes", json!(1_200));
        with(whole, "/flows/0/transport", json!({"udp": {"rate_bps": 4_000_001, "on_off": on_off}}))
    };
    let reading = |rate_bps: u64, block_bytes: u64, buffer_bytes: u64| {
        let switches = json!({
            "receive_buffer_bytes": buffer_bytes, "receive_buffer_max_bytes": buffer_bytes,
        });
        let mut lags = with_flow("/switches", switches);
        lags["flows"][0]["transport"]["tcp"]["reading"] =
            json!({"rate_bps": rate_bps, "block_bytes": block_bytes});
        lags
    };
    let mut bare = with_flow("/switches", json!({"timestamps": false}));
    bare["flows"][0]["header_bytes"] = json!(40);
    let mut grouped = with_flow("/label", json!("one"));
    grouped["flows"][0]["group"] = json!("all");
    vec![
        ("a transfer", with_flow("/demand", json!({"transfer": 1_500_001}))),
        ("requests one upon the other", requests(20_000, 0)),
        ("requests with pauses", requests(200_000, 300)),
        (
            "requests after random pauses",
            thinking(&json!({"pause_ns": 300 * MILLISECOND, "random": true})),
        ),
        (
            "requests at a period",
            thinking(&json!({"pause_ns": 0, "random": false, "period_ns": 400 * MILLISECOND})),
        ),
        ("queries", together(&json!({"pause_ns": 30 * MILLISECOND, "random": true}))),
        ("queries one upon the other", together(&json!({"pause_ns": 0}))),
        ("bursts", with_flow("/demand", json!({"on_off": bursts(false)}))),
        ("random bursts", with_flow("/demand", json!({"on_off": bursts(true)}))),
        (
            "data at a rate",
            with_flow(
                "/demand",
                json!({"app_limited": {"rate_bps": [[0, 2_000_000], [3 * SECOND, 0], [4 * SECOND, 5_000_001]]}}),
            ),
        ),
        ("a late start", with_flow("/start_ns", json!(1_234_567_890))),
        ("an early stop", with_flow("/stop_ns", json!(3_210_987_654u64))),
        ("small packets", with_flow("/packet_bytes", json!(300))),
        ("large packets", with_flow("/packet_bytes", json!(9_000))),
        ("short headers", bare),
        ("an application that reads in blocks", reading(30_000_000, 60_000, 200_000)),
        ("an application that lags", reading(2_000_000, 10_000, 200_000)),
        ("an application that closes the window", reading(400_000, 50_000, 60_000)),
        ("datagrams", datagrams(json!(null))),
        ("datagrams in bursts", datagrams(bursts(false))),
        ("datagrams of changing rates", {
            let steps = json!([[0, 4_000_001], [2 * SECOND, 0], [3 * SECOND, 2_500_000]]);
            let mut whole = datagrams(json!(null));
            whole["flows"][0]["transport"]["udp"]["changes_bps"] = steps;
            whole
        }),
        ("a group", grouped),
        ("not sampled", with(with_flow("/label", json!("one")), "/flows/0/sampled", json!(false))),
    ]
}

/// Requests with pauses or periods.
fn requests_of(bytes: u64, rhythm: &Value) -> Value {
    let mut requests = rhythm.clone();
    requests["bytes"] = json!(bytes);
    json!({"requests": requests})
}

fn tcp_bpf_flows() -> Vec<(&'static str, Value)> {
    let having = |settings: Value| {
        let mut tcp_bpf = json!({
            "cwnd_clamp_segs": null, "initial_window_segs": null, "send_buffer_bytes": null,
            "receive_buffer_bytes": null, "base_rtt_us": null,
        });
        for (key, value) in settings.as_object().expect("settings") {
            tcp_bpf[key] = value.clone();
        }
        let tcp_bpf_flows = with(flow("nv", None, 30 * MILLISECOND), "/tcp_bpf", tcp_bpf);
        resolve(&over_a_path(vec![tcp_bpf_flows, cubic(20)]))
    };
    vec![
        ("a clamp", having(json!({"cwnd_clamp_segs": 12}))),
        ("a first window", having(json!({"initial_window_segs": 40}))),
        ("a send buffer", having(json!({"send_buffer_bytes": 30_000}))),
        ("a receive buffer", having(json!({"receive_buffer_bytes": 40_000}))),
        ("a round-trip time", having(json!({"base_rtt_us": 30_000}))),
    ]
}

/// Flows that open their connections, over paths with full queues or much loss.
fn handshakes() -> Vec<(&'static str, Value)> {
    let opening = |start_ms: u64, demand: Value, switches: Value| {
        let mut flow = with(cubic(20 + start_ms / 100), "/start_ns", json!(start_ms * MILLISECOND));
        (flow["demand"], flow["switches"]) = (demand, switches);
        flow["switches"]["handshake"] = json!(true);
        flow
    };
    let paced = json!({"app_limited": {"rate_bps": [[0, 400_000]]}});
    let bursts =
        json!({"on_off": {"on_ns": 30 * MILLISECOND, "off_ns": 50 * MILLISECOND, "random": false}});
    let all = || {
        let mut dctcp = opening(700, json!("endless"), json!({}));
        dctcp["algorithm"] = json!("dctcp");
        let mut stopped = opening(2_000, json!("endless"), json!({}));
        stopped["stop_ns"] = json!(2_001 * MILLISECOND);
        let requests = json!({"requests": {"bytes": 20_000, "pause_ns": 0}});
        vec![
            cubic(30),
            opening(0, json!("endless"), json!({})),
            opening(1_000, json!({"transfer": 50_000}), json!({"rto_rule": "rfc6298"})),
            opening(1_500, requests, json!({"tso": true, "pacing": "fq"})),
            opening(1_700, paced.clone(), json!({"timer_tick_ns": 4 * MILLISECOND})),
            opening(1_800, bursts.clone(), json!({"rtt_from_timestamps": false})),
            dctcp,
            stopped,
        ]
    };
    let lossy = |there: f64, back: f64| {
        let mut short = over_a_path(all());
        short["network"]["loss"]["bottleneck"] = json!(there);
        short["network"]["loss"]["reverse"] = json!(back);
        short
    };
    let mut marked = lossy(0.0, 0.0);
    marked["network"]["discipline"] = json!({"kind": "step", "threshold": {"packets": 10}});
    let mut twice = lossy(0.2, 0.2);
    twice["network"]["duplicate"] = json!([0.3, 0.3]);
    let mut hosts = lossy(0.0, 0.0);
    hosts["network"]["edge_rate_bps"] = json!(11_000_000);
    hosts["network"]["edge_queue"]["limit"] = json!({"packets": 12});
    vec![
        ("a full way", resolve(&lossy(0.0, 0.0))),
        ("a lossy way", resolve(&lossy(0.3, 0.3))),
        ("a lossy way back", resolve(&lossy(0.0, 0.5))),
        ("a way that marks", resolve(&marked)),
        ("packets that come twice", resolve(&twice)),
        ("full hosts", resolve(&hosts)),
    ]
}

/// Paths over other links than one bottleneck in each direction.
fn ways() -> Vec<(&'static str, Value)> {
    let crowd = |count: u64| {
        let one =
            |index: u64| with(cubic(10 + 7 * (index % 5)), "/start_ns", json!(index * 20_000_000));
        resolve(&over_a_path((0..count).map(one).collect()))
    };
    let turned = over_a_path(vec![with(cubic(30), "/label", json!("there")), {
        let mut back = cubic(30);
        back["turned"] = json!(true);
        back
    }]);
    let edges = |rate: u64, jitter_us: u64| {
        let mut short = over_a_path(vec![cubic(30), flow("bbr", None, 24 * MILLISECOND)]);
        short["network"]["edge_rate_bps"] = json!(rate);
        short["network"]["edge_jitter_ns"] = json!(jitter_us * 1_000);
        resolve(&short)
    };
    vec![
        ("one round-trip time", resolve(&over_a_path(vec![cubic(20), cubic(20), cubic(20)]))),
        ("moments in common", moments()),
        ("sixty flows", crowd(60)),
        ("data both ways", resolve(&turned)),
        ("slow edges", edges(30_000_000, 0)),
        ("busy edges", edges(1_000_000_000, 500)),
        ("an edge in common", shared_edge()),
        ("a full host", full_host("linux-2.6.26", &json!({}))),
        ("a full host that loses", full_host("linux-2.6.26", &json!({"local_drops": false}))),
        ("a full host of chunks", full_host("linux-6", &json!({"tso": true, "tsq_bytes": null}))),
        ("a full host of small queues", full_host("linux-6", &json!({}))),
        ("three links", three_links()),
        ("a lossy end", lossy_end(0)),
        ("a lossy end behind its host", lossy_end(500_000)),
    ]
}

/// Packets whose serialisation time divides each round-trip time.
fn moments() -> Value {
    let flows = [12, 24, 24, 48, 12].map(|rtt_ms| flow("reno", None, rtt_ms * MILLISECOND));
    let mut short = over_a_path(flows.into());
    short["network"]["rate_bps"] = json!(12_000_000);
    resolve(&short)
}

/// A host whose queue has no space for all that its flows send.
fn full_host(profile: &str, switches: &Value) -> Value {
    let requests = json!({"requests": {"bytes": 60_000, "pause_ns": 250 * MILLISECOND}});
    let flows = vec![
        cubic(30),
        with(cubic(20), "/demand", requests),
        flow("bbr", None, 24 * MILLISECOND),
        cubic(50),
    ];
    let flows = flows.into_iter().map(|flow| with(flow, "/switches", switches.clone()));
    let mut short = over_a_path(flows.collect());
    short["profile"] = json!(profile);
    short["network"]["edge_rate_bps"] = json!(9_000_000);
    short["network"]["one_host"] = json!(true);
    short["network"]["edge_queue"] =
        json!({"limit": {"packets": 12}, "discipline": {"kind": "fifo"}});
    resolve(&short)
}

/// A host with one link for all its flows.
fn shared_edge() -> Value {
    let mut short = over_a_path(vec![cubic(30), cubic(20)]);
    short["network"]["edge_rate_bps"] = json!(20_000_000);
    let whole = with(resolve(&short), "/links/2/queue/limit", json!({"packets": 100}));
    with(whole, "/flows/1/forward/hops/0/link", json!(2))
}

/// One flow over three links, and one over each of them.
fn three_links() -> Value {
    let mut whole = resolve(&over_a_path(vec![cubic(30), cubic(10), cubic(10), cubic(10)]));
    let hop = |name: &str| {
        let queue = json!({"limit": {"packets": 30}, "discipline": {"kind": "fifo"}});
        link(name, Some(8_000_000), &json!({"queue": queue, "sampled": true}))
    };
    let links = whole["links"].as_array_mut().expect("links");
    links.extend([hop("second"), hop("third")]);
    let over = |links: &[usize]| -> Value {
        links.iter().map(|link| json!({"link": link, "delay_ns": MILLISECOND})).collect()
    };
    for (flow, links) in [&[0, 2, 3][..], &[0], &[2], &[3]].into_iter().enumerate() {
        whole["flows"][flow]["forward"]["hops"] = over(links);
    }
    whole
}

/// A lone flow. Its last link does nothing but lose packets, at this delay behind the bottleneck.
fn lossy_end(host_delay_ns: u64) -> Value {
    let mut short = over_a_path(vec![cubic(30)]);
    short["network"]["loss"]["receiver"] = json!(0.002);
    short["network"]["host_delay_ns"] = json!(host_delay_ns);
    resolve(&short)
}

fn records() -> Vec<(&'static str, Value)> {
    let recorded = |pointer: &str, value: Value| {
        let flows = vec![flow("vegas", None, 30 * MILLISECOND), cubic(20)];
        with(resolve(&over_a_path(flows)), pointer, value)
    };
    vec![
        ("no samples", recorded("/record/interval_ns", json!(null))),
        ("samples each microsecond", {
            let whole = recorded("/record/interval_ns", json!(1_000));
            with(whole, "/duration_ns", json!(40 * MILLISECOND))
        }),
        ("delays of packets", {
            let mut whole = recorded("/record/events", json!([]));
            whole["record"]["delays_ns"] = json!(SECOND);
            whole
        }),
        ("modes of algorithms", {
            let kinds = ["bbr", "bbr3", "cubic", "htcp"];
            let flows = kinds.map(|kind| flow(kind, None, 30 * MILLISECOND)).to_vec();
            with(resolve(&over_a_path(flows)), "/record/modes", json!(true))
        }),
        ("states of algorithms", recorded("/record/algorithm_state", json!(true))),
        ("captures", recorded("/record/capture", json!(true))),
        ("no event", recorded("/record/events", json!([]))),
        ("a short run", recorded("/duration_ns", json!(SECOND / 100))),
    ]
}
