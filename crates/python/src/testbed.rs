//! The testbed as Python sees it.

use dumbbell_algorithm::call::Call;
use dumbbell_testbed::{Error, NEVER, Options, kernel};
use pyo3::prelude::*;

use crate::algorithms::algorithm_of;
use crate::errors::{
    AlgorithmError, Cancelled, GivenUp, ScenarioError, TestbedError, not_read, not_valid,
};
use crate::runs::{CancelToken, RunOutput, control, prepared};

pub(crate) const BUILT: bool = true;

/// Run a resolved scenario, given as JSON, between hosts of this machine's kernel. The options are
/// `{"kernel_modules": bool, "give_up": bool}`.
#[pyfunction]
#[pyo3(signature = (scenario_json, options_json, cancel=None))]
pub(crate) fn testbed_run(
    py: Python<'_>,
    scenario_json: &str,
    options_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<RunOutput> {
    let control = control(cancel);
    let (scenario, algorithms) = prepared(py, scenario_json, &control.cancelled)?;
    let options: Options = serde_json::from_str(options_json)
        .map_err(|error| ScenarioError::new_err(("options".to_owned(), error.to_string())))?;
    py.detach(|| dumbbell_testbed::run(&scenario, &algorithms, options, &control.cancelled))
        .map(RunOutput)
        .map_err(raised)
}

/// Run a resolved scenario, given as JSON, and replay all calls of its algorithms natively. Return
/// the comparisons as a JSON list.
#[pyfunction]
#[pyo3(signature = (scenario_json, cancel=None))]
pub(crate) fn testbed_parity(
    py: Python<'_>,
    scenario_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let control = control(cancel);
    let (scenario, algorithms) = prepared(py, scenario_json, &control.cancelled)?;
    let reports = py
        .detach(|| dumbbell_testbed::parity(&scenario, &algorithms, &control.cancelled))
        .map_err(raised)?;
    Ok(serde_json::to_string(&reports).expect("reports are plain values"))
}

/// Compile an algorithm for the kernel without loading it there. It is built in, or `code` is its
/// source.
#[pyfunction]
#[pyo3(signature = (name, code=None, cancel=None))]
pub(crate) fn testbed_compile(
    py: Python<'_>,
    name: &str,
    code: Option<&str>,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<()> {
    let control = control(cancel);
    let algorithm = algorithm_of(py, name, code, &control.cancelled)?;
    py.detach(|| kernel::compile(algorithm, &control.cancelled)).map(|_| ()).map_err(raised)
}

/// Call an algorithm's hooks in the kernel, one after the other. As `call_algorithm`, but for lists
/// of calls and of outcomes.
#[pyfunction]
#[pyo3(signature = (name, code, values, calls_json, cancel=None))]
pub(crate) fn testbed_calls(
    py: Python<'_>,
    name: &str,
    code: Option<&str>,
    values: Vec<u32>,
    calls_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let control = control(cancel);
    let algorithm = algorithm_of(py, name, code, &control.cancelled)?;
    let calls: Vec<Call> = serde_json::from_str(calls_json).map_err(not_read)?;
    let outcomes = py.detach(|| {
        let object = kernel::compile_for_calls(algorithm, &control.cancelled)?;
        let mut played = kernel::Played::new(&object, &values)?;
        calls.iter().map(|call| played.call(call)).collect::<Result<Vec<_>, _>>()
    });
    Ok(serde_json::to_string(&outcomes.map_err(raised)?).expect("outcomes are plain values"))
}

/// Return as JSON the switches with which a simulated stack behaves like the testbed's hosts in a
/// resolved scenario, given as JSON.
#[pyfunction]
pub(crate) fn testbed_host_switches(py: Python<'_>, scenario_json: &str) -> PyResult<String> {
    let (scenario, algorithms) = prepared(py, scenario_json, &NEVER)?;
    let switches = dumbbell_testbed::host_switches(&scenario, &algorithms);
    Ok(serde_json::to_string(&switches).expect("switches are plain values"))
}

/// Report as JSON which of the testbed's needs this machine meets.
#[pyfunction]
pub(crate) fn testbed_facts(py: Python<'_>) -> String {
    let facts = py.detach(dumbbell_testbed::facts);
    serde_json::to_string(&facts).expect("facts are plain values")
}

fn raised(error: Error) -> PyErr {
    match error {
        Error::Algorithm { file, line, cause } => AlgorithmError::new_err((file, line, cause)),
        Error::Invalid(invalid) => not_valid(invalid),
        Error::GivenUp(why) => GivenUp::new_err(why),
        Error::Cancelled => Cancelled::new_err(()),
        Error::Machine { .. } => TestbedError::new_err(error.to_string()),
    }
}
