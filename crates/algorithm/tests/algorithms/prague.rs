//! TCP Prague.

use crate::{avoiding, instance};
use dumbbell_algorithm::{CaState, Conn, Instance, RateSample, SSTHRESH_INFINITE};

fn begin(settings: &[(&str, u32)], cwnd_segs: u32) -> (Instance, Conn) {
    let mut prague = instance("prague", None, settings);
    let mut conn = Conn { snd_nxt: 1000, srtt_us: 100_000, mss_bytes: 1000, ..avoiding(cwnd_segs) };
    prague.init(&mut conn);
    (prague, conn)
}

/// An ACK of some segments, `marked` of them marked, that ends a round trip if told to.
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

/// Window in 1/1024 segments.
fn window(prague: &Instance, conn: &Conn) -> u32 {
    conn.cwnd_segs * 1024 + prague.info(conn)[2]
}

#[test]
fn the_window_is_a_fraction() {
    let (mut prague, mut conn) = begin(&[], 100);
    hear(&mut prague, &mut conn, (50, 0), false);
    assert_eq!((conn.cwnd_segs, window(&prague, &conn)), (100, 100 * 1024 + 512));
    hear(&mut prague, &mut conn, (50, 0), false);
    assert_eq!(conn.cwnd_segs, 101);
    conn.cwnd_limited = false;
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
fn a_mark_cuts_by_half_of_alpha_once_per_round_trip() {
    let (mut prague, mut conn) = begin(&[("alpha_initial", 256)], 100);
    // The ACK without marks in it adds 1/100 first.
    hear(&mut prague, &mut conn, (2, 1), false);
    let after = (100 * 1024 + 10) * 7 / 8;
    assert!(window(&prague, &conn).abs_diff(after) <= 1);
    assert_eq!(conn.ssthresh_segs, conn.cwnd_segs);
    let before = window(&prague, &conn);
    hear(&mut prague, &mut conn, (1, 1), false);
    assert_eq!(window(&prague, &conn), before, "answered already");
    hear(&mut prague, &mut conn, (1, 1), true);
    assert!(window(&prague, &conn) < before);
}

#[test]
fn grows_during_a_reduction_but_not_during_repair() {
    let (mut prague, mut conn) = begin(&[("alpha_initial", 0)], 100);
    conn.state = CaState::Cwr;
    hear(&mut prague, &mut conn, (100, 0), false);
    assert_eq!(conn.cwnd_segs, 101);
    conn.state = CaState::Recovery;
    hear(&mut prague, &mut conn, (101, 0), false);
    assert_eq!(conn.cwnd_segs, 101);
}

/// Segments by which a window of 100 grows in one round trip of `srtt_us`, in 1/1024.
fn growth(settings: &[(&str, u32)], srtt_us: u32, trips: u32) -> u32 {
    let (mut prague, mut conn) = begin(settings, 100);
    conn.srtt_us = srtt_us;
    conn.cwnd_limited = false;
    for _ in 0..trips {
        hear(&mut prague, &mut conn, (100, 0), true);
    }
    conn.cwnd_limited = true;
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
    // (20 us / 25 ms)^2 of a segment a window: a segment in 1,562,500 windows
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
    for _ in 0..20 {
        let before = window(&prague, &conn);
        hear(&mut prague, &mut conn, (1, 1), true);
        cuts += u32::from(window(&prague, &conn) < before);
    }
    assert_eq!(cuts, 4, "in 100 ms of 25");
}

#[test]
fn loss_halves_once_and_at_once() {
    let (mut prague, mut conn) = begin(&[], 101);
    assert_eq!(prague.ssthresh(&conn), 101);
    prague.set_state(&mut conn, CaState::Recovery);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (50, 50));
    assert_eq!(window(&prague, &conn), 50 * 1024 + 512);
    conn.state = CaState::Recovery;
    prague.set_state(&mut conn, CaState::Recovery);
    assert_eq!(conn.cwnd_segs, 50);
    assert_eq!(prague.undo_cwnd(&conn), 101);
    hear(&mut prague, &mut conn, (2, 2), true);
    assert_eq!(conn.cwnd_segs, 50, "marks during repair are of the same congestion");
}

#[test]
fn a_loss_that_a_probe_repaired_halves_and_a_mark_does_not_yet() {
    let (mut prague, mut conn) = begin(&[], 100);
    conn.delivered_ce_segs = 1;
    prague.set_state(&mut conn, CaState::Cwr);
    assert_eq!(conn.cwnd_segs, 100, "cong_control cuts for a mark");
    let (mut prague, mut conn) = begin(&[], 100);
    prague.set_state(&mut conn, CaState::Cwr);
    assert_eq!(conn.cwnd_segs, 50);
}

#[test]
fn after_a_timeout_slow_start_leads_to_half_the_window() {
    let (mut prague, mut conn) = begin(&[], 100);
    conn = Conn { prior_cwnd_segs: 100, cwnd_segs: 1, ..conn };
    prague.set_state(&mut conn, CaState::Loss);
    conn.state = CaState::Loss;
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (1, 50));
    hear(&mut prague, &mut conn, (1, 0), false);
    assert_eq!(conn.cwnd_segs, 2);
    assert_eq!(prague.undo_cwnd(&conn), 100);
}

#[test]
fn paces_at_the_window_per_rtt_and_at_twice_that_in_slow_start() {
    let pace = |settings: &[(&str, u32)], ssthresh_segs| {
        let (mut prague, mut conn) = begin(settings, 100);
        conn.ssthresh_segs = ssthresh_segs;
        hear(&mut prague, &mut conn, (0, 0), false);
        conn.pacing_rate_bytes_per_s
    };
    assert_eq!(pace(&[], 100), 1_000_000);
    assert_eq!(pace(&[], SSTHRESH_INFINITE), 2_000_000);
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
