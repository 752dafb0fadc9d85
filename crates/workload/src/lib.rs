//! The resolved scenario, common to all engines.
//!
//! "Resolved" means that nothing is left to interpret: quantities are integers in
//! base units, queues are sized, random start times are drawn. The front end writes
//! it as JSON; unknown keys are refused.

#![forbid(unsafe_code)]

mod bursts;
mod contract;
mod datagrams;
mod delays;
mod doubts;
mod flow;
mod pace;
mod queues;
mod requests;

use std::collections::BTreeMap;

use dumbbell_network::{ClassOf, ClassesConfig, Discipline, LinkConfig, MemoryConfig, Path, Span};
use dumbbell_record::{Invalid, RecordConfig};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::requests::check_queries;

pub use bursts::Bursts;
pub use contract::describe_contract;
pub use datagrams::Datagrams;
pub use delays::{datagram_sample, one_way_buckets, queue_buckets, summarise_delays};
pub use doubts::Outline;
pub use flow::{Demand, Flow, OnOff, Requests, Tcp, Transport, Udp};
pub use pace::Pace;
pub use queues::{queue_samples, summarise_queue};
pub use requests::{Pauses, Queries};

/// One run, in full.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Seed of everything random within the run.
    pub seed: u64,
    /// Length of the run.
    pub duration_ns: Span,
    /// The network's links.
    pub links: Vec<LinkConfig>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// Recordings of the run.
    pub record: RecordConfig,
    /// Sources of the algorithms that are not built in, by name. They are text here: an engine is
    /// given the compiled algorithms.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

impl Scenario {
    /// Read a scenario and check what the types do not ensure.
    ///
    /// # Errors
    /// The first fault.
    pub fn from_json(text: &str) -> Result<Self, Invalid> {
        let scenario: Self = serde_json::from_str(text)
            .map_err(|error| Invalid { key: "scenario".into(), problem: error.to_string() })?;
        scenario.check()?;
        Ok(scenario)
    }

    /// The routes of all flows.
    #[must_use]
    pub fn paths(&self) -> Vec<Path> {
        let path = |flow: &Flow| Path {
            forward: flow.forward.clone(),
            reverse: matches!(flow.transport, Transport::Tcp(_)).then(|| flow.reverse.clone()),
        };
        self.flows.iter().map(path).collect()
    }

    fn check(&self) -> Result<(), Invalid> {
        let refuse = |key: &str, problem: String| Err(Invalid { key: key.into(), problem });
        if self.duration_ns == Span::ZERO {
            return refuse("duration_ns", "0, but a run must take some time".into());
        }
        if self.flows.is_empty() {
            return refuse("flows", "none, but a run needs at least one".into());
        }
        for (index, link) in self.links.iter().enumerate() {
            if let Err((key, problem)) = link.check() {
                return refuse(&format!("links.{index}.{key}"), problem);
            }
            let of_flows = match &link.queue.discipline {
                Discipline::Classes(ClassesConfig { by: ClassOf::Flows(of), .. }) => {
                    Some(("by.flows", of.len(), "classes"))
                }
                Discipline::Cake(cake) => Some(("hosts", cake.hosts.len(), "pairs of hosts"))
                    .filter(|&(_, pairs, _)| pairs > 0),
                _ => None,
            };
            if let Some((key, count, what)) = of_flows
                && count != self.flows.len()
            {
                let problem = format!("{count} {what} for {} flows", self.flows.len());
                return refuse(&format!("links.{index}.queue.discipline.{key}"), problem);
            }
            let others = self.links[..index].iter().filter_map(|other| other.memory);
            let of_same = |memory: MemoryConfig| {
                others.into_iter().find(|other| other.switch == memory.switch)
            };
            if let Some(memory) = link.memory
                && of_same(memory).is_some_and(|other| other != memory)
            {
                let problem = format!("other values than before for switch {}", memory.switch);
                return refuse(&format!("links.{index}.memory"), problem);
            }
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if let Err((key, problem)) = flow.check(&self.links) {
                return refuse(&format!("flows.{index}.{key}"), problem);
            }
        }
        check_queries(&self.flows).or_else(|(index, problem)| {
            refuse(&format!("flows.{index}.transport.tcp.demand.requests.query"), problem)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn valid() -> Value {
        let queue = json!({"limit": {"packets": 10}, "discipline": {"kind": "fifo"}});
        let link = |name: &str| {
            json!({
                "name": name, "rate": {"constant": 1_000_000}, "delay": [[0, 1_000_000]],
                "overhead_bytes": 0, "queue": queue, "policer": null, "loss": [], "duplicate": 0.0,
                "reorder": null, "jitter_ns": 0, "batch_ns": 0, "sampled": true,
                "memory": {"switch": 0, "bytes": 9_000, "alpha": 0.5},
            })
        };
        let route = |link: usize| json!({"hops": [{"link": link, "delay_ns": 0}], "delay_ns": 0});
        json!({
            "seed": 1, "duration_ns": 1_000_000_000,
            "links": [link("forward"), link("reverse")],
            "flows": [{
                "label": "a", "group": "stream", "start_ns": 0, "stop_ns": null,
                "packet_bytes": 1500, "header_bytes": 52,
                "forward": route(0), "reverse": route(1), "sampled": true,
                "transport": {"tcp": {
                    "algorithm": "reno", "preset": null, "parameters": {},
                    "stack": {"profile": "linux-6", "switches": {}}, "demand": {"transfer": 3000},
                }},
            }],
            "record": {"interval_ns": null, "events": [], "algorithm_state": false, "capture": false}
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
        assert_eq!(scenario.flows[0].mss_bytes(), 1448);
        assert_eq!(scenario.flows[0].group.as_deref(), Some("stream"));
        assert_eq!(scenario.paths().len(), 1);
    }

    #[test]
    fn sources_are_read_as_text() {
        let mut scenario = valid();
        scenario["sources"] = json!({"mine": "no C"});
        let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
        assert_eq!(scenario.sources["mine"], "no C");
    }

    #[test]
    fn flows_that_answer_the_same_queries_need_the_same_way() {
        let mut scenario = valid();
        let requests = json!({"bytes": 1, "pause_ns": 1, "query": 0});
        scenario["flows"][0]["transport"]["tcp"]["demand"] = json!({"requests": requests});
        let flow = scenario["flows"][0].clone();
        scenario["flows"].as_array_mut().unwrap().push(flow);
        assert!(Scenario::from_json(&scenario.to_string()).is_ok());
        for (pointer, value) in [
            ("/flows/1/reverse/delay_ns", json!(1)),
            ("/flows/1/start_ns", json!(1)),
            ("/flows/1/transport/tcp/demand/requests/bytes", json!(2)),
        ] {
            let mut scenario = scenario.clone();
            *scenario.pointer_mut(pointer).expect("an existing key") = value;
            let refused = Scenario::from_json(&scenario.to_string()).expect_err(pointer);
            assert_eq!(refused.key, "flows.1.transport.tcp.demand.requests.query");
        }
    }

    #[test]
    fn impossible_scenarios_are_refused_by_key() {
        assert_eq!(refused_key("/duration_ns", json!(0)), "duration_ns");
        assert_eq!(refused_key("/flows", json!([])), "flows");
        assert_eq!(refused_key("/flows/0/packet_bytes", json!(52)), "flows.0.packet_bytes");
        assert_eq!(refused_key("/flows/0/stop_ns", json!(0)), "flows.0.stop_ns");
        assert_eq!(
            refused_key("/flows/0/forward/hops/0/link", json!(2)),
            "flows.0.forward.hops.0.link"
        );
        assert_eq!(refused_key("/flows/0/reverse/hops", json!([])), "flows.0.reverse.hops");
        assert_eq!(refused_key("/flows/0/transport/tcp/demand/transfer", json!(0)), "scenario");
        let requests = |changes: Value| {
            let mut requests = json!({"bytes": 1, "pause_ns": 1});
            requests.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
            refused_key("/flows/0/transport/tcp/demand", json!({"requests": requests}))
        };
        let demand = "flows.0.transport.tcp.demand.requests";
        assert_eq!(requests(json!({"period_ns": 5})), format!("{demand}.pause_ns"));
        let udp = |changes: Value, on_off: Value| {
            let udp = json!({"rate_bps": 9, "changes_bps": changes, "on_off": on_off});
            refused_key("/flows/0/transport", json!({"udp": udp}))
        };
        assert_eq!(udp(json!([[0, 8]]), json!(null)), "flows.0.transport.udp.changes_bps");
        assert_eq!(udp(json!([[1, 9]]), json!(null)), "flows.0.transport.udp.changes_bps");
        let bursts = json!({"on_ns": 1, "off_ns": 1, "random": false});
        assert_eq!(udp(json!([[0, 9]]), bursts), "flows.0.transport.udp.on_off");
        let long = json!({"pause_ns": 0, "period_ns": u64::MAX});
        assert_eq!(requests(long), format!("{demand}.period_ns"));
        let loss = json!([{"kind": "bernoulli", "probability": [[0, 1.1]]}]);
        assert_eq!(refused_key("/links/0/loss", loss), "links.0.loss.0.probability.0.1");
        assert_eq!(refused_key("/links/0/rate/constant", json!(0)), "scenario");
        assert_eq!(refused_key("/links/0/delay", json!([])), "links.0.delay");
        assert_eq!(refused_key("/links/1/memory/bytes", json!(9_001)), "links.1.memory");
        assert_eq!(refused_key("/links/0/memory/bytes", json!(0)), "links.0.memory.bytes");
        assert_eq!(refused_key("/links/0/memory/alpha", json!(0.0)), "links.0.memory.alpha");
        assert_eq!(refused_key("/links/0/rate", Value::Null), "links.0.memory");
        let classes = json!({
            "kind": "classes", "by": {"flows": [0, 0]}, "threshold": null,
            "serve": {"priority": {"classes": 1}},
        });
        assert_eq!(
            refused_key("/links/1/queue/discipline", classes),
            "links.1.queue.discipline.by.flows"
        );
        let cake = json!({
            "kind": "cake", "interval_ns": 9000, "quantum_bytes": 1, "isolation": "triple",
            "hosts": [[0, 1], [0, 2]], "ack_filter": "off", "shaper": null,
        });
        assert_eq!(
            refused_key("/links/1/queue/discipline", cake),
            "links.1.queue.discipline.hosts"
        );
    }
}
