//! The minimum over a recent window of time.
//!
//! The window consists of a few shares with one minimum each. A value is forgotten after one window
//! at the earliest, and after a window and a share at the latest.

use dumbbell_network::{Span, Time};

const SHARES: usize = 8;
const NOTHING: u32 = u32::MAX;

/// A minimum that forgets old values.
#[derive(Clone, Debug)]
pub struct RecentMin {
    /// Length of a share; None if values are never forgotten.
    share: Option<Span>,
    share_ends: Time,
    /// The minimum of each share, with the current one first.
    minima: [u32; SHARES + 1],
    min: u32,
}

impl RecentMin {
    /// Begin with a value of the time `now`.
    #[must_use]
    pub fn new(window: Option<Span>, now: Time, value: u32) -> Self {
        let share = match window {
            // A share of length zero would divide by zero in `forget`.
            Some(Span(0)) => Some(Span(1)),
            Some(Span(window)) => Some(Span(window.div_ceil(SHARES as u64))),
            None => None,
        };
        let mut minima = [NOTHING; SHARES + 1];
        minima[0] = value;
        let share_ends = share.map_or(Time::NEVER, |share| now + share);
        Self { share, share_ends, minima, min: value }
    }

    /// Take a value.
    #[inline(always)]
    pub fn take(&mut self, now: Time, value: u32) {
        if now >= self.share_ends {
            self.forget(now);
        }
        if value < self.minima[0] {
            self.minima[0] = value;
            self.min = self.min.min(value);
        }
    }

    #[cold]
    fn forget(&mut self, now: Time) {
        let share = self.share.expect("the length of a share that ended");
        let ended = now.since(self.share_ends).0 / share.0 + 1;
        self.share_ends = Time(self.share_ends.0 + ended * share.0);
        // After a long silence all shares are over, and there are no more.
        let ended = (ended as usize).min(self.minima.len());
        self.minima.rotate_right(ended);
        self.minima[..ended].fill(NOTHING);
        self.min = self.minima.into_iter().min().expect("a share");
    }

    /// The minimum over the recent window.
    #[inline]
    #[must_use]
    pub const fn get(&self) -> u32 {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(count: u64) -> Time {
        Time::ZERO + Span::from_millis(1_000 * count)
    }

    #[test]
    fn a_value_is_forgotten_after_its_window() {
        let mut min = RecentMin::new(Some(Span::from_millis(8_000)), second(5), 10);
        min.take(second(7), 20);
        min.take(second(12), 30);
        assert_eq!(min.get(), 10);
        min.take(second(14), 40);
        assert_eq!(min.get(), 20);
        min.take(second(16), 40);
        assert_eq!(min.get(), 30);
        min.take(second(99), 70);
        assert_eq!(min.get(), 70);
    }

    #[test]
    fn without_a_window_nothing_is_forgotten() {
        let mut min = RecentMin::new(None, second(0), 10);
        min.take(second(1_000_000), 20);
        assert_eq!(min.get(), 10);
    }
}
