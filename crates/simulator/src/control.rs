//! Control of a run from outside, and errors that end it without output.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dumbbell_record::{Full, RowLimits};
use dumbbell_workload::Invalid;

/// What goes on between a run and those who wait for it, from any thread.
#[derive(Debug, Default)]
pub struct Control {
    /// Set by those who do not want its results any more.
    pub cancelled: Arc<AtomicBool>,
    /// How far it has come, in ns of its own time, about.
    pub reached_ns: Arc<AtomicU64>,
    /// How much its tables may hold.
    pub limits: RowLimits,
}

impl Control {
    /// Whether a run is still wanted; it may take long until it begins, too.
    pub(crate) fn go_on(&self) -> Result<(), Error> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Why a run gave no output.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario cannot be run, or not to its end.
    #[error("{key}: {problem}")]
    Invalid {
        /// Path of the key at fault.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
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
