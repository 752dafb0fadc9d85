//! Westwood+.

use crate::{ack, avoiding, grow, instance};
use dumbbell_algorithm::{ACK_SLOWPATH, ACK_WIN_UPDATE, Conn, CwndEvent, Instance};

const MSS: u32 = 1448;

/// A connection whose ACKs come one jiffy apart and acknowledge `bytes` each.
struct Path {
    westwood: Instance,
    conn: Conn,
}

impl Path {
    fn new(settings: &[(&str, u32)], rtt_us: i32) -> Self {
        let mut westwood = instance("westwood", None, settings);
        let mut conn = avoiding(100);
        westwood.init(&mut conn);
        let mut path = Self { westwood, conn };
        path.ack(0, 0, rtt_us);
        path
    }

    fn ack(&mut self, after_ms: u64, bytes: u32, rtt_us: i32) {
        self.conn.now_us += after_ms * 1000;
        self.conn.snd_una = self.conn.snd_una.wrapping_add(bytes);
        self.westwood.in_ack_event(&mut self.conn, ACK_WIN_UPDATE);
        self.westwood.pkts_acked(&mut self.conn, &ack(1, rtt_us));
    }

    /// An ACK that carries SACK blocks, or advances nothing.
    fn disturbed_ack(&mut self, bytes: u32) {
        self.conn.snd_una = self.conn.snd_una.wrapping_add(bytes);
        self.westwood.in_ack_event(&mut self.conn, ACK_SLOWPATH);
    }

    /// Play one window of time at a rate, then the ACK that ends it; return the estimates in
    /// bytes/ms.
    fn window(&mut self, bytes_per_ms: u32, rtt_us: i32) -> (u32, u32) {
        self.ack(0, 101 * bytes_per_ms, rtt_us);
        self.ack(101, 0, rtt_us);
        let info = self.westwood.info(&self.conn);
        (info[1] / 8, info[0] / 8)
    }

    fn recovered(&mut self) -> u32 {
        self.conn.ssthresh_segs = self.westwood.ssthresh(&self.conn);
        self.conn.cwnd_segs = self.conn.ssthresh_segs;
        self.westwood.cwnd_event(&mut self.conn, CwndEvent::CompleteCwr);
        assert_eq!(self.conn.ssthresh_segs, self.conn.cwnd_segs);
        self.conn.cwnd_segs
    }
}

#[test]
fn both_filters_follow_a_step_with_an_eighth_of_the_distance() {
    let mut path = Path::new(&[], 100_000);
    assert_eq!(path.window(1000, 100_000), (1000, 1000), "the first sample fills both");
    let seen: Vec<_> = (0..5).map(|_| path.window(2000, 100_000)).collect();
    assert_eq!(seen, [(1125, 1015), (1234, 1042), (1329, 1077), (1412, 1118), (1485, 1163)]);
}

#[test]
fn smoothing_can_be_set() {
    let mut path = Path::new(&[("smoothing", 2)], 100_000);
    path.window(1000, 100_000);
    assert_eq!(path.window(2000, 100_000), (1500, 1250));
    let mut unsmoothed = Path::new(&[("smoothing", 1)], 100_000);
    unsmoothed.window(1000, 100_000);
    assert_eq!(unsmoothed.window(2000, 100_000), (2000, 2000));
}

#[test]
fn the_end_of_recovery_keeps_the_bandwidth_times_the_smallest_rtt() {
    let mut path = Path::new(&[], 100_000);
    for _ in 0..3 {
        path.window(1448, 100_000);
    }
    path.conn.cwnd_segs = 1000;
    assert_eq!(path.westwood.ssthresh(&path.conn), 500, "while recovery lasts: half");
    assert_eq!(path.recovered(), 100, "1448 bytes per ms for 100 ms are 100 segments");
    path.window(1448, 80_000);
    path.window(1448, 300_000);
    assert_eq!(path.recovered(), 80, "the smallest RTT is 80 ms");
}

#[test]
fn a_window_of_time_is_as_long_as_the_rtt_and_50_ms_at_least() {
    for (rtt_us, settings, longest_ms) in [
        (10_000, &[][..], 50),
        (200_000, &[][..], 200),
        (10_000, &[("window_min", 5)][..], 10),
        (199_001, &[][..], 200),
    ] {
        let mut path = Path::new(settings, rtt_us);
        path.ack(longest_ms, 5000, rtt_us);
        path.ack(0, 100_000, rtt_us);
        assert_eq!(path.westwood.info(&path.conn)[0], 0, "{longest_ms} ms are not over");
        path.ack(1, 0, rtt_us);
        let bytes_per_ms = 105_000 / (longest_ms as u32 + 1);
        assert_eq!(path.westwood.info(&path.conn)[0], 8 * bytes_per_ms, "RTT {rtt_us} us");
    }
}

#[test]
fn duplicate_acks_count_once() {
    let mut path = Path::new(&[], 100_000);
    let before = path.conn.snd_una;
    for _ in 0..5 {
        path.disturbed_ack(0);
    }
    path.disturbed_ack(7 * MSS);
    assert_eq!(path.conn.snd_una - before, 7 * MSS);
    path.ack(101, 0, 100_000);
    let counted = path.westwood.info(&path.conn)[0] / 8 * 101;
    assert!((7 * MSS - 101..=7 * MSS).contains(&counted), "{counted} bytes of {}", 7 * MSS);
}

#[test]
fn a_partial_ack_below_what_duplicates_stood_for_counts_one_segment() {
    let mut path = Path::new(&[], 100_000);
    for _ in 0..5 {
        path.disturbed_ack(0);
    }
    path.disturbed_ack(2 * MSS);
    path.ack(101, 0, 100_000);
    assert_eq!(path.westwood.info(&path.conn)[0] / 8, 6 * MSS / 101);
}

#[test]
fn a_timeout_sets_ssthresh_and_restarts_the_smallest_rtt() {
    let mut path = Path::new(&[], 100_000);
    path.window(1448, 100_000);
    path.window(1448, 100_000);
    path.conn.ssthresh_segs = path.westwood.ssthresh(&path.conn);
    path.westwood.cwnd_event(&mut path.conn, CwndEvent::Loss);
    assert_eq!((path.conn.ssthresh_segs, path.conn.cwnd_segs), (100, 100));
    path.ack(1, 0, 250_000);
    path.ack(1, 0, 250_000);
    assert_eq!(path.westwood.info(&path.conn)[2], 100, "the RTT before is the first one");
    path.westwood.cwnd_event(&mut path.conn, CwndEvent::Loss);
    path.ack(1, 0, 250_000);
    assert_eq!(path.westwood.info(&path.conn)[2], 250);
}

#[test]
fn knowing_nothing_it_keeps_two_segments() {
    let mut westwood = instance("westwood", None, &[]);
    let mut conn = avoiding(100);
    westwood.init(&mut conn);
    westwood.cwnd_event(&mut conn, CwndEvent::CompleteCwr);
    assert_eq!((conn.cwnd_segs, conn.ssthresh_segs), (2, 2));
}

#[test]
fn a_clock_that_goes_back_does_no_harm() {
    let mut path = Path::new(&[], 100_000);
    path.conn.now_us = 10_000_000;
    path.window(1448, 100_000);
    path.window(1448, 100_000);
    let before = path.westwood.info(&path.conn)[0];
    path.conn.now_us = 5_000_000;
    path.ack(0, 0, 100_000);
    assert_eq!(path.westwood.info(&path.conn)[0], before);
    assert_eq!(path.window(1448, 100_000).1, before / 8, "and it measures on");
}

#[test]
fn grows_as_standard_tcp() {
    let mut westwood = instance("westwood", Some("brakmo2017"), &[]);
    let conn = &mut avoiding(10);
    westwood.init(conn);
    assert_eq!(grow(&mut westwood, conn, 2, 5), [(10, 2), (10, 4), (10, 6), (10, 8), (11, 0)]);
    conn.cwnd_limited = 0;
    assert_eq!(grow(&mut westwood, conn, 20, 2), [(11, 0), (11, 0)]);
    conn.prior_cwnd_segs = 40;
    assert_eq!(westwood.undo_cwnd(conn), 40);
}
