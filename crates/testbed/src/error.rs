//! Errors of a run on the testbed.

use dumbbell_algorithm::complaint::Complaint;
use dumbbell_record::Full;

/// Why a run gave no output; every message says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario cannot be run, or not on the testbed, or not to its end.
    #[error("{key}: {problem}")]
    Invalid {
        /// Path of the key at fault.
        key: String,
        /// What is wrong with it, and what would be right.
        problem: String,
    },
    /// An algorithm does not compile for the kernel, or the kernel's verifier rejects it.
    #[error("{file}{}: {cause}", line.map_or_else(String::new, |line| format!(":{line}")))]
    Algorithm {
        /// Its file.
        file: String,
        /// The line at fault, where it is known.
        line: Option<u32>,
        /// The compiler's or the verifier's words, shortened to the cause, and how to
        /// see the rest.
        cause: String,
    },
    /// The machine cannot do it.
    #[error("{what}: {cause}; {remedy}")]
    Machine {
        /// What was to be done.
        what: String,
        /// What the system said.
        cause: String,
        /// The way out.
        remedy: String,
    },
    /// The run was given up: nothing that comes can make it valid.
    #[error("{0}")]
    GivenUp(String),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<Full> for Error {
    fn from(Full { key, problem }: Full) -> Self {
        Self::Invalid { key: key.to_owned(), problem }
    }
}

impl From<Complaint> for Error {
    fn from(Complaint { file, line, cause }: Complaint) -> Self {
        Self::Algorithm { file, line, cause }
    }
}

impl Error {
    /// The machine cannot do `what`, as `cause` says; `remedy` is the way out.
    pub(crate) fn machine(what: &str, cause: &impl ToString, remedy: &str) -> Self {
        Self::Machine { what: what.to_owned(), cause: cause.to_string(), remedy: remedy.to_owned() }
    }
}
