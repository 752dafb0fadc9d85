//! Flow queues without hashing (Linux's `fq`, tc-fq(8), but for its pacing: here the
//! senders pace).
//!
//! Every flow and direction has a separate queue. A flow that is new goes before the old ones and
//! begins with a larger credit, so that a short transfer or the first window of a long one leaves
//! in one go.

use schemars::JsonSchema;
use serde::Deserialize;

use super::limit::Limit;
use super::pool::{List, Pool};
use super::rotation::Rotation;
use super::sparse::Sparse;
use super::{Example, Parameters, Queued, Scheduled, Scheduler};
use crate::check::{Check, not_zero};
use crate::packet::Packet;
use crate::random::Random;
use crate::units::Time;

/// Parameters of `fq` (tc-fq(8)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqConfig {
    /// Bytes that a flow may send in its turn.
    pub quantum_bytes: u32,
    /// Bytes that a flow may send in its first turn.
    pub initial_quantum_bytes: u32,
    /// Packets of one flow that may wait.
    pub flow_limit_packets: u32,
}

impl Parameters for FqConfig {
    const EXAMPLES: &'static [Example] = &[Example {
        name: "FQ",
        queue: r#"{"limit":{"packets":100},"discipline":{"kind":"fq","quantum_bytes":3028,"initial_quantum_bytes":15140,"flow_limit_packets":30}}"#,
    }];
    const QUICK_EXAMPLES: &'static [&'static str] = &[
        r#"{"kind":"fq","quantum_bytes":700,"initial_quantum_bytes":2000,"flow_limit_packets":7}"#,
    ];

    fn check(&self) -> Check {
        not_zero("quantum_bytes", self.quantum_bytes.into())?;
        not_zero("initial_quantum_bytes", self.initial_quantum_bytes.into())?;
        not_zero("flow_limit_packets", self.flow_limit_packets.into())
    }
}

impl Scheduled for FqConfig {
    type Law = Fq;

    fn scheduler(&self, limit: Option<Limit>, _random: Random) -> Fq {
        Fq::new(self, limit)
    }
}

/// A running `fq`.
#[derive(Clone, Debug)]
pub struct Fq {
    config: FqConfig,
    /// Flows by route.
    flows: Sparse<Flow>,
    rotation: Rotation,
    pool: Pool,
    limit: Option<Limit>,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    list: List,
    /// Bytes that it may still send in its turn.
    credit_bytes: i64,
    /// True if it is in the rotation.
    waits: bool,
}

impl Fq {
    /// Empty queues.
    #[must_use]
    pub fn new(config: &FqConfig, limit: Option<Limit>) -> Self {
        let credit_bytes = config.initial_quantum_bytes.into();
        let fresh = Flow { list: List::default(), credit_bytes, waits: false };
        Self {
            config: *config,
            flows: Sparse::new(fresh),
            rotation: Rotation::default(),
            pool: Pool::default(),
            limit,
        }
    }

    /// Return whether there is space for a packet of a flow that has `of_flow` waiting packets.
    fn takes(&self, of_flow: u32, wire_bytes: u32) -> bool {
        let (packets, bytes) = (self.pool.packets() + 1, self.pool.bytes() + u64::from(wire_bytes));
        let fits = packets == 1 || self.limit.is_none_or(|limit| limit.holds(packets, bytes));
        // The limit of a flow also holds in an empty queue, because it is at least one packet.
        fits && of_flow < self.config.flow_limit_packets
    }
}

impl Scheduler for Fq {
    fn enqueue(&mut self, _now: Time, queued: Queued, dropped: &mut Vec<Packet>) {
        let route = queued.packet.route();
        let waiting = self.flows.entry(route).list.packets();
        if !self.takes(waiting, queued.wire_bytes) {
            dropped.push(queued.packet);
            return;
        }
        let flow = self.flows.entry(route);
        self.pool.push(&mut flow.list, queued);
        if !flow.waits {
            flow.waits = true;
            // A returning flow has a whole turn again, or the rest of its first one.
            flow.credit_bytes = flow.credit_bytes.max(self.config.quantum_bytes.into());
            self.rotation.join(route as u32);
        }
    }

    fn dequeue(&mut self, _now: Time, _dropped: &mut Vec<Packet>) -> Option<Queued> {
        loop {
            let flow = self.flows.entry(self.rotation.turn()? as usize);
            if flow.credit_bytes <= 0 {
                flow.credit_bytes += i64::from(self.config.quantum_bytes);
                self.rotation.next();
                continue;
            }
            if let Some(queued) = self.pool.pop(&mut flow.list) {
                flow.credit_bytes -= i64::from(queued.wire_bytes);
                return Some(queued);
            }
            flow.waits = !self.rotation.rest();
        }
    }

    fn packets(&self) -> u32 {
        self.pool.packets()
    }

    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }

    fn marked(&self) -> u64 {
        0
    }

    fn waiting(&self) -> Vec<Packet> {
        self.flows.iter().flat_map(|flow| self.pool.iter(&flow.list)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, put, refused, schedules, take};
    use super::*;

    fn fq() -> Box<dyn Scheduler> {
        schedules(
            r#"{"packets":1000}"#,
            r#"{"kind":"fq","quantum_bytes":3000,"initial_quantum_bytes":15000,"flow_limit_packets":100}"#,
        )
    }

    /// Return the flows of the next packets.
    fn order(queue: &mut dyn Scheduler, packets: usize) -> Vec<u32> {
        (0..packets).map(|_| take(queue, 0).unwrap().0.packet.flow()).collect()
    }

    #[test]
    fn a_new_flow_sends_its_first_window_and_then_takes_turns() {
        let mut queue = fq();
        put(&mut *queue, 0, (0..40).map(|number| packet(0, number)));
        assert_eq!(order(&mut *queue, 12), [0; 12]);
        put(&mut *queue, 0, (0..40).map(|number| packet(1, number)));
        // The new flow sends ten packets at once. Then each flow sends two in turn.
        assert_eq!(order(&mut *queue, 10), [1; 10]);
        assert_eq!(order(&mut *queue, 8), [1, 1, 0, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn limits_hold_for_a_flow_and_for_all() {
        let mut queue = fq();
        assert_eq!(put(&mut *queue, 0, (0..150).map(|number| packet(0, number))), 50);
        for flow in 1..10 {
            assert_eq!(put(&mut *queue, 0, (0..100).map(|number| packet(flow, number))), 0);
        }
        assert_eq!(put(&mut *queue, 0, [packet(10, 0)]), 1);
        assert_eq!(queue.packets(), 1000);
    }

    #[test]
    fn an_idle_flow_comes_back_with_a_turn() {
        let mut queue = fq();
        // The flow leaves with half a turn.
        put(&mut *queue, 0, (0..11).map(|number| packet(0, number)));
        assert_eq!(order(&mut *queue, 11), [0; 11]);
        assert!(take(&mut *queue, 0).is_none());
        put(&mut *queue, 0, (0..20).map(|number| packet(1, number)));
        assert_eq!(order(&mut *queue, 11), [1; 11]);
        put(&mut *queue, 0, (0..4).map(|number| packet(0, number)));
        assert_eq!(order(&mut *queue, 6), [0, 0, 1, 0, 0, 1]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(refused::<FqConfig>("3028", "0"), "discipline.quantum_bytes");
    }
}
