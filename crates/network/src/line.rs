//! Arrivals that wait for their turn, in order of time.

use crate::fifo::Fifo;
use crate::graph::Arrival;
use crate::packet::Packet;
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
    pub fn push(&mut self, time: Time, packet: Packet) -> bool {
        let overtakes = self.waiting.back().is_some_and(|last| last.time > time);
        if overtakes {
            self.insert(time, packet);
        } else {
            self.waiting.push(Arrival { time, packet });
        }
        overtakes
    }

    /// Time and packet come in registers: an arrival whose address is taken here would be
    /// written to memory and read again before each push.
    #[cold]
    #[inline(never)]
    fn insert(&mut self, time: Time, packet: Packet) {
        self.waiting.insert_by(Arrival { time, packet }, |other| other.time > time);
    }
}
