//! Packets that wait for their turn, in order of time.

use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::route::Arrival;
use crate::units::Time;

/// Arrivals from all sources of a link, or at the hosts of a group, merged in order of time.
#[derive(Debug)]
pub struct MergeQueue {
    arrivals: Fifo<Arrival>,
    /// When the next packet arrives; [`Time::NEVER`] if none waits.
    next: Time,
    /// When the last of all that ever waited arrives.
    last: Time,
}

impl MergeQueue {
    /// Nothing waits.
    pub fn new() -> Self {
        Self { arrivals: Fifo::new(), next: Time::NEVER, last: Time::ZERO }
    }

    /// When the next packet arrives; [`Time::NEVER`] if none waits.
    #[inline]
    pub const fn next_time(&self) -> Time {
        self.next
    }

    /// The next packet, if one waits.
    #[inline]
    pub fn first(&self) -> Option<Arrival> {
        self.arrivals.front()
    }

    /// Takes the next packet, which must be there, away.
    #[inline]
    pub fn skip(&mut self) {
        self.arrivals.skip();
        self.next = self.arrivals.front().map_or(Time::NEVER, |arrival| arrival.time);
    }

    /// Takes the next packet, if one waits.
    #[inline]
    pub fn pop(&mut self) -> Option<Arrival> {
        let arrival = self.first()?;
        self.skip();
        Some(arrival)
    }

    /// Adds an arrival; gives whether it is the next. At equal times the lower `rank` goes first,
    /// and at equal ranks what came first.
    #[inline(always)]
    pub fn push(
        &mut self,
        time: Time,
        packet: Packet,
        rank: u32,
        rank_of: impl Fn(Packet) -> u32,
    ) -> bool {
        if time <= self.last {
            return self.insert(time, packet, rank, rank_of);
        }
        self.last = time;
        self.arrivals.push(Arrival { time, packet });
        let is_next = time < self.next;
        self.next = self.next.min(time);
        is_next
    }

    /// Time and packet come in registers: an arrival whose address is taken here would be
    /// written to memory and read again before each push.
    #[inline(never)]
    fn insert(
        &mut self,
        time: Time,
        packet: Packet,
        rank: u32,
        rank_of: impl Fn(Packet) -> u32,
    ) -> bool {
        let is_next = self.arrivals.insert_by(Arrival { time, packet }, |other: &Arrival| {
            other.time > time || (other.time == time && rank_of(other.packet) > rank)
        });
        self.next = self.next.min(time);
        is_next
    }

    /// Everything that waits, in its order.
    pub fn iter(&self) -> impl Iterator<Item = Arrival> {
        self.arrivals.iter()
    }
}
