//! Packets that wait to be merged, in order of time.

use std::collections::BTreeMap;

use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::route::Arrival;
use crate::units::Time;

/// Largest number of packets that one arrival may overtake in the ring. Sources feed a queue nearly
/// in order, so most arrivals overtake few packets. A source far ahead of the others has thousands
/// of packets here.
const OVERTAKEN_MAX: usize = 128;

/// Arrivals from all sources of a link, or at the hosts of a process, merged in order of time.
#[derive(Debug)]
pub struct MergeQueue {
    arrivals: Fifo<Arrival>,
    /// Time of the next arrival; [`Time::NEVER`] if no packet waits.
    next: Time,
    /// Upper bound of all arrival times; [`Time::NEVER`] while `between` has packets.
    last: Time,
    /// Packets that come between those of `arrivals`. As long as there are any, all new packets
    /// join them.
    between: Between,
    /// Packets of [`Self::push_of_burst`] that must be merged.
    burst: Vec<Arrival>,
}

/// Packets by time, rank and order of their push. Each has the number of the entry of `arrivals`
/// that it precedes. An arrival costs the logarithm of the waiting packets.
#[derive(Debug, Default)]
struct Between {
    packets: BTreeMap<(Time, u32, u64), (Packet, u64)>,
    arrivals: u64,
    /// Latest arrival of all packets so far, here or in `arrivals`.
    last: Time,
}

impl MergeQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self {
            arrivals: Fifo::new(),
            next: Time::NEVER,
            last: Time::ZERO,
            between: Between::default(),
            burst: Vec::new(),
        }
    }

    /// Time of the next arrival; [`Time::NEVER`] if no packet waits.
    #[inline]
    pub const fn next_time(&self) -> Time {
        self.next
    }

    /// The next packet; None if no packet waits.
    #[inline]
    pub fn first(&self) -> Option<Arrival> {
        if self.between.packets.is_empty() {
            return self.arrivals.front();
        }
        self.first_between().or_else(|| self.arrivals.front())
    }

    /// Remove the next packet. There must be one.
    #[inline]
    pub fn skip(&mut self) {
        if self.between.packets.is_empty() {
            self.arrivals.skip();
            self.next = self.arrivals.front().map_or(Time::NEVER, |arrival| arrival.time);
        } else {
            self.skip_of_both();
        }
    }

    /// Return the first packet of `between`. None if one of `arrivals` comes before it.
    #[cold]
    fn first_between(&self) -> Option<Arrival> {
        let (&(time, ..), &(packet, before)) = self.between.packets.first_key_value()?;
        (before <= self.arrivals.front_number()).then_some(Arrival { time, packet })
    }

    #[cold]
    fn skip_of_both(&mut self) {
        if self.first_between().is_some() {
            self.between.packets.pop_first();
        } else {
            self.arrivals.skip();
        }
        if self.between.packets.is_empty() {
            self.last = self.between.last;
        }
        self.next = self.first().map_or(Time::NEVER, |arrival| arrival.time);
    }

    /// Remove and return the next packet; None if no packet waits.
    #[inline]
    pub fn pop(&mut self) -> Option<Arrival> {
        let time = self.next;
        // Time and packet stay in registers. An arrival returned in memory would be copied.
        let packet = if self.between.packets.is_empty() {
            let Arrival { packet, .. } = self.arrivals.pop()?;
            self.next = self.arrivals.front().map_or(Time::NEVER, |arrival| arrival.time);
            packet
        } else {
            self.pop_of_both()
        };
        Some(Arrival { time, packet })
    }

    #[cold]
    fn pop_of_both(&mut self) -> Packet {
        let Arrival { packet, .. } = self.first().expect("more than one packet");
        self.skip_of_both();
        packet
    }

    /// Add an arrival. At equal times the lower `rank` goes first, and at equal ranks the earlier
    /// push.
    #[inline(always)]
    pub fn push(&mut self, time: Time, packet: Packet, rank: u32, rank_of: impl Fn(Packet) -> u32) {
        // Equal times are inserted, too, because only ranks can order them.
        if time <= self.last {
            self.insert(time, packet, rank, rank_of);
        } else {
            self.append(time, packet);
        }
    }

    /// Add packets as [`Self::push`] does, from one source and in order of time.
    /// [`Self::end_burst`] must follow the last and merges them together.
    #[inline(always)]
    pub fn push_of_burst(&mut self, time: Time, packet: Packet) {
        if time <= self.last {
            self.burst.push(Arrival { time, packet });
        } else {
            self.append(time, packet);
        }
    }

    /// End a burst of [`Self::push_of_burst`].
    #[inline(always)]
    pub fn end_burst(&mut self, rank: u32, rank_of: impl Fn(Packet) -> u32) {
        if !self.burst.is_empty() {
            self.merge_burst(rank, rank_of);
        }
    }

    #[inline(never)]
    fn merge_burst(&mut self, rank: u32, rank_of: impl Fn(Packet) -> u32) {
        // The vector is taken and put back, so its memory is reused.
        let burst = std::mem::take(&mut self.burst);
        let is_merged = self.between.packets.is_empty()
            && self.arrivals.merge(&burst, OVERTAKEN_MAX, |other, arrival| {
                other.time > arrival.time
                    || (other.time == arrival.time && rank_of(other.packet) > rank)
            });
        if is_merged {
            self.next = self.next.min(burst[0].time);
        } else {
            for &Arrival { time, packet } in &burst {
                self.push(time, packet, rank, &rank_of);
            }
        }
        self.burst = burst;
        self.burst.clear();
    }

    #[inline(always)]
    fn append(&mut self, time: Time, packet: Packet) {
        self.last = time;
        self.arrivals.push(Arrival { time, packet });
        self.next = self.next.min(time);
    }

    /// Insert an arrival.
    ///
    /// Time and packet come in registers. If the address of an arrival were taken here, each push
    /// would write it to memory and read it again.
    #[inline(never)]
    fn insert(&mut self, time: Time, packet: Packet, rank: u32, rank_of: impl Fn(Packet) -> u32) {
        let after = |other: &Arrival| {
            other.time > time || (other.time == time && rank_of(other.packet) > rank)
        };
        self.next = self.next.min(time);
        if self.between.packets.is_empty() {
            if self.arrivals.insert_by(Arrival { time, packet }, OVERTAKEN_MAX, after) {
                return;
            }
            self.between.last = self.last;
            // From now on each push comes here, until `between` is empty again.
            self.last = Time::NEVER;
        }
        // A number, not a position: it stays valid when packets leave at the front.
        let before = self.arrivals.first_after(after);
        let key = (time, rank, self.between.arrivals);
        self.between.arrivals += 1;
        self.between.last = self.between.last.max(time);
        self.between.packets.insert(key, (packet, before));
    }

    /// All waiting packets, in no order.
    pub fn iter(&self) -> impl Iterator<Item = Arrival> {
        let between = self.between.packets.iter();
        self.arrivals
            .iter()
            .chain(between.map(|(&(time, ..), &(packet, _))| Arrival { time, packet }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Direction;
    use proptest::prelude::*;

    /// An action of a source: it sends packets, each `gap` after the one before.
    #[derive(Clone, Debug)]
    struct Burst {
        source: u32,
        packets: usize,
        gap: u64,
        is_run: bool,
    }

    fn bursts() -> impl Strategy<Value = Vec<(Burst, usize)>> {
        let burst = (0u32..4, 1usize..600, 0u64..5, any::<bool>());
        let burst =
            burst.prop_map(|(source, packets, gap, is_run)| Burst { source, packets, gap, is_run });
        prop::collection::vec((burst, 0usize..600), 1..12)
    }

    proptest! {
        /// Sources may be far ahead of each other. Then some packets leave.
        #[test]
        fn packets_leave_by_time_rank_and_arrival(bursts in bursts()) {
            let (mut queue, mut model) = (MergeQueue::new(), BTreeMap::new());
            let (mut clocks, mut now) = ([0; 4], 0);
            let mut number = 0;
            for (burst, leave) in bursts {
                let clock = &mut clocks[burst.source as usize];
                *clock = now.max(*clock);
                for _ in 0..burst.packets {
                    *clock += burst.gap;
                    let packet = Packet::new(burst.source, Direction::Forward, 1_000, number);
                    let key = (*clock, burst.source, number);
                    model.insert(key, packet);
                    number += 1;
                    if burst.is_run {
                        queue.push_of_burst(Time(*clock), packet);
                    } else {
                        queue.push(Time(*clock), packet, burst.source, Packet::flow);
                    }
                }
                queue.end_burst(burst.source, Packet::flow);
                prop_assert_eq!(Some(queue.next_time().0), model.keys().next().map(|key| key.0));
                prop_assert_eq!(queue.iter().count(), model.len());
                for _ in 0..leave {
                    let expected = model.pop_first();
                    let time = expected.map_or(Time::NEVER, |((time, ..), _)| Time(time));
                    prop_assert_eq!(queue.next_time(), time);
                    let popped = queue.pop();
                    prop_assert_eq!(popped.map(|arrival| arrival.packet), expected.map(|(_, packet)| packet));
                    now = expected.map_or(now, |((time, ..), _)| time);
                }
            }
        }
    }

    #[test]
    fn a_source_that_is_far_ahead_costs_a_logarithm() {
        let mut queue = MergeQueue::new();
        let (ahead, behind) = (200_000, 100_000);
        for number in 0..ahead {
            queue.push(Time(1_000_000 + number), Packet::default(), 1, |_| 1);
        }
        for number in 0..behind {
            queue.push(Time(number), Packet::default(), 0, |_| 1);
        }
        // If each insertion moved all of them, this would not end.
        assert_eq!(queue.arrivals.len() as u64, ahead);
        assert_eq!(queue.iter().count() as u64, ahead + behind);
        let mut last = Time::ZERO;
        while let Some(arrival) = queue.pop() {
            assert!(arrival.time >= last);
            last = arrival.time;
        }
        assert_eq!(last, Time(1_000_000 + ahead - 1));
    }
}
