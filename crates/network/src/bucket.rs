//! A token bucket, exact to the bit.
//!
//! The bucket counts no tokens. It knows when it would be full again (the "theoretical arrival
//! time" of ITU-T I.371's generic cell rate algorithm). Taking tokens moves that instant on. There
//! are enough of them as long as it is not further away than the depth allows.

use crate::units::{Rate, Span, Time};

/// One byte, in units of (bit/s) × ns.
const BYTE: u64 = 8 * 1_000_000_000;

/// Largest depth in bytes for which the arithmetic fits 64 bits.
pub const BURST_BYTES_MAX: u64 = 2_000_000_000;

/// Tokens that fill at a constant rate up to a depth.
#[derive(Clone, Debug)]
pub struct Bucket {
    rate: u64,
    /// Depth in the unit of [`BYTE`].
    depth: u64,
    /// Time at which the bucket is full: whole nanoseconds, and `part` / `rate` of one more.
    full_at: Time,
    part: u64,
}

impl Bucket {
    /// A full bucket of `burst_bytes`, at most [`BURST_BYTES_MAX`].
    #[must_use]
    pub const fn new(rate: Rate, burst_bytes: u64) -> Self {
        assert!(burst_bytes <= BURST_BYTES_MAX, "a bucket of more than 2 GB");
        Self { rate: rate.0.get(), depth: burst_bytes * BYTE, full_at: Time::ZERO, part: 0 }
    }

    /// Return the earliest time at which the bucket holds tokens for `bytes`. For a packet larger
    /// than the bucket this is the time at which the bucket is full.
    #[inline]
    #[must_use]
    pub const fn holds_at(&self, bytes: u32) -> Time {
        match self.depth.checked_sub(bytes as u64 * BYTE) {
            // Rounded up, so that no packet goes early: a missing part of a nanosecond costs a
            // whole one.
            Some(spare) if spare >= self.part => {
                Time(self.full_at.0.saturating_sub((spare - self.part) / self.rate))
            }
            _ => Time(self.full_at.0 + (self.part > 0) as u64),
        }
    }

    /// Take tokens for `bytes` at `now`.
    #[inline]
    pub fn take(&mut self, now: Time, bytes: u32) {
        // Tokens above the depth are lost: a full bucket gains nothing over time.
        if now > self.full_at {
            self.full_at = now;
            self.part = 0;
        }
        let units = u64::from(bytes) * BYTE + self.part;
        self.full_at = (self.full_at + Span(units / self.rate)).min(Time::STUCK);
        self.part = units % self.rate;
    }

    /// Return whether the bucket is deep enough for `bytes`.
    #[inline]
    #[must_use]
    pub const fn fits(&self, bytes: u32) -> bool {
        bytes as u64 * BYTE <= self.depth
    }
}
