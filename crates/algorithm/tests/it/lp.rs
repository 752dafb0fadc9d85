//! TCP-LP of Linux.

use crate::{ack, avoiding, grow, instance};
use dumbbell_algorithm::{Conn, Instance, Need, SSTHRESH_INFINITE};

/// RTT of each ACK, and the time between ACKs. At this distance, changes of the one-way delay by up
/// to 63 ms do not look like a faster clock.
const RTT_MS: u32 = 1_000;

/// An instance that knows the rate of the receiver's clock, at 100 s.
fn begun(settings: &[(&str, u32)]) -> (Instance, Conn) {
    let mut lp = instance("lp", None, settings);
    let mut conn = Conn { now_us: 100_000_000, ..avoiding(64) };
    lp.init(&mut conn);
    hear(&mut lp, &mut conn, 0, 2);
    assert_eq!(lp.info(&conn)[2..], [0, 1000], "a time of 0 is none");
    (lp, conn)
}

/// An ACK; the receiver's timestamp is `ahead_ms` ahead of the one that it echoes.
fn stamp(conn: &mut Conn, ahead_ms: u32) {
    conn.echo_ms = (conn.now_us / 1000) as u32 - RTT_MS;
    conn.stamp_ms = conn.echo_ms + ahead_ms;
}

/// Take `acks` ACKs of segments with a one-way delay of `ms`.
fn hear(lp: &mut Instance, conn: &mut Conn, ms: u32, acks: u32) {
    for _ in 0..acks {
        conn.now_us += u64::from(RTT_MS) * 1_000;
        stamp(conn, ms);
        lp.pkts_acked(conn, &ack(1, RTT_MS as i32 * 1000));
    }
}

/// An instance whose first one-way delay was 40 ms. Such a first delay indicates congestion.
fn indicated(settings: &[(&str, u32)]) -> (Instance, Conn) {
    let (mut lp, mut conn) = begun(settings);
    hear(&mut lp, &mut conn, 40, 1);
    assert_eq!((lp.info(&conn)[2], conn.cwnd_segs), (1, 32), "what is equal is not below");
    (lp, conn)
}

#[test]
fn asks_for_one_way_times() {
    assert_eq!(instance("lp", None, &[]).algorithm().flags, [Need::OneWay]);
}

#[test]
fn an_indication_begins_a_range_from_the_average_to_twice_that() {
    let (mut lp, mut conn) = indicated(&[]);
    assert_eq!(lp.info(&conn)[..2], [0, 40 * 15 / 100]);
    hear(&mut lp, &mut conn, 40, 500);
    assert_eq!(lp.info(&conn)[2], 1, "15 % of 40 ms beyond is far away");
    let (mut lp, mut conn) = indicated(&[("threshold", 50)]);
    hear(&mut lp, &mut conn, 59, 500);
    assert_eq!(lp.info(&conn)[..3], [19, 20, 1], "at 59 ms of 60");
}

#[test]
fn the_average_moves_by_an_eighth_of_the_distance_and_indicates_from_the_threshold_on() {
    let (mut lp, mut conn) = indicated(&[]);
    let above: Vec<_> = (0..4)
        .map(|_| {
            hear(&mut lp, &mut conn, 60, 1);
            (lp.info(&conn)[0], lp.info(&conn)[2])
        })
        .collect();
    // 320/8; 340, 358, 374 and, from a new smallest delay of 46, 388 eighths.
    assert_eq!(above, [(2, 1), (4, 1), (0, 2), (2, 2)]);
}

#[test]
fn below_seven_milliseconds_every_ack_is_an_indication() {
    let (mut lp, mut conn) = begun(&[]);
    hear(&mut lp, &mut conn, 6, 10);
    assert_eq!((lp.info(&conn)[2], conn.cwnd_segs), (10, 1));
    let (mut lp, mut conn) = begun(&[]);
    hear(&mut lp, &mut conn, 7, 10);
    assert_eq!((lp.info(&conn)[2], conn.cwnd_segs), (1, 32));
}

#[test]
fn the_largest_time_counts_only_once_a_larger_one_came() {
    let (mut lp, mut conn) = indicated(&[]);
    let mut threshold = |ms| {
        hear(&mut lp, &mut conn, ms, 1);
        lp.info(&conn)[1]
    };
    assert_eq!(threshold(85), 40 * 15 / 100, "80 was the largest, and is the second now");
    let (mut lp, mut conn) = indicated(&[("threshold", 99)]);
    let mut range = |ms| {
        hear(&mut lp, &mut conn, ms, 1);
        lp.info(&conn)[1]
    };
    assert_eq!([range(100), range(90), range(85), range(140)], [39, 49, 49, 59]);
}

#[test]
fn another_indication_within_three_rtts_leaves_one_segment() {
    for (pause_ms, inference, left) in [(0, 3, 1), (1_990, 3, 1), (2_000, 3, 16), (0, 1, 16)] {
        let (mut lp, mut conn) = indicated(&[("inference", inference)]);
        conn.now_us += pause_ms * 1000;
        hear(&mut lp, &mut conn, 100, 1);
        assert_eq!((lp.info(&conn)[2], conn.cwnd_segs), (2, left), "after {pause_ms} ms");
    }
}

#[test]
fn nothing_grows_in_the_rtts_after_an_indication() {
    let (mut lp, mut conn) = indicated(&[]);
    hear(&mut lp, &mut conn, 40, 1);
    grow(&mut lp, &mut conn, 1, 100);
    assert_eq!(conn.cwnd_segs, 32);
    hear(&mut lp, &mut conn, 40, 2);
    grow(&mut lp, &mut conn, 1, 32);
    assert_eq!(conn.cwnd_segs, 33);
}

#[test]
fn ssthresh_stays_and_a_loss_halves() {
    let (mut lp, mut conn) = begun(&[]);
    conn.ssthresh_segs = SSTHRESH_INFINITE;
    hear(&mut lp, &mut conn, 40, 1);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (32, SSTHRESH_INFINITE));
    assert_eq!(lp.ssthresh(&conn), 16);
    conn.prior_cwnd_segs = 100;
    assert_eq!(lp.undo_cwnd(&conn), 100);
}

#[test]
fn the_rate_of_the_receivers_clock_moves_by_whole_numbers() {
    let (mut lp, mut conn) = begun(&[]);
    let mut rate = |here_ms: u64, there_ms: u32| {
        let stamp_ms = conn.stamp_ms + there_ms;
        conn.now_us += here_ms * 1000;
        stamp(&mut conn, 0);
        conn.stamp_ms = stamp_ms;
        lp.pkts_acked(&mut conn, &ack(1, 100_000));
        lp.info(&conn)[3]
    };
    assert_eq!(rate(1, 2), 1000 + 1000 / 64, "a sixty-fourth of 2000");
    assert_eq!(rate(1, 1), 1014, "a sixty-fourth of -15 is a whole one");
    assert_eq!(rate(0, 1), 1014, "no time has passed here");
    assert_eq!(rate(1, 0), 1014, "nor there");
}

#[test]
fn a_clock_that_seems_faster_than_a_millisecond_counts_for_nothing() {
    let (mut lp, mut conn) = indicated(&[]);
    // The next ACK comes 1 ms later by our clock and 2 ms by the receiver's: a sixty-fourth of
    // 2000.
    conn.now_us += 1_000;
    stamp(&mut conn, 41);
    lp.pkts_acked(&mut conn, &ack(1, RTT_MS as i32 * 1000));
    assert_eq!(lp.info(&conn)[3], 1015);
    assert_eq!((lp.info(&conn)[2], conn.cwnd_segs), (2, 1), "the own clock alone, below 0");
}

#[test]
fn without_timestamps_it_is_standard_tcp() {
    let mut lp = instance("lp", None, &[]);
    let mut conn = avoiding(64);
    lp.init(&mut conn);
    for _ in 0..100 {
        conn.now_us += 1000;
        lp.pkts_acked(&mut conn, &ack(1, 1_000_000));
    }
    assert_eq!(lp.info(&conn)[2..], [0, 0]);
    assert_eq!(grow(&mut lp, &mut conn, 32, 2), [(64, 32), (65, 0)]);
}
