//! CCPD: its law and its equilibrium. The parts that it shares with CCP are tested there.

use crate::ccp::Loop;
use crate::{ack, avoiding, instance};
use dumbbell_algorithm::{CaState, Conn, Instance};
use std::collections::BTreeMap;

/// A connection with known capacity and storage, 90 segments in flight and a backlog of 50.
fn informed(settings: &[(&str, u32)]) -> (Instance, Conn) {
    let known = [("capacity_segs_per_s", 1000), ("buffer_segs", 400), ("burst", 1_000_000)];
    let all: Vec<_> = known.into_iter().chain(settings.iter().copied()).collect();
    let mut ccpd = instance("ccpd", None, &all);
    let mut conn = Conn { in_flight_segs: 90, now_us: 1_000_000, ..avoiding(100) };
    ccpd.init(&mut conn);
    for rtt_ms in [100, 150] {
        ccpd.pkts_acked(&mut conn, &ack(1, rtt_ms * 1000));
    }
    ccpd.cong_avoid(&mut conn, 1);
    (ccpd, conn)
}

/// The window after `more_segs` more are in flight 1 ms later, with an RTT longer by `more_ms`.
fn then(settings: &[(&str, u32)], more_segs: i32, more_ms: i32) -> u32 {
    let (mut ccpd, mut conn) = informed(settings);
    conn.in_flight_segs = conn.in_flight_segs.checked_add_signed(more_segs).expect("a number");
    conn.now_us += 1000;
    ccpd.pkts_acked(&mut conn, &ack(1, (150 + more_ms) * 1000));
    ccpd.cong_avoid(&mut conn, 1);
    conn.cwnd_segs
}

#[test]
fn at_rest_the_window_is_the_free_storage_by_its_gain() {
    for (kp, window) in [(1, 350 / 2), (2, 700 / 3), (4, 1400 / 5)] {
        assert_eq!(then(&[("kp", kp)], 0, 0), window, "Kp = {kp}");
    }
}

#[test]
fn what_fills_the_path_counts_against_the_window_and_what_drains_it_for_it() {
    // Kd = 4 ms over 1 ms: four times the change.
    assert_eq!(then(&[], 5, 0), (1400 - 20) / 5);
    assert_eq!(then(&[], -5, 0), (1400 + 20) / 5);
    // x grows by 10 segments, and D grows with it.
    assert_eq!(then(&[], 0, 10), (1360 - 40) / 5);
    assert_eq!(then(&[("kd", 1000)], 5, 0), (1400 - 5) / 5);
    assert_eq!(then(&[("kd", 0)], 5, 0), 1400 / 5);
    assert_eq!(then(&[("kd", 4), ("kd_unit", 1_000_000)], 5, 0), (1400 - 20) / 5);
    assert_eq!(then(&[("kd_unit", 1)], 5, 0), 1399 / 5, "nanoseconds are next to nothing");
    assert_eq!(then(&[("kd_opposite", 1)], 5, 0), (1400 + 20) / 5);
    assert_eq!(then(&[("kd_opposite", 1)], -5, 0), (1400 - 20) / 5);
}

#[test]
fn what_is_in_flight_may_be_added_to_what_the_law_gives() {
    let window = |kp, evaluation, more| {
        then(&[("kp", kp), ("beyond_flight", 1), ("evaluation", evaluation)], more, 0)
    };
    // The law before each segment: B - x, and D times Kp.
    assert_eq!([1, 2, 4].map(|kp| window(kp, 0, 0)), [350; 3]);
    assert_eq!(window(4, 0, 5), 350 - 20 / 4);
    // The law read literally: data in flight plus its result.
    assert_eq!(window(4, 1, 0), 90 + 4 * (350 - 90));
    assert_eq!(window(4, 1, 5), 95 + 4 * (350 - 95) - 20);
    let (mut ccpd, mut conn) = informed(&[("beyond_flight", 1), ("evaluation", 1)]);
    conn.in_flight_segs = 360;
    conn.now_us += 1_000_000;
    ccpd.cong_avoid(&mut conn, 1);
    assert_eq!(conn.cwnd_segs, 360 - 4 * 10 - 2, "less than in flight; D is 270 by 4 ms / 1 s");
    let (ccpd, conn) = informed(&[("beyond_flight", 1), ("kp", 0)]);
    assert_eq!(ccpd.info(&conn)[2], 50, "a gain of 0 divides by nothing");
}

#[test]
fn the_derivative_is_within_what_is_in_flight() {
    assert_eq!(then(&[("kd", 100_000)], 5, 0), (1400 - 95) / 5);
    assert_eq!(then(&[("kd", 100_000)], -5, 0), (1400 + 85) / 5);
    assert_eq!(then(&[("kd", 100_000), ("d_limit", 200)], -5, 0), (1400 + 170) / 5);
    assert_eq!(then(&[("d_limit", 0)], 5, 0), 1400 / 5);
}

#[test]
fn to_the_letter_what_is_in_flight_is_taken_first() {
    let literal = |kp, more| then(&[("kp", kp), ("evaluation", 1)], more, 0);
    assert_eq!(literal(4, 0), 4 * (350 - 90));
    assert_eq!(literal(4, 5), 4 * (350 - 95) - 20);
    assert_eq!(literal(1, -5), 350 - 85 + 20);
    // More is in flight than fits, so the flow sends only after that falls.
    assert_eq!(then(&[("evaluation", 1), ("buffer_segs", 60)], 0, 0), 2);
}

#[test]
fn rests_at_the_computed_window() {
    // D = 200: a queue of D, of 2 D and of D / 5, as B = 400, 600, 240.
    for (kp, kd, storage, window) in [
        (2, 1000, 400, 240), // full: Kp (B + D) / (1 + 2 Kp)
        (2, 4000, 400, 240),
        (4, 2000, 400, 266),
        (4, 4000, 600, 355),
        (2, 4000, 240, 160), // not full: Kp B / (1 + Kp)
        (4, 4000, 240, 192),
    ] {
        let settings = [("kp", kp), ("kd", kd), ("buffer_segs", storage)];
        let mut path = Loop::new(instance("ccpd", None, &settings), 200);
        path.run(5_000);
        let (low, high) = path.run(2_000);
        let middle = u32::midpoint(low, high);
        assert!(
            middle.abs_diff(window) <= 5 && high - low <= 10,
            "CCPD({kp},{kd}), B = {storage}: {low} to {high}, not {window}"
        );
    }
}

/// Half of the queue is full, whatever Kp: x = (B - D) / 2.
#[test]
fn rests_at_half_of_the_queue_if_the_law_counts_beyond_what_is_in_flight() {
    for (kp, storage) in [(1, 400), (2, 400), (4, 400), (4, 240)] {
        let settings = [("kp", kp), ("kd", 1000), ("buffer_segs", storage), ("beyond_flight", 1)];
        let mut path = Loop::new(instance("ccpd", None, &settings), 200);
        path.run(20_000);
        let (low, high) = path.run(2_000);
        let window = u32::midpoint(200, storage);
        assert!(
            u32::midpoint(low, high).abs_diff(window) <= 10,
            "CCPD({kp}), B = {storage}: {low} to {high}, not {window}"
        );
    }
}

/// From one ACK to the next, the loop gain is -Kp.
#[test]
fn to_the_letter_it_swings_where_its_gain_is_above_one() {
    let swing = |evaluation| {
        let settings = [("kp", 4), ("buffer_segs", 600), ("evaluation", evaluation)];
        let mut path = Loop::new(instance("ccpd", None, &settings), 200);
        path.run(5_000);
        let (low, high) = path.run(2_000);
        high - low
    };
    assert!(swing(1) > 1000 && swing(0) < 10);
}

#[test]
fn loss_freezes_the_window_and_a_timeout_halves_ssthresh() {
    let (mut ccpd, mut conn) = informed(&[]);
    conn.cwnd_segs = 100;
    assert_eq!(ccpd.ssthresh(&conn), 100);
    conn = Conn { prior_cwnd_segs: 100, cwnd_segs: 1, ssthresh_segs: 100, ..conn };
    ccpd.set_state(&mut conn, CaState::Loss);
    assert_eq!(conn.ssthresh_segs, 50);
    assert_eq!(ccpd.undo_cwnd(&conn), 100);
}

#[test]
fn loss_in_slow_start_hands_over_to_the_law() {
    let falls_to = |settings: &[(&str, u32)]| {
        let (mut ccpd, mut conn) = informed(settings);
        conn.cwnd_segs = 2000;
        ccpd.ssthresh(&conn)
    };
    assert_eq!(falls_to(&[]), 1400 / 5);
    assert_eq!(falls_to(&[("kp", 0)]), 2);
    assert_eq!(falls_to(&[("beyond_flight", 1)]), 350);
    assert_eq!(falls_to(&[("freeze", 1)]), 2000, "to the letter");
    assert_eq!(instance("ccpd", None, &[]).ssthresh(&avoiding(2000)), 1000, "nothing is known");
}

#[test]
fn until_the_capacity_is_known_growth_is_standard_tcp_s() {
    let mut ccpd = instance("ccpd", None, &[]);
    let mut conn = avoiding(10);
    ccpd.init(&mut conn);
    for _ in 0..10 {
        ccpd.cong_avoid(&mut conn, 1);
    }
    assert_eq!(conn.cwnd_segs, 11);
}

#[test]
fn the_study_s_presets_are_its_gains() {
    let gains = |preset: &str| {
        let set: BTreeMap<_, _> = instance("ccpd", Some(preset), &[]).parameters().collect();
        (set["kp"], set["kd"])
    };
    assert_eq!(gains("kumazoe2012"), (4, 4000));
    for kp in [1, 2, 4] {
        for kd in [1000, 2000, 4000] {
            assert_eq!(gains(&format!("kumazoe2012-kp{kp}-kd{kd}")), (kp, kd));
        }
    }
}
