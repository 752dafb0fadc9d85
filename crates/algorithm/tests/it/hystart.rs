//! HyStart, which ends CUBIC's slow start early.

use crate::{ack, instance};
use dumbbell_algorithm::{Conn, Instance, SSTHRESH_INFINITE};

const MSS: u32 = 1448;

/// One connection in slow start whose rounds the test plays.
struct Start {
    cubic: Instance,
    conn: Conn,
}

impl Start {
    fn new(settings: &[(&str, u32)]) -> Self {
        let mut cubic = instance("cubic", None, settings);
        let mut conn = Conn { cwnd_segs: 64, snd_una: 1, snd_nxt: 1, ..Conn::default() };
        cubic.init(&mut conn);
        Self { cubic, conn }
    }

    /// A round trip of ACKs, one per segment, `gap_us` apart, with RTTs by index.
    fn round(&mut self, acks: u32, gap_us: u64, rtt_us: impl Fn(u32) -> i32) {
        for index in 0..acks {
            // The first ACK of a round passes the end of the one before.
            self.conn.snd_una = self.conn.snd_una.wrapping_add(MSS);
            self.conn.snd_nxt = self.conn.snd_una.wrapping_add((acks - 1) * MSS);
            self.conn.now_us += gap_us;
            let rtt_us = rtt_us(index);
            self.conn.srtt_us = rtt_us as u32;
            self.cubic.pkts_acked(&mut self.conn, &ack(1, rtt_us));
            self.cubic.cong_avoid(&mut self.conn, 1);
        }
    }

    fn ended(&self) -> bool {
        self.conn.ssthresh_segs != SSTHRESH_INFINITE
    }
}

/// Settings that detect delay only.
const DELAY: (&str, u32) = ("hystart_detect", 2);
/// Settings that detect ACK trains only.
const TRAIN: (&str, u32) = ("hystart_detect", 1);

#[test]
fn a_rising_rtt_ends_slow_start() {
    let mut start = Start::new(&[DELAY]);
    start.round(20, 3000, |_| 80_000);
    assert!(!start.ended());
    start.round(20, 3000, |_| 90_000);
    assert!(!start.ended(), "the rise must exceed an eighth, 10 ms");
    start.round(20, 3000, |_| 90_001);
    assert!(start.ended());
}

#[test]
fn the_rise_counts_within_four_and_sixteen_milliseconds() {
    for (rtt_us, rise_us) in [(10_000, 4_000), (80_000, 10_000), (200_000, 16_000)] {
        let mut below = Start::new(&[DELAY]);
        below.round(20, 3000, |_| rtt_us);
        below.round(20, 3000, |_| rtt_us + rise_us);
        assert!(!below.ended(), "RTT {rtt_us} us");
        let mut above = Start::new(&[DELAY]);
        above.round(20, 3000, |_| rtt_us);
        above.round(20, 3000, |_| rtt_us + rise_us + 1);
        assert!(above.ended(), "RTT {rtt_us} us");
    }
}

#[test]
fn one_small_sample_in_a_round_is_enough_to_continue() {
    for (version, ended) in [(1, false), (2, true)] {
        let mut start = Start::new(&[DELAY, ("hystart", version)]);
        start.round(20, 3000, |_| 80_000);
        // Eight large samples, then small ones. The version in milliseconds begins its round one
        // ACK later, and takes no more than eight.
        let large = 7 + version;
        start.round(12, 3000, |index| if index < large { 100_000 } else { 80_000 });
        assert_eq!(start.ended(), ended, "version {version}");
    }
}

#[test]
fn the_version_of_linux_3_16_takes_a_sixteenth() {
    for (version, ended) in [(2, false), (3, true)] {
        let mut start = Start::new(&[DELAY, ("hystart", version)]);
        start.round(20, 3000, |_| 80_000);
        start.round(20, 3000, |_| 87_000);
        assert_eq!(start.ended(), ended, "version {version}");
    }
}

#[test]
fn a_train_half_as_long_as_the_path_ends_slow_start() {
    for version in [1, 2] {
        let mut start = Start::new(&[TRAIN, ("hystart", version)]);
        start.round(20, 1000, |_| 40_000);
        assert!(!start.ended(), "version {version}: 20 ms of ACKs on a path of 40 ms");
        start.round(23, 1000, |_| 40_000);
        assert!(start.ended(), "version {version}: 22 ms of ACKs on a path of 40 ms");
    }
}

/// Four offload bursts more: 0.23 ms at twice the window per RTT, 0.38 ms at 1.2 times.
#[test]
fn how_long_a_train_may_be_follows_the_rate_at_which_linux_would_pace() {
    for (ssthresh_segs, ended) in [(SSTHRESH_INFINITE, true), (5_000, false)] {
        let mut start = Start::new(&[TRAIN]);
        start.conn = Conn { cwnd_segs: 4_000, ssthresh_segs, ..start.conn };
        start.round(2, 50, |_| 10_000);
        start.round(104, 50, |_| 10_000);
        assert_eq!(start.conn.ssthresh_segs != ssthresh_segs, ended, "5.15 ms");
    }
}

#[test]
fn a_gap_ends_a_train() {
    let mut start = Start::new(&[TRAIN]);
    start.round(60, 2001, |_| 40_000);
    assert!(!start.ended());
}

#[test]
fn small_windows_and_switched_off_versions_are_left_alone() {
    for settings in [[("hystart", 0)], [("hystart_low_window", 5000)]] {
        let mut start = Start::new(&settings);
        start.round(20, 1000, |_| 40_000);
        start.round(60, 1000, |_| 90_000);
        assert!(!start.ended(), "{settings:?}");
    }
}
