//! A cancelled run stops soon, at any point, counted in acknowledgements, not in time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{MILLISECOND, flow, resolve, scenario, with};
use crate::shortcuts::CLOSED;
use dumbbell_algorithm::Algorithms;
use dumbbell_algorithm::programs::NEVER;
use dumbbell_simulator::{Control, Error, Shortcuts, run, run_by};
use dumbbell_workload::Scenario;
use serde_json::json;

/// An algorithm that cancels its run at an acknowledgement, and counts those that follow.
const QUITTER: &str = r#"#include "cc.h"
#define quitter_parameters(P) \
	P(high, "", 0, CC_RANGE(0, 4294967295u), "half of an address", "test") \
	P(low, "", 0, CC_RANGE(0, 4294967295u), "the other half", "test")
#define quitter_presets(S)
#define quitter_hooks(H) H(quitter, ssthresh) H(quitter, cong_avoid)
CC_PARAMS(quitter);
struct quitter_state {};
struct shared { u64 left; u64 after; volatile u8 *cancel; };
static u32 quitter_ssthresh(const struct quitter_params *params, struct quitter_state *state,
	const struct cc_conn *conn) { return cc_half_window(conn); }
static void quitter_cong_avoid(const struct quitter_params *params, struct quitter_state *state,
	struct cc_conn *conn, u32 acked)
{
	struct shared *shared = (struct shared *)((u64)params->high << 32 | params->low);
	if (*shared->cancel)
		shared->after++;
	else if (--shared->left == 0)
		*shared->cancel = 1;
	if (conn->cwnd_segs < 5000)
		conn->cwnd_segs += acked;
}
CC_ALGORITHM(quitter, .title = "t", .source = "s", .summary = "s");
"#;

#[repr(C)]
struct Shared<'a> {
    left: AtomicU64,
    after: AtomicU64,
    cancel: &'a AtomicBool,
}

/// Acknowledgements that a run at 10 Gbit/s processes after its cancellation.
fn acks_after_the_end(shortcuts: Shortcuts) -> u64 {
    let control = Control::default();
    let shared = Shared {
        left: AtomicU64::new(50_000),
        after: AtomicU64::new(0),
        cancel: &control.cancelled,
    };
    let address = (&raw const shared) as u64;
    let mut long =
        resolve(&scenario(10_000_000_000, 1_000, 300, vec![flow("reno", None, 12 * MILLISECOND)]));
    long["sources"] = json!({"quitter": QUITTER});
    let parameters = json!({"high": address >> 32, "low": address as u32});
    let long = with(long, "/flows/0/transport/tcp/parameters", parameters);
    let long = with(long, "/flows/0/transport/tcp/algorithm", json!("quitter"));
    let long = Scenario::from_json(&long.to_string()).expect("a valid scenario");
    let algorithms = Algorithms::load(&long.sources, &NEVER).expect("an algorithm");
    let outcome = run_by(shortcuts, long, &algorithms, &control);
    assert!(matches!(outcome, Err(Error::Cancelled)), "300 s that come to their end");
    shared.after.load(Ordering::Relaxed)
}

#[test]
fn a_run_of_ten_gigabits_ends_a_few_acknowledgements_after_it_was_cancelled() {
    for (closed, shortcuts) in CLOSED.into_iter().chain([("none", Shortcuts::default())]) {
        let acks = acks_after_the_end(shortcuts);
        assert!(acks < 256, "{acks} without {closed}");
    }
}

#[test]
fn a_run_reports_its_progress() {
    for interval in [None, Some(100 * MILLISECOND)] {
        let mut short =
            resolve(&scenario(50_000_000, 100, 10, vec![flow("cubic", None, 20 * MILLISECOND)]));
        short["record"]["interval_ns"] = json!(interval);
        let short = Scenario::from_json(&short.to_string()).expect("a valid scenario");
        let (end_ns, control) = (short.duration_ns.0, Control::default());
        run(short, &Algorithms::default(), &control).expect("a whole run");
        let reached_ns = control.reached_ns.load(Ordering::Relaxed);
        assert!((end_ns - end_ns / 10..=end_ns).contains(&reached_ns), "{reached_ns} of {end_ns}");
    }
}

#[test]
fn a_run_that_is_cancelled_before_it_begins_is_not_even_set_up() {
    let mut wrong = resolve(&scenario(1_000, 1, 1, vec![flow("cubic", None, 20 * MILLISECOND)]));
    wrong["flows"][0]["transport"]["tcp"]["algorithm"] = json!("unknown");
    let wrong = Scenario::from_json(&wrong.to_string()).expect("what is read");
    let (algorithms, control) = (Algorithms::default(), Control::default());
    assert!(matches!(run(wrong.clone(), &algorithms, &control), Err(Error::Invalid(_))));
    control.cancelled.store(true, Ordering::Relaxed);
    assert!(matches!(run(wrong, &algorithms, &control), Err(Error::Cancelled)));
}
