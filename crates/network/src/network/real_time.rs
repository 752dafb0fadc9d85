//! A network whose hosts send, and hear, as time goes by.

use super::{Fate, Network};
use crate::units::Time;

impl Network {
    /// When something happens next in a network in real time.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Time {
        if self.news.is_empty() { self.events.earliest().0 } else { Time::ZERO }
    }

    /// In real time: what happens next, if it happens until `now`. What is sent at `now`
    /// must be sent after all that.
    #[inline]
    pub fn until(&mut self, now: Time) -> Option<Fate> {
        loop {
            if let Some(fate) = self.news.pop_front() {
                return Some(fate);
            }
            let (time, source) = self.events.earliest();
            if time > now || time == Time::NEVER {
                return None;
            }
            if source < self.groups.len() {
                let arrival = self.queues[source].pop().expect("what its turn is for");
                self.plan_group(source);
                return Some(Fate::Delivered(arrival));
            }
            match self.move_on(time, source) {
                Fate::UnderWay | Fate::News => {}
                fate => return Some(fate),
            }
        }
    }
}
