//! Rare events without a draw for each trial.
//!
//! The number of trials without the event before the next one is geometric, and the binary digits
//! of a geometric number are independent: digit i is one with the odds q^(2^i) : 1, where q is the
//! probability that the event stays out. So a whole gap costs one comparison for each digit. It
//! needs no logarithm, which is not the same to the last bit on every machine. (Multiplication and
//! division are: IEEE 754.)

use crate::random::{Random, WHOLE};

/// An event of constant probability in independent trials.
#[derive(Clone, Debug)]
pub struct Chance {
    /// Number of trials before the next event.
    left: u64,
    /// Bound for each binary digit of a gap: the digit is one if a draw is below it.
    digits: Vec<u64>,
    random: Random,
}

impl Chance {
    /// An event that happens with `probability`, in `0.0..=1.0`.
    ///
    /// # Panics
    /// If the probability is outside that range.
    #[must_use]
    pub fn new(probability: f64, random: Random) -> Self {
        let mut chance = Self { left: 0, digits: Vec::new(), random };
        chance.set(probability);
        chance
    }

    /// Change the probability from the next trial on.
    ///
    /// # Panics
    /// If the probability is outside `0.0..=1.0`.
    pub fn set(&mut self, probability: f64) {
        assert!((0.0..=1.0).contains(&probability), "probability {probability} not in 0..1");
        // A geometric number has no memory, so trials not yet passed may be drawn again.
        self.digits.clear();
        // The probability of the event within 2^i trials. The complement, q^(2^i), would round to
        // one for a rare event, and its digits would cancel.
        let mut happens = probability;
        // A gap has 64 digits. At a probability of 1 there are none, and each gap is 0.
        while happens < 1.0 && self.digits.len() < 64 {
            let one = (1.0 - happens) / (2.0 - happens);
            // The product with a power of two is exact.
            self.digits.push((one * WHOLE) as u64);
            happens *= 2.0 - happens;
        }
        // A gap whose digits are all one is the longest. No run reaches its end.
        if probability == 0.0 {
            self.digits.fill(u64::MAX);
        }
        self.left = self.gap();
    }

    /// Run the next trial and return whether the event happens.
    #[inline]
    pub fn happens(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        self.left = self.gap();
        true
    }

    /// Number of trials before the next event.
    #[inline]
    #[must_use]
    pub const fn certain(&self) -> u64 {
        self.left
    }

    /// Pass `trials` of [`Self::certain`] at once.
    #[inline]
    pub const fn pass(&mut self, trials: u64) {
        self.left -= trials;
    }

    #[cold]
    fn gap(&mut self) -> u64 {
        let mut gap = 0;
        for (digit, &below) in self.digits.iter().enumerate() {
            gap |= u64::from(self.random.next_u64() < below) << digit;
        }
        gap
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "the expectation is a band")]
mod tests {
    use super::*;

    fn events(probability: f64, trials: usize) -> Vec<usize> {
        let mut chance = Chance::new(probability, Random::new(11, 4));
        (0..trials).filter(|_| chance.happens()).collect()
    }

    #[test]
    fn the_rate_is_within_four_standard_deviations() {
        for probability in [1e-5, 1e-3, 0.02, 0.3, 0.5, 0.97] {
            let trials = 4_000_000;
            let expected = probability * f64::from(trials);
            let band = 4.0 * (expected * (1.0 - probability)).sqrt();
            let seen = events(probability, trials as usize).len() as f64;
            assert!((seen - expected).abs() < band, "{seen} of {expected} at {probability}");
        }
    }

    #[test]
    fn gaps_are_geometric_and_independent() {
        let at = events(0.2, 2_000_000);
        let gaps: Vec<_> = at.windows(2).map(|pair| pair[1] - pair[0] - 1).collect();
        let count = gaps.len() as f64;
        // P(gap = k) = 0.2 * 0.8^k.
        for k in 0..12 {
            let expected = count * 0.2 * 0.8f64.powi(k);
            let seen = gaps.iter().filter(|&&gap| gap == k as usize).count() as f64;
            assert!((seen - expected).abs() < 4.5 * expected.sqrt(), "gap {k}: {seen}, {expected}");
        }
        // The lag-one correlation of n independent values has a standard deviation of 1/sqrt(n).
        let mean = gaps.iter().sum::<usize>() as f64 / count;
        let deviation = |gap: usize| gap as f64 - mean;
        let variance: f64 = gaps.iter().map(|&gap| deviation(gap).powi(2)).sum();
        let lagged: f64 = gaps.windows(2).map(|pair| deviation(pair[0]) * deviation(pair[1])).sum();
        assert!((lagged / variance).abs() < 4.0 / count.sqrt());
    }

    #[test]
    fn a_seed_gives_the_same_gaps_on_every_machine() {
        // From a model of the generator and the digits in Python.
        assert_eq!(events(0.01, 1_000)[..5], [217, 516, 521, 735, 754]);
        assert_eq!(events(1e-7, 33_000_000), [16_163_065, 32_391_144]);
    }

    #[test]
    fn certainty_and_impossibility() {
        assert_eq!(events(1.0, 1_000).len(), 1_000);
        assert_eq!(events(0.0, 1_000_000).len(), 0);
    }

    #[test]
    fn a_change_counts_from_the_next_trial() {
        let mut chance = Chance::new(0.0, Random::new(1, 1));
        assert!((0..1_000).all(|_| !chance.happens()));
        chance.set(1.0);
        assert!((0..1_000).all(|_| chance.happens()));
    }
}
