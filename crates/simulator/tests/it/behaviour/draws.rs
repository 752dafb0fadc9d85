//! Scenarios drawn by number, which combine features that the lists have singly.

use dumbbell_algorithm::registry;
use dumbbell_network::Random;
use dumbbell_tcp::PROFILES;
use serde_json::{Value, json};

use super::links::{Feature, features};
use crate::common::{MILLISECOND, flow, resolve, scenario};

const DRAWS: u64 = 252;

/// The features from which a draw selects. One more feature would change every draw, so new
/// features are only in later draws.
fn features_of(number: u64) -> Vec<Feature> {
    let mut features = features();
    if number < 240 {
        features.retain(|(name, _)| !name.starts_with("CAKE"));
    }
    features
}

pub fn cases() -> Vec<(String, Value)> {
    let draw = |number| Draw::new(number).scenario(&features_of(number));
    (0..DRAWS).map(|number| (format!("draw/{number:03}"), draw(number))).collect()
}

struct Draw(Random);

impl Draw {
    fn new(number: u64) -> Self {
        Self(Random::new(0x00d0_ab1e, number))
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.0.up_to(all.len() as u64 - 1) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.0.up_to(99) < percent
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.up_to(high - low)
    }

    /// A number between powers of two, which are equally likely.
    fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let (from, to) = (low.ilog2(), high.ilog2());
        let power = self.between(from.into(), to.into());
        self.between(1 << power, (2 << power) - 1).clamp(low, high)
    }

    fn scenario(&mut self, features: &[Feature]) -> Value {
        let flows = (0..self.between(1, 5)).map(|_| self.flow()).collect();
        let rate = self.magnitude(500_000, 60_000_000);
        let queue = self.magnitude(2, 400) as u32;
        let mut short = scenario(rate, queue, 5, flows);
        short["seed"] = json!(self.0.next_u64());
        short["profile"] = json!(self.one_of(&PROFILES).name);
        short["network"]["reverse_rate_bps"] = json!(rate / self.one_of(&[1, 1, 4, 30]));
        short["network"]["delay_ns"] = json!(self.between(0, 4) * 500_000);
        if self.chance(30) {
            short["network"]["edge_rate_bps"] = json!(rate * self.between(1, 8));
            short["network"]["edge_jitter_ns"] = json!(self.between(0, 300_000));
        }
        for place in ["sender", "bottleneck", "receiver", "reverse"] {
            let lossy = self.chance(15);
            short["network"]["loss"][place] =
                json!(if lossy { self.between(1, 200) as f64 / 10_000.0 } else { 0.0 });
        }
        short["record"] = json!({
            "interval_ns": self.one_of(&[None, Some(10 * MILLISECOND), Some(100 * MILLISECOND)]),
            "events": dumbbell_record::EventKind::ALL,
            "algorithm_state": self.chance(50), "capture": self.chance(5),
        });
        let mut whole = resolve(&short);
        for link in 0..2 {
            for _ in 0..*self.one_of(&[0, 0, 1, 1, 2]) {
                self.furnish(&mut whole["links"][link], features);
            }
        }
        whole
    }

    fn furnish(&mut self, link: &mut Value, features: &[Feature]) {
        let (_, feature) = self.one_of(features);
        for (key, value) in feature.as_object().expect("keys of a link") {
            link[key] = value.clone();
        }
    }

    fn flow(&mut self) -> Value {
        let algorithm = self.one_of(registry());
        let preset = (self.chance(30) && !algorithm.presets.is_empty())
            .then(|| self.one_of(&algorithm.presets).name);
        let mut flow = flow(algorithm.name, preset, self.magnitude(4, 250) * MILLISECOND);
        flow["start_ns"] = json!(self.one_of(&[0, 0, 1, 2_000, 2_500]) * MILLISECOND);
        if self.chance(15) {
            flow["stop_ns"] = json!(self.between(2_600, 4_800) * MILLISECOND);
        }
        flow["packet_bytes"] = json!(self.one_of(&[1500, 1500, 1500, 576, 1280, 9000]));
        flow["turned"] = json!(self.chance(15));
        if self.chance(20) {
            flow["switches"] = json!({"ecn": "classic"});
        }
        flow["demand"] = match self.between(0, 9) {
            0 => json!({"transfer": self.magnitude(1, 2_000_000)}),
            1 => json!({"requests": {"bytes": self.magnitude(1, 300_000),
                                     "pause_ns": self.between(0, 300) * MILLISECOND}}),
            2 => json!({"on_off": {"on_ns": self.between(1, 900) * MILLISECOND,
                                   "off_ns": self.between(1, 900) * MILLISECOND,
                                   "random": self.chance(50)}}),
            _ => json!("endless"),
        };
        if self.chance(10) {
            flow["transport"] = json!({"udp": {
                "rate_bps": self.magnitude(100_000, 20_000_000), "on_off": null,
            }});
        }
        flow
    }
}
