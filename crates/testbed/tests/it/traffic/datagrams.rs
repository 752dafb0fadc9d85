//! Datagrams at a constant rate.

use dumbbell_algorithm::Algorithms;
use dumbbell_simulator::Control;

use crate::alone::undisturbed;

use super::path::{FREE, Path};
use super::setup::{on_off, run, scenario, udp};
use serde_json::Value;

#[test]
fn datagrams_keep_their_rate() {
    undisturbed(|| {
        let output = run(&Path::new(FREE), &scenario(1_000, 100, &[udp(20_000_000, Value::Null)]));
        let count = output.datagrams.unwrap();
        assert_eq!((count.due, count.sent), (count.due, count.due));
        let rate = count.sent as f64 * 1_500.0 * 8.0;
        assert!((rate / 20e6 - 1.0).abs() < 0.01, "{rate}");
        let [end] = output.ends[..] else { panic!("one flow") };
        assert_eq!((end.sent_segs, end.sent_bytes), (count.sent, count.sent * 1_472));
        assert!(end.received_bytes >= (count.sent - 50) * 1_472, "{end:?}");
        assert_eq!(end.received_bytes % 1_472, 0);
        assert!(output.flows.is_empty());
    });
}

#[test]
fn bursts_hold_as_many_datagrams_as_in_the_simulator() {
    undisturbed(|| {
        let scenario = scenario(1_000, 100, &[udp(10_000_000, on_off(20, 30, true))]);
        let output = run(&Path::new(FREE), &scenario);
        let simulated =
            dumbbell_simulator::run(scenario, &Algorithms::default(), &Control::default()).unwrap();
        assert!(output.ends[0].sent_segs.abs_diff(simulated.summary.flows[0].sent_segs) <= 1);
    });
}
