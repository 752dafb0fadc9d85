//! Replaces `testbed.rs` in builds without the testbed.

use pyo3::prelude::*;
use serde_json::json;

use crate::errors::TestbedError;
use crate::runs::{CancelToken, RunOutput};

pub(crate) const BUILT: bool = false;

const REMEDY: &str = if cfg!(target_os = "linux") {
    "in a clone: apt install libelf-dev zlib1g-dev pkg-config clang-19, then make build"
} else {
    "a Linux machine"
};

/// Raise TestbedError: there is no testbed.
#[pyfunction]
#[pyo3(signature = (scenario_json, options_json, cancel=None))]
pub(crate) fn testbed_run(
    scenario_json: &str,
    options_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<RunOutput> {
    let _ = (scenario_json, options_json, cancel);
    Err(absent())
}

/// Raise TestbedError: there is no testbed.
#[pyfunction]
#[pyo3(signature = (scenario_json, cancel=None))]
pub(crate) fn testbed_parity(
    scenario_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let _ = (scenario_json, cancel);
    Err(absent())
}

/// Raise TestbedError: there is no testbed.
#[pyfunction]
#[pyo3(signature = (name, code=None, cancel=None))]
pub(crate) fn testbed_compile(
    name: &str,
    code: Option<&str>,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<()> {
    let _ = (name, code, cancel);
    Err(absent())
}

/// Raise TestbedError: there is no testbed.
#[pyfunction]
#[pyo3(signature = (name, code, values, calls_json, cancel=None))]
pub(crate) fn testbed_calls(
    name: &str,
    code: Option<&str>,
    values: Vec<u32>,
    calls_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let _ = (name, code, values, calls_json, cancel);
    Err(absent())
}

/// Raise TestbedError: there is no testbed.
#[pyfunction]
pub(crate) fn testbed_host_switches(scenario_json: &str) -> PyResult<String> {
    let _ = scenario_json;
    Err(absent())
}

/// Report as JSON that there is no testbed.
#[pyfunction]
pub(crate) fn testbed_facts() -> String {
    let build = json!({
        "name": "this build",
        "state": "without the testbed",
        "ok": false,
        "required": true,
        "needed_for": "everything",
        "remedy": REMEDY,
    });
    json!({ "kernel": null, "ready": false, "facts": [build] }).to_string()
}

fn absent() -> PyErr {
    TestbedError::new_err(format!("this Dumbbell was built without the testbed; {REMEDY}"))
}
