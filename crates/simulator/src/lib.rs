//! The simulator: a scenario in virtual time.
//!
//! Deterministic: the same scenario gives the same output, byte for byte, on any
//! machine and however many simulations run next to it.

#![forbid(unsafe_code)]

mod app;
mod behaviour;
mod capture;
mod choice;
mod datagram_record;
mod engine;
mod environment;
mod flow;
mod hosts;
mod modes;
mod parked;
mod recorder;
mod shortcuts;
mod timers;
mod traffic;
mod under_way;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dumbbell_algorithm::Algorithms;
use dumbbell_record::{Full, Output, RowLimits};
use dumbbell_workload::{Invalid, Scenario};

use crate::choice::Choice;
use crate::engine::Engine;

pub use behaviour::Behaviour;
pub use environment::{
    Batch, Buffers, Dial, Environment, FIELDS, Field, Progress, Refused, Sets, Step, StepError,
    Terms,
};
pub use shortcuts::Shortcuts;

/// What goes on between a run and those who wait for it, from any thread.
#[derive(Debug, Default)]
pub struct Control {
    /// Set by those who do not want its results any more.
    pub cancelled: Arc<AtomicBool>,
    /// How far it has come, in ns of its own time, about.
    pub reached_ns: Arc<AtomicU64>,
    /// How much its tables may hold.
    pub limits: RowLimits,
}

impl Control {
    /// Whether a run is still wanted; it may take long until it begins, too.
    fn go_on(&self) -> Result<(), Error> {
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Why a run gave no output.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario cannot be run, or not to its end.
    #[error("{key}: {problem}")]
    Invalid {
        /// Path of the key at fault.
        key: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<Full> for Error {
    fn from(Full { key, problem }: Full) -> Self {
        Self::Invalid { key: key.to_owned(), problem }
    }
}

impl From<Invalid> for Error {
    fn from(Invalid { key, problem }: Invalid) -> Self {
        Self::Invalid { key, problem }
    }
}

/// What each connection of a scenario is made of; learners steer these flows.
fn choices(
    scenario: &Scenario,
    algorithms: &Algorithms,
    learners: &[usize],
    control: &Control,
) -> Result<Vec<Option<Box<Choice>>>, Error> {
    let mut choices = Vec::with_capacity(scenario.flows.len());
    for (index, flow) in scenario.flows.iter().enumerate() {
        control.go_on()?;
        let choice = if learners.contains(&index) {
            Choice::of_learner(flow).map(Some)
        } else {
            Choice::of_flow(flow, algorithms)
        };
        choices.push(choice.map_err(|(key, problem)| Error::Invalid {
            key: format!("flows.{index}.{key}"),
            problem,
        })?);
    }
    Ok(choices)
}

/// Runs a scenario to its end, with these algorithms by their names.
///
/// # Errors
/// A scenario that cannot be run, or cancellation through `control`.
pub fn run(
    scenario: Scenario,
    algorithms: &Algorithms,
    control: &Control,
) -> Result<Output, Error> {
    run_by(Shortcuts::default(), scenario, algorithms, control)
}

/// Runs a scenario by these shortcuts: which they are changes nothing but its cost.
///
/// # Errors
/// As [`run`].
pub fn run_by(
    shortcuts: Shortcuts,
    scenario: Scenario,
    algorithms: &Algorithms,
    control: &Control,
) -> Result<Output, Error> {
    let choices = choices(&scenario, algorithms, &[], control)?;
    let mut engine = Engine::new(scenario, choices, shortcuts, control, false)?;
    engine.run()?;
    Ok(engine.finish())
}
