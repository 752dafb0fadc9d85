//! Errors in the name or the parameters of an algorithm.

use thiserror::Error;

/// An algorithm, preset or parameter that does not exist, or an invalid value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AlgorithmError {
    /// No algorithm has this name.
    #[error("unknown algorithm '{name}'{}; known: {}", suggestion(.nearest), .known.join(", "))]
    UnknownAlgorithm {
        /// The name that was requested.
        name: String,
        /// The algorithms that exist.
        known: Vec<&'static str>,
        /// The most similar of them, if one is similar.
        nearest: Option<&'static str>,
    },
    /// The algorithm has no preset of this name.
    #[error(
        "algorithm '{algorithm}' has no preset '{name}'{}; {}",
        suggestion(.nearest), list("presets", .known)
    )]
    UnknownPreset {
        /// The algorithm.
        algorithm: &'static str,
        /// The name that was requested.
        name: String,
        /// The presets that it has.
        known: Vec<&'static str>,
        /// The most similar of them, if one is similar.
        nearest: Option<&'static str>,
    },
    /// The algorithm has no parameter of this name.
    #[error(
        "algorithm '{algorithm}' has no parameter '{name}'{}; {}",
        suggestion(.nearest), list("parameters", .known)
    )]
    UnknownParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// The name that was requested.
        name: String,
        /// The parameters that it has.
        known: Vec<&'static str>,
        /// The most similar of them, if one is similar.
        nearest: Option<&'static str>,
    },
    /// The parameter cannot have this value.
    #[error("parameter '{parameter}' of '{algorithm}' cannot be {value}; valid: {}", range(*.low, *.high, *.step, .unit))]
    OutOfRange {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The value that was requested.
        value: u32,
        /// The smallest valid value.
        low: u32,
        /// The largest valid value.
        high: u32,
        /// Distance between two valid values.
        step: u32,
        /// Their unit.
        unit: &'static str,
    },
}

impl AlgorithmError {
    /// The key at fault, below the connection's in a scenario.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::UnknownAlgorithm { .. } => "algorithm".to_owned(),
            Self::UnknownPreset { .. } => "preset".to_owned(),
            Self::UnknownParameter { name, .. } => format!("parameters.{name}"),
            Self::OutOfRange { parameter, .. } => format!("parameters.{parameter}"),
        }
    }
}

fn suggestion(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean '{name}'?)"))
}

fn list(what: &str, names: &[&'static str]) -> String {
    if names.is_empty() {
        format!("it has no {what}")
    } else {
        format!("{what}: {}", names.join(", "))
    }
}

fn range(low: u32, high: u32, step: u32, unit: &str) -> String {
    if step == 1 {
        format!("{low} to {high} ({unit})")
    } else {
        format!("{low} or {high} ({unit})")
    }
}

/// The name most similar to `name`; none: none is similar enough.
pub(crate) fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let similarity = |candidate: &str| strsim::jaro_winkler(&name.to_lowercase(), candidate);
    known
        .iter()
        .copied()
        .rev()
        .filter(|candidate| similarity(candidate) > 0.75)
        .max_by(|a, b| similarity(a).total_cmp(&similarity(b)))
}
