//! Many paths in one process, step by step, over one thread or several.

use std::thread;

use dumbbell_record::Output;

use super::observing::FIELDS;
use super::terms::{StepError, Terms};
use super::{Environment, Progress};

/// Paths with the same terms.
#[derive(Debug)]
pub struct Batch {
    terms: Terms,
    paths: Vec<Option<Environment>>,
}

/// Output of a batch: a row for each path.
#[derive(Debug)]
pub struct Buffers<'a> {
    /// Observations, learner by learner, then step by step.
    pub observations: &'a mut [f32],
    /// All [`FIELDS`] of the last step, learner by learner.
    pub measured: &'a mut [f64],
    /// Codes of [`Progress`].
    pub progress: &'a mut [u8],
}

impl Batch {
    /// A batch of `paths` empty places.
    ///
    /// # Errors
    /// The key of the terms at fault, and the problem.
    pub fn new(terms: Terms, paths: usize) -> Result<Self, (&'static str, String)> {
        terms.check()?;
        Ok(Self { terms, paths: (0..paths).map(|_| None).collect() })
    }

    /// The terms of all paths.
    #[must_use]
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Number of paths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// True if there are no paths.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Size of one path's action, of its observations and of its measurements, in numbers.
    #[must_use]
    pub fn sizes(&self) -> [usize; 3] {
        let Terms { learners, dials, observes, history, .. } = &self.terms;
        let learners = learners.len();
        [learners * dials.len(), learners * observes.len() * *history, learners * FIELDS.len()]
    }

    /// Put a path in a place.
    pub fn put(&mut self, place: usize, path: Environment) {
        self.paths[place] = Some(path);
    }

    /// Begin an episode of a path, and write its first observation to buffers of one row.
    ///
    /// # Errors
    /// If there is no path in that place, or it cannot run.
    pub fn reset(&mut self, place: usize, seed: u64, into: Buffers<'_>) -> Result<(), StepError> {
        let path = self.paths[place].as_mut().ok_or(StepError::IsOver)?;
        path.reset(seed, &self.terms).map_err(StepError::Run)?;
        into.progress.fill(Progress::Running as u8);
        path.show(into.observations, into.measured);
        Ok(())
    }

    /// Step all paths except those in `skip`, on so many `threads`.
    ///
    /// # Errors
    /// The first path that failed, with its error. If an action is wrong, nothing has happened.
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
                // The error of the lowest path counts, whatever the order of the threads.
                done = done.and(other);
            }
            done
        })
    }

    /// Return everything recorded in a path's finished episode; none: no episode is finished.
    pub fn finish(&mut self, place: usize) -> Option<Output> {
        self.paths[place].as_mut()?.finish()
    }
}

/// Step some paths, one after the other.
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
    /// Write the learners' observations and measurements.
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
