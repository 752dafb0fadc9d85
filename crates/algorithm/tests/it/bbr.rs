//! BBR, version 1.

use crate::instance;
use crate::path::Path;
use dumbbell_algorithm::{CaState, CwndEvent, RateSample};

const STARTUP: u32 = 0;
const DRAIN: u32 = 1;
const PROBE_BW: u32 = 2;
const PROBE_RTT: u32 = 3;
/// 10 Mbit/s in packets of 1514 bytes.
const TEN_MBIT: f64 = 10e6 / 8.0 / 1514.0;

fn path(settings: &[(&str, u32)], rate: f64, rtt_us: u32) -> Path {
    Path::new(instance("bbr", None, settings), rate, rtt_us)
}

/// A flow after filling and draining the pipe.
fn steady(settings: &[(&str, u32)]) -> Path {
    let mut path = path(settings, 10_000.0, 100_000);
    path.rounds(5);
    assert_eq!(path.info()[3], DRAIN);
    path.in_flight_segs = Some(0);
    path.round();
    assert_eq!(path.info()[3], PROBE_BW);
    path.in_flight_segs = Some(1_000);
    path
}

/// Let phases pass until the gain is `gain`.
fn until_gain(path: &mut Path, gain: u32) {
    for _ in 0..20 {
        if path.info()[2] == gain {
            return;
        }
        let sample = path.sample();
        path.after(u64::from(path.rtt_us) + 1, sample);
    }
    panic!("no phase with gain {gain}");
}

/// Window for a bandwidth-delay product, as the vectors of the fact sheet (3.14) have it: 3 chunks
/// more, rounded up to even.
fn window(rate: f64, rtt_us: u32, gain: u32) -> u32 {
    let mut path = path(&[("cwnd_gain", gain), ("extra_gain", 0)], rate, rtt_us);
    // Samples of one second give the exact rate.
    let sample = |path: &Path| RateSample {
        delivered_segs: rate.round() as i32,
        interval_us: 1_000_000,
        ..path.sample()
    };
    for _ in 0..5 {
        let sample = sample(&path);
        path.after(u64::from(rtt_us), sample);
    }
    path.in_flight_segs = Some(0);
    path.after(1, RateSample { interval_us: -1, ..path.sample() });
    // The phase above 1 ends when enough data is in flight.
    path.in_flight_segs = Some(1_000_000);
    until_gain(&mut path, 256);
    path.conn.cwnd_segs = u32::MAX / 2;
    path.after(1, RateSample { acked_sacked_segs: 1, interval_us: -1, ..path.sample() });
    path.conn.cwnd_segs
}

#[test]
fn the_window_is_the_product_and_three_chunks() {
    let even = |segs: u32| (segs + 1) & !1;
    // At a pacing rate of 10 Mbit/s, a chunk has two segments; at 10 Gbit/s it has 45 (64 KiB).
    assert_eq!(window(TEN_MBIT, 40_000, 256), even(34 + 6));
    assert_eq!(window(TEN_MBIT, 40_000, 512), even(67 + 6));
    assert_eq!(window(1000.0 * TEN_MBIT, 10_000, 256), even(8257 + 3 * 45));
    assert_eq!(window(1000.0 * TEN_MBIT, 20, 256), even(17 + 3 * 45));
}

#[test]
fn the_first_rate_is_a_window_per_round_trip_times_the_gain() {
    let path = path(&[], 1000.0, 50_000);
    let expected = 10.0 * 20.0 * 739.0 / 256.0 * 0.99;
    // 10 segments in 50 ms are 3355.4 / 2^24 per microsecond, rounded down.
    assert!((path.pace() * 1000.0 / expected - 1.0).abs() < 0.5 / 3355.0);
    assert_eq!(path.info()[3], STARTUP);
}

#[test]
fn startup_ends_when_three_round_trips_bring_no_quarter_more() {
    let mut path = path(&[], 100.0, 100_000);
    for _ in 0..6 {
        path.round();
        assert_eq!(path.info()[3], STARTUP);
        path.rate *= 1.3;
    }
    path.rate /= 1.3;
    path.rounds(2);
    assert_eq!(path.info()[3], STARTUP);
    path.round();
    assert_eq!(path.info()[3], DRAIN);
    assert!((path.pace() - 0.99 * 88.0 / 256.0).abs() < 0.02);
    // 37 segments and three chunks of two. BBR itself does not use ssthresh.
    assert_eq!(path.conn.ssthresh_segs, (path.pipe().round() as u32 + 6 + 1) & !1);
}

#[test]
fn rounds_of_an_application_with_little_to_say_do_not_fill_the_pipe() {
    let mut path = path(&[], 1000.0, 100_000);
    path.round();
    for _ in 0..10 {
        let sample = RateSample { is_app_limited: 1, ..path.sample() };
        path.after(100_000, sample);
    }
    assert_eq!(path.info()[3], STARTUP);
}

#[test]
fn a_cycle_begins_in_any_phase_but_the_one_below_the_rate() {
    let mut seen = [0; 8];
    for eighth in 0..64_u32 {
        let mut path = path(&[], 10_000.0, 100_000);
        path.conn.random = eighth << 26;
        path.rounds(5);
        path.in_flight_segs = Some(0);
        path.round();
        // Phases left until the one above 1 comes.
        path.in_flight_segs = Some(1_000);
        let mut left = 0;
        while path.info()[2] != 320 {
            let sample = path.sample();
            path.after(100_001, sample);
            left += 1;
        }
        seen[left] += 1;
    }
    assert_eq!(seen[7], 0, "the phase below, of which seven would be left");
    assert!(seen[..7].iter().all(|&count| count >= 9), "{seen:?}");
}

#[test]
fn the_phase_above_lasts_until_as_much_is_in_flight_or_something_is_lost() {
    let mut path = steady(&[]);
    until_gain(&mut path, 320);
    path.rounds(3);
    assert_eq!(path.info()[2], 320);
    path.in_flight_segs = Some(1_400);
    path.after(100_001, path.sample());
    assert_eq!(path.info()[2], 192);
    until_gain(&mut path, 320);
    path.in_flight_segs = Some(1_000);
    path.after(100_001, RateSample { losses_segs: 1, ..path.sample() });
    assert_eq!(path.info()[2], 192);
    // The phase below 1 ends as soon as the queue is empty.
    path.after(10, RateSample { prior_in_flight_segs: 900, ..path.sample() });
    assert_eq!(path.info()[2], 256);
}

#[test]
fn what_waits_for_pacing_is_not_in_flight_yet() {
    for (correction, gain) in [(1, 256), (0, 192)] {
        let mut path = steady(&[("edt_correction", correction)]);
        until_gain(&mut path, 320);
        path.in_flight_segs = Some(1_400);
        path.after(100_001, path.sample());
        // 50 ms at the rate of the path are 500 segments.
        path.conn.pacing_wait_us = 50_000;
        path.after(10, RateSample { prior_in_flight_segs: 1_400, ..path.sample() });
        assert_eq!(path.info()[2], gain, "correction {correction}");
    }
}

#[test]
fn the_rate_is_the_largest_of_ten_round_trips() {
    let mut path = steady(&[]);
    let before = path.info()[0];
    path.rate = 5_000.0;
    path.rounds(9);
    assert_eq!(path.info()[0], before);
    path.rounds(3);
    assert!((i64::from(path.info()[0]) - i64::from(before / 2)).abs() < 10);
    path.rate = 20_000.0;
    path.round();
    assert!((i64::from(path.info()[0]) - i64::from(before * 2)).abs() < 40);
}

#[test]
fn ten_seconds_without_the_smallest_rtt_make_the_window_small() {
    // The window bounds the room for aggregation, and a smaller window would reduce it.
    let mut path = steady(&[("extra_gain", 0)]);
    let window = path.conn.cwnd_segs;
    // Since the connection began, when the smallest RTT was measured.
    let left_us = 10_000_000 - path.conn.now_us;
    path.rounds(left_us as usize / 100_000);
    assert_ne!(path.info()[3], PROBE_RTT);
    path.rounds(10);
    assert_eq!((path.info()[3], path.conn.cwnd_segs), (PROBE_RTT, 4));
    assert!(path.conn.app_limited_segs > 0, "its samples do not count");
    path.in_flight_segs = Some(4);
    path.rounds(2);
    assert_eq!(path.info()[3], PROBE_RTT, "200 ms are not over");
    path.rounds(2);
    assert_eq!(path.info()[3], PROBE_BW);
    assert!(path.conn.cwnd_segs >= window);
}

#[test]
fn until_5_x_an_equal_rtt_counted_as_new() {
    let mut path = steady(&[("equal_rtt", 1)]);
    path.rounds(300);
    assert_eq!(path.info()[3], PROBE_BW);
}

#[test]
fn a_delayed_acknowledgement_is_no_new_rtt() {
    for (care, expected) in [(1, 100_000), (0, 140_000)] {
        let mut path = steady(&[("idle_care", care), ("probe_rtt_time", 0)]);
        let late = RateSample { rtt_us: 140_000, is_ack_delayed: 1, ..path.sample() };
        path.after(11_000_000, late);
        assert_eq!(path.info()[1], expected);
    }
}

#[test]
fn a_recovery_follows_what_is_in_flight_and_gives_the_window_back() {
    let mut path = steady(&[]);
    let window = path.conn.cwnd_segs;
    path.state(CaState::Recovery);
    path.in_flight_segs = Some(500);
    let mut sample = RateSample { losses_segs: 100, acked_sacked_segs: 10, ..path.sample() };
    sample.prior_delivered_segs = 0;
    path.after(1_000, sample);
    assert_eq!(path.conn.cwnd_segs, 510);
    path.state(CaState::Open);
    sample.losses_segs = 0;
    path.after(1_000, sample);
    assert_eq!(path.conn.cwnd_segs, window);
}

#[test]
fn a_timeout_forgets_neither_rate_nor_window() {
    let mut path = steady(&[]);
    let (window, rate) = (path.conn.cwnd_segs, path.info()[0]);
    path.state(CaState::Loss);
    assert_eq!(path.conn.cwnd_segs, 1);
    path.round();
    path.state(CaState::Open);
    path.round();
    assert!(path.conn.cwnd_segs >= window);
    assert_eq!(path.info()[0], rate);
}

#[test]
fn an_undo_leaves_the_window_and_looks_for_a_full_pipe_again() {
    let mut path = path(&[], 10_000.0, 100_000);
    path.rounds(3);
    path.conn.cwnd_segs = 77;
    assert_eq!(path.algorithm.undo_cwnd(&path.conn.clone()), 77);
    path.rounds(3);
    assert_eq!(path.info()[3], STARTUP);
    path.round();
    assert_eq!(path.info()[3], DRAIN);
}

#[test]
fn after_idle_time_a_flow_sends_at_the_rate_of_the_path() {
    let mut path = steady(&[]);
    until_gain(&mut path, 320);
    assert!(path.pace() > 1.2);
    path.conn.app_limited_segs = 1;
    path.algorithm.cwnd_event(&mut path.conn, CwndEvent::TxStart);
    assert!((path.pace() - 0.99).abs() < 0.01);
}

#[test]
fn a_policer_is_believed_after_two_equal_intervals_and_not_for_ever() {
    let mut path = steady(&[]);
    path.rate = 4_000.0;
    let lossy = |path: &Path| RateSample { losses_segs: 150, ..path.sample() };
    for _ in 0..9 {
        let sample = lossy(&path);
        path.after(100_000, sample);
    }
    let policed = f64::from(path.info()[0]) * 1000.0 / 8.0 / 1448.0;
    assert!((policed / 4_000.0 - 1.0).abs() < 0.02, "{policed}, not the largest of ten rounds");
    assert_eq!(path.info()[2], 256);
    path.rounds(44);
    assert_eq!(path.info()[2], 256);
    path.rounds(30);
    let sample = path.sample();
    path.after(100_001, sample);
    until_gain(&mut path, 320);
}

#[test]
fn a_few_losses_are_no_policer() {
    let mut path = steady(&[]);
    for _ in 0..9 {
        let sample = RateSample { losses_segs: 100, ..path.sample() };
        path.after(100_000, sample);
    }
    until_gain(&mut path, 320);
}

#[test]
fn the_window_makes_room_for_what_acknowledgements_bring_at_once() {
    let windows: Vec<u32> = [256, 0]
        .into_iter()
        .map(|gain| {
            let mut path = steady(&[("extra_gain", gain)]);
            // A pause ends the measurement. Then nothing is delivered for 50 ms and all of it at
            // once, as by an aggregating link.
            let mut pause_us = 300_000;
            for _ in 0..40 {
                let sample = RateSample { acked_sacked_segs: 500, ..path.sample() };
                path.after(pause_us, sample);
                pause_us = 50_000;
            }
            path.conn.cwnd_segs
        })
        .collect();
    assert!((400..=600).contains(&(windows[0] - windows[1])), "{windows:?}");
}

#[test]
fn presets_are_what_linux_4_14_was() {
    for preset in ["linux-4.14", "brakmo2017"] {
        let bbr = instance("bbr", Some(preset), &[]);
        let values: Vec<_> = bbr.parameters().collect();
        for (name, value) in [("extra_gain", 0), ("edt_correction", 0), ("up_room", 0)] {
            assert!(values.contains(&(name, value)), "{preset}: {name}");
        }
        assert!(values.contains(&("equal_rtt", 1)));
    }
}
