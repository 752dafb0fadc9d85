//! The algorithms that a run can name: those built in, and its own.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::error::{AlgorithmError, nearest};
use crate::registry::{Algorithm, registry};
use crate::user_defined::{LoadError, load_unless};

/// Algorithms that a run can name; by default the built-in ones.
#[derive(Clone, Debug, Default)]
pub struct Algorithms {
    user_defined: Vec<&'static Algorithm>,
}

impl Algorithms {
    /// Compile and load sources, each by its name, and add them to the built-in algorithms.
    ///
    /// # Errors
    /// The first name whose source cannot be used, with the reason; or the cancellation.
    pub fn load(
        sources: &BTreeMap<String, String>,
        cancel: &AtomicBool,
    ) -> Result<Self, (String, LoadError)> {
        let load = |(name, code): (&String, &String)| {
            load_unless(name, code, &format!("{name}.c"), cancel)
                .map_err(|error| (name.clone(), error))
        };
        Ok(Self { user_defined: sources.iter().map(load).collect::<Result<_, _>>()? })
    }

    /// Find the algorithm of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(&self, name: &str) -> Result<&'static Algorithm, AlgorithmError> {
        let known = || registry().iter().chain(self.user_defined.iter().copied());
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
