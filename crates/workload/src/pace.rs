//! An application that produces data at a rate.

use dumbbell_network::{Check, Stepped, Steps, Time};

/// Times at which an application hands over full segments. The first comes at once, and each other
/// as soon as the application has produced the payload before it.
#[derive(Debug)]
pub struct Pace {
    source: Stepped,
    segment_bytes: u32,
    due: Time,
}

impl Pace {
    /// An application that begins at `start`.
    #[must_use]
    pub fn new(rate_bps: &Steps<u64>, segment_bytes: u32, start: Time) -> Self {
        let source = Stepped::new(rate_bps);
        let due = source.begins(start);
        Self { source, segment_bytes, due }
    }

    /// Time of the next segment.
    #[must_use]
    pub const fn due(&self) -> Time {
        self.due
    }

    /// Take the segments that are due until `now`; return their number.
    pub fn take(&mut self, now: Time) -> u64 {
        let mut segments = 0;
        while self.due <= now {
            self.source.send(self.due, self.segment_bytes);
            self.due = self.source.begins(self.due);
            segments += 1;
        }
        segments
    }
}

/// Check the rates of an application with segments of `segment_bytes`.
pub(crate) fn check_pace(rate_bps: &Steps<u64>, segment_bytes: u32) -> Check {
    rate_bps.check("rate_bps")?;
    let fastest = rate_bps.values().max().unwrap_or(0);
    let segment_bit_ns = u64::from(segment_bytes) * 8 * 1_000_000_000;
    let problem = match fastest {
        0 => "never above 0".into(),
        fastest if fastest > segment_bit_ns => {
            format!("{fastest}, but a segment must take a nanosecond: at most {segment_bit_ns}")
        }
        _ => return Ok(()),
    };
    Err(("rate_bps".into(), problem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    fn steps(rates: &[(u64, u64)]) -> Steps<u64> {
        Steps(rates.iter().map(|&(at, rate)| (Time(at), rate)).collect())
    }

    #[test]
    fn the_rate_is_kept_exactly() {
        // 7 Mbit/s and 1,250 bytes: 1,428,571.43 ns between segments.
        let mut pace = Pace::new(&steps(&[(0, 7_000_000)]), 1_250, Time(5));
        assert_eq!(pace.due(), Time(5));
        assert_eq!(pace.take(Time(SECOND)), 700);
        assert_eq!(pace.take(Time(10 * SECOND + 4)), 6_300);
        assert_eq!(pace.due(), Time(10 * SECOND + 5));
    }

    #[test]
    fn nothing_comes_about_in_silence() {
        let rates = steps(&[(0, 0), (2 * SECOND, 10_000), (4 * SECOND, 0), (9 * SECOND, 10_000)]);
        let mut pace = Pace::new(&rates, 1_250, Time(SECOND));
        assert_eq!((pace.due(), pace.take(Time(3 * SECOND))), (Time(2 * SECOND), 2));
        assert_eq!((pace.due(), pace.take(Time(9 * SECOND))), (Time(9 * SECOND), 1));
    }

    proptest! {
        /// At any delay and any interval between looks.
        #[test]
        fn what_was_handed_over_is_the_integral_of_the_rate(
            rates in prop::collection::vec((1u64..3_000, 0u64..100_000_000), 1..6),
            looks in prop::collection::vec(1u64..500, 1..40),
        ) {
            let mut at = 0;
            let rates: Vec<_> = rates.iter().map(|&(lasts_ms, rate)| {
                let step = (at, rate);
                at += lasts_ms * 1_000_000;
                step
            }).collect();
            let mut pace = Pace::new(&steps(&rates), 1_250, Time::ZERO);
            let (mut now, mut handed) = (0, 0.0);
            for look in looks {
                now += look * 1_000_000;
                let ends = rates.iter().skip(1).map(|step| step.0).chain([u64::MAX]);
                let bit_ns: u128 = rates.iter().zip(ends).map(|(&(from, rate), to)| {
                    u128::from(now.min(to).saturating_sub(from)) * u128::from(rate)
                }).sum();
                let segments = bit_ns as f64 / (1_250.0 * 8e9);
                handed += pace.take(Time(now)) as f64;
                // The first segment comes at once, as soon as the rate is above 0.
                prop_assert!(handed >= segments.floor() && handed <= segments.floor() + 1.0,
                    "{handed} of {segments}");
            }
        }
    }

    #[test]
    fn rates_that_cannot_be_kept_are_refused() {
        let problem = |rates: &[(u64, u64)]| check_pace(&steps(rates), 1_250).unwrap_err().1;
        assert_eq!(problem(&[(0, 0)]), "never above 0");
        assert!(problem(&[(0, 10_000_000_000_001)]).contains("at most 10000000000000"));
        assert!(check_pace(&steps(&[(0, 10_000_000_000_000)]), 1_250).is_ok());
        assert!(check_pace(&steps(&[(1, 5)]), 1_250).is_err());
    }
}
