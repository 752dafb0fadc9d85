//! YeAH-TCP.

use crate::{ack, avoiding, grow, instance, round_trip};
use dumbbell_algorithm::{CaState, Conn, CwndEvent, Instance, SSTHRESH_INFINITE};

const BASE_US: i32 = 100_000;
/// 74 of 1000 segments wait: fast mode.
const FAST_US: i32 = 108_000;
/// 82 of 1000 segments wait.
const LONG_US: i32 = 109_000;

fn on_path(preset: Option<&str>, conn: &mut Conn, settings: &[(&str, u32)]) -> Instance {
    let mut yeah = instance("yeah", preset, settings);
    yeah.init(conn);
    yeah.pkts_acked(conn, &ack(1, BASE_US));
    // A new round trip begins.
    yeah.set_state(conn, CaState::Open);
    yeah
}

fn slow_rounds(yeah: &Instance, conn: &Conn) -> u32 {
    yeah.info(conn)[1]
}

fn reno_count(yeah: &Instance, conn: &Conn) -> u32 {
    yeah.info(conn)[2]
}

#[test]
fn a_short_queue_leaves_it_in_fast_mode_which_is_scalable_tcp() {
    let mut conn = avoiding(1000);
    let mut yeah = on_path(None, &mut conn, &[]);
    round_trip(&mut yeah, &mut conn, FAST_US, 0);
    assert_eq!(yeah.info(&conn)[..2], [74, 0]);
    assert_eq!(grow(&mut yeah, &mut conn, 2, 50).pop(), Some((1001, 0)));
    let mut yeah = on_path(None, &mut conn, &[("segs_per_increase", 20)]);
    assert_eq!(grow(&mut yeah, &mut conn, 2, 50).pop(), Some((1006, 0)));
}

#[test]
fn a_long_queue_is_given_up_and_the_window_is_then_standard_tcp_s() {
    let mut conn = avoiding(1000);
    let mut yeah = on_path(None, &mut conn, &[]);
    round_trip(&mut yeah, &mut conn, LONG_US, 0);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (918, 918));
    assert_eq!(yeah.info(&conn)[..3], [82, 1, 459]);
    assert_eq!(grow(&mut yeah, &mut conn, 2, 458).pop(), Some((918, 916)));
    assert_eq!(grow(&mut yeah, &mut conn, 2, 1).pop(), Some((919, 0)));
}

#[test]
fn gamma_and_epsilon_limit_what_is_given_up() {
    let given_up = |rtt_us, settings: &[(&str, u32)]| {
        let mut conn = avoiding(1000);
        round_trip(&mut on_path(None, &mut conn, settings), &mut conn, rtt_us, 0);
        1000 - conn.cwnd_segs
    };
    assert_eq!(given_up(LONG_US, &[("gamma", 2)]), 41);
    assert_eq!(given_up(300_000, &[]), 500, "of a backlog of 666");
    assert_eq!(given_up(300_000, &[("epsilon", 3)]), 125);
    assert_eq!(given_up(LONG_US, &[("queue_max", 82)]), 0);
    assert_eq!(given_up(LONG_US, &[("queue_max", 81)]), 82);
}

#[test]
fn a_long_delay_is_slow_mode_but_gives_nothing_up() {
    for (rtt_us, slow) in [(112_400, 0), (112_600, 1)] {
        let mut conn = avoiding(100);
        let mut yeah = on_path(None, &mut conn, &[]);
        round_trip(&mut yeah, &mut conn, rtt_us, 0);
        assert_eq!((conn.cwnd_segs, slow_rounds(&yeah, &conn)), (100, slow), "RTT {rtt_us} us");
    }
    let mut conn = avoiding(100);
    let mut yeah = on_path(None, &mut conn, &[("phy", 4)]);
    round_trip(&mut yeah, &mut conn, 124_000, 0);
    assert_eq!(slow_rounds(&yeah, &conn), 0);
}

#[test]
fn never_gives_up_what_standard_tcp_would_have() {
    let mut conn = avoiding(1000);
    let mut yeah = on_path(None, &mut conn, &[]);
    let mut windows = Vec::new();
    for _ in 0..8 {
        round_trip(&mut yeah, &mut conn, 200_000, 0);
        windows.push((conn.cwnd_segs, reno_count(&yeah, &conn)));
    }
    // The queue does not shrink: half, half again, then the part that grows by one a round trip.
    assert_eq!(windows[..4], [(501, 250), (251, 251), (251, 252), (251, 253)]);
}

#[test]
fn fast_mode_forgets_standard_tcp_after_zeta_round_trips() {
    for (settings, rounds) in [(vec![], 51), (vec![("zeta", 3)], 4)] {
        let mut conn = avoiding(1000);
        let mut yeah = on_path(None, &mut conn, &settings);
        round_trip(&mut yeah, &mut conn, LONG_US, 0);
        for _ in 0..rounds - 1 {
            round_trip(&mut yeah, &mut conn, BASE_US, 0);
            assert_eq!((slow_rounds(&yeah, &conn), reno_count(&yeah, &conn)), (0, 459));
        }
        round_trip(&mut yeah, &mut conn, BASE_US, 0);
        assert_eq!(reno_count(&yeah, &conn), 2);
    }
}

#[test]
fn loss_takes_the_queue_within_an_eighth_and_a_half() {
    for (rtt_us, settings, left) in [
        (BASE_US, vec![], 875),
        (150_000, vec![("queue_max", 1000)], 667),
        (300_000, vec![("queue_max", 1000)], 500),
        (BASE_US, vec![("delta", 2)], 750),
    ] {
        let mut conn = avoiding(1000);
        let mut yeah = on_path(None, &mut conn, &settings);
        round_trip(&mut yeah, &mut conn, rtt_us, 0);
        assert_eq!(yeah.ssthresh(&conn), left, "RTT {rtt_us} us, {settings:?}");
    }
    assert_eq!(on_path(None, &mut avoiding(2), &[]).ssthresh(&avoiding(2)), 2);
}

#[test]
fn loss_halves_after_rho_round_trips_of_slow_mode() {
    for (rho, expected) in [(16, 16), (5, 5)] {
        let mut conn = avoiding(100);
        let mut yeah = on_path(None, &mut conn, &[("rho", rho)]);
        for round in 1..=expected {
            round_trip(&mut yeah, &mut conn, 113_000, 0);
            let left = if round < expected { 88 } else { 50 };
            assert_eq!(yeah.clone().ssthresh(&conn), left, "after {round} round trips");
        }
    }
}

#[test]
fn loss_halves_what_standard_tcp_would_have_and_undo_returns() {
    let mut conn = avoiding(1000);
    let mut yeah = on_path(None, &mut conn, &[]);
    round_trip(&mut yeah, &mut conn, LONG_US, 0);
    yeah.ssthresh(&conn);
    assert_eq!(reno_count(&yeah, &conn), 229);
    conn.prior_cwnd_segs = 2000;
    assert_eq!(yeah.undo_cwnd(&conn), 2000);
}

#[test]
fn a_long_queue_ends_slow_start() {
    let mut conn = Conn { cwnd_segs: 1000, ssthresh_segs: SSTHRESH_INFINITE, ..Conn::default() };
    let mut yeah = on_path(None, &mut conn, &[]);
    round_trip(&mut yeah, &mut conn, FAST_US, 10);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (1010, SSTHRESH_INFINITE));
    round_trip(&mut yeah, &mut conn, 120_000, 10);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (851, 851), "1020 less 169, a sixth");
}

#[test]
fn older_kernels_grow_by_one_segment_per_ack_at_most() {
    for preset in ["linux-4.14", "brakmo2017"] {
        let mut conn = avoiding(1000);
        let mut yeah = on_path(Some(preset), &mut conn, &[]);
        for (acked_segs, expected) in
            [(50, (1000, 50)), (50, (1000, 100)), (1, (1001, 0)), (500, (1002, 0))]
        {
            yeah.pkts_acked(&mut conn, &ack(acked_segs, BASE_US));
            yeah.cong_avoid(&mut conn, acked_segs);
            assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), expected, "{preset}");
        }
        yeah.set_state(&mut conn, CaState::Open);
        round_trip(&mut yeah, &mut conn, 200_000, 0);
        conn.cwnd_cnt = 0;
        assert!(slow_rounds(&yeah, &conn) > 0);
        let window = conn.cwnd_segs;
        assert_eq!(grow(&mut yeah, &mut conn, 2, 9).pop(), Some((window, 9)));
    }
    let values = |preset| instance("yeah", preset, &[]).parameters().collect::<Vec<_>>();
    assert_eq!(values(Some("mani2012")), values(None));
}

#[test]
fn round_trips_are_judged_in_all_states_and_idle_forgets_the_path() {
    let mut conn = avoiding(1000);
    let mut yeah = on_path(None, &mut conn, &[]);
    yeah.set_state(&mut conn, CaState::Disorder);
    round_trip(&mut yeah, &mut conn, 300_000, 0);
    assert_eq!((conn.cwnd_segs, slow_rounds(&yeah, &conn)), (500, 1));
    yeah.cwnd_event(&mut conn, CwndEvent::TxStart);
    round_trip(&mut yeah, &mut conn, 300_000, 0);
    assert_eq!((yeah.info(&conn)[0], slow_rounds(&yeah, &conn)), (0, 0));
}

#[test]
fn grows_only_while_the_window_is_in_use() {
    let mut conn = Conn { cwnd_limited: 0, ..avoiding(1000) };
    let mut yeah = on_path(None, &mut conn, &[]);
    round_trip(&mut yeah, &mut conn, LONG_US, 500);
    assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), (1000, 0));
}

#[test]
fn clamps_the_window_as_linux_does() {
    let mut conn = avoiding(100);
    instance("yeah", None, &[]).init(&mut conn);
    assert_eq!(conn.cwnd_clamp_segs, u32::MAX / 128);
}
