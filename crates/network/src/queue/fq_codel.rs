//! Flow queues with `CoDel` (FQ-CoDel, RFC 8290).

use schemars::JsonSchema;
use serde::Deserialize;

use super::codel::{CoDelConfig, Control, Law};
use super::flow_queues::{self, FlowQueues};
use super::limit::Limit;
use super::{Example, Parameters, Queued, Scheduled, Scheduler};
use crate::check::Check;
use crate::packet::Packet;
use crate::random::Random;
use crate::units::{Span, Time};

/// Parameters of FQ-CoDel (RFC 8290, section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqCoDelConfig {
    /// Largest standing sojourn time.
    pub target_ns: Span,
    /// Time for which the sojourn time must stay above the target.
    pub interval_ns: Span,
    /// True if ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Queues onto which flows are hashed.
    pub queues: u32,
    /// Bytes that a queue may send in its turn.
    pub quantum_bytes: u32,
}

impl FqCoDelConfig {
    const fn codel(&self) -> CoDelConfig {
        let Self { target_ns, interval_ns, ecn, .. } = *self;
        CoDelConfig { target_ns, interval_ns, ecn }
    }
}

impl Parameters for FqCoDelConfig {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "FQ-CoDel",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"fq-codel","target_ns":5000000,"interval_ns":60000000,"ecn":false,"queues":1024,"quantum_bytes":1514}}"#,
        },
        Example {
            name: "FQ-CoDel that marks, one queue",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"fq-codel","target_ns":5000000,"interval_ns":60000000,"ecn":true,"queues":1,"quantum_bytes":1514}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] = &[
        r#"{"kind":"fq-codel","target_ns":500,"interval_ns":10000,"ecn":true,"queues":4,"quantum_bytes":300}"#,
        r#"{"kind":"fq-codel","target_ns":500,"interval_ns":10000,"ecn":false,"queues":1024,"quantum_bytes":9000}"#,
    ];

    fn check(&self) -> Check {
        self.codel().check()?;
        flow_queues::check(self.queues, self.quantum_bytes)
    }

    fn untouched_below(&self) -> Option<Span> {
        Some(self.target_ns)
    }
}

/// Largest number of packets that one overflow drops (section 4.1).
const OVERFLOW_PACKETS_MAX: u32 = 64;

impl Scheduled for FqCoDelConfig {
    type Law = FqCoDel;

    fn scheduler(&self, limit: Option<Limit>, mut random: Random) -> FqCoDel {
        let control = Control::default();
        FqCoDel {
            law: Law::new(&self.codel()),
            flows: FlowQueues::new(self.queues, self.quantum_bytes, control, &mut random),
            limit,
        }
    }
}

/// A running FQ-CoDel.
#[derive(Clone, Debug)]
pub struct FqCoDel {
    law: Law,
    flows: FlowQueues<Control>,
    limit: Option<Limit>,
}

impl FqCoDel {
    /// Drop packets at the head of the queue with the most bytes: half of them, up to a number that
    /// is worth the search (section 4.1).
    #[cold]
    fn overflow(&mut self, dropped: &mut Vec<Packet>) {
        let (queues, pool) = self.flows.used();
        let fattest = queues.max_by_key(|queue| queue.list.bytes());
        let queue = fattest.expect("at least one queue");
        let packets = queue.list.packets().div_ceil(2).min(OVERFLOW_PACKETS_MAX);
        for _ in 0..packets {
            dropped.extend(pool.pop(&mut queue.list).map(|queued| queued.packet));
        }
    }
}

impl Scheduler for FqCoDel {
    fn enqueue(&mut self, _now: Time, queued: Queued, dropped: &mut Vec<Packet>) {
        let number = self.flows.number_of(queued.packet);
        self.law.sees(queued.wire_bytes);
        // The packet joins even without space. The longest queue then loses packets, which may be
        // another one.
        self.flows.push(number, queued);
        if let Some(limit) = self.limit {
            while self.packets() > 1 && !limit.holds(self.packets(), self.bytes()) {
                self.overflow(dropped);
            }
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        let law = &mut self.law;
        self.flows.pop(|control, from| law.dequeue(now, control, from, dropped))
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.flows.pool().packets()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.flows.pool().bytes()
    }

    fn marked(&self) -> u64 {
        self.law.marked()
    }

    fn waiting(&self) -> Vec<Packet> {
        self.flows.waiting()
    }

    #[inline]
    fn passes(&mut self, wire_bytes: u32, wait: Span) -> bool {
        self.packets() == 0 && self.law.passes(wire_bytes, wait)
    }

    fn holds(&self, packets: u32, bytes: u64) -> bool {
        self.limit.is_none_or(|limit| limit.holds(packets, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SIZE, packet, put, queued, refused, schedules, take};
    use super::*;
    use crate::packet::Direction;

    const MS: u64 = 1_000_000;

    fn fq_codel(limit: &str) -> Box<dyn Scheduler> {
        schedules(
            limit,
            r#"{"kind":"fq-codel","target_ns":5000000,"interval_ns":100000000,"ecn":false,"queues":1024,"quantum_bytes":1514}"#,
        )
    }

    #[test]
    fn flows_of_different_rates_share_equally_and_the_slow_one_does_not_wait() {
        let mut queue = fq_codel(r#"{"packets":10240}"#);
        // A packet leaves each millisecond. In that time flow 0 sends two and flow 1 one. Flow 2
        // sends one every 10 ms.
        let (mut sent, mut slow_waits) = ([0u32; 3], 0);
        for ms in 0..2_000 {
            let now = ms * MS;
            put(&mut *queue, now, [packet(0, ms), packet(1, ms), packet(0, ms)]);
            if ms % 10 == 9 {
                put(&mut *queue, now, [packet(2, ms)]);
            }
            let (queued, _) = take(&mut *queue, now).unwrap();
            sent[queued.packet.flow() as usize] += 1;
            if queued.packet.flow() == 2 {
                slow_waits = slow_waits.max(now - queued.since.0);
            }
        }
        assert_eq!(sent[2], 200);
        assert!((i64::from(sent[0]) - i64::from(sent[1])).abs() <= 3, "{sent:?}");
        // The sparse flow precedes the old ones, so it waits for at most one packet.
        assert!(slow_waits <= MS, "{slow_waits}");
    }

    #[test]
    fn shares_are_equal_in_bytes() {
        let mut queue = fq_codel("null");
        let sized = |flow, bytes| Packet::new(flow, Direction::Forward, bytes, 0);
        let mut sent = [0u64; 2];
        let mut dropped = Vec::new();
        for _ in 0..10_000 {
            for (flow, bytes) in [(0, 1500), (1, 300), (1, 300), (1, 300), (1, 300), (1, 300)] {
                queue.enqueue(Time(0), queued(0, sized(flow, bytes)), &mut dropped);
            }
            let (queued, _) = take(&mut *queue, 0).unwrap();
            sent[queued.packet.flow() as usize] += u64::from(queued.wire_bytes);
        }
        assert!(sent[0].abs_diff(sent[1]) <= 2 * 1514 + 1500, "{sent:?}");
    }

    #[test]
    fn overflow_drops_from_the_head_of_the_fattest() {
        let mut queue = fq_codel(r#"{"packets":100}"#);
        assert_eq!(put(&mut *queue, 0, (0..10).map(|number| packet(1, number))), 0);
        assert_eq!(put(&mut *queue, 0, (0..90).map(|number| packet(0, number))), 0);
        assert_eq!(put(&mut *queue, 0, [packet(1, 10)]), 45);
        let waiting = queue.waiting();
        let first =
            waiting.iter().filter(|packet| packet.flow() == 0).map(|packet| packet.number());
        assert_eq!(first.min(), Some(45));
        assert_eq!(waiting.iter().filter(|packet| packet.flow() == 1).count(), 11);
    }

    #[test]
    fn a_standing_queue_is_controlled_for_each_flow() {
        let mut queue = fq_codel("null");
        let mut drops = [0; 2];
        for ms in 0..3_000 {
            // Flow 0 always has 30 packets in the queue, and flow 1 one.
            let waiting = queue.waiting();
            let of = |flow| waiting.iter().filter(|packet| packet.flow() == flow).count();
            let missing = [30 - of(0).min(30), 1 - of(1).min(1)];
            for (flow, &missing) in missing.iter().enumerate() {
                put(&mut *queue, ms * MS, (0..missing).map(|_| packet(flow as u32, ms)));
            }
            let mut dropped = Vec::new();
            queue.dequeue(Time(ms * MS), &mut dropped);
            for packet in dropped {
                drops[packet.flow() as usize] += 1;
            }
        }
        assert!(drops[0] > 50 && drops[1] == 0, "{drops:?}");
        assert!(queue.bytes() <= u64::from(31 * SIZE));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(refused::<FqCoDelConfig>("1024", "0"), "discipline.queues");
        assert_eq!(refused::<FqCoDelConfig>("1514", "0"), "discipline.quantum_bytes");
    }
}
