//! Facts about a link's packets that are known before the first one comes.
//!
//! Some schedulers then have nothing to choose: their link is first in, first out, so that
//! departures are known on arrival.

use crate::link_config::LinkConfig;
use crate::queue::{ClassOf, Discipline, Limit};
use crate::serializer::Serializer;
use crate::transmitter::RateConfig;
use crate::units::Span;

/// Longest wait that [`crate::occupancy`] can store, in ns (32 bits).
const WAIT_MAX: Span = Span(u32::MAX as u64);

/// Facts about the packets that reach a link. The default assumes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Size of the largest packet at the IP layer, in bytes; 0 if no packet comes.
    pub packet_bytes_max: u16,
    /// True if some packets are ECN-capable.
    pub has_ecn: bool,
    /// True if some packets are not ECN-capable.
    pub has_other: bool,
    /// Largest number of waiting packets of the one flow that uses the link. None if the flows or
    /// this number are unknown.
    pub waiting_max: Option<u32>,
}

/// Limits of a first-in, first-out queue with the same outcome as a scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FifoLimits {
    pub limit: Option<Limit>,
    /// Length of the queue at which packets are marked; None marks none. All packets are
    /// ECN-capable.
    pub threshold: Option<Limit>,
}

impl Default for Traffic {
    fn default() -> Self {
        Self { packet_bytes_max: u16::MAX, has_ecn: true, has_other: true, waiting_max: None }
    }
}

impl Traffic {
    /// Limits of the first-in, first-out queue that behaves as the link's scheduler does. None if
    /// no such queue does.
    pub(crate) fn fifo(&self, config: &LinkConfig) -> Option<FifoLimits> {
        let Some(RateConfig::Constant(rate)) = &config.rate else { return None };
        if self.packet_bytes_max == 0 {
            return None; // nothing comes
        }
        let wire_bytes = u32::from(self.packet_bytes_max) + u32::from(config.overhead_bytes);
        let serializer = Serializer::new(*rate);
        let wait = |packets: u64| serializer.longest(wire_bytes).saturating_mul(packets + 1);
        let limit = config.queue.limit;
        let (fifo, wait_max) = match &config.queue.discipline {
            Discipline::Classes(classes) => {
                // The TCP of a host hears of drops by its first-in, first-out queue (local drops).
                // It does not hear of drops by a scheduler.
                let is_one = !config.interface
                    && matches!(classes.by, ClassOf::Ecn(_))
                    && self.has_ecn != self.has_other;
                let wait_max = wait(waiting_max(limit?, wire_bytes).filter(|_| is_one)?);
                let threshold = classes.threshold.filter(|_| self.has_ecn);
                (FifoLimits { limit, threshold }, wait_max)
            }
            other => {
                let below = other.untouched_below()?;
                (FifoLimits::default(), self.uncontrolled_wait(limit, below, wait)?)
            }
        };
        (wait_max <= WAIT_MAX).then_some(fifo)
    }

    /// Return the longest wait of one flow's packets, if all of them have space and none waits for
    /// `below`. Below that wait, a discipline that controls delay does nothing.
    fn uncontrolled_wait(
        &self,
        limit: Option<Limit>,
        below: Span,
        wait: impl Fn(u64) -> Span,
    ) -> Option<Span> {
        let packets = self.waiting_max?;
        let bytes = u64::from(packets) * 2 * u64::from(u16::MAX);
        let has_space = limit.is_none_or(|limit| limit.holds(packets, bytes));
        Some(wait(packets.into())).filter(|&wait| has_space && wait < below)
    }
}

/// Return the largest number of waiting packets. None if one packet can exceed the limit: a class
/// accepts such a packet, and a first-in, first-out queue does not.
fn waiting_max(limit: Limit, wire_bytes: u32) -> Option<u64> {
    match limit {
        Limit::Packets(packets) => Some(packets.into()).filter(|&packets: &u64| packets > 0),
        // Small packets allow a longer queue, but not a longer wait.
        Limit::Bytes(bytes) => {
            Some(bytes / u64::from(wire_bytes) + 1).filter(|&packets| packets > 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const ONE_FLOW: Traffic = Traffic {
        packet_bytes_max: 1_500,
        has_ecn: false,
        has_other: true,
        waiting_max: Some(400),
    };

    fn fifo(traffic: Traffic, limit: &Value, discipline: &Value) -> Option<FifoLimits> {
        let link = json!({
            "name": "link", "rate": {"constant": 1_000_000_000}, "delay": [[0, 0]],
            "overhead_bytes": 0, "queue": {"limit": limit, "discipline": discipline},
            "policer": null, "loss": [], "duplicate": 0.0, "reorder": null, "jitter_ns": 0,
            "batch_ns": 0, "sampled": false,
        });
        traffic.fifo(&serde_json::from_value(link).unwrap())
    }

    #[test]
    fn one_flow_that_never_waits_for_the_target_meets_no_controlled_delay() {
        let codel = |target_ns: u64| json!({"kind": "codel", "target_ns": target_ns, "interval_ns": 100_000_000, "ecn": false});
        let (space, target) = (json!({"packets": 400}), codel(5_000_000));
        assert_eq!(fifo(ONE_FLOW, &space, &target), Some(FifoLimits::default()));
        // 400 packets take 4.8 ms to send.
        assert_eq!(fifo(ONE_FLOW, &space, &codel(4_800_000)), None);
        assert_eq!(fifo(ONE_FLOW, &json!({"packets": 399}), &target), None);
        let unknown = Traffic { waiting_max: None, ..ONE_FLOW };
        assert_eq!(fifo(unknown, &space, &target), None);
    }

    #[test]
    fn classes_of_which_one_is_used_have_its_limit() {
        let classes = json!({
            "kind": "classes", "by": {"ecn": {"capable": 0, "other": 1}}, "threshold": {"packets": 5},
            "serve": {"round_robin": {"quantum_bytes": 1_514, "weights": [1, 1]}},
        });
        let of = |limit: &Value| fifo(ONE_FLOW, limit, &classes);
        let limited = |limit| Some(FifoLimits { limit: Some(limit), threshold: None });
        let unused = Traffic { packet_bytes_max: 0, ..ONE_FLOW };
        assert_eq!(fifo(unused, &json!({"bytes": 30_000}), &classes), None);
        assert_eq!(of(&json!({"packets": 9})), limited(Limit::Packets(9)));
        assert_eq!(of(&json!({"bytes": 1_500})), limited(Limit::Bytes(1_500)));
        // A class takes one packet, whatever its size.
        assert_eq!((of(&json!({"packets": 0})), of(&json!({"bytes": 1_499}))), (None, None));
        // Waits above 4.3 s do not fit 32 bits.
        assert_eq!(of(&json!({"bytes": 600_000_000})), None);
        let both = Traffic { has_ecn: true, ..ONE_FLOW };
        assert_eq!(fifo(both, &json!({"packets": 9}), &classes), None);
        let capable = Traffic { has_other: false, ..both };
        let (limit, threshold) = (Some(Limit::Packets(9)), Some(Limit::Packets(5)));
        assert_eq!(
            fifo(capable, &json!({"packets": 9}), &classes),
            Some(FifoLimits { limit, threshold })
        );
    }
}
