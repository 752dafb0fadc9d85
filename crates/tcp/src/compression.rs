//! SACK compression: one duplicate ACK for many segments (Linux since 4.18).

use dumbbell_network::Span;

use crate::stack::Stack;

/// Number of duplicate ACKs that leave one by one before others may wait. A sender without RACK
/// needs so many to infer a loss.
const DUPLICATES_AT_ONCE: u32 = 3;
/// Largest wait of a duplicate ACK, as a divisor of the round trip: 5 %.
const RTT_PART: u64 = 20;
/// Allowed lateness of its timer, which saves interrupts. An idle host is always so late.
const SLACK: Span = Span::from_micros(100);

/// Decides which ACKs of segments out of order may wait.
#[derive(Clone, Debug)]
pub struct SackCompression {
    compressed_max: u32,
    wait: Span,
    /// Segments out of order since the cumulative ACK last advanced, up to [`DUPLICATES_AT_ONCE`].
    duplicates: u32,
    compressed: u32,
}

impl SackCompression {
    /// Compression for a peer at the round-trip time `rtt`.
    pub fn new(stack: &Stack, rtt: Span) -> Self {
        let wait_max = if stack.sack { stack.sack_compression_ns } else { Span::ZERO };
        let compressed_max = stack.sack_compression_segs;
        let wait = Span(rtt.0 / RTT_PART).min(wait_max);
        Self { compressed_max, wait, duplicates: 0, compressed: 0 }
    }

    /// Take a segment out of order. Return whether its ACK may wait.
    pub const fn hold(&mut self) -> bool {
        // Linux counts these in dup_ack_counter (__tcp_ack_snd_check).
        if self.duplicates < DUPLICATES_AT_ONCE {
            self.duplicates += 1;
            return false;
        }
        if self.wait.0 == 0 || self.compressed >= self.compressed_max {
            return false;
        }
        self.compressed += 1;
        true
    }

    /// Longest wait of an ACK.
    pub const fn wait(&self) -> Span {
        Span(self.wait.0 + SLACK.0)
    }

    /// Return whether an ACK waits.
    pub const fn is_holding(&self) -> bool {
        self.compressed > 0
    }

    /// Reset the count of duplicates, because the cumulative ACK advances.
    pub const fn on_advance(&mut self) {
        self.duplicates = 0;
    }

    /// Reset the count of waiting ACKs, because an ACK leaves.
    pub const fn on_ack(&mut self) {
        self.compressed = 0;
    }
}
