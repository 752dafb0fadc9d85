//! Flow queues with PIE (tc-fq_pie(8)): the rotation of RFC 8290, and RFC 8033 for each queue.
//!
//! The delay of a queue is the time that the packet at its head has waited (RFC 8033, section 5.2:
//! timestamps).

use schemars::JsonSchema;
use serde::Deserialize;

use super::flow_queues::{self, FlowQueues};
use super::limit::Limit;
use super::pie::{self, PieConfig, first_after};
use super::{Example, Parameters, Queued, Scheduled, Scheduler, Verdict};
use crate::check::{Check, probability};
use crate::packet::{Ecn, Packet};
use crate::random::Random;
use crate::units::{Span, Time};

/// Parameters of FQ-PIE (tc-fq_pie(8)).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FqPieConfig {
    /// Queueing delay to hold in each queue.
    pub target_ns: Span,
    /// Time between updates of the drop probabilities.
    pub update_ns: Span,
    /// Gain of the distance from the target, per second of delay.
    pub alpha: f64,
    /// Gain of the delay's change, per second of delay.
    pub beta: f64,
    /// True if ECN-capable packets are marked instead while the probability is low.
    pub ecn: bool,
    /// Probability up to which they are marked.
    pub ecn_probability: f64,
    /// Queues onto which flows are hashed.
    pub queues: u32,
    /// Bytes that a queue may send in its turn.
    pub quantum_bytes: u32,
}

/// Duration of bursts that pass untouched, as in PIE (RFC 8033, section 4.4). Linux has no
/// parameter for it.
const BURST: Span = Span::from_millis(150);

impl FqPieConfig {
    const fn pie(&self) -> PieConfig {
        let Self { target_ns, update_ns, alpha, beta, ecn, .. } = *self;
        PieConfig { target_ns, update_ns, alpha, beta, burst_ns: BURST, ecn }
    }
}

impl Parameters for FqPieConfig {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "FQ-PIE",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"fq-pie","target_ns":15000000,"update_ns":15000000,"alpha":0.125,"beta":1.25,"ecn":false,"ecn_probability":0.1,"queues":1024,"quantum_bytes":1514}}"#,
        },
        Example {
            name: "FQ-PIE that marks, one queue",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"fq-pie","target_ns":15000000,"update_ns":15000000,"alpha":0.125,"beta":1.25,"ecn":true,"ecn_probability":0.1,"queues":1,"quantum_bytes":1514}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] = &[
        r#"{"kind":"fq-pie","target_ns":500,"update_ns":10000,"alpha":12500,"beta":125000,"ecn":true,"ecn_probability":0.5,"queues":4,"quantum_bytes":300}"#,
    ];

    fn check(&self) -> Check {
        self.pie().check()?;
        probability("ecn_probability", self.ecn_probability)?;
        flow_queues::check(self.queues, self.quantum_bytes)
    }
}

impl Scheduled for FqPieConfig {
    type Law = FqPie;

    fn scheduler(&self, limit: Option<Limit>, mut random: Random) -> FqPie {
        let pie = self.pie();
        let control = pie::Control::new(&pie);
        FqPie {
            pie,
            ecn_probability: self.ecn_probability,
            flows: FlowQueues::new(self.queues, self.quantum_bytes, control, &mut random),
            limit,
            updates_at: Time::ZERO + self.update_ns,
            marked: 0,
            random,
        }
    }
}

/// A running FQ-PIE.
#[derive(Clone, Debug)]
pub struct FqPie {
    pie: PieConfig,
    ecn_probability: f64,
    flows: FlowQueues<pie::Control>,
    limit: Option<Limit>,
    updates_at: Time,
    marked: u64,
    random: Random,
}

impl FqPie {
    /// Run the updates that are due by `now`. No packet has come or left since the one before.
    #[cold]
    fn catch_up(&mut self, now: Time) {
        while now >= self.updates_at {
            let mut rests = self.packets() == 0;
            // Empty queues are updated as well, because their probability decays.
            let (queues, pool) = self.flows.used();
            for queue in queues {
                let delay = waited(self.updates_at, pool.oldest(&queue.list));
                queue.control.update(&self.pie, delay);
                rests &= queue.control.rests(&self.pie);
            }
            self.updates_at += self.pie.update_ns;
            if rests {
                self.updates_at = first_after(now, self.updates_at, self.pie.update_ns);
            }
        }
    }

    /// Return whether there is space for a packet.
    fn takes(&self, wire_bytes: u32) -> bool {
        let (packets, bytes) = (self.packets() + 1, self.bytes() + u64::from(wire_bytes));
        packets == 1 || self.limit.is_none_or(|limit| limit.holds(packets, bytes))
    }

    /// Return the decision about a packet that has space, by the law of its queue.
    fn verdict(&mut self, now: Time, number: usize, packet: Packet) -> Verdict {
        let list = self.flows.entry(number).list;
        let delay = waited(now, self.flows.pool().oldest(&list));
        let control = &mut self.flows.entry(number).control;
        if !control.signals(&self.pie, delay, list.bytes(), &mut self.random) {
            return Verdict::Accept;
        }
        let marks = self.pie.ecn && control.probability() <= self.ecn_probability;
        Verdict::of_congestion(packet, marks)
    }
}

/// Return the wait of a packet at a time; zero if there is no packet.
fn waited(time: Time, since: Option<Time>) -> Span {
    since.map_or(Span::ZERO, |since| Span(time.0.saturating_sub(since.0)))
}

impl Scheduler for FqPie {
    fn enqueue(&mut self, now: Time, mut queued: Queued, dropped: &mut Vec<Packet>) {
        if now >= self.updates_at {
            self.catch_up(now);
        }
        let number = self.flows.number_of(queued.packet);
        // The law also sees packets that a full queue refuses, because they are load.
        match self.verdict(now, number, queued.packet) {
            Verdict::Drop => return dropped.push(queued.packet),
            _ if !self.takes(queued.wire_bytes) => return dropped.push(queued.packet),
            Verdict::Mark => {
                queued.packet = queued.packet.with_ecn(Ecn::Ce);
                self.marked += 1;
            }
            Verdict::Accept => {}
        }
        self.flows.push(number, queued);
    }

    fn dequeue(&mut self, now: Time, _dropped: &mut Vec<Packet>) -> Option<Queued> {
        if now >= self.updates_at {
            self.catch_up(now);
        }
        self.flows.pop(|_, (pool, list)| pool.pop(list))
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
        self.marked
    }

    fn waiting(&self) -> Vec<Packet> {
        self.flows.waiting()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, put, refused, schedules, take};
    use super::*;

    const MS: u64 = 1_000_000;

    fn fq_pie(ecn: bool) -> Box<dyn Scheduler> {
        let json = r#"{"kind":"fq-pie","target_ns":15000000,"update_ns":15000000,"alpha":0.125,"beta":1.25,"ecn":ECN,"ecn_probability":0.1,"queues":1024,"quantum_bytes":1514}"#;
        schedules("null", &json.replace("ECN", if ecn { "true" } else { "false" }))
    }

    /// Offer packets for 100 s to a queue that sends one each millisecond. Flow 0 offers two thirds
    /// more than its half, and flow 1 half of its half. Return the mean wait of flow 0 in the later
    /// part (ms), its share of drops, and the drops of flow 1.
    fn overload(queue: &mut dyn Scheduler, ecn: Ecn) -> (f64, f64, usize) {
        let (mut waits, mut sent, mut offered, mut drops) = (0, 0, 0, [0, 0]);
        for ms in 0..100_000 {
            let now = ms * MS;
            let mut coming = vec![];
            coming.extend((ms % 4 != 3).then(|| packet(0, ms).with_ecn(ecn)));
            coming.extend((ms % 4 == 0).then(|| packet(1, ms)));
            coming.extend((ms % 4 == 1).then(|| packet(0, ms).with_ecn(ecn)));
            for packet in coming {
                let lost = put(queue, now, [packet]);
                drops[packet.flow() as usize] += lost * usize::from(ms > 30_000);
                offered += u32::from(ms > 30_000 && packet.flow() == 0);
            }
            if let Some((queued, _)) = take(queue, now) {
                if ms > 30_000 && queued.packet.flow() == 0 {
                    waits += now - queued.since.0;
                    sent += 1;
                }
            }
        }
        (waits as f64 / f64::from(sent) / 1e6, drops[0] as f64 / f64::from(offered), drops[1])
    }

    #[test]
    fn a_flow_with_too_much_is_held_at_the_target_and_others_lose_nothing() {
        let (wait_ms, share, others) = overload(&mut *fq_pie(false), Ecn::NotEct);
        // Flow 0 offers 1,000 packets a second and gets 750 through.
        assert!((share - 0.25).abs() < 0.01, "{share}");
        assert!((13.0..=17.0).contains(&wait_ms), "{wait_ms}");
        assert_eq!(others, 0);
    }

    #[test]
    fn capable_packets_are_dropped_as_well_above_a_probability() {
        let mut queue = fq_pie(true);
        let (_, share, _) = overload(&mut *queue, Ecn::Ect0);
        // A quarter must be dropped, which is more than ecn_probability.
        assert!((share - 0.25).abs() < 0.01, "{share}");
        assert!(queue.marked() > 0);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(refused::<FqPieConfig>(":0.1,", ":1.1,"), "discipline.ecn_probability");
        assert_eq!(refused::<FqPieConfig>("1024", "0"), "discipline.queues");
        assert_eq!(refused::<FqPieConfig>("1.25", "0"), "discipline.beta");
    }
}
