//! The files of `behaviour/`: digests and versions, and how to raise these.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dumbbell_simulator::Behaviour;

use super::corpus::Case;

/// Digest of each case, by name.
pub type Digests = BTreeMap<String, String>;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../behaviour");
/// Most names that a message lists.
const LISTED: usize = 12;

fn file(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// Digests at the last `make behaviour`. Conflict markers of merges belong to no case and are
/// ignored.
pub fn digests() -> Digests {
    let text = fs::read_to_string(file("digests")).expect("behaviour/digests is there");
    let pairs = text.lines().filter_map(|line| line.rsplit_once(' '));
    pairs.map(|(name, digest)| (name.trim().to_owned(), digest.to_owned())).collect()
}

/// The digests now, compared with those before.
pub struct Verdict {
    pub now: Digests,
    pub changed: BTreeSet<String>,
    added: usize,
    removed: usize,
}

impl Verdict {
    pub fn of(before: &Digests, now: Digests) -> Self {
        let differs = |(name, digest): &(&String, &String)| {
            before.get(*name).is_some_and(|known| known != *digest)
        };
        let changed = now.iter().filter(differs).map(|(name, _)| name.clone()).collect();
        let added = now.keys().filter(|name| !before.contains_key(*name)).count();
        let removed = before.keys().filter(|name| !now.contains_key(*name)).count();
        Self { now, changed, added, removed }
    }

    pub fn is_same(&self) -> bool {
        self.changed.is_empty() && self.added + self.removed == 0
    }

    /// Describe the differences and the remedies.
    pub fn report(&self, cases: &[Case]) -> String {
        let mut report = format!(
            "{} of {} cases do something else, {} are new and {} are gone:\n",
            self.changed.len(),
            self.now.len(),
            self.added,
            self.removed
        );
        for name in self.changed.iter().take(LISTED) {
            report += &format!("  {name}\n");
        }
        if self.changed.len() > LISTED {
            report += &format!("  and {} more\n", self.changed.len() - LISTED);
        }
        report += "If that was not intended, it is a fault. If it was:\n\
                 \x20 make behaviour\n\
                 raises the engine's version and writes the digests; stored results are those of \
                 another engine then.\n";
        if let Some(names) = self.shared(cases).map(|names| names.join(" "))
            && !names.is_empty()
        {
            report += &format!(
                "All that differs has one of {names}. If nothing but their files was changed:\n\
                 \x20 make behaviour ALGORITHMS='{names}'\n\
                 raises their versions alone, and the results of all others remain.\n"
            );
        }
        report
            + "If not the engine but the corpus was changed:\n\x20 make behaviour SAME=1\n\
                writes the digests alone."
    }

    /// The algorithms that have changed, if every changed case has one of them.
    fn shared(&self, cases: &[Case]) -> Option<Vec<String>> {
        let alone = |name: &String| {
            Some(name.strip_prefix("algorithm/")?.strip_suffix(" alone")?.to_owned())
        };
        let algorithms: BTreeSet<String> = self.changed.iter().filter_map(alone).collect();
        let mut changed = cases.iter().filter(|case| self.changed.contains(&case.name));
        changed
            .all(|case| !case.algorithms().is_disjoint(&algorithms))
            .then(|| algorithms.into_iter().collect())
    }
}

/// Raise versions as requested: `engine`, `same`, or the names of algorithms.
///
/// # Panics
/// If a changed case has none of the algorithms.
pub fn raise(verdict: &Verdict, request: &str, cases: &[Case]) -> String {
    let text = fs::read_to_string(file("versions")).expect("behaviour/versions is there");
    let before = Behaviour::read(&text).unwrap_or_else(|line| panic!("behaviour/versions: {line}"));
    let mut behaviour = before.clone();
    let changed = || cases.iter().filter(|case| verdict.changed.contains(&case.name));
    match request {
        _ if verdict.changed.is_empty() => {}
        "same" => {}
        "engine" => {
            behaviour.engine += 1;
            behaviour.network += u32::from(changed().any(Case::is_of_network));
        }
        names => {
            let names: Vec<_> = names.split_whitespace().collect();
            for case in changed() {
                let has = case.algorithms().iter().any(|name| names.contains(&name.as_str()));
                assert!(has, "{} has changed, too, and has none of {names:?}", case.name);
            }
            for name in names {
                *behaviour.algorithms.entry(name.to_owned()).or_insert(1) += 1;
            }
        }
    }
    let lines = verdict.now.iter().map(|(name, digest)| format!("{name} {digest}\n"));
    fs::write(file("digests"), lines.collect::<String>()).expect("behaviour/digests is written");
    if behaviour == before {
        return format!("{} digests are written, no version is raised", verdict.now.len());
    }
    fs::write(file("versions"), behaviour.written()).expect("behaviour/versions is written");
    format!("{} cases do something else: behaviour/versions is raised", verdict.changed.len())
}
