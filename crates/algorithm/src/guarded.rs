//! Guarded instances: a hook of a user-defined algorithm that never returns is left (Linux).
//!
//! Where a run is in a process of its own, another process ends it. An environment for learners has
//! its runs in the user's process, so its calls need a way out. After a call was left, all further
//! guarded calls of the thread do nothing until [`stalled`] has reported it.

use std::time::Duration;

use crate::ffi;

/// A hook that has not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Name of the hook.
    pub hook: String,
}

/// Set the processor time that a call may take, in the whole process.
pub fn limit(time: Duration) {
    ffi::limit_guarded(u64::try_from(time.as_micros()).unwrap_or(u64::MAX / 1000).max(10));
}

/// Return the call that was left in this thread since the last time; none: no call was.
#[must_use]
pub fn stalled() -> Option<Stalled> {
    ffi::stalled()
        .map(|(algorithm, hook)| Stalled { algorithm: algorithm.to_owned(), hook: hook.to_owned() })
}
