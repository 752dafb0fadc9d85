//! The corpus covers every key and value of the contract, new ones included.

use std::collections::BTreeSet;

use dumbbell_algorithm::registry;
use dumbbell_workload::describe_contract;
use serde_json::Value;

use super::corpus::corpus;
use super::stacks;

/// Keys outside the corpus. The keys of results contain the sources of user-defined algorithms.
const EXEMPT: [&str; 1] = ["Scenario.sources"];

/// The schema of scenarios, and the parts of it that the corpus has: keys with a value, as
/// `Type.key`, and words, as `Type=word`.
struct Coverage {
    schema: Value,
    met: BTreeSet<String>,
}

impl Coverage {
    /// Note the parts of a schema that a value has; `name` is the name of its type.
    fn meet(&mut self, name: &str, schema: &Value, value: &Value) {
        let (name, schema) = self.resolved(name, schema);
        for part in ["oneOf", "anyOf"] {
            for variant in schema[part].as_array().into_iter().flatten() {
                if self.fits(variant, value) {
                    self.meet(&tagged(&name, variant), variant, value);
                }
            }
        }
        if words(&schema).is_some() {
            self.met.insert(format!("{name}={value}"));
        }
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(names) = value.get(key).filter(|names| !names.is_null()) {
                self.met.insert(format!("{name}.{key}"));
                self.meet(&format!("{name}.{key}"), inner, names);
            }
        }
        let entries = value.as_array().into_iter().flatten();
        for (number, entry) in entries.enumerate() {
            let inner = schema["prefixItems"].get(number).unwrap_or(&schema["items"]);
            self.meet(&name, inner, entry);
        }
    }

    /// Return true if a value fits a schema, judged by types, keys and words.
    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let (_, schema) = self.resolved("", schema);
        if let Some(variants) = schema["oneOf"].as_array().or(schema["anyOf"].as_array()) {
            return variants.iter().any(|variant| self.fits(variant, value));
        }
        let of_kind = |kind: &Value| match kind.as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("null") => value.is_null(),
            Some("boolean") => value.is_boolean(),
            Some("integer" | "number") => value.is_number(),
            _ => true,
        };
        let kind = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().any(of_kind),
            kind => of_kind(kind),
        };
        let word = words(&schema).is_none_or(|words| words.contains(value));
        let required = schema["required"].as_array().into_iter().flatten();
        let mut required = required.filter_map(Value::as_str);
        let complete = required.all(|key| value.get(key).is_some());
        let of_tag = |(key, inner): (&String, &Value)| {
            inner.get("const").is_none_or(|word| value.get(key) == Some(word))
        };
        let of_tag = schema["properties"].as_object().into_iter().flatten().all(of_tag);
        kind && word && complete && of_tag
    }

    /// All parts that the schema has.
    fn all(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.list("", &self.schema, &mut names);
        names
    }

    fn list(&self, name: &str, schema: &Value, names: &mut BTreeSet<String>) {
        let (name, schema) = self.resolved(name, schema);
        let words = words(&schema).unwrap_or_default();
        names.extend(words.iter().map(|word| format!("{name}={word}")));
        for part in ["oneOf", "anyOf", "prefixItems"] {
            for inner in schema[part].as_array().into_iter().flatten() {
                self.list(&tagged(&name, inner), inner, names);
            }
        }
        if schema["items"].is_object() {
            self.list(&name, &schema["items"], names);
        }
        for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
            names.insert(format!("{name}.{key}"));
            self.list(&format!("{name}.{key}"), inner, names);
        }
    }

    /// The schema of a reference, and the name of its type.
    fn resolved(&self, name: &str, schema: &Value) -> (String, Value) {
        match schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
            Some(referred) => (referred.to_owned(), self.schema["$defs"][referred].clone()),
            None if name.is_empty() => {
                (self.schema["title"].as_str().unwrap_or_default().to_owned(), schema.clone())
            }
            None => (name.to_owned(), schema.clone()),
        }
    }
}

/// The name of a variant, from the word that distinguishes it.
fn tagged(name: &str, variant: &Value) -> String {
    let properties = variant["properties"].as_object().into_iter().flatten();
    let mut tags = properties.filter_map(|(_, inner)| inner["const"].as_str());
    tags.next().map_or_else(|| name.to_owned(), |tag| format!("{name}({tag})"))
}

/// The words that a schema allows; for a boolean both values.
fn words(schema: &Value) -> Option<Vec<Value>> {
    if schema["type"] == "boolean" {
        return Some(vec![Value::Bool(false), Value::Bool(true)]);
    }
    let word = schema.get("const").map(|word| vec![word.clone()]);
    word.or_else(|| schema["enum"].as_array().cloned())
}

#[test]
fn the_corpus_has_all_that_a_scenario_can_ask_for() {
    let schema = describe_contract()["scenario"].clone();
    let mut coverage = Coverage { schema, met: BTreeSet::new() };
    for case in corpus().iter().filter(|case| !case.is_of_network()) {
        let schema = coverage.schema.clone();
        coverage.meet("", &schema, &case.scenario);
    }
    let all = coverage.all();
    let unknown: Vec<_> = coverage.met.difference(&all).collect();
    assert!(all.len() > 100 && unknown.is_empty(), "{unknown:?}");
    let exempt = EXEMPT.map(str::to_owned).into();
    let missing: Vec<_> =
        all.difference(&coverage.met).filter(|name| !BTreeSet::contains(&exempt, *name)).collect();
    assert!(missing.is_empty(), "no case of tests/it/behaviour has {missing:?}: add one each");
}

#[test]
fn the_corpus_has_every_algorithm_preset_and_switch() {
    let names: BTreeSet<_> = corpus().into_iter().map(|case| case.name).collect();
    for algorithm in registry() {
        assert!(names.contains(&format!("algorithm/{} alone", algorithm.name)));
        for preset in &algorithm.presets {
            assert!(names.contains(&format!("algorithm/{}@{}", algorithm.name, preset.name)));
        }
    }
    assert_eq!(stacks::unset(), [""; 0], "give each another value in stacks.rs");
}
