//! Packets that wait for their turn, in order of time.

use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::route::Arrival;
use crate::units::Time;

/// Arrivals from all sources of a link, or at the hosts of a group, merged in order of time.
#[derive(Debug)]
pub struct MergeQueue(Fifo<Arrival>);

impl MergeQueue {
    /// Nothing waits.
    pub fn new() -> Self {
        Self(Fifo::new())
    }

    /// When the next packet arrives; [`Time::NEVER`] if none waits.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.0.front().map_or(Time::NEVER, |arrival| arrival.time)
    }

    /// The next packet, if one waits.
    #[inline]
    pub fn first(&self) -> Option<Arrival> {
        self.0.front()
    }

    /// Takes the next packet, which must be there, away.
    #[inline]
    pub const fn skip(&mut self) {
        self.0.skip();
    }

    /// Takes the next packet, if one waits.
    #[inline]
    pub fn pop(&mut self) -> Option<Arrival> {
        self.0.pop()
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
        match self.0.back() {
            Some(last) if last.time >= time => self.insert(time, packet, rank, rank_of),
            last => {
                self.0.push(Arrival { time, packet });
                last.is_none()
            }
        }
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
        self.0.insert_by(Arrival { time, packet }, |other: &Arrival| {
            other.time > time || (other.time == time && rank_of(other.packet) > rank)
        })
    }

    /// Everything that waits, in its order.
    pub fn iter(&self) -> impl Iterator<Item = Arrival> {
        self.0.iter()
    }
}
