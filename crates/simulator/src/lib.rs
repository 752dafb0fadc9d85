//! The simulator: a scenario in virtual time.
//!
//! Deterministic: the same scenario gives the same output, byte for byte, on any
//! machine and however many simulations run next to it.

#![forbid(unsafe_code)]

mod app;
mod behaviour;
mod capture;
mod choice;
mod control;
mod datagram_record;
mod engine;
mod environment;
mod flow;
mod hosts;
mod modes;
mod recorder;
mod shortcuts;
mod side_table;
mod timers;
mod traffic;
mod under_way;
mod wire;

use dumbbell_algorithm::Algorithms;
use dumbbell_record::{Invalid, Output};
use dumbbell_workload::Scenario;

use crate::choice::Choice;
use crate::engine::Engine;

pub use behaviour::Behaviour;
pub use control::{Control, Error};
pub use environment::{
    Batch, Buffers, Dial, Environment, FIELDS, Field, Progress, Refused, Sets, Step, StepError,
    Terms,
};
pub use shortcuts::Shortcuts;

/// Algorithm and stack of each connection of a scenario. Learners steer the flows in `learners`.
fn choices(
    scenario: &Scenario,
    algorithms: &Algorithms,
    learners: &[usize],
    control: &Control,
) -> Result<Vec<Option<Box<Choice>>>, Error> {
    let mut choices = Vec::with_capacity(scenario.flows.len());
    for (index, flow) in scenario.flows.iter().enumerate() {
        control.check_cancelled()?;
        let choice = if learners.contains(&index) {
            Choice::of_learner(flow).map(Some)
        } else {
            Choice::of_flow(flow, algorithms)
        };
        choices.push(
            choice.map_err(|(key, problem)| Invalid {
                key: format!("flows.{index}.{key}"),
                problem,
            })?,
        );
    }
    Ok(choices)
}

/// Run a scenario to its end, with these algorithms by name.
///
/// # Errors
/// If the scenario cannot run, or `control` cancels it.
pub fn run(
    scenario: Scenario,
    algorithms: &Algorithms,
    control: &Control,
) -> Result<Output, Error> {
    run_by(Shortcuts::default(), scenario, algorithms, control)
}

/// Run a scenario with these shortcuts. They change only its cost.
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
