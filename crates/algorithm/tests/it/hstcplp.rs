//! HSTCP-LP.

use crate::{ack, avoiding, grow, instance};
use dumbbell_algorithm::{Conn, Instance, Need, SSTHRESH_INFINITE};

/// Offset of the remote clock. Only differences between times have a meaning.
const AHEAD: u32 = 0xffff_ff00;
const RTT_US: i32 = 100_000;

fn begun(settings: &[(&str, u32)]) -> (Instance, Conn) {
    let mut hstcplp = instance("hstcplp", None, settings);
    let mut conn =
        Conn { srtt_us: RTT_US as u32, now_us: 1_000_000, in_flight_segs: 63, ..avoiding(64) };
    hstcplp.init(&mut conn);
    (hstcplp, conn)
}

/// An ACK of a segment with a one-way delay of `ticks`.
const fn stamp(conn: &mut Conn, ticks: u32) {
    conn.echo_ms = (conn.now_us / 1000) as u32;
    conn.stamp_ms = conn.echo_ms.wrapping_add(AHEAD).wrapping_add(ticks);
}

/// Take `acks` ACKs, 1 ms apart, of segments with a one-way delay of `ticks`.
fn hear(hstcplp: &mut Instance, conn: &mut Conn, ticks: u32, acks: u32) {
    for _ in 0..acks {
        conn.now_us += 1000;
        stamp(conn, ticks);
        hstcplp.pkts_acked(conn, &ack(1, RTT_US));
    }
}

/// ACKs until the next indication, 1000 at most.
fn acks_to_indication(hstcplp: &mut Instance, conn: &mut Conn, ticks: u32) -> u32 {
    let before = hstcplp.info(conn)[2];
    (1..=1000)
        .find(|_| {
            hear(hstcplp, conn, ticks, 1);
            hstcplp.info(conn)[2] > before
        })
        .unwrap_or(0)
}

#[test]
fn asks_for_one_way_times() {
    assert_eq!(instance("hstcplp", None, &[]).algorithm().flags, [Need::OneWay]);
}

#[test]
fn an_empty_path_gives_no_indication_whose_times_differ_by_a_tick() {
    let (mut hstcplp, mut conn) = begun(&[]);
    for _ in 0..500 {
        hear(&mut hstcplp, &mut conn, 50, 1);
        hear(&mut hstcplp, &mut conn, 51, 1);
    }
    assert_eq!((hstcplp.info(&conn)[2], conn.cwnd_segs), (0, 64));
    let (mut strict, mut conn) = begun(&[("margin", 0)]);
    hear(&mut strict, &mut conn, 50, 1);
    assert!(acks_to_indication(&mut strict, &mut conn, 51) > 0);
}

#[test]
fn the_average_moves_by_an_eighth_of_the_distance() {
    let (mut hstcplp, mut conn) = begun(&[("threshold", 100), ("margin", 1000)]);
    hear(&mut hstcplp, &mut conn, 50, 1);
    let seen: Vec<_> = (0..4)
        .map(|_| {
            hear(&mut hstcplp, &mut conn, 114, 1);
            hstcplp.info(&conn)[0]
        })
        .collect();
    assert_eq!(seen, [8, 15, 21, 26], "64 (1 - (7/8)^n)");
}

#[test]
fn congestion_is_near_beyond_a_share_of_the_range() {
    // Delays of 50 to 90, the second largest of which counts: 15 % of 20 ticks are 3.
    let (mut hstcplp, mut conn) = begun(&[("margin", 1000)]);
    for ticks in [50, 70, 90] {
        hear(&mut hstcplp, &mut conn, ticks, 1);
    }
    assert_eq!(hstcplp.info(&conn)[1], 1000);
    let (mut hstcplp, mut conn) = begun(&[("threshold", 15), ("restart_range", 0)]);
    for ticks in [50, 70, 90] {
        hear(&mut hstcplp, &mut conn, ticks, 1);
    }
    assert_eq!(hstcplp.info(&conn)[1], 20 * 15 / 100);
}

#[test]
fn an_indication_halves_and_another_within_three_rtts_leaves_one_segment() {
    for (pause_ms, expected) in [(0, 1), (290, 1), (310, 32 / 2)] {
        let (mut hstcplp, mut conn) = begun(&[]);
        hear(&mut hstcplp, &mut conn, 50, 10);
        acks_to_indication(&mut hstcplp, &mut conn, 100);
        assert_eq!(conn.cwnd_segs, 32);
        conn.now_us += pause_ms * 1000;
        acks_to_indication(&mut hstcplp, &mut conn, 400);
        assert_eq!(conn.cwnd_segs, expected, "after {pause_ms} ms");
    }
}

#[test]
fn nothing_grows_in_the_rtts_after_an_indication() {
    let (mut hstcplp, mut conn) = begun(&[]);
    hear(&mut hstcplp, &mut conn, 50, 10);
    acks_to_indication(&mut hstcplp, &mut conn, 100);
    hear(&mut hstcplp, &mut conn, 50, 1);
    grow(&mut hstcplp, &mut conn, 1, 100);
    assert_eq!(conn.cwnd_segs, 32);
    conn.now_us += 300_000;
    hear(&mut hstcplp, &mut conn, 50, 1);
    grow(&mut hstcplp, &mut conn, 1, 32);
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
    let (mut hstcplp, mut conn) = begun(&[]);
    hear(&mut hstcplp, &mut conn, 50, 1);
    acks_to_indication(&mut hstcplp, &mut conn, 200);
    assert_eq!(hstcplp.info(&conn)[1], (RTT_US as u32 / 2000) * 15 / 100, "half the RTT");
    let (mut hstcplp, mut conn) = begun(&[("restart_range", 0)]);
    hear(&mut hstcplp, &mut conn, 50, 1);
    acks_to_indication(&mut hstcplp, &mut conn, 200);
    assert!(hstcplp.info(&conn)[0] > hstcplp.info(&conn)[1], "it is still beyond");
}

#[test]
fn ssthresh_stays_by_default() {
    for (cut, expected) in [(0, SSTHRESH_INFINITE), (1, 32)] {
        let (mut hstcplp, mut conn) = begun(&[("cut_ssthresh", cut)]);
        conn.ssthresh_segs = SSTHRESH_INFINITE;
        hear(&mut hstcplp, &mut conn, 50, 1);
        acks_to_indication(&mut hstcplp, &mut conn, 200);
        assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (32, expected));
    }
}

#[test]
fn the_ack_of_the_only_segment_in_flight_gives_no_time() {
    for (skip, indications) in [(1, 0), (0, 1)] {
        let (mut hstcplp, mut conn) = begun(&[("skip_delayed", skip)]);
        hear(&mut hstcplp, &mut conn, 50, 10);
        conn.in_flight_segs = 0;
        acks_to_indication(&mut hstcplp, &mut conn, 90);
        assert_eq!(hstcplp.info(&conn)[2], indications);
        stamp(&mut conn, 90);
        for _ in 0..10 {
            hstcplp.pkts_acked(&mut conn, &ack(2, RTT_US));
        }
        assert!(hstcplp.info(&conn)[2] > 0, "that of two is not held up");
    }
}

#[test]
fn acks_for_one_segment_give_no_time_where_others_are_for_more() {
    let (mut hstcplp, mut conn) = begun(&[("margin", 1000)]);
    hear(&mut hstcplp, &mut conn, 50, 10);
    stamp(&mut conn, 50);
    for _ in 0..2 {
        hstcplp.pkts_acked(&mut conn, &ack(2, RTT_US));
    }
    hear(&mut hstcplp, &mut conn, 90, 2);
    assert_eq!(hstcplp.info(&conn)[0], 0);
    hear(&mut hstcplp, &mut conn, 90, 1);
    assert_eq!(hstcplp.info(&conn)[0], 5, "two looked delayed, as many as were for more");
}

#[test]
fn an_average_that_has_come_down_to_the_margin_is_within() {
    let (mut hstcplp, mut conn) = begun(&[("restart_range", 0), ("inference", 0)]);
    hear(&mut hstcplp, &mut conn, 50, 1);
    hear(&mut hstcplp, &mut conn, 80, 5);
    hear(&mut hstcplp, &mut conn, 51, 100);
    let before = hstcplp.info(&conn)[2];
    hear(&mut hstcplp, &mut conn, 51, 100);
    assert_eq!(hstcplp.info(&conn)[2], before);
}

#[test]
fn the_wait_for_a_second_segment_is_taken_off() {
    for (skip, above) in [(1, 0), (0, 5)] {
        let settings = [("skip_delayed", skip), ("margin", 1000)];
        let (mut hstcplp, mut conn) = begun(&settings);
        hear(&mut hstcplp, &mut conn, 50, 10);
        // The first segment waited 40 ms. Its RTT is 140 ms, and the last one's is 100.
        conn.srtt_us += 40_000 / 8;
        stamp(&mut conn, 90);
        hstcplp.pkts_acked(&mut conn, &ack(2, RTT_US));
        assert_eq!(
            hstcplp.info(&conn)[0],
            above,
            "of 40 ticks an ACK moves the average by an eighth"
        );
    }
}

#[test]
fn without_timestamps_it_is_highspeed_tcp() {
    let (mut hstcplp, mut conn) = begun(&[]);
    for _ in 0..100 {
        (conn.stamp_ms, conn.echo_ms) = (0, 0);
        hstcplp.pkts_acked(&mut conn, &ack(1, 1_000_000));
    }
    assert_eq!(hstcplp.info(&conn), [0, 1, 0, 0]);
    let grown = grow(&mut hstcplp, &mut conn, 32, 2);
    assert_eq!(grown, [(65, 0), (65, 64)], "a(64) = 2");
    assert_eq!(hstcplp.ssthresh(&conn), 65 - 65 * 112 / 256);
    conn.prior_cwnd_segs = 100;
    assert_eq!(hstcplp.undo_cwnd(&conn), 100);
}

#[test]
fn a_clock_that_goes_back_does_no_harm() {
    let (mut hstcplp, mut conn) = begun(&[]);
    hear(&mut hstcplp, &mut conn, 50, 1);
    acks_to_indication(&mut hstcplp, &mut conn, 200);
    conn.now_us = 0;
    hear(&mut hstcplp, &mut conn, 70, 1);
    grow(&mut hstcplp, &mut conn, 1, 32);
    assert_eq!(conn.cwnd_segs, 33, "the pause is over");
}

#[test]
fn an_indication_takes_what_a_loss_does() {
    for (cwnd, left) in [(38, 19), (1000, 676)] {
        let (mut hstcplp, mut conn) = begun(&[]);
        conn.cwnd_segs = cwnd;
        hear(&mut hstcplp, &mut conn, 50, 10);
        hstcplp.cong_avoid(&mut conn, 0);
        assert_eq!(hstcplp.ssthresh(&conn), left);
        acks_to_indication(&mut hstcplp, &mut conn, 100);
        assert_eq!(conn.cwnd_segs, left);
    }
}
