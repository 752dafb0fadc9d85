//! All cases.

use std::collections::BTreeSet;

use dumbbell_record::Output;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{algorithms, draws, flows, links, network, stacks};
use crate::common::run_resolved;

/// A run with a digest.
pub struct Case {
    pub name: String,
    /// A resolved scenario, or the links for `network`.
    pub scenario: Value,
    digest: fn(&Value, &mut Sha256),
}

/// All cases. Each has separate random numbers, if any, so that none depends on the others.
pub fn corpus() -> Vec<Case> {
    let runs =
        [algorithms::cases(), flows::cases(), links::cases(), stacks::cases(), draws::cases()];
    let runs = runs.into_iter().flatten();
    let runs = runs.map(|(name, scenario)| Case { name, scenario, digest: run });
    let driven = network::cases().into_iter();
    let driven = driven.map(|(name, scenario)| Case { name, scenario, digest: network::drive });
    runs.chain(driven).collect()
}

impl Case {
    /// Digest of its whole output.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        (self.digest)(&self.scenario, &mut digest);
        digest.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// True if it tests the network alone.
    pub fn is_of_network(&self) -> bool {
        self.name.starts_with("network/")
    }

    /// Algorithms of its flows.
    pub fn algorithms(&self) -> BTreeSet<String> {
        let flows = self.scenario["flows"].as_array().into_iter().flatten();
        let names = flows.filter_map(|flow| flow["transport"]["tcp"]["algorithm"].as_str());
        names.map(str::to_owned).collect()
    }
}

fn run(scenario: &Value, digest: &mut Sha256) {
    let output: Output = run_resolved(scenario);
    for (table, columns) in output.tables() {
        digest.update(table);
        for column in columns {
            digest.update(column.name);
            digest.update(&column.bytes);
        }
    }
    digest.update(serde_json::to_string(&output.summary).expect("plain values"));
    for file in output.captures.iter().flatten() {
        digest.update(file);
    }
}
