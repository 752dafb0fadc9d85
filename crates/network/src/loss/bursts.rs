//! Loss in bursts: a good and a bad state, which change with packets or with time.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::chance::Chance;
use crate::random::Random;
use crate::units::{Span, Time};

/// Probabilities of the Gilbert-Elliott model, each for one packet.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottConfig {
    /// Probability of a change from good to bad after a packet.
    pub to_bad: f64,
    /// Probability of a change from bad to good after a packet.
    pub to_good: f64,
    /// Probability of a loss in the good state.
    pub loss_good: f64,
    /// Probability of a loss in the bad state.
    pub loss_bad: f64,
}

/// The Gilbert-Elliott model in time.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsConfig {
    /// Mean time in the good state, in ns.
    pub mean_good_ns: Span,
    /// Mean time in the bad state, in ns.
    pub mean_bad_ns: Span,
    /// Probability of a loss in the good state.
    pub loss_good: f64,
    /// Probability of a loss in the bad state.
    pub loss_bad: f64,
}

/// A running Gilbert-Elliott model, which begins in the good state. A packet meets the current
/// state, and the state may change after it.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    bad: bool,
    /// Change out of the good and out of the bad state.
    turn: [Chance; 2],
    /// Loss in the good and in the bad state.
    loss: [Chance; 2],
}

impl GilbertElliott {
    pub(super) fn new(config: &GilbertElliottConfig, mut random: Random) -> Self {
        let mut chance = |probability| Chance::new(probability, random.split());
        let turn = [chance(config.to_bad), chance(config.to_good)];
        let loss = [chance(config.loss_good), chance(config.loss_bad)];
        Self { bad: false, turn, loss }
    }

    #[inline]
    pub(super) fn lost(&mut self) -> bool {
        let state = usize::from(self.bad);
        // Drawn whether the packet is lost or not, so the state does not depend on the losses.
        self.bad ^= self.turn[state].happens();
        self.loss[state].happens()
    }

    pub(super) const fn certain(&self) -> u64 {
        let state = self.bad as usize;
        let (stays, passes) = (self.turn[state].certain(), self.loss[state].certain());
        if stays < passes { stays } else { passes }
    }

    pub(super) const fn pass(&mut self, packets: u64) {
        let state = self.bad as usize;
        self.turn[state].pass(packets);
        self.loss[state].pass(packets);
    }
}

/// The same states in time, each of an exponential duration. States change even if no packet comes,
/// so a flow of one packet per timeout does not stay in one fade.
#[derive(Clone, Debug)]
pub struct Bursts {
    bad: bool,
    /// End of the current state.
    until: Time,
    /// Mean durations of the good and of the bad state.
    mean: [Span; 2],
    /// Loss in the good and in the bad state.
    loss: [Chance; 2],
    random: Random,
}

impl Bursts {
    pub(super) fn new(config: &BurstsConfig, mut random: Random) -> Self {
        let loss = [config.loss_good, config.loss_bad];
        let loss = loss.map(|probability| Chance::new(probability, random.split()));
        let mean = [config.mean_good_ns, config.mean_bad_ns];
        let until = Time::ZERO + random.exponential(mean[0]);
        Self { bad: false, until, mean, loss, random }
    }

    pub(super) fn lost(&mut self, now: Time) -> bool {
        while now >= self.until {
            self.bad = !self.bad;
            self.until += self.random.exponential(self.mean[usize::from(self.bad)]);
        }
        self.loss[usize::from(self.bad)].happens()
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the expectation is a band")]
mod tests {
    use super::super::tests::{model, packet};
    use super::*;

    #[test]
    fn gilbert_elliott_has_its_stationary_loss_rate_and_burst_length() {
        let mut loss = model(
            r#"{"kind":"gilbert-elliott","to_bad":0.01,"to_good":0.2,"loss_good":0.0,"loss_bad":1.0}"#,
        );
        let packets = 2_000_000;
        let lost: Vec<_> =
            (0..packets).map(|number| loss.lost(Time(number), packet(0, number))).collect();
        let losses = lost.iter().filter(|&&lost| lost).count() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // Share of the bad state: to_bad / (to_bad + to_good) = 1/21. A burst is one stay in it, 1
        // / to_good = 5 packets in the mean, independent of the others. 19,000 bursts with a
        // standard deviation of 4.5 packets give 4 sigma of 0.13, a tenth of a percent in rate.
        assert!((losses / packets as f64 - 1.0 / 21.0).abs() < 0.0018, "{losses}");
        assert!((losses / bursts - 5.0).abs() < 0.13, "{}", losses / bursts);
    }

    #[test]
    fn gilbert_elliott_loses_by_the_state() {
        let mut loss = model(
            r#"{"kind":"gilbert-elliott","to_bad":0.05,"to_good":0.05,"loss_good":0.01,"loss_bad":0.3}"#,
        );
        let packets = 4_000_000;
        let lost = (0..packets).filter(|&n| loss.lost(Time(n), packet(0, n))).count() as f64;
        // Each state has half of the time: (0.01 + 0.3) / 2. A stay lasts 20 packets, so the
        // variance of the rate is about 4 times that of the binomial distribution: 4 sigma =
        // 0.0015.
        assert!((lost / packets as f64 - 0.155).abs() < 0.0015, "{lost}");
    }

    #[test]
    fn bursts_in_time_last_as_long_however_many_packets_come() {
        const SECONDS: u64 = 4_000;
        for gap_ns in [1_000_000, 7_000_000] {
            let mut loss = model(
                r#"{"kind":"bursts","mean_good_ns":900000000,"mean_bad_ns":100000000,"loss_good":0,"loss_bad":1}"#,
            );
            let lost: Vec<_> = (0..SECONDS * 1_000_000_000 / gap_ns)
                .map(|number| loss.lost(Time(number * gap_ns), packet(0, number)))
                .collect();
            let share = lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64;
            // About 4,000 cycles. A share of time that alternates between two exponential states
            // has a variance of 2 f^2 (1 - f)^2 / cycles: four standard deviations of 0.002.
            assert!((share - 0.1).abs() < 0.008, "{share}");
            let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
            // A burst between two packets is not seen, so the share exp(-gap / 100 ms) is. Good
            // times as short are not seen, either: at most 1 %. The bound is more than four times
            // sqrt(4000).
            let seen = 4_000.0 * (-(gap_ns as f64) / 1e8).exp();
            assert!((bursts - seen).abs() < 340.0, "{bursts} of {seen}");
        }
    }
}
