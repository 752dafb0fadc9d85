//! The size of a chunk in segments, and the wait of a chunk that may become larger (segmentation
//! offload with Linux's autosizing).

use dumbbell_algorithm::Conn;
use dumbbell_network::{Span, Time};

/// Largest chunk of segmentation offload, in bytes.
const CHUNK_BYTES_MAX: u64 = 65_535;
/// Smallest goal of a chunk, in segments.
const CHUNK_SEGS_MIN: u64 = 2;
/// One part of this many of the window is always worth sending (tcp_tso_win_divisor).
const WINDOW_DIVISOR: u64 = 3;
/// Longest wait for a larger chunk.
const WAIT_MAX_US: u32 = 1_000;

/// Return the goal of a chunk in segments: the data that the rate sends in about a millisecond, and
/// more on short paths. The rate is in bytes per second; None is unlimited.
pub fn goal_segs(conn: &Conn, rate: Option<u64>) -> u64 {
    // tcp_tso_autosize: below 512 us this is the whole limit, and each 512 us more halve it
    // (tcp_tso_rtt_log).
    let for_short_path = (CHUNK_BYTES_MAX + 1).checked_shr(conn.min_rtt_us >> 9).unwrap_or(0);
    // A shift by 10 divides by 1,024: Linux's millisecond (sk_pacing_shift).
    let bytes = rate.map_or(CHUNK_BYTES_MAX, |rate| (rate >> 10) + for_short_path);
    let segs = bytes.min(CHUNK_BYTES_MAX) / u64::from(conn.mss_bytes);
    segs.max(CHUNK_SEGS_MIN)
}

/// Limits of the data that may be sent now, in segments.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    /// Space left in the congestion window.
    pub window_segs: u64,
    /// Space left in the receiver's window.
    pub receiver_segs: u64,
    /// Data that the application has supplied.
    pub data_segs: u64,
}

impl Space {
    /// Return the size of the next chunk, which is at most half of the congestion window.
    pub fn chunk_segs(self, goal_segs: u64, cwnd_segs: u32) -> u64 {
        // At least two chunks are then in flight, which keeps ACKs coming (tcp_cwnd_test).
        let half = u64::from(cwnd_segs / 2).max(1);
        self.sendable_segs().min(goal_segs).min(half)
    }

    fn sendable_segs(self) -> u64 {
        self.window_segs.min(self.receiver_segs).min(self.data_segs)
    }

    /// Return whether the congestion window is the limit.
    pub const fn is_window_limited(self) -> bool {
        self.window_segs <= self.receiver_segs && self.window_segs < self.data_segs
    }

    /// Return whether it is worth waiting for the next ACK to send a larger chunk. It is not if a
    /// whole chunk, a third of the window of `whole_segs`, or all of the data can be sent.
    pub fn is_too_small(self, goal_segs: u64, whole_segs: u64) -> bool {
        let sendable = self.sendable_segs();
        sendable < goal_segs
            && sendable < self.data_segs
            && sendable < (whole_segs / WINDOW_DIVISOR).max(1)
    }
}

/// Return whether the next ACK is near. The last one must be at most half of the smoothed round
/// trip old, and at most half a millisecond.
pub fn expects_ack(conn: &Conn, last_ack: Time, now: Time) -> bool {
    let half = Span(u64::from(conn.srtt_us.min(WAIT_MAX_US)) * 1_000 / 2);
    now <= last_ack + half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conn(min_rtt_us: u32) -> Conn {
        Conn { srtt_us: 10_000, min_rtt_us, ..Conn::default() }
    }

    #[test]
    fn a_chunk_is_a_millisecond_of_the_rate_within_two_and_45_segments() {
        let rate = |bits_per_s: u64| Some(bits_per_s / 8);
        // 10 Mbit/s are 0.8 segments a millisecond, 100 Mbit/s are 8.4, and 1 Gbit/s is 84.
        assert_eq!(goal_segs(&conn(100_000), rate(10_000_000)), 2);
        assert_eq!(goal_segs(&conn(100_000), rate(100_000_000)), 8);
        assert_eq!(goal_segs(&conn(100_000), rate(1_000_000_000)), 45);
        assert_eq!(goal_segs(&conn(100_000), None), 45);
    }

    #[test]
    fn a_short_path_gets_large_chunks_at_any_rate() {
        assert_eq!(goal_segs(&conn(100), Some(1)), 45);
        assert_eq!(goal_segs(&conn(512), Some(1)), 22);
        assert_eq!(goal_segs(&conn(1_024), Some(1)), 11);
        assert_eq!(goal_segs(&conn(u32::MAX), Some(1)), 2);
    }

    fn space(window_segs: u64, data_segs: u64) -> Space {
        Space { window_segs, receiver_segs: 1_000, data_segs }
    }

    #[test]
    fn a_chunk_is_at_most_half_of_the_window() {
        assert_eq!(space(10, 100).chunk_segs(45, 10), 5);
        assert_eq!(space(3, 100).chunk_segs(45, 10), 3);
        assert_eq!(space(1, 100).chunk_segs(45, 1), 1);
        assert_eq!(space(100, 100).chunk_segs(45, 200), 45);
        assert_eq!(space(100, 7).chunk_segs(45, 200), 7);
    }

    #[test]
    fn less_than_a_third_of_the_window_and_of_a_chunk_waits() {
        assert!(space(9, 100).is_too_small(20, 30));
        assert!(!space(10, 100).is_too_small(20, 30), "a third of the window");
        assert!(!space(9, 100).is_too_small(9, 30), "a whole chunk");
        assert!(!space(9, 9).is_too_small(20, 30), "all of the data");
        assert!(space(9, 100).is_window_limited());
        assert!(!space(9, 9).is_window_limited());
    }

    #[test]
    fn the_wait_ends_half_a_millisecond_after_the_last_ack() {
        assert!(expects_ack(&conn(0), Time(1_000), Time(501_000)));
        assert!(!expects_ack(&conn(0), Time(1_000), Time(501_001)));
        let short = Conn { srtt_us: 20, ..conn(0) };
        assert!(!expects_ack(&short, Time(0), Time(10_001)));
    }
}
