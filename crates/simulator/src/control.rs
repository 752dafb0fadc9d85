//! Control of a run from outside, and errors that end it without output.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dumbbell_algorithm::guarded::Stalled;
use dumbbell_record::{Full, RowLimits};
use dumbbell_workload::Invalid;

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
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Reason why a run gave no output.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario cannot run, or not until its end.
    #[error("{key}: {problem}")]
    Invalid {
        /// Path of the key at fault.
        key: String,
        /// The problem.
        problem: String,
    },
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A guarded hook never returned.
    #[error("{} of {} never returns", .0.hook, .0.algorithm)]
    Stalled(Stalled),
}

impl From<Full> for Error {
    fn from(Full { key, problem }: Full) -> Self {
        Self::Invalid { key: key.to_owned(), problem }
    }
}

impl From<Invalid> for Error {
    fn from(Invalid { key, problem }: Invalid) -> Self {
        Self::Invalid { key, problem }
    }
}
