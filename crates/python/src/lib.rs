//! `dumbbell._core`: the engine as Python sees it. Scenarios go in as JSON, and columns come out as
//! bytes. The package does everything else.

#![forbid(unsafe_code)]

mod algorithms;
mod captures;
mod environments;
mod errors;
mod runs;
#[cfg(all(feature = "testbed", target_os = "linux"))]
mod testbed;
#[cfg(not(all(feature = "testbed", target_os = "linux")))]
#[path = "no_testbed.rs"]
mod testbed;

use dumbbell_tcp::StackChoice;
use pyo3::prelude::*;

use crate::errors::ScenarioError;

/// Refuse a stack (`{"profile", "switches"}` as JSON) that no endpoint could have.
#[pyfunction]
fn check_stack(stack_json: &str) -> PyResult<()> {
    let stack: StackChoice = serde_json::from_str(stack_json)
        .map_err(|error| ScenarioError::new_err(("stack".to_owned(), error.to_string())))?;
    stack.resolve().map(|_| ()).map_err(ScenarioError::new_err)
}

/// List the versions of the behaviour under which results are stored, as JSON.
#[pyfunction]
fn behaviour() -> String {
    let behaviour = dumbbell_simulator::Behaviour::now();
    serde_json::to_string(&behaviour).expect("versions are plain values")
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

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::algorithms::{
        algorithms, call_algorithm, check_algorithm_name, examine_algorithm, fuzz_algorithm,
        load_algorithm, source_hash,
    };
    #[pymodule_export]
    use super::captures::{is_capture, read_capture};
    #[pymodule_export]
    use super::environments::Environments;
    #[pymodule_export]
    use super::errors::{
        ActionError, AlgorithmError, Cancelled, GivenUp, ScenarioError, Stalled, TestbedError,
    };
    #[pymodule_export]
    use super::runs::{CancelToken, RunOutput, simulate};
    #[pymodule_export]
    use super::testbed::{
        testbed_calls, testbed_compile, testbed_facts, testbed_host_switches, testbed_parity,
        testbed_run,
    };
    #[pymodule_export]
    use super::{behaviour, check_stack, contract, schema, stack_profiles};

    #[pymodule_export]
    const TESTBED: bool = super::testbed::BUILT;
}
