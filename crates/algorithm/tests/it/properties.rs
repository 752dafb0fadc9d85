//! Properties of every algorithm, for any events of its connection.

use dumbbell_algorithm::{
    AckSample, CaState, Conn, CwndEvent, Family, Instance, RateSample, STACK_COUNT_ACKS,
    STACK_SLOW_START_INCLUSIVE, registry,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Algorithms that reduce the window for delay, without a loss.
const YIELDING: [&str; 4] = ["compound", "fast", "vegas", "yeah"];

/// Something that happens to a connection.
#[derive(Clone, Debug)]
enum Step {
    Ack { acked_segs: u32, rtt_us: i32, after_us: u32 },
    Congestion(CaState),
    Recovered,
    Undone,
    Idle { after_us: u32 },
    Window { cwnd_segs: u32, ssthresh_segs: u32 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let acked = prop_oneof![Just(1_u32), Just(2), 0..100_u32, any::<u32>()];
    let rtt = prop_oneof![Just(-1), Just(0), 1..500_000_i32, Just(i32::MAX)];
    let after = prop_oneof![0..20_u32, 0..1_000_000_u32, any::<u32>()];
    let window =
        prop_oneof![1..200_u32, 1..200_000_u32, 0x7fff_ff00..0x8000_0100_u32, 1..=u32::MAX];
    let congestion = prop_oneof![Just(CaState::Cwr), Just(CaState::Recovery), Just(CaState::Loss)];
    let step = prop_oneof![
        20 => (acked, rtt, after.clone()).prop_map(|(acked_segs, rtt_us, after_us)| Step::Ack { acked_segs, rtt_us, after_us }),
        2 => congestion.prop_map(Step::Congestion),
        2 => Just(Step::Recovered),
        1 => Just(Step::Undone),
        1 => after.prop_map(|after_us| Step::Idle { after_us }),
        1 => (window.clone(), window).prop_map(|(cwnd_segs, ssthresh_segs)| Step::Window { cwnd_segs, ssthresh_segs }),
    ];
    prop::collection::vec(step, 1..300)
}

/// Any algorithm with any of its presets, or with random parameters.
fn instances() -> impl Strategy<Value = Instance> {
    (0..registry().len(), any::<prop::sample::Index>(), prop::collection::vec(any::<u32>(), 24))
        .prop_map(|(index, preset, numbers)| {
            let algorithm = &registry()[index];
            let choice = preset.index(algorithm.presets.len() + 2);
            let preset = algorithm.presets.get(choice).map(|preset| preset.name);
            let mut parameters = BTreeMap::new();
            if choice == algorithm.presets.len() {
                for (row, number) in algorithm.parameters.iter().zip(numbers) {
                    let choices = u64::from((row.high - row.low) / row.step) + 1;
                    let value = row.low + (u64::from(number) % choices) as u32 * row.step;
                    parameters.insert(row.name.to_owned(), value);
                }
            }
            Instance::new(algorithm.name, preset, &parameters).expect("within range")
        })
}

/// Play one step as a stack would, and check what the algorithm did.
fn play(instance: &mut Instance, conn: &mut Conn, step: &Step) {
    match *step {
        Step::Ack { acked_segs, rtt_us, after_us } => {
            acked(instance, conn, acked_segs, rtt_us, after_us)
        }
        Step::Congestion(state) => congested(instance, conn, state),
        Step::Recovered => {
            if conn.state != CaState::Open {
                conn.cwnd_segs = conn.ssthresh_segs.min(conn.cwnd_clamp_segs);
                instance.cwnd_event(conn, CwndEvent::CompleteCwr);
                instance.set_state(conn, CaState::Open);
                conn.state = CaState::Open;
            }
        }
        Step::Undone => conn.cwnd_segs = instance.undo_cwnd(conn).min(conn.cwnd_clamp_segs),
        Step::Idle { after_us } => {
            conn.last_sent_ms = (conn.now_us / 1_000) as u32;
            conn.now_us += u64::from(after_us);
            instance.cwnd_event(conn, CwndEvent::TxStart);
            instance.cwnd_event(conn, CwndEvent::CwndRestart);
        }
        Step::Window { cwnd_segs, ssthresh_segs } => {
            conn.cwnd_segs = cwnd_segs.min(conn.cwnd_clamp_segs);
            conn.ssthresh_segs = ssthresh_segs.min(i32::MAX as u32);
        }
    }
}

fn acked(instance: &mut Instance, conn: &mut Conn, acked_segs: u32, rtt_us: i32, after_us: u32) {
    let before = conn.cwnd_segs;
    conn.now_us += u64::from(after_us);
    conn.delivered_segs += u64::from(acked_segs);
    conn.stamp_ms = conn.stamp_ms.wrapping_add(acked_segs ^ after_us);
    conn.echo_ms = conn.echo_ms.wrapping_add(after_us);
    conn.resent_segs = conn.resent_segs.wrapping_add(u32::from(conn.state != CaState::Open));
    conn.random = conn.random.wrapping_mul(1_664_525).wrapping_add(after_us | 1);
    conn.snd_una = conn.snd_una.wrapping_add(acked_segs.wrapping_mul(conn.mss_bytes));
    conn.snd_nxt = conn.snd_una.wrapping_add(before.wrapping_mul(conn.mss_bytes));
    if rtt_us > 0 {
        conn.srtt_us = rtt_us as u32;
    }
    instance.in_ack_event(conn, 0);
    conn.in_flight_segs = before.saturating_sub(acked_segs);
    if after_us % 3 == 0 {
        conn.delivered_ce_segs += u64::from(acked_segs);
    }
    let in_flight_bytes = conn.in_flight_segs.saturating_mul(conn.mss_bytes);
    let sample = AckSample { pkts_acked: acked_segs, rtt_us, in_flight_bytes };
    instance.pkts_acked(conn, &sample);
    let (name, acked) = (instance.algorithm().name, u64::from(acked_segs));
    let sampled = conn.cwnd_segs;
    let lp_yields = matches!(name, "lp" | "hstcplp") && (1..before).contains(&sampled);
    assert!(
        sampled == before || lp_yields || nv_may_move(instance, before, sampled),
        "a sample must not move the window: {before} to {sampled}"
    );
    let before = sampled;
    if instance.has_cong_control() {
        rate_controlled(instance, conn, acked_segs, rtt_us, after_us);
        return;
    }
    if matches!(conn.state, CaState::Cwr | CaState::Recovery) {
        return;
    }
    instance.cong_avoid(conn, acked_segs);
    let after = conn.cwnd_segs;
    assert!(after <= conn.cwnd_clamp_segs, "{after} is beyond the clamp");
    if YIELDING.contains(&name) {
        let growth = before.saturating_add(before.max(acked_segs)).saturating_add(1);
        assert!((2.min(before)..=growth).contains(&after), "{before} to {after}");
    } else if name == "ledbatpp" {
        // Slowdowns reduce the window to `slowdown_window`, at least 2.
        let growth = u64::from(before) + acked + 1;
        assert!(after >= 2.min(before) && u64::from(after) <= growth, "{before} to {after}");
    } else if matches!(name, "ccp" | "ccpd") {
        // The window does not depend on the last one.
        assert!(after >= 1, "{before} to {after}");
    } else if name == "hybla" {
        assert!(after >= before, "{before} to {after}");
    } else if name == "cdg" {
        let growth = u64::from(before) + acked + 1;
        assert!((before.min(2)..).contains(&after) && u64::from(after) <= growth);
    } else {
        let growth = u64::from(before) + u64::from(acked_segs) + 1;
        assert!(
            after >= before && u64::from(after) <= growth.max(200 * u64::from(before)),
            "{before} to {after}"
        );
    }
}

/// TCP-NV reduces the window with a sample, to `window_min` or more, even from below.
fn nv_may_move(instance: &Instance, before: u32, after: u32) -> bool {
    let least = instance.parameters().find(|&(name, _)| name == "window_min");
    let highest = least.map_or(before, |(_, segs)| before.max(segs));
    instance.algorithm().name == "nv" && (2.min(before)..=highest).contains(&after)
}

/// Compound as misprinted by Kumazoe et al.: the delay part loses more than half.
fn cuts_as_misprinted(instance: &Instance) -> bool {
    instance.parameters().any(|parameter| parameter == ("literal_cut", 1))
}

/// A sample of the flight that this ACK ends, at times with a loss.
fn rate_controlled(
    instance: &mut Instance,
    conn: &mut Conn,
    acked_segs: u32,
    rtt_us: i32,
    after_us: u32,
) {
    let losses_segs = if acked_segs % 7 == 3 { acked_segs / 8 } else { 0 };
    conn.random = conn.random.wrapping_mul(1_664_525).wrapping_add(after_us);
    conn.lost_segs += u64::from(losses_segs);
    conn.in_flight_segs = conn.cwnd_segs / 2;
    conn.pacing_wait_us = after_us % 2_000;
    let flight_segs = u64::from(acked_segs.min(conn.in_flight_segs).min(i32::MAX as u32));
    let sample = RateSample {
        prior_delivered_segs: conn.delivered_segs.saturating_sub(flight_segs),
        interval_us: i64::from(after_us) - 3,
        delivered_segs: flight_segs as i32,
        rtt_us,
        losses_segs,
        acked_sacked_segs: acked_segs,
        prior_in_flight_segs: conn.cwnd_segs,
        is_app_limited: u8::from(after_us % 5 == 0),
        is_ack_delayed: u8::from(acked_segs == 1),
        ..RateSample::default()
    };
    instance.cong_control(conn, &sample);
    assert!(conn.cwnd_segs <= conn.cwnd_clamp_segs, "{} is beyond the clamp", conn.cwnd_segs);
}

fn congested(instance: &mut Instance, conn: &mut Conn, state: CaState) {
    let window = conn.cwnd_segs;
    conn.prior_cwnd_segs = window;
    conn.cwnd_cnt = 0;
    let answer = instance.ssthresh(conn);
    if instance.algorithm().family == Family::Rate {
        assert_eq!(answer, conn.ssthresh_segs, "the window is set by cong_control alone");
    } else {
        assert!(answer >= 2, "ssthresh {answer} from {window}");
        assert!(answer <= window.max(2), "ssthresh {answer} from {window}");
        // The window of CCP and CCP-D does not depend on the one before.
        let by_law = matches!(instance.algorithm().name, "ccp" | "ccpd");
        assert!(
            answer >= window / 2 || by_law || cuts_as_misprinted(instance),
            "ssthresh {answer} from {window}"
        );
    }
    assert_eq!(conn.cwnd_segs, window, "ssthresh() must leave the window alone");
    conn.ssthresh_segs = answer;
    if state == CaState::Loss {
        instance.cwnd_event(conn, CwndEvent::Loss);
        conn.cwnd_segs = 1;
    }
    instance.set_state(conn, state);
    conn.state = state;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn windows_stay_within_their_bounds(
        mut instance in instances(),
        steps in steps(),
        stack in 0..=(STACK_COUNT_ACKS | STACK_SLOW_START_INCLUSIVE),
    ) {
        let mut conn = Conn { stack, ..Conn::default() };
        instance.init(&mut conn);
        for step in &steps {
            play(&mut instance, &mut conn, step);
            prop_assert!(conn.cwnd_segs >= 1);
            instance.info(&conn);
        }
    }

    #[test]
    fn the_same_calls_give_the_same_windows(instance in instances(), steps in steps()) {
        let run = || {
            let mut instance = instance.clone();
            let mut conn = Conn::default();
            instance.init(&mut conn);
            for step in &steps {
                play(&mut instance, &mut conn, step);
            }
            (conn, instance.info(&conn))
        };
        prop_assert_eq!(run(), run());
    }
}
