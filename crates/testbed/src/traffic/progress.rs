//! The amount of work that one connection does before others have their turn.

/// Reads and writes of one turn, so that a fast connection leaves time for others.
pub const TURN: usize = 8;

/// Result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// No work is left. The kernel reports new work.
    Done,
    /// The turn is over, and work may be left.
    More,
}
