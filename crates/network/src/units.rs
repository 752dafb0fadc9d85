//! Time and rate as types: whole nanoseconds and bits per second.
//!
//! The numbers of a scenario are bounded, and so are the times at which links are free, so that
//! sums fit 64 bits: a release checks no addition.

use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Sub};

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// A point in time, in nanoseconds since the run began.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Time(#[serde(deserialize_with = "bounded_time")] pub u64);

/// A length of time, in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Span(#[serde(deserialize_with = "bounded_time")] pub u64);

fn bounded_time<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let time_ns = u64::deserialize(from)?;
    if time_ns > Span::LONGEST.0 {
        let problem = format!("a time of {time_ns} ns, but the longest is 2^60 ns (36 years)");
        return Err(D::Error::custom(problem));
    }
    Ok(time_ns)
}

impl Time {
    /// The beginning of the run.
    pub const ZERO: Self = Self(0);
    /// A time later than every event.
    pub const NEVER: Self = Self(u64::MAX);
    /// End of an action that never ends. It is far beyond any run, and the delays of a route can be
    /// added to it.
    pub const STUCK: Self = Self(u64::MAX >> 2);

    /// Whole microseconds since the run began.
    #[inline]
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Return the time later by `span`, at most [`Time::NEVER`].
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// Return the time since `earlier`, which must not be later than `self`.
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0 - earlier.0)
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longest time that a scenario may contain, and longest delay of a route outside its queues.
    pub const LONGEST: Self = Self(1 << 60);

    /// A span of whole microseconds.
    #[inline]
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros * 1_000)
    }

    /// A span of whole milliseconds.
    #[inline]
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000_000)
    }

    /// Whole microseconds in the span.
    #[inline]
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Return the sum of both spans, at most the largest 64-bit number.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Return `count` times the span, at most the largest 64-bit number.
    #[inline]
    #[must_use]
    pub const fn saturating_mul(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl Add<Span> for Time {
    type Output = Self;
    #[inline]
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl Add for Span {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub<Span> for Span {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// A link's rate in bits per second, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Rate(#[serde(deserialize_with = "bounded_rate")] pub NonZeroU64);

impl Rate {
    /// Largest rate. It is above every real one, and sums of its remainders fit 64 bits.
    pub const FASTEST: u64 = 1 << 62;
}

fn bounded_rate<'de, D: Deserializer<'de>>(from: D) -> Result<NonZeroU64, D::Error> {
    let rate = NonZeroU64::deserialize(from)?;
    if rate.get() > Rate::FASTEST {
        return Err(D::Error::custom(format!("a rate of {rate} bit/s, but the fastest is 2^62")));
    }
    Ok(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sums_would_not_hold_is_refused() {
        let message = |error: serde_json::Error| error.to_string();
        let span = |text| serde_json::from_str::<Span>(text).map_err(message);
        assert_eq!(span("1152921504606846976"), Ok(Span::LONGEST));
        assert!(span("1152921504606846977").unwrap_err().contains("36 years"));
        let time = serde_json::from_str::<Time>("18446744073709551615").map_err(message);
        assert!(time.unwrap_err().starts_with("a time of 18446744073709551615 ns"));
        let rate = |text| serde_json::from_str::<Rate>(text).map_err(message);
        assert_eq!(rate("4611686018427387904").map(|rate| rate.0.get()), Ok(Rate::FASTEST));
        assert!(rate("4611686018427387905").unwrap_err().contains("2^62"));
    }
}
