//! The testbed as Python sees it.

use dumbbell_testbed::{Error, Options};
use dumbbell_workload::Scenario;
use pyo3::prelude::*;

use crate::{
    AlgorithmError, CancelToken, Cancelled, RunOutput, ScenarioError, TestbedError, flag, parsed,
};

pub(crate) const BUILT: bool = true;

/// Runs a resolved scenario, given as JSON, between hosts of this machine's kernel. The
/// options are `{"kernel_modules": bool}`.
#[pyfunction]
#[pyo3(signature = (scenario_json, options_json, cancel=None))]
pub(crate) fn testbed_run(
    py: Python<'_>,
    scenario_json: &str,
    options_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<RunOutput> {
    let (scenario, cancel): (Scenario, _) = (parsed(scenario_json)?, flag(cancel));
    let options: Options = serde_json::from_str(options_json)
        .map_err(|error| ScenarioError::new_err(("options".to_owned(), error.to_string())))?;
    py.detach(|| dumbbell_testbed::run(&scenario, options, &cancel)).map(RunOutput).map_err(raised)
}

/// Runs a resolved scenario, given as JSON, replays all calls of its algorithms natively,
/// and returns what that came to as a JSON list.
#[pyfunction]
#[pyo3(signature = (scenario_json, cancel=None))]
pub(crate) fn testbed_parity(
    py: Python<'_>,
    scenario_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let (scenario, cancel): (Scenario, _) = (parsed(scenario_json)?, flag(cancel));
    let reports = py.detach(|| dumbbell_testbed::parity(&scenario, &cancel)).map_err(raised)?;
    Ok(serde_json::to_string(&reports).expect("reports are plain values"))
}

/// Compiles an algorithm for the kernel, without loading it; it is known by name, built in
/// or loaded.
#[pyfunction]
pub(crate) fn testbed_compile(py: Python<'_>, name: &str) -> PyResult<()> {
    let algorithm =
        dumbbell_algorithm::find(name).map_err(|error| TestbedError::new_err(error.to_string()))?;
    py.detach(|| dumbbell_testbed::kernel::compile(algorithm)).map(|_| ()).map_err(raised)
}

/// What this machine can do of what the testbed needs, as JSON.
#[pyfunction]
pub(crate) fn testbed_facts(py: Python<'_>) -> String {
    let facts = py.detach(dumbbell_testbed::facts);
    serde_json::to_string(&facts).expect("facts are plain values")
}

fn raised(error: Error) -> PyErr {
    match error {
        Error::Algorithm { file, line, cause } => AlgorithmError::new_err((file, line, cause)),
        Error::Invalid { key, problem } => ScenarioError::new_err((key, problem)),
        Error::Cancelled => Cancelled::new_err(()),
        Error::Machine { .. } => TestbedError::new_err(error.to_string()),
    }
}
