//! TCP Veno.

use crate::{ack, avoiding, grow, instance, round_trip};
use dumbbell_algorithm::{CaState, Conn, CwndEvent, Instance};

/// An instance in Open whose ACKs have one RTT, on a path of 100 ms.
fn feels(conn: &mut Conn, rtt_us: i32, settings: &[(&str, u32)]) -> Instance {
    let mut veno = instance("veno", None, settings);
    veno.init(conn);
    for _ in 0..3 {
        veno.pkts_acked(conn, &ack(1, 100_000));
    }
    veno.cong_avoid(conn, 0);
    veno.pkts_acked(conn, &ack(1, rtt_us));
    veno.cong_avoid(conn, 0);
    veno
}

#[test]
fn backlog_counts_in_half_segments_rounded_up() {
    for (rtt_us, halves) in [(100_000, 0), (101_000, 2), (102_000, 4), (103_000, 6), (200_000, 100)]
    {
        let mut conn = avoiding(100);
        let veno = feels(&mut conn, rtt_us, &[]);
        assert_eq!(veno.info(&conn)[0], halves, "RTT {rtt_us} us");
    }
}

#[test]
fn loss_without_backlog_keeps_four_fifths_and_a_timeout_too() {
    let mut conn = avoiding(100);
    let mut veno = feels(&mut conn, 102_000, &[]);
    assert_eq!(veno.ssthresh(&conn), 80);
    veno.set_state(&mut conn, CaState::Loss);
    assert_eq!(veno.ssthresh(&conn), 80);
    assert_eq!(feels(&mut conn, 103_000, &[]).ssthresh(&conn), 50);
    assert_eq!(feels(&mut conn, 103_000, &[("beta", 4)]).ssthresh(&conn), 80);
    assert_eq!(feels(&mut conn, 102_000, &[("kept", 90)]).ssthresh(&conn), 90);
    assert_eq!(feels(&mut avoiding(2), 102_000, &[]).ssthresh(&avoiding(2)), 2);
}

#[test]
fn without_backlog_it_grows_as_standard_tcp() {
    let mut conn = avoiding(100);
    let mut veno = feels(&mut conn, 102_000, &[]);
    for _ in 0..50 {
        veno.pkts_acked(&mut conn, &ack(2, 102_000));
        veno.cong_avoid(&mut conn, 2);
    }
    assert_eq!((conn.cwnd_segs, conn.cwnd_cnt), (101, 0));
}

/// Number of ACKs for each segment of growth.
fn acks_per_growth(veno: &mut Instance, conn: &mut Conn) -> Vec<u32> {
    let mut intervals = vec![0];
    while intervals.len() <= 4 {
        let window = conn.cwnd_segs;
        veno.pkts_acked(conn, &ack(1, 110_000));
        veno.cong_avoid(conn, 1);
        *intervals.last_mut().expect("never empty") += 1;
        if conn.cwnd_segs > window {
            intervals.push(0);
        }
    }
    intervals.truncate(4);
    intervals
}

#[test]
fn with_backlog_every_second_window_of_acks_earns_a_segment() {
    let mut conn = avoiding(100);
    let mut veno = feels(&mut conn, 110_000, &[]);
    assert_eq!(acks_per_growth(&mut veno, &mut conn), [101, 204, 206, 208]);
    let mut conn = avoiding(100);
    let mut veno = feels(&mut conn, 110_000, &[("congested_windows", 3)]);
    assert_eq!(acks_per_growth(&mut veno, &mut conn), [101, 306, 309, 312]);
}

#[test]
fn slow_start_does_not_ask_for_backlog() {
    let mut conn = Conn { ssthresh_segs: 200, ..avoiding(100) };
    let mut veno = feels(&mut conn, 150_000, &[]);
    assert_eq!(grow(&mut veno, &mut conn, 2, 25).pop(), Some((150, 0)));
}

#[test]
fn the_latest_ack_gives_the_backlog_in_linux() {
    let mut conn = avoiding(100);
    let mut veno = feels(&mut conn, 200_000, &[]);
    assert_eq!(veno.info(&conn)[0], 100);
    veno.pkts_acked(&mut conn, &ack(1, 100_000));
    veno.cong_avoid(&mut conn, 1);
    assert_eq!(veno.info(&conn)[0], 0);
    veno.cong_avoid(&mut conn, 1);
    assert_eq!(veno.info(&conn)[0], 200, "an ACK without a sample is one of congestion");
    assert_eq!(veno.ssthresh(&conn), 50);
}

#[test]
fn the_smallest_rtt_of_a_round_trip_decides_with_the_switch() {
    let mut conn = avoiding(100);
    let mut veno = feels(&mut conn, 100_000, &[("round_minimum", 1)]);
    round_trip(&mut veno, &mut conn, 200_000, 0);
    for (rtt_us, seen) in [(200_000, 0), (125_000, 0), (200_000, 0)] {
        veno.pkts_acked(&mut conn, &ack(1, rtt_us));
        veno.cong_avoid(&mut conn, 0);
        assert_eq!(veno.info(&conn)[0], seen);
    }
    round_trip(&mut veno, &mut conn, 200_000, 0);
    assert_eq!(veno.info(&conn)[0], 40, "1 - 100 / 125 of 200 halves");
}

#[test]
fn it_is_standard_tcp_unless_open_and_until_three_samples() {
    let mut conn = avoiding(100);
    let mut veno = instance("veno", None, &[]);
    veno.init(&mut conn);
    veno.pkts_acked(&mut conn, &ack(1, 100_000));
    veno.pkts_acked(&mut conn, &ack(1, 200_000));
    veno.cong_avoid(&mut conn, 0);
    assert_eq!(veno.info(&conn)[0], 0, "two samples");
    let mut veno = feels(&mut conn, 200_000, &[]);
    veno.set_state(&mut conn, CaState::Disorder);
    assert_eq!(grow(&mut veno, &mut conn, 100, 1).pop(), Some((101, 0)));
}

#[test]
fn what_was_sampled_before_a_loss_or_an_idle_time_still_suffices() {
    let mut conn = avoiding(100);
    let mut veno = feels(&mut conn, 200_000, &[]);
    veno.set_state(&mut conn, CaState::Open);
    veno.pkts_acked(&mut conn, &ack(1, 200_000));
    veno.cong_avoid(&mut conn, 0);
    assert_eq!(veno.info(&conn)[0], 100, "one sample of 200 ms after 100 ms");
    veno.cwnd_event(&mut conn, CwndEvent::TxStart);
    veno.pkts_acked(&mut conn, &ack(1, 200_000));
    veno.cong_avoid(&mut conn, 0);
    veno.pkts_acked(&mut conn, &ack(1, 250_000));
    veno.cong_avoid(&mut conn, 0);
    assert_eq!(veno.info(&conn)[0], 40, "of a path of 200 ms");
}

#[test]
fn idle_time_lets_the_first_congested_window_of_acks_earn_a_segment_again() {
    let congested = |event| {
        let mut conn = avoiding(100);
        let mut veno = feels(&mut conn, 110_000, &[]);
        conn.cwnd_cnt = 100;
        veno.pkts_acked(&mut conn, &ack(1, 110_000));
        veno.cong_avoid(&mut conn, 1);
        assert_eq!(conn.cwnd_segs, 101, "the first window of ACKs");
        if let Some(event) = event {
            veno.cwnd_event(&mut conn, event);
            veno.pkts_acked(&mut conn, &ack(1, 100_000));
            veno.cong_avoid(&mut conn, 0);
        }
        conn.cwnd_cnt = 101;
        veno.pkts_acked(&mut conn, &ack(1, 110_000));
        veno.cong_avoid(&mut conn, 1);
        conn.cwnd_segs
    };
    assert_eq!(congested(None), 101, "the second earns nothing");
    assert_eq!(congested(Some(CwndEvent::TxStart)), 102);
    assert_eq!(congested(Some(CwndEvent::CwndRestart)), 102);
    assert_eq!(congested(Some(CwndEvent::CompleteCwr)), 101);
}

#[test]
fn grows_only_while_the_window_is_in_use() {
    let mut conn = Conn { cwnd_limited: 0, ..avoiding(100) };
    let mut veno = feels(&mut conn, 110_000, &[]);
    assert_eq!(grow(&mut veno, &mut conn, 100, 5).pop(), Some((100, 0)));
}

#[test]
fn idle_forgets_the_path_and_undo_returns() {
    let mut conn = Conn { prior_cwnd_segs: 150, ..avoiding(100) };
    let mut veno = feels(&mut conn, 200_000, &[]);
    assert_eq!(veno.undo_cwnd(&conn), 150);
    veno.cwnd_event(&mut conn, CwndEvent::TxStart);
    assert_eq!(veno.info(&conn)[1], 0);
    veno.pkts_acked(&mut conn, &ack(1, 150_000));
    assert_eq!(veno.info(&conn)[1], 150_001);
}
