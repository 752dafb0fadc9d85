//! Hybla.

use crate::{avoiding, instance};
use dumbbell_algorithm::{CaState, Conn, Instance, SSTHRESH_INFINITE};

/// An instance and its connection on a path of this RTT, in congestion avoidance.
fn on_path(rtt_ms: u32, cwnd_segs: u32, settings: &[(&str, u32)]) -> (Instance, Conn) {
    let mut hybla = instance("hybla", None, settings);
    let mut conn = Conn { srtt_us: rtt_ms * 1000, ..avoiding(cwnd_segs) };
    hybla.init(&mut conn);
    conn.cwnd_segs = cwnd_segs;
    (hybla, conn)
}

/// Segments gained in `round_trips` with one ACK for each segment.
fn gained(hybla: &mut Instance, conn: &mut Conn, round_trips: u32) -> u32 {
    let before = conn.cwnd_segs;
    for _ in 0..round_trips {
        for _ in 0..conn.cwnd_segs {
            hybla.cong_avoid(conn, 1);
        }
    }
    conn.cwnd_segs - before
}

#[test]
fn rho_is_the_rtt_in_multiples_of_25_ms_in_eighths_and_never_below_1() {
    for (rtt_ms, rho_milli) in [(10, 1000), (25, 1000), (28, 1000), (29, 1125), (100, 4000)] {
        let (hybla, conn) = on_path(rtt_ms, 100, &[]);
        assert_eq!(hybla.info(&conn)[0], rho_milli, "RTT {rtt_ms} ms");
    }
    let (hybla, conn) = on_path(100, 100, &[("rtt0", 50)]);
    assert_eq!(hybla.info(&conn)[0], 2000);
}

#[test]
fn the_first_window_is_rho_segments() {
    for (rtt_ms, settings, expected) in
        [(10, &[][..], 1), (120, &[][..], 4), (120, &[("initial_window", 0)][..], 10)]
    {
        let mut hybla = instance("hybla", None, settings);
        let mut conn = Conn { srtt_us: rtt_ms * 1000, ..Conn::default() };
        hybla.init(&mut conn);
        assert_eq!(conn.cwnd_segs, expected, "RTT {rtt_ms} ms");
    }
}

#[test]
fn without_an_rtt_the_first_window_is_the_stack_s_and_rho_that_of_the_first_ack() {
    let mut hybla = instance("hybla", None, &[]);
    let mut conn = Conn::default();
    hybla.init(&mut conn);
    assert_eq!((conn.cwnd_segs, hybla.info(&conn)[0]), (10, 1000));
    conn.srtt_us = 100_000;
    hybla.cong_avoid(&mut conn, 1);
    assert_eq!(hybla.info(&conn)[0], 4000);
}

#[test]
fn rho_follows_the_smallest_smoothed_rtt() {
    let (mut hybla, mut conn) = on_path(100, 100, &[]);
    for (rtt_ms, rho_milli) in [(150, 4000), (75, 3000), (100, 3000)] {
        conn.srtt_us = rtt_ms * 1000;
        hybla.cong_avoid(&mut conn, 1);
        assert_eq!(hybla.info(&conn)[0], rho_milli);
    }
}

#[test]
fn slow_start_adds_two_to_the_rho_less_one_for_each_ack() {
    // 2^4 - 1; 2^(4 + 1/8) - 1 = 16.45, rounded in the algorithm to 139/128 2^4 - 1 = 16.375.
    for (rtt_ms, acks, gain) in [(25, 8, 8), (100, 8, 120), (104, 8, 131), (500, 1, 65_525)] {
        let (mut hybla, mut conn) = on_path(rtt_ms, 10, &[]);
        conn.ssthresh_segs = SSTHRESH_INFINITE;
        for _ in 0..acks {
            hybla.cong_avoid(&mut conn, 2);
        }
        assert_eq!(conn.cwnd_segs, 10 + gain, "RTT {rtt_ms} ms");
    }
}

#[test]
fn the_table_of_powers_is_right() {
    for eighths in 0..8_u32 {
        let settings = [("rtt0", 8)];
        let (mut hybla, mut conn) = on_path(8 + eighths, 10, &settings);
        conn.ssthresh_segs = SSTHRESH_INFINITE;
        for _ in 0..128 {
            hybla.cong_avoid(&mut conn, 1);
        }
        let exact = 128.0 * 2_f64.powf(1.0 + f64::from(eighths) / 8.0) - 128.0;
        let off = exact - f64::from(conn.cwnd_segs - 10);
        assert!((0.0..=2.0).contains(&off), "{eighths} eighths: {off} of {exact}");
    }
}

#[test]
fn slow_start_ends_at_ssthresh_whatever_the_stack_calls_slow_start() {
    let (mut hybla, mut conn) = on_path(100, 10, &[]);
    conn.ssthresh_segs = 20;
    conn.stack = dumbbell_algorithm::STACK_SLOW_START_INCLUSIVE;
    hybla.cong_avoid(&mut conn, 1);
    assert_eq!(conn.cwnd_segs, 20);
    assert!(gained(&mut hybla, &mut conn, 1) > 8, "then it grows by rho^2 per round trip");
}

#[test]
fn avoidance_adds_rho_squared_per_round_trip() {
    for (rtt_ms, cwnd, least, most) in [(25, 32, 7, 10), (50, 64, 35, 40), (100, 128, 130, 160)] {
        let (mut hybla, mut conn) = on_path(rtt_ms, cwnd, &[]);
        let gain = gained(&mut hybla, &mut conn, 10);
        assert!((least..=most).contains(&gain), "RTT {rtt_ms} ms: {gain}");
    }
}

#[test]
fn with_more_bits_the_law_holds_to_large_windows() {
    for (rtt_ms, cwnd, gain) in [(25, 3000, 1), (100, 3000, 16), (400, 30_000, 256)] {
        let (mut hybla, mut conn) = on_path(rtt_ms, cwnd, &[("fraction_bits", 20)]);
        let seen = gained(&mut hybla, &mut conn, 10);
        assert!((10 * gain - gain..=10 * gain).contains(&seen), "RTT {rtt_ms} ms: {seen}");
    }
}

#[test]
fn with_linux_s_bits_large_windows_grow_as_standard_tcp() {
    let (mut hybla, mut conn) = on_path(100, 3000, &[]);
    assert_eq!(gained(&mut hybla, &mut conn, 1), 1, "3000 > 128 rho^2 = 2048");
    conn.cwnd_segs = 2000;
    assert_eq!(gained(&mut hybla, &mut conn, 1), 2000 / 128, "floor(2048 / 2000) = 1 of 1/128");
}

#[test]
fn counts_acks_by_default() {
    let count = |settings: &[(&str, u32)]| {
        let (mut hybla, mut conn) = on_path(100, 100, settings);
        for _ in 0..50 {
            hybla.cong_avoid(&mut conn, 2);
        }
        conn.cwnd_segs - 100
    };
    assert_eq!((count(&[]), count(&[("count_acks", 0)])), (7, 14));
}

#[test]
fn outside_the_open_state_it_is_standard_tcp() {
    let (mut hybla, mut conn) = on_path(100, 100, &[]);
    hybla.set_state(&mut conn, CaState::Disorder);
    assert_eq!(gained(&mut hybla, &mut conn, 1), 1);
    hybla.set_state(&mut conn, CaState::Open);
    assert!(gained(&mut hybla, &mut conn, 1) > 10);
}

#[test]
fn nothing_grows_beyond_the_largest_window() {
    let (mut hybla, mut conn) = on_path(2000, 65_530, &[]);
    gained(&mut hybla, &mut conn, 1);
    assert_eq!(conn.cwnd_segs, 65_535);
    let (mut hybla, mut conn) = on_path(2000, 65_530, &[("window_max", 65_531)]);
    hybla.set_state(&mut conn, CaState::Disorder);
    gained(&mut hybla, &mut conn, 3);
    assert_eq!(conn.cwnd_segs, 65_531);
}

#[test]
fn loss_halves_and_undo_gives_back() {
    let (mut hybla, mut conn) = on_path(100, 100, &[]);
    assert_eq!(hybla.ssthresh(&conn), 50);
    (conn.prior_cwnd_segs, conn.cwnd_segs) = (100, 50);
    assert_eq!(hybla.undo_cwnd(&conn), 100);
}
