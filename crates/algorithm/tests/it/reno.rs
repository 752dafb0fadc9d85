//! Standard TCP, and the primitives that all algorithms share.

use crate::{avoiding, grow, instance};
use dumbbell_algorithm::{Conn, SSTHRESH_INFINITE, STACK_COUNT_ACKS, STACK_SLOW_START_INCLUSIVE};

#[test]
fn additive_increase_carries_the_rest_over() {
    let mut conn = avoiding(10);
    let seen = grow(&mut instance("reno", None, &[]), &mut conn, 2, 11);
    let expected = [
        (10, 2),
        (10, 4),
        (10, 6),
        (10, 8),
        (11, 0),
        (11, 2),
        (11, 4),
        (11, 6),
        (11, 8),
        (11, 10),
        (12, 1),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn additive_increase_takes_stretched_acks_whole() {
    let mut conn = avoiding(10);
    let seen = grow(&mut instance("reno", None, &[]), &mut conn, 25, 4);
    assert_eq!(seen, [(12, 5), (14, 6), (16, 3), (17, 12)]);
}

#[test]
fn additive_increase_of_legacy_stacks_counts_acks() {
    let mut conn = Conn { stack: STACK_COUNT_ACKS, ..avoiding(3) };
    let seen = grow(&mut instance("reno", None, &[]), &mut conn, 2, 5);
    assert_eq!(seen, [(3, 1), (3, 2), (3, 3), (4, 0), (4, 1)]);
}

#[test]
fn slow_start_hands_the_rest_to_congestion_avoidance() {
    let mut conn = Conn { cwnd_segs: 98, ssthresh_segs: 100, ..Conn::default() };
    instance("reno", None, &[]).cong_avoid(&mut conn, 10);
    assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), (100, 8));
}

#[test]
fn slow_start_doubles_per_round_trip() {
    let mut conn = Conn::default();
    assert_eq!(conn.ssthresh_segs, SSTHRESH_INFINITE);
    grow(&mut instance("reno", None, &[]), &mut conn, 2, 5);
    assert_eq!(conn.cwnd_segs, 20);
}

#[test]
fn slow_start_of_legacy_stacks_passes_ssthresh_by_one_and_counts_acks() {
    let stack = STACK_SLOW_START_INCLUSIVE | STACK_COUNT_ACKS;
    let mut conn = Conn { cwnd_segs: 98, ssthresh_segs: 100, stack, ..Conn::default() };
    let seen = grow(&mut instance("reno", None, &[]), &mut conn, 2, 4);
    assert_eq!(seen, [(99, 0), (100, 0), (101, 0), (101, 1)]);
}

#[test]
fn slow_start_with_byte_counting_passes_ssthresh_by_one() {
    let stack = STACK_SLOW_START_INCLUSIVE;
    let mut conn = Conn { cwnd_segs: 98, ssthresh_segs: 100, stack, ..Conn::default() };
    let seen = grow(&mut instance("reno", Some("li2007"), &[]), &mut conn, 2, 3);
    assert_eq!(seen, [(100, 0), (101, 1), (101, 3)]);
}

#[test]
fn growth_needs_a_window_that_limits() {
    let mut conn = Conn { cwnd_limited: 0, ..avoiding(10) };
    let names = ["reno", "scalable", "highspeed", "htcp", "bic", "cubic", "fast"];
    for name in names.into_iter().chain(["compound", "illinois", "veno", "yeah"]) {
        let mut algorithm = instance(name, None, &[]);
        algorithm.init(&mut conn);
        assert_eq!(grow(&mut algorithm, &mut conn, 30, 3), [(10, 0); 3], "{name}");
    }
}

#[test]
fn growth_ends_at_the_clamp() {
    let mut conn = Conn { cwnd_clamp_segs: 12, ..avoiding(10) };
    grow(&mut instance("reno", None, &[]), &mut conn, 100, 3);
    assert_eq!(conn.cwnd_segs, 12);
}

#[test]
fn congestion_halves_to_two_at_least() {
    let mut reno = instance("reno", None, &[]);
    for (cwnd, expected) in [(100, 50), (7, 3), (5, 2), (3, 2), (1, 2)] {
        assert_eq!(reno.ssthresh(&avoiding(cwnd)), expected);
    }
}

#[test]
fn undo_restores_the_window_before_the_cut() {
    let conn = Conn { prior_cwnd_segs: 80, ..avoiding(40) };
    assert_eq!(instance("reno", None, &[]).undo_cwnd(&conn), 80);
    assert_eq!(instance("reno", None, &[]).undo_cwnd(&Conn { cwnd_segs: 90, ..conn }), 90);
}
