//! Values that change at given times.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{Check, require};
use crate::units::Time;

/// Values and the times from which they hold: `[[at_ns, value], ...]`, the first at 0.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Steps<T>(pub Vec<(Time, T)>);

impl<T: Copy> Steps<T> {
    /// One value for all times.
    #[must_use]
    pub fn constant(value: T) -> Self {
        Self(vec![(Time::ZERO, value)])
    }

    /// The values without their times.
    pub fn values(&self) -> impl Iterator<Item = T> {
        self.0.iter().map(|&(_, value)| value)
    }

    /// Check that the first value holds from 0 and that the times rise.
    ///
    /// # Errors
    /// The key of the first step at fault.
    pub fn check(&self, key: &str) -> Check {
        let first = self.0.first().map(|step| step.0);
        require(first == Some(Time::ZERO), key, || "its first step must be at 0".into())?;
        for (index, pair) in self.0.windows(2).enumerate() {
            let key = format!("{key}.{}", index + 1);
            require(pair[0].0 < pair[1].0, &key, || {
                format!("at {} ns, not after the step before it", pair[1].0.0)
            })?;
        }
        Ok(())
    }
}

/// The value of [`Steps`] at a time that never goes back.
#[derive(Clone, Debug)]
pub struct Schedule<T> {
    current: T,
    changes: Time,
    /// Future steps, the last first.
    ahead: Vec<(Time, T)>,
}

impl<T: Copy> Schedule<T> {
    /// A schedule at time zero.
    ///
    /// # Panics
    /// If there is no step.
    #[must_use]
    pub fn new(steps: &Steps<T>) -> Self {
        let mut ahead: Vec<_> = steps.0.iter().rev().copied().collect();
        let (_, current) = ahead.pop().expect("at least one step");
        let changes = ahead.last().map_or(Time::NEVER, |step| step.0);
        Self { current, changes, ahead }
    }

    /// The value at `now`.
    #[inline]
    pub fn at(&mut self, now: Time) -> T {
        if now >= self.changes {
            self.advance(now);
        }
        self.current
    }

    /// Time of the next change; [`Time::NEVER`] if there is none.
    #[inline]
    #[must_use]
    pub const fn changes(&self) -> Time {
        self.changes
    }

    #[cold]
    fn advance(&mut self, now: Time) {
        // Several steps may have passed since the last look.
        while let Some(&(from, value)) = self.ahead.last() {
            if from > now {
                break;
            }
            self.current = value;
            self.ahead.pop();
        }
        self.changes = self.ahead.last().map_or(Time::NEVER, |step| step.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_holds_until_the_next_step() {
        let steps = Steps(vec![(Time(0), 'a'), (Time(10), 'b'), (Time(20), 'c'), (Time(30), 'd')]);
        let mut schedule = Schedule::new(&steps);
        let seen: String =
            [0, 9, 10, 19, 30, 99].map(|now| schedule.at(Time(now))).iter().collect();
        assert_eq!(seen, "aabbdd");
        assert_eq!(schedule.changes(), Time::NEVER);
    }

    #[test]
    fn steps_out_of_order_are_refused() {
        let key = |times: &[u64]| {
            let steps = Steps(times.iter().map(|&time| (Time(time), 0u8)).collect());
            steps.check("delay").err().map(|(key, _)| key)
        };
        assert_eq!(key(&[0, 5, 6]), None);
        assert_eq!(key(&[]).as_deref(), Some("delay"));
        assert_eq!(key(&[1]).as_deref(), Some("delay"));
        assert_eq!(key(&[0, 5, 5]).as_deref(), Some("delay.2"));
    }
}
