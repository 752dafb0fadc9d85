//! A network whose hosts send and receive as time goes by.

use super::{Network, Outcome};
use crate::units::Time;

impl Network {
    /// When something happens next in a network in real time.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Time {
        if self.outcomes.is_empty() { self.events.earliest().0 } else { Time::ZERO }
    }

    /// In real time: what happens next, if it happens until `now`. What is sent at `now`
    /// must be sent after all that.
    #[inline]
    pub fn until(&mut self, now: Time) -> Option<Outcome> {
        loop {
            if let Some(outcome) = self.outcomes.pop_front() {
                return Some(outcome);
            }
            let (time, source) = self.events.earliest();
            if time > now || time == Time::NEVER {
                return None;
            }
            if source < self.groups.len() {
                let arrival = self.queues[source].pop().expect("what its event is for");
                self.plan_group(source);
                return Some(Outcome::Delivered(arrival));
            }
            match self.move_on(time, source) {
                Outcome::UnderWay | Outcome::Several => {}
                outcome => return Some(outcome),
            }
        }
    }
}
