//! Randomness as a value: one seeded generator for each place that draws.
//!
//! Xoshiro256++ (Blackman and Vigna) seeded by SplitMix64 gives the same numbers on every machine.
//! Each consumer has a separate stream, so that adding one does not change what another draws.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::units::Span;

/// Number of values of 64 random bits. A product with this power of two is exact.
pub const WHOLE: f64 = (1u128 << 64) as f64;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream with the number `stream` of a run's seed.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        // An odd multiplier keeps distinct streams distinct for every seed.
        let mixed = seed ^ stream.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Draw the seed of another stream from this one.
    #[must_use]
    pub fn split(&mut self) -> Self {
        let seed = self.next_u64();
        Self::new(seed, self.next_u64())
    }

    /// Draw a uniform number from all 64-bit values.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draw a uniform number from all 32-bit values.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Draw true with a probability.
    #[inline]
    pub fn happens(&mut self, probability: f64) -> bool {
        // The product with a power of two is exact, and the cast saturates at probability 1.
        self.next_u64() < (probability * WHOLE) as u64
    }

    /// Draw an exponential span with the given mean.
    pub fn exponential(&mut self, mean: Span) -> Span {
        // Uniform in (0, 1]; libm gives the same logarithm on every machine.
        let uniform = ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        Span((-libm::log(uniform) * mean.0 as f64) as u64)
    }

    /// Draw a uniform number from `0..=max`; `max` must be below the largest 64-bit number.
    #[inline]
    pub fn up_to(&mut self, max: u64) -> u64 {
        // Multiply and shift rejects no draw, so each call takes exactly one. A remainder without
        // bias would reject some.
        ((u128::from(self.next_u64()) * u128::from(max + 1)) >> 64) as u64
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
}
