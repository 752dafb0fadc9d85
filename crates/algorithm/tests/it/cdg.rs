//! CDG.

use crate::{ack, avoiding, grow, instance};
use dumbbell_algorithm::{CaState, Conn, CwndEvent, Instance, SSTHRESH_INFINITE};

/// With this random number, an RTT never reduces the window. With 2^32 - 1 it always does.
const NEVER: u32 = 0;
const ALWAYS: u32 = u32::MAX;

fn begun(cwnd_segs: u32, settings: &[(&str, u32)]) -> (Instance, Conn) {
    let mut cdg = instance("cdg", None, settings);
    let mut conn = avoiding(cwnd_segs);
    conn.now_us = 1_000_000;
    cdg.init(&mut conn);
    (cdg, conn)
}

/// Play a round trip with these RTTs; return the window.
fn round(cdg: &mut Instance, conn: &mut Conn, rtts_us: (i32, i32), random: u32) -> u32 {
    for rtt_us in [rtts_us.0, rtts_us.1] {
        cdg.pkts_acked(conn, &ack(2, rtt_us));
    }
    conn.random = random;
    conn.now_us += rtts_us.0 as u64;
    conn.snd_una = conn.snd_nxt.wrapping_add(1);
    conn.snd_nxt = conn.snd_una.wrapping_add(conn.cwnd_segs * conn.mss_bytes);
    cdg.cong_avoid(conn, 0);
    conn.cwnd_segs
}

/// Play rounds with the RTT of the path until all gradients are 0.
fn settle(cdg: &mut Instance, conn: &mut Conn) {
    for _ in 0..10 {
        round(cdg, conn, (100_000, 100_000), NEVER);
    }
}

/// The smallest random number with which a gradient reduces the window.
fn turning_point(gradient_us: i32, factor: u32) -> f64 {
    let (mut cdg, mut conn) = begun(100, &[("window", 1), ("backoff_factor", factor)]);
    settle(&mut cdg, &mut conn);
    let falls = |random: u32| {
        let (mut cdg, mut conn) = (cdg.clone(), conn);
        let rtt_us = 100_000 + gradient_us;
        round(&mut cdg, &mut conn, (rtt_us, rtt_us), random) < 100
    };
    let (mut low, mut high) = (0_u64, 1_u64 << 32);
    while low < high {
        let middle = (low + high) / 2;
        if falls(middle as u32) { high = middle } else { low = middle + 1 }
    }
    low as f64 / 2_f64.powi(32)
}

#[test]
fn the_probability_to_stay_is_the_exponential_to_eleven_millionths() {
    for factor in [1, 42, 997] {
        for gradient_us in (1..400_000).step_by(7_919).chain(1..40) {
            let exact = (-1e-6 * f64::from(factor) * f64::from(gradient_us)).exp();
            let off = turning_point(gradient_us, factor) - exact;
            assert!((-1e-9..=1.1e-5).contains(&off), "{factor} x {gradient_us} us: off by {off}");
        }
    }
}

#[test]
fn a_gradient_beyond_any_backs_off_for_certain() {
    assert!(turning_point(2_000_000_000, 1_000_000) < 1e-9);
}

#[test]
fn rising_rtts_keep_seven_tenths_of_the_window() {
    let (mut cdg, mut conn) = begun(1000, &[]);
    settle(&mut cdg, &mut conn);
    assert_eq!(round(&mut cdg, &mut conn, (101_000, 101_000), ALWAYS), 1000 * 724 / 1024);
    assert_eq!((conn.ssthresh_segs, cdg.info(&conn)[0]), (707, 1000), "the shadow stays");
    let (mut cdg, mut conn) = begun(1000, &[("kept", 512)]);
    settle(&mut cdg, &mut conn);
    assert_eq!(round(&mut cdg, &mut conn, (101_000, 101_000), ALWAYS), 500);
    let (mut cdg, mut conn) = begun(2, &[]);
    settle(&mut cdg, &mut conn);
    assert_eq!(round(&mut cdg, &mut conn, (101_000, 101_000), ALWAYS), 2);
}

#[test]
fn steady_and_falling_rtts_leave_the_window() {
    let (mut cdg, mut conn) = begun(1000, &[]);
    settle(&mut cdg, &mut conn);
    assert_eq!(round(&mut cdg, &mut conn, (100_000, 100_000), ALWAYS), 1000);
    assert_eq!(round(&mut cdg, &mut conn, (90_000, 100_000), ALWAYS), 1000);
}

#[test]
fn the_largest_rtt_counts_where_the_smallest_does_not_rise() {
    let (mut cdg, mut conn) = begun(1000, &[]);
    settle(&mut cdg, &mut conn);
    assert_eq!(round(&mut cdg, &mut conn, (100_000, 120_000), ALWAYS), 707);
}

#[test]
fn gradients_of_the_window_are_added_up() {
    let rises = |settings: &[(&str, u32)], rounds: u32| {
        let (mut cdg, mut conn) = begun(1000, settings);
        settle(&mut cdg, &mut conn);
        for _ in 0..rounds {
            round(&mut cdg, &mut conn, (101_000, 101_000), NEVER);
        }
        round(&mut cdg, &mut conn, (101_000, 101_000), ALWAYS)
    };
    assert_eq!(rises(&[], 7), 707, "the rise is the eighth last");
    assert_eq!(rises(&[], 8), 1000, "and now forgotten");
    assert_eq!(rises(&[("window", 3)], 2), 707);
    assert_eq!(rises(&[("window", 3)], 3), 1000);
}

#[test]
fn gradients_not_yet_known_are_taken_for_the_mean_of_the_others() {
    // One gradient of 1 ms, times 8 for the missing ones: exp(-0.336) = 0.7146.
    let falls = |random: f64| {
        let (mut cdg, mut conn) = begun(1000, &[]);
        round(&mut cdg, &mut conn, (100_000, 100_000), ALWAYS);
        let random = (random * 2_f64.powi(32)) as u32;
        round(&mut cdg, &mut conn, (101_000, 101_000), random) < 1000
    };
    assert_eq!((falls(0.714), falls(0.715)), (false, true));
}

#[test]
fn after_a_backoff_a_round_trip_passes_without_growth_or_gradient() {
    let (mut cdg, mut conn) = begun(1000, &[]);
    settle(&mut cdg, &mut conn);
    round(&mut cdg, &mut conn, (101_000, 101_000), ALWAYS);
    grow(&mut cdg, &mut conn, 10, 200);
    assert_eq!(conn.cwnd_segs, 707);
    assert_eq!(round(&mut cdg, &mut conn, (140_000, 140_000), ALWAYS), 707, "its end");
    grow(&mut cdg, &mut conn, 7, 101);
    assert_eq!(conn.cwnd_segs, 708);
    conn.cwnd_segs = 700;
    for _ in 0..8 {
        round(&mut cdg, &mut conn, (140_000, 140_000), NEVER);
    }
    assert_eq!(
        round(&mut cdg, &mut conn, (140_000, 140_000), ALWAYS),
        700,
        "the rise during the backoff is no gradient"
    );
}

#[test]
fn a_loss_in_the_round_trip_of_a_backoff_belongs_to_it() {
    let (mut cdg, mut conn) = begun(1000, &[]);
    settle(&mut cdg, &mut conn);
    round(&mut cdg, &mut conn, (101_000, 101_000), ALWAYS);
    assert_eq!(cdg.ssthresh(&conn), 707);
    cdg.cwnd_event(&mut conn, CwndEvent::CompleteCwr);
    assert_eq!(cdg.ssthresh(&conn), 500, "the next one is its own: half of the shadow");
}

#[test]
fn ineffective_backoffs_are_left_out_until_the_rtt_falls() {
    let backoffs = |settings: &[(&str, u32)]| {
        let (mut cdg, mut conn) = begun(1000, settings);
        settle(&mut cdg, &mut conn);
        let mut rtt_us = 100_000;
        let mut count = 0;
        for _ in 0..40 {
            rtt_us += 1000;
            conn.cwnd_segs = 1000;
            let fell = round(&mut cdg, &mut conn, (rtt_us, rtt_us), ALWAYS) < 1000;
            count += u32::from(fell);
        }
        (cdg, conn, count)
    };
    let (mut cdg, mut conn, count) = backoffs(&[]);
    assert_eq!(count, 5);
    for _ in 0..2 {
        round(&mut cdg, &mut conn, (50_000, 50_000), NEVER);
    }
    assert_eq!(cdg.info(&conn)[1], 0);
    assert_eq!(backoffs(&[("ineffective", 2)]).2, 2);
    assert_eq!(backoffs(&[("ineffective", 0)]).2, 20, "every other round trip, to the end");
}

#[test]
fn a_loss_cuts_to_half_of_the_shadow_window() {
    let (mut cdg, mut conn) = begun(1000, &[]);
    assert_eq!(cdg.ssthresh(&conn), 500);
    for (settings, expected) in [(&[][..], 500), (&[("shadow", 0)][..], 353)] {
        let (mut cdg, mut conn) = begun(1000, settings);
        settle(&mut cdg, &mut conn);
        round(&mut cdg, &mut conn, (101_000, 101_000), ALWAYS);
        round(&mut cdg, &mut conn, (101_000, 101_000), NEVER);
        assert_eq!((conn.cwnd_segs, cdg.ssthresh(&conn)), (707, expected));
    }
    conn.cwnd_segs = 300;
    assert_eq!(cdg.ssthresh(&conn), 250, "half of the half");
    conn.cwnd_segs = 50;
    assert_eq!(cdg.ssthresh(&conn), 50, "never beyond the window itself");
}

#[test]
fn the_shadow_window_grows_along_and_not_when_the_application_is_the_limit() {
    let (mut cdg, mut conn) = begun(100, &[]);
    grow(&mut cdg, &mut conn, 100, 3);
    assert_eq!((conn.cwnd_segs, cdg.info(&conn)[0]), (102, 102));
    conn.cwnd_segs = 60;
    conn.cwnd_limited = 0;
    cdg.cong_avoid(&mut conn, 1);
    assert_eq!((conn.cwnd_segs, cdg.info(&conn)[0]), (60, 60));
}

#[test]
fn tolerance_leaves_the_window_unless_the_queue_seems_full() {
    for (rtts_us, expected) in [
        ((101_000, 101_000), 1000), // both rise: it fills
        ((99_000, 99_000), 1000),   // the largest falls: it empties
        ((101_000, 100_000), 500),  // the smallest alone rises: it is full
        ((100_010, 100_010), 500),  // noise: nothing is known
    ] {
        let (mut cdg, mut conn) = begun(1000, &[("tolerance", 1)]);
        settle(&mut cdg, &mut conn);
        round(&mut cdg, &mut conn, rtts_us, NEVER);
        assert_eq!(cdg.ssthresh(&conn), expected, "{rtts_us:?}");
    }
    let (mut cdg, mut conn) = begun(1000, &[]);
    settle(&mut cdg, &mut conn);
    round(&mut cdg, &mut conn, (99_000, 99_000), NEVER);
    assert_eq!(cdg.ssthresh(&conn), 500);
}

#[test]
fn acks_that_look_delayed_count_for_the_smallest_rtt_alone() {
    let (mut cdg, mut conn) = begun(100, &[]);
    settle(&mut cdg, &mut conn);
    cdg.pkts_acked(&mut conn, &ack(1, 140_000));
    cdg.pkts_acked(&mut conn, &ack(2, 100_000));
    cdg.pkts_acked(&mut conn, &ack(1, 99_000));
    assert_eq!(round(&mut cdg, &mut conn, (100_000, 100_000), ALWAYS), 100);
    assert_eq!(cdg.info(&conn)[2], 99_000);
    conn.state = CaState::Disorder;
    cdg.pkts_acked(&mut conn, &ack(1, 140_000));
    assert_eq!(round(&mut cdg, &mut conn, (100_000, 100_000), ALWAYS), 70, "it counts as 140 ms");
}

#[test]
fn a_restart_after_idle_forgets_all() {
    let (mut cdg, mut conn) = begun(1000, &[]);
    settle(&mut cdg, &mut conn);
    round(&mut cdg, &mut conn, (101_000, 101_000), NEVER);
    conn.cwnd_segs = 10;
    cdg.cwnd_event(&mut conn, CwndEvent::CwndRestart);
    assert_eq!(cdg.info(&conn), [10, 0, 0, 0]);
    assert_eq!(round(&mut cdg, &mut conn, (500_000, 500_000), ALWAYS), 10, "no RTT before");
}

/// Slow start from 10 segments: the window at its end, or 0 if it does not end.
fn slow_start(settings: &[(&str, u32)], rtt_us: impl Fn(u32) -> i32, gap_us: u64) -> u32 {
    let (mut cdg, mut conn) = begun(10, settings);
    conn.ssthresh_segs = SSTHRESH_INFINITE;
    conn.random = NEVER;
    for trip in 0..8 {
        let start_us = conn.now_us;
        conn.snd_una = conn.snd_nxt.wrapping_add(1);
        conn.snd_nxt = conn.snd_una.wrapping_add(conn.cwnd_segs * conn.mss_bytes);
        for _ in 0..conn.cwnd_segs {
            conn.now_us += gap_us;
            cdg.pkts_acked(&mut conn, &ack(2, rtt_us(trip)));
            cdg.cong_avoid(&mut conn, 1);
            if conn.ssthresh_segs < SSTHRESH_INFINITE {
                return conn.ssthresh_segs;
            }
        }
        conn.now_us = conn.now_us.max(start_us + 100_000);
    }
    0
}

#[test]
fn slow_start_ends_when_acks_follow_each_other_for_half_the_rtt() {
    let ends = slow_start(&[], |_| 100_000, 1000);
    // The train of a window of w ACKs 1 ms apart lasts w - 1 ms: from 52 on it exceeds 50.
    assert!((80..=160).contains(&ends), "{ends}");
    assert_eq!(slow_start(&[], |_| 100_000, 4000), 0, "gaps of 4 ms end the train");
    assert_eq!(slow_start(&[("hystart_detect", 2)], |_| 100_000, 1000), 0);
    assert_eq!(slow_start(&[("hystart_detect", 0)], |_| 100_000, 1000), 0);
}

#[test]
fn slow_start_ends_when_the_rtt_is_an_eighth_above_that_of_the_path() {
    let rising = |trip: u32| if trip < 2 { 100_000 } else { 113_000 };
    let ends = slow_start(&[], rising, 10);
    assert!((48..=60).contains(&ends), "eight samples after the first of 40: {ends}");
    let little = |trip: u32| if trip < 2 { 100_000 } else { 112_000 };
    assert_eq!(slow_start(&[], little, 10), 0);
    assert_eq!(slow_start(&[("hystart_detect", 1)], rising, 10), 0);
}

#[test]
fn undo_gives_back() {
    let (cdg, mut conn) = begun(50, &[]);
    conn.prior_cwnd_segs = 100;
    assert_eq!({ cdg }.undo_cwnd(&conn), 100);
}
