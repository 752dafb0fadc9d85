//! `DualPI2`, the coupled dual-queue of L4S (RFC 9332, appendix A; parameters as Linux has them).
//!
//! Packets with ECT(1) or CE go into the L queue, all others into the C queue. A proportional
//! integral controller moves one base probability p' by the delay of both. The C queue drops or
//! marks with p'^2, and the L queue marks with `coupling` p'. A window of classic TCP goes by the
//! root of its probability and a scalable one by the probability itself, so both have equal
//! rates. The L queue also marks what waited longer than a step.

use schemars::JsonSchema;
use serde::Deserialize;

use super::limit::Limit;
use super::pie::{check_controller, first_after};
use super::pool::{List, Pool};
use super::{Example, Parameters, Queued, Scheduled, Scheduler};
use crate::check::{Check, not_zero, probability};
use crate::packet::{Ecn, Packet};
use crate::random::Random;
use crate::units::{Span, Time};

/// Parameters of `DualPI2` (RFC 9332, figure 2).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Config {
    /// Queueing delay to hold in the C queue.
    pub target_ns: Span,
    /// Time between updates of the probability.
    pub update_ns: Span,
    /// Gain of the distance from the target, per second of delay.
    pub alpha: f64,
    /// Gain of the delay's change, per second of delay.
    pub beta: f64,
    /// Wait in the L queue from which all its packets are marked.
    pub step_ns: Span,
    /// Packets that must remain in the L queue for such a mark.
    pub step_min: u32,
    /// Factor of the probability in the L queue (k).
    pub coupling: u32,
    /// Share of the link that the C queue keeps under a load of the L queue.
    pub classic_protection: f64,
    /// True if the L queue also drops once its probability has reached 1.
    pub drop_overload: bool,
    /// True if packets are dropped as they come rather than as they leave.
    pub drop_early: bool,
}

impl Parameters for DualPi2Config {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "DualPI2",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"dualpi2","target_ns":15000000,"update_ns":16000000,"alpha":0.16,"beta":3.2,"step_ns":1000000,"step_min":0,"coupling":2,"classic_protection":0.1,"drop_overload":true,"drop_early":false}}"#,
        },
        Example {
            name: "DualPI2 that drops early, never for overload",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"dualpi2","target_ns":15000000,"update_ns":16000000,"alpha":0.16,"beta":3.2,"step_ns":1000000,"step_min":0,"coupling":2,"classic_protection":0.1,"drop_overload":false,"drop_early":true}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] = &[
        r#"{"kind":"dualpi2","target_ns":500,"update_ns":10000,"alpha":16000,"beta":320000,"step_ns":300,"step_min":1,"coupling":2,"classic_protection":0.1,"drop_overload":true,"drop_early":false}"#,
        r#"{"kind":"dualpi2","target_ns":500,"update_ns":10000,"alpha":16000,"beta":320000,"step_ns":300,"step_min":1,"coupling":2,"classic_protection":0.5,"drop_overload":false,"drop_early":true}"#,
    ];

    fn check(&self) -> Check {
        check_controller(self.target_ns, self.update_ns, self.alpha, self.beta)?;
        not_zero("coupling", self.coupling.into())?;
        probability("classic_protection", self.classic_protection)
    }
}

impl Scheduled for DualPi2Config {
    type Law = DualPi2;

    fn scheduler(&self, limit: Option<Limit>, random: Random) -> DualPi2 {
        DualPi2 {
            config: *self,
            low: List::default(),
            classic: List::default(),
            pool: Pool::default(),
            limit,
            probability: 0.0,
            delay_before: Span::ZERO,
            updates_at: Time::ZERO + self.update_ns,
            classic_credit: 0.0,
            marked: 0,
            random,
        }
    }
}

/// A queue of at most two packets of this size never gets a signal, as in PIE (RFC 8033, section
/// 4.1).
const MEAN_PACKET_BYTES: u64 = 1500;

/// A running `DualPI2`.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    config: DualPi2Config,
    /// The L queue.
    low: List,
    /// The C queue.
    classic: List,
    pool: Pool,
    limit: Option<Limit>,
    /// The base probability p'.
    probability: f64,
    /// Delay at the last update.
    delay_before: Span,
    updates_at: Time,
    /// Bytes of its share that the C queue has not sent, while both queues wait.
    classic_credit: f64,
    marked: u64,
    random: Random,
}

/// Congestion signal of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    None,
    Mark,
    Drop,
}

/// Return whether a packet belongs to the L queue (RFC 9331, section 5.1).
fn is_low(packet: Packet) -> bool {
    // CE counts as low latency, because an earlier queue may have marked an ECT(1) packet.
    matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce)
}

impl DualPi2 {
    /// Run the updates that are due by `now`. No packet has come or left since the one before.
    #[cold]
    fn catch_up(&mut self, now: Time) {
        while now >= self.updates_at {
            let oldest = [self.pool.oldest(&self.low), self.pool.oldest(&self.classic)];
            let waited = |since: Time| Span(self.updates_at.0.saturating_sub(since.0));
            let delay = oldest.into_iter().flatten().map(waited).max().unwrap_or(Span::ZERO);
            self.update(delay);
            self.updates_at += self.config.update_ns;
            if self.pool.packets() == 0 && self.probability == 0.0 {
                self.updates_at = first_after(now, self.updates_at, self.config.update_ns);
            }
        }
    }

    /// Run one update of the base probability (figure 6).
    fn update(&mut self, delay: Span) {
        let seconds = |span: Span| span.0 as f64 / 1e9;
        let error = seconds(delay) - seconds(self.config.target_ns);
        let change = seconds(delay) - seconds(self.delay_before);
        let step = self.config.alpha * error + self.config.beta * change;
        // Without drops for overload the L queue's probability must not exceed 1.
        let most = if self.config.drop_overload { 1.0 } else { 1.0 / self.coupling() };
        self.probability = (self.probability + step).clamp(0.0, most);
        self.delay_before = delay;
    }

    fn coupling(&self) -> f64 {
        self.config.coupling.into()
    }

    /// Draw the signal of a packet from the base probability (figures 4 and 7).
    fn signal(&mut self, packet: Packet) -> Signal {
        // A signal at so short a queue would idle the link.
        if self.pool.bytes() <= 2 * MEAN_PACKET_BYTES {
            return Signal::None;
        }
        let coupled = self.coupling() * self.probability;
        let overload = coupled > 1.0;
        if is_low(packet) {
            if overload && self.config.drop_overload && self.strikes_squared() {
                return Signal::Drop;
            }
            return if overload || self.random.happens(coupled) {
                Signal::Mark
            } else {
                Signal::None
            };
        }
        match self.strikes_squared() {
            false => Signal::None,
            // In overload marks have no effect any more, so ECN gives no privilege (RFC 9332,
            // section 4.2).
            true if packet.ecn() == Ecn::NotEct || overload => Signal::Drop,
            true => Signal::Mark,
        }
    }

    /// Draw true with the square of the base probability: two draws must hit (section A.1).
    fn strikes_squared(&mut self) -> bool {
        self.random.happens(self.probability) && self.random.happens(self.probability)
    }

    fn mark(&mut self, packet: Packet) -> Packet {
        self.marked += u64::from(packet.ecn() != Ecn::Ce);
        packet.with_ecn(Ecn::Ce)
    }

    /// Remove the next packet and return it, with true for the L queue. The L queue goes first, but
    /// while both wait the C queue keeps its share of the bytes (section 4.1.4: a weighted round
    /// robin).
    fn pop(&mut self) -> Option<(Queued, bool)> {
        let both = self.low.packets() > 0 && self.classic.packets() > 0;
        // Credit counts only while both queues compete, so no unused share is saved.
        if !both {
            self.classic_credit = 0.0;
        }
        let low = self.low.packets() > 0 && !(both && self.classic_credit > 0.0);
        let list = if low { &mut self.low } else { &mut self.classic };
        let queued = self.pool.pop(list)?;
        if both {
            let (share, bytes) = (self.config.classic_protection, f64::from(queued.wire_bytes));
            self.classic_credit += if low { share * bytes } else { (share - 1.0) * bytes };
        }
        Some((queued, low))
    }

    /// Return whether the step marks a packet of the L queue (section A.1).
    fn is_late(&self, now: Time, since: Time) -> bool {
        now.since(since) > self.config.step_ns && self.low.packets() >= self.config.step_min
    }

    fn takes(&self, wire_bytes: u32) -> bool {
        let (packets, bytes) = (self.packets() + 1, self.bytes() + u64::from(wire_bytes));
        packets == 1 || self.limit.is_none_or(|limit| limit.holds(packets, bytes))
    }
}

impl Scheduler for DualPi2 {
    fn enqueue(&mut self, now: Time, mut queued: Queued, dropped: &mut Vec<Packet>) {
        // The updates come first. Otherwise a burst after a pause would meet the probability from
        // before the pause.
        if now >= self.updates_at {
            self.catch_up(now);
        }
        let signal = if self.config.drop_early { self.signal(queued.packet) } else { Signal::None };
        if signal == Signal::Drop || !self.takes(queued.wire_bytes) {
            dropped.push(queued.packet);
            return;
        }
        // The packet's own mark (CE) must not move it to the L queue.
        let list_is_low = is_low(queued.packet);
        if signal == Signal::Mark {
            queued.packet = self.mark(queued.packet);
        }
        let list = if list_is_low { &mut self.low } else { &mut self.classic };
        self.pool.push(list, queued);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        if now >= self.updates_at {
            self.catch_up(now);
        }
        loop {
            let (mut queued, low) = self.pop()?;
            let signal =
                if self.config.drop_early { Signal::None } else { self.signal(queued.packet) };
            if signal == Signal::Drop {
                dropped.push(queued.packet);
                continue;
            }
            if signal == Signal::Mark || low && self.is_late(now, queued.since) {
                queued.packet = self.mark(queued.packet);
            }
            return Some(queued);
        }
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.pool.packets()
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }

    fn marked(&self) -> u64 {
        self.marked
    }

    fn waiting(&self) -> Vec<Packet> {
        self.pool.iter(&self.low).chain(self.pool.iter(&self.classic)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, put, queued, refused, take};
    use super::*;

    const MS: u64 = 1_000_000;

    fn dualpi2() -> DualPi2 {
        config().scheduler(None, Random::new(5, 5))
    }

    fn config() -> DualPi2Config {
        DualPi2Config {
            target_ns: Span(15 * MS),
            update_ns: Span(16 * MS),
            alpha: 0.16,
            beta: 3.2,
            step_ns: Span(MS),
            step_min: 0,
            coupling: 2,
            classic_protection: 0.1,
            drop_overload: true,
            drop_early: false,
        }
    }

    /// Return the shares of 400,000 packets that are marked and dropped at a base probability.
    fn shares(config: DualPi2Config, probability: f64, ecn: Ecn) -> (f64, f64) {
        let mut queue = DualPi2 { probability, ..config.scheduler(None, Random::new(5, 5)) };
        put(&mut queue, 0, (0..5).map(|number| packet(1, number)));
        let (mut marked, mut dropped) = (0, 0);
        for _ in 0..400_000 {
            match queue.signal(packet(0, 0).with_ecn(ecn)) {
                Signal::None => {}
                Signal::Mark => marked += 1,
                Signal::Drop => dropped += 1,
            }
        }
        (f64::from(marked) / 400_000.0, f64::from(dropped) / 400_000.0)
    }

    fn near(measured: (f64, f64), expected: (f64, f64)) -> bool {
        // Five standard deviations of a binomial share.
        let close = |measured: f64, expected: f64| {
            (measured - expected).abs() <= 5.0 * (expected * (1.0 - expected) / 400_000.0).sqrt()
        };
        close(measured.0, expected.0) && close(measured.1, expected.1)
    }

    #[test]
    fn classic_packets_meet_the_square_and_scalable_ones_the_coupled_probability() {
        for probability in [0.01, 0.1, 0.4] {
            let square = probability * probability;
            let of = |ecn| shares(config(), probability, ecn);
            assert!(near(of(Ecn::NotEct), (0.0, square)), "{probability}");
            assert!(near(of(Ecn::Ect0), (square, 0.0)), "{probability}");
            assert!(near(of(Ecn::Ect1), (2.0 * probability, 0.0)), "{probability}");
        }
    }

    #[test]
    fn under_overload_all_are_dropped_equally_unless_that_is_off() {
        let of = |ecn| shares(config(), 0.8, ecn);
        assert!(near(of(Ecn::Ect0), (0.0, 0.64)));
        assert!(near(of(Ecn::Ect1), (0.36, 0.64)));
        let never = DualPi2Config { drop_overload: false, ..config() };
        let mut queue = never.scheduler(None, Random::new(5, 5));
        queue.update(Span(10_000 * MS));
        assert_eq!(queue.probability, 0.5);
    }

    #[test]
    fn the_l_queue_marks_what_waits_longer_than_the_step() {
        let mut queue = dualpi2();
        let low = |number| packet(0, number).with_ecn(Ecn::Ect1);
        put(&mut queue, 0, [low(0), low(1)]);
        let ecn = |queue: &mut DualPi2, now| take(queue, now).unwrap().0.packet.ecn();
        assert_eq!(ecn(&mut queue, MS), Ecn::Ect1);
        assert_eq!(ecn(&mut queue, MS + 1), Ecn::Ce);
        let mut patient =
            DualPi2 { config: DualPi2Config { step_min: 1, ..config() }, ..dualpi2() };
        put(&mut patient, 0, [low(0), low(1)]);
        assert_eq!([ecn(&mut patient, 2 * MS), ecn(&mut patient, 2 * MS)], [Ecn::Ce, Ecn::Ect1]);
    }

    #[test]
    fn the_l_queue_goes_first_and_the_c_queue_keeps_its_share() {
        let mut queue = dualpi2();
        let (mut sent, mut dropped) = ([0, 0], Vec::new());
        for number in 0..10_000 {
            for ecn in [Ecn::Ect1, Ecn::NotEct] {
                queue.enqueue(Time(0), queued(0, packet(0, number).with_ecn(ecn)), &mut dropped);
            }
            let (queued, _) = take(&mut queue, 0).unwrap();
            sent[usize::from(is_low(queued.packet))] += 1;
        }
        assert_eq!(sent, [1_000, 9_000]);
    }

    #[test]
    fn unresponsive_classic_overload_is_held_at_the_target() {
        let (mut queue, mut waits, mut sent) = (dualpi2(), 0, 0);
        for ms in 0..60_000 {
            let now = ms * MS;
            // Five packets come in the time of four.
            put(&mut queue, now, (0..1 + u64::from(ms % 4 == 0)).map(|_| packet(0, ms)));
            if let Some((queued, _)) = take(&mut queue, now) {
                if ms > 20_000 {
                    waits += now - queued.since.0;
                    sent += 1;
                }
            }
        }
        // The integral term has no lasting error.
        let mean_ms = waits as f64 / f64::from(sent) / 1e6;
        assert!((13.0..=17.0).contains(&mean_ms), "{mean_ms}");
        // A fifth must be dropped, so p' is the root of 0.2.
        assert!((queue.probability - 0.2f64.sqrt()).abs() < 0.05, "{}", queue.probability);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(refused::<DualPi2Config>("16000000", "1"), "discipline.update_ns");
        assert_eq!(
            refused::<DualPi2Config>("\"coupling\":2", "\"coupling\":0"),
            "discipline.coupling"
        );
        assert_eq!(refused::<DualPi2Config>(":0.1,", ":1.1,"), "discipline.classic_protection");
    }
}
