//! Tables have a limit: a full table ends the run at any point, and the error names it.

use crate::common::{MILLISECOND, SECOND, flow, resolve, scenario, with};
use crate::shortcuts::CLOSED;
use dumbbell_algorithm::Algorithms;
use dumbbell_record::{Invalid, RowLimits};
use dumbbell_simulator::{Control, Error, Shortcuts, run_by};
use dumbbell_workload::Scenario;
use serde_json::{Value, json};

/// The key and the problem of a run that keeps at most ten rows of each kind.
fn refused(scenario: &Value, shortcuts: Shortcuts) -> (String, String) {
    let limits = RowLimits { events: 10, requests: 10, modes: 2 };
    let control = Control { limits, ..Control::default() };
    let scenario = Scenario::from_json(&scenario.to_string()).expect("a valid scenario");
    match run_by(shortcuts, scenario, &Algorithms::default(), &control) {
        Err(Error::Invalid(Invalid { key, problem })) => (key, problem),
        other => panic!("{:?}", other.map(|output| output.summary)),
    }
}

fn one(flow: Value) -> Value {
    resolve(&scenario(10_000_000, 5, 3_600, vec![flow]))
}

#[test]
fn a_full_table_ends_the_run_and_names_its_rows_and_the_time() {
    let reno = || flow("reno", None, 20 * MILLISECOND);
    let drops = with(one(reno()), "/record/events", json!(["drop", "timeout"]));
    let rpc = json!({"requests": {"bytes": 1_000, "pause_ns": 0}});
    let requests = one(with(reno(), "/demand", rpc));
    let modes = with(one(flow("bbr", None, 20 * MILLISECOND)), "/record/modes", json!(true));
    for (scenario, key, begins, ends) in [
        (drops, "record.events", "more than 10 events by 1.", ", mostly drop; record fewer"),
        (
            requests,
            "duration",
            "more than 10 requests and transfers that were completed by 0.2",
            "",
        ),
        (modes, "record.modes", "more than 2 changes of modes by ", " s of the run; sample fewer"),
    ] {
        let (key_at_fault, problem) = refused(&scenario, Shortcuts::default());
        assert_eq!(key_at_fault, key);
        assert!(problem.starts_with(begins) && problem.contains(ends), "{problem}");
        for (closed, shortcuts) in CLOSED {
            assert_eq!(refused(&scenario, shortcuts).1, problem, "without {closed}");
        }
    }
}

#[test]
fn a_timer_that_is_always_due_at_once_ends_the_run() {
    // Between the loss of all data and the next arrival, there are 10^11 timeouts.
    let flow = with(flow("reno", None, 600 * SECOND), "/switches", json!({"rto_max_ns": 2}));
    let timeouts = with(one(flow), "/record/events", json!(["timeout"]));
    let (key, problem) = refused(&timeouts, Shortcuts::default());
    assert_eq!(key, "record.events");
    assert!(problem.contains("mostly timeout"), "{problem}");
}
