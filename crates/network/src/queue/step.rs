//! First in, first out, with marks from a backlog on (RFC 8257, section 3.1).

use schemars::JsonSchema;
use serde::Deserialize;

use super::limit::Limit;
use super::{Backlog, Example, Manage, Managed, Parameters, Verdict};
use crate::check::Check;
use crate::packet::{Ecn, Packet};
use crate::random::Random;
use crate::units::{Span, Time};

/// Parameters of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepConfig {
    /// Backlog on arrival, the packet being sent included, from which it marks.
    pub threshold: Limit,
}

impl Parameters for StepConfig {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "marks by packets",
            queue: r#"{"limit":{"packets":60},"discipline":{"kind":"step","threshold":{"packets":10}}}"#,
        },
        Example {
            name: "marks by bytes",
            queue: r#"{"limit":{"packets":60},"discipline":{"kind":"step","threshold":{"bytes":20000}}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] =
        &[r#"{"kind":"step","threshold":{"packets":3}}"#];

    fn check(&self) -> Check {
        Ok(())
    }
}

impl Managed for StepConfig {
    type Law = Step;

    fn manager(&self, _packet_time: Span, _random: Random) -> Step {
        Step { threshold: self.threshold }
    }
}

/// A running step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    threshold: Limit,
}

impl Manage for Step {
    fn admit(&mut self, _now: Time, backlog: &Backlog, packet: Packet) -> Verdict {
        let reached = self.threshold.is_reached(backlog.packets, backlog.bytes);
        if reached && packet.ecn() != Ecn::NotEct { Verdict::Mark } else { Verdict::Accept }
    }
}
