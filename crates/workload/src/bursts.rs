//! Sending in bursts.

use dumbbell_network::{Random, Span};

use crate::flow::OnOff;

/// Times of sending and silence in turn.
#[derive(Debug)]
pub struct Bursts {
    pattern: OnOff,
    random: Random,
    /// True in a time of sending.
    pub on: bool,
}

impl Bursts {
    /// Silent until the first turn.
    pub const fn new(pattern: OnOff, random: Random) -> Self {
        Self { pattern, random, on: false }
    }

    /// Turn from silence to sending or back; return the time until the next turn.
    pub fn turn(&mut self) -> Span {
        self.on = !self.on;
        let mean = Span(if self.on { self.pattern.on_ns } else { self.pattern.off_ns }.get());
        if self.pattern.random { self.random.exponential(mean).min(Span::LONGEST) } else { mean }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    #[test]
    fn random_bursts_have_the_requested_mean() {
        let mean = NonZeroU64::new(1_000_000).unwrap();
        let pattern = OnOff { on_ns: mean, off_ns: mean, random: true };
        let mut bursts = Bursts::new(pattern, Random::new(3, 4));
        let total: u64 = (0..100_000).map(|_| bursts.turn().0).sum();
        let measured = total as f64 / 100_000.0 / 1e6;
        // Four standard errors of the mean of an exponential distribution.
        assert!((measured - 1.0).abs() < 4.0 / 100_000f64.sqrt(), "{measured}");
    }
}
