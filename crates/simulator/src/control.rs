//! Control of a run from outside, and errors that end it without output.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dumbbell_algorithm::guarded::Stalled;
use dumbbell_record::{Invalid, RowLimits};

/// Cancellation, progress and limits of a run, shared with other threads.
#[derive(Debug, Default)]
pub struct Control {
    /// True once its results are not needed any more.
    pub cancelled: Arc<AtomicBool>,
    /// Simulated time that it has reached, in ns, approximately.
    pub reached_ns: Arc<AtomicU64>,
    /// Most rows of its tables.
    pub limits: RowLimits,
}

impl Control {
    /// Return an error if the run is cancelled. It may be even before it begins.
    pub(crate) fn check_cancelled(&self) -> Result<(), Error> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Reason why a run gave no output.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario cannot run, or not until its end.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A guarded hook never returned.
    #[error("{} of {} never returns", .0.hook, .0.algorithm)]
    Stalled(Stalled),
}
