//! What runs over a network: the resolved scenario, common to all engines.
//!
//! "Resolved" means that nothing is left to interpret: quantities are integers in
//! base units, queues are sized, random start times are drawn. The front end writes
//! it as JSON; unknown keys are refused.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use dumbbell_network::{DumbbellConfig, Span, Time};
use dumbbell_record::RecordConfig;
use dumbbell_tcp::StackChoice;
use serde::Deserialize;

/// One run, in full.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Seed of everything random within the run.
    pub seed: u64,
    /// Length of the run.
    pub duration_ns: Span,
    /// The hosts' TCP.
    pub stack: StackChoice,
    /// The network between them.
    pub network: DumbbellConfig,
    /// The flows.
    pub flows: Vec<Flow>,
    /// What to record.
    pub record: RecordConfig,
}

/// One bulk transfer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name for people.
    pub label: String,
    /// Congestion-control algorithm.
    pub algorithm: String,
    /// Preset of its parameters; none: the defaults.
    pub preset: Option<String>,
    /// Parameters that differ from the preset.
    pub parameters: BTreeMap<String, u32>,
    /// Round-trip propagation delay of the whole path.
    pub rtt_ns: Span,
    /// When it begins.
    pub start_ns: Time,
    /// When it stops sending new data; none: never.
    pub stop_ns: Option<Time>,
    /// Payload to transfer; none: without end.
    pub bytes: Option<NonZeroU64>,
    /// Size of a full packet at the IP layer.
    pub packet_bytes: u16,
    /// Bytes of it that are headers.
    pub header_bytes: u16,
}

/// A scenario that cannot be run: the key at fault and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Path of the key, such as `flows.1.bytes`.
    pub key: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl Flow {
    /// Payload of a full segment in bytes.
    #[must_use]
    pub const fn mss_bytes(&self) -> u32 {
        (self.packet_bytes - self.header_bytes) as u32
    }

    /// Segments to transfer; none: without end.
    #[must_use]
    pub fn transfer_segs(&self) -> Option<u64> {
        self.bytes.map(|bytes| bytes.get().div_ceil(u64::from(self.mss_bytes())))
    }

    /// Payload of the first `segs` segments of the transfer; the last may be short.
    #[must_use]
    pub fn payload_bytes(&self, segs: u64) -> u64 {
        let full = segs * u64::from(self.mss_bytes());
        self.bytes.map_or(full, |bytes| full.min(bytes.get()))
    }
}

impl Scenario {
    /// Reads a scenario and checks what the types alone do not ensure.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn from_json(text: &str) -> Result<Self, Invalid> {
        let scenario: Self = serde_json::from_str(text)
            .map_err(|error| Invalid { key: "scenario".into(), problem: error.to_string() })?;
        scenario.check()?;
        Ok(scenario)
    }

    fn check(&self) -> Result<(), Invalid> {
        let refuse = |key: &str, problem: String| Err(Invalid { key: key.into(), problem });
        if self.duration_ns == Span::ZERO {
            return refuse("duration_ns", "0, but a run must take some time".into());
        }
        if self.flows.is_empty() {
            return refuse("flows", "none, but a run needs at least one".into());
        }
        for (index, loss) in self.network.loss.iter().enumerate() {
            if !(0.0..1.0).contains(&loss.probability) {
                let key = format!("network.loss.{index}.probability");
                return refuse(&key, format!("{}, but it must be in 0..1", loss.probability));
            }
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if let Err((key, problem)) = self.check_flow(flow) {
                return refuse(&format!("flows.{index}.{key}"), problem);
            }
        }
        Ok(())
    }

    fn check_flow(&self, flow: &Flow) -> Result<(), (&'static str, String)> {
        let shared = Span(2 * self.network.delay_ns.0);
        if flow.rtt_ns < shared {
            let problem = format!(
                "{} ns, shorter than the bottleneck's own round trip of {} ns",
                flow.rtt_ns.0, shared.0
            );
            return Err(("rtt_ns", problem));
        }
        if flow.packet_bytes <= flow.header_bytes {
            let problem =
                format!("{}, no room beside {} header bytes", flow.packet_bytes, flow.header_bytes);
            return Err(("packet_bytes", problem));
        }
        if flow.stop_ns.is_some_and(|stop| stop <= flow.start_ns) {
            return Err(("stop_ns", format!("not after start_ns {}", flow.start_ns.0)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn valid() -> Value {
        json!({
            "seed": 1, "duration_ns": 1_000_000_000, "stack": {"profile": "linux-6"},
            "network": {
                "rate_bps": 1_000_000, "delay_ns": 1_000_000, "queue": {"packets": 10},
                "overhead_bytes": 0, "edge_rate_bps": null, "edge_jitter_ns": 0,
                "reverse": {"rate_bps": 1_000_000, "queue": {"packets": 10}}, "loss": []
            },
            "flows": [{
                "label": "a", "algorithm": "reno", "preset": null, "parameters": {},
                "rtt_ns": 2_000_000, "start_ns": 0, "stop_ns": null, "bytes": 3000,
                "packet_bytes": 1500, "header_bytes": 52
            }],
            "record": {"interval_ns": null, "events": [], "algorithm_state": false}
        })
    }

    fn refused_key(pointer: &str, value: Value) -> String {
        let mut scenario = valid();
        *scenario.pointer_mut(pointer).expect("an existing key") = value;
        Scenario::from_json(&scenario.to_string()).expect_err("should be refused").key
    }

    #[test]
    fn a_valid_scenario_is_read() {
        let scenario = Scenario::from_json(&valid().to_string()).unwrap();
        let flow = &scenario.flows[0];
        assert_eq!((flow.mss_bytes(), flow.transfer_segs()), (1448, Some(3)));
        assert_eq!((flow.payload_bytes(2), flow.payload_bytes(3)), (2896, 3000));
    }

    #[test]
    fn impossible_scenarios_are_refused_by_key() {
        assert_eq!(refused_key("/duration_ns", json!(0)), "duration_ns");
        assert_eq!(refused_key("/flows", json!([])), "flows");
        assert_eq!(refused_key("/flows/0/rtt_ns", json!(1_999_999)), "flows.0.rtt_ns");
        assert_eq!(refused_key("/flows/0/packet_bytes", json!(52)), "flows.0.packet_bytes");
        assert_eq!(refused_key("/flows/0/stop_ns", json!(0)), "flows.0.stop_ns");
        let loss = json!([{"place": "receiver", "probability": 1.0}]);
        assert_eq!(refused_key("/network/loss", loss), "network.loss.0.probability");
        assert_eq!(refused_key("/network/rate_bps", json!(0)), "scenario");
    }
}
