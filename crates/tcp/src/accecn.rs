//! Accurate ECN (RFC 9768): acknowledgements count the marks that have arrived.
//!
//! Three flags of the header (the ACE field) hold a counter of marked packets modulo 8. An option,
//! where there is space, holds counters of payload by the ECN field with which it came.

mod counter;
mod reader;

pub use counter::MarkCounter;
pub use reader::MarkReader;

use dumbbell_network::Ecn as Codepoint;

use crate::stack::{AccEcnOption, Stack};

/// The ACE field counts modulo this.
const ACE_CYCLE: u64 = 8;
/// The counter of marked packets begins here, so that the field is never all zeros at first
/// (RFC 9768, section 3.2.1).
const PACKETS_AT_START: u64 = 5;
/// Counters of bytes in the option have 24 bits.
const BYTES_CYCLE: u32 = 1 << 24;
/// Size of the option with its three counters, padded to whole words.
const OPTION_BYTES: u16 = 12;
/// The same with two of them, one of which is that of marked bytes.
const SHORT_OPTION_BYTES: u16 = 8;
/// Space for options in a TCP header.
const OPTIONS_BYTES_MAX: u16 = 40;

/// What an acknowledgement says of the marks that have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkCounts {
    /// The ACE field: marked packets and 5, modulo 8.
    pub ace: u8,
    /// The option, if there is one.
    pub option: Option<ByteCounts>,
}

/// The AccECN option: payload that came with each ECN field, modulo 2^24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteCounts {
    /// With ECT(0), and 1.
    pub ect0: u32,
    /// Marked.
    pub ce: u32,
    /// With ECT(1), and 1.
    pub ect1: u32,
    /// The one that would not change is left out: ECT(1), or ECT(0) where the flow is L4S.
    pub is_short: bool,
}

impl MarkCounts {
    /// Size of the option in bytes, padded to whole words; 0: there is none.
    #[must_use]
    pub const fn option_bytes(&self) -> u16 {
        match self.option {
            None => 0,
            Some(ByteCounts { is_short: false, .. }) => OPTION_BYTES,
            Some(ByteCounts { is_short: true, .. }) => SHORT_OPTION_BYTES,
        }
    }
}

/// Bytes that the option takes in each packet of a connection, those with data too.
#[must_use]
pub const fn option_bytes(stack: &Stack) -> u16 {
    let is_always = matches!(stack.accecn_option, AccEcnOption::Always);
    if stack.accecn && is_always { OPTION_BYTES } else { 0 }
}

/// Bytes that it takes in the last two packets of a handshake, which test the path.
#[must_use]
pub const fn opening_option_bytes(stack: &Stack) -> u16 {
    let is_never = matches!(stack.accecn_option, AccEcnOption::Never);
    if stack.accecn && !is_never { OPTION_BYTES } else { 0 }
}

/// The ACE field of the last two packets of a handshake: what the other end's packet brought
/// (RFC 9768, section 3.2.2.2).
#[must_use]
pub const fn handshake_ace(received: Codepoint) -> u8 {
    match received {
        Codepoint::NotEct => 0b010,
        Codepoint::Ect1 => 0b011,
        Codepoint::Ect0 => 0b100,
        Codepoint::Ce => 0b110,
    }
}
