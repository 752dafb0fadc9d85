//! Paths that learners steer, step by step. Numbers come and go in buffers, such as NumPy's arrays.

use std::time::Duration;

use dumbbell_algorithm::guarded;
use dumbbell_simulator::{Batch, Buffers, Environment, Error, FIELDS, StepError, Terms};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::{ActionError, ScenarioError, Stalled, not_run};
use crate::runs::{RunOutput, control, prepared};

/// Many paths that take their steps together.
#[pyclass(module = "dumbbell._core")]
pub struct Environments {
    batch: Batch,
    observations: Vec<f32>,
    measured: Vec<f64>,
    progress: Vec<u8>,
}

#[pymethods]
impl Environments {
    /// Make `paths` empty places with terms given as JSON; `put` fills them. A call of a user's
    /// algorithm may take `stalled_s` of processor time.
    #[new]
    fn new(terms_json: &str, paths: usize, stalled_s: f64) -> PyResult<Self> {
        let wrong = |key: &str, problem: String| ScenarioError::new_err((key.to_owned(), problem));
        let terms: Terms =
            serde_json::from_str(terms_json).map_err(|error| wrong("terms", error.to_string()))?;
        let batch = Batch::new(terms, paths).map_err(|(key, problem)| wrong(key, problem))?;
        guarded::limit(Duration::from_secs_f64(stalled_s));
        let [_, observed, measured] = batch.sizes();
        let observations = vec![0.0; paths * observed];
        Ok(Self {
            batch,
            observations,
            measured: vec![0.0; paths * measured],
            progress: vec![0; paths],
        })
    }

    /// Put a resolved scenario, given as JSON, in a place.
    fn put(&mut self, py: Python<'_>, place: usize, scenario_json: &str) -> PyResult<()> {
        self.check_place(place)?;
        let (scenario, algorithms) = prepared(py, scenario_json, &control(None).cancelled)?;
        let path = Environment::new(scenario, &algorithms, self.batch.terms());
        self.batch.put(place, path.map_err(not_run)?);
        Ok(())
    }

    /// Begin an episode in a place; the buffers are for its row alone.
    fn reset(
        &mut self,
        py: Python<'_>,
        place: usize,
        seed: u64,
        observations: PyBuffer<f32>,
        measured: PyBuffer<f64>,
    ) -> PyResult<()> {
        self.check_place(place)?;
        let Self { batch, observations: all_seen, measured: all_measured, progress } = self;
        let [_, seen, numbers] = batch.sizes();
        let seen = &mut all_seen[place * seen..][..seen];
        let numbers = &mut all_measured[place * numbers..][..numbers];
        let into = Buffers {
            observations: &mut *seen,
            measured: &mut *numbers,
            progress: &mut progress[place..=place],
        };
        let done = py.detach(|| batch.reset(place, seed, into));
        done.map_err(|error| failed(place, error))?;
        copied(py, &observations, seen)?;
        copied(py, &measured, numbers)
    }

    /// Step every path except those whose byte in `skip` is not 0.
    #[expect(clippy::too_many_arguments, reason = "the buffers are distinct")]
    fn step(
        &mut self,
        py: Python<'_>,
        actions: PyBuffer<f64>,
        skip: PyBuffer<u8>,
        observations: PyBuffer<f32>,
        measured: PyBuffer<f64>,
        progress: PyBuffer<u8>,
        threads: usize,
    ) -> PyResult<()> {
        let (actions, skip) = (actions.to_vec(py)?, skip.to_vec(py)?);
        let [action, ..] = self.batch.sizes();
        let paths = self.batch.len();
        if actions.len() != paths * action || skip.len() != paths {
            let problem = format!("{} numbers, not {}", actions.len(), paths * action);
            return Err(PyValueError::new_err(problem));
        }
        let into = Buffers {
            observations: &mut self.observations,
            measured: &mut self.measured,
            progress: &mut self.progress,
        };
        let batch = &mut self.batch;
        let done = py.detach(|| batch.step(&actions, &skip, into, threads));
        done.map_err(|(place, error)| failed(place, error))?;
        copied(py, &observations, &self.observations)?;
        copied(py, &measured, &self.measured)?;
        copied(py, &progress, &self.progress)
    }

    /// Return the recordings of the run in a place if its episode is over by its time; else none.
    fn finish(&mut self, place: usize) -> PyResult<Option<RunOutput>> {
        self.check_place(place)?;
        Ok(self.batch.finish(place).map(RunOutput))
    }

    /// List names, units and meanings of the measured quantities, as JSON.
    #[staticmethod]
    fn fields() -> String {
        let fields = FIELDS.map(|field| [field.name, field.unit, field.what]);
        json!(fields.as_slice()).to_string()
    }
}

impl Environments {
    fn check_place(&self, place: usize) -> PyResult<()> {
        let places = self.batch.len();
        if place < places {
            return Ok(());
        }
        Err(PyValueError::new_err(format!("place {place} of {places}")))
    }
}

fn copied<T: Element>(py: Python<'_>, buffer: &PyBuffer<T>, numbers: &[T]) -> PyResult<()> {
    buffer.copy_from_slice(py, numbers)
}

fn failed(place: usize, error: StepError) -> PyErr {
    match error {
        StepError::Action { learner, refused } => {
            ActionError::new_err((place, learner, refused.dial, refused.value))
        }
        StepError::IsOver => {
            PyRuntimeError::new_err(format!("no episode is running in place {place}"))
        }
        StepError::Run(Error::Stalled(guarded::Stalled { algorithm, hook })) => {
            Stalled::new_err((place, algorithm, hook))
        }
        StepError::Run(error) => not_run(error),
    }
}
