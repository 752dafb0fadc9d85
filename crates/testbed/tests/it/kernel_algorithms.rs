//! Every algorithm of the registry in the kernel: it carries real transfers, and gives the same
//! bytes as its native build.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dumbbell_algorithm::{
    Algorithm, Conn, CwndEvent, Need, STATE_BYTES, StartChoice, find, registry,
};
use dumbbell_testbed::NEVER;
use dumbbell_testbed::kernel::parity::{self, Parity};
use dumbbell_testbed::kernel::{
    Argument, Hook, Keep, OfStack, Record, Records, Registered, compile,
};

use crate::alone::undisturbed;
use crate::kernel::flows::{Flows, available, is_root};
use crate::kernel::path::Path;
use crate::kernel::transfer::{BASE_RTT_US, PAUSE, RECEIVER_PORT, send};

/// Long enough for timeouts, including spurious ones, and for a hundred losses.
const DURATION: Duration = Duration::from_millis(4_800);
/// Offset of the state in `struct cc_flow`.
const STATE_AT: usize = 64 + size_of::<Conn>();

fn initial(algorithm: &Algorithm) -> Vec<u32> {
    algorithm.parameters.iter().map(|row| row.initial).collect()
}

/// Every slow start that a stack can have.
fn starts() -> [StartChoice; 6] {
    [
        StartChoice::standard(),
        StartChoice::limited(20),
        StartChoice::hystart(),
        StartChoice::hystart_plus_plus(),
        StartChoice::search(),
        StartChoice::resume(60, BASE_RTT_US),
    ]
}

/// The callbacks of one algorithm in a disturbed transfer.
fn recorded(
    algorithm: &'static Algorithm,
    values: &[u32],
    start: Option<StartChoice>,
    flows: &Flows,
) -> Records {
    let object = compile(algorithm, &NEVER).unwrap();
    let keep = Keep { state: true, callbacks: true };
    let registered = Registered::new(&object, values, start.into(), flows.map(), keep).unwrap();
    let name = registered.kernel_name().to_owned();
    assert!(available().contains(&name));

    let sent = send(&Path::new(), &name, flows, DURATION);
    assert_eq!(sent.ecn, algorithm.flags.contains(&Need::Ecn), "{name}: congestion marks");
    let (largest, smallest) = sent.cwnd_segs;
    assert!(largest >= 2 * smallest, "{name}: the window moves: {smallest} to {largest}");
    let records = registered.records().unwrap();
    let kept = &sent.flow[STATE_AT..STATE_AT + STATE_BYTES];
    assert!(
        records.records.iter().any(|record| record.after.state == kept),
        "{name}: the state that is kept of a flow is one that it was in"
    );
    drop(registered);
    assert!(soon_gone(&name), "{name} is gone");
    records
}

/// Return true once no socket can choose it. A compiler that another thread starts holds the
/// registration for a moment, between fork and exec.
fn soon_gone(name: &str) -> bool {
    let patience = Instant::now() + Duration::from_secs(5);
    while available().iter().any(|other| other == name) && Instant::now() < patience {
        sleep(Duration::from_millis(10));
    }
    !available().iter().any(|other| other == name)
}

/// Check that the adapters' inputs are consistent.
fn assert_plausible(algorithm: &Algorithm, records: &Records) {
    let sender: Vec<_> =
        records.records.iter().filter(|record| record.port != RECEIVER_PORT).collect();
    for pair in sender.windows(2) {
        let (earlier, later) = (&pair[0].after.conn, &pair[1].before.conn);
        assert!(later.now_us >= earlier.now_us && later.delivered_segs >= earlier.delivered_segs);
        assert_eq!((later.base_rtt_us, later.mss_bytes), (BASE_RTT_US, 1_448));
        let outstanding_bytes = later.snd_nxt.wrapping_sub(later.snd_una);
        let most_segs = 2 * (outstanding_bytes / later.mss_bytes + 2);
        assert!(later.in_flight_segs <= most_segs && later.srtt_us > 2_000, "{later:?}");
        if algorithm.flags.contains(&Need::Pacing) {
            let (set, kept) = (earlier.pacing_rate_bytes_per_s, later.pacing_rate_bytes_per_s);
            assert_eq!(set, kept, "the rate that was set is the rate");
        }
    }
}

/// Check the pause: data was last sent before it, a round trip before the last ACK.
fn assert_pause_is_reported(algorithm: &Algorithm, records: &Records) {
    let now_ms = |record: &Record| (record.before.conn.now_us / 1_000) as u32;
    let sender: Vec<_> =
        records.records.iter().filter(|record| record.port != RECEIVER_PORT).collect();
    let starts = |record: &Record| {
        let conn = &record.before.conn;
        record.hook == Hook::CwndEvent
            && record.argument == Argument::Number(CwndEvent::TxStart as u32)
            && conn.snd_una == conn.snd_nxt
    };
    let is_pause = |pair: &&[&Record]| {
        starts(pair[1]) && now_ms(pair[1]) >= now_ms(pair[0]) + PAUSE.as_millis() as u32
    };
    let pause = sender.windows(2).rev().find(is_pause).expect("it sends again");
    let (last_ack_ms, last_sent_ms) = (now_ms(pause[0]), pause[1].before.conn.last_sent_ms);
    let path_ms = last_ack_ms.wrapping_sub(last_sent_ms);
    assert!((4..5_000).contains(&path_ms), "{}: {path_ms} ms", algorithm.name);
}

/// Check that the path called all hooks of an algorithm that it should reach.
fn assert_reached(algorithm: &Algorithm, parity: &Parity) {
    let hooks = [Hook::Init, Hook::Ssthresh, Hook::UndoCwnd, Hook::PktsAcked, Hook::SetState];
    for hook in hooks {
        let listed = format!("H({}, {})", algorithm.name, hook.name());
        let is_there = hook == Hook::UndoCwnd || algorithm.code.contains(&listed);
        let called = parity.callbacks.get(&hook).copied().unwrap_or(0);
        assert_eq!(called > 0, is_there, "{}: {called} calls of {}", algorithm.name, hook.name());
    }
}

/// Compare one algorithm on a separate path.
fn compare(algorithm: &'static Algorithm, flows: &Flows) {
    let values = initial(algorithm);
    let records = recorded(algorithm, &values, None, flows);
    assert_plausible(algorithm, &records);
    if algorithm.code.contains(&format!("H({}, cwnd_event)", algorithm.name)) {
        assert_pause_is_reported(algorithm, &records);
    }
    let parity = parity::replay(algorithm, &values, &records);
    println!("{}: {} callbacks {:?}", algorithm.name, parity.total(), parity.callbacks);
    let report: String = parity.mismatches.iter().map(ToString::to_string).collect();
    assert_eq!((parity.differing, parity.lost_records), (0, 0), "{}: {report}", algorithm.name);
    assert_reached(algorithm, &parity);
}

#[test]
fn every_algorithm_does_in_the_kernel_what_it_does_here() {
    if !is_root() {
        return;
    }
    undisturbed(|| {
        let flows = Flows::new();
        std::thread::scope(|scope| {
            for algorithm in registry() {
                scope.spawn(|| compare(algorithm, &flows));
            }
        });
    });
}

/// The verifier knows the parameters' values, so each set of them is another program for it.
#[test]
fn every_preset_and_every_bound_is_taken_by_the_verifier() {
    if !is_root() {
        return;
    }
    undisturbed(|| {
        let flows = Flows::new();
        for algorithm in registry() {
            let object = compile(algorithm, &NEVER).unwrap();
            let presets = algorithm.presets.iter().map(|preset| Some(preset.name));
            let values = presets.map(|preset| algorithm.values(preset, &BTreeMap::new()).unwrap());
            let lowest = algorithm.parameters.iter().map(|row| row.low).collect();
            let highest = algorithm.parameters.iter().map(|row| row.high).collect();
            for values in values.chain([lowest, highest]) {
                let keep = Keep::default();
                let registered =
                    Registered::new(&object, &values, OfStack::default(), flows.map(), keep);
                registered.unwrap_or_else(|error| panic!("{values:?}: {error}"));
            }
            for start in starts().into_iter().filter(|_| !algorithm.has_cong_control()) {
                let (values, keep) = (initial(algorithm), Keep::default());
                let registered =
                    Registered::new(&object, &values, Some(start).into(), flows.map(), keep);
                registered.unwrap_or_else(|error| panic!("{start:?}: {error}"));
            }
        }
    });
}

#[test]
fn an_algorithm_does_what_it_does_here_whatever_its_slow_start_is() {
    if !is_root() {
        return;
    }
    undisturbed(|| {
        let flows = Flows::new();
        let cubic = find("cubic").unwrap();
        std::thread::scope(|scope| {
            for start in starts() {
                let flows = &flows;
                scope.spawn(move || {
                    let values = initial(cubic);
                    let records = recorded(cubic, &values, Some(start), flows);
                    let parity = parity::replay(cubic, &values, &records);
                    assert!(parity.total() > 0);
                    assert_eq!((parity.differing, parity.lost_records), (0, 0), "{start:?}");
                });
            }
        });
    });
}

#[test]
fn two_parameterisations_live_side_by_side() {
    if !is_root() {
        return;
    }
    undisturbed(|| {
        let flows = Flows::new();
        let cubic = find("cubic").unwrap();
        let kept = cubic.parameters.iter().position(|row| row.name == "kept").unwrap();
        let [gentle, harsh] = [1_000, 512].map(|value| {
            let mut values = initial(cubic);
            values[kept] = value;
            values
        });
        let [of_gentle, of_harsh] = std::thread::scope(|scope| {
            [&gentle, &harsh]
                .map(|values| scope.spawn(|| recorded(cubic, values, None, &flows)))
                .map(|run| run.join().unwrap())
        });
        let differing = |values, records| parity::replay(cubic, values, records).differing;
        assert_eq!((differing(&gentle, &of_gentle), differing(&harsh, &of_harsh)), (0, 0));
        // Compared with the other's parameters, both differ: the comparison can fail.
        let crossed = parity::replay(cubic, &harsh, &of_gentle);
        assert!(crossed.differing > 0 && differing(&gentle, &of_harsh) > 0);
        let report = crossed.mismatches[0].to_string();
        let answer_or_state =
            report.contains("kernel answered") || report.contains("state, kernel");
        assert!(answer_or_state && report.contains("port"), "{report}");
    });
}
