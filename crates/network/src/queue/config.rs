//! Queues as a scenario states them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::inventory::Discipline;
use super::limit::Limit;
use crate::check::{Check, require, within};

/// A queue: its limit and its discipline.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueConfig {
    /// Limit of the queue; None is unlimited.
    pub limit: Option<Limit>,
    /// Order of service, drops and marks.
    pub discipline: Discipline,
}

impl QueueConfig {
    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        let none = matches!(self.limit, Some(Limit::Packets(0) | Limit::Bytes(0)));
        require(!(none && self.discipline.schedules()), "limit", || {
            "0, but this discipline must be able to hold a packet".into()
        })?;
        within("discipline", self.discipline.check())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Example;
    use super::*;

    fn parse(queue: &str) -> Result<QueueConfig, serde_json::Error> {
        serde_json::from_str(queue)
    }

    #[test]
    fn every_example_is_read_and_a_queue_may_be_unlimited() {
        for example in Discipline::examples() {
            parse(example.queue).unwrap().check().unwrap();
        }
        let free = r#"{"limit":null,"discipline":{"kind":"fifo"}}"#;
        assert_eq!(parse(free).unwrap().limit, None);
    }

    #[test]
    fn every_discipline_has_examples_and_quick_ones() {
        let kinds = |disciplines: Vec<serde_json::Value>| -> std::collections::BTreeSet<String> {
            disciplines.iter().map(|it| it["kind"].as_str().unwrap().to_owned()).collect()
        };
        let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        let examples =
            Discipline::examples().iter().map(|it| read(it.queue)["discipline"].take()).collect();
        let quick = Discipline::quick_examples().iter().map(|it| read(it)).collect();
        let schema = serde_json::to_value(schemars::schema_for!(Discipline)).unwrap();
        let known = schema["oneOf"].as_array().unwrap().iter();
        let known = known.map(|it| it["properties"]["kind"]["const"].as_str().unwrap().to_owned());
        let known = known.collect();
        assert_eq!(
            (kinds(examples), kinds(quick)),
            (std::collections::BTreeSet::clone(&known), known)
        );
    }

    #[test]
    fn unknown_and_missing_keys_are_refused() {
        for Example { queue, .. } in Discipline::examples() {
            assert!(parse(&queue.replace("\"kind\"", "\"more\":1,\"kind\"")).is_err(), "{queue}");
            let whole: serde_json::Value = serde_json::from_str(queue).unwrap();
            for key in whole["discipline"].as_object().unwrap().keys() {
                let mut without_key = whole.clone();
                without_key["discipline"].as_object_mut().unwrap().remove(key);
                // A key that may be null may also be omitted.
                let is_null = whole["discipline"][key].is_null();
                let optional = is_null || matches!(key.as_str(), "threshold" | "shaper");
                assert!(optional || parse(&without_key.to_string()).is_err(), "{without_key}");
            }
        }
    }

    #[test]
    fn a_scheduler_must_be_able_to_hold_a_packet() {
        for Example { queue, .. } in Discipline::examples() {
            let mut config = parse(queue).unwrap();
            config.limit = Some(Limit::Bytes(0));
            let key = config.check().err().map(|(key, _)| key);
            assert_eq!(key.as_deref(), config.discipline.schedules().then_some("limit"));
        }
    }
}
