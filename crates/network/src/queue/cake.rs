//! Common applications kept enhanced (CAKE): fair shares for hosts and flows, controlled delay of
//! each flow, a shaper and a filter of ACKs.
//!
//! The sources are Høiland-Jørgensen, Täht and Morton, LANMAN 2018 (arXiv 1804.07617), and
//! tc-cake(8), for traffic of one class (`besteffort`). Each flow's queue has COBALT: `CoDel` (RFC
//! 8289), and BLUE (Feng et al. 2002) against flows that do not respond to `CoDel`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::cake_flows::{FlowTable, Isolation};
use super::codel::{self, CoDelConfig, Law};
use super::limit::Limit;
use super::{Example, Parameters, Queued, Scheduled, Scheduler};
use crate::check::{Check, not_zero, require, within};
use crate::packet::Packet;
use crate::random::Random;
use crate::transmitter::ShaperConfig;
use crate::units::{Span, Time};

/// Parameters of CAKE.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CakeConfig {
    /// Time for which the sojourn time must stay above the target, which is a twentieth of it.
    pub interval_ns: Span,
    /// Bytes that a queue may send in its turn if its hosts have no other queue.
    pub quantum_bytes: u32,
    /// Hosts or flows that get equal shares.
    pub isolation: Isolation,
    /// The sending and the receiving host of each flow; if empty, each flow has two separate hosts.
    pub hosts: Vec<[u32; 2]>,
    /// ACKs that the queue removes.
    pub ack_filter: AckFilter,
    /// Shaper for a slower link further on; None shapes nothing.
    pub shaper: Option<ShaperConfig>,
}

/// ACKs that a queue removes when later ones of the same flow arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// None of them.
    Off,
    /// All but the last two.
    Conservative,
    /// All but the last one.
    Aggressive,
}

impl Parameters for CakeConfig {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "CAKE",
            queue: r#"{"limit":{"bytes":100000},"discipline":{"kind":"cake","interval_ns":60000000,"quantum_bytes":1514,"isolation":"triple","hosts":[],"ack_filter":"off","shaper":null}}"#,
        },
        Example {
            name: "CAKE that shapes for ATM and filters",
            queue: r#"{"limit":{"bytes":40000},"discipline":{"kind":"cake","interval_ns":100000000,"quantum_bytes":300,"isolation":"flows","hosts":[],"ack_filter":"conservative","shaper":{"rate_bps":6000000,"overhead_bytes":32,"mpu_bytes":0,"framing":"atm"}}}"#,
        },
        Example {
            name: "CAKE that shapes for PTM and filters more",
            queue: r#"{"limit":{"bytes":40000},"discipline":{"kind":"cake","interval_ns":100000000,"quantum_bytes":1514,"isolation":"nothing","hosts":[],"ack_filter":"aggressive","shaper":{"rate_bps":6000000,"overhead_bytes":30,"mpu_bytes":68,"framing":"ptm"}}}"#,
        },
        Example {
            name: "CAKE that shapes",
            queue: r#"{"limit":null,"discipline":{"kind":"cake","interval_ns":100000000,"quantum_bytes":1514,"isolation":"dual-source","hosts":[],"ack_filter":"off","shaper":{"rate_bps":7777777,"overhead_bytes":null,"mpu_bytes":0,"framing":"none"}}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] = &[
        r#"{"kind":"cake","interval_ns":10000,"quantum_bytes":1514,"isolation":"triple","hosts":[],"ack_filter":"off","shaper":null}"#,
        r#"{"kind":"cake","interval_ns":10000,"quantum_bytes":300,"isolation":"nothing","hosts":[],"ack_filter":"aggressive","shaper":{"rate_bps":2000000,"overhead_bytes":32,"mpu_bytes":0,"framing":"atm"}}"#,
        r#"{"kind":"cake","interval_ns":10000,"quantum_bytes":900,"isolation":"dual-destination","hosts":[],"ack_filter":"conservative","shaper":null}"#,
    ];

    fn check(&self) -> Check {
        require(self.interval_ns >= INTERVAL_MIN, "interval_ns", || {
            format!("{}, but it must be at least {}", self.interval_ns.0, INTERVAL_MIN.0)
        })?;
        not_zero("quantum_bytes", self.quantum_bytes.into())?;
        self.shaper.map_or(Ok(()), |shaper| within("shaper", shaper.check()))
    }

    fn shaper(&self) -> Option<ShaperConfig> {
        self.shaper
    }
}

/// The target is the interval divided by this (tc-cake(8)). It must be at least 1 ns.
const INTERVALS_OF_TARGET: u64 = 20;
const INTERVAL_MIN: Span = Span(INTERVALS_OF_TARGET);

impl Scheduled for CakeConfig {
    type Law = Cake;

    fn scheduler(&self, limit: Option<Limit>, mut random: Random) -> Cake {
        let interval_ns = self.interval_ns;
        let target_ns = Span(interval_ns.0 / INTERVALS_OF_TARGET);
        Cake {
            law: Law::new(&CoDelConfig { target_ns, interval_ns, ecn: true }),
            target: target_ns,
            flows: FlowTable::new(self.isolation, &self.hosts, self.quantum_bytes, &mut random),
            ack_filter: self.ack_filter,
            limit,
            random,
        }
    }
}

/// Control state of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Control {
    codel: codel::Control,
    blue: Blue,
}

/// BLUE: a probability of drops for all packets, ECN-capable or not. It rises as long as the queue
/// has no space, and falls while the queue is empty.
#[derive(Clone, Copy, Debug, Default)]
struct Blue {
    probability: f64,
    changed_at: Time,
}

impl Blue {
    /// Steps of COBALT (Palmei et al., LANMAN 2019).
    const RISE: f64 = 1.0 / 256.0;
    const FALL: f64 = 1.0 / 4096.0;

    #[cold]
    fn change(&mut self, now: Time, by: f64, hold: Span) {
        // One step within a time, because the last step must take effect first.
        if now >= self.changed_at.saturating_add(hold) {
            self.probability = (self.probability + by).clamp(0.0, 1.0);
            self.changed_at = now;
        }
    }
}

/// A running CAKE.
#[derive(Clone, Debug)]
pub struct Cake {
    law: Law,
    target: Span,
    flows: FlowTable<Control>,
    ack_filter: AckFilter,
    limit: Option<Limit>,
    random: Random,
}

impl Cake {
    /// Drop the packet at the head of the longest queue.
    #[cold]
    fn overflow(&mut self, now: Time, dropped: &mut Vec<Packet>) {
        let (queue, pool) = self.flows.longest();
        dropped.extend(pool.pop(&mut queue.list).map(|queued| queued.packet));
        queue.control.blue.change(now, Blue::RISE, self.target);
    }
}

impl Scheduler for Cake {
    fn enqueue(&mut self, now: Time, queued: Queued, dropped: &mut Vec<Packet>) {
        self.law.sees(queued.wire_bytes);
        let number = self.flows.push(queued);
        let kept = match self.ack_filter {
            AckFilter::Off => None,
            AckFilter::Conservative => Some(1),
            AckFilter::Aggressive => Some(0),
        };
        dropped.extend(kept.and_then(|kept| self.flows.filter(number, queued.packet, kept)));
        if let Some(limit) = self.limit {
            // One packet is always accepted. Otherwise no packet would pass a limit below its size.
            while self.packets() > 1 && !limit.holds(self.packets(), self.bytes()) {
                self.overflow(now, dropped);
            }
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        let Self { law, flows, random, target, .. } = self;
        flows.pop(|Control { codel, blue }, (pool, list)| {
            // BLUE also drops ECN-capable packets, because it is for flows that do not respond. It
            // spares the last packet, so drops never empty a queue.
            while list.packets() > 1 && blue.probability > 0.0 && random.happens(blue.probability) {
                dropped.extend(pool.pop(list).map(|queued| queued.packet));
            }
            let dequeued = law.dequeue(now, codel, (pool, list), dropped);
            // An empty queue is BLUE's sign that the load is over.
            if dequeued.is_none() && blue.probability > 0.0 {
                blue.change(now, -Blue::FALL, *target);
            }
            dequeued
        })
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
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, put, queued, refused, schedules, take};
    use super::*;
    use crate::packet::{Direction, Ecn, Flags};

    const MS: u64 = 1_000_000;

    fn cake(limit: &str, isolation: &str, hosts: &str, ack_filter: &str) -> Box<dyn Scheduler> {
        let json = format!(
            r#"{{"kind":"cake","interval_ns":100000000,"quantum_bytes":1514,"isolation":"{isolation}","hosts":{hosts},"ack_filter":"{ack_filter}","shaper":null}}"#
        );
        schedules(limit, &json)
    }

    /// Return how many packets leave of each of `flows` flows that always have some.
    fn shares(isolation: &str, hosts: &str, flows: u32) -> Vec<u32> {
        let mut queue = cake("null", isolation, hosts, "off");
        let mut sent = vec![0; flows as usize];
        for flow in 0..flows {
            put(&mut *queue, 0, (0..3).map(|number| packet(flow, number)));
        }
        for number in 0..12_000 {
            let flow = take(&mut *queue, 0).unwrap().0.packet.flow();
            sent[flow as usize] += 1;
            put(&mut *queue, 0, [packet(flow, 3 + number)]);
        }
        sent
    }

    fn assert_shares(sent: &[u32], expected: &[f64]) {
        let near =
            |(&sent, &share): (&u32, &f64)| (f64::from(sent) - share * 12_000.0).abs() < 60.0;
        assert!(sent.iter().zip(expected).all(near), "{sent:?}");
    }

    #[test]
    fn hosts_share_equally_and_so_do_the_flows_of_each() {
        // Flows 0 to 3 come from one host and flow 4 from another. All go to different hosts.
        let hosts = "[[0,10],[0,11],[0,12],[0,13],[1,14]]";
        let by_host = [0.125, 0.125, 0.125, 0.125, 0.5];
        assert_shares(&shares("dual-source", hosts, 5), &by_host);
        assert_shares(&shares("triple", hosts, 5), &by_host);
        assert_shares(&shares("flows", hosts, 5), &[0.2; 5]);
        assert_shares(&shares("dual-destination", hosts, 5), &[0.2; 5]);
        // The flows of a host then share one queue and take turns in it.
        assert_shares(&shares("source", hosts, 5), &by_host);
        assert_shares(&shares("nothing", hosts, 5), &[0.2; 5]);
        // One host sends to two. Each flow to the first gets half of the flow to the second.
        let hosts = "[[0,10],[0,10],[0,11]]";
        assert_shares(&shares("dual-destination", hosts, 3), &[0.25, 0.25, 0.5]);
        assert_shares(&shares("triple", hosts, 3), &[1.0 / 3.0; 3]);
        assert_shares(&shares("destination", hosts, 3), &[0.25, 0.25, 0.5]);
        assert_shares(&shares("hosts", hosts, 3), &[0.25, 0.25, 0.5]);
    }

    fn ack(number: u64) -> Packet {
        Packet::new(7, Direction::Reverse, 52, number)
    }

    fn numbers(queue: &mut dyn Scheduler) -> Vec<u64> {
        std::iter::from_fn(|| take(queue, 0)).map(|(queued, _)| queued.packet.number()).collect()
    }

    #[test]
    fn acknowledgements_that_later_ones_cover_are_left_out() {
        for (filter, left) in [("off", vec![1, 2, 3, 4]), ("conservative", vec![3, 4])] {
            let mut queue = cake("null", "flows", "[]", filter);
            assert_eq!(put(&mut *queue, 0, (1..5).map(ack)), 4 - left.len(), "{filter}");
            assert_eq!(numbers(&mut *queue), left);
        }
        let mut queue = cake("null", "flows", "[]", "aggressive");
        assert_eq!(put(&mut *queue, 0, (1..5).map(ack)), 3);
        assert_eq!(numbers(&mut *queue), [4]);
        // Duplicates, ECN echoes, ACKs with SACK blocks, data, and ACKs of other flows stay.
        let echo = ack(3).with_flags(Flags::ECE);
        let blocks = ack(3).with_flags(Flags::OUT_OF_BAND);
        put(&mut *queue, 0, [ack(3), ack(3), echo, blocks, packet(7, 2), packet(8, 1)]);
        assert_eq!(put(&mut *queue, 0, [ack(3), ack(2)]), 0);
        assert_eq!(queue.packets(), 8);
    }

    #[test]
    fn overflow_drops_from_the_head_of_the_longest_and_unresponsive_flows_meet_blue() {
        let mut queue = cake(r#"{"packets":100}"#, "flows", "[]", "off");
        put(&mut *queue, 0, (0..10).map(|number| packet(1, number)));
        assert_eq!(put(&mut *queue, 0, (0..90).map(|number| packet(0, number))), 0);
        assert_eq!(put(&mut *queue, 0, [packet(1, 10)]), 1);
        let of = |flow| move |packet: &Packet| packet.flow() == flow;
        let first = queue.waiting().into_iter().filter(of(0)).map(Packet::number).min();
        assert_eq!(first, Some(1));
        // For 10 s packets come at twice the rate of departures. Each 5 ms raise the probability by
        // 1/256, and marks do not help.
        let (mut dropped, mut refused) = (Vec::new(), 0);
        for ms in 1..10_000 {
            let capable = |number| packet(0, number).with_ecn(Ecn::Ect0);
            refused += put(&mut *queue, ms * MS, [capable(2 * ms), capable(2 * ms + 1)]);
            if let Some(queued) = queue.dequeue(Time(ms * MS), &mut dropped) {
                assert!(queued.packet.flow() < 2);
            }
        }
        let by_blue = dropped.iter().filter(|packet| packet.flow() == 0).count();
        assert!(by_blue > 4_000 && refused < 6_000, "{by_blue} {refused}");
    }

    #[test]
    fn a_standing_queue_is_controlled_and_a_sparse_flow_does_not_wait() {
        let mut queue = cake("null", "triple", "[]", "off");
        let (mut given_up, mut dropped) = (0, Vec::new());
        for ms in 0..3_000 {
            let missing = 30 - queue.packets().min(30);
            put(&mut *queue, ms * MS, (0..missing).map(|_| packet(0, ms)));
            if ms % 10 == 9 {
                queue.enqueue(Time(ms * MS), queued(ms * MS, packet(1, ms)), &mut dropped);
                assert_eq!(take(&mut *queue, ms * MS).unwrap().0.packet.flow(), 1);
            }
            given_up += take(&mut *queue, ms * MS).map_or(0, |(_, dropped)| dropped);
        }
        assert!(given_up > 50 && dropped.is_empty(), "{given_up}");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(refused::<CakeConfig>("60000000", "19"), "discipline.interval_ns");
        assert_eq!(refused::<CakeConfig>("1514", "0"), "discipline.quantum_bytes");
        assert_eq!(refused::<CakeConfig>(":32,", ":20000,"), "discipline.shaper.overhead_bytes");
    }
}
