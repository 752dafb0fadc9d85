//! Queues as a scenario states them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::classes::ClassesConfig;
use super::codel::CoDelConfig;
use super::fq::FqConfig;
use super::fq_codel::FqCoDelConfig;
use super::limit::Limit;
use super::pie::PieConfig;
use super::red::RedConfig;
use crate::check::{Check, require, within};

/// A queue: its room and its discipline.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueConfig {
    /// Limit of the queue; none: unlimited.
    pub limit: Option<Limit>,
    /// Order of service, drops and marks.
    pub discipline: Discipline,
}

/// A queue discipline and its parameters.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Discipline {
    /// First in, first out; drops what finds no room.
    // A variant with braces, because serde lets a unit variant have any other key.
    Fifo {},
    /// FIFO that marks at a backlog (RFC 8257, section 3.1).
    Step {
        /// Backlog on arrival, the packet being sent included, from which it marks.
        threshold: Limit,
    },
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay.
    #[serde(rename = "codel")]
    CoDel(CoDelConfig),
    /// Flow queues with `CoDel`.
    #[serde(rename = "fq-codel")]
    FqCoDel(FqCoDelConfig),
    /// Proportional integral controller enhanced.
    Pie(PieConfig),
    /// Flow queues.
    Fq(FqConfig),
    /// Classes of packets.
    Classes(ClassesConfig),
}

impl Discipline {
    /// Whether it decides on departure and so must be asked for each packet.
    #[must_use]
    pub const fn schedules(&self) -> bool {
        matches!(self, Self::CoDel(_) | Self::FqCoDel(_) | Self::Fq(_) | Self::Classes(_))
    }

    fn check(&self) -> Check {
        match self {
            Self::Fifo {} | Self::Step { .. } => Ok(()),
            Self::Red(config) => config.check(),
            Self::CoDel(config) => config.check(),
            Self::FqCoDel(config) => config.check(),
            Self::Pie(config) => config.check(),
            Self::Fq(config) => config.check(),
            Self::Classes(config) => config.check(),
        }
    }
}

impl QueueConfig {
    /// Checks what the types do not ensure.
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
    use super::*;

    fn parse(discipline: &str) -> Result<QueueConfig, serde_json::Error> {
        let json = format!(r#"{{"limit":{{"packets":100}},"discipline":{discipline}}}"#);
        serde_json::from_str(&json)
    }

    const ALL: [&str; 8] = [
        r#"{"kind":"fifo"}"#,
        r#"{"kind":"step","threshold":{"bytes":30000}}"#,
        r#"{"kind":"red","min_packets":5,"max_packets":15.0,"max_probability":0.1,"weight":0.002,"gentle":true,"adaptive":false,"ecn":true}"#,
        r#"{"kind":"codel","target_ns":5000000,"interval_ns":100000000,"ecn":true}"#,
        r#"{"kind":"fq-codel","target_ns":5000000,"interval_ns":100000000,"ecn":true,"queues":1024,"quantum_bytes":1514}"#,
        r#"{"kind":"pie","target_ns":15000000,"update_ns":15000000,"alpha":0.125,"beta":1.25,"burst_ns":150000000,"ecn":false}"#,
        r#"{"kind":"fq","quantum_bytes":3028,"initial_quantum_bytes":15140,"flow_limit_packets":100}"#,
        r#"{"kind":"classes","by":{"ecn":{"capable":0,"other":1}},"threshold":null,"serve":{"round_robin":{"quantum_bytes":1514,"weights":[1,1]}}}"#,
    ];

    #[test]
    fn every_discipline_of_the_contract_is_read() {
        for json in ALL {
            parse(json).unwrap().check().unwrap();
        }
        let free = r#"{"limit":null,"discipline":{"kind":"fifo"}}"#;
        assert_eq!(serde_json::from_str::<QueueConfig>(free).unwrap().limit, None);
    }

    #[test]
    fn unknown_and_missing_keys_are_refused() {
        for json in ALL {
            assert!(parse(&json.replace("\"kind\"", "\"more\":1,\"kind\"")).is_err(), "{json}");
        }
        assert!(parse(r#"{"kind":"codel","target_ns":5000000,"ecn":true}"#).is_err());
        assert!(parse(r#"{"kind":"fifoo"}"#).is_err());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let key = |index: usize, from: &str, to: &str| {
            let json = ALL[index].replace(from, to);
            assert_ne!(json, ALL[index]);
            parse(&json).unwrap().check().unwrap_err().0
        };
        assert_eq!(key(2, "15.0", "5.0"), "discipline.max_packets");
        assert_eq!(key(2, "0.1", "1.1"), "discipline.max_probability");
        assert_eq!(key(2, "0.002", "0"), "discipline.weight");
        assert_eq!(key(3, "100000000", "5000000"), "discipline.interval_ns");
        assert_eq!(key(4, "1024", "0"), "discipline.queues");
        assert_eq!(key(4, "1514", "0"), "discipline.quantum_bytes");
        assert_eq!(key(5, "0.125", "-1"), "discipline.alpha");
        assert_eq!(key(6, "3028", "0"), "discipline.quantum_bytes");
        assert_eq!(key(7, "1514", "0"), "discipline.serve.round_robin.quantum_bytes");
        let none = r#"{"limit":{"bytes":0},"discipline":{"kind":"classes","by":{"ecn":{"capable":0,"other":1}},"threshold":null,"serve":{"priority":{"classes":2}}}}"#;
        let config: QueueConfig = serde_json::from_str(none).unwrap();
        assert_eq!(config.check().unwrap_err().0, "limit");
    }
}
