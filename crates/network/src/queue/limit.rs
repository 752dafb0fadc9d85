//! Limits of a queue. The packet in transmission does not count.

use schemars::JsonSchema;
use serde::Deserialize;

use super::backlog::Backlog;

/// A number of packets or bytes: the limit of a queue, or a threshold in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Number of packets.
    Packets(u32),
    /// Number of bytes, with the link's overhead.
    Bytes(u64),
}

impl Limit {
    /// Return whether a packet that finds `backlog` may join it. An idle transmitter takes any
    /// packet.
    #[inline]
    #[must_use]
    pub fn takes(self, backlog: &Backlog, wire_bytes: u32) -> bool {
        match self {
            // Not "less than": the backlog includes the packet in transmission, and the limit does
            // not.
            Self::Packets(limit) => backlog.packets <= limit,
            Self::Bytes(limit) => {
                backlog.packets == 0 || backlog.waiting_bytes() + u64::from(wire_bytes) <= limit
            }
        }
    }

    /// Return how many packets of `wire_bytes` may join `packets`. Behind the first of these,
    /// `waiting_bytes` wait. An idle transmitter takes any packet.
    #[inline]
    #[must_use]
    pub const fn space(self, packets: u32, waiting_bytes: u64, wire_bytes: u32) -> u32 {
        match self {
            // One more than the limit, because `packets` includes the packet in transmission.
            Self::Packets(limit) => limit.saturating_add(1).saturating_sub(packets),
            Self::Bytes(limit) => {
                let free = limit.saturating_sub(waiting_bytes) / wire_bytes as u64;
                let free = if free > u32::MAX as u64 - 1 { u32::MAX - 1 } else { free as u32 };
                free + (packets == 0) as u32
            }
        }
    }

    /// Return whether the limit allows `packets` and `bytes`, all of them waiting.
    #[inline]
    #[must_use]
    pub const fn holds(self, packets: u32, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets <= limit,
            Self::Bytes(limit) => bytes <= limit,
        }
    }

    /// Return whether `packets` and `bytes` reach this threshold.
    #[inline]
    #[must_use]
    pub const fn is_reached(self, packets: u32, bytes: u64) -> bool {
        match self {
            Self::Packets(threshold) => packets >= threshold,
            Self::Bytes(threshold) => bytes >= threshold,
        }
    }
}
