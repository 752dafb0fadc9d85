//! The algorithms that a run can name: those built in, and its own.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::error::{AlgorithmError, nearest};
use crate::own::{OwnError, load_unless};
use crate::registry::{Algorithm, registry};

/// The algorithms that a run can name; by default those that are built in.
#[derive(Clone, Debug, Default)]
pub struct Algorithms {
    own: Vec<&'static Algorithm>,
}

impl Algorithms {
    /// Compiles and loads sources, each by its name, and adds them to those built in.
    ///
    /// # Errors
    /// The first name whose source cannot be used, and why; or that it is cancelled meanwhile.
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

    /// The algorithm of this name.
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

/// The algorithm of this name that is built in.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<&'static Algorithm, AlgorithmError> {
    Algorithms::default().find(name)
}
