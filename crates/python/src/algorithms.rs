//! Algorithms: descriptions of those that are built in, and checks of user-defined ones.

use std::sync::atomic::AtomicBool;

use dumbbell_algorithm::Algorithm;
use dumbbell_algorithm::call::Call;
use dumbbell_algorithm::user_defined::{self, LoadError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{AlgorithmError, not_read, not_usable};
use crate::runs::{CancelToken, control};

/// Describe all algorithms as a JSON list.
#[pyfunction]
pub(crate) fn algorithms() -> String {
    serde_json::to_string(dumbbell_algorithm::registry()).expect("descriptions are plain values")
}

/// Compile and register a user's algorithm; return its description as JSON. Messages call its file
/// `shown`.
#[pyfunction]
#[pyo3(signature = (name, code, shown, cancel=None))]
pub(crate) fn load_algorithm(
    py: Python<'_>,
    name: &str,
    code: &str,
    shown: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    as_json(py, cancel, |cancelled| user_defined::load_unless(name, code, shown, cancelled))
}

/// Refuse a name that no user-defined algorithm can have.
#[pyfunction]
pub(crate) fn check_algorithm_name(name: &str, shown: &str) -> PyResult<()> {
    user_defined::check_name(name, shown).map_err(not_usable)
}

/// Hash a user's source and the headers that it may include. The hash distinguishes algorithms of
/// one name.
#[pyfunction]
pub(crate) fn source_hash(code: &str) -> String {
    user_defined::source_hash(code)
}

/// Describe what an algorithm's compiled code contains and needs, as JSON.
#[pyfunction]
#[pyo3(signature = (name, code, shown, cancel=None))]
pub(crate) fn examine_algorithm(
    py: Python<'_>,
    name: &str,
    code: &str,
    shown: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    as_json(py, cancel, |cancelled| user_defined::examine(name, code, shown, cancelled))
}

/// Play random calls on an algorithm and return the findings as a JSON list.
#[pyfunction]
#[pyo3(signature = (name, code, cancel=None))]
pub(crate) fn fuzz_algorithm(
    py: Python<'_>,
    name: &str,
    code: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    as_json(py, cancel, |cancelled| {
        user_defined::Fuzzer::new(&[(name, code)], cancelled)?.run_all()
    })
}

/// Work on a user's algorithm without the interpreter's lock, and return the result as JSON.
fn as_json<T: Serialize + Send>(
    py: Python<'_>,
    cancel: Option<Py<CancelToken>>,
    work: impl FnOnce(&AtomicBool) -> Result<T, LoadError> + Send,
) -> PyResult<String> {
    let control = control(cancel);
    let result = py.detach(|| work(&control.cancelled)).map_err(not_usable)?;
    Ok(serde_json::to_string(&result).expect("descriptions and findings are plain values"))
}

/// Call a hook of an algorithm once; the algorithm is built in, or `code` is its source. `values`
/// are those of its parameters in their order. The call is JSON; return the outcome as JSON, and
/// the values that the algorithm then reports.
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
    let algorithm = algorithm_of(py, name, code, &control.cancelled)?;
    let call: Call = serde_json::from_str(call_json).map_err(not_read)?;
    let outcome = py
        .detach(|| call.make(algorithm, &values))
        .ok_or_else(|| PyValueError::new_err("there is no such event or state"))?;
    let report = outcome.after.report(algorithm, &values).to_vec();
    Ok((serde_json::to_string(&outcome).expect("outcomes are plain values"), report))
}

/// Find a built-in algorithm, or load a user's from its source.
pub(crate) fn algorithm_of(
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
    py.detach(|| user_defined::load_unless(name, code, &format!("{name}.c"), cancel))
        .map_err(not_usable)
}
