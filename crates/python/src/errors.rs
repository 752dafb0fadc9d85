//! The exceptions that the engine raises, and which error becomes which.

use dumbbell_algorithm::complaint::Complaint;
use dumbbell_algorithm::user_defined::LoadError;
use dumbbell_record::Invalid;
use dumbbell_simulator::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run: (key, problem)."
);
create_exception!(
    _core,
    AlgorithmError,
    PyValueError,
    "A user's algorithm that cannot be used: (file, line or None, cause)."
);
create_exception!(
    _core,
    ActionError,
    PyValueError,
    "A number that no action has: (place, learner, which of its numbers, value)."
);
create_exception!(
    _core,
    Stalled,
    PyException,
    "A hook of a user's algorithm that never returns: (place, algorithm, hook)."
);
create_exception!(_core, Cancelled, PyException, "The run was cancelled.");
create_exception!(_core, GivenUp, PyException, "A run that nothing can make valid: why.");
create_exception!(_core, TestbedError, PyException, "The testbed cannot do it here: what to do.");

/// The exception for a run without output.
pub(crate) fn not_run(error: Error) -> PyErr {
    match error {
        Error::Invalid(invalid) => not_valid(invalid),
        Error::Cancelled => Cancelled::new_err(()),
        // Only in environments, whose errors have a place.
        Error::Stalled(_) => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The exception for a scenario that cannot run, or not until its end.
pub(crate) fn not_valid(Invalid { key, problem }: Invalid) -> PyErr {
    ScenarioError::new_err((key, problem))
}

/// A ValueError: this package writes calls, never users.
pub(crate) fn not_read(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn not_usable(error: LoadError) -> PyErr {
    match error {
        LoadError::File(Complaint { file, line, cause }) => {
            AlgorithmError::new_err((file, line, cause))
        }
        LoadError::Cancelled => Cancelled::new_err(()),
        LoadError::Machine { .. } => {
            AlgorithmError::new_err((None::<String>, None::<u32>, error.to_string()))
        }
    }
}
