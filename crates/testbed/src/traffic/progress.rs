//! The amount of work that one connection does before others have their turn.

/// Reads and writes of one turn, so that a fast connection leaves time for others.
pub const TURN: usize = 8;

/// Whether there may be more to do at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The kernel will tell when there is.
    Done,
    /// The turn was over.
    More,
}
