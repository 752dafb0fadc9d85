//! Hooks called in the kernel without a socket leave the same memory as native calls.

use std::collections::BTreeMap;

use dumbbell_algorithm::call::{Call, HookInput, Memory, Outcome};
use dumbbell_algorithm::{ACK_WIN_UPDATE, AckSample, Algorithm, Conn, RateSample, find, registry};
use dumbbell_testbed::NEVER;
use dumbbell_testbed::kernel::{Played, compile_for_calls};

use crate::kernel::flows::is_root;

/// Every hook, in an order in which a stack may call them.
fn input() -> [HookInput; 9] {
    let sample = RateSample {
        prior_delivered_segs: 20,
        interval_us: 25_000,
        delivered_segs: 10,
        rtt_us: 24_000,
        acked_sacked_segs: 2,
        prior_in_flight_segs: 10,
        ..RateSample::default()
    };
    [
        HookInput::Init,
        HookInput::InAckEvent(ACK_WIN_UPDATE),
        HookInput::PktsAcked(AckSample { pkts_acked: 2, rtt_us: 24_000, in_flight_bytes: 14_480 }),
        HookInput::CongAvoid(2),
        HookInput::CongControl(sample),
        HookInput::Ssthresh,
        HookInput::SetState(3),
        HookInput::CwndEvent(2),
        HookInput::UndoCwnd,
    ]
}

fn conn() -> Conn {
    Conn {
        cwnd_segs: 40,
        ssthresh_segs: 20,
        now_us: 5_000_000,
        delivered_segs: 30,
        in_flight_segs: 10,
        srtt_us: 24_000,
        min_rtt_us: 20_000,
        prior_cwnd_segs: 50,
        snd_una: 43_440,
        snd_nxt: 57_920,
        ..Conn::default()
    }
}

fn played(algorithm: &'static Algorithm, values: &[u32]) -> Played {
    let object = compile_for_calls(algorithm, &NEVER).unwrap();
    Played::new(&object, values).unwrap()
}

#[test]
fn each_hook_of_each_algorithm_leaves_the_same() {
    if !is_root() {
        return;
    }
    for algorithm in registry() {
        let values = algorithm.values(None, &BTreeMap::new()).unwrap();
        let mut played = played(algorithm, &values);
        let mut before = Memory { conn: conn(), state: [0; 13] };
        for input in input() {
            let call = Call { input, before };
            let native = call.make(algorithm, &values).unwrap();
            assert_eq!(played.call(&call).unwrap(), native, "{}: {input:?}", algorithm.name);
            before = native.after;
        }
    }
}

#[test]
fn it_has_the_parameters_that_it_was_loaded_with() {
    if !is_root() {
        return;
    }
    let reno = find("reno").unwrap();
    let marked = Conn { cwnd_segs: 100, is_marked: 1, ..conn() };
    let before = Memory { conn: marked, state: [0; 13] };
    for (kept, answer) in [(0, 50), (819, 79)] {
        let outcome: Outcome =
            played(reno, &[kept]).call(&Call { input: HookInput::Ssthresh, before }).unwrap();
        assert_eq!(outcome, Outcome { answer, after: before });
    }
}
