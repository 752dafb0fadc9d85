//! The settings and observations of learners, and the actions that are refused.

use std::num::NonZeroU64;

use serde::Deserialize;

use super::dials::{self, Dial, Refused};
use super::observing::FIELDS;
use crate::Error;

/// Reason why a path has not taken a step.
#[derive(Debug)]
pub enum StepError {
    /// A learner's action is not valid.
    Action {
        /// Index of the learner.
        learner: usize,
        /// The number at fault.
        refused: Refused,
    },
    /// Its episode is over, or has not begun.
    IsOver,
    /// The run cannot continue.
    Run(Error),
}

/// Length of a step.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A monitor interval, in ns.
    IntervalNs(NonZeroU64),
    /// So many smoothed round trips of the first learner.
    RoundTrips(f64),
}

/// Actions and observations of learners, and their times.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Indices of the flows that they steer. They are the same in all scenarios.
    pub learners: Vec<usize>,
    /// Length of their steps.
    pub step: Step,
    /// Meaning of the numbers of an action, in their order.
    pub dials: Vec<Dial>,
    /// Names of the observed quantities, of [`FIELDS`].
    pub observes: Vec<String>,
    /// Number of steps that an observation contains, the oldest first.
    pub history: usize,
    /// True if observations are in units of the path, without absolute units.
    pub scaled: bool,
}

impl Terms {
    /// Refuse an action that is not valid, unless its path is in `skip`.
    pub(super) fn check_actions(
        &self,
        actions: &[f64],
        skip: &[u8],
    ) -> Result<(), (usize, StepError)> {
        let dials = self.dials.len();
        let paths = actions.chunks_exact(dials * self.learners.len()).enumerate();
        for (path, actions) in paths.filter(|(path, _)| skip[*path] == 0) {
            for (learner, action) in actions.chunks_exact(dials).enumerate() {
                dials::check(&self.dials, action)
                    .map_err(|refused| (path, StepError::Action { learner, refused }))?;
            }
        }
        Ok(())
    }

    /// Refuse terms that no learner can have: the key at fault, and the problem.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let is_known = |name: &str| FIELDS.iter().any(|field| field.name == name);
        if self.learners.is_empty() {
            return Err(("learners", "none, but somebody has to set something".into()));
        }
        if self.dials.is_empty() {
            return Err(("dials", "none, but an action has to set something".into()));
        }
        if let Some(unknown) = self.observes.iter().find(|name| !is_known(name)) {
            return Err(("observes", format!("has {unknown:?}, which is not measured")));
        }
        if self.observes.is_empty() || self.history == 0 {
            return Err(("observes", "nothing, but a learner has to see something".into()));
        }
        Ok(())
    }
}
