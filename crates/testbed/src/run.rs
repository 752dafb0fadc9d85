//! A run from its scenario to its output.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_record::Output;
use dumbbell_workload::Scenario;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// How a run differs from others of its scenario.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// Whether flows use the kernel's own modules of their algorithms' names.
    pub kernel_modules: bool,
}

/// What replaying an algorithm's calls came to.
#[derive(Clone, Debug, Serialize)]
pub struct ParityReport {}

/// Runs a scenario in real time.
///
/// # Errors
/// Always: the lead's `run.rs` takes this file's place.
pub fn run(
    _scenario: Scenario,
    _options: &Options,
    _cancel: &Arc<AtomicBool>,
) -> Result<Output, Error> {
    Err(absent())
}

/// Runs a scenario and replays what its algorithms were asked.
///
/// # Errors
/// Always: the lead's `run.rs` takes this file's place.
pub fn parity(_scenario: Scenario, _cancel: &Arc<AtomicBool>) -> Result<Vec<ParityReport>, Error> {
    Err(absent())
}

fn absent() -> Error {
    Error::Machine {
        what: "cannot run".into(),
        cause: "the emulator is not merged yet".into(),
        remedy: "use the simulator".into(),
    }
}
