//! Exact times that a link takes to send packets.
//!
//! A serialisation time is rarely a whole number of nanoseconds. The remainder is
//! carried from packet to packet while the link stays busy, so that a busy link
//! delivers its rate to the bit however long the run.

use crate::units::{Rate, Span, Time};

const NANOSECOND_BITS_PER_BYTE: u64 = 8 * 1_000_000_000;

/// A transmitter of constant rate that sends one packet after the other.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: u64,
    free_at: Time,
    remainder: u64,
    latest: Cost,
}

/// Serialisation time of one packet size: `whole` ns and `remainder`/rate of one.
#[derive(Clone, Copy, Debug)]
struct Cost {
    bytes: u32,
    whole: u64,
    remainder: u64,
}

impl Serializer {
    /// An idle transmitter.
    #[must_use]
    pub const fn new(rate: Rate) -> Self {
        let latest = Cost { bytes: 0, whole: 0, remainder: 0 };
        Self { rate: rate.0.get(), free_at: Time::ZERO, remainder: 0, latest }
    }

    /// Append a packet that arrives at `now`. Return the start and the end of its transmission.
    #[inline]
    pub fn send(&mut self, now: Time, bytes: u32) -> (Time, Time) {
        let mut times = (now, now);
        self.send_train(now, bytes, 1, |start, end| times = (start, end));
        times
    }

    /// Append `count` packets that arrive at `now`. `sent` is called with the start and the end of
    /// each transmission.
    #[inline(always)]
    pub fn send_train(
        &mut self,
        now: Time,
        bytes: u32,
        count: u32,
        mut sent: impl FnMut(Time, Time),
    ) {
        if bytes != self.latest.bytes {
            self.latest = self.cost(bytes);
        }
        let Cost { whole, remainder: more, .. } = self.latest;
        let is_idle = now > self.free_at;
        let mut start = if is_idle { now } else { self.free_at };
        // An idle link begins at an arrival, which is a whole nanosecond.
        let mut remainder = if is_idle { 0 } else { self.remainder };
        for _ in 0..count {
            remainder += more;
            // Both remainders are below the rate, so their sum carries at most once. This needs no
            // division for each packet.
            let carries = remainder >= self.rate;
            remainder -= if carries { self.rate } else { 0 };
            let end = start + Span(whole + u64::from(carries));
            sent(start, end);
            start = end;
        }
        (self.free_at, self.remainder) = (start.min(Time::STUCK), remainder);
    }

    /// Time at which the transmitter has sent everything.
    #[inline]
    #[must_use]
    pub const fn free_at(&self) -> Time {
        self.free_at
    }

    /// Return the shortest transmission time of a packet. A carried remainder may add a nanosecond.
    #[must_use]
    pub const fn shortest(&self, bytes: u32) -> Span {
        Span(self.cost(bytes).whole)
    }

    /// Return the longest transmission time of a packet, with a carried nanosecond.
    #[inline]
    #[must_use]
    pub const fn longest(&self, bytes: u32) -> Span {
        let cost = if bytes == self.latest.bytes { self.latest } else { self.cost(bytes) };
        Span(cost.whole + 1)
    }

    #[cold]
    const fn cost(&self, bytes: u32) -> Cost {
        let numerator = bytes as u64 * NANOSECOND_BITS_PER_BYTE;
        Cost { bytes, whole: numerator / self.rate, remainder: numerator % self.rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    fn serializer(bits_per_s: u64) -> Serializer {
        Serializer::new(Rate(NonZeroU64::new(bits_per_s).unwrap()))
    }

    #[test]
    fn remainders_add_up_to_the_exact_rate() {
        // 7 Mbit/s and 1500 bytes: 1,714,285.71 ns a packet.
        let mut link = serializer(7_000_000);
        let mut end = Time::ZERO;
        for _ in 0..7_000 {
            end = link.send(Time::ZERO, 1500).1;
        }
        assert_eq!(end, Time(12_000_000_000));
    }

    #[test]
    fn an_idle_link_starts_at_once_and_a_busy_one_when_it_is_free() {
        let mut link = serializer(1_000_000_000);
        assert_eq!(link.send(Time(100), 1500), (Time(100), Time(12_100)));
        assert_eq!(link.send(Time(200), 500), (Time(12_100), Time(16_100)));
        assert_eq!(link.send(Time(20_000), 1500), (Time(20_000), Time(32_000)));
    }
}
