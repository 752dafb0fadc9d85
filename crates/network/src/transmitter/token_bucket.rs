//! A token bucket that delays what exceeds it.

use super::config::TokenBucketConfig;
use crate::bucket::Bucket;
use crate::serializer::Serializer;
use crate::units::Time;

/// A running transmitter.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    bucket: Bucket,
    peak: Option<Serializer>,
    /// End of the last packet's transmission.
    sent_at: Time,
    /// Size of the last packet on the wire, in bytes.
    latest_bytes: u32,
}

impl TokenBucket {
    /// An idle transmitter with a full bucket.
    #[must_use]
    pub fn new(config: &TokenBucketConfig) -> Self {
        Self {
            bucket: Bucket::new(config.rate_bps, config.burst_bytes),
            peak: config.peak_bps.map(Serializer::new),
            sent_at: Time::ZERO,
            latest_bytes: 0,
        }
    }

    /// See [`super::Transmitter::send`].
    pub fn send(&mut self, ready: Time, wire_bytes: u32) -> (Time, Time) {
        let begins = self.bucket.holds_at(wire_bytes).max(self.sent_at).max(ready);
        let (start, end) = match &mut self.peak {
            Some(peak) => peak.send(begins, wire_bytes),
            None => (begins, begins),
        };
        // The packet takes its tokens when its transmission begins, as Linux's tbf does on dequeue.
        self.bucket.take(start, wire_bytes);
        self.sent_at = end.min(Time::STUCK);
        self.latest_bytes = wire_bytes;
        (start, end)
    }

    /// See [`super::Transmitter::begins`]. The next packet is assumed to be as large as the last.
    #[inline]
    #[must_use]
    pub fn begins(&self, ready: Time) -> Time {
        self.bucket.holds_at(self.latest_bytes).max(self.sent_at).max(ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(json: &str) -> TokenBucket {
        TokenBucket::new(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        // 12 Mbit/s: a packet's tokens take a millisecond.
        let mut bucket = bucket(r#"{"rate_bps":12000000,"burst_bytes":6000,"peak_bps":null}"#);
        let ends: Vec<_> = (0..7).map(|_| bucket.send(Time(0), 1500).1.as_micros()).collect();
        assert_eq!(ends, [0, 0, 0, 0, 1_000, 2_000, 3_000]);
        assert_eq!(bucket.begins(Time(0)), Time(4_000_000));
        // After 2 ms without a packet there are tokens for two of them, and one more later.
        let ends: Vec<_> =
            (0..3).map(|_| bucket.send(Time(5_000_000), 1500).1.as_micros()).collect();
        assert_eq!(ends, [5_000, 5_000, 6_000]);
    }

    #[test]
    fn the_rate_holds_to_the_bit_in_the_long_run() {
        let mut bucket = bucket(r#"{"rate_bps":7000000,"burst_bytes":3000,"peak_bps":null}"#);
        // Two packets at once, and 7,000 more at 7 Mbit/s: 12 s.
        let last = (0..7_002).map(|_| bucket.send(Time(0), 1500).1).last().unwrap();
        assert_eq!(last, Time(12_000_000_000));
    }

    #[test]
    fn a_peak_rate_spreads_the_burst() {
        let mut bucket = bucket(r#"{"rate_bps":12000000,"burst_bytes":4500,"peak_bps":120000000}"#);
        let ends: Vec<_> = (0..5).map(|_| bucket.send(Time(0), 1500).1.as_micros()).collect();
        // A packet takes 100 us; tokens for the fourth are there after 1 ms.
        assert_eq!(ends, [100, 200, 300, 1_100, 2_100]);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_waits_until_it_is_full() {
        let mut bucket = bucket(r#"{"rate_bps":12000000,"burst_bytes":1000,"peak_bps":null}"#);
        let ends: Vec<_> = (0..4).map(|_| bucket.send(Time(0), 1500).1.as_micros()).collect();
        assert_eq!(ends, [0, 1_000, 2_000, 3_000]);
    }
}
