//! Shortcuts that make a run cheaper and change no result.

/// Shortcuts that a run takes. Each only saves time: tests disable one or all of them, and expect
/// the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// Senders predict acknowledgements (header prediction).
    pub sender: bool,
    /// Receivers predict data (header prediction).
    pub receiver: bool,
    /// Plain links skip the checks for other features.
    pub link: bool,
    /// Consecutive acknowledgements are processed together.
    pub trains: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self { sender: true, receiver: true, link: true, trains: true }
    }
}
