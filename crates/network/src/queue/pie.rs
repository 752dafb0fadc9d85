//! PIE, the proportional integral controller enhanced (RFC 8033).
//!
//! The drop probability is updated every `update_ns`. Between arrivals the queue only drains, so
//! due updates run when the next packet arrives. Until then the queueing delay fell by the time
//! that passed.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Backlog, Example, Manage, Managed, Parameters, Verdict};
use crate::check::{Check, not_zero, positive, require};
use crate::packet::Packet;
use crate::random::Random;
use crate::units::{Span, Time};

/// Parameters of PIE (RFC 8033, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PieConfig {
    /// Queueing delay to hold (`QDELAY_REF`).
    pub target_ns: Span,
    /// Time between updates of the drop probability (`T_UPDATE`).
    pub update_ns: Span,
    /// Gain of the distance from the target, per second of delay.
    pub alpha: f64,
    /// Gain of the delay's change, per second of delay.
    pub beta: f64,
    /// Duration for which a burst passes untouched (`MAX_BURST`).
    pub burst_ns: Span,
    /// True if ECN-capable packets are marked instead while the probability is low.
    pub ecn: bool,
}

impl Parameters for PieConfig {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "PIE",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"pie","target_ns":15000000,"update_ns":15000000,"alpha":0.125,"beta":1.25,"burst_ns":150000000,"ecn":false}}"#,
        },
        Example {
            name: "PIE that marks",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"pie","target_ns":15000000,"update_ns":15000000,"alpha":0.125,"beta":1.25,"burst_ns":150000000,"ecn":true}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] = &[
        r#"{"kind":"pie","target_ns":500,"update_ns":10000,"alpha":12500,"beta":125000,"burst_ns":1000,"ecn":true}"#,
    ];

    fn check(&self) -> Check {
        check_controller(self.target_ns, self.update_ns, self.alpha, self.beta)
    }
}

/// Check the target, the update period and the gains of a proportional integral controller.
pub fn check_controller(target_ns: Span, update_ns: Span, alpha: f64, beta: f64) -> Check {
    not_zero("target_ns", target_ns.0)?;
    require(update_ns >= UPDATE_MIN, "update_ns", || {
        format!("{}, but at least {}: each update is computed", update_ns.0, UPDATE_MIN.0)
    })?;
    positive("alpha", alpha)?;
    positive("beta", beta)
}

/// Shortest update period. A pause of a second then costs a hundred thousand updates.
const UPDATE_MIN: Span = Span::from_micros(10);
/// Probability from which ECN-capable packets are dropped, too (section 5.1).
const MARKING_MAX: f64 = 0.1;
/// A queue of at most two packets of this size never gets a signal (section 4.1).
const MEAN_PACKET_BYTES: u64 = 1500;

/// State of PIE for one queue.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    probability: f64,
    /// Sum of probabilities since the last drop (section 5.4).
    accumulated: f64,
    burst_left: Span,
    /// Delay at the last update.
    delay_before: Span,
}

impl Control {
    /// State of an empty queue.
    pub const fn new(config: &PieConfig) -> Self {
        Self {
            probability: 0.0,
            accumulated: 0.0,
            burst_left: config.burst_ns,
            delay_before: Span::ZERO,
        }
    }

    /// Probability of a drop or a mark.
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// Draw whether to signal congestion to a packet that finds this delay and so many waiting
    /// bytes.
    pub fn signals(
        &mut self,
        config: &PieConfig,
        delay: Span,
        waiting_bytes: u64,
        random: &mut Random,
    ) -> bool {
        if self.is_calm(config, delay) {
            self.burst_left = config.burst_ns;
        }
        self.burst_left == Span::ZERO && self.strikes(config, waiting_bytes, random)
    }

    /// Run one update of the drop probability (sections 4.2, 4.4 and 5.5).
    pub fn update(&mut self, config: &PieConfig, delay: Span) {
        let error = seconds(delay) - seconds(config.target_ns);
        let change = seconds(delay) - seconds(self.delay_before);
        let mut step = config.alpha * error + config.beta * change;
        // While the probability is small, full gains would overshoot (RFC 8033, section 4.2).
        step /= damping(self.probability);
        // Once drops are heavy, a sudden load must not raise the probability by more than 2 % at a
        // time (section 5.5).
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        // Decay of an idle link (section 4.2). Without it the probability would outlive its cause.
        if delay == Span::ZERO && self.delay_before == Span::ZERO {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_before = delay;
        self.burst_left = Span(self.burst_left.0.saturating_sub(config.update_ns.0));
        if self.is_calm(config, delay) {
            self.burst_left = config.burst_ns;
        }
    }

    /// Return whether updates change nothing while the queue stays empty.
    pub fn rests(&self, config: &PieConfig) -> bool {
        self.delay_before == Span::ZERO
            && self.probability == 0.0
            && self.burst_left == config.burst_ns
    }

    /// Return whether congestion is over (section 4.4).
    fn is_calm(&self, config: &PieConfig, delay: Span) -> bool {
        let half = Span(config.target_ns.0 / 2);
        self.probability == 0.0 && delay < half && self.delay_before < half
    }

    /// Draw the random decision (section 4.1), without long runs of either kind (section 5.4).
    fn strikes(&mut self, config: &PieConfig, waiting_bytes: u64, random: &mut Random) -> bool {
        let half = Span(config.target_ns.0 / 2);
        let light = self.delay_before < half && self.probability < 0.2;
        if light || waiting_bytes <= 2 * MEAN_PACKET_BYTES {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        // Derandomization (section 5.4): no drops close together, and no long runs without a drop.
        if self.accumulated < 0.85 {
            return false;
        }
        let strikes = self.accumulated >= 8.5 || random.happens(self.probability);
        if strikes {
            self.accumulated = 0.0;
        }
        strikes
    }
}

impl Managed for PieConfig {
    type Law = Pie;

    fn manager(&self, _packet_time: Span, random: Random) -> Pie {
        Pie {
            config: *self,
            control: Control::new(self),
            updates_at: Time::ZERO + self.update_ns,
            latest: (Time::ZERO, Span::ZERO),
            random,
        }
    }
}

/// A running PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    config: PieConfig,
    control: Control,
    updates_at: Time,
    /// The last arrival and the delay that it found.
    latest: (Time, Span),
    random: Random,
}

impl Manage for Pie {
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: Packet) -> Verdict {
        if now >= self.updates_at {
            self.catch_up(now, backlog.wait);
        }
        self.latest = (now, backlog.wait);
        let Self { config, control, random, .. } = self;
        if !control.signals(config, backlog.wait, backlog.waiting_bytes(), random) {
            return Verdict::Accept;
        }
        Verdict::of_congestion(packet, config.ecn && control.probability() < MARKING_MAX)
    }
}

impl Pie {
    /// Run the updates that are due by `now`, when the delay is `wait`.
    #[cold]
    fn catch_up(&mut self, now: Time, wait: Span) {
        while now >= self.updates_at {
            let delay = self.delay_at(self.updates_at, now, wait);
            self.control.update(&self.config, delay);
            self.updates_at += self.config.update_ns;
            if delay == Span::ZERO && self.control.rests(&self.config) {
                // No update changes anything before the next arrival.
                self.updates_at = first_after(now, self.updates_at, self.config.update_ns);
            }
        }
    }

    /// Return the delay at a time between the last arrival and `now`. If the queue has not run
    /// empty, the delay is `wait` plus the time in between. Otherwise it is the delay that the last
    /// arrival found, minus the time since then.
    fn delay_at(&self, time: Time, now: Time, wait: Span) -> Span {
        // Between two arrivals a queue only drains, by one nanosecond in each. Either end gives the
        // delay.
        if wait > Span::ZERO {
            return Span(wait.0 + now.since(time).0);
        }
        let (then, delay) = self.latest;
        Span(delay.0.saturating_sub(time.since(then).0))
    }
}

/// Return the first update after `now`. Updates come every `every`, from `next` on.
pub fn first_after(now: Time, next: Time, every: Span) -> Time {
    if now < next {
        return next;
    }
    next + Span((now.since(next).0 / every.0 + 1) * every.0)
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

/// Return the divisor of steps while the probability is small (section 4.2).
const fn damping(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Sink, admission, packet, refused};
    use super::*;
    use crate::packet::Ecn;

    const JSON: &str = r#"{"kind":"pie","target_ns":15000000,"update_ns":15000000,"alpha":0.125,"beta":1.25,"burst_ns":150000000,"ecn":true}"#;
    const MS: u64 = 1_000_000;

    /// A queue at 12 Mbit/s, which sends one packet each millisecond.
    fn queue() -> Sink {
        Sink::new(admission("null", JSON), 12_000_000)
    }

    #[test]
    fn unresponsive_overload_is_held_at_the_target() {
        let mut queue = queue();
        let (mut delays, mut dropped, mut offered) = (Vec::new(), 0, 0);
        // Packets come at 16 Mbit/s for 100 s.
        for at in (0..100_000 * MS).step_by(750_000).map(Time) {
            let verdict = queue.offer(at, packet(0, 0));
            if at.0 > 30_000 * MS {
                delays.push(queue.backlog(at).wait.0 / 1_000);
                dropped += u32::from(verdict == Verdict::Drop);
                offered += 1;
            }
        }
        let mean = delays.iter().sum::<u64>() / delays.len() as u64;
        // The integral term has no lasting error: 15 ms, with a granularity of 1 ms.
        assert!((13_500..=16_500).contains(&mean), "{mean} us");
        // A quarter must be dropped.
        let share = f64::from(dropped) / f64::from(offered);
        assert!((share - 0.25).abs() < 0.005, "{share}");
    }

    #[test]
    fn a_burst_of_150_ms_passes() {
        let mut queue = queue();
        // Twice the rate for 150 ms fills a queue of 75 ms.
        let burst = |queue: &mut Sink, from: u64, lasts: u64| {
            let times = (from..from + lasts).step_by(500_000).map(Time);
            times.filter(|&at| queue.offer(at, packet(0, 0)) == Verdict::Drop).count()
        };
        assert_eq!(burst(&mut queue, 0, 150 * MS), 0);
        // The queue drains, its delay is small again, and the next burst passes, too.
        assert_eq!(burst(&mut queue, 5_000 * MS, 150 * MS), 0);
        // A burst of one second does not pass.
        assert!(burst(&mut queue, 10_000 * MS, 1_000 * MS) > 50);
    }

    #[test]
    fn capable_packets_are_marked_while_the_probability_is_low() {
        let decide = |probability, ecn| {
            let mut pie = pie();
            pie.control.probability = probability;
            pie.control.burst_left = Span::ZERO;
            pie.control.delay_before = Span(20 * MS);
            let backlog = Backlog {
                packets: 21,
                bytes: 31_500,
                sending_bytes: 1500,
                wait: Span(20 * MS),
                idle: Span::ZERO,
            };
            let verdicts =
                (0..1_000).map(|_| pie.admit(Time::ZERO, &backlog, packet(0, 0).with_ecn(ecn)));
            let (mut marked, mut dropped) = (0, 0);
            for verdict in verdicts {
                marked += u32::from(verdict == Verdict::Mark);
                dropped += u32::from(verdict == Verdict::Drop);
            }
            (marked > 0, dropped > 0)
        };
        assert_eq!(decide(0.05, Ecn::Ect0), (true, false));
        assert_eq!(decide(0.05, Ecn::NotEct), (false, true));
        assert_eq!(decide(0.15, Ecn::Ect0), (false, true));
        assert_eq!(decide(0.0, Ecn::NotEct), (false, false));
    }

    fn pie() -> Pie {
        config().manager(Span::from_millis(1), Random::new(2, 2))
    }

    fn config() -> PieConfig {
        serde_json::from_str(&JSON.replace(r#""kind":"pie","#, "")).unwrap()
    }

    #[test]
    fn steps_grow_with_the_probability() {
        // 35 ms, 5 ms more than before: 0.125 * 0.02 + 1.25 * 0.005 = 0.00875, divided by the
        // divisor of section 4.2 for each range.
        let step = |probability| {
            let delay_before = Span(30 * MS);
            let mut control = Control { probability, delay_before, ..pie().control };
            control.update(&config(), Span(35 * MS));
            control.probability - probability
        };
        for (probability, divisor) in [
            (0.0, 2048.0),
            (5e-6, 512.0),
            (5e-5, 128.0),
            (5e-4, 32.0),
            (5e-3, 8.0),
            (0.05, 2.0),
            (0.5, 1.0),
        ] {
            assert!((step(probability) * divisor - 0.00875).abs() < 1e-9, "{probability}");
        }
    }

    #[test]
    fn drops_are_neither_too_close_nor_too_far_apart() {
        let Pie { config, control, mut random, .. } = pie();
        let mut control = Control { probability: 0.05, delay_before: Span(20 * MS), ..control };
        let (mut gap, mut gaps) = (0, Vec::new());
        for _ in 0..1_000_000 {
            gap += 1;
            if control.strikes(&config, 31_500, &mut random) {
                gaps.push(gap);
                gap = 0;
            }
        }
        // Probabilities sum to 0.85 after 17 packets and to 8.5 after 170. Rounding may add one
        // packet.
        let (shortest, longest) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
        assert!((17..=18).contains(shortest), "{shortest}");
        assert!((170..=171).contains(longest), "{longest}");
    }

    #[test]
    fn missed_updates_of_a_queue_that_never_ran_empty_see_it_drain() {
        let mut pie = Pie { updates_at: Time(15 * MS), ..pie() };
        pie.control.delay_before = Span(50 * MS);
        let backlog = Backlog { wait: Span(20 * MS), ..Backlog::default() };
        pie.admit(Time(40 * MS), &backlog, packet(0, 0));
        // The updates at 15 and 30 ms see 45 and 30 ms of delay.
        assert_eq!((pie.control.delay_before, pie.updates_at), (Span(30 * MS), Time(45 * MS)));
    }

    #[test]
    fn missed_updates_are_made_up_for() {
        // The same queue, with many and with few arrivals between two bursts.
        let run = |probed: bool| {
            let mut pie = pie();
            let mut admit = |at: u64, wait: u64| {
                let backlog = Backlog { wait: Span(wait), ..Backlog::default() };
                pie.admit(Time(at), &backlog, packet(0, 0));
            };
            for step in 0..100 {
                admit(step * 10 * MS, 100 * MS + step * MS);
            }
            if probed {
                for step in 1..40 {
                    admit(990 * MS + step * 5 * MS, 199 * MS - step * 5 * MS);
                }
            }
            admit(1_290 * MS, 0);
            pie.control.probability
        };
        assert!((run(true) - run(false)).abs() < 1e-12, "{} {}", run(true), run(false));
    }

    #[test]
    fn a_long_silence_ends_in_calm_without_a_loop_over_it() {
        let mut pie = pie();
        pie.control.probability = 0.5;
        pie.control.burst_left = Span::ZERO;
        pie.admit(Time(u64::MAX >> 2), &Backlog::default(), packet(0, 0));
        assert_eq!((pie.control.probability, pie.control.burst_left), (0.0, config().burst_ns));
        assert!(pie.updates_at > Time(u64::MAX >> 2));
        assert!(pie.updates_at.since(Time(u64::MAX >> 2)) <= config().update_ns);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(refused::<PieConfig>("0.125", "-1"), "discipline.alpha");
    }
}
