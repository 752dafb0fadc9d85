//! LEDBAT++ against its draft.

use crate::{ack, instance};
use dumbbell_algorithm::{Conn, Instance, SSTHRESH_INFINITE, STACK_SLOW_START_INCLUSIVE};

/// Phases, as `info` reports them.
const BEGINNING: u32 = 0;
const RUNNING: u32 = 1;
const HELD: u32 = 2;
const RETURNING: u32 = 3;

/// A connection with a base RTT, whose last four RTTs were longer by `delay_ms`.
fn informed(settings: &[(&str, u32)], base_ms: i32, delay_ms: i32) -> (Instance, Conn) {
    let mut ledbat = instance("ledbatpp", None, settings);
    let mut conn = Conn { srtt_us: 100_000, ..Conn::default() };
    ledbat.init(&mut conn);
    conn = Conn { cwnd_segs: 100, ssthresh_segs: 2, ..conn };
    ledbat.pkts_acked(&mut conn, &ack(1, base_ms * 1000));
    hear(&mut ledbat, &mut conn, base_ms + delay_ms);
    (ledbat, conn)
}

fn hear(ledbat: &mut Instance, conn: &mut Conn, rtt_ms: i32) {
    for _ in 0..4 {
        ledbat.pkts_acked(conn, &ack(1, rtt_ms * 1000));
    }
}

/// An ACK that ends a round trip.
fn end_round(ledbat: &mut Instance, conn: &mut Conn, acked: u32) {
    conn.snd_una = conn.snd_nxt;
    conn.snd_nxt = conn.snd_nxt.wrapping_add(1000);
    ledbat.cong_avoid(conn, acked);
}

fn phase(ledbat: &Instance, conn: &Conn) -> u32 {
    ledbat.info(conn)[3]
}

#[test]
fn the_gain_is_smaller_on_shorter_paths() {
    for (base_ms, part) in
        [(1, 16), (7, 16), (8, 15), (20, 6), (60, 2), (119, 2), (120, 1), (500, 1)]
    {
        let (ledbat, conn) = informed(&[], base_ms, 0);
        assert_eq!(ledbat.info(&conn)[2], part, "{base_ms} ms");
    }
}

#[test]
fn below_the_target_a_round_trip_adds_the_gain() {
    for (base_ms, rounds) in [(120, 1), (60, 2), (1, 16)] {
        let (mut ledbat, mut conn) = informed(&[("slowdown", 0)], base_ms, 59);
        for _ in 0..rounds * 100 - 1 {
            ledbat.cong_avoid(&mut conn, 1);
        }
        assert_eq!(conn.cwnd_segs, 100, "{base_ms} ms");
        // Whole parts are rounded down, so each needs one more ACK.
        ledbat.cong_avoid(&mut conn, 2);
        assert_eq!(conn.cwnd_segs, 101, "{base_ms} ms");
    }
    let (mut idle, mut conn) = informed(&[], 120, 0);
    conn.cwnd_limited = 0;
    idle.cong_avoid(&mut conn, 1000);
    assert_eq!(conn.cwnd_segs, 100, "growth is earned");
}

#[test]
fn beyond_the_target_the_window_falls_by_its_share_at_most_by_half() {
    // 120 ms of base RTT: GAIN is 1.
    for (delay_ms, window) in [(60, 101), (63, 96), (75, 76), (90, 51), (91, 50), (600, 50)] {
        let (mut ledbat, mut conn) = informed(&[("slowdown", 0)], 120, delay_ms);
        ledbat.cong_avoid(&mut conn, 1);
        end_round(&mut ledbat, &mut conn, 1);
        // The first ACK ends a round, too.
        conn.cwnd_segs = 100;
        end_round(&mut ledbat, &mut conn, 1);
        assert!(conn.cwnd_segs.abs_diff(window) <= 1, "{delay_ms} ms: {}", conn.cwnd_segs);
        let after = conn.cwnd_segs;
        conn.snd_una -= 1;
        ledbat.cong_avoid(&mut conn, 1);
        assert_eq!(conn.cwnd_segs, after, "once per round trip");
    }
    let (mut gentle, mut conn) = informed(&[("slowdown", 0), ("decrease", 0)], 120, 90);
    end_round(&mut gentle, &mut conn, 1);
    assert_eq!(conn.cwnd_segs, 101, "C = 0: nothing but the gain");
}

#[test]
fn slow_start_grows_by_the_gain_and_ends_at_three_quarters_of_the_target() {
    let (mut ledbat, mut conn) = informed(&[], 60, 44);
    conn.ssthresh_segs = SSTHRESH_INFINITE;
    ledbat.cong_avoid(&mut conn, 10);
    assert_eq!((conn.cwnd_segs, phase(&ledbat, &conn)), (105, BEGINNING));
    hear(&mut ledbat, &mut conn, 105);
    ledbat.cong_avoid(&mut conn, 10);
    assert_eq!((conn.ssthresh_segs, phase(&ledbat, &conn)), (105, RUNNING));
}

#[test]
fn begins_with_two_segments() {
    let mut conn = Conn::default();
    instance("ledbatpp", None, &[]).init(&mut conn);
    assert_eq!(conn.cwnd_segs, 2);
    let mut conn = Conn::default();
    instance("ledbatpp", None, &[("initial_window", 20)]).init(&mut conn);
    assert_eq!(conn.cwnd_segs, 10, "what the stack gives is the limit");
}

#[test]
fn slowdowns_come_two_round_trips_after_slow_start_and_then_after_nine_times_their_length() {
    let (mut ledbat, mut conn) = informed(&[], 120, 0);
    let mut at = |conn: &mut Conn, ms: u64, acked| {
        conn.now_us = ms * 1000;
        ledbat.cong_avoid(conn, acked);
        (conn.cwnd_segs, phase(&ledbat, conn))
    };
    assert_eq!(at(&mut conn, 1_000, 0), (100, RUNNING), "slow start is over");
    assert_eq!(at(&mut conn, 1_199, 0), (100, RUNNING));
    assert_eq!(at(&mut conn, 1_200, 0), (2, HELD), "two RTTs of 100 ms later");
    assert_eq!(conn.ssthresh_segs, 100);
    assert_eq!(at(&mut conn, 1_399, 50), (2, HELD), "nothing grows");
    assert_eq!(at(&mut conn, 1_400, 50), (52, RETURNING), "slow start");
    assert_eq!(at(&mut conn, 1_500, 60), (100, RETURNING));
    assert_eq!(at(&mut conn, 1_600, 0), (100, RUNNING), "0.4 s were lost");
    assert_eq!(at(&mut conn, 1_600 + 3_599, 0), (100, RUNNING));
    assert_eq!(at(&mut conn, 1_600 + 3_600, 0), (2, HELD), "3.6 s later");
}

#[test]
fn slowdowns_can_be_left_out() {
    let mut ledbat = instance("ledbatpp", Some("no-slowdown"), &[]);
    let mut conn = Conn { cwnd_segs: 100, ssthresh_segs: 2, srtt_us: 100_000, ..Conn::default() };
    for second in 0..100 {
        conn.now_us = second * 1_000_000;
        ledbat.cong_avoid(&mut conn, 0);
        assert_eq!(phase(&ledbat, &conn), RUNNING);
    }
}

#[test]
fn the_base_rtt_is_of_the_last_ten_minutes() {
    let base_after = |settings: &[(&str, u32)], minutes: &[u64]| {
        let mut ledbat = instance("ledbatpp", None, settings);
        let mut conn = Conn::default();
        ledbat.init(&mut conn);
        ledbat.pkts_acked(&mut conn, &ack(1, 50_000));
        for minute in minutes {
            conn.now_us = minute * 60_000_000;
            ledbat.pkts_acked(&mut conn, &ack(1, 90_000));
        }
        ledbat.info(&conn)[0]
    };
    let every: Vec<u64> = (1..=9).collect();
    assert_eq!(base_after(&[], &every), 50_000);
    assert_eq!(base_after(&[], &[9]), 50_000, "minutes without a sample have none");
    assert_eq!(base_after(&[], &[10]), 90_000);
    assert_eq!(base_after(&[], &[1000]), 90_000);
    assert_eq!(base_after(&[("base_minutes", 2)], &[1]), 50_000);
    assert_eq!(base_after(&[("base_minutes", 2)], &[1, 2]), 90_000);
}

#[test]
fn the_delay_is_the_smallest_of_the_last_four() {
    let (mut ledbat, mut conn) = informed(&[], 100, 50);
    ledbat.pkts_acked(&mut conn, &ack(1, 120_000));
    for expected in [20_000, 20_000, 20_000, 20_000, 80_000] {
        assert_eq!(ledbat.info(&conn)[1], expected);
        ledbat.pkts_acked(&mut conn, &ack(1, 180_000));
    }
}

#[test]
fn loss_halves() {
    let (mut ledbat, mut conn) = informed(&[], 100, 0);
    assert_eq!(ledbat.ssthresh(&conn), 50);
    conn.prior_cwnd_segs = 100;
    assert_eq!(ledbat.undo_cwnd(&Conn { cwnd_segs: 50, ..conn }), 100);
}

#[test]
fn what_delay_took_is_not_regained_in_slow_start() {
    let (mut ledbat, mut conn) = informed(&[("slowdown", 0)], 120, 90);
    conn = Conn { stack: STACK_SLOW_START_INCLUSIVE, ssthresh_segs: 99, ..conn };
    end_round(&mut ledbat, &mut conn, 1);
    let after = conn.cwnd_segs;
    assert!(after <= 51 && conn.ssthresh_segs < after, "{conn:?}");
}
