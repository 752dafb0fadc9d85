//! Random early detection (Floyd and Jacobson, ToN 1993) and its later forms: "gentle"
//! (Floyd 2000) and adaptive (Floyd, Gummadi and Shenker 2001).

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Backlog, Example, Manage, Managed, Parameters, Verdict};
use crate::check::{Check, positive, require};
use crate::packet::Packet;
use crate::random::{Random, WHOLE};
use crate::units::{Span, Time};

/// Parameters of RED; averages and thresholds count waiting packets.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedConfig {
    /// Average queue in packets from which packets are dropped or marked (`min_th`).
    pub min_packets: f64,
    /// Average queue in packets at which that happens with `max_probability` (`max_th`).
    pub max_packets: f64,
    /// Probability at `max_packets` (`max_p`); adaptive RED begins with it.
    pub max_probability: f64,
    /// Weight of one arrival in the average (`w_q`).
    pub weight: f64,
    /// True if the probability rises to 1 at twice `max_packets` rather than at once.
    pub gentle: bool,
    /// True if `max_probability` adapts.
    pub adaptive: bool,
    /// True if ECN-capable packets are marked instead.
    pub ecn: bool,
}

impl Parameters for RedConfig {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "RED",
            queue: r#"{"limit":{"packets":60},"discipline":{"kind":"red","min_packets":5.0,"max_packets":15.5,"max_probability":0.1,"weight":0.002,"gentle":false,"adaptive":false,"ecn":false}}"#,
        },
        Example {
            name: "gentle RED",
            queue: r#"{"limit":{"packets":60},"discipline":{"kind":"red","min_packets":5.0,"max_packets":15.5,"max_probability":0.1,"weight":0.002,"gentle":true,"adaptive":false,"ecn":false}}"#,
        },
        Example {
            name: "RED that marks",
            queue: r#"{"limit":{"packets":60},"discipline":{"kind":"red","min_packets":5.0,"max_packets":15.5,"max_probability":0.1,"weight":0.002,"gentle":false,"adaptive":false,"ecn":true}}"#,
        },
        Example {
            name: "adaptive RED",
            queue: r#"{"limit":{"packets":60},"discipline":{"kind":"red","min_packets":5.0,"max_packets":15.5,"max_probability":0.1,"weight":0.002,"gentle":true,"adaptive":true,"ecn":true}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] = &[
        r#"{"kind":"red","min_packets":2,"max_packets":6,"max_probability":0.3,"weight":0.3,"gentle":true,"adaptive":true,"ecn":true}"#,
        r#"{"kind":"red","min_packets":2,"max_packets":6,"max_probability":0.3,"weight":1,"gentle":false,"adaptive":false,"ecn":false}"#,
    ];

    fn check(&self) -> Check {
        positive("min_packets", self.min_packets)?;
        let above = self.max_packets.is_finite() && self.max_packets > self.min_packets;
        require(above, "max_packets", || {
            format!("{}, but it must be above min_packets {}", self.max_packets, self.min_packets)
        })?;
        for (key, value) in [("max_probability", self.max_probability), ("weight", self.weight)] {
            require(value > 0.0 && value <= 1.0, key, || {
                format!("{value}, but it must be above 0 and at most 1")
            })?;
        }
        Ok(())
    }
}

/// Time between adaptations of adaptive RED (2001).
const ADAPTATION: Span = Span::from_millis(500);

impl Managed for RedConfig {
    type Law = Red;

    fn manager(&self, packet_time: Span, random: Random) -> Red {
        Red::new(self, packet_time, random)
    }
}

/// A running RED.
#[derive(Clone, Debug)]
pub struct Red {
    config: RedConfig,
    packet_time: Span,
    max_probability: f64,
    adapts_at: Time,
    /// Average queue in packets.
    average: f64,
    /// Packets since the last drop or mark.
    count: u32,
    random: Random,
}

impl Manage for Red {
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: Packet) -> Verdict {
        self.update_average(backlog);
        if self.config.adaptive {
            self.adapt(now);
        }
        let probability = self.probability();
        if probability <= 0.0 {
            self.count = 0;
            return Verdict::Accept;
        }
        if probability >= 1.0 {
            self.count = 0;
            // Above the upper threshold ECN-capable packets are dropped, too (RFC 3168, section 7).
            return Verdict::Drop;
        }
        if !self.strikes(probability) {
            self.count = self.count.saturating_add(1);
            return Verdict::Accept;
        }
        self.count = 0;
        Verdict::of_congestion(packet, self.config.ecn)
    }
}

impl Red {
    /// RED with an empty queue. `packet_time` is the transmission time of a typical packet.
    #[must_use]
    pub fn new(config: &RedConfig, packet_time: Span, random: Random) -> Self {
        Self {
            config: *config,
            packet_time,
            max_probability: config.max_probability,
            adapts_at: Time::ZERO + ADAPTATION,
            average: 0.0,
            count: 0,
            random,
        }
    }

    /// Update the exponential average for an arrival. Idle time counts as the packets that could
    /// have been sent in it. Each of them would have found an empty queue (1993, section 4 and
    /// figure 2).
    fn update_average(&mut self, backlog: &Backlog) {
        let weight = self.config.weight;
        let idle_packets = backlog.idle.0.checked_div(self.packet_time.0);
        if backlog.packets == 0 {
            // A link whose packets take no time could have sent infinitely many.
            self.average *= power(1.0 - weight, idle_packets.unwrap_or(u64::MAX));
        }
        // RED averages the waiting packets, without the one in transmission.
        let waiting = f64::from(backlog.packets.saturating_sub(1));
        self.average += weight * (waiting - self.average);
    }

    /// Return the probability p_b for the average queue (1993, section 4), with the "gentle"
    /// extension.
    fn probability(&self) -> f64 {
        let RedConfig { min_packets, max_packets, gentle, .. } = self.config;
        if self.average < min_packets {
            0.0
        } else if self.average < max_packets {
            self.max_probability * (self.average - min_packets) / (max_packets - min_packets)
        } else if gentle {
            let beyond = (self.average - max_packets) / max_packets;
            self.max_probability + (1.0 - self.max_probability) * beyond
        } else {
            1.0
        }
    }

    /// Draw whether to drop or mark, with even gaps: p_a = p_b / (1 - count p_b), where `count`
    /// packets passed since the last. The gap is uniform in 1..1/p_b (1993, section 7). Figure 2 of
    /// the paper also counts the arriving packet. The text does not, and only the text gives this
    /// gap.
    fn strikes(&mut self, probability: f64) -> bool {
        let left = 1.0 - f64::from(self.count) * probability;
        // The product with a power of two is exact, and the cast saturates.
        let below = if left > probability { (probability / left * WHOLE) as u64 } else { u64::MAX };
        self.random.next_u64() < below
    }

    /// Adapt the maximum probability so that the average stays between 0.4 and 0.6 of the way
    /// between the thresholds (2001). The increase is additive and the decrease multiplicative,
    /// within 0.01..0.5.
    fn adapt(&mut self, now: Time) {
        while now >= self.adapts_at {
            self.adapts_at += ADAPTATION;
            let RedConfig { min_packets, max_packets, .. } = self.config;
            let way = (self.average - min_packets) / (max_packets - min_packets);
            // Steps are at most 0.01 up and a tenth down (2001), which is slow compared with the
            // average's own oscillation.
            if way > 0.6 && self.max_probability <= 0.5 {
                self.max_probability += (self.max_probability / 4.0).min(0.01);
            } else if way < 0.4 && self.max_probability >= 0.01 {
                self.max_probability *= 0.9;
            }
        }
    }
}

/// Return `base` to a whole power by squaring, which is the same on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 && result > 0.0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sink, admission, packet, refused};
    use super::*;
    use crate::packet::Ecn;

    const CONFIG: RedConfig = RedConfig {
        min_packets: 50.0,
        max_packets: 150.0,
        max_probability: 0.1,
        weight: 0.002,
        gentle: true,
        adaptive: false,
        ecn: false,
    };

    fn red(config: RedConfig) -> Red {
        Red::new(&config, Span(1_000), Random::new(3, 1))
    }

    fn backlog(waiting: u32) -> Backlog {
        Backlog { packets: waiting + 1, ..Backlog::default() }
    }

    /// Return the shares of packets that are dropped and marked when the average equals the
    /// backlog.
    fn share(config: RedConfig, waiting: u32, ecn: Ecn) -> (f64, f64) {
        let mut red = Red { average: waiting.into(), ..red(config) };
        let (mut dropped, mut marked) = (0, 0);
        let packets = 400_000;
        for _ in 0..packets {
            match red.admit(Time::ZERO, &backlog(waiting), packet(0, 0).with_ecn(ecn)) {
                Verdict::Accept => {}
                Verdict::Mark => marked += 1,
                Verdict::Drop => dropped += 1,
            }
        }
        (f64::from(dropped) / f64::from(packets), f64::from(marked) / f64::from(packets))
    }

    #[test]
    fn drops_are_as_frequent_as_in_the_closed_form() {
        // Gaps are uniform in 1..1/p, so their mean is (1/p + 1) / 2.
        for (waiting, probability) in [(70, 0.02), (100, 0.05), (125, 0.075), (150, 0.1)] {
            let expected = 2.0 / (1.0 / probability + 1.0);
            let (dropped, _) = share(CONFIG, waiting, Ecn::NotEct);
            // Gaps have a standard deviation of 0.58 means, and there are at least 15,000: 4 sigma
            // = 2 %. At 125, 1/p is not a whole number, which changes the last step of the gap: 3
            // %.
            assert!((dropped / expected - 1.0).abs() < 0.03, "{waiting}: {dropped}, {expected}");
        }
    }

    #[test]
    fn gaps_are_uniform() {
        let mut red = Red { average: 100.0, ..red(CONFIG) };
        let mut gaps = [0u32; 32];
        let mut gap = 0;
        for _ in 0..400_000 {
            gap += 1;
            if red.admit(Time::ZERO, &backlog(100), packet(0, 0)) == Verdict::Drop {
                gaps[gap] += 1;
                gap = 0;
            }
        }
        // p = 0.05: each gap from 1 to 20 is one in 20 of 38,095; 4 sigma = 170.
        assert!(gaps[1..=20].iter().all(|count| (1_735..=2_075).contains(count)), "{gaps:?}");
        assert_eq!(gaps[21..].iter().sum::<u32>(), 0);
    }

    #[test]
    fn below_the_minimum_nothing_and_above_the_maximum_everything_is_dropped() {
        assert_eq!(share(CONFIG, 49, Ecn::NotEct), (0.0, 0.0));
        assert_eq!(share(CONFIG, 300, Ecn::NotEct), (1.0, 0.0));
        let steep = RedConfig { gentle: false, ..CONFIG };
        assert_eq!(share(steep, 150, Ecn::NotEct), (1.0, 0.0));
        // Half of the way up the gentle slope p = 0.55, so every gap is one or two.
        let (dropped, _) = share(CONFIG, 225, Ecn::NotEct);
        assert!((dropped - 1.0 / 1.45).abs() < 0.01, "{dropped}");
    }

    #[test]
    fn capable_packets_are_marked_until_the_upper_threshold() {
        let ecn = RedConfig { ecn: true, ..CONFIG };
        let (dropped, marked) = share(ecn, 100, Ecn::Ect0);
        assert!(dropped == 0.0 && marked > 0.09);
        assert_eq!(share(ecn, 300, Ecn::Ect0), (1.0, 0.0));
        let (dropped, marked) = share(ecn, 100, Ecn::NotEct);
        assert!(dropped > 0.09 && marked == 0.0);
    }

    #[test]
    fn idle_time_counts_as_packets_that_find_the_queue_empty() {
        let mut idle = Red { average: 100.0, ..red(CONFIG) };
        let mut busy = idle.clone();
        let empty = Backlog { idle: Span(500_999), ..Backlog::default() };
        idle.admit(Time(1), &empty, packet(0, 0));
        for _ in 0..501 {
            busy.admit(Time(1), &Backlog { idle: Span::ZERO, ..empty }, packet(0, 0));
        }
        // 500 packet times and the arrival itself: 100 * 0.998^501 = 36.7.
        assert!((idle.average - busy.average).abs() < 1e-9);
        assert!((idle.average - 36.7).abs() < 0.05, "{}", idle.average);
        // An outage of hours must not cost a loop of hours.
        idle.admit(Time(1), &Backlog { idle: Span(u64::MAX >> 1), ..empty }, packet(0, 0));
        assert_eq!(idle.average, 0.0);
    }

    #[test]
    fn adaptive_red_holds_the_average_around_the_middle() {
        // 150 Reno flows of 100 ms and 10,000 packets/s as one window. An ACK adds a flow's share,
        // and a loss removes half of a flow's window.
        let json = r#"{"kind":"red","min_packets":50,"max_packets":150,"max_probability":0.2,"weight":0.002,"gentle":true,"adaptive":true,"ecn":false}"#;
        let mut queue = Sink::new(admission("null", json), 120_000_000);
        let (mut now, mut window, mut waiting) = (0.0, 100.0, Vec::new());
        while now < 200e9 {
            let at = Time(now as u64);
            if now > 60e9 {
                waiting.push(f64::from(queue.backlog(at).packets.saturating_sub(1)));
            }
            let dropped = queue.offer(at, packet(0, 0)) == Verdict::Drop;
            window += if dropped { -window / 300.0 } else { 150.0 / window };
            now += (100e6 + queue.backlog(at).wait.0 as f64) / window;
        }
        let mean = waiting.iter().sum::<f64>() / waiting.len() as f64;
        // The target is 90 to 110, and the control adds its own ripple.
        assert!((80.0..=120.0).contains(&mean), "{mean}");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(refused::<RedConfig>("15.5", "5.0"), "discipline.max_packets");
        assert_eq!(refused::<RedConfig>(":0.1", ":1.1"), "discipline.max_probability");
        assert_eq!(refused::<RedConfig>("0.002", "0"), "discipline.weight");
    }
}
