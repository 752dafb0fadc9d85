//! Outcomes of a packet at a link.

use crate::units::Time;

/// Why a packet went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue had no space or decided against the packet, or a policer did.
    Overflow,
    /// The link's random or scripted loss.
    Random,
}

/// What a link that decides on arrival says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// It will be at the far end then.
    Leaves(Time),
    /// The same, but it has been marked.
    Marked(Time),
    /// It goes no further.
    Lost(DropCause),
}
