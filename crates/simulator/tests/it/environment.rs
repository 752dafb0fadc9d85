//! Learners set windows and rates. Pauses of a run for them change nothing.

use std::num::NonZeroU64;

use dumbbell_algorithm::Algorithms;
use dumbbell_record::{FlowSummary, Invalid};
use dumbbell_simulator::{
    Batch, Buffers, Dial, Environment, Error, FIELDS, Progress, Sets, Step, StepError, Terms,
};
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

const MS: u64 = 1_000_000;

/// Flows on a link of 10 Mbit/s and 40 ms with space for a bandwidth-delay product.
fn scenario(flows: &[Value]) -> Scenario {
    let link = |name: &str, packets: u32, loss: &Value| {
        json!({
            "name": name, "rate": {"constant": 10_000_000}, "delay": [[0, 0]], "overhead_bytes": 0,
            "queue": {"limit": {"packets": packets}, "discipline": {"kind": "fifo"}},
            "policer": null, "loss": loss, "duplicate": 0.0, "reorder": null, "jitter_ns": 0,
            "batch_ns": 0, "sampled": false,
        })
    };
    let loss = json!([{"kind": "bernoulli", "probability": [[0, 1e-3]]}]);
    let text = json!({
        "seed": 1, "duration_ns": 3_000 * MS,
        "links": [link("forward", 33, &loss), link("reverse", 1000, &json!([]))], "flows": flows,
        "record": {"interval_ns": null, "events": [], "algorithm_state": false, "capture": false},
    });
    Scenario::from_json(&text.to_string()).unwrap()
}

/// A flow whose link is at this delay from its sender.
fn flow(algorithm: &str, before_ms: u64) -> Value {
    let route = |link: u32, before: u64, after: u64| json!({"hops": [{"link": link, "delay_ns": before * MS}], "delay_ns": after * MS});
    json!({
        "label": algorithm, "group": null, "start_ns": 5 * MS, "stop_ns": null,
        "packet_bytes": 1500, "header_bytes": 52, "forward": route(0, before_ms, 20 - before_ms),
        "reverse": route(1, 0, 20), "sampled": true,
        "transport": {"tcp": {
            "algorithm": algorithm, "preset": null, "parameters": {}, "demand": "endless",
            "stack": {"profile": "linux-6", "switches": {}},
        }},
    })
}

fn terms(learners: &[usize], step: Step) -> Terms {
    let window = Dial {
        sets: Sets::Window,
        is_factor: false,
        is_scaled: false,
        low: 1.0,
        high: 1e4,
        least: 1.0,
        most: 1e4,
    };
    Terms {
        learners: learners.to_vec(),
        step,
        dials: vec![window],
        observes: vec!["rtt_mean_ms".into(), "cwnd_segs".into()],
        history: 2,
        scaled: false,
    }
}

fn interval(ms: u64) -> Step {
    Step::IntervalNs(NonZeroU64::new(ms * MS).unwrap())
}

/// Summaries of flows in an episode in which every learner keeps its window.
fn counted(flows: &[Value], terms: &Terms, windows: &[f64], seed: u64) -> Vec<FlowSummary> {
    let algorithms = Algorithms::default();
    let mut path = Environment::new(scenario(flows), &algorithms, terms).unwrap();
    play(&mut path, terms, windows, seed)
}

fn play(path: &mut Environment, terms: &Terms, windows: &[f64], seed: u64) -> Vec<FlowSummary> {
    path.reset(seed, terms).unwrap();
    while path.step(windows, terms).unwrap() == Progress::Running {}
    path.finish().unwrap().summary.flows
}

fn totals(flows: &[FlowSummary]) -> Vec<[u64; 4]> {
    let of = |flow: &FlowSummary| {
        [flow.received_bytes, flow.sent_segs, flow.retransmitted_segs, flow.dropped_packets]
    };
    flows.iter().map(of).collect()
}

#[test]
fn the_number_of_steps_of_a_learner_changes_nothing() {
    for before_ms in [0, 15] {
        let flows = [flow("reno", before_ms), flow("cubic", 0), flow("bbr", 7)];
        let seldom = counted(&flows, &terms(&[0], interval(900)), &[40.0], 5);
        for step in [interval(1), interval(7), Step::RoundTrips(0.3)] {
            let often = counted(&flows, &terms(&[0], step), &[40.0], 5);
            assert_eq!(totals(&often), totals(&seldom));
        }
        assert!(seldom[0].received_bytes > 0 && seldom[0].retransmitted_segs > 0);
    }
}

#[test]
fn an_episode_depends_on_its_seed_alone() {
    let flows = [flow("reno", 3), flow("cubic", 0)];
    let terms = terms(&[0, 1], interval(50));
    let mut path = Environment::new(scenario(&flows), &Algorithms::default(), &terms).unwrap();
    let first = totals(&play(&mut path, &terms, &[20.0, 30.0], 1));
    let other = totals(&play(&mut path, &terms, &[20.0, 30.0], 2));
    play(&mut path, &terms, &[90.0, 3.0], 1);
    assert_eq!(totals(&play(&mut path, &terms, &[20.0, 30.0], 1)), first);
    assert_ne!(first, other);
}

#[test]
fn a_window_on_an_empty_path_is_its_rate() {
    let flows = [flow("reno", 0)];
    let terms = terms(&[0], interval(100));
    let mut path = Environment::new(scenario(&flows), &Algorithms::default(), &terms).unwrap();
    path.reset(1, &terms).unwrap();
    for _ in 0..10 {
        path.step(&[10.0], &terms).unwrap();
    }
    let (seen, measured) = path.seen(0);
    let named = |name| measured[FIELDS.iter().position(|field| field.name == name).unwrap()];
    let rtt_ms = named("rtt_mean_ms");
    // 10 segments take at most 12 ms.
    assert!((41.0..53.0).contains(&rtt_ms), "{rtt_ms}");
    let expected = 10.0 * 1448.0 * 8e-3 / rtt_ms;
    assert!((named("delivery_mbit_per_s") / expected - 1.0).abs() < 0.25);
    assert_eq!((named("cwnd_segs"), named("interval_ms")), (10.0, 100.0));
    assert_eq!(seen.collect::<Vec<_>>()[2..], [rtt_ms as f32, 10.0]);
}

/// A batch with an observation, all measurements and the progress of each path.
fn stepped(threads: usize) -> (Vec<f32>, Vec<f64>, Vec<u8>) {
    let terms = terms(&[0], interval(20));
    let mut batch = Batch::new(terms, 5).unwrap();
    let [_, observed, numbers] = batch.sizes();
    let (mut seen, mut measured) = (vec![0.0; 5 * observed], vec![0.0; 5 * numbers]);
    let mut progress = vec![0; 5];
    for place in 0..5 {
        let flows = [flow("reno", place as u64)];
        let path = Environment::new(scenario(&flows), &Algorithms::default(), batch.terms());
        batch.put(place, path.unwrap());
        let into = Buffers {
            observations: &mut seen[place * observed..][..observed],
            measured: &mut measured[place * numbers..][..numbers],
            progress: &mut progress[place..=place],
        };
        batch.reset(place, place as u64, into).unwrap();
    }
    for _ in 0..40 {
        let into =
            Buffers { observations: &mut seen, measured: &mut measured, progress: &mut progress };
        batch.step(&[10.0, 20.0, 30.0, 40.0, 50.0], &[0, 0, 1, 0, 0], into, threads).unwrap();
    }
    (seen, measured, progress)
}

#[test]
fn threads_change_nothing_and_skipped_environments_keep_their_state() {
    let alone = stepped(1);
    assert_eq!(stepped(2), alone);
    assert_eq!(stepped(9), alone);
    let windows: Vec<_> = alone.0.chunks(4).map(|seen| seen[3]).collect();
    assert_eq!(windows, [10.0, 20.0, 10.0, 40.0, 50.0]);
}

#[test]
fn a_wrong_action_of_one_path_holds_all() {
    let mut batch = Batch::new(terms(&[0], interval(20)), 2).unwrap();
    let [_, observed, numbers] = batch.sizes();
    let (mut seen, mut measured, mut progress) =
        (vec![0.0; 2 * observed], vec![0.0; 2 * numbers], vec![0; 2]);
    for place in 0..2 {
        let path =
            Environment::new(scenario(&[flow("reno", 0)]), &Algorithms::default(), batch.terms());
        batch.put(place, path.unwrap());
        let into = Buffers {
            observations: &mut seen[place * observed..][..observed],
            measured: &mut measured[place * numbers..][..numbers],
            progress: &mut progress[place..=place],
        };
        batch.reset(place, 1, into).unwrap();
    }
    let mut step = |actions: [f64; 2], skip: [u8; 2]| {
        let (observations, measured) = (&mut seen[..], &mut measured[..]);
        let into = Buffers { observations, measured, progress: &mut progress };
        let done = batch.step(&actions, &skip, into, 1);
        (done, seen.iter().filter(|number| **number == 20.0).count())
    };
    let (refused, moved) = step([20.0, 0.5], [0, 0]);
    assert!(matches!(refused, Err((1, StepError::Action { learner: 0, .. }))));
    assert_eq!(moved, 0);
    let (done, moved) = step([20.0, 0.5], [0, 1]);
    assert!(done.is_ok());
    assert_eq!(moved, 1);
}

#[test]
fn what_cannot_be_is_refused() {
    let algorithms = Algorithms::default();
    let expected = terms(&[0], interval(20));
    let mut path = Environment::new(scenario(&[flow("reno", 0)]), &algorithms, &expected).unwrap();
    assert!(matches!(path.step(&[10.0], &expected), Err(StepError::IsOver)));
    path.reset(1, &expected).unwrap();
    let nonsense = path.step(&[f64::NAN], &expected);
    assert!(matches!(nonsense, Err(StepError::Action { learner: 0, .. })));
    assert!(path.finish().is_none());
    while path.step(&[10.0], &expected).unwrap() == Progress::Running {}
    assert!(matches!(path.step(&[10.0], &expected), Err(StepError::IsOver)));

    let (mut datagrams, mut late) = (flow("reno", 0), flow("reno", 0));
    let udp = json!({"rate_bps": 1_000_000, "changes_bps": null, "on_off": null});
    datagrams["transport"] = json!({"udp": udp});
    late["start_ns"] = json!(9_000 * MS);
    for (flow, learner, key) in [
        (flow("reno", 0), 1, "flows"),
        (datagrams, 0, "flows.0.transport"),
        (late, 0, "flows.0.start_ns"),
    ] {
        let expected = terms(&[learner], interval(20));
        let refused = Environment::new(scenario(&[flow]), &algorithms, &expected)
            .and_then(|mut path| path.reset(1, &expected))
            .unwrap_err();
        assert!(
            matches!(&refused, Error::Invalid(Invalid { key: named, .. }) if named == key),
            "{refused}"
        );
    }
    for unwanted in [
        Terms { learners: Vec::new(), ..expected.clone() },
        Terms { dials: Vec::new(), ..expected.clone() },
        Terms { observes: vec!["rtt".into()], ..expected.clone() },
        Terms { history: 0, ..expected },
    ] {
        assert!(Batch::new(unwanted, 1).is_err());
    }
}
