//! Round-trip times in microseconds, as the kernel counts them.

use dumbbell_network::{Span, Time};

use crate::arrival::clock;

/// What algorithms have for a round-trip time are 32 bits with a sign: 36 minutes.
pub const RTT_US_MAX: u64 = i32::MAX as u64;

/// A round-trip time in microseconds.
#[inline]
pub fn rtt_us(rtt: Span) -> u32 {
    rtt.as_micros().min(RTT_US_MAX) as u32
}

/// The round-trip time by an echoed timestamp, in microseconds.
pub fn rtt_of_echo(now: Time, echo: u32) -> u32 {
    // An answer within the same millisecond counts as one (tcp_rtt_tsopt_us).
    clock(now).wrapping_sub(echo).clamp(1, RTT_US_MAX as u32 / 1_000) * 1_000
}
