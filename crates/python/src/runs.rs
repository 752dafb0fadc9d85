//! Runs of the simulator: their scenario, their cancellation and their output.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_algorithm::Algorithms;
use dumbbell_record::{Invalid, Output};
use dumbbell_simulator::Control;
use dumbbell_workload::Scenario;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::{Cancelled, not_run, not_valid};

/// Cancels the runs that have it and reports how far they are. Any thread may use it.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct CancelToken(Arc<Control>);

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Simulated time that a run has reached, in ns.
    #[getter]
    fn reached_ns(&self) -> u64 {
        self.0.reached_ns.load(Ordering::Relaxed)
    }

    fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Recordings of a run.
#[pyclass(frozen, module = "dumbbell._core")]
pub(crate) struct RunOutput(pub(crate) Output);

#[pymethods]
impl RunOutput {
    /// Totals as JSON.
    #[getter]
    fn summary(&self) -> String {
        serde_json::to_string(&self.0.summary).expect("a summary has only plain values")
    }

    /// Tables by name, each a list of columns `(name, dtype, bytes)`.
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tables = PyDict::new(py);
        for (name, columns) in self.0.tables() {
            let list = PyList::empty(py);
            for column in columns {
                list.append((column.name, column.dtype, PyBytes::new(py, &column.bytes)))?;
            }
            tables.set_item(name, list)?;
        }
        Ok(tables)
    }

    /// Captures at the sending and at the receiving hosts, as pcapng files; none: not requested.
    #[getter]
    fn captures<'py>(&self, py: Python<'py>) -> Option<[Bound<'py, PyBytes>; 2]> {
        self.0.captures.as_ref().map(|files| files.each_ref().map(|file| PyBytes::new(py, file)))
    }
}

/// Run a resolved scenario, given as JSON, without holding the interpreter.
#[pyfunction]
#[pyo3(signature = (scenario_json, cancel=None))]
pub(crate) fn simulate(
    py: Python<'_>,
    scenario_json: &str,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<RunOutput> {
    let control = control(cancel);
    let (scenario, algorithms) = prepared(py, scenario_json, &control.cancelled)?;
    py.detach(|| dumbbell_simulator::run(scenario, &algorithms, &control))
        .map(RunOutput)
        .map_err(not_run)
}

/// Read a scenario and load the algorithms that it can name. Its sources are compiled and loaded
/// while other threads run.
pub(crate) fn prepared(
    py: Python<'_>,
    scenario_json: &str,
    cancel: &AtomicBool,
) -> PyResult<(Scenario, Algorithms)> {
    let prepare = || {
        let scenario = Scenario::from_json(scenario_json)?;
        let algorithms = Algorithms::load(&scenario.sources, cancel).map_err(|(name, error)| {
            Invalid { key: format!("sources.{name}"), problem: error.to_string() }
        })?;
        Ok((scenario, algorithms))
    };
    py.detach(prepare).map_err(|invalid| {
        if cancel.load(Ordering::Relaxed) {
            return Cancelled::new_err(());
        }
        not_valid(invalid)
    })
}

pub(crate) fn control(cancel: Option<Py<CancelToken>>) -> Arc<Control> {
    cancel.map_or_else(Arc::default, |token| Arc::clone(&token.get().0))
}
