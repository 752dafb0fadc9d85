//! Limits of a queue. The packet being sent does not count.

use schemars::JsonSchema;
use serde::Deserialize;

use super::backlog::Backlog;

/// An amount of packets or of bytes: the room of a queue, or a threshold in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// So many packets.
    Packets(u32),
    /// So many bytes, link overhead included.
    Bytes(u64),
}

impl Limit {
    /// Whether a packet that finds `backlog` may join it. An idle transmitter takes any.
    #[inline]
    #[must_use]
    pub fn takes(self, backlog: &Backlog, wire_bytes: u32) -> bool {
        match self {
            // Not "less than": the backlog has the packet being sent, and the limit does not count
            // it.
            Self::Packets(limit) => backlog.packets <= limit,
            Self::Bytes(limit) => {
                backlog.packets == 0 || backlog.waiting_bytes() + u64::from(wire_bytes) <= limit
            }
        }
    }

    /// How many packets of this size may join `packets`, behind the first of which `waiting_bytes`
    /// wait; an idle transmitter takes any.
    #[inline]
    #[must_use]
    pub const fn space(self, packets: u32, waiting_bytes: u64, wire_bytes: u32) -> u32 {
        match self {
            // One more than the limit, since the packet being sent is among `packets`.
            Self::Packets(limit) => limit.saturating_add(1).saturating_sub(packets),
            Self::Bytes(limit) => {
                let free = limit.saturating_sub(waiting_bytes) / wire_bytes as u64;
                let free = if free > u32::MAX as u64 - 1 { u32::MAX - 1 } else { free as u32 };
                free + (packets == 0) as u32
            }
        }
    }

    /// Whether a queue of `packets` and `bytes`, all of them waiting, is no larger.
    #[inline]
    #[must_use]
    pub const fn holds(self, packets: u32, bytes: u64) -> bool {
        match self {
            Self::Packets(limit) => packets <= limit,
            Self::Bytes(limit) => bytes <= limit,
        }
    }

    /// Whether `packets` and `bytes` are as many as this or more.
    #[inline]
    #[must_use]
    pub const fn is_reached(self, packets: u32, bytes: u64) -> bool {
        match self {
            Self::Packets(threshold) => packets >= threshold,
            Self::Bytes(threshold) => bytes >= threshold,
        }
    }
}
