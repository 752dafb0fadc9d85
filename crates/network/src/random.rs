//! Randomness as a value: one seeded generator for each place that draws.
//!
//! Xoshiro256++ (Blackman and Vigna) seeded by SplitMix64 gives the same numbers on
//! every machine. Each consumer has a stream of its own, so that adding one does not
//! change what another draws.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream number `stream` of a run's seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        // An odd multiplier keeps distinct streams distinct for every seed.
        let mixed = seed ^ stream.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// A further stream, drawn from this one.
    #[must_use]
    pub fn split(&mut self) -> Self {
        let seed = self.next_u64();
        Self::new(seed, self.next_u64())
    }

    /// Uniform over all 64-bit values.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform over all 32-bit values.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Uniform in `0..=max`.
    #[inline]
    pub fn up_to(&mut self, max: u64) -> u64 {
        ((u128::from(self.next_u64()) * (u128::from(max) + 1)) >> 64) as u64
    }
}

/// Independent loss of each packet with a constant probability.
#[derive(Clone, Debug)]
pub struct Bernoulli {
    threshold: u64,
    random: Random,
}

impl Bernoulli {
    /// Loss with the given probability, in `0.0..1.0`.
    ///
    /// # Panics
    /// If the probability is outside that range.
    #[must_use]
    pub fn new(probability: f64, random: Random) -> Self {
        assert!((0.0..1.0).contains(&probability), "loss probability {probability} not in 0..1");
        // Exact: a double times a power of two, truncated to an integer.
        let threshold = (probability * 2f64.powi(64)) as u64;
        Self { threshold, random }
    }

    /// Whether the next packet is lost.
    #[inline]
    pub fn lost(&mut self) -> bool {
        self.random.next_u64() < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| Random::new(seed, stream).next_u64();
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
        let mut parent = Random::new(1, 0);
        assert_ne!(parent.split().next_u64(), parent.split().next_u64());
    }

    #[test]
    fn loss_rate_is_within_four_standard_deviations() {
        let mut loss = Bernoulli::new(0.01, Random::new(7, 3));
        let lost = (0..1_000_000).filter(|_| loss.lost()).count();
        assert!((9_600..=10_400).contains(&lost), "lost {lost} of a million at 1 %");
    }
}
