//! Errors of a run on the testbed.

use dumbbell_algorithm::complaint::Complaint;
use dumbbell_record::Invalid;

/// Reason why a run gave no output. Every message contains the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario cannot run, or not on the testbed, or not until its end.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// An algorithm does not compile for the kernel, or the kernel's verifier rejects it.
    #[error("{file}{}: {cause}", line.map_or_else(String::new, |line| format!(":{line}")))]
    Algorithm {
        /// Its file.
        file: String,
        /// The line at fault; none: unknown.
        line: Option<u32>,
        /// The compiler's or the verifier's message, reduced to the cause, and where to find the
        /// rest.
        cause: String,
    },
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
    /// The run was given up, since it could not become valid any more.
    #[error("{0}")]
    GivenUp(String),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<Complaint> for Error {
    fn from(Complaint { file, line, cause }: Complaint) -> Self {
        Self::Algorithm { file, line, cause }
    }
}

impl Error {
    /// The machine cannot do `what`, for the reason `cause`.
    pub(crate) fn machine(what: &str, cause: &impl ToString, remedy: &str) -> Self {
        Self::Machine { what: what.to_owned(), cause: cause.to_string(), remedy: remedy.to_owned() }
    }
}
