//! Round-trip times: smoothed, smallest, and the retransmission timeout they give.
//!
//! RFC 6298, to the letter or as Linux computes it: a variance term of at least
//! `rto_min` that falls once per round trip only, and a deviation that reacts slowly to
//! falling samples.

use dumbbell_network::{Span, Time};

use crate::recent_min::RecentMin;
use crate::stack::{RtoRule, Stack};

/// Estimator of one connection's round-trip time, in microseconds.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    rule: RtoRule,
    rto_min_us: u64,
    rto_max: Span,
    rto: Span,
    srtt_x8: Option<u64>,
    deviation_x4: u64,
    deviation_max_x4: u64,
    variance_x4: u64,
    /// Segment number whose acknowledgement ends the current round trip.
    round_ends: u64,
    /// The smallest sample of late, for the algorithm.
    recent_min: RecentMin,
    min_us: Option<u32>,
    max_us: u32,
    sum_us: u64,
    samples: u64,
    latest_us: Option<u32>,
}

/// What the estimator saw over the connection's life, in microseconds.
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
    /// An estimator without samples.
    #[must_use]
    pub const fn new(stack: &Stack) -> Self {
        Self {
            rule: stack.rto_rule,
            rto_min_us: stack.rto_min_ns.as_micros(),
            rto_max: stack.rto_max_ns,
            rto: stack.rto_initial_ns,
            srtt_x8: None,
            deviation_x4: 0,
            deviation_max_x4: 0,
            variance_x4: 0,
            round_ends: 0,
            recent_min: RecentMin::new(stack.min_rtt_window_ns),
            min_us: None,
            max_us: 0,
            sum_us: 0,
            samples: 0,
            latest_us: None,
        }
    }

    /// Takes a sample; `acked` and `next` are the lowest segment not yet
    /// acknowledged and the next one to be sent.
    #[inline]
    pub fn sample(&mut self, rtt_us: u32, acked: u64, next: u64) {
        let rtt = u64::from(rtt_us);
        match self.srtt_x8 {
            None => {
                self.srtt_x8 = Some(rtt * 8);
                self.deviation_x4 = rtt * 2;
                self.variance_x4 = self.deviation_x4.max(self.rto_min_us);
                self.deviation_max_x4 = self.variance_x4;
                self.round_ends = next;
            }
            Some(srtt_x8) => {
                self.smooth(srtt_x8, rtt);
                if acked > self.round_ends {
                    self.end_round(next);
                }
            }
        }
        self.update_rto();
    }

    /// Counts a sample in the statistics: smallest, largest, mean and latest. One that
    /// the receiver may have delayed cannot replace a smaller one that grows old.
    #[inline]
    pub fn record(&mut self, now: Time, rtt_us: u32, maybe_delayed: bool) {
        if !maybe_delayed || self.recent_min.get().is_none_or(|min| rtt_us <= min) {
            self.recent_min.take(now, rtt_us);
        }
        self.min_us = Some(self.min_us.map_or(rtt_us, |min| min.min(rtt_us)));
        self.max_us = self.max_us.max(rtt_us);
        self.sum_us += u64::from(rtt_us);
        self.samples += 1;
        self.latest_us = Some(rtt_us);
    }

    /// Takes what an echoed timestamp told, in whole milliseconds, among the samples of late;
    /// the statistics leave it out.
    pub fn note_echoed(&mut self, now: Time, rtt_us: u32) {
        self.recent_min.take(now, rtt_us);
    }

    #[inline]
    fn smooth(&mut self, srtt_x8: u64, rtt: u64) {
        let srtt = srtt_x8 >> 3;
        self.srtt_x8 = Some(srtt_x8 + rtt - srtt);
        if self.rule == RtoRule::Rfc6298 {
            self.deviation_x4 = self.deviation_x4 - (self.deviation_x4 >> 2) + rtt.abs_diff(srtt);
            return;
        }
        if rtt >= srtt {
            self.deviation_x4 = self.deviation_x4 - (self.deviation_x4 >> 2) + (rtt - srtt);
        } else {
            // A falling sample says little about the variance: an eighth of the gain.
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
        if self.deviation_max_x4 < self.variance_x4 {
            self.variance_x4 -= (self.variance_x4 - self.deviation_max_x4) >> 2;
        }
        self.round_ends = next;
        self.deviation_max_x4 = self.rto_min_us;
    }

    /// Doubles the timeout after it expired.
    pub fn back_off(&mut self) {
        self.rto = Span((self.rto.0 * 2).min(self.rto_max.0));
    }

    fn update_rto(&mut self) {
        let srtt_us = self.srtt_x8.map_or(0, |srtt| srtt >> 3);
        let rto_us = match self.rule {
            RtoRule::Linux => srtt_us + self.variance_x4,
            RtoRule::Rfc6298 => (srtt_us + self.deviation_x4.max(CLOCK_US)).max(self.rto_min_us),
        };
        self.rto = Span::from_micros(rto_us).min(self.rto_max);
    }

    /// The current retransmission timeout, back-off included.
    #[inline]
    #[must_use]
    pub const fn rto(&self) -> Span {
        self.rto
    }

    /// Smoothed round-trip time in microseconds.
    #[inline]
    #[must_use]
    pub fn srtt_us(&self) -> Option<u32> {
        self.srtt_x8.map(|srtt| (srtt >> 3) as u32)
    }

    /// Smallest sample of late in microseconds.
    #[inline]
    #[must_use]
    pub const fn min_us(&self) -> Option<u32> {
        self.recent_min.get()
    }

    /// Latest sample in microseconds.
    #[must_use]
    pub const fn latest_us(&self) -> Option<u32> {
        self.latest_us
    }

    /// What was seen so far, if anything was.
    #[must_use]
    pub fn summary(&self) -> Option<RttSummary> {
        let Self { max_us, sum_us, samples, .. } = *self;
        self.min_us.map(|min_us| RttSummary { min_us, max_us, sum_us, samples })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::PROFILES;

    fn estimator(profile: &str) -> RttEstimator {
        let profile = PROFILES.iter().find(|candidate| candidate.name == profile);
        RttEstimator::new(&(profile.expect("a profile").stack)())
    }

    /// One sample per round trip; gives the timeouts in ms.
    fn timeouts_ms(samples_ms: &[u32]) -> Vec<f64> {
        let mut rtt = estimator("linux-6");
        samples_ms
            .iter()
            .zip(1u64..)
            .map(|(sample, round)| {
                rtt.sample(sample * 1_000, round * 10, round * 10 + 5);
                rtt.rto().0 as f64 / 1e6
            })
            .collect()
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
        let mut rtt = estimator("linux-6");
        rtt.sample(100_000, 1, 2);
        let rto = rtt.rto();
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Span(4 * rto.0));
        rtt.sample(100_000, 2, 3);
        assert!(rtt.rto() <= rto);
    }

    #[test]
    fn rfc_6298_counts_four_deviations_and_waits_a_second_at_least() {
        let mut rtt = estimator("rfc");
        assert_eq!(rtt.rto(), Span::from_millis(1_000));
        rtt.sample(400_000, 1, 2);
        assert_eq!(rtt.rto(), Span::from_millis(1_200), "R + 4 * R/2");
        rtt.sample(400_000, 2, 3);
        assert_eq!(rtt.rto(), Span::from_millis(1_000), "R + 4 * 3/4 * R/2");
        rtt.sample(800_000, 3, 4);
        assert_eq!(rtt.rto(), Span::from_millis(1_300), "450 + 0.75 * 600 + 400");
    }

    #[test]
    fn a_sample_that_may_have_been_delayed_is_not_the_smallest_of_late() {
        let mut rtt = estimator("linux-6");
        let later = Time::ZERO + Span::from_millis(400_000);
        rtt.record(Time::ZERO, 10_000, true);
        assert_eq!(rtt.min_us(), Some(10_000), "better than none");
        rtt.record(later, 50_000, true);
        assert_eq!(rtt.min_us(), Some(10_000));
        rtt.record(later, 20_000, false);
        assert_eq!(rtt.min_us(), Some(20_000), "the old one is forgotten");
        assert_eq!(rtt.summary().map(|summary| summary.min_us), Some(10_000));
    }
}
