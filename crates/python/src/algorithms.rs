//! Algorithms: descriptions of those that are built in, and checks of a user's own.

use std::sync::atomic::AtomicBool;

use dumbbell_algorithm::Algorithm;
use dumbbell_algorithm::call::Call;
use dumbbell_algorithm::own;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{AlgorithmError, not_read, not_usable};
use crate::runs::{CancelToken, control};

/// Descriptions of all algorithms as a JSON list.
#[pyfunction]
pub(crate) fn algorithms() -> String {
    serde_json::to_string(dumbbell_algorithm::registry()).expect("descriptions are plain values")
}

/// Compiles and registers a user's algorithm and returns its description as JSON; messages
/// call its file `shown`.
#[pyfunction]
#[pyo3(signature = (name, code, shown, cancel=None))]
pub(crate) fn load_algorithm(
    py: Python<'_>,
    name: &str,
    code: &str,
    shown: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let control = control(cancel);
    let loaded = py
        .detach(|| own::load_unless(name, code, shown, &control.cancelled))
        .map_err(not_usable)?;
    Ok(serde_json::to_string(loaded).expect("descriptions are plain values"))
}

/// Refuses a name that no algorithm of a user's own can have.
#[pyfunction]
pub(crate) fn check_algorithm_name(name: &str, shown: &str) -> PyResult<()> {
    own::check_name(name, shown).map_err(not_usable)
}

/// What tells a user's algorithm from another of its name: a hash of its source and of what that
/// may include.
#[pyfunction]
pub(crate) fn source_hash(code: &str) -> String {
    own::source_hash(code)
}

/// What an algorithm's compiled code has and needs, as JSON.
#[pyfunction]
#[pyo3(signature = (name, code, shown, cancel=None))]
pub(crate) fn examine_algorithm(
    py: Python<'_>,
    name: &str,
    code: &str,
    shown: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let control = control(cancel);
    let found =
        py.detach(|| own::examine(name, code, shown, &control.cancelled)).map_err(not_usable)?;
    Ok(serde_json::to_string(&found).expect("findings are plain values"))
}

/// Plays random calls on an algorithm and returns what was found, as a JSON list.
#[pyfunction]
#[pyo3(signature = (name, code, cancel=None))]
pub(crate) fn fuzz_algorithm(
    py: Python<'_>,
    name: &str,
    code: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let control = control(cancel);
    let found = py.detach(|| {
        let fuzzer = own::Fuzzer::new(&[(name, code)], &control.cancelled)?;
        own::Part::ALL.into_iter().map(|part| fuzzer.run(part)).collect::<Result<Vec<_>, _>>()
    });
    Ok(serde_json::to_string(&found.map_err(not_usable)?).expect("findings are plain values"))
}

/// Makes one call of a hook of an algorithm, built in or by its source. `values` are those of its
/// parameters in their order; the call, its outcome and what the algorithm then reports are JSON.
#[pyfunction]
#[pyo3(signature = (name, code, values, call_json, cancel=None))]
pub(crate) fn call_algorithm(
    py: Python<'_>,
    name: &str,
    code: Option<&str>,
    values: Vec<u32>,
    call_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<(String, Vec<u32>)> {
    let control = control(cancel);
    let algorithm = found(py, name, code, &control.cancelled)?;
    let call: Call = serde_json::from_str(call_json).map_err(not_read)?;
    let outcome = py
        .detach(|| call.make(algorithm, &values))
        .ok_or_else(|| PyValueError::new_err("no algorithm is told of such an event or state"))?;
    let report = outcome.after.report(algorithm, &values).to_vec();
    Ok((serde_json::to_string(&outcome).expect("outcomes are plain values"), report))
}

/// An algorithm that is built in, or a user's own, by its source.
pub(crate) fn found(
    py: Python<'_>,
    name: &str,
    code: Option<&str>,
    cancel: &AtomicBool,
) -> PyResult<&'static Algorithm> {
    let Some(code) = code else {
        return dumbbell_algorithm::find(name).map_err(|error| {
            AlgorithmError::new_err((None::<String>, None::<u32>, error.to_string()))
        });
    };
    py.detach(|| own::load_unless(name, code, &format!("{name}.c"), cancel)).map_err(not_usable)
}
