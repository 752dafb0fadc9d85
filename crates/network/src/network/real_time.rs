//! A network whose hosts send and receive as time goes by.

use super::{Network, Outcome};
use crate::units::Time;

impl Network {
    /// Time of the next event in real time.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Time {
        if self.outcomes.is_empty() { self.events.earliest().0 } else { Time::ZERO }
    }

    /// Return the next outcome in real time that happens by `now`; None if there is none. Packets
    /// that are sent at `now` must be sent after all these outcomes.
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
            if source < self.processes.len() {
                let arrival = self.queues[source].pop().expect("a packet of a link with an event");
                self.schedule_process(source);
                return Some(Outcome::Delivered(arrival));
            }
            let outcome = if source >= self.queues.len() {
                self.serve(time, self.scheduled[source - self.queues.len()])
            } else {
                match self.move_on(source) {
                    Outcome::Reaches(arrival, link) => self.enter_other(arrival, link),
                    outcome => outcome,
                }
            };
            if !matches!(outcome, Outcome::UnderWay | Outcome::Several) {
                return Some(outcome);
            }
        }
    }
}
