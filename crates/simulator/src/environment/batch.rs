//! Many paths in one process, step by step, over one thread or several.

use std::thread;

use dumbbell_record::Output;

use super::observing::FIELDS;
use super::terms::{StepError, Terms};
use super::{Environment, Progress};

/// Paths that have the same terms.
#[derive(Debug)]
pub struct Batch {
    terms: Terms,
    paths: Vec<Option<Environment>>,
}

/// Where a batch writes what its learners see: a row for each path.
#[derive(Debug)]
pub struct Buffers<'a> {
    /// Learner by learner, step by step.
    pub observations: &'a mut [f32],
    /// Learner by learner, all [`FIELDS`] of the last step.
    pub measured: &'a mut [f64],
    /// Codes of [`Progress`].
    pub progress: &'a mut [u8],
}

impl Batch {
    /// So many paths, none of which is known yet.
    ///
    /// # Errors
    /// The key of the terms that is wrong, and why.
    pub fn new(terms: Terms, paths: usize) -> Result<Self, (&'static str, String)> {
        terms.check()?;
        Ok(Self { terms, paths: (0..paths).map(|_| None).collect() })
    }

    /// What applies to all of them.
    #[must_use]
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// How many paths there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Numbers of an action of one path, of its observations and of what is measured.
    #[must_use]
    pub fn sizes(&self) -> [usize; 3] {
        let Terms { learners, dials, observes, history, .. } = &self.terms;
        let learners = learners.len();
        [learners * dials.len(), learners * observes.len() * *history, learners * FIELDS.len()]
    }

    /// Puts a path in a place.
    pub fn put(&mut self, place: usize, path: Environment) {
        self.paths[place] = Some(path);
    }

    /// Begins an episode of a path, and writes its first observation to buffers of one row.
    ///
    /// # Errors
    /// There is no path in that place, or it cannot be run.
    pub fn reset(&mut self, place: usize, seed: u64, into: Buffers<'_>) -> Result<(), StepError> {
        let path = self.paths[place].as_mut().ok_or(StepError::IsOver)?;
        path.reset(seed, &self.terms).map_err(StepError::Run)?;
        into.progress.fill(Progress::GoesOn as u8);
        path.show(into.observations, into.measured);
        Ok(())
    }

    /// Lets every path take a step but those that are to be skipped, by so many threads.
    ///
    /// # Errors
    /// The first path that could not, and why. If an action is wrong, nothing has happened.
    pub fn step(
        &mut self,
        actions: &[f64],
        skip: &[u8],
        into: Buffers<'_>,
        threads: usize,
    ) -> Result<(), (usize, StepError)> {
        self.terms.check_actions(actions, skip)?;
        let [action, observed, measured] = self.sizes();
        let part = self.paths.len().div_ceil(threads.max(1)).max(1);
        let terms = &self.terms;
        let parts = self
            .paths
            .chunks_mut(part)
            .zip(actions.chunks(part * action))
            .zip(skip.chunks(part))
            .zip(into.observations.chunks_mut(part * observed))
            .zip(into.measured.chunks_mut(part * measured))
            .zip(into.progress.chunks_mut(part));
        let mut works = parts.enumerate().map(
            |(number, (((((paths, actions), skip), observations), measured), progress))| {
                let into = Buffers { observations, measured, progress };
                move || {
                    step_all(terms, paths, actions, skip, into)
                        .map_err(|(place, error)| (number * part + place, error))
                }
            },
        );
        // The first part stays on this thread, so a batch on one thread starts no other.
        let Some(first) = works.next() else { return Ok(()) };
        thread::scope(|scope| {
            let others: Vec<_> = works.map(|work| scope.spawn(work)).collect();
            let mut done = first();
            for other in others {
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                // The error of the lowest path wins, however the threads ran.
                done = done.and(other);
            }
            done
        })
    }

    /// Everything recorded in the episode of a path that is over; none: there is no such.
    pub fn finish(&mut self, place: usize) -> Option<Output> {
        self.paths[place].as_mut()?.finish()
    }
}

/// Lets some paths take a step, one after the other.
fn step_all(
    terms: &Terms,
    paths: &mut [Option<Environment>],
    actions: &[f64],
    skip: &[u8],
    into: Buffers<'_>,
) -> Result<(), (usize, StepError)> {
    let count = paths.len();
    let (action, observed, measured) =
        (actions.len() / count, into.observations.len() / count, into.measured.len() / count);
    for (place, path) in paths.iter_mut().enumerate().filter(|(place, _)| skip[*place] == 0) {
        let path = path.as_mut().ok_or((place, StepError::IsOver))?;
        let progress = path
            .step(&actions[place * action..][..action], terms)
            .map_err(|error| (place, error))?;
        into.progress[place] = progress as u8;
        path.show(
            &mut into.observations[place * observed..][..observed],
            &mut into.measured[place * measured..][..measured],
        );
    }
    Ok(())
}

impl Environment {
    /// Writes what its learners see.
    fn show(&self, observations: &mut [f32], measured: &mut [f64]) {
        let mut observations = observations.iter_mut();
        for (learner, measured) in measured.chunks_exact_mut(FIELDS.len()).enumerate() {
            let (values, all) = self.seen(learner);
            measured.copy_from_slice(all);
            for value in values {
                *observations.next().expect("space for every observation") = value;
            }
        }
    }
}
