//! BBR, version 3.

use crate::instance;
use crate::path::Path;
use dumbbell_algorithm::{CaState, CwndEvent, RateSample};

const STARTUP: u32 = 0;
const DRAIN: u32 = 1;
const DOWN: u32 = 2;
const CRUISE: u32 = 3;
const REFILL: u32 = 4;
const UP: u32 = 5;
const PROBE_RTT: u32 = 6;

/// A path of 1000 segments.
fn path(settings: &[(&str, u32)]) -> Path {
    Path::new(instance("bbr3", None, settings), 10_000.0, 100_000)
}

/// A flow in ProbeBW_CRUISE.
fn cruising(settings: &[(&str, u32)]) -> Path {
    let mut path = path(settings);
    path.rounds(5);
    assert_eq!(path.info()[3], DRAIN);
    path.in_flight_segs = Some(900);
    path.rounds(2);
    assert_eq!(path.info()[3], CRUISE);
    path.in_flight_segs = Some(1_000);
    path
}

fn until(path: &mut Path, mode: u32) {
    for _ in 0..100 {
        if path.info()[3] == mode {
            return;
        }
        path.round();
    }
    panic!("never in mode {mode}");
}

fn lossy(path: &Path, losses_segs: u32) -> RateSample {
    RateSample { losses_segs, ..path.sample() }
}

#[test]
fn the_first_rate_is_a_window_per_round_trip_times_the_gain() {
    let path = path(&[]);
    assert!((path.pace() * 10_000.0 / (100.0 * 710.0 / 256.0 * 0.99) - 1.0).abs() < 1e-3);
    assert_eq!(path.info()[3], STARTUP);
}

#[test]
fn a_cycle_is_down_cruise_refill_and_up() {
    let mut path = cruising(&[]);
    assert!((path.pace() - 0.99).abs() < 0.01);
    let begun = path.conn.now_us;
    until(&mut path, REFILL);
    let waited = path.conn.now_us - begun;
    assert!((1_800_000..=3_100_000).contains(&waited), "{waited} us between probes");
    path.round();
    assert_eq!(path.info()[3], UP);
    assert!((path.pace() - 0.99 * 1.25).abs() < 0.01);
    path.rounds(3);
    assert_eq!(path.info()[3], DOWN, "three rounds without a quarter more");
    assert!((path.pace() - 0.99 * 232.0 / 256.0).abs() < 0.01);
    path.round();
    assert_eq!(path.info()[3], CRUISE);
}

#[test]
fn on_a_small_path_probes_come_as_often_as_reno_s() {
    let mut path = Path::new(instance("bbr3", None, &[]), 200.0, 100_000);
    path.rounds(5);
    path.in_flight_segs = Some(10);
    until(&mut path, CRUISE);
    let begun = path.conn.now_us;
    until(&mut path, REFILL);
    assert!(path.conn.now_us - begun <= 2_000_000, "20 segments, 20 round trips");
}

#[test]
fn many_lossy_acks_in_a_recovery_end_startup() {
    for (per_ack, mode) in [(10, DRAIN), (1, STARTUP)] {
        let mut path = path(&[]);
        path.round();
        path.state(CaState::Recovery);
        let start = path.conn.delivered_segs;
        for _ in 0..10 {
            let mut sample = lossy(&path, per_ack);
            (sample.acked_sacked_segs, sample.prior_delivered_segs) = (100, start - 500);
            path.after(10_000, sample);
        }
        path.rate *= 1.3; // or the rate ends it
        let sample = path.sample();
        // The first loss came with the first 100.
        path.after(1_000, RateSample { prior_delivered_segs: start + 100, ..sample });
        assert_eq!(path.info()[3], mode, "{per_ack} lost with each of ten ACKs");
        assert_eq!(path.info()[2] > 0, mode == DRAIN);
    }
}

#[test]
fn too_much_loss_ends_a_probe_at_what_did_no_harm() {
    let mut path = cruising(&[]);
    until(&mut path, UP);
    path.rate = 11_000.0;
    let sample = lossy(&path, 100);
    path.after(100_000, sample);
    assert_eq!(path.info()[3], DOWN);
    // 1100 are delivered and 100 lost. If 1100 were sent without loss before, 2 % would be 21 more.
    let bound = path.info()[2];
    assert!((1_100..=1_125).contains(&bound), "{bound}");
    path.conn.cwnd_segs = 5_000;
    path.round();
    assert!(path.conn.cwnd_segs <= bound);
    assert_eq!(path.info()[3], DOWN, "1000 in flight are more than the bound less headroom");
    path.in_flight_segs = Some(900);
    until(&mut path, CRUISE);
    path.round();
    assert!(path.conn.cwnd_segs <= bound - bound * 38 / 256 + 1, "headroom for others");
}

#[test]
fn losses_below_two_percent_end_no_probe() {
    let mut path = cruising(&[]);
    until(&mut path, UP);
    let sample = lossy(&path, 15);
    path.after(100_000, sample);
    assert_eq!((path.info()[3], path.info()[2]), (UP, 0));
}

#[test]
fn losses_of_the_flight_before_are_not_this_one_s() {
    let mut path = cruising(&[]);
    let sample = lossy(&path, 100);
    path.after(100_000, sample);
    path.rounds(2);
    until(&mut path, UP);
    path.round();
    assert_eq!(path.info()[2], 0, "no bound was learned");
}

#[test]
fn a_round_trip_with_losses_lowers_the_bounds_until_the_next_probe() {
    let mut path = cruising(&[]);
    let before = path.info()[0];
    // The measurements of a round trip count from the ACK that begins the next one.
    path.rate = 5_000.0;
    path.round();
    assert_eq!(path.info()[0], before, "nothing is lost");
    let sample = lossy(&path, 10);
    path.after(100_000, sample);
    assert_eq!(path.info()[0], before, "a round trip begins with the first loss");
    path.round();
    let after = path.info()[0];
    assert_within(f64::from(after) / f64::from(before), 0.70, 0.02);
    path.rate = 10_000.0;
    until(&mut path, REFILL);
    assert_within(f64::from(path.info()[0]) / f64::from(before), 1.0, 0.02);
}

fn assert_within(measured: f64, expected: f64, tolerance: f64) {
    assert!((measured - expected).abs() <= tolerance, "{measured}, not {expected}");
}

#[test]
fn an_undo_gives_the_bounds_back() {
    let mut path = cruising(&[]);
    let before = path.info()[0];
    path.rate = 5_000.0;
    path.round();
    path.state(CaState::Recovery);
    let window = path.conn.cwnd_segs;
    let sample = lossy(&path, 10);
    path.after(100_000, sample);
    path.round();
    assert!(path.info()[0] < before);
    let conn = path.conn;
    assert!(path.algorithm.undo_cwnd(&conn) >= window);
    assert_eq!(path.info()[0], before);
}

#[test]
fn the_bound_rises_while_it_holds_back() {
    // So much stays in flight that ProbeRTT would not end.
    let mut path = cruising(&[("probe_rtt_time", 0)]);
    until(&mut path, UP);
    let sample = lossy(&path, 100);
    path.after(100_000, sample);
    let bound = path.info()[2];
    until(&mut path, UP);
    path.in_flight_segs = Some(800);
    let mut grown = Vec::new();
    for _ in 0..5 {
        path.round();
        grown.push(path.info()[2] - bound);
    }
    assert!(grown.windows(2).all(|pair| pair[0] <= pair[1]), "{grown:?}");
    assert!(grown[4] >= 15, "1, 2, 4, 8 ... segments a round trip: {grown:?}");
}

#[test]
fn five_seconds_without_a_smaller_rtt_halve_the_window() {
    let mut path = cruising(&[]);
    path.in_flight_segs = Some(400);
    until(&mut path, PROBE_RTT);
    assert!((4_900_000..=6_000_000).contains(&path.conn.now_us), "{}", path.conn.now_us);
    assert!((500..=510).contains(&path.conn.cwnd_segs), "{}", path.conn.cwnd_segs);
    path.rounds(5);
    assert_eq!(path.info()[3], CRUISE);
}

#[test]
fn a_timeout_gives_its_window_back_when_it_is_over() {
    let mut path = cruising(&[]);
    let window = path.conn.cwnd_segs;
    path.state(CaState::Loss);
    path.round();
    path.state(CaState::Open);
    assert!(path.conn.cwnd_segs >= window);
}

#[test]
fn after_idle_time_a_flow_sends_at_the_rate_of_the_path() {
    let mut path = cruising(&[]);
    until(&mut path, UP);
    path.conn.app_limited_segs = 1;
    path.algorithm.cwnd_event(&mut path.conn, CwndEvent::TxStart);
    assert_within(path.pace(), 0.99, 0.01);
}

#[test]
fn marks_matter_only_if_requested_and_on_short_paths() {
    for (ecn, rtt_us, lowers) in [(0, 1_000, false), (1, 1_000, true), (1, 100_000, false)] {
        let algorithm = instance("bbr3", None, &[("ecn", ecn)]);
        let mut path = Path::new(algorithm, 100_000_000.0 / f64::from(rtt_us), rtt_us);
        path.rounds(5);
        path.in_flight_segs = Some(50);
        until(&mut path, CRUISE);
        let window = path.conn.cwnd_segs;
        for _ in 0..4 {
            path.conn.delivered_ce_segs += 30;
            path.round();
        }
        assert_eq!(path.conn.cwnd_segs < window, lowers, "ecn {ecn}, {rtt_us} us");
    }
}

#[test]
fn the_draft_drains_for_three_round_trips_at_half_of_the_rate() {
    let mut path = Path::new(instance("bbr3", Some("draft"), &[]), 10_000.0, 100_000);
    path.rounds(5);
    assert_eq!(path.info()[3], DRAIN);
    assert_within(path.pace(), 0.99 / 2.0, 0.01);
    path.in_flight_segs = Some(3_000);
    path.rounds(2);
    assert_eq!(path.info()[3], DRAIN);
    path.rounds(2);
    assert_eq!(path.info()[3], DOWN);
}

#[test]
fn what_a_round_trip_with_losses_delivered_counts_from_the_first_of_them() {
    let mut path = cruising(&[]);
    let before = path.info()[0];
    path.rate = 5_000.0;
    path.round();
    // The losses come in the middle of a round trip. Its other half delivers more.
    let start = path.conn.delivered_segs;
    let sample = lossy(&path, 10);
    path.after(50_000, RateSample { prior_delivered_segs: start - 250, ..sample });
    path.rate = 9_000.0;
    let sample = path.sample();
    path.after(50_000, RateSample { prior_delivered_segs: start, ..sample });
    assert_eq!(path.info()[0], before, "what was sent before it is no round trip of it");
    let sample = path.sample();
    path.after(50_000, RateSample { prior_delivered_segs: start + 500, ..sample });
    assert_within(f64::from(path.info()[0]) / f64::from(before), 0.90, 0.02);
}

#[test]
fn a_timeout_is_a_loss_of_the_round_trip() {
    let mut path = cruising(&[]);
    let before = path.info()[0];
    path.rate = 5_000.0;
    path.round();
    path.state(CaState::Loss);
    path.state(CaState::Open);
    path.rounds(2);
    assert_within(f64::from(path.info()[0]) / f64::from(before), 0.70, 0.02);
}
