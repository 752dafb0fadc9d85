//! Errors of a user's algorithm.

use thiserror::Error;

use crate::complaint::Complaint;

/// Reason why a user's algorithm is not available.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// Its file is at fault.
    #[error("{0}")]
    File(Complaint),
    /// The machine cannot do it.
    #[error("{what}: {cause}; {remedy}")]
    Machine {
        /// The task that failed.
        what: String,
        /// The system's message.
        cause: String,
        /// The remedy.
        remedy: String,
    },
    /// The caller cancelled it.
    #[error("cancelled")]
    Cancelled,
}

impl LoadError {
    pub(super) fn file(shown: &str, line: Option<u32>, cause: String) -> Self {
        Self::File(Complaint { file: shown.to_owned(), line, cause })
    }

    pub(super) fn machine(what: &str, cause: &impl ToString, remedy: &str) -> Self {
        Self::Machine { what: what.to_owned(), cause: cause.to_string(), remedy: remedy.to_owned() }
    }
}
