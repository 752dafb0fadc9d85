//! Round-trip times (smoothed and smallest) and the retransmission timeout.
//!
//! The rule is RFC 6298, exactly or as Linux computes it. Linux has a variance term of at least
//! `rto_min` that falls only once per round trip, and a deviation that reacts slowly to falling
//! samples. The first sample is that of the handshake.

use dumbbell_network::{Span, Time};

use crate::handshake::Handshake;
use crate::recent_min::RecentMin;
use crate::round_trip::rtt_us;
use crate::stack::{RtoRule, Stack};
use crate::tick::Tick;

/// Estimator of one connection's round-trip time, in microseconds.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    rule: RtoRule,
    rto_min_us: u64,
    rto_max: Span,
    tick: Tick,
    rto: Span,
    srtt_x8: u64,
    deviation_x4: u64,
    deviation_max_x4: u64,
    variance_x4: u64,
    /// The ACK of this segment ends the current round trip.
    round_ends: u64,
    /// The smallest recent sample, for the algorithm.
    recent_min: RecentMin,
    /// This and the following fields are valid once there are samples.
    min_us: u32,
    max_us: u32,
    sum_us: u64,
    samples: u64,
    latest_us: u32,
}

/// Statistics over the life of the connection, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSummary {
    /// Smallest sample.
    pub min_us: u32,
    /// Largest sample.
    pub max_us: u32,
    /// Sum of the samples.
    pub sum_us: u64,
    /// Number of samples.
    pub samples: u64,
}

/// Granularity G of the clock in RFC 6298, in microseconds.
const CLOCK_US: u64 = 1_000;

impl RttEstimator {
    /// An estimator with the sample of the handshake, taken at `now`. The statistics exclude it.
    #[must_use]
    pub fn new(stack: &Stack, now: Time, handshake: Span) -> Self {
        let handshake_us = rtt_us(handshake).max(1);
        let rtt = u64::from(handshake_us);
        let rto_min_us = stack.rto_min_ns.as_micros();
        // RFC 6298, rule 2.2: R/2 is the first deviation, and the timeout includes four of it.
        let variance_x4 = rto_min_us.max(rtt * 2);
        let mut estimator = Self {
            rule: stack.rto_rule,
            rto_min_us,
            rto_max: stack.rto_max_ns,
            tick: Tick::of(stack),
            rto: Span::ZERO,
            srtt_x8: rtt * 8,
            deviation_x4: rtt * 2,
            deviation_max_x4: variance_x4,
            variance_x4,
            round_ends: 0,
            recent_min: RecentMin::new(stack.min_rtt_window_ns, now, handshake_us),
            min_us: u32::MAX,
            max_us: 0,
            sum_us: 0,
            samples: 0,
            latest_us: 0,
        };
        estimator.update_rto();
        estimator
    }

    /// An estimator as by [`Self::new`], with the timeout after the handshake.
    #[must_use]
    pub fn after(handshake: &Handshake, stack: &Stack, now: Time) -> Self {
        let mut estimator = Self::new(stack, now, handshake.rtt);
        if let Some(rto) = handshake.timeout(stack) {
            estimator.rto = estimator.tick.set_for(rto).min(estimator.rto_max);
        }
        estimator
    }

    /// Take a sample. `acked` is the lowest segment that is not acknowledged, and `next` the next
    /// to send.
    #[inline(always)]
    pub fn sample(&mut self, rtt_us: u32, acked: u64, next: u64) {
        self.smooth(u64::from(rtt_us));
        // Greater, not equal: `after` in tcp_rtt_estimator.
        if acked > self.round_ends {
            self.end_round(next);
        }
        self.update_rto();
    }

    /// Count a sample in the statistics: smallest, largest, mean and latest. A sample that the
    /// receiver may have delayed cannot replace a smaller one that is about to expire.
    #[inline(always)]
    pub fn record(&mut self, now: Time, rtt_us: u32, maybe_delayed: bool) {
        // The rule of tcp_update_rtt_min: the delay of a delayed ACK must not count as that of the
        // path.
        if !maybe_delayed || rtt_us <= self.recent_min.get() {
            self.recent_min.take(now, rtt_us);
        }
        self.min_us = self.min_us.min(rtt_us);
        self.max_us = self.max_us.max(rtt_us);
        self.sum_us += u64::from(rtt_us);
        self.samples += 1;
        self.latest_us = rtt_us;
    }

    /// Add the time by an echoed timestamp, in whole milliseconds, to the recent samples. The
    /// statistics exclude it.
    pub fn note_echoed(&mut self, now: Time, rtt_us: u32) {
        self.recent_min.take(now, rtt_us);
    }

    #[inline(always)]
    fn smooth(&mut self, rtt: u64) {
        // The deviation is from the old average (RFC 6298, rule 2.3), so this comes first.
        let srtt = self.srtt_x8 >> 3;
        self.srtt_x8 = self.srtt_x8 + rtt - srtt;
        if self.rule == RtoRule::Rfc6298 {
            self.deviation_x4 = self.deviation_x4 - (self.deviation_x4 >> 2) + rtt.abs_diff(srtt);
            return;
        }
        if rtt >= srtt {
            self.deviation_x4 = self.deviation_x4 - (self.deviation_x4 >> 2) + (rtt - srtt);
        } else {
            // A falling sample shows little about the variance: it gets an eighth of the gain.
            let deviation = self.deviation_x4 >> 2;
            let error = srtt - rtt;
            if error > deviation {
                self.deviation_x4 += (error - deviation) >> 3;
            } else {
                self.deviation_x4 -= deviation - error;
            }
        }
        if self.deviation_x4 > self.deviation_max_x4 {
            self.deviation_max_x4 = self.deviation_x4;
            self.variance_x4 = self.variance_x4.max(self.deviation_max_x4);
        }
    }

    fn end_round(&mut self, next: u64) {
        // The variance falls by a quarter of the difference once a round trip, but rises at once.
        if self.deviation_max_x4 < self.variance_x4 {
            self.variance_x4 -= (self.variance_x4 - self.deviation_max_x4) >> 2;
        }
        self.round_ends = next;
        self.deviation_max_x4 = self.rto_min_us;
    }

    /// Double the timeout after it expired.
    pub fn back_off(&mut self) {
        self.rto = Span((self.rto.0 * 2).min(self.rto_max.0));
    }

    #[inline(always)]
    fn update_rto(&mut self) {
        let srtt_us = self.srtt_x8 >> 3;
        let rto_us = match self.rule {
            // Linux needs no lower bound: `rto_min` is in the variance, so it is added to the SRTT.
            RtoRule::Linux => srtt_us + self.variance_x4,
            RtoRule::Rfc6298 => (srtt_us + self.deviation_x4.max(CLOCK_US)).max(self.rto_min_us),
        };
        self.rto = self.tick.set_for(Span::from_micros(rto_us)).min(self.rto_max);
    }

    /// The current retransmission timeout, with back-off.
    #[inline]
    #[must_use]
    pub const fn rto(&self) -> Span {
        self.rto
    }

    /// Smoothed round-trip time in microseconds.
    #[inline]
    #[must_use]
    pub const fn srtt_us(&self) -> u32 {
        (self.srtt_x8 >> 3) as u32
    }

    /// Smallest recent sample in microseconds.
    #[inline]
    #[must_use]
    pub const fn min_us(&self) -> u32 {
        self.recent_min.get()
    }

    /// Latest sample in microseconds; None before the first.
    #[must_use]
    pub fn latest_us(&self) -> Option<u32> {
        (self.samples > 0).then_some(self.latest_us)
    }

    /// Statistics so far; None before the first sample.
    #[must_use]
    pub fn summary(&self) -> Option<RttSummary> {
        let Self { min_us, max_us, sum_us, samples, .. } = *self;
        (samples > 0).then_some(RttSummary { min_us, max_us, sum_us, samples })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::PROFILES;

    fn estimator(profile: &str, handshake_ms: u64) -> RttEstimator {
        let profile = PROFILES.iter().find(|candidate| candidate.name == profile);
        let stack = (profile.expect("a profile").stack)();
        RttEstimator::new(&stack, Time::ZERO, Span::from_millis(handshake_ms))
    }

    /// Take one sample per round trip, with the handshake's first. Return the timeouts in ms.
    fn timeouts_ms(samples_ms: &[u32]) -> Vec<f64> {
        let mut rtt = estimator("linux-6", samples_ms[0].into());
        let in_ms = |rto: Span| rto.0 as f64 / 1e6;
        let mut timeouts = vec![in_ms(rtt.rto())];
        for (sample, round) in samples_ms[1..].iter().zip(1u64..) {
            rtt.sample(sample * 1_000, round * 10, round * 10 + 5);
            timeouts.push(in_ms(rtt.rto()));
        }
        timeouts
    }

    fn assert_close(measured: &[f64], expected: &[f64]) {
        for (got, want) in measured.iter().zip(expected) {
            assert!((got - want).abs() < 1.0, "{measured:?}, expected {expected:?}");
        }
    }

    #[test]
    fn a_constant_rtt_leaves_the_floor() {
        assert_close(&timeouts_ms(&[100; 20])[15..], &[300.0; 5]);
    }

    #[test]
    fn an_outlier_raises_the_timeout_at_once_and_it_falls_slowly() {
        let timeouts = timeouts_ms(&[100, 100, 300, 100, 100, 100, 100]);
        assert_close(&timeouts[2..], &[437.5, 421.0, 398.0, 376.0, 359.0]);
    }

    #[test]
    fn a_long_constant_rtt_falls_from_three_times_its_value() {
        let expected = [1800.0, 1800.0, 1669.0, 1528.0, 1391.0, 1264.0];
        assert_close(&timeouts_ms(&[600; 6]), &expected);
    }

    #[test]
    fn back_off_doubles_until_a_sample_arrives() {
        let mut rtt = estimator("linux-6", 100);
        let rto = rtt.rto();
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Span(4 * rto.0));
        rtt.sample(100_000, 2, 3);
        assert!(rtt.rto() <= rto);
    }

    #[test]
    fn rfc_6298_counts_four_deviations_and_waits_a_second_at_least() {
        assert_eq!(estimator("rfc", 100).rto(), Span::from_millis(1_000));
        let mut rtt = estimator("rfc", 400);
        assert_eq!(rtt.rto(), Span::from_millis(1_200), "R + 4 * R/2");
        rtt.sample(400_000, 2, 3);
        assert_eq!(rtt.rto(), Span::from_millis(1_000), "R + 4 * 3/4 * R/2");
        rtt.sample(800_000, 3, 4);
        assert_eq!(rtt.rto(), Span::from_millis(1_300), "450 + 0.75 * 600 + 400");
    }

    #[test]
    fn a_sample_that_may_have_been_delayed_is_not_the_smallest_of_late() {
        let mut rtt = estimator("linux-6", 10);
        let later = Time::ZERO + Span::from_millis(400_000);
        rtt.record(later, 50_000, true);
        assert_eq!(rtt.min_us(), 10_000);
        rtt.record(later, 20_000, false);
        assert_eq!(rtt.min_us(), 20_000, "the old one is forgotten");
    }

    #[test]
    fn the_handshake_is_in_the_estimates_and_not_in_the_statistics() {
        let mut rtt = estimator("linux-6", 150);
        assert_eq!((rtt.srtt_us(), rtt.min_us()), (150_000, 150_000));
        assert_eq!(rtt.rto(), Span::from_millis(150 + 2 * 150));
        assert_eq!((rtt.summary(), rtt.latest_us()), (None, None));
        rtt.record(Time::ZERO, 170_000, false);
        assert_eq!(rtt.min_us(), 150_000);
        assert_eq!(rtt.summary().map(|summary| summary.min_us), Some(170_000));
    }
}
