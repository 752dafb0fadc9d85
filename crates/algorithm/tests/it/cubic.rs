//! CUBIC.

use crate::{ack, avoiding, grow, instance};
use dumbbell_algorithm::{CaState, Conn, CwndEvent, Instance};

/// An instance with its last cut at `last_max` segments, which enters avoidance at `cwnd`.
fn epoch_at(last_max: u32, cwnd: u32, settings: &[(&str, u32)]) -> (Instance, Conn) {
    let mut cubic = instance("cubic", None, settings);
    cubic.init(&mut avoiding(10));
    cubic.ssthresh(&avoiding(last_max));
    let mut conn = Conn { now_us: 5_000_000, ..avoiding(cwnd) };
    cubic.cong_avoid(&mut conn, 0);
    (cubic, conn)
}

/// Growth divisor at `cwnd` segments, `ms` after the epoch began.
fn divisor_at(cubic: &mut Instance, conn: &Conn, cwnd: u32, ms: u64) -> u32 {
    let mut later = Conn { cwnd_segs: cwnd, now_us: conn.now_us + ms * 1000, ..*conn };
    cubic.cong_avoid(&mut later, 0);
    cubic.info(&later)[2]
}

#[test]
fn time_to_the_plateau() {
    for (last_max, cwnd, k) in
        [(100, 70, 4316), (1000, 700, 9300), (6900, 4830, 17706), (10_000, 7000, 20_037)]
    {
        let (cubic, conn) = epoch_at(last_max, cwnd, &[]);
        assert_eq!(cubic.info(&conn)[1], k * 1000 / 1024, "{last_max} to {cwnd}");
    }
}

#[test]
fn targets_on_the_way_to_the_plateau_and_beyond() {
    let (mut cubic, conn) = epoch_at(1000, 700, &[("tcp_friendliness", 0)]);
    let k_ms = 9_082;
    for (ms, cwnd, target) in [
        (0, 700, 701),
        (1000, 700, 789),
        (2000, 700, 858),
        (k_ms + 1001, 900, 1000),
        (k_ms + 3001, 1000, 1010),
    ] {
        let divisor = divisor_at(&mut cubic, &conn, cwnd, ms);
        assert_eq!(divisor, cwnd / (target - cwnd), "at {ms} ms");
    }
}

#[test]
fn computes_growth_of_the_same_window_again_after_31_ms_or_as_set() {
    for (recompute, ms, again) in [(31, 31, false), (31, 32, true), (0, 31, true), (100, 32, false)]
    {
        let settings = [("tcp_friendliness", 0), ("recompute", recompute)];
        let (mut cubic, conn) = epoch_at(1000, 700, &settings);
        let before = cubic.info(&conn)[2];
        let after = divisor_at(&mut cubic, &conn, 700, ms);
        assert_eq!(after != before, again, "{recompute} ms, after {ms} ms: {before}, {after}");
    }
}

#[test]
fn never_grows_by_more_than_half_per_round_trip() {
    let (mut cubic, conn) = epoch_at(1000, 700, &[]);
    assert_eq!(divisor_at(&mut cubic, &conn, 100, 60_000), 2);
}

#[test]
fn grows_by_five_percent_before_the_first_cut() {
    let mut cubic = instance("cubic", None, &[]);
    let mut conn = avoiding(1000);
    cubic.init(&mut conn);
    grow(&mut cubic, &mut conn, 2, 10);
    assert_eq!(cubic.info(&conn)[2], 20);
}

#[test]
fn is_at_least_as_fast_as_standard_tcp() {
    let (mut cubic, mut conn) = epoch_at(20, 20, &[]);
    let mut slow = cubic.clone();
    assert_eq!(divisor_at(&mut slow, &conn, 20, 32), 2000, "the plateau alone");
    // 9 round trips of 20 segments: standard TCP with this cut adds 8 / 15 each.
    conn.now_us += 32_000;
    cubic.cong_avoid(&mut conn, 180);
    assert_eq!(cubic.info(&conn)[2], 20 / 4);
}

#[test]
fn cut_keeps_seven_tenths() {
    let mut cubic = instance("cubic", None, &[]);
    for (cwnd, expected) in [(1000, 700), (100, 70), (3, 2), (2, 2)] {
        assert_eq!(cubic.ssthresh(&avoiding(cwnd)), expected);
    }
}

#[test]
fn fast_convergence_aims_lower_after_a_lower_cut() {
    let (mut cubic, conn) = epoch_at(1000, 700, &[]);
    cubic.ssthresh(&avoiding(900));
    assert_eq!(cubic.info(&conn)[0], 900 * (1024 + 717) / 2048);
}

#[test]
fn looks_one_rtt_ahead() {
    let (mut ahead, conn) = epoch_at(1000, 700, &[("tcp_friendliness", 0)]);
    let mut later = Conn { now_us: conn.now_us + 1_000_000, ..conn };
    ahead.pkts_acked(&mut later, &ack(1, 100_000));
    let with_rtt = divisor_at(&mut ahead, &conn, 700, 1900);
    let (mut plain, conn) = epoch_at(1000, 700, &[("tcp_friendliness", 0)]);
    assert_eq!(with_rtt, divisor_at(&mut plain, &conn, 700, 2000));
}

#[test]
fn that_rtt_is_in_whole_milliseconds_rounded_up_and_in_the_versions_of_milliseconds_down() {
    let ahead = |hystart, rtt_us| {
        let settings = [("tcp_friendliness", 0), ("hystart", hystart)];
        let (mut cubic, conn) = epoch_at(200_000, 140_000, &settings);
        let mut later = Conn { now_us: conn.now_us + 1_000_000, ..conn };
        cubic.pkts_acked(&mut later, &ack(1, rtt_us));
        divisor_at(&mut cubic, &conn, 140_000, 40)
    };
    for (hystart, as_if_us) in [(0, 101_000), (1, 101_000), (2, 100_000), (3, 100_000)] {
        assert_eq!(ahead(hystart, 100_200), ahead(hystart, as_if_us));
    }
    assert_ne!(ahead(1, 100_200), ahead(1, 100_000));
}

#[test]
fn ignores_the_rtt_of_the_first_second_of_an_epoch() {
    let (mut cubic, mut conn) = epoch_at(1000, 700, &[]);
    conn.now_us += 999_000;
    cubic.pkts_acked(&mut conn, &ack(1, 100_000));
    assert_eq!(cubic.info(&conn)[3], 0);
    conn.now_us += 1_000;
    cubic.pkts_acked(&mut conn, &ack(1, 100_000));
    assert_eq!(cubic.info(&conn)[3], 100_000);
}

#[test]
fn clock_stops_while_idle() {
    let (mut idle, mut conn) = epoch_at(1000, 700, &[("tcp_friendliness", 0)]);
    let mut busy = idle.clone();
    let start = conn;
    // The last ACK came 100 ms after the last segment left. These 100 ms count as idle, too.
    conn.last_sent_ms = (start.now_us / 1_000) as u32 + 1_000;
    conn.now_us += 1_100_000;
    idle.pkts_acked(&mut conn, &ack(1, -1));
    conn.now_us += 6_900_000;
    idle.cwnd_event(&mut conn, CwndEvent::TxStart);
    assert_eq!(
        divisor_at(&mut idle, &start, 700, 9_000),
        divisor_at(&mut busy, &start, 700, 2_000)
    );
}

#[test]
fn timeout_forgets() {
    let (mut cubic, mut conn) = epoch_at(1000, 700, &[]);
    cubic.set_state(&mut conn, CaState::Loss);
    assert_eq!(cubic.info(&conn), [0; 4]);
}

#[test]
fn of_linux_2_6_26_keeps_four_fifths_and_divides_by_segments_per_ack() {
    let mut cubic = instance("cubic", Some("linux-2.6.26"), &[("tcp_friendliness", 0)]);
    cubic.init(&mut avoiding(10));
    assert_eq!(cubic.ssthresh(&avoiding(1000)), 799);
    let conn = avoiding(799);
    let at_plateau = divisor_at(&mut cubic, &conn, 1000, 10_000);
    assert_eq!(at_plateau, 100 * 1000 / 2);
}
