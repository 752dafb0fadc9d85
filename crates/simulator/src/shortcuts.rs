//! Shortcuts that make a run cheaper and change no result.

/// Which shortcuts are taken. Each only saves time: tests close one or all of them and expect
/// the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// Senders predict acknowledgements (header prediction).
    pub sender: bool,
    /// Receivers predict data (header prediction).
    pub receiver: bool,
    /// Plain links do not ask what else they might be.
    pub link: bool,
    /// Acknowledgements that come one after the other are worked through together.
    pub trains: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self { sender: true, receiver: true, link: true, trains: true }
    }
}
