//! SACK compression: one duplicate acknowledgement for many (Linux since 4.18).

use dumbbell_network::Span;

use crate::stack::Stack;

/// Duplicates sent one by one before others may wait, as many as a sender without
/// RACK needs to see a loss.
const DUPLICATES_AT_ONCE: u32 = 3;
/// A duplicate waits for at most this part of the round trip: 5 %.
const RTT_PART: u64 = 20;
/// By how much its timer may be late to spare interrupts, and without others is.
const SLACK: Span = Span::from_micros(100);

/// Which acknowledgements of segments out of order may wait.
#[derive(Clone, Debug)]
pub struct SackCompression {
    held_max: u32,
    wait: Span,
    /// Segments out of order since the cumulative acknowledgement last moved, up to
    /// [`DUPLICATES_AT_ONCE`].
    duplicates: u32,
    held: u32,
}

impl SackCompression {
    /// For a peer at the round-trip time `rtt`.
    pub fn new(stack: &Stack, rtt: Span) -> Self {
        let wait_max = if stack.sack { stack.sack_compression_ns } else { Span::ZERO };
        let held_max = stack.sack_compression_segs;
        let wait = Span(rtt.0 / RTT_PART).min(wait_max);
        Self { held_max, wait, duplicates: 0, held: 0 }
    }

    /// Takes a segment out of order; whether its acknowledgement may wait.
    pub const fn hold(&mut self) -> bool {
        // Linux counts these in dup_ack_counter (__tcp_ack_snd_check).
        if self.duplicates < DUPLICATES_AT_ONCE {
            self.duplicates += 1;
            return false;
        }
        if self.wait.0 == 0 || self.held >= self.held_max {
            return false;
        }
        self.held += 1;
        true
    }

    /// How long it may wait.
    pub const fn wait(&self) -> Span {
        Span(self.wait.0 + SLACK.0)
    }

    /// Whether an acknowledgement is being held back.
    pub const fn is_holding(&self) -> bool {
        self.held > 0
    }

    /// The cumulative acknowledgement moves.
    pub const fn on_advance(&mut self) {
        self.duplicates = 0;
    }

    /// An acknowledgement is being sent.
    pub const fn on_ack(&mut self) {
        self.held = 0;
    }
}
