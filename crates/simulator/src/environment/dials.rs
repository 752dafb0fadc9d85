//! Actions: what each of their numbers sets, and which numbers are valid.

use dumbbell_tcp::Sender;
use serde::Deserialize;

/// Effect of one number of an action.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dial {
    /// The quantity that it sets.
    pub sets: Sets,
    /// True if the number multiplies the quantity, false if it replaces it.
    pub is_factor: bool,
    /// True if the number is a position between `low` (-1) and `high` (1) on a logarithmic scale.
    pub is_scaled: bool,
    /// Smallest number: segments, bytes of payload per second, or a factor.
    pub low: f64,
    /// Largest number.
    pub high: f64,
    /// Smallest value of the quantity: segments, or bytes of payload per second.
    pub least: f64,
    /// Largest value of the quantity.
    pub most: f64,
}

/// Quantities that actions set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sets {
    /// The congestion window, segments.
    Window,
    /// The pacing rate, bytes of payload per second.
    Rate,
}

/// A number outside the range of its dial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    /// Index of the dial.
    pub dial: usize,
    /// The number.
    pub value: f64,
}

/// Window and rate of a learner, before rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controls {
    window_segs: f64,
    /// None: it does not pace.
    rate_bytes_per_s: Option<f64>,
}

/// Tolerance at the bounds of a dial, as part of its range: numbers were rounded to 32 bits.
const ROUNDING: f64 = 1e-6;
/// The window of a learner that sets only its rate.
const WIDE_SEGS: f64 = (1 << 20) as f64;

impl Dial {
    /// The value that a number means; none: it is not valid.
    fn read(&self, value: f64) -> Option<f64> {
        let (low, high) = if self.is_scaled { (-1.0, 1.0) } else { (self.low, self.high) };
        let slack = ROUNDING * (high - low).max(high.abs());
        // NaN is in no range.
        let is_valid = (low - slack..=high + slack).contains(&value);
        let value = value.clamp(low, high);
        let share = (value + 1.0) / 2.0;
        is_valid.then(|| {
            // libm's powers are the same on every machine.
            if self.is_scaled { self.low * libm::pow(self.high / self.low, share) } else { value }
        })
    }
}

/// Refuse an action with a number that is not valid.
pub fn check(dials: &[Dial], action: &[f64]) -> Result<(), Refused> {
    let mut numbers = dials.iter().zip(action).enumerate();
    match numbers.find(|(_, (dial, value))| dial.read(**value).is_none()) {
        None => Ok(()),
        Some((dial, (_, &value))) => Err(Refused { dial, value }),
    }
}

impl Controls {
    /// Values at the begin of a connection: its initial window, and that window per round trip.
    pub fn of(sender: Option<&Sender>, dials: &[Dial]) -> Self {
        let sets = |setting| dials.iter().find(|dial| dial.sets == setting);
        let (cwnd_segs, mss_bytes, srtt_us) = sender.map_or((10, 1448, 100_000), |sender| {
            let conn = sender.conn();
            (conn.cwnd_segs, conn.mss_bytes, conn.srtt_us)
        });
        let window_segs = f64::from(cwnd_segs);
        let rate = window_segs * f64::from(mss_bytes) * 1e6 / f64::from(srtt_us.max(1));
        let rate = sets(Sets::Rate).map(|dial| rate.clamp(dial.least, dial.most));
        let window = match (sets(Sets::Window), rate) {
            (None, Some(_)) => WIDE_SEGS,
            (Some(dial), _) => window_segs.clamp(dial.least, dial.most),
            (None, None) => window_segs,
        };
        Self { window_segs: window, rate_bytes_per_s: rate }
    }

    /// The values after an action.
    pub fn turned(mut self, dials: &[Dial], action: &[f64]) -> Result<Self, Refused> {
        for (index, (dial, &value)) in dials.iter().zip(action).enumerate() {
            let read = dial.read(value).ok_or(Refused { dial: index, value })?;
            let turn = |controls: f64| {
                let set = if dial.is_factor { controls * read } else { read };
                set.clamp(dial.least, dial.most)
            };
            match dial.sets {
                Sets::Window => self.window_segs = turn(self.window_segs),
                Sets::Rate => self.rate_bytes_per_s = self.rate_bytes_per_s.map(turn),
            }
        }
        Ok(self)
    }

    /// The window in segments, and the rate in bytes per second (0: not paced).
    pub fn setting(&self) -> (u32, u64) {
        // At least 1, because a rate of 0 means that the flow is not paced.
        let rate = self.rate_bytes_per_s.map_or(0, |rate| rate.round().max(1.0) as u64);
        (self.window_segs.round().max(1.0) as u32, rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Dial = Dial {
        sets: Sets::Window,
        is_factor: true,
        is_scaled: false,
        low: 0.5,
        high: 2.0,
        least: 1.0,
        most: 100.0,
    };
    const RATE: Dial = Dial {
        sets: Sets::Rate,
        is_factor: false,
        is_scaled: true,
        low: 1e3,
        high: 1e5,
        least: 1e3,
        most: 1e5,
    };

    #[test]
    fn factors_add_up_although_windows_are_whole() {
        let (mut controls, mut window) = (Controls::of(None, &[WINDOW]), 10.0_f64);
        for _ in 0..20 {
            controls = controls.turned(&[WINDOW], &[1.02]).unwrap();
            window *= 1.02;
        }
        assert_eq!(controls.setting(), (window.round() as u32, 0));
        assert_eq!(controls.setting().0, 15);
        for _ in 0..20 {
            controls = controls.turned(&[WINDOW], &[2.0]).unwrap();
        }
        assert_eq!(controls.setting().0, 100);
        assert_eq!(controls.turned(&[WINDOW], &[0.5]).unwrap().setting().0, 50);
    }

    #[test]
    fn a_scaled_number_is_a_place_on_a_logarithmic_scale() {
        let controls = Controls::of(None, &[RATE]);
        assert_eq!(controls.setting().0, 1 << 20);
        for (value, rate) in [(-1.0, 1_000), (0.0, 10_000), (1.0, 100_000)] {
            assert_eq!(controls.turned(&[RATE], &[value]).unwrap().setting().1, rate);
        }
    }

    #[test]
    fn what_is_no_number_or_out_of_range_is_refused() {
        let controls = Controls::of(None, &[WINDOW, RATE]);
        for (dial, action) in [
            (0, [f64::NAN, 0.0]),
            (0, [2.1, 0.0]),
            (0, [-1.0, 0.0]),
            (1, [1.0, f64::INFINITY]),
            (1, [1.0, -1.1]),
        ] {
            let refused = controls.turned(&[WINDOW, RATE], &action).unwrap_err();
            assert_eq!((refused.dial, refused.value.to_bits()), (dial, action[dial].to_bits()));
        }
        // 0.1 in 32 bits is a little more.
        let low = Dial { low: 0.1, ..WINDOW };
        assert!(controls.turned(&[Dial { high: 0.1, ..low }], &[f64::from(0.1f32)]).is_ok());
    }
}
