//! Random loss: which packets a link loses for no want of room.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::chance::Chance;
use crate::check::{Check, probability, require};
use crate::packet::{Direction, Packet};
use crate::random::Random;
use crate::schedule::{Schedule, Steps};
use crate::units::Time;

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
    /// Named packets are lost.
    Scripted {
        /// The packets, and the number of drops of each.
        drops: Vec<ScriptedDrop>,
    },
}

/// Probabilities of the Gilbert-Elliott model, each for one packet.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottConfig {
    /// Probability of a change from good to bad after a packet.
    pub to_bad: f64,
    /// Probability of a change from bad to good after a packet.
    pub to_good: f64,
    /// Probability of a loss in the good state.
    pub loss_good: f64,
    /// Probability of a loss in the bad state.
    pub loss_bad: f64,
}

/// A data packet that is to be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedDrop {
    /// Index of the flow.
    pub flow: u32,
    /// Number of the segment.
    pub number: u64,
    /// Number of its passages that fail, the first ones.
    pub times: u32,
}

impl LossConfig {
    /// Checks what the types do not ensure.
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
            Self::Scripted { drops } => check_scripted(drops),
        }
    }
}

fn check_bernoulli(steps: &Steps<f64>) -> Check {
    steps.check("probability")?;
    for (index, value) in steps.values().enumerate() {
        let key = format!("probability.{index}.1");
        require((0.0..1.0).contains(&value), &key, || {
            format!("{value}, but it must be in 0..1, 1 excluded")
        })?;
    }
    Ok(())
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

/// A loss model at work.
#[derive(Clone, Debug)]
pub enum LossModel {
    /// One probability for ever.
    Bernoulli(Chance),
    /// A probability that changes.
    Scheduled(ScheduledLoss),
    /// Loss in bursts.
    GilbertElliott(GilbertElliott),
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
            LossConfig::Scripted { drops } => Self::Scripted(Scripted::new(drops)),
        }
    }

    /// Whether a packet that arrives at `now`, which never goes back, is lost.
    #[inline]
    pub fn lost(&mut self, now: Time, packet: Packet) -> bool {
        match self {
            Self::Bernoulli(chance) => chance.happens(),
            Self::Scheduled(loss) => loss.lost(now),
            Self::GilbertElliott(loss) => loss.lost(),
            Self::Scripted(loss) => loss.lost(packet),
        }
    }

    /// How many of the next packets certainly pass, whichever they are and whenever they come.
    const fn certain(&self) -> u64 {
        match self {
            Self::Bernoulli(chance) => chance.certain(),
            Self::GilbertElliott(loss) => loss.certain(),
            Self::Scheduled(_) | Self::Scripted(_) => 0,
        }
    }

    /// Passes so many of [`Self::certain`] at once.
    const fn pass(&mut self, packets: u64) {
        match self {
            Self::Bernoulli(chance) => chance.pass(packets),
            Self::GilbertElliott(loss) => loss.pass(packets),
            Self::Scheduled(_) | Self::Scripted(_) => {}
        }
    }
}

/// The loss models that a packet meets, one after the other.
#[derive(Clone, Debug)]
pub struct LossModels {
    models: Vec<LossModel>,
    /// The next packets, which no model loses; all have counted them already.
    spared: u64,
}

impl LossModels {
    /// All before their first packet.
    #[must_use]
    pub const fn new(models: Vec<LossModel>) -> Self {
        Self { models, spared: 0 }
    }

    /// Whether a packet that arrives at `now`, which never goes back, is lost.
    #[inline]
    pub fn lost(&mut self, now: Time, packet: Packet) -> bool {
        if self.spared > 0 {
            self.spared -= 1;
            return false;
        }
        self.decide(now, packet)
    }

    /// Whether it is certain already that the next `packets` pass, whichever they are.
    #[inline]
    #[must_use]
    pub const fn spares(&self, packets: u64) -> bool {
        self.spared >= packets
    }

    /// Passes packets which [`Self::spares`].
    #[inline]
    pub const fn spare(&mut self, packets: u64) {
        self.spared -= packets;
    }

    #[cold]
    fn decide(&mut self, now: Time, packet: Packet) -> bool {
        let lost = self.models.iter_mut().any(|model| model.lost(now, packet));
        self.spared = self.models.iter().map(LossModel::certain).min().unwrap_or(u64::MAX);
        self.models.iter_mut().for_each(|model| model.pass(self.spared));
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
            // The gap to the next loss has no memory, so it may be drawn anew.
            self.chance.set(self.schedule.at(now));
        }
        self.chance.happens()
    }
}

/// The Gilbert-Elliott model; it begins in the good state. A packet meets the state
/// that it finds, and the state may turn after it.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    bad: bool,
    /// Turning away from the good and from the bad state.
    turn: [Chance; 2],
    /// Loss in the good and in the bad state.
    loss: [Chance; 2],
}

impl GilbertElliott {
    fn new(config: &GilbertElliottConfig, mut random: Random) -> Self {
        let mut chance = |probability| Chance::new(probability, random.split());
        let turn = [chance(config.to_bad), chance(config.to_good)];
        let loss = [chance(config.loss_good), chance(config.loss_bad)];
        Self { bad: false, turn, loss }
    }

    #[inline]
    fn lost(&mut self) -> bool {
        let state = usize::from(self.bad);
        self.bad ^= self.turn[state].happens();
        self.loss[state].happens()
    }

    const fn certain(&self) -> u64 {
        let state = self.bad as usize;
        let (stays, passes) = (self.turn[state].certain(), self.loss[state].certain());
        if stays < passes { stays } else { passes }
    }

    const fn pass(&mut self, packets: u64) {
        let state = self.bad as usize;
        self.turn[state].pass(packets);
        self.loss[state].pass(packets);
    }
}

/// Loss of named data packets.
#[derive(Clone, Debug)]
pub struct Scripted {
    /// Ordered by flow and number.
    drops: Vec<ScriptedDrop>,
}

impl Scripted {
    fn new(drops: &[ScriptedDrop]) -> Self {
        let mut drops = drops.to_vec();
        drops.sort_unstable_by_key(|drop| (drop.flow, drop.number));
        Self { drops }
    }

    fn lost(&mut self, packet: Packet) -> bool {
        if packet.direction() == Direction::Reverse {
            return false;
        }
        let key = (packet.flow(), packet.number());
        let found = self.drops.binary_search_by_key(&key, |drop| (drop.flow, drop.number));
        let Ok(index) = found else { return false };
        let times = &mut self.drops[index].times;
        let lost = *times > 0;
        *times -= u32::from(lost);
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(flow: u32, number: u64) -> Packet {
        Packet::new(flow, Direction::Forward, 1500, number)
    }

    fn model(json: &str) -> LossModel {
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
        // Four standard deviations of a binomial: 4 sqrt(0.25 * 0.75 / 1e5) = 0.0055.
        assert!((rate(100) - 0.25).abs() < 0.0055);
        assert!((rate(199) - 0.25).abs() < 0.0055);
        assert_eq!(rate(200), 0.0);
    }

    #[test]
    fn gilbert_elliott_has_its_stationary_loss_rate_and_burst_length() {
        let mut loss = model(
            r#"{"kind":"gilbert-elliott","to_bad":0.01,"to_good":0.2,"loss_good":0.0,"loss_bad":1.0}"#,
        );
        let packets = 2_000_000;
        let lost: Vec<_> =
            (0..packets).map(|number| loss.lost(Time(number), packet(0, number))).collect();
        let losses = lost.iter().filter(|&&lost| lost).count() as f64;
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // Share of the bad state: to_bad / (to_bad + to_good) = 1/21. Bursts are the stays
        // in it, 1 / to_good = 5 packets in the mean, and independent: 19,000 of them with
        // a deviation of 4.5 packets give 4 sigma of 0.13, a tenth of a percent in rate.
        assert!((losses / packets as f64 - 1.0 / 21.0).abs() < 0.0018, "{losses}");
        assert!((losses / bursts - 5.0).abs() < 0.13, "{}", losses / bursts);
    }

    #[test]
    fn gilbert_elliott_loses_by_the_state() {
        let mut loss = model(
            r#"{"kind":"gilbert-elliott","to_bad":0.05,"to_good":0.05,"loss_good":0.01,"loss_bad":0.3}"#,
        );
        let packets = 4_000_000;
        let lost = (0..packets).filter(|&n| loss.lost(Time(n), packet(0, n))).count() as f64;
        // Half of the time in each state: (0.01 + 0.3) / 2. A stay lasts 20 packets, so
        // that the rate's variance is some 4 times the binomial's: 4 sigma = 0.0015.
        assert!((lost / packets as f64 - 0.155).abs() < 0.0015, "{lost}");
    }

    #[test]
    fn a_script_drops_the_first_passages_of_a_segment() {
        let mut loss = model(
            r#"{"kind":"scripted","drops":[{"flow":1,"number":7,"times":2},{"flow":0,"number":9,"times":1}]}"#,
        );
        let mut lost = |packet| loss.lost(Time::ZERO, packet);
        assert!(!lost(Packet::new(1, Direction::Reverse, 52, 7)));
        assert!(!lost(packet(0, 7)) && !lost(packet(1, 6)));
        assert!(lost(packet(1, 7)) && lost(packet(1, 7)) && !lost(packet(1, 7)));
        assert!(lost(packet(0, 9)) && !lost(packet(0, 9)));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let fault = |json: &str| {
            let config: Result<LossConfig, _> = serde_json::from_str(json);
            config.map_err(|error| error.to_string()).map(|config| config.check())
        };
        let key = |json: &str| fault(json).unwrap().unwrap_err().0;
        assert_eq!(
            key(r#"{"kind":"bernoulli","probability":[[0,0.5],[9,1.0]]}"#),
            "probability.1.1"
        );
        assert_eq!(key(r#"{"kind":"bernoulli","probability":[]}"#), "probability");
        let twice = r#"{"kind":"scripted","drops":[{"flow":1,"number":7,"times":2},{"flow":1,"number":7,"times":2}]}"#;
        assert_eq!(key(twice), "drops.1");
        assert!(fault(r#"{"kind":"bernoulli","probability":[[0,0.5]],"seed":1}"#).is_err());
        assert!(fault(r#"{"kind":"bernouli","probability":[[0,0.5]]}"#).is_err());
    }
}
