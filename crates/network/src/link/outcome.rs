//! Outcomes of a packet at a link.

use crate::units::Time;

/// Cause of a packet's loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue had no space or dropped the packet by its discipline, or a policer dropped it.
    Overflow,
    /// Random or scripted loss of the link.
    Random,
}

/// Outcome of a packet at a link that decides on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// The packet will be at the far end at this time.
    Leaves(Time),
    /// The same, and the link marked the packet.
    Marked(Time),
    /// The link lost the packet.
    Lost(DropCause),
}
