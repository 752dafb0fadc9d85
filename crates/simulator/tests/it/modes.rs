//! Changes of the algorithms' modes: in the right order, at the right times.

use std::collections::BTreeSet;

use crate::common::{
    MILLISECOND, SECOND, bdp_packets, flow, resolve, run, run_resolved, scenario, with,
};
use dumbbell_algorithm::find;
use dumbbell_record::Output;
use serde_json::{Value, json};

const RATE: u64 = 20_000_000;
const RTT: u64 = 40 * MILLISECOND;

/// One entry into a mode: its time, the mode, and the values then.
struct Entry {
    time_ns: u64,
    mode: &'static str,
    algorithm: &'static str,
    values: [u32; 16],
}

impl Entry {
    fn value(&self, name: &str) -> u32 {
        let names = &find(self.algorithm).unwrap().info;
        self.values[names.iter().position(|known| *known == name).expect("an exported value")]
    }

    fn seconds(&self) -> f64 {
        self.time_ns as f64 / 1e9
    }
}

/// The entries of a flow.
fn entries(output: &Output, flow: u32, algorithm: &'static str) -> Vec<Entry> {
    let names = &find(algorithm).unwrap().modes;
    let table = &output.modes;
    let values = [
        &table.info0,
        &table.info1,
        &table.info2,
        &table.info3,
        &table.info4,
        &table.info5,
        &table.info6,
        &table.info7,
        &table.info8,
        &table.info9,
        &table.info10,
        &table.info11,
        &table.info12,
        &table.info13,
        &table.info14,
        &table.info15,
    ];
    let entry = |row: usize| Entry {
        time_ns: table.time_ns[row],
        mode: names[usize::from(table.mode[row])],
        algorithm,
        values: values.map(|column| column[row]),
    };
    (0..table.flow.len()).filter(|row| table.flow[*row] == flow).map(entry).collect()
}

fn modes(entries: &[Entry]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.mode).collect()
}

/// A lone flow, its modes and its state.
fn alone(algorithm: &str, seconds: u64) -> Value {
    let queue = bdp_packets(RATE, RTT) as u32;
    let mut short = scenario(RATE, queue, seconds, vec![flow(algorithm, None, RTT)]);
    short["record"]["modes"] = json!(true);
    short
}

fn assert_within(what: &str, measured: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&measured), "{what}: {measured:.4}, not {low} to {high}");
}

/// Startup takes log2 of (67 segments of the path / 10 of the first window) round trips, and three
/// more in which the rate does not grow. Drain empties the queue, which Startup has filled, at
/// about a third of the rate. ProbeRTT comes 10 s after the last new smallest RTT, which is from
/// the first round trips. It takes 200 ms and a round trip or two.
#[test]
fn bbr_goes_through_its_modes() {
    let output = run(&alone("bbr", 15));
    let entries = entries(&output, 0, "bbr");
    let expected = ["startup", "drain", "probe_bw", "probe_rtt", "probe_bw"];
    assert_eq!(modes(&entries), expected);
    let at: Vec<_> = entries.iter().map(Entry::seconds).collect();
    assert_within("begin", at[0], 0.0, 0.0);
    assert_within("Drain", at[1], 6.0 * 0.04, 12.0 * 0.04);
    assert_within("ProbeBW", at[2] - at[1], 0.02, 0.1);
    assert_within("ProbeRTT", at[3], 10.0, 10.0 + 0.5);
    assert_within("its end", at[4] - at[3], 0.2, 0.2 + 3.0 * 0.04);
    let gains = entries.iter().map(|entry| entry.value("pacing_gain_x256"));
    assert_eq!(gains.take(2).collect::<Vec<_>>(), [739, 88]);
    let is_full = entries.iter().map(|entry| entry.value("is_full"));
    assert_eq!(is_full.collect::<Vec<_>>(), [0, 1, 1, 1, 1]);
    let rounds: Vec<_> = entries.iter().map(|entry| entry.value("round")).collect();
    assert!(rounds.is_sorted() && rounds[3] > 150, "{rounds:?}");
    let bdp = bdp_packets(RATE, RTT);
    assert_within("the pipe", f64::from(entries[2].value("bdp_segs")), bdp, 1.1 * bdp);
}

/// The cycle of probes, with ProbeRTT each five seconds. Its phases have the order of the draft
/// (section 4.3.3).
#[test]
fn bbr3_goes_through_its_modes() {
    let output = run(&alone("bbr3", 15));
    let entries = entries(&output, 0, "bbr3");
    let names = modes(&entries);
    assert_eq!(names[..4], ["startup", "drain", "down", "cruise"]);
    let follow = BTreeSet::from([
        ("startup", "drain"),
        ("drain", "down"),
        ("down", "cruise"),
        ("cruise", "refill"),
        ("refill", "up"),
        ("up", "down"),
        ("cruise", "probe_rtt"),
        ("probe_rtt", "cruise"),
    ]);
    let pairs: BTreeSet<_> = names.windows(2).map(|pair| (pair[0], pair[1])).collect();
    // ProbeRTT may begin in any phase.
    let also = ["down", "refill", "up"].map(|phase| (phase, "probe_rtt")).into();
    assert!(pairs.is_superset(&follow) && pairs.is_subset(&(&follow | &also)), "{pairs:?}");
    let searches = entries.iter().filter(|entry| entry.mode == "probe_rtt");
    let searches: Vec<_> = searches.map(Entry::seconds).collect();
    assert_eq!(searches.len(), 2, "{searches:?}");
    assert_within("ProbeRTT", searches[0], 5.0, 5.2);
    assert_within("again", searches[1] - searches[0], 5.2, 5.4);
    let refills = entries.windows(2).filter(|pair| pair[0].mode == "refill");
    refills.for_each(|pair| {
        assert_within("Refill", pair[1].seconds() - pair[0].seconds(), 0.03, 0.06);
        assert_eq!((pair[0].value("bw_lo_kbit_per_s"), pair[0].value("inflight_lo_segs")), (0, 0));
        assert_eq!(pair[1].value("pacing_gain_x256"), 320, "1.25 in Up");
    });
}

/// After the first cut there is suddenly space for much more. The curve is concave for K less the
/// round trip by which CUBIC looks ahead, and convex from then on.
#[test]
fn cubic_is_concave_before_the_plateau_and_convex_behind_it() {
    let rtt = 100 * MILLISECOND;
    let mut whole = resolve(&scenario(RATE, 160, 20, vec![flow("cubic", None, rtt)]));
    whole["flows"][0]["transport"]["tcp"]["parameters"] = json!({"tcp_friendliness": 0});
    whole["links"][0]["rate"] = json!({"steps": [[0, RATE], [3 * SECOND, 50 * RATE]]});
    whole["record"]["modes"] = json!(true);
    let output = run_resolved(&whole);
    let entries = entries(&output, 0, "cubic");
    assert_eq!(entries[0].mode, "slow_start");
    let last = &entries[entries.len() - 3..];
    assert_eq!(modes(last), ["waiting", "concave", "convex"]);
    let [cut, concave, convex] = last else { unreachable!("three") };
    assert_eq!(cut.value("target_segs"), 0, "there is no curve");
    let k_s = f64::from(concave.value("k_ms")) / 1e3;
    // RFC 9438, equation 2: the curve has to climb three tenths of last_max.
    let climb = 0.4 * k_s * k_s * k_s / f64::from(concave.value("last_max_segs"));
    assert_within("the climb", climb, 0.29, 0.31);
    // The curve is computed again every 31 ms, if ACKs come all the time.
    assert_within("convex", convex.seconds() - concave.seconds(), k_s - 0.11, k_s - 0.05);
    assert_eq!(concave.value("origin_segs"), cut.value("last_max_segs"));
    assert!(convex.value("target_segs") >= convex.value("origin_segs"));
}

/// At 10 ms and 10 Mbit/s, the curve takes seconds and standard TCP parts of a second.
#[test]
fn cubic_follows_standard_tcp_on_a_short_path() {
    let mut short = scenario(10_000_000, 20, 20, vec![flow("cubic", None, 10 * MILLISECOND)]);
    short["record"]["modes"] = json!(true);
    let output = run(&short);
    let entries = entries(&output, 0, "cubic");
    let ends = entries.iter().skip(1).map(|entry| entry.time_ns).chain([20 * SECOND]);
    let spans = entries.iter().zip(ends).map(|(entry, end)| (entry.mode, end - entry.time_ns));
    let friendly: u64 = spans.filter(|(mode, _)| *mode == "tcp_friendly").map(|(_, ns)| ns).sum();
    assert_within("TCP-friendly", friendly as f64 / 2e10, 0.6, 1.0);
    for entry in entries.iter().filter(|entry| entry.mode == "tcp_friendly") {
        assert!(entry.value("tcp_cwnd_segs") >= entry.value("target_segs"));
    }
}

/// High-speed mode begins with the first ACK after delta_l, a second after the last congestion.
#[test]
fn htcp_is_fast_a_second_after_congestion() {
    let output = run(&alone("htcp", 20));
    let entries = entries(&output, 0, "htcp");
    assert_eq!(entries[0].mode, "slow_start");
    let fast: Vec<_> = entries.iter().filter(|entry| entry.mode == "high_speed").collect();
    assert!(fast.len() >= 5, "{:?}", modes(&entries));
    for entry in fast {
        assert_within("since", f64::from(entry.value("since_congestion_ms")), 1001.0, 1003.0);
    }
    let after_fast = entries.windows(2).filter(|pair| pair[0].mode == "high_speed");
    for pair in after_fast {
        assert_eq!((pair[1].mode, pair[1].value("since_congestion_ms")), ("low_speed", 0));
    }
}

/// Many flows in one run. Some have no modes, and some are not sampled.
#[test]
fn the_last_row_of_a_flow_is_its_sampled_state() {
    let kinds = ["bbr", "bbr3", "reno", "bbr", "bbr3", "udp"];
    let mut flows: Vec<_> =
        kinds.map(|kind| flow(kind, None, (20 + 5 * kind.len() as u64) * MILLISECOND)).to_vec();
    flows[5]["transport"] = json!({"udp": {"rate_bps": 500_000, "on_off": null}});
    flows[3]["start_ns"] = json!(2 * SECOND);
    let mut short = with(scenario(RATE, 40, 12, flows), "/record/modes", json!(true));
    short["record"]["interval_ns"] = json!(7 * MILLISECOND);
    short["record"]["algorithm_state"] = json!(true);
    let mut whole = resolve(&short);
    whole["flows"][4]["sampled"] = json!(false);
    let output = run_resolved(&whole);
    let flows: BTreeSet<_> = output.modes.flow.iter().copied().collect();
    assert_eq!(flows, BTreeSet::from([0, 1, 3]));
    let mut compared = 0;
    for flow in flows {
        let entries = entries(&output, flow, kinds[flow as usize]);
        assert_eq!(entries[0].time_ns, [0, 0, 0, 2 * SECOND][flow as usize]);
        let samples = &output.internals;
        for row in (0..samples.flow.len()).filter(|row| samples.flow[*row] == flow) {
            let time = samples.time_ns[row];
            let last = entries.iter().rev().find(|entry| entry.time_ns < time);
            // An event at the time of a sample may be before or after it.
            if let Some(last) = last.filter(|_| entries.iter().all(|entry| entry.time_ns != time)) {
                assert_eq!(samples.info3[row], last.value("mode"), "flow {flow} at {time} ns");
                compared += 1;
            }
        }
    }
    assert!(compared > 4_000, "{compared}");
}
