//! BIC-TCP.

use crate::{ack, avoiding, grow, instance};
use dumbbell_algorithm::{CaState, Instance};

/// Acknowledged segments per segment of growth.
fn divisor(bic: &mut Instance, cwnd: u32) -> u32 {
    let conn = &mut avoiding(cwnd);
    bic.cong_avoid(conn, 0);
    bic.info(conn)[1]
}

/// An instance whose last cut happened at `last_max` segments; 0: never.
fn cut_at(last_max: u32, preset: Option<&str>, settings: &[(&str, u32)]) -> Instance {
    let mut bic = instance("bic", preset, settings);
    bic.init(&mut avoiding(10));
    if last_max > 0 {
        bic.ssthresh(&avoiding(last_max));
    }
    bic
}

#[test]
fn growth_divisors_without_and_with_two_segments_per_ack() {
    for (cwnd, last_max, one, two) in [
        (10, 0, 10, 10),
        (14, 1000, 14, 14),
        (15, 1000, 1, 1),
        (100, 0, 6, 3),
        (500, 0, 20, 10),
        (800, 1000, 50, 25),
        (960, 1000, 96, 48),
        (996, 1000, 4980, 2490),
        (1003, 1000, 5015, 2507),
        (1010, 1000, 303, 151),
        (1047, 1000, 66, 33),
        (1048, 1000, 65, 32),
    ] {
        let mut uncorrected = cut_at(last_max, None, &[("ack_ratio_correction", 0)]);
        assert_eq!(divisor(&mut uncorrected, cwnd), one, "{cwnd} after {last_max}");
        assert_eq!(divisor(&mut cut_at(last_max, None, &[]), cwnd), two, "{cwnd} after {last_max}");
    }
}

#[test]
fn of_the_study_adds_up_to_32_per_round_trip_and_counts_once() {
    let mut bic = cut_at(4000, Some("li2007"), &[]);
    assert_eq!(divisor(&mut bic, 3200), 100);
    let mut conn = avoiding(3200);
    grow(&mut bic, &mut conn, 2, 1600);
    assert_eq!(conn.cwnd_segs, 3232);
}

/// The divisor compensates for delayed ACKs. Linux keeps the mean number of segments per ACK in
/// sixteenths and adds the difference from its whole part, so it never falls below 31. With an ACK
/// for each segment, BIC grows nearly twice as fast.
#[test]
fn of_linux_4_14_adds_16_per_round_trip_however_long_acks_are() {
    for (acks, expected) in [(1, 31..=32), (2, 14..=19), (16, 14..=19)] {
        let mut bic = cut_at(9600, Some("brakmo2017"), &[]);
        let mut conn = avoiding(3200);
        for _ in 0..200 {
            bic.pkts_acked(&mut conn, &ack(acks, 10_000));
        }
        grow(&mut bic, &mut conn, acks, (3200 / acks) as usize);
        let grown = conn.cwnd_segs - 3200;
        assert!(expected.contains(&grown), "{grown} with {acks} segments for each ACK");
    }
}

#[test]
fn cut_keeps_four_fifths_and_halves_small_windows() {
    let mut bic = instance("bic", None, &[]);
    for (cwnd, expected) in [(1000, 799), (15, 11), (14, 7), (3, 2)] {
        assert_eq!(bic.ssthresh(&avoiding(cwnd)), expected, "from {cwnd} segments");
    }
}

#[test]
fn fast_convergence_aims_lower_after_a_lower_cut() {
    let mut bic = cut_at(1000, None, &[]);
    bic.ssthresh(&avoiding(900));
    assert_eq!(bic.info(&avoiding(900))[0], 900 * (1024 + 819) / 2048);
    let mut steady = cut_at(1000, None, &[("fast_convergence", 0)]);
    steady.ssthresh(&avoiding(900));
    assert_eq!(steady.info(&avoiding(900))[0], 900);
}

#[test]
fn computes_again_after_31_ms_or_a_new_window() {
    let mut bic = cut_at(1000, None, &[]);
    assert_eq!(divisor(&mut bic, 800), 25);
    bic.ssthresh(&avoiding(2000));
    let mut conn = avoiding(800);
    for (now_us, expected) in [(31_000, 25), (32_000, 25), (32_001, 25), (33_000, 25)] {
        conn.now_us = now_us;
        bic.cong_avoid(&mut conn, 0);
        assert_eq!(bic.info(&conn)[1], expected, "at {now_us} us");
    }
    assert_eq!(divisor(&mut bic, 1990), 1990 / 2 * 16 / 32);
}

#[test]
fn segments_per_ack_are_averaged_in_open_state_only() {
    let mut bic = cut_at(1000, None, &[]);
    let mut conn = avoiding(800);
    conn.state = CaState::Recovery;
    bic.pkts_acked(&mut conn, &ack(40, -1));
    assert_eq!(divisor(&mut bic, 800), 25);
    conn.state = CaState::Open;
    bic.pkts_acked(&mut conn, &ack(34, -1));
    assert_eq!(divisor(&mut bic, 801), 801 / 16 * 16 / (32 - 2 + 34));
}

#[test]
fn timeout_forgets() {
    let mut bic = cut_at(1000, None, &[]);
    bic.set_state(&mut avoiding(1), CaState::Loss);
    assert_eq!(bic.info(&avoiding(1)), [0; 4]);
}

#[test]
fn up_to_low_window_it_is_standard_tcp_whatever_came_before_and_however_acks_are_delayed() {
    for (cwnd, last_max) in [(4, 0), (14, 0), (14, 1000)] {
        let mut bic = cut_at(last_max, None, &[]);
        let mut conn = avoiding(cwnd);
        grow(&mut bic, &mut conn, 2, cwnd as usize / 2 - 1);
        assert_eq!(conn.cwnd_segs, cwnd, "less than a window is acknowledged");
        grow(&mut bic, &mut conn, 2, 1);
        assert_eq!(conn.cwnd_segs, cwnd + 1);
    }
    let mut bic = cut_at(0, None, &[("low_window", 40)]);
    assert_eq!(divisor(&mut bic, 40), 40, "not the 5 % of a flow without losses");
}
