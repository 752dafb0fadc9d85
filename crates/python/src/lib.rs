//! `dumbbell._core`: the engine as Python sees it. Scenarios go in as JSON, columns
//! come out as bytes; everything else is the package's business.

#![forbid(unsafe_code)]

mod environments;
#[cfg(all(feature = "testbed", target_os = "linux"))]
mod testbed;
#[cfg(not(all(feature = "testbed", target_os = "linux")))]
#[path = "no_testbed.rs"]
mod testbed;

use std::io::{self, ErrorKind, Read};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_algorithm::call::Call;
use dumbbell_algorithm::complaint::Complaint;
use dumbbell_algorithm::own::{self, OwnError};
use dumbbell_algorithm::{Algorithm, Algorithms};
use dumbbell_capture::{ReadError, Wanted};
use dumbbell_record::Output;
use dumbbell_simulator::{Control, Error};
use dumbbell_tcp::StackChoice;
use dumbbell_workload::{Invalid, Scenario};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

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
create_exception!(_core, Cancelled, PyException, "The run was cancelled.");
create_exception!(_core, GivenUp, PyException, "A run that nothing can make valid: why.");
create_exception!(_core, TestbedError, PyException, "The testbed cannot do it here: what to do.");

/// Cancels the runs that were given it, and tells how far they have come; may be used from any
/// thread.
#[pyclass(frozen, module = "dumbbell._core")]
struct CancelToken(Arc<Control>);

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// How far a simulation has come, in ns of its own time.
    #[getter]
    fn reached_ns(&self) -> u64 {
        self.0.reached_ns.load(Ordering::Relaxed)
    }

    fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }
}

/// What a run recorded.
#[pyclass(frozen, module = "dumbbell._core")]
struct RunOutput(Output);

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

    /// What the sending and what the receiving hosts saw, as pcapng files, if wanted.
    #[getter]
    fn captures<'py>(&self, py: Python<'py>) -> Option<[Bound<'py, PyBytes>; 2]> {
        self.0.captures.as_ref().map(|files| files.each_ref().map(|file| PyBytes::new(py, file)))
    }
}

/// Runs a resolved scenario, given as JSON, without holding the interpreter.
#[pyfunction]
#[pyo3(signature = (scenario_json, cancel=None))]
fn simulate(
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

fn not_run(error: Error) -> PyErr {
    match error {
        Error::Invalid { key, problem } => ScenarioError::new_err((key, problem)),
        Error::Cancelled => Cancelled::new_err(()),
    }
}

/// A scenario and the algorithms that it can name: its sources are compiled and loaded while other
/// threads go on.
fn prepared(
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
    py.detach(prepare).map_err(|Invalid { key, problem }| {
        if cancel.load(Ordering::Relaxed) {
            return Cancelled::new_err(());
        }
        ScenarioError::new_err((key, problem))
    })
}

fn control(cancel: Option<Py<CancelToken>>) -> Arc<Control> {
    cancel.map_or_else(Arc::default, |token| Arc::clone(&token.get().0))
}

/// Refuses a stack (`{"profile", "switches"}` as JSON) that no endpoint could have.
#[pyfunction]
fn check_stack(stack_json: &str) -> PyResult<()> {
    let stack: StackChoice = serde_json::from_str(stack_json)
        .map_err(|error| ScenarioError::new_err(("stack".to_owned(), error.to_string())))?;
    stack.resolve().map(|_| ()).map_err(ScenarioError::new_err)
}

/// Descriptions of all algorithms as a JSON list.
#[pyfunction]
fn algorithms() -> String {
    serde_json::to_string(dumbbell_algorithm::registry()).expect("descriptions are plain values")
}

/// The versions of what is done, under which results are stored, as JSON.
#[pyfunction]
fn behaviour() -> String {
    let behaviour = dumbbell_simulator::Behaviour::now();
    serde_json::to_string(&behaviour).expect("versions are plain values")
}

/// Compiles and registers a user's algorithm and returns its description as JSON; messages
/// call its file `shown`.
#[pyfunction]
#[pyo3(signature = (name, code, shown, cancel=None))]
fn load_algorithm(
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
fn check_algorithm_name(name: &str, shown: &str) -> PyResult<()> {
    own::check_name(name, shown).map_err(not_usable)
}

/// What tells a user's algorithm from another of its name: a hash of its source and of what that
/// may include.
#[pyfunction]
fn source_hash(code: &str) -> String {
    own::source_hash(code)
}

/// What an algorithm's compiled code has and needs, as JSON.
#[pyfunction]
#[pyo3(signature = (name, code, shown, cancel=None))]
fn examine_algorithm(
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
fn fuzz_algorithm(
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
fn call_algorithm(
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
fn found(
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

/// Calls are written by this package, never by users.
fn not_read(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn not_usable(error: OwnError) -> PyErr {
    match error {
        OwnError::File(Complaint { file, line, cause }) => {
            AlgorithmError::new_err((file, line, cause))
        }
        OwnError::Cancelled => Cancelled::new_err(()),
        OwnError::Machine { .. } => {
            AlgorithmError::new_err((None::<String>, None::<u32>, error.to_string()))
        }
    }
}

/// Stack profiles and the meaning of their switches as JSON.
#[pyfunction]
fn stack_profiles() -> String {
    dumbbell_tcp::describe_profiles().to_string()
}

/// The schemas of resolved scenarios and of summaries as JSON.
#[pyfunction]
fn contract() -> String {
    dumbbell_workload::describe_contract().to_string()
}

/// The result schema as JSON.
#[pyfunction]
fn schema() -> String {
    dumbbell_record::describe_schema().to_string()
}

/// Whether a file that begins so is a capture of packets.
#[pyfunction]
fn is_capture(start: &[u8]) -> bool {
    dumbbell_capture::is_capture(start)
}

/// A file of Python: an object whose `read(n)` gives at most n bytes, and none at the end.
struct PythonFile(Py<PyAny>);

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.0.call_method1(py, "read", (buffer.len(),))?;
            let bytes = read.bind(py).cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
            let read = buffer.get_mut(..bytes.len()).ok_or(ErrorKind::InvalidData)?;
            read.copy_from_slice(bytes);
            Ok(bytes.len())
        })
    }
}

/// What a capture says of its TCP connections as JSON; ValueError says why it is none.
#[pyfunction]
#[pyo3(signature = (file, step_ns, least_share, cancel=None))]
fn read_capture(
    py: Python<'_>,
    file: Py<PyAny>,
    step_ns: NonZeroU64,
    least_share: f64,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<String> {
    let control = control(cancel);
    let wanted = Wanted { step_ns, least_share };
    let goes_on = || !control.cancelled.load(Ordering::Relaxed);
    py.detach(|| match dumbbell_capture::connections(PythonFile(file), wanted, goes_on) {
        Ok(found) => Ok(serde_json::to_string(&found).expect("a capture has only plain values")),
        Err(ReadError::Cancelled) => Err(Cancelled::new_err(())),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    })
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::environments::Environments;
    #[pymodule_export]
    use super::testbed::{
        testbed_calls, testbed_compile, testbed_facts, testbed_host_switches, testbed_parity,
        testbed_run,
    };
    #[pymodule_export]
    use super::{
        ActionError, AlgorithmError, CancelToken, Cancelled, GivenUp, RunOutput, ScenarioError,
        TestbedError, algorithms, behaviour, call_algorithm, check_algorithm_name, check_stack,
        contract, examine_algorithm, fuzz_algorithm, is_capture, load_algorithm, read_capture,
        schema, simulate, source_hash, stack_profiles,
    };

    #[pymodule_export]
    const TESTBED: bool = super::testbed::BUILT;
}
