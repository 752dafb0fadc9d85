//! Versions of the engines' behaviour. A result is stored under the versions of everything that it
//! depends on, so a change that alters no result keeps it. `tests/it/behaviour` compares the
//! versions with the behaviour.

use std::collections::BTreeMap;

use serde::Serialize;

const VERSIONS: &str = include_str!("../../../behaviour/versions");

/// The version of each part, from 1 on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Behaviour {
    /// The simulator, with the network in it and without the algorithms.
    pub engine: u32,
    /// The network, which testbed and simulator share.
    pub network: u32,
    /// The testbed, without the network and the algorithms.
    pub testbed: u32,
    /// The built-in algorithms that have ever changed. All others have version 1.
    pub algorithms: BTreeMap<String, u32>,
}

impl Behaviour {
    /// The versions of this build.
    ///
    /// # Panics
    /// If their file is not as `make behaviour` writes it.
    #[must_use]
    pub fn now() -> Self {
        Self::read(VERSIONS).unwrap_or_else(|line| panic!("behaviour/versions: {line:?}"))
    }

    /// Read a file of lines such as `engine 3` and `algorithm bbr 2`.
    ///
    /// # Errors
    /// The line at fault.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut versions = Self { engine: 1, network: 1, testbed: 1, algorithms: BTreeMap::new() };
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let words: Vec<_> = line.split(' ').collect();
            let version = words.last().and_then(|word| word.parse().ok());
            match (&words[..], version) {
                (["engine", _], Some(version)) => versions.engine = version,
                (["network", _], Some(version)) => versions.network = version,
                (["testbed", _], Some(version)) => versions.testbed = version,
                (["algorithm", name, _], Some(version)) => {
                    versions.algorithms.insert((*name).to_owned(), version);
                }
                _ => return Err(line.to_owned()),
            }
        }
        Ok(versions)
    }

    /// The lines of the file.
    #[must_use]
    pub fn written(&self) -> String {
        let Self { engine, network, testbed, algorithms } = self;
        let mut text = format!(
            "# What results are stored under. `make behaviour` raises these; CONTRIBUTING.md says when\n\
             # the testbed's is raised by hand. Algorithms that are not named have version 1.\n\
             engine {engine}\nnetwork {network}\ntestbed {testbed}\n"
        );
        for (name, version) in algorithms {
            text += &format!("algorithm {name} {version}\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let algorithms = [("bbr".to_owned(), 4), ("htcp".to_owned(), 2)].into();
        let behaviour = Behaviour { engine: 7, network: 3, testbed: 2, algorithms };
        assert_eq!(Behaviour::read(&behaviour.written()), Ok(behaviour));
        assert_eq!(Behaviour::now().written(), VERSIONS);
    }

    #[test]
    fn anything_else_is_refused() {
        for line in ["engine", "engine x", "motor 1", "<<<<<<< HEAD", "algorithm bbr"] {
            assert_eq!(Behaviour::read(&format!("engine 1\n{line}\n")), Err(line.to_owned()));
        }
    }
}
