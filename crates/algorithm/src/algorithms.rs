//! The algorithms that a run can name: those built in, and its own.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::error::{AlgorithmError, nearest};
use crate::own::{OwnError, load_unless};
use crate::registry::{Algorithm, registry};

/// Algorithms that a run can name; by default the built-in ones.
#[derive(Clone, Debug, Default)]
pub struct Algorithms {
    own: Vec<&'static Algorithm>,
}

impl Algorithms {
    /// Compile and load sources, each by its name, and add them to the built-in algorithms.
    ///
    /// # Errors
    /// The first name whose source cannot be used, with the reason; or the cancellation.
    pub fn load(
        sources: &BTreeMap<String, String>,
        cancel: &AtomicBool,
    ) -> Result<Self, (String, OwnError)> {
        let load = |(name, code): (&String, &String)| {
            load_unless(name, code, &format!("{name}.c"), cancel)
                .map_err(|error| (name.clone(), error))
        };
        Ok(Self { own: sources.iter().map(load).collect::<Result<_, _>>()? })
    }

    /// Find the algorithm of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(&self, name: &str) -> Result<&'static Algorithm, AlgorithmError> {
        let known = || registry().iter().chain(self.own.iter().copied());
        known().find(|algorithm| algorithm.name == name).ok_or_else(|| {
            let known: Vec<_> = known().map(|algorithm| algorithm.name).collect();
            AlgorithmError::UnknownAlgorithm {
                name: name.to_owned(),
                nearest: nearest(name, &known),
                known,
            }
        })
    }
}

/// Find the built-in algorithm of this name.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Algorithm, AlgorithmError> {
    Algorithms::default().find(name)
}
