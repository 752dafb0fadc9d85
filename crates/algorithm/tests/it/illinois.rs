//! TCP-Illinois.

use crate::{ack, avoiding, grow, instance, round_trip};
use dumbbell_algorithm::{CaState, Conn, Instance};

const BASE_US: i32 = 100_000;

/// An instance on a path of 100 ms with 50 ms of queue, whose delay was never above d1.
fn on_path(conn: &mut Conn, settings: &[(&str, u32)]) -> Instance {
    let mut illinois = instance("illinois", None, settings);
    illinois.init(conn);
    for rtt_us in [BASE_US, BASE_US + 50_000] {
        illinois.pkts_acked(conn, &ack(1, rtt_us));
    }
    // Below win_thresh, Illinois ignores delays.
    let window = std::mem::replace(&mut conn.cwnd_segs, 2);
    round_trip(&mut illinois, conn, BASE_US, 0);
    conn.cwnd_segs = window;
    illinois
}

/// Alpha and beta.
fn gains(illinois: &Instance, conn: &Conn) -> (f64, f64) {
    let [alpha, beta, ..] = illinois.info(conn);
    (f64::from(alpha) / 1024.0, f64::from(beta) / 1024.0)
}

fn after(delay_us: i32, settings: &[(&str, u32)]) -> (f64, f64) {
    let mut conn = avoiding(100);
    let mut illinois = on_path(&mut conn, settings);
    round_trip(&mut illinois, &mut conn, BASE_US + delay_us, 0);
    gains(&illinois, &conn)
}

#[test]
fn alpha_and_beta_follow_the_queueing_delay() {
    for (delay_us, alpha, beta) in [
        (0, 10.0, 0.125),
        (500, 10.0, 0.125),
        (1_000, 7.52, 0.125),
        (2_000, 5.02, 0.125),
        (5_000, 2.52, 0.125),
        (10_000, 1.375, 0.172),
        (20_000, 0.719, 0.281),
        (40_000, 0.367, 0.5),
        (50_000, 0.297, 0.5),
    ] {
        let (seen_alpha, seen_beta) = after(delay_us, &[]);
        assert!((seen_alpha - alpha).abs() < 0.009, "{delay_us} us: alpha {seen_alpha}");
        assert!((seen_beta - beta).abs() < 0.001, "{delay_us} us: beta {seen_beta}");
    }
}

#[test]
fn limits_are_parameters() {
    let settings = [("alpha_max", 2560), ("beta_min", 16), ("d1", 4), ("d2", 20), ("d3", 40)];
    assert_eq!(after(2_000, &settings), (20.0, 0.25));
    assert_eq!(after(10_000, &settings).1, 0.25);
    assert_eq!(after(15_000, &settings).1, 0.375, "half way from d2 to d3");
    assert_eq!(after(20_000, &settings).1, 0.5);
    let settings = [("d2", 50), ("d3", 20), ("beta_min", 32), ("beta_max", 8)];
    assert_eq!(after(30_000, &settings).1, 0.5, "beta_max is no less than beta_min");
}

#[test]
fn a_path_without_queue_is_empty() {
    let mut conn = avoiding(100);
    let mut illinois = instance("illinois", None, &[]);
    illinois.init(&mut conn);
    assert_eq!(gains(&illinois, &conn), (10.0, 0.5), "before the first round trip");
    round_trip(&mut illinois, &mut conn, BASE_US, 0);
    assert_eq!(gains(&illinois, &conn), (10.0, 0.125));
}

#[test]
fn alpha_max_returns_after_theta_round_trips_whatever_comes_between_them() {
    let mut conn = avoiding(100);
    let mut illinois = on_path(&mut conn, &[]);
    let mut alpha = |delay_us| {
        round_trip(&mut illinois, &mut conn, BASE_US + delay_us, 0);
        gains(&illinois, &conn).0
    };
    let above = alpha(20_000);
    assert!(above < 1.0);
    assert!((0..4).all(|_| alpha(0) == above));
    assert_eq!(alpha(20_000), above, "they go on");
    assert_eq!(alpha(0), 10.0);
    assert_eq!(alpha(20_000), above);
    assert!((0..4).all(|_| alpha(0) == above), "now they begin anew");
    assert_eq!(alpha(0), 10.0);
    assert_eq!(alpha(500), 10.0);
}

#[test]
fn small_windows_are_those_of_standard_tcp() {
    let mut conn = avoiding(14);
    let mut illinois = on_path(&mut conn, &[]);
    round_trip(&mut illinois, &mut conn, BASE_US, 0);
    assert_eq!(gains(&illinois, &conn), (1.0, 0.5));
    conn.cwnd_segs = 15;
    round_trip(&mut illinois, &mut conn, BASE_US, 0);
    assert_eq!(gains(&illinois, &conn), (10.0, 0.125));
}

#[test]
fn grows_by_alpha_per_window_of_acknowledged_segments() {
    let mut conn = avoiding(100);
    let mut illinois = on_path(&mut conn, &[]);
    round_trip(&mut illinois, &mut conn, BASE_US, 0);
    conn.cwnd_cnt = 0;
    for _ in 0..5 {
        assert_eq!(conn.cwnd_segs, 100);
        illinois.pkts_acked(&mut conn, &ack(2, BASE_US));
        illinois.cong_avoid(&mut conn, 2);
    }
    assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), (101, 0), "10 of 100 segments earn one");
    illinois.pkts_acked(&mut conn, &ack(55, BASE_US));
    illinois.cong_avoid(&mut conn, 55);
    assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), (106, 0), "the rest of 5.4 is dropped");
}

#[test]
fn slow_start_is_the_stack_s_and_growth_needs_a_window_in_use() {
    let mut conn = Conn { ssthresh_segs: 120, ..avoiding(100) };
    let mut illinois = on_path(&mut conn, &[]);
    assert_eq!(grow(&mut illinois, &mut conn, 30, 1).pop(), Some((120, 0)));
    conn.cwnd_limited = 0;
    assert_eq!(grow(&mut illinois, &mut conn, 100, 5).pop(), Some((120, 0)));
}

#[test]
fn loss_takes_beta() {
    for (delay_us, kept) in [(0, 875), (20_000, 1000 - 1000 * 18 / 64), (50_000, 500)] {
        let mut conn = avoiding(1000);
        let mut illinois = on_path(&mut conn, &[]);
        round_trip(&mut illinois, &mut conn, BASE_US + delay_us, 0);
        assert_eq!(illinois.ssthresh(&conn), kept, "delay {delay_us} us");
        conn = Conn { cwnd_segs: kept, prior_cwnd_segs: 1000, ..conn };
        assert_eq!(illinois.undo_cwnd(&conn), 1000);
    }
}

#[test]
fn a_timeout_makes_it_standard_tcp_until_the_next_round_trip() {
    let mut conn = avoiding(1000);
    let mut illinois = on_path(&mut conn, &[]);
    round_trip(&mut illinois, &mut conn, BASE_US + 20_000, 0);
    illinois.set_state(&mut conn, CaState::Loss);
    assert_eq!(gains(&illinois, &conn), (1.0, 0.5));
    assert_eq!(illinois.ssthresh(&conn), 500);
    round_trip(&mut illinois, &mut conn, BASE_US, 0);
    assert_eq!(gains(&illinois, &conn), (10.0, 0.125), "what was above is forgotten");
}

#[test]
fn rtts_beyond_the_limit_count_as_the_limit() {
    let mut conn = avoiding(100);
    let mut illinois = on_path(&mut conn, &[("rtt_limit", 120_000)]);
    assert_eq!(illinois.info(&conn)[2..], [100_000, 120_000]);
    illinois.pkts_acked(&mut conn, &ack(1, i32::MAX));
    illinois.pkts_acked(&mut conn, &ack(1, -1));
    assert_eq!(illinois.info(&conn)[2..], [100_000, 120_000]);
}

#[test]
fn the_study_s_preset_is_the_paper() {
    let values = |preset| instance("illinois", preset, &[]).parameters().collect::<Vec<_>>();
    assert_eq!(values(Some("mani2012")), values(None));
}
