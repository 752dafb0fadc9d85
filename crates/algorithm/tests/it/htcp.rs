//! H-TCP.

use crate::{ack, avoiding, instance};
use dumbbell_algorithm::{CaState, Conn, Instance};

/// Increase per round trip in 1/1000 segments, computed `ms` after the last congestion.
fn alpha_milli(htcp: &mut Instance, since_us: u64, ms: u64) -> u32 {
    let now_us = since_us + ms * 1000;
    let mut conn = Conn { cwnd_cnt: u32::MAX, now_us, ..avoiding(100) };
    htcp.cong_avoid(&mut conn, 1);
    htcp.info(&conn)[0]
}

/// An instance that knows the path's RTT, with its last congestion at time 0.
fn with_rtt(rtt_ms: i32, settings: &[(&str, u32)]) -> Instance {
    let mut htcp = instance("htcp", None, settings);
    let mut conn = avoiding(100);
    htcp.init(&mut conn);
    if rtt_ms > 0 {
        htcp.pkts_acked(&mut conn, &ack(1, rtt_ms * 1000));
    }
    htcp
}

/// Congestion at `cwnd` segments after a window of throughput was measured.
fn congest(htcp: &mut Instance, conn: &mut Conn, rtt_ms: i32, rtt_max_ms: i32) -> u32 {
    conn.state = CaState::Open;
    for step in 0..20 {
        conn.now_us += rtt_ms as u64 * 1000;
        let rtt_ms = (rtt_ms + 15 * step).min(rtt_max_ms);
        htcp.pkts_acked(conn, &ack(conn.cwnd_segs, rtt_ms * 1000));
    }
    let window = htcp.ssthresh(conn);
    htcp.set_state(conn, CaState::Recovery);
    conn.state = CaState::Recovery;
    htcp.set_state(conn, CaState::Open);
    conn.state = CaState::Open;
    window
}

#[test]
fn increase_by_time_since_congestion_and_rtt() {
    let times_ms = [500, 1500, 2000, 5000, 10_000, 20_000];
    for (rtt_ms, expected) in [
        (10, [1, 1, 1, 4, 11, 28]),
        (42, [1, 2, 4, 18, 46, 118]),
        (100, [1, 6, 11, 45, 111, 281]),
        (162, [2, 12, 22, 90, 222, 562]),
    ] {
        let seen = times_ms.map(|ms| alpha_milli(&mut with_rtt(rtt_ms, &[]), 0, ms) / 1000);
        assert_eq!(seen, expected, "RTT {rtt_ms} ms");
    }
}

#[test]
fn increase_without_rtt_scaling_is_the_paper_s_polynomial() {
    let settings = [("rtt_scaling", 0)];
    for (ms, expected) in [(1000, 1), (2000, 11), (11_000, 126)] {
        assert_eq!(alpha_milli(&mut with_rtt(10, &settings), 0, ms), expected * 1000);
    }
    let mut early = with_rtt(10, &[("rtt_scaling", 0), ("delta_l", 500)]);
    assert_eq!(alpha_milli(&mut early, 0, 1500), 11_000);
}

#[test]
fn increase_does_not_wrap_in_an_hour() {
    assert!(alpha_milli(&mut with_rtt(100, &[]), 0, 3_600_000) > 3_000_000_000);
}

#[test]
fn keeps_what_the_queue_bridges_once_throughput_is_steady() {
    let mut htcp = with_rtt(100, &[]);
    let mut conn = avoiding(1000);
    assert_eq!(congest(&mut htcp, &mut conn, 100, 140), 500, "throughput is new");
    assert_eq!(congest(&mut htcp, &mut conn, 100, 140), 500, "throughput is steady");
    let rtt_max = htcp.info(&conn)[3];
    assert_eq!(rtt_max, 138, "100 + 0.95 * 40, and raised to 140 by each epoch's samples");
    assert_eq!(congest(&mut htcp, &mut conn, 100, 140), 1000 * (100 * 128 / 140) / 128);
}

#[test]
fn kept_fraction_stays_within_a_half_and_eight_tenths() {
    for (rtt_max_ms, kept) in [(101, 102), (300, 64)] {
        let mut htcp = with_rtt(100, &[]);
        let mut conn = avoiding(1000);
        for _ in 0..2 {
            congest(&mut htcp, &mut conn, 100, rtt_max_ms);
        }
        assert_eq!(congest(&mut htcp, &mut conn, 100, rtt_max_ms), 1000 * kept / 128);
    }
}

#[test]
fn increase_shrinks_with_the_cut() {
    let mut htcp = with_rtt(100, &[]);
    let mut conn = avoiding(1000);
    for _ in 0..3 {
        congest(&mut htcp, &mut conn, 100, 101);
    }
    assert_eq!(htcp.info(&conn)[1], 102 * 1000 / 128);
    assert_eq!(alpha_milli(&mut htcp, conn.now_us, 500), 52 * 1000 / 128);
    assert_eq!(alpha_milli(&mut htcp, conn.now_us, 2000), 11 * 52 * 1000 / 128);
}

#[test]
fn halves_when_throughput_has_changed() {
    let mut htcp = with_rtt(100, &[]);
    let mut conn = avoiding(1000);
    for _ in 0..3 {
        congest(&mut htcp, &mut conn, 100, 140);
    }
    conn.cwnd_segs = 700;
    assert_eq!(congest(&mut htcp, &mut conn, 100, 140), 350);
}

#[test]
fn halves_on_paths_of_ten_milliseconds_or_less() {
    let mut htcp = with_rtt(10, &[]);
    let mut conn = avoiding(1000);
    for _ in 0..4 {
        assert_eq!(congest(&mut htcp, &mut conn, 10, 12), 500);
    }
}

#[test]
fn rtts_count_in_jiffies_rounded_up() {
    let rtts = |rtt_us| {
        let mut htcp = instance("htcp", None, &[]);
        let mut conn = avoiding(1000);
        htcp.init(&mut conn);
        htcp.pkts_acked(&mut conn, &ack(1, rtt_us));
        htcp.info(&conn)[2]
    };
    assert_eq!([1, 200, 1_000, 10_000, 10_001, 10_900].map(rtts), [1, 1, 1, 10, 11, 11]);
}

#[test]
fn time_counts_from_the_end_of_recovery() {
    let mut htcp = with_rtt(100, &[]);
    let mut conn = Conn { now_us: 10_000_000, ..avoiding(1000) };
    htcp.set_state(&mut conn, CaState::Recovery);
    conn.now_us = 12_000_000;
    htcp.set_state(&mut conn, CaState::Open);
    assert_eq!(alpha_milli(&mut htcp, 12_000_000, 1000), 1000);
    assert_eq!(alpha_milli(&mut htcp, 12_000_000, 2000), 11_000);
}

#[test]
fn undo_restores_the_time_of_the_last_congestion() {
    let mut htcp = with_rtt(100, &[]);
    let mut conn = Conn { now_us: 4_000_000, prior_cwnd_segs: 1000, ..avoiding(500) };
    htcp.set_state(&mut conn, CaState::Recovery);
    assert_eq!(htcp.undo_cwnd(&conn), 1000);
    htcp.set_state(&mut conn, CaState::Open);
    assert_eq!(alpha_milli(&mut htcp, 0, 5000), 45_000);
}

#[test]
fn grows_by_one_segment_per_ack_at_most_and_counts_acknowledged_segments() {
    let mut htcp = with_rtt(100, &[]);
    let mut conn = avoiding(100);
    for _ in 0..50 {
        htcp.pkts_acked(&mut conn, &ack(2, 100_000));
        htcp.cong_avoid(&mut conn, 2);
    }
    assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), (100, 100));
    htcp.pkts_acked(&mut conn, &ack(2, 100_000));
    htcp.cong_avoid(&mut conn, 2);
    assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), (101, 0));
}

#[test]
fn outliers_do_not_raise_the_largest_rtt() {
    let mut htcp = with_rtt(100, &[]);
    let mut conn = avoiding(100);
    for (rtt_ms, expected) in [(121, 100), (120, 120), (141, 120), (140, 140)] {
        htcp.pkts_acked(&mut conn, &ack(1, rtt_ms * 1000));
        assert_eq!(htcp.info(&conn)[3], expected);
    }
    conn.state = CaState::Recovery;
    htcp.pkts_acked(&mut conn, &ack(1, 150_000));
    assert_eq!(htcp.info(&conn)[3], 140);
}

#[test]
fn no_throughput_is_sampled_while_alpha_is_above_the_window() {
    let kept = |cwnd: u32| {
        let mut htcp = with_rtt(100, &[]);
        let mut conn = avoiding(cwnd);
        let mut window = 0;
        for acked in [10, 1000] {
            conn = Conn { now_us: conn.now_us + 20_000_000, cwnd_cnt: u32::MAX, ..conn };
            conn.cwnd_segs = cwnd;
            htcp.cong_avoid(&mut conn, 1);
            assert_eq!(htcp.info(&conn)[0], 281_000);
            for rtt_ms in [100, 115, 130, 140] {
                conn.now_us += 100_000;
                htcp.pkts_acked(&mut conn, &ack(acked, rtt_ms * 1000));
            }
            conn.cwnd_segs = cwnd;
            window = htcp.ssthresh(&conn);
            htcp.set_state(&mut conn, CaState::Recovery);
            htcp.set_state(&mut conn, CaState::Open);
        }
        f64::from(window) / f64::from(cwnd)
    };
    assert_eq!(kept(400), 0.5, "throughput has changed");
    assert_eq!(kept(200), 0.71, "nothing is known of it");
}
