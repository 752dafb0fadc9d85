//! Round-trip times in microseconds, as the kernel counts them.

use dumbbell_network::{Span, Time};

use crate::arrival::clock;

/// Largest round-trip time of an algorithm, in microseconds: a signed 32-bit number, 36 minutes.
pub const RTT_US_MAX: u64 = i32::MAX as u64;

/// Return a round-trip time in microseconds.
#[inline]
pub fn rtt_us(rtt: Span) -> u32 {
    rtt.as_micros().min(RTT_US_MAX) as u32
}

/// Return the round-trip time by an echoed timestamp, in microseconds.
pub fn rtt_of_echo(now: Time, echo: u32) -> u32 {
    // An answer within the same millisecond counts as one millisecond (tcp_rtt_tsopt_us).
    clock(now).wrapping_sub(echo).clamp(1, RTT_US_MAX as u32 / 1_000) * 1_000
}
