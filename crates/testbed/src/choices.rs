//! Choices of the flows of a scenario: algorithms with their parameters, and stacks. Each choice is
//! set up once, however many flows share it.

use dumbbell_algorithm::{Algorithm, Algorithms, Need};
use dumbbell_network::{AckFilter, Discipline, LinkConfig};
use dumbbell_record::Invalid;
use dumbbell_tcp::{AccEcnOption, Stack, option_bytes};
use dumbbell_workload::{Flow, Scenario, Tcp, Transport};

use crate::error::Error;
use crate::kernel::OfStack;
use crate::ports::FLOWS_MAX;
use crate::tuning::linux_6;

/// An algorithm, its parameters' values, and the stack's part.
#[derive(Clone, Debug)]
pub struct AlgorithmChoice {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Values of its parameters, in their order.
    pub values: Vec<u32>,
    /// Its slow start, and how the receiver reports marks.
    pub of_stack: OfStack,
}

/// All algorithms and stacks, and the flows that use them.
#[derive(Debug, Default)]
pub struct Choices {
    /// The algorithms, each different from the others.
    pub algorithms: Vec<AlgorithmChoice>,
    /// The stacks, each different from the others.
    pub stacks: Vec<Stack>,
    /// For each flow the index of its algorithm; none: it sends datagrams.
    pub algorithm_of: Vec<Option<usize>>,
    /// For each flow the index of its stack.
    pub stack_of: Vec<usize>,
}

/// Bytes of headers of a segment without and with timestamps, and of a datagram.
const HEADER_BYTES: u16 = 40;
const TIMESTAMPS_BYTES: u16 = 12;
const DATAGRAM_HEADER_BYTES: u16 = 28;

impl Choices {
    /// Find the choices of all flows.
    ///
    /// # Errors
    /// The first flow that the testbed cannot carry, by key.
    pub fn of(scenario: &Scenario, algorithms: &Algorithms) -> Result<Self, Error> {
        check_whole(scenario)?;
        let mut choices = Self::default();
        for (index, flow) in scenario.flows.iter().enumerate() {
            choices.add(flow, algorithms).map_err(|(key, problem)| Invalid {
                key: format!("flows.{index}.{key}"),
                problem,
            })?;
        }
        Ok(choices)
    }

    fn add(&mut self, flow: &Flow, algorithms: &Algorithms) -> Result<(), (String, String)> {
        let stack = match &flow.transport {
            Transport::Tcp(tcp) => {
                let stack = tcp
                    .stack
                    .resolve()
                    .map_err(|(key, problem)| (format!("transport.tcp.stack.{key}"), problem))?;
                let (algorithm, stack) = self.algorithm(tcp, stack, algorithms)?;
                self.algorithm_of.push(Some(algorithm));
                let options = if stack.timestamps { TIMESTAMPS_BYTES } else { 0 };
                check_header(flow, HEADER_BYTES + options + option_bytes(&stack))?;
                stack
            }
            Transport::Udp(_) => {
                check_header(flow, DATAGRAM_HEADER_BYTES)?;
                self.algorithm_of.push(None);
                // Datagrams need nothing of a stack.
                linux_6()
            }
        };
        let known = self.stacks.iter().position(|other| *other == stack);
        self.stack_of.push(known.unwrap_or(self.stacks.len()));
        if known.is_none() {
            self.stacks.push(stack);
        }
        Ok(())
    }

    /// Return true if the algorithms of all flows with a stack need congestion marks.
    #[must_use]
    pub fn all_need_marks(&self, stack: usize) -> bool {
        let sends_segments = |flow: &usize| self.algorithm_of[*flow].is_some();
        let flows = (0..self.stack_of.len()).filter(|flow| self.stack_of[*flow] == stack);
        flows.filter(sends_segments).all(|flow| self.needs(flow, Need::Ecn))
    }

    /// Return true if the algorithm of a flow needs this feature.
    #[must_use]
    pub fn needs(&self, flow: usize, need: Need) -> bool {
        let choice = self.algorithm_of[flow];
        choice.is_some_and(|choice| self.algorithms[choice].algorithm.flags.contains(&need))
    }

    fn algorithm(
        &mut self,
        tcp: &Tcp,
        stack: Stack,
        algorithms: &Algorithms,
    ) -> Result<(usize, Stack), (String, String)> {
        let chosen = algorithms.find(&tcp.algorithm).and_then(|algorithm| {
            let values = algorithm.values(tcp.preset.as_deref(), &tcp.parameters)?;
            Ok((algorithm, values))
        });
        let (algorithm, values) = chosen
            .map_err(|error| (format!("transport.tcp.{}", error.key()), error.to_string()))?;
        stack
            .check_start(algorithm)
            .and_then(|()| stack.check_marks(algorithm))
            .and_then(|()| check_option(&stack))
            .map_err(|(key, problem)| (format!("transport.tcp.stack.{key}"), problem))?;
        let stack = stack.serving(algorithm);
        let of_stack = OfStack { start: stack.start(), counts_marks: stack.accecn };
        let choice = AlgorithmChoice { algorithm, values, of_stack };
        let same = |other: &AlgorithmChoice| {
            other.algorithm.name == choice.algorithm.name
                && other.values == choice.values
                && other.of_stack == choice.of_stack
        };
        let known = self.algorithms.iter().position(same);
        if known.is_none() {
            self.algorithms.push(choice);
        }
        Ok((known.unwrap_or(self.algorithms.len() - 1), stack))
    }
}

/// Check that hosts can send the AccECN option. They only do if they negotiated it, and kernels
/// before 7.0 do not.
fn check_option(stack: &Stack) -> Result<(), (String, String)> {
    if !stack.accecn || stack.accecn_option == AccEcnOption::Never {
        return Ok(());
    }
    let problem = format!(
        "{}, but hosts of the testbed count marks without the option, which they cannot negotiate; \
         set accecn_option = \"never\"",
        serde_json::json!(stack.accecn_option)
    );
    Err(("switches.accecn_option".into(), problem))
}

fn check_whole(scenario: &Scenario) -> Result<(), Error> {
    let refuse = |key: &str, problem: String| Err(Invalid { key: key.into(), problem }.into());
    if scenario.record.capture {
        let problem = "packets are captured by the simulator only";
        return refuse("record.capture", problem.into());
    }
    if scenario.flows.len() > FLOWS_MAX {
        let problem =
            format!("{} flows, but the testbed has ports for {FLOWS_MAX}", scenario.flows.len());
        return refuse("flows", problem);
    }
    let filters = |link: &LinkConfig| match &link.queue.discipline {
        Discipline::Cake(cake) => cake.ack_filter != AckFilter::Off,
        _ => false,
    };
    if let Some(link) = scenario.links.iter().position(filters) {
        let problem = "acknowledgements are filtered by the simulator only; off on the testbed";
        return refuse(&format!("links.{link}.queue.discipline.ack_filter"), problem.into());
    }
    Ok(())
}

/// Check that the scenario has the size of the real headers.
fn check_header(flow: &Flow, expected: u16) -> Result<(), (String, String)> {
    if flow.header_bytes == expected {
        return Ok(());
    }
    let problem = format!(
        "{} bytes, but on the testbed the headers of this flow have {expected}",
        flow.header_bytes
    );
    Err(("header_bytes".into(), problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn scenario(flows: &[Value]) -> Value {
        let queue = json!({"limit": {"packets": 10}, "discipline": {"kind": "fifo"}});
        json!({
            "seed": 1, "duration_ns": 1_000_000_000,
            "links": [{
                "name": "both", "rate": {"constant": 1_000_000}, "delay": [[0, 1_000_000]],
                "overhead_bytes": 0, "queue": queue, "policer": null, "loss": [],
                "duplicate": 0.0, "reorder": null, "jitter_ns": 0, "batch_ns": 0, "sampled": true,
            }],
            "flows": flows,
            "record":
                {"interval_ns": null, "events": [], "algorithm_state": false, "capture": false},
        })
    }

    fn flow(transport: Value, header_bytes: u16) -> Value {
        let route = json!({"hops": [{"link": 0, "delay_ns": 0}], "delay_ns": 0});
        json!({
            "label": "a", "start_ns": 0, "stop_ns": null, "packet_bytes": 1500,
            "header_bytes": header_bytes, "forward": route, "reverse": route, "sampled": true,
            "transport": transport,
        })
    }

    fn tcp(algorithm: &str, parameters: Value, switches: Value) -> Value {
        json!({"tcp": {
            "algorithm": algorithm, "preset": null, "parameters": parameters,
            "stack": {"profile": "linux-6", "switches": switches}, "demand": "endless",
        }})
    }

    fn choices(scenario: &Value) -> Result<Choices, Error> {
        let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
        Choices::of(&scenario, &Algorithms::default())
    }

    #[test]
    fn what_flows_share_is_chosen_once() {
        let udp = json!({"udp": {"rate_bps": 1_000, "on_off": null}});
        let chosen = choices(&scenario(&[
            flow(tcp("cubic", json!({}), json!({})), 52),
            flow(udp, 28),
            flow(tcp("reno", json!({}), json!({"dsack": false})), 52),
            flow(tcp("cubic", json!({}), json!({"timestamps": false})), 40),
        ]))
        .unwrap();
        assert_eq!(chosen.algorithm_of, [Some(0), None, Some(1), Some(0)]);
        assert_eq!(chosen.stack_of, [0, 0, 1, 2]);
        assert_eq!(chosen.algorithms[1].algorithm.name, "reno");
        let started = |start: &str| flow(tcp("cubic", json!({}), json!({"slow_start": start})), 52);
        let chosen = choices(&scenario(&[started("search"), started("own"), started("search")]));
        assert_eq!(chosen.unwrap().algorithm_of, [Some(0), Some(1), Some(0)]);
    }

    #[test]
    fn what_the_testbed_cannot_carry_is_refused_by_key() {
        let key = |scenario: &Value| match choices(scenario) {
            Err(Error::Invalid(Invalid { key, .. })) => key,
            other => panic!("{other:?}"),
        };
        let one = |transport: Value, header| key(&scenario(&[flow(transport, header)]));
        assert_eq!(one(tcp("cubic", json!({}), json!({})), 40), "flows.0.header_bytes");
        assert_eq!(one(tcp("cubi", json!({}), json!({})), 52), "flows.0.transport.tcp.algorithm");
        let wrong = tcp("cubic", json!({"betta": 1}), json!({}));
        assert_eq!(one(wrong, 52), "flows.0.transport.tcp.parameters.betta");
        let counting =
            |option: &str| json!({"ecn": "classic", "accecn": true, "accecn_option": option});
        let with_option = tcp("cubic", json!({}), counting("changes"));
        assert_eq!(one(with_option, 52), "flows.0.transport.tcp.stack.switches.accecn_option");
        let without = flow(tcp("cubic", json!({}), counting("never")), 52);
        assert!(choices(&scenario(&[without])).unwrap().algorithms[0].of_stack.counts_marks);
        let with_own_start = tcp("bbr", json!({}), json!({"slow_start": "search"}));
        assert_eq!(one(with_own_start, 52), "flows.0.transport.tcp.stack.switches.slow_start");
        let mut captured = scenario(&[flow(tcp("reno", json!({}), json!({})), 52)]);
        captured["record"]["capture"] = json!(true);
        assert_eq!(key(&captured), "record.capture");
        let mut filtered = scenario(&[flow(tcp("cubic", json!({}), json!({})), 52)]);
        filtered["links"][0]["queue"]["discipline"] = json!({
            "kind": "cake", "interval_ns": 9000, "quantum_bytes": 1, "isolation": "triple",
            "hosts": [], "ack_filter": "conservative", "shaper": null,
        });
        assert_eq!(key(&filtered), "links.0.queue.discipline.ack_filter");
    }
}
