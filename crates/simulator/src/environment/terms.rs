//! The settings and observations of learners, and the actions that are refused.

use std::num::NonZeroU64;

use serde::Deserialize;

use super::dials::{self, Dial, Refused};
use super::observing::FIELDS;
use crate::Error;

/// Why a path has taken no step.
#[derive(Debug)]
pub enum StepError {
    /// A learner's action cannot be one.
    Action {
        /// Which of the learners.
        learner: usize,
        /// The number that is wrong.
        refused: Refused,
    },
    /// Its episode is over, or has not begun.
    IsOver,
    /// It cannot go on.
    Run(Error),
}

/// How long a step is.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A monitor interval.
    IntervalNs(NonZeroU64),
    /// So many smoothed round trips of the first learner.
    RoundTrips(f64),
}

/// What learners set and see, and when.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The flows that they steer, by their numbers in the scenario; the same in each.
    pub learners: Vec<usize>,
    /// How long their steps are.
    pub step: Step,
    /// What an action sets, in its order.
    pub dials: Vec<Dial>,
    /// Names of what is observed, of [`FIELDS`].
    pub observes: Vec<String>,
    /// So many steps are observed, the oldest first.
    pub history: usize,
    /// Observations have no units but those of the path.
    pub scaled: bool,
}

impl Terms {
    /// Refuses an action that cannot be one, of paths that are not to be skipped.
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

    /// Refuses what no learner can have: the key at fault, and what is wrong with it.
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
