//! Scenarios that cannot run, or not until their end.

/// A scenario that cannot run, or not until its end: the key at fault and the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {problem}")]
pub struct Invalid {
    /// Path of the key, such as `flows.1.bytes`.
    pub key: String,
    /// The problem and the remedy.
    pub problem: String,
}
