//! Accurate ECN (RFC 9768): ACKs count the marks that have arrived.
//!
//! Three flags of the header (the ACE field) hold a counter of marked packets modulo 8. If there is
//! space, an option holds counters of payload by the ECN field of its packets.

mod counter;
mod reader;

pub use counter::MarkCounter;
pub use reader::MarkReader;

use dumbbell_network::Ecn as Codepoint;

use crate::stack::{AccEcnOption, Stack};

/// The ACE field counts modulo this.
const ACE_CYCLE: u64 = 8;
/// Start of the counter of marked packets, so that the field is not all zeros at first (RFC 9768,
/// section 3.2.1).
const PACKETS_AT_START: u64 = 5;
/// Counters of bytes in the option have 24 bits.
const BYTES_CYCLE: u32 = 1 << 24;
/// Size of the option with its three counters, padded to whole words.
const OPTION_BYTES: u16 = 12;
/// Size of the option with two counters, one of them that of marked bytes.
const SHORT_OPTION_BYTES: u16 = 8;
/// Space for options in a TCP header, in bytes.
const OPTIONS_BYTES_MAX: u16 = 40;

/// Counts of marks in an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkCounts {
    /// The ACE field: marked packets and 5, modulo 8.
    pub ace: u8,
    /// The option; None if the ACK has none.
    pub option: Option<ByteCounts>,
}

/// The AccECN option: payload in bytes by ECN field, modulo 2^24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteCounts {
    /// Payload with ECT(0), and 1.
    pub ect0: u32,
    /// Marked payload.
    pub ce: u32,
    /// Payload with ECT(1), and 1.
    pub ect1: u32,
    /// True if the option omits the counter that does not change: ECT(1), or ECT(0) for an L4S
    /// flow.
    pub is_short: bool,
}

impl MarkCounts {
    /// Size of the option in bytes, padded to whole words; 0 if there is none.
    #[must_use]
    pub const fn option_bytes(&self) -> u16 {
        match self.option {
            None => 0,
            Some(ByteCounts { is_short: false, .. }) => OPTION_BYTES,
            Some(ByteCounts { is_short: true, .. }) => SHORT_OPTION_BYTES,
        }
    }
}

/// Bytes of the option in each packet of a connection, with or without data.
#[must_use]
pub const fn option_bytes(stack: &Stack) -> u16 {
    let is_always = matches!(stack.accecn_option, AccEcnOption::Always);
    if stack.accecn && is_always { OPTION_BYTES } else { 0 }
}

/// Bytes of the option in the last two packets of a handshake, which test the path.
#[must_use]
pub const fn opening_option_bytes(stack: &Stack) -> u16 {
    let is_never = matches!(stack.accecn_option, AccEcnOption::Never);
    if stack.accecn && !is_never { OPTION_BYTES } else { 0 }
}

/// Return the ACE field of the last two packets of a handshake. It reports the ECN field of the
/// packet from the other end (RFC 9768, section 3.2.2.2).
#[must_use]
pub const fn handshake_ace(received: Codepoint) -> u8 {
    match received {
        Codepoint::NotEct => 0b010,
        Codepoint::Ect1 => 0b011,
        Codepoint::Ect0 => 0b100,
        Codepoint::Ce => 0b110,
    }
}
