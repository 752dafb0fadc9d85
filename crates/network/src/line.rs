//! Arrivals that wait for their turn, in order of time.

use crate::fifo::Fifo;
use crate::graph::Arrival;
use crate::units::{Span, Time};

/// What waits for its turn on the way to a group or a link.
#[derive(Debug)]
pub struct Line {
    pub(crate) waiting: Fifo<Arrival>,
    /// How much later than an arrival its turn is.
    pub(crate) shift: Span,
    /// When the group's earliest timer is due.
    pub(crate) timer: Time,
}

impl Line {
    /// Nothing waits.
    pub fn new(shift: Span) -> Self {
        Self { waiting: Fifo::new(), shift, timer: Time::NEVER }
    }

    /// Adds an arrival; gives whether others come after it.
    #[inline]
    pub fn push(&mut self, arrival: Arrival) -> bool {
        if self.waiting.back().is_some_and(|last| last.time > arrival.time) {
            self.waiting.insert_by(arrival, |other| other.time > arrival.time);
            return true;
        }
        self.waiting.push(arrival);
        false
    }
}
