//! TCP Vegas.

use crate::{ack, avoiding, grow, instance, round_trip};
use dumbbell_algorithm::{CaState, Conn, CwndEvent, Instance, SSTHRESH_INFINITE};

const BASE_US: i32 = 100_000;

/// An instance that knows the RTT of an empty path.
fn on_path(conn: &mut Conn, settings: &[(&str, u32)]) -> Instance {
    let mut vegas = instance("vegas", None, settings);
    vegas.init(conn);
    vegas.pkts_acked(conn, &ack(1, BASE_US));
    // A new round trip begins.
    vegas.set_state(conn, CaState::Open);
    vegas
}

/// The window after a round trip with that RTT, from 100 segments.
fn avoided(rtt_us: i32, settings: &[(&str, u32)]) -> u32 {
    let mut conn = avoiding(100);
    round_trip(&mut on_path(&mut conn, settings), &mut conn, rtt_us, 1);
    conn.cwnd_segs
}

#[test]
fn grows_below_alpha_rests_and_shrinks_above_beta() {
    for (rtt_us, window) in
        [(100_000, 101), (101_900, 101), (102_100, 100), (104_900, 100), (105_100, 99)]
    {
        assert_eq!(avoided(rtt_us, &[]), window, "RTT {rtt_us} us");
    }
    for (rtt_us, window) in [(104_900, 101), (105_100, 100), (108_100, 99)] {
        assert_eq!(avoided(rtt_us, &[("alpha", 5), ("beta", 7)]), window, "RTT {rtt_us} us");
    }
}

#[test]
fn slow_start_ends_with_the_window_that_fits() {
    let started = |rtt_us| {
        let mut conn = Conn { ssthresh_segs: SSTHRESH_INFINITE, cwnd_segs: 100, ..Conn::default() };
        round_trip(&mut on_path(&mut conn, &[]), &mut conn, rtt_us, 2);
        (conn.cwnd_segs, conn.ssthresh_segs)
    };
    assert_eq!(started(101_900), (102, SSTHRESH_INFINITE), "diff 1 is not above gamma");
    assert_eq!(started(110_000), (100 * 10 / 11 + 1, 91));
}

#[test]
fn acks_within_a_round_trip_count_in_slow_start_only() {
    let mut conn = Conn { snd_nxt: 1000, ..avoiding(100) };
    let mut vegas = on_path(&mut conn, &[]);
    assert_eq!(grow(&mut vegas, &mut conn, 1, 300).pop(), Some((100, 0)));
    conn.ssthresh_segs = 200;
    // Linux does not check whether the window limits sending either.
    conn.cwnd_limited = 0;
    assert_eq!(grow(&mut vegas, &mut conn, 2, 10).pop(), Some((120, 0)));
}

#[test]
fn a_round_trip_with_two_samples_is_one_of_standard_tcp() {
    let mut conn = avoiding(100);
    let mut vegas = on_path(&mut conn, &[]);
    round_trip(&mut vegas, &mut conn, 150_000, 1);
    assert_eq!(conn.cwnd_segs, 99);
    for _ in 0..2 {
        vegas.pkts_acked(&mut conn, &ack(1, 150_000));
    }
    conn.snd_una = conn.snd_nxt + 1;
    vegas.cong_avoid(&mut conn, 99);
    assert_eq!(conn.cwnd_segs, 100);
}

#[test]
fn it_is_standard_tcp_unless_open() {
    let mut conn = avoiding(100);
    let mut vegas = on_path(&mut conn, &[]);
    vegas.set_state(&mut conn, CaState::Disorder);
    round_trip(&mut vegas, &mut conn, 150_000, 100);
    assert_eq!(conn.cwnd_segs, 101);
    conn.cwnd_limited = 0;
    round_trip(&mut vegas, &mut conn, 150_000, 101);
    assert_eq!(conn.cwnd_segs, 101, "standard TCP asks whether the window was in use");
    conn.cwnd_limited = 1;
    vegas.set_state(&mut conn, CaState::Open);
    round_trip(&mut vegas, &mut conn, 150_000, 100);
    assert_eq!(conn.cwnd_segs, 100, "Vegas again");
}

#[test]
fn idle_forgets_the_path() {
    for event in [CwndEvent::TxStart, CwndEvent::CwndRestart] {
        let mut conn = avoiding(100);
        let mut vegas = on_path(&mut conn, &[]);
        vegas.cwnd_event(&mut conn, event);
        round_trip(&mut vegas, &mut conn, 150_000, 1);
        assert_eq!((conn.cwnd_segs, vegas.info(&conn)[1]), (101, 150_001));
    }
    let mut conn = avoiding(100);
    let mut vegas = on_path(&mut conn, &[]);
    vegas.cwnd_event(&mut conn, CwndEvent::CompleteCwr);
    round_trip(&mut vegas, &mut conn, 150_000, 1);
    assert_eq!(vegas.info(&conn)[1], 100_001, "recovery does not");
}

#[test]
fn loss_halves_and_undo_returns() {
    let mut conn = avoiding(101);
    let mut vegas = on_path(&mut conn, &[]);
    assert_eq!(vegas.ssthresh(&conn), 50);
    conn = Conn { cwnd_segs: 50, prior_cwnd_segs: 101, ..conn };
    assert_eq!(vegas.undo_cwnd(&conn), 101);
    conn.cwnd_segs = 3;
    assert_eq!(vegas.ssthresh(&conn), 2);
}

#[test]
fn never_shrinks_below_two_segments() {
    let mut conn = avoiding(3);
    let mut vegas = on_path(&mut conn, &[]);
    for _ in 0..3 {
        round_trip(&mut vegas, &mut conn, 2_000_000, 0);
    }
    assert_eq!(conn.cwnd_segs, 2);
}

/// A window w has the backlog w - D on a path with pipe D, where the RTT is w / D of the base RTT.
#[test]
fn rests_with_a_backlog_of_alpha_to_beta() {
    for (start, settings) in [(10, [2, 4]), (2000, [2, 4]), (10, [20, 22])] {
        let mut conn = avoiding(start);
        let [alpha, beta] = settings;
        let mut vegas = on_path(&mut conn, &[("alpha", alpha), ("beta", beta)]);
        for _ in 0..3000 {
            let rtt_us = i64::from(BASE_US) * i64::from(conn.cwnd_segs.max(1000)) / 1000;
            round_trip(&mut vegas, &mut conn, rtt_us as i32, 1);
        }
        let backlog = conn.cwnd_segs - 1000;
        assert!((alpha..=beta + 1).contains(&backlog), "from {start}: backlog {backlog}");
    }
}

#[test]
fn ssthresh_follows_the_window_by_a_half_and_a_quarter_each_rounded_down() {
    for (cwnd, ssthresh) in [(7, 4), (8, 6), (11, 7), (103, 76)] {
        let mut conn = avoiding(cwnd);
        let mut vegas = on_path(&mut conn, &[("alpha", 0), ("beta", 1000)]);
        round_trip(&mut vegas, &mut conn, BASE_US, 1);
        assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (cwnd, ssthresh));
    }
}

/// Window and ssthresh of old Linux after a round trip that began with `sent` segments.
fn judged_by_round(sent: u32, cwnd_segs: u32, ssthresh_segs: u32, rtt_us: i32) -> (u32, u32) {
    let mut vegas = instance("vegas", Some("linux-2.6.26"), &[]);
    let mut conn = Conn { cwnd_segs: sent, ssthresh_segs, snd_una: 0, ..Conn::default() };
    conn.snd_nxt = sent * conn.mss_bytes;
    vegas.init(&mut conn);
    for rtt_us in [BASE_US, rtt_us, rtt_us] {
        vegas.pkts_acked(&mut conn, &ack(1, rtt_us));
    }
    // A new round trip begins, in which the base RTT is no longer the smallest RTT.
    vegas.set_state(&mut conn, CaState::Open);
    for _ in 0..3 {
        vegas.pkts_acked(&mut conn, &ack(1, rtt_us));
    }
    conn.cwnd_segs = cwnd_segs;
    conn.snd_una = conn.snd_nxt + 1;
    conn.snd_nxt += cwnd_segs * conn.mss_bytes;
    vegas.cong_avoid(&mut conn, 1);
    (conn.cwnd_segs, conn.ssthresh_segs)
}

#[test]
fn old_linux_ends_slow_start_at_what_was_sent_when_the_round_trip_began() {
    assert_eq!(judged_by_round(100, 200, SSTHRESH_INFINITE, 125_000), (81, 2));
    // 100 - 100 / 1.0101 is one segment, or two halves, which is not above gamma.
    assert_eq!(judged_by_round(100, 200, SSTHRESH_INFINITE, 101_009), (201, SSTHRESH_INFINITE));
    assert_eq!(judged_by_round(100, 80, 50, 125_000), (80, 2), "after a loss");
}

#[test]
fn old_linux_moves_by_a_segment_towards_the_window_of_the_beginning() {
    for (rtt_us, window) in [(101_500, 101), (103_000, 100), (104_900, 99)] {
        assert_eq!(judged_by_round(100, 100, 2, rtt_us), (window, 2), "RTT {rtt_us} us");
    }
    assert_eq!(judged_by_round(100, 90, 2, 104_900), (91, 2), "towards 99");
    assert_eq!(judged_by_round(100, 110, 2, 101_500), (109, 2), "towards 101");
    assert_eq!(judged_by_round(2, 2, 2, 900_000_000), (2, 2));
}
