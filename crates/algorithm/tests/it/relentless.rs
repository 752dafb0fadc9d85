//! Relentless TCP.

use crate::{avoiding, grow, instance};
use dumbbell_algorithm::{CaState, Conn, CwndEvent, Instance};

/// A reduction in which `resent_segs` segments are retransmitted.
fn lose(relentless: &mut Instance, conn: &mut Conn, state: CaState, resent_segs: u32) -> u32 {
    conn.ssthresh_segs = relentless.ssthresh(conn);
    assert_eq!(conn.ssthresh_segs, conn.cwnd_segs, "nothing is cut when it begins");
    conn.prior_cwnd_segs = conn.cwnd_segs;
    conn.cwnd_cnt = 0;
    conn.state = state;
    conn.resent_segs += resent_segs;
    conn.cwnd_segs = conn.ssthresh_segs;
    relentless.cwnd_event(conn, CwndEvent::CompleteCwr);
    conn.state = CaState::Open;
    assert_eq!(conn.ssthresh_segs, conn.cwnd_segs.max(2));
    conn.cwnd_segs
}

fn begun(cwnd_segs: u32, settings: &[(&str, u32)]) -> (Instance, Conn) {
    let mut relentless = instance("relentless", None, settings);
    let mut conn = avoiding(cwnd_segs);
    relentless.init(&mut conn);
    relentless.cong_avoid(&mut conn, 0);
    (relentless, conn)
}

#[test]
fn the_window_falls_by_what_was_sent_again() {
    let (mut relentless, mut conn) = begun(100, &[]);
    assert_eq!(lose(&mut relentless, &mut conn, CaState::Recovery, 1), 99);
    assert_eq!(relentless.info(&conn)[0], 1);
    relentless.cong_avoid(&mut conn, 0);
    assert_eq!(lose(&mut relentless, &mut conn, CaState::Recovery, 30), 69);
    assert_eq!(lose(&mut relentless, &mut conn, CaState::Recovery, 9), 60, "at once again");
    assert_eq!(lose(&mut relentless, &mut conn, CaState::Recovery, 1000), 2);
}

#[test]
fn retransmissions_before_the_last_growth_are_paid_for() {
    let (mut relentless, mut conn) = begun(100, &[]);
    conn.resent_segs = 5;
    relentless.cong_avoid(&mut conn, 0);
    assert_eq!(lose(&mut relentless, &mut conn, CaState::Recovery, 2), 98);
}

#[test]
fn a_mark_costs_what_it_is_set_to() {
    for (settings, expected) in
        [(&[][..], 99), (&[("mark_cost", 0)], 100), (&[("mark_cost", 7)], 93)]
    {
        let (mut relentless, mut conn) = begun(100, settings);
        assert_eq!(lose(&mut relentless, &mut conn, CaState::Cwr, 0), expected);
    }
    let (mut relentless, mut conn) = begun(100, &[("mark_cost", 7)]);
    assert_eq!(
        lose(&mut relentless, &mut conn, CaState::Cwr, 1),
        99,
        "a loss that a probe repaired is told as CWR and costs a segment"
    );
}

#[test]
fn what_recovery_delivers_can_count_towards_growth() {
    for (grows, expected) in [(0, 99), (1, 102)] {
        let (mut relentless, mut conn) = begun(100, &[("grow_in_recovery", grows)]);
        conn.delivered_segs += 350;
        assert_eq!(lose(&mut relentless, &mut conn, CaState::Recovery, 1), expected);
        assert_eq!(conn.cwnd_cnt, grows * (350 - 3 * 99));
    }
}

#[test]
fn grows_as_standard_tcp_and_on_demand_from_what_is_in_flight() {
    for (raises, expected) in [(0, 11), (1, 30)] {
        let (mut relentless, mut conn) = begun(10, &[("raise_to_flight", raises)]);
        let grown = grow(&mut relentless, &mut conn, 2, 5);
        assert_eq!(grown, [(10, 2), (10, 4), (10, 6), (10, 8), (11, 0)]);
        conn.in_flight_segs = 30;
        conn.cwnd_limited = 0;
        relentless.cong_avoid(&mut conn, 2);
        assert_eq!(conn.cwnd_segs, expected);
    }
}

#[test]
fn a_timeout_leaves_the_way_back_by_slow_start() {
    let (mut relentless, mut conn) = begun(100, &[]);
    conn.ssthresh_segs = relentless.ssthresh(&conn);
    relentless.cwnd_event(&mut conn, CwndEvent::Loss);
    (conn.cwnd_segs, conn.state) = (1, CaState::Loss);
    grow(&mut relentless, &mut conn, 33, 3);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (100, 100));
}

/// With a loss in every 1/p segments and no pause for recovery, w = 1/p. Before that, the distance
/// shrinks by exp(-p) per round trip.
#[test]
fn rests_where_a_round_trip_loses_a_segment() {
    let (mut relentless, mut conn) = begun(400, &[("grow_in_recovery", 1)]);
    let (mut sent, mut sum) = (0_u64, 0_u64);
    for round in 0..4000_u64 {
        let window = conn.cwnd_segs;
        let lost = (sent + u64::from(window)) / 500 - sent / 500;
        sent += u64::from(window);
        conn.delivered_segs += u64::from(window);
        if lost > 0 {
            lose(&mut relentless, &mut conn, CaState::Recovery, lost as u32);
        } else {
            grow(&mut relentless, &mut conn, 1, window as usize);
        }
        sum += if round >= 2000 { u64::from(window) } else { 0 };
    }
    let mean = sum as f64 / 2000.0;
    assert!((mean / 500.0 - 1.0).abs() < 0.01, "mean window {mean}");
}
