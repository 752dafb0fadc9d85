//! Parity: a run whose algorithms' callbacks are recorded in the kernel and repeated natively.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_algorithm::Algorithms;
use dumbbell_workload::Scenario;
use serde::Serialize;

use crate::choices::AlgorithmChoice;
use crate::congestion::Congestion;
use crate::error::Error;
use crate::kernel::Keep;
use crate::kernel::parity::replay;
use crate::run::carry_out;
use crate::setup::Setup;
use crate::turn::Turn;

/// Comparison of one algorithm's callbacks in the kernel with the same native calls.
#[derive(Clone, Debug, Serialize)]
pub struct ParityReport {
    /// Its name.
    pub algorithm: &'static str,
    /// Values of its parameters.
    pub parameters: BTreeMap<&'static str, u32>,
    /// Callbacks compared, by hook.
    pub callbacks: BTreeMap<&'static str, u64>,
    /// Callbacks that could not be recorded.
    pub lost_records: u64,
    /// Callbacks that differ.
    pub differing: u64,
    /// The first of them, in words.
    pub mismatches: Vec<String>,
}

/// Run a scenario and compare every callback of its algorithms. The result does not depend on the
/// machine's speed.
///
/// # Errors
/// As [`crate::run()`].
pub fn parity(
    scenario: &Scenario,
    algorithms: &Algorithms,
    cancel: &Arc<AtomicBool>,
) -> Result<Vec<ParityReport>, Error> {
    let _turn = Turn::wait(cancel)?;
    let keep = Keep { state: false, callbacks: true };
    let setup = Setup::new(scenario, algorithms, false, keep, cancel)?;
    carry_out(&setup, cancel, false)?;
    setup.choices.algorithms.iter().zip(&setup.congestion).map(compared).collect()
}

fn compared((choice, congestion): (&AlgorithmChoice, &Congestion)) -> Result<ParityReport, Error> {
    let records = match congestion {
        Congestion::Ours(registered) => registered.records()?,
        Congestion::Kernels(name) => unreachable!("{name} keeps no records"),
    };
    let algorithm = choice.algorithm;
    let parity = replay(algorithm, &choice.values, &records);
    let names = algorithm.parameters.iter().map(|parameter| parameter.name);
    Ok(ParityReport {
        algorithm: algorithm.name,
        parameters: names.zip(choice.values.iter().copied()).collect(),
        callbacks: parity.callbacks.iter().map(|(hook, count)| (hook.name(), *count)).collect(),
        lost_records: parity.lost_records,
        differing: parity.differing,
        mismatches: parity.mismatches.iter().map(ToString::to_string).collect(),
    })
}
