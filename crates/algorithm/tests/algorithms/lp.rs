//! TCP-LP.

use crate::{ack, avoiding, grow, instance};
use dumbbell_algorithm::{Conn, Instance, Need, SSTHRESH_INFINITE};

/// What the remote clock is ahead by: times mean something only as differences.
const AHEAD: u32 = 0xffff_ff00;
const RTT_US: i32 = 100_000;

fn begun(settings: &[(&str, u32)]) -> (Instance, Conn) {
    let mut lp = instance("lp", None, settings);
    let mut conn = Conn { srtt_us: RTT_US as u32, now_us: 1_000_000, ..avoiding(64) };
    lp.init(&mut conn);
    (lp, conn)
}

/// So many ACKs, 1 ms apart, of segments that took `ticks` there.
fn hear(lp: &mut Instance, conn: &mut Conn, ticks: u32, acks: u32) {
    for _ in 0..acks {
        conn.now_us += 1000;
        conn.one_way_ticks = AHEAD.wrapping_add(ticks);
        lp.pkts_acked(conn, &ack(1, RTT_US));
    }
}

/// ACKs until the next indication, 1000 at most.
fn acks_to_indication(lp: &mut Instance, conn: &mut Conn, ticks: u32) -> u32 {
    let before = lp.info(conn)[2];
    (1..=1000)
        .find(|_| {
            hear(lp, conn, ticks, 1);
            lp.info(conn)[2] > before
        })
        .unwrap_or(0)
}

#[test]
fn asks_for_one_way_times() {
    assert_eq!(instance("lp", None, &[]).algorithm().flags, [Need::OneWay]);
}

#[test]
fn an_empty_path_gives_no_indication_whose_times_differ_by_a_tick() {
    let (mut lp, mut conn) = begun(&[]);
    for _ in 0..500 {
        hear(&mut lp, &mut conn, 50, 1);
        hear(&mut lp, &mut conn, 51, 1);
    }
    assert_eq!((lp.info(&conn)[2], conn.cwnd_segs), (0, 64));
    let (mut strict, mut conn) = begun(&[("margin", 0)]);
    hear(&mut strict, &mut conn, 50, 1);
    assert!(acks_to_indication(&mut strict, &mut conn, 51) > 0);
}

#[test]
fn the_average_moves_by_an_eighth_of_the_distance() {
    let (mut lp, mut conn) = begun(&[("threshold", 100), ("margin", 1000)]);
    hear(&mut lp, &mut conn, 50, 1);
    let seen: Vec<_> = (0..4)
        .map(|_| {
            hear(&mut lp, &mut conn, 114, 1);
            lp.info(&conn)[0]
        })
        .collect();
    assert_eq!(seen, [64, 120, 169, 212], "64 ticks, in eighths: 512 (1 - (7/8)^n)");
}

#[test]
fn congestion_is_near_beyond_a_share_of_the_range() {
    // Times of 50 to 90, of which the second largest counts: 15 % of 20 ticks are 3.
    let (mut lp, mut conn) = begun(&[("margin", 1000)]);
    for ticks in [50, 70, 90] {
        hear(&mut lp, &mut conn, ticks, 1);
    }
    assert_eq!(lp.info(&conn)[1], 8000);
    let (mut lp, mut conn) = begun(&[("threshold", 15), ("restart_range", 0)]);
    for ticks in [50, 70, 90] {
        hear(&mut lp, &mut conn, ticks, 1);
    }
    assert_eq!(lp.info(&conn)[1], 8 * 20 * 15 / 100);
}

#[test]
fn an_indication_halves_and_another_within_three_rtts_leaves_one_segment() {
    for (pause_ms, expected) in [(0, 1), (290, 1), (310, 32 / 2)] {
        let (mut lp, mut conn) = begun(&[]);
        hear(&mut lp, &mut conn, 50, 10);
        acks_to_indication(&mut lp, &mut conn, 100);
        assert_eq!(conn.cwnd_segs, 32);
        conn.now_us += pause_ms * 1000;
        acks_to_indication(&mut lp, &mut conn, 400);
        assert_eq!(conn.cwnd_segs, expected, "after {pause_ms} ms");
    }
}

#[test]
fn nothing_grows_in_the_rtts_after_an_indication() {
    let (mut lp, mut conn) = begun(&[]);
    hear(&mut lp, &mut conn, 50, 10);
    acks_to_indication(&mut lp, &mut conn, 100);
    hear(&mut lp, &mut conn, 50, 1);
    grow(&mut lp, &mut conn, 1, 100);
    assert_eq!(conn.cwnd_segs, 32);
    conn.now_us += 300_000;
    hear(&mut lp, &mut conn, 50, 1);
    grow(&mut lp, &mut conn, 1, 32);
    assert_eq!(conn.cwnd_segs, 33);
    let (mut eager, mut conn) = begun(&[("inference", 0)]);
    hear(&mut eager, &mut conn, 50, 10);
    acks_to_indication(&mut eager, &mut conn, 100);
    hear(&mut eager, &mut conn, 50, 1);
    grow(&mut eager, &mut conn, 1, 32);
    assert_eq!(conn.cwnd_segs, 33);
}

#[test]
fn an_indication_begins_a_new_range_or_keeps_the_old_one() {
    let (mut lp, mut conn) = begun(&[]);
    hear(&mut lp, &mut conn, 50, 1);
    acks_to_indication(&mut lp, &mut conn, 200);
    assert_eq!(lp.info(&conn)[1], 8 * (RTT_US as u32 / 2000) * 15 / 100, "half the RTT");
    let (mut lp, mut conn) = begun(&[("restart_range", 0)]);
    hear(&mut lp, &mut conn, 50, 1);
    acks_to_indication(&mut lp, &mut conn, 200);
    assert!(lp.info(&conn)[0] > lp.info(&conn)[1], "it is still beyond");
}

#[test]
fn ssthresh_stays_unless_told_otherwise() {
    for (cut, expected) in [(0, SSTHRESH_INFINITE), (1, 32)] {
        let (mut lp, mut conn) = begun(&[("cut_ssthresh", cut)]);
        conn.ssthresh_segs = SSTHRESH_INFINITE;
        hear(&mut lp, &mut conn, 50, 1);
        acks_to_indication(&mut lp, &mut conn, 200);
        assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (32, expected));
    }
}

#[test]
fn without_timestamps_it_is_standard_tcp() {
    let (mut lp, mut conn) = begun(&[]);
    for _ in 0..100 {
        conn.one_way_ticks = 0;
        lp.pkts_acked(&mut conn, &ack(1, 1_000_000));
    }
    assert_eq!(lp.info(&conn), [0, 8, 0, 0]);
    let grown = grow(&mut lp, &mut conn, 32, 2);
    assert_eq!(grown, [(64, 32), (65, 0)]);
    assert_eq!(lp.ssthresh(&conn), 32);
    conn.prior_cwnd_segs = 100;
    assert_eq!(lp.undo_cwnd(&conn), 100);
}

#[test]
fn a_clock_that_goes_back_does_no_harm() {
    let (mut lp, mut conn) = begun(&[]);
    hear(&mut lp, &mut conn, 50, 1);
    acks_to_indication(&mut lp, &mut conn, 200);
    conn.now_us = 0;
    hear(&mut lp, &mut conn, 70, 1);
    grow(&mut lp, &mut conn, 1, 32);
    assert_eq!(conn.cwnd_segs, 33, "the pause is over");
}
