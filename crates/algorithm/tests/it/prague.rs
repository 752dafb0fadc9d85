//! TCP Prague.

use crate::{avoiding, instance};
use dumbbell_algorithm::{CaState, Conn, CwndEvent, Instance, RateSample, SSTHRESH_INFINITE};

fn begin(settings: &[(&str, u32)], cwnd_segs: u32) -> (Instance, Conn) {
    let mut prague = instance("prague", None, settings);
    let mut conn = Conn { snd_nxt: 1000, srtt_us: 100_000, mss_bytes: 1000, ..avoiding(cwnd_segs) };
    prague.init(&mut conn);
    (prague, conn)
}

/// Take an ACK of `acked` segments, `marked` of them marked. It ends a round trip if `ends_trip`.
fn hear(prague: &mut Instance, conn: &mut Conn, (acked, marked): (u32, u32), ends_trip: bool) {
    conn.delivered_segs += u64::from(acked);
    conn.delivered_ce_segs += u64::from(marked);
    if ends_trip {
        conn.now_us += u64::from(conn.srtt_us);
        conn.snd_una = conn.snd_nxt;
        conn.snd_nxt = conn.snd_nxt.wrapping_add(1000);
    }
    let sample = RateSample { acked_sacked_segs: acked, ..RateSample::default() };
    prague.cong_control(conn, &sample);
}

/// The fractional window in 1/1024 segments.
fn window(prague: &Instance, conn: &Conn) -> u32 {
    prague.info(conn)[2]
}

/// Enter another congestion state.
fn enter(prague: &mut Instance, conn: &mut Conn, state: CaState) {
    prague.set_state(conn, state);
    conn.state = state;
}

/// Take a mark in a new window: the stack enters the state, then processes the ACK.
fn mark(prague: &mut Instance, conn: &mut Conn, ends_trip: bool) {
    conn.state = CaState::Open;
    if ends_trip {
        conn.now_us += u64::from(conn.srtt_us);
    }
    enter(prague, conn, CaState::Cwr);
    hear(prague, conn, (1, 1), false);
}

#[test]
fn the_window_is_a_fraction() {
    let (mut prague, mut conn) = begin(&[], 100);
    hear(&mut prague, &mut conn, (50, 0), false);
    assert_eq!(window(&prague, &conn), 100 * 1024 + 512);
    assert_eq!(conn.cwnd_segs, 101, "rounded up");
    hear(&mut prague, &mut conn, (50, 0), false);
    assert_eq!((conn.cwnd_segs, window(&prague, &conn)), (101, 101 * 1024 - 6));
    conn.cwnd_limited = 0;
    let before = window(&prague, &conn);
    hear(&mut prague, &mut conn, (50, 0), false);
    assert_eq!(window(&prague, &conn), before, "growth is earned");
}

#[test]
fn alpha_follows_the_share_of_marks() {
    let (mut prague, mut conn) = begin(&[("alpha_initial", 0)], 100);
    let alphas: Vec<_> = (0..300)
        .map(|_| {
            hear(&mut prague, &mut conn, (1000, 300), true);
            prague.info(&conn)[0]
        })
        .collect();
    assert_eq!(alphas[..4], [19, 37, 54, 69]);
    assert_eq!(alphas[299], 307, "0.3, not 304 as in 1/1024");
}

#[test]
fn alpha_waits_for_the_first_mark() {
    let (mut prague, mut conn) = begin(&[], 100);
    for _ in 0..20 {
        hear(&mut prague, &mut conn, (100, 0), true);
    }
    assert_eq!(prague.info(&conn)[0], 1024, "nothing is known of a queue that marks");
    let before = window(&prague, &conn);
    enter(&mut prague, &mut conn, CaState::Cwr);
    assert!(window(&prague, &conn).abs_diff(before / 2) <= 1, "the first mark halves");
    hear(&mut prague, &mut conn, (100, 50), true);
    assert_eq!(prague.info(&conn)[0], 1024 - 1024 / 16 + 512 / 16);
    hear(&mut prague, &mut conn, (100, 0), true);
    assert_eq!(prague.info(&conn)[0], 992 - 992 / 16, "it decays from then on");
}

#[test]
fn a_mark_cuts_by_half_of_alpha() {
    let (mut prague, mut conn) = begin(&[("alpha_initial", 256)], 100);
    enter(&mut prague, &mut conn, CaState::Cwr);
    assert_eq!(window(&prague, &conn), 100 * 1024 * 7 / 8);
    enter(&mut prague, &mut conn, CaState::Cwr);
    assert_eq!(window(&prague, &conn), 100 * 1024 * 7 / 8, "once for each time of that state");
}

#[test]
fn the_window_in_force_follows_the_fraction_by_a_segment_per_ack() {
    let (mut prague, mut conn) = begin(&[("alpha_initial", 64)], 100);
    enter(&mut prague, &mut conn, CaState::Cwr);
    assert_eq!(window(&prague, &conn), 100 * 1024 * 31 / 32, "96.875");
    assert_eq!(conn.cwnd_segs, 100);
    let windows: Vec<_> = (0..5)
        .map(|_| {
            hear(&mut prague, &mut conn, (1, 1), false);
            assert_eq!(conn.ssthresh_segs, if conn.cwnd_segs < 100 { conn.cwnd_segs } else { 2 });
            conn.cwnd_segs
        })
        .collect();
    assert_eq!(windows, [99, 98, 97, 97, 97]);
}

#[test]
fn a_window_of_two_remains() {
    let (mut prague, mut conn) = begin(&[], 2);
    for _ in 0..5 {
        mark(&mut prague, &mut conn, true);
    }
    assert_eq!(conn.cwnd_segs, 2);
    assert!(window(&prague, &conn) < 100, "pacing goes below");
    assert!(conn.pacing_rate_bytes_per_s < 2 * 1000 * 10 / 10);
}

#[test]
fn grows_during_a_reduction_but_not_during_repair() {
    let (mut prague, mut conn) = begin(&[("alpha_initial", 0)], 100);
    conn.state = CaState::Cwr;
    hear(&mut prague, &mut conn, (100, 0), false);
    assert_eq!(conn.cwnd_segs, 101);
    for state in [CaState::Recovery, CaState::Loss] {
        conn.state = state;
        hear(&mut prague, &mut conn, (101, 0), false);
        assert_eq!(window(&prague, &conn), 101 * 1024);
    }
}

#[test]
fn slow_start_carries_the_fraction_along_and_its_rounds_do_not_count() {
    let (mut prague, mut conn) = begin(&[("transition_rounds", 2)], 10);
    conn.ssthresh_segs = 1000;
    conn.srtt_us = 5_000;
    for _ in 0..5 {
        hear(&mut prague, &mut conn, (10, 0), true);
    }
    assert_eq!((conn.cwnd_segs, window(&prague, &conn)), (60, 60 * 1024));
    conn.ssthresh_segs = 60;
    hear(&mut prague, &mut conn, (0, 0), true);
    assert_eq!(prague.info(&conn)[1], 0, "one round of congestion avoidance");
    hear(&mut prague, &mut conn, (0, 0), true);
    assert_eq!(prague.info(&conn)[1], 25_000, "two");
}

/// Segments by which a window of 100 grows in one round trip of `srtt_us`, in 1/1024.
fn growth(settings: &[(&str, u32)], srtt_us: u32, trips: u32) -> u32 {
    let (mut prague, mut conn) = begin(settings, 100);
    conn.srtt_us = srtt_us;
    conn.cwnd_limited = 0;
    for _ in 0..trips {
        hear(&mut prague, &mut conn, (100, 0), true);
    }
    conn.cwnd_limited = 1;
    hear(&mut prague, &mut conn, (100, 0), false);
    window(&prague, &conn) - 100 * 1024
}

#[test]
fn short_paths_grow_by_the_square_of_their_rtt_after_the_transition() {
    assert!(growth(&[], 5_000, 499).abs_diff(1024) <= 1, "before it, a segment");
    assert!(growth(&[], 5_000, 500).abs_diff(1024 / 25) <= 1);
    assert!(growth(&[], 12_500, 500).abs_diff(1024 / 4) <= 1);
    assert!(growth(&[], 25_000, 500).abs_diff(1024) <= 1);
    assert!(growth(&[], 80_000, 500).abs_diff(1024) <= 1, "long paths as before");
    assert!(growth(&[("rtt_virtual", 0)], 5_000, 500).abs_diff(1024) <= 1);
    assert!(growth(&[("transition_rounds", 0)], 5_000, 0).abs_diff(1024 / 25) <= 1);
}

#[test]
fn growth_at_twenty_microseconds_is_not_lost_in_rounding() {
    let (mut prague, mut conn) = begin(&[("transition_rounds", 0)], 100);
    conn.srtt_us = 20;
    // (20 us / 25 ms)^2 of a segment per window: one segment in 1,562,500 windows.
    for _ in 0..15_625 {
        hear(&mut prague, &mut conn, (100, 0), false);
    }
    let grown = window(&prague, &conn) - 100 * 1024;
    assert!(grown.abs_diff(1024 / 100) <= 2, "{grown}");
}

#[test]
fn on_short_paths_a_cut_is_once_per_virtual_rtt() {
    let (mut prague, mut conn) = begin(&[("transition_rounds", 0), ("alpha_initial", 512)], 1000);
    conn.srtt_us = 5_000;
    let mut cuts = 0;
    conn.now_us = 1_000_000;
    for _ in 0..20 {
        let before = window(&prague, &conn);
        mark(&mut prague, &mut conn, true);
        cuts += u32::from(window(&prague, &conn) < before);
    }
    assert_eq!(cuts, 4, "in 100 ms of 25");
}

#[test]
fn loss_halves_once() {
    let (mut prague, mut conn) = begin(&[], 101);
    assert_eq!(prague.ssthresh(&conn), 101);
    enter(&mut prague, &mut conn, CaState::Recovery);
    assert_eq!(window(&prague, &conn), 50 * 1024 + 512);
    enter(&mut prague, &mut conn, CaState::Recovery);
    assert_eq!(window(&prague, &conn), 50 * 1024 + 512);
    for _ in 0..60 {
        hear(&mut prague, &mut conn, (2, 2), false);
    }
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (51, 51), "by a segment per ACK");
    assert_eq!(prague.undo_cwnd(&conn), 101);
    assert_eq!(window(&prague, &conn), 101 * 1024, "an undo gives the fraction back");
}

#[test]
fn a_timeout_leads_back_to_half_the_window_by_a_segment_per_ack() {
    let (mut prague, mut conn) = begin(&[], 100);
    prague.cwnd_event(&mut conn, CwndEvent::Loss);
    assert_eq!((window(&prague, &conn), conn.ssthresh_segs), (50 * 1024, 50));
    conn.cwnd_segs = 1;
    enter(&mut prague, &mut conn, CaState::Loss);
    enter(&mut prague, &mut conn, CaState::Loss);
    assert_eq!(window(&prague, &conn), 50 * 1024, "the next timeout of a series is no new one");
    for _ in 0..60 {
        hear(&mut prague, &mut conn, (1, 0), false);
    }
    assert_eq!(conn.cwnd_segs, 50);
    assert_eq!(prague.undo_cwnd(&conn), 100);
}

#[test]
fn paces_at_the_window_per_rtt_and_at_twice_that_below_half_of_ssthresh() {
    let pace = |settings: &[(&str, u32)], ssthresh_segs| {
        let (mut prague, mut conn) = begin(settings, 100);
        conn.ssthresh_segs = ssthresh_segs;
        hear(&mut prague, &mut conn, (0, 0), false);
        conn.pacing_rate_bytes_per_s
    };
    assert_eq!([100, 201].map(|ssthresh| pace(&[], ssthresh)), [1_000_000; 2]);
    assert_eq!([202, SSTHRESH_INFINITE].map(|ssthresh| pace(&[], ssthresh)), [2_000_000; 2]);
    assert_eq!(pace(&[("pacing", 120)], 100), 1_200_000);
}

#[test]
fn the_ablation_gives_each_flow_its_own_rtt() {
    let values = instance("prague", Some("own-rtt"), &[]);
    assert_eq!(
        values.parameters().find(|(name, _)| *name == "rtt_virtual").map(|it| it.1),
        Some(0)
    );
}
