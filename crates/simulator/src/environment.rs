//! A simulation that learners steer: it stops at each of their steps until they have set their
//! values.
//!
//! A learner is one flow's algorithm. Nothing waits while it decides: between two steps there is
//! only the state of the simulation, so that one thread can have any number of them.

mod batch;
mod dials;
mod observing;
mod terms;
mod view;

use dumbbell_algorithm::{Algorithms, guarded};
use dumbbell_network::{Span, Time};
use dumbbell_record::{Invalid, Output};
use dumbbell_workload::{Scenario, Transport};

use crate::choice::Choice;
use crate::engine::{Engine, Reached};
use crate::shortcuts::Shortcuts;
use crate::{Control, Error, choices};

pub use batch::{Batch, Buffers};
pub use dials::{Dial, Refused, Sets};
pub use observing::{FIELDS, Field, Observation};
pub use terms::{Step, StepError, Terms};

use dials::Controls;
use observing::{Observer, Seen};
use view::View;

/// Interval at which the environment checks for a connection that a handshake opens.
const OPENING: Span = Span::from_millis(1);
/// The shortest step that is measured in round trips.
const SHORTEST: Span = Span::from_micros(100);

/// One path with its learners, for one episode after the other.
#[derive(Debug)]
pub struct Environment {
    scenario: Scenario,
    choices: Vec<Option<Box<Choice>>>,
    learners: Vec<usize>,
    control: Control,
    run: Option<Run>,
}

/// Classes of the Python binding must be `Send` and `Sync`. Check it here, so that this crate's own
/// build reports a part that is not.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Environment>();
};

/// An episode.
#[derive(Debug)]
struct Run {
    engine: Engine,
    /// End of the last step.
    at: Time,
    learners: Vec<Learner>,
    progress: Progress,
}

#[derive(Debug)]
struct Learner {
    controls: Controls,
    seen: Seen,
    view: View,
    last: Observation,
}

/// State of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It has another step.
    Running,
    /// The time of the scenario is over.
    TimeIsOver,
    /// Every learner's flow has sent all its data.
    AllIsSent,
}

impl Environment {
    /// A path before its first episode.
    ///
    /// # Errors
    /// If the scenario cannot run, or a learner cannot steer a flow.
    pub fn new(
        mut scenario: Scenario,
        algorithms: &Algorithms,
        terms: &Terms,
    ) -> Result<Self, Error> {
        let (learners, control) = (terms.learners.clone(), Control::default());
        let flows = scenario.flows.len();
        if let Some(none) = learners.iter().find(|&&learner| learner >= flows) {
            let problem = format!("are {flows}, so that a learner cannot steer number {none}");
            return Err(Invalid { key: "flows".into(), problem }.into());
        }
        let mut choices = choices(&scenario, algorithms, &learners, &control)?;
        for (flow, choice) in choices.iter_mut().enumerate() {
            if let Some(choice) = choice.as_mut().filter(|_| !learners.contains(&flow))
                && choice.algorithm.algorithm().is_user_defined()
            {
                choice.algorithm = choice.algorithm.clone().guarded();
            }
        }
        for &learner in &learners {
            if let Transport::Tcp(tcp) = &mut scenario.flows[learner].transport {
                (tcp.algorithm, tcp.preset) = ("learner".into(), None);
                tcp.parameters.clear();
            }
        }
        Ok(Self { scenario, choices, learners, control, run: None })
    }

    /// Begin an episode, and run until a learner has its connection.
    ///
    /// # Errors
    /// If the scenario ends before that.
    pub fn reset(&mut self, seed: u64, terms: &Terms) -> Result<(), Error> {
        let scenario = Scenario { seed, ..self.scenario.clone() };
        let choices = self.choices.clone();
        let engine = Engine::new(scenario, choices, Shortcuts::default(), &self.control, true)?;
        let mut run = Run {
            at: self.learners.iter().map(|&flow| engine.begins(flow)).min().unwrap_or(Time::ZERO),
            engine,
            learners: Vec::with_capacity(self.learners.len()),
            progress: Progress::Running,
        };
        while run.go_to(run.at)? && !self.learners.iter().any(|&flow| run.has_connection(flow)) {
            run.at += OPENING;
        }
        if run.progress != Progress::Running {
            let key = format!("flows.{}.start_ns", self.learners[0]);
            let problem = "its connection is not there before the scenario ends".into();
            return Err(Invalid { key, problem }.into());
        }
        for &flow in &self.learners {
            let sender = run.engine.hosts.sender(flow);
            let controls = Controls::of(sender, &terms.dials);
            let observer = Observer::new(&run.engine, flow, &self.learners);
            let seen = observer.look();
            let (mut view, last) = (View::new(terms), observer.between(&seen, &seen, Span::ZERO));
            view.push(&last);
            run.learners.push(Learner { controls, seen, view, last });
        }
        // The first step has the connection's initial values, within the bounds of the dials.
        run.steer_all(&self.learners);
        self.run = Some(run);
        Ok(())
    }

    /// Return true if there is another step.
    #[must_use]
    pub fn has_next_step(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.progress == Progress::Running)
    }

    /// Set windows and rates from the learners' actions, one after the other, and run a step.
    ///
    /// # Errors
    /// If an action is not valid; then nothing has happened. A full table ends the episode.
    pub fn step(&mut self, actions: &[f64], terms: &Terms) -> Result<Progress, StepError> {
        let Some(run) = self.run.as_mut().filter(|run| run.progress == Progress::Running) else {
            return Err(StepError::IsOver);
        };
        let dials = &terms.dials;
        let mut set = Vec::with_capacity(self.learners.len());
        for (learner, action) in actions.chunks_exact(dials.len()).enumerate() {
            // All actions are read before any is set, so a wrong one changes nothing.
            let controls = run.learners[learner].controls.turned(dials, action);
            set.push(controls.map_err(|refused| StepError::Action { learner, refused })?);
        }
        for (learner, controls) in run.learners.iter_mut().zip(set) {
            learner.controls = controls;
        }
        run.steer_all(&self.learners);
        let lasts = self.step_length(terms);
        let run = self.run.as_mut().expect("it was there");
        let (taken, progress) = (run.take_step(lasts, &self.learners), run.progress);
        if let Err(error) = taken {
            self.run = None;
            return Err(StepError::Run(error));
        }
        Ok(progress)
    }

    /// A learner's observation as [`Terms`] define it, and all measurements of the last step.
    ///
    /// # Panics
    /// Before the first episode, or if there is no such learner.
    pub fn seen(&self, learner: usize) -> (impl Iterator<Item = f32>, &Observation) {
        let run = self.run.as_ref().expect("an episode has begun");
        let Learner { view, last, .. } = &run.learners[learner];
        (view.values(), last)
    }

    /// Return everything recorded in a finished episode; none: no episode is finished.
    pub fn finish(&mut self) -> Option<Output> {
        let run = self.run.take_if(|run| run.progress == Progress::TimeIsOver)?;
        Some(run.engine.finish())
    }

    fn step_length(&self, terms: &Terms) -> Span {
        match terms.step {
            Step::IntervalNs(interval) => Span(interval.get()),
            Step::RoundTrips(count) => {
                let run = self.run.as_ref().expect("an episode is running");
                let mut senders =
                    self.learners.iter().filter_map(|&flow| run.engine.hosts.sender(flow));
                let srtt_us = senders.next().map_or(0, |sender| sender.rtt().srtt_us());
                Span((f64::from(srtt_us) * 1e3 * count) as u64).max(SHORTEST)
            }
        }
    }
}

impl Run {
    /// Run until `at`; return true if the scenario continues then.
    fn go_to(&mut self, at: Time) -> Result<bool, Error> {
        self.engine.set_alarm(at);
        let reached = self.engine.run();
        if let Some(stalled) = guarded::stalled() {
            return Err(Error::Stalled(stalled));
        }
        if reached? == Reached::End {
            self.progress = Progress::TimeIsOver;
        }
        Ok(self.progress == Progress::Running)
    }

    fn has_connection(&self, flow: usize) -> bool {
        self.engine.hosts.sender(flow).is_some()
    }

    fn steer_all(&mut self, flows: &[usize]) {
        for (learner, &flow) in self.learners.iter().zip(flows) {
            self.engine.steer(flow, self.at, learner.controls.setting());
        }
    }

    fn take_step(&mut self, lasts: Span, flows: &[usize]) -> Result<(), Error> {
        let until = self.at.saturating_add(lasts);
        let has_next_step = self.go_to(until)?;
        let end = if has_next_step { until } else { self.engine.end() };
        let lasted = end.since(self.at);
        self.at = end;
        for (learner, &flow) in self.learners.iter_mut().zip(flows) {
            let observer = Observer::new(&self.engine, flow, flows);
            let seen = observer.look();
            learner.last = observer.between(&learner.seen, &seen, lasted);
            learner.seen = seen;
            learner.view.push(&learner.last);
        }
        if has_next_step && flows.iter().all(|&flow| self.engine.hosts.is_over(flow)) {
            self.progress = Progress::AllIsSent;
        }
        Ok(())
    }
}
