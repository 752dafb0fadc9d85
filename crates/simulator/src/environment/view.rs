//! Observations for a learner: selected measurements of several steps, in absolute units or in
//! units of the path.

use std::collections::VecDeque;

use super::observing::{FIELDS, Observation};
use super::terms::Terms;

/// Largest value of an observation in units of the path.
pub const SCALED_MAX: f64 = 100.0;
/// Unit of the path's own round-trip time.
const PATH_RTT_MS: f64 = 100.0;

/// The latest observations of one learner.
#[derive(Debug)]
pub struct View {
    /// Indices of [`FIELDS`].
    fields: Vec<usize>,
    scaled: bool,
    /// The oldest first.
    values: VecDeque<f32>,
    /// The highest delivery rate of the episode so far.
    best_mbit_per_s: f64,
}

impl View {
    /// A view of zeros.
    pub fn new(terms: &Terms) -> Self {
        let place = |name: &String| FIELDS.iter().position(|field| field.name == name);
        let fields: Vec<_> = terms.observes.iter().filter_map(place).collect();
        let values = VecDeque::from(vec![0.0; fields.len() * terms.history]);
        Self { fields, scaled: terms.scaled, values, best_mbit_per_s: 0.0 }
    }

    /// Add the measurements of a step, and forget the oldest step.
    pub fn push(&mut self, measured: &Observation) {
        let shown = if self.scaled { self.in_units_of_path(measured) } else { *measured };
        self.values.drain(..self.fields.len());
        self.values.extend(self.fields.iter().map(|&field| shown[field] as f32));
    }

    /// The values of all steps, the oldest first.
    pub fn values(&self) -> impl Iterator<Item = f32> {
        self.values.iter().copied()
    }

    /// Convert measurements: rates to units of the best delivery rate so far, times to units of the
    /// smallest RTT, and amounts to units of the product of both.
    fn in_units_of_path(&mut self, measured: &Observation) -> Observation {
        let [interval, bytes, sends, rate, loss, marks, .., others] = *measured;
        let [.., least, mean, latest, path, in_flight, cwnd, pacing, _] = *measured;
        self.best_mbit_per_s = self.best_mbit_per_s.max(rate);
        let best = self.best_mbit_per_s;
        let bdp_bytes = best * path * 125.0;
        // A fixed size, as a step without deliveries does not show the size of a segment.
        let bdp_segs = bdp_bytes / SEGMENT_BYTES;
        [
            of(interval, path),
            of(bytes, bdp_bytes),
            of(sends, best),
            of(rate, best),
            loss,
            marks,
            of(least, path),
            of(mean, path),
            of(latest, path),
            of(path, PATH_RTT_MS),
            of(in_flight, bdp_segs),
            of(cwnd, bdp_segs),
            of(pacing, best),
            of(others, best),
        ]
    }
}

/// Payload of a typical segment in bytes, the unit of the bandwidth-delay product.
const SEGMENT_BYTES: f64 = 1448.0;

/// A value in a unit; 0 while the unit is unknown.
fn of(value: f64, unit: f64) -> f64 {
    if unit > 0.0 { (value / unit).min(SCALED_MAX) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Step;
    use std::num::NonZeroU64;

    fn terms(scaled: bool) -> Terms {
        let names = ["delivery_mbit_per_s", "rtt_mean_ms", "cwnd_segs"];
        Terms {
            learners: vec![0],
            step: Step::IntervalNs(NonZeroU64::MIN),
            dials: Vec::new(),
            observes: names.map(String::from).to_vec(),
            history: 2,
            scaled,
        }
    }

    fn measured(rate: f64, rtt: f64, cwnd: f64) -> Observation {
        let mut measured = [0.0; FIELDS.len()];
        (measured[3], measured[7], measured[9], measured[11]) = (rate, rtt, 20.0, cwnd);
        measured
    }

    #[test]
    fn it_holds_the_last_steps_with_the_oldest_first() {
        let mut view = View::new(&terms(false));
        view.push(&measured(1.0, 30.0, 10.0));
        assert_eq!(view.values().collect::<Vec<_>>(), [0.0, 0.0, 0.0, 1.0, 30.0, 10.0]);
        view.push(&measured(2.0, 40.0, 20.0));
        view.push(&measured(3.0, 50.0, 30.0));
        assert_eq!(view.values().collect::<Vec<_>>(), [2.0, 40.0, 20.0, 3.0, 50.0, 30.0]);
    }

    #[test]
    fn scaled_numbers_are_those_of_the_path() {
        let mut view = View::new(&terms(true));
        // 11.584 Mbit/s in 20 ms are 20 segments.
        view.push(&measured(11.584, 30.0, 10.0));
        view.push(&measured(5.792, 40.0, 1e9));
        assert_eq!(view.values().collect::<Vec<_>>(), [1.0, 1.5, 0.5, 0.5, 2.0, 100.0]);
    }
}
