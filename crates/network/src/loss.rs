//! Random loss: which packets a link loses for no want of space.

use schemars::JsonSchema;
use serde::Deserialize;

mod bit_errors;
mod bursts;
mod scripted;

pub use self::bit_errors::BitErrors;
pub use self::bursts::{Bursts, BurstsConfig, GilbertElliott, GilbertElliottConfig};
pub use self::scripted::{Scripted, ScriptedDrop};
use crate::chance::Chance;
use crate::check::{Check, probability, require};
use crate::packet::Packet;
use crate::random::Random;
use crate::schedule::{Schedule, Steps};
use crate::units::{Span, Time};

/// Shortest mean of a state. Shorter states would change many times between two packets, which
/// costs time and changes no result.
const SHORTEST_MEAN: Span = Span(1_000);

/// A loss model as a scenario states it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossConfig {
    /// Each packet is lost with the probability of the moment.
    Bernoulli {
        /// Probabilities and the times from which they hold.
        probability: Steps<f64>,
    },
    /// Two states with a loss probability each (Elliott 1963). If the good state loses nothing,
    /// it is the model of Gilbert (1960).
    GilbertElliott(GilbertElliottConfig),
    /// The same two states, which last for exponential times whether packets come or not.
    Bursts(BurstsConfig),
    /// A packet is lost if one of its bits is wrong.
    BitErrors {
        /// Probability of each bit.
        probability: f64,
    },
    /// Named packets are lost.
    Scripted {
        /// The packets, and the number of drops of each.
        drops: Vec<ScriptedDrop>,
    },
}

impl LossConfig {
    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        match self {
            Self::Bernoulli { probability } => check_bernoulli(probability),
            Self::GilbertElliott(config) => {
                probability("to_bad", config.to_bad)?;
                probability("to_good", config.to_good)?;
                probability("loss_good", config.loss_good)?;
                probability("loss_bad", config.loss_bad)
            }
            Self::Bursts(config) => {
                check_mean("mean_good_ns", config.mean_good_ns)?;
                check_mean("mean_bad_ns", config.mean_bad_ns)?;
                probability("loss_good", config.loss_good)?;
                probability("loss_bad", config.loss_bad)
            }
            Self::BitErrors { probability } => {
                require((0.0..1.0).contains(probability), "probability", || {
                    format!("{probability}, but it must be in 0..1, 1 excluded")
                })
            }
            Self::Scripted { drops } => check_scripted(drops),
        }
    }
}

fn check_bernoulli(steps: &Steps<f64>) -> Check {
    steps.check("probability")?;
    for (index, value) in steps.values().enumerate() {
        probability(&format!("probability.{index}.1"), value)?;
    }
    require(steps.values().any(|value| value < 1.0), "probability", || {
        "1 at all times, so nothing ever passes".into()
    })
}

fn check_mean(key: &str, mean: Span) -> Check {
    require(mean >= SHORTEST_MEAN, key, || {
        format!("{} ns, but a state must last {} ns at least", mean.0, SHORTEST_MEAN.0)
    })
}

fn check_scripted(drops: &[ScriptedDrop]) -> Check {
    for (index, drop) in drops.iter().enumerate() {
        let same = |other: &ScriptedDrop| (other.flow, other.number) == (drop.flow, drop.number);
        require(!drops[..index].iter().any(same), &format!("drops.{index}"), || {
            format!("segment {} of flow {} is named twice", drop.number, drop.flow)
        })?;
    }
    Ok(())
}

/// A running loss model.
#[derive(Clone, Debug)]
pub enum LossModel {
    /// One constant probability.
    Bernoulli(Chance),
    /// A probability that changes at given times.
    Scheduled(ScheduledLoss),
    /// Loss in bursts of packets.
    GilbertElliott(GilbertElliott),
    /// Loss in bursts of time.
    Bursts(Bursts),
    /// Loss by wrong bits.
    BitErrors(BitErrors),
    /// Named packets.
    Scripted(Scripted),
}

impl LossModel {
    /// A model before its first packet.
    #[must_use]
    pub fn new(config: &LossConfig, random: Random) -> Self {
        match config {
            LossConfig::Bernoulli { probability } => {
                let mut schedule = Schedule::new(probability);
                let chance = Chance::new(schedule.at(Time::ZERO), random);
                if schedule.changes() == Time::NEVER {
                    Self::Bernoulli(chance)
                } else {
                    Self::Scheduled(ScheduledLoss { schedule, chance })
                }
            }
            LossConfig::GilbertElliott(config) => {
                Self::GilbertElliott(GilbertElliott::new(config, random))
            }
            LossConfig::Bursts(config) => Self::Bursts(Bursts::new(config, random)),
            &LossConfig::BitErrors { probability } => {
                Self::BitErrors(BitErrors::new(probability, random))
            }
            LossConfig::Scripted { drops } => Self::Scripted(Scripted::new(drops)),
        }
    }

    /// Return whether a packet that arrives at `now` is lost. `now` never goes back.
    #[inline]
    pub fn lost(&mut self, now: Time, packet: Packet) -> bool {
        match self {
            Self::Bernoulli(chance) => chance.happens(),
            Self::Scheduled(loss) => loss.lost(now),
            Self::GilbertElliott(loss) => loss.lost(),
            Self::Bursts(loss) => loss.lost(now),
            Self::BitErrors(loss) => loss.lost(packet.bytes()),
            Self::Scripted(loss) => loss.lost(packet),
        }
    }

    /// Return how many of the next packets certainly pass, whatever they are and whenever they
    /// come.
    const fn certain(&self) -> u64 {
        match self {
            Self::Bernoulli(chance) => chance.certain(),
            Self::GilbertElliott(loss) => loss.certain(),
            Self::Scheduled(_) | Self::Bursts(_) | Self::BitErrors(_) | Self::Scripted(_) => 0,
        }
    }

    /// Pass `packets` of [`Self::certain`] at once.
    const fn pass(&mut self, packets: u64) {
        match self {
            Self::Bernoulli(chance) => chance.pass(packets),
            Self::GilbertElliott(loss) => loss.pass(packets),
            Self::Scheduled(_) | Self::Bursts(_) | Self::BitErrors(_) | Self::Scripted(_) => {}
        }
    }
}

/// The loss models that a packet meets, in order.
#[derive(Clone, Debug)]
pub struct LossModels {
    models: Vec<LossModel>,
    /// Number of the next packets that no model loses. All models have counted them already.
    skippable: u64,
}

impl LossModels {
    /// Models before their first packet.
    #[must_use]
    pub const fn new(models: Vec<LossModel>) -> Self {
        Self { models, skippable: 0 }
    }

    /// Return whether a packet that arrives at `now` is lost. `now` never goes back.
    #[inline]
    pub fn lost(&mut self, now: Time, packet: Packet) -> bool {
        if self.skippable > 0 {
            self.skippable -= 1;
            return false;
        }
        self.decide(now, packet)
    }

    /// Return whether the next `packets` certainly pass, whatever they are.
    #[inline]
    #[must_use]
    pub const fn can_skip(&self, packets: u64) -> bool {
        self.skippable >= packets
    }

    /// Pass packets that [`Self::can_skip`] allows.
    #[inline]
    pub const fn skip(&mut self, packets: u64) {
        self.skippable -= packets;
    }

    #[cold]
    fn decide(&mut self, now: Time, packet: Packet) -> bool {
        // `any` stops at the first loss, so later models never meet a packet that is already lost.
        let lost = self.models.iter_mut().any(|model| model.lost(now, packet));
        self.skippable = self.models.iter().map(LossModel::certain).min().unwrap_or(u64::MAX);
        self.models.iter_mut().for_each(|model| model.pass(self.skippable));
        lost
    }
}

/// Independent loss whose probability changes at given times.
#[derive(Clone, Debug)]
pub struct ScheduledLoss {
    schedule: Schedule<f64>,
    chance: Chance,
}

impl ScheduledLoss {
    #[inline]
    fn lost(&mut self, now: Time) -> bool {
        if now >= self.schedule.changes() {
            // The gap to the next loss has no memory, so it may be drawn again.
            self.chance.set(self.schedule.at(now));
        }
        self.chance.happens()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Direction;

    pub(super) fn packet(flow: u32, number: u64) -> Packet {
        Packet::new(flow, Direction::Forward, 1500, number)
    }

    pub(super) fn model(json: &str) -> LossModel {
        let config: LossConfig = serde_json::from_str(json).unwrap();
        config.check().unwrap();
        LossModel::new(&config, Random::new(5, 9))
    }

    #[test]
    fn a_scheduled_probability_holds_from_its_time_on() {
        let mut loss = model(r#"{"kind":"bernoulli","probability":[[0,0.0],[100,0.25],[200,0]]}"#);
        let mut rate =
            |now| (0..100_000).filter(|_| loss.lost(Time(now), packet(0, 0))).count() as f64 / 1e5;
        assert_eq!(rate(99), 0.0);
        // Four standard deviations of a binomial distribution: 4 sqrt(0.25 * 0.75 / 1e5) = 0.0055.
        assert!((rate(100) - 0.25).abs() < 0.0055);
        assert!((rate(199) - 0.25).abs() < 0.0055);
        assert_eq!(rate(200), 0.0);
    }

    #[test]
    fn everything_may_be_lost_for_a_while() {
        let mut loss = model(r#"{"kind":"bernoulli","probability":[[0,0],[100,1],[200,0]]}"#);
        let lost: Vec<_> = (90..210).filter(|&now| loss.lost(Time(now), packet(0, now))).collect();
        assert_eq!(lost, (100..200).collect::<Vec<_>>());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let fault = |json: &str| {
            let config: Result<LossConfig, _> = serde_json::from_str(json);
            config.map_err(|error| error.to_string()).map(|config| config.check())
        };
        let key = |json: &str| fault(json).unwrap().unwrap_err().0;
        assert_eq!(
            key(r#"{"kind":"bernoulli","probability":[[0,0.5],[9,1.1]]}"#),
            "probability.1.1"
        );
        assert_eq!(key(r#"{"kind":"bernoulli","probability":[[0,1.0],[9,1]]}"#), "probability");
        assert_eq!(key(r#"{"kind":"bit-errors","probability":1.0}"#), "probability");
        let bursts = |good, bad| {
            key(&format!(
                r#"{{"kind":"bursts","mean_good_ns":{good},"mean_bad_ns":{bad},"loss_good":0,"loss_bad":1.5}}"#
            ))
        };
        assert_eq!(bursts(999, 1000), "mean_good_ns");
        assert_eq!(bursts(1000, 0), "mean_bad_ns");
        assert_eq!(bursts(1000, 1000), "loss_bad");
        assert_eq!(key(r#"{"kind":"bernoulli","probability":[]}"#), "probability");
        let twice = r#"{"kind":"scripted","drops":[{"flow":1,"number":7,"times":2},{"flow":1,"number":7,"times":2}]}"#;
        assert_eq!(key(twice), "drops.1");
        assert!(fault(r#"{"kind":"bernoulli","probability":[[0,0.5]],"seed":1}"#).is_err());
        assert!(fault(r#"{"kind":"bernouli","probability":[[0,0.5]]}"#).is_err());
    }
}
