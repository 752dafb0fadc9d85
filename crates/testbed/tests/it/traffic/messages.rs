//! Requests and transfers.

use std::time::Duration;

use dumbbell_record::EventKind;
use serde_json::json;

use crate::alone::undisturbed;

use super::path::{Conditions, FREE, Path};
use super::setup::{MS, run, scenario, tcp, times};

const DISTANT: Conditions = Conditions { delay: Duration::from_millis(20), ..FREE };

fn median(times: impl Iterator<Item = u64>) -> u64 {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
fn requests_take_a_round_trip_and_follow_after_their_pause() {
    undisturbed(|| {
        let demand = json!({"requests": {"bytes": 3_000, "pause_ns": 60 * MS}});
        let output = run(&Path::new(DISTANT), &scenario(1_030, 100, &[tcp(0, None, demand)]));
        let rows = &output.requests;
        // One every 100 ms, each somewhat late, and later on a busy machine.
        assert!((5..=10).contains(&rows.len()), "{rows:?}");
        for (number, row) in (0..).zip(rows) {
            assert_eq!((row.number, row.bytes, row.flow), (number, 3_000, 0));
            assert!(row.latency_ns >= 40 * MS, "{row:?}");
        }
        assert!(median(rows.iter().map(|row| row.latency_ns)) < 60 * MS, "{rows:?}");
        let pauses = rows.windows(2).map(|two| two[1].time_ns - two[0].time_ns - two[0].latency_ns);
        assert!(pauses.clone().all(|pause| pause >= 60 * MS), "{rows:?}");
        assert!(median(pauses) < 70 * MS, "{rows:?}");
        assert_eq!(output.ends[0].end_ns, None);
        assert!(times(&output, EventKind::Done).is_empty());
        assert_eq!(output.ends[0].received_bytes % 3_000, 0);
    });
}

#[test]
fn a_query_begins_when_all_answers_to_the_last_are_in() {
    undisturbed(|| {
        let requests = json!({"bytes": 30_000, "pause_ns": 30 * MS, "query": 0});
        let answer = tcp(0, None, json!({"requests": requests}));
        let output = run(&Path::new(DISTANT), &scenario(800, 100, &[answer.clone(), answer]));
        let of_query = |number| output.requests.iter().filter(move |row| row.number == number);
        let whole = (0..).take_while(|&number| of_query(number).count() == 2).count() as u64;
        assert!(whole >= 3, "{:?}", output.requests);
        for number in 1..whole {
            let ends = of_query(number - 1).map(|row| row.time_ns + row.latency_ns);
            let begins = ends.max().expect("answers") + 30 * MS;
            // Later on a busy machine, never earlier.
            assert!(of_query(number).all(|row| row.time_ns >= begins), "{:?}", output.requests);
        }
        assert!(times(&output, EventKind::Done).is_empty());
    });
}

#[test]
fn a_transfer_is_exactly_its_bytes_and_is_done() {
    undisturbed(|| {
        let sizes = [1, 1_448, 100_000, 1_000_001];
        let flows = sizes.map(|bytes| tcp(0, None, json!({"transfer": bytes})));
        let output = run(&Path::new(DISTANT), &scenario(1_500, 100, &flows));
        assert_eq!(output.requests.len(), sizes.len(), "{:?}", output.requests);
        let mut rows = output.requests.clone();
        rows.sort_by_key(|row| row.flow);
        // At least the round trips of slow start from ten segments on. Delayed ACKs and the
        // receiver's window make it longer.
        for ((row, bytes), trips) in rows.iter().zip(sizes).zip([1, 1, 3, 7]) {
            assert_eq!((row.bytes, row.number), (bytes, 0));
            let end = &output.ends[row.flow as usize];
            assert_eq!((end.acked_bytes, end.received_bytes), (bytes, bytes));
            assert_eq!(end.end_ns, Some(row.time_ns + row.latency_ns));
            let expected = trips * 40 * MS;
            assert!((expected..3 * expected).contains(&row.latency_ns), "{row:?}");
        }
        assert_eq!(times(&output, EventKind::Done).len(), sizes.len());
    });
}

#[test]
fn a_stop_cuts_a_transfer() {
    undisturbed(|| {
        let flow = tcp(0, Some(150), json!({"transfer": 1_000_000_000}));
        let output = run(&Path::new(DISTANT), &scenario(500, 100, &[flow]));
        assert!(output.requests.is_empty());
        assert_eq!(output.ends[0].end_ns, Some(150 * MS));
        assert_eq!(output.ends[0].received_bytes, output.ends[0].sent_bytes);
    });
}
