//! Packets on their way to a link, in the order in which they will reach it.
//!
//! Hosts and links add packets in almost any order of time, a link takes them in the
//! right one. So they lie in slices of time, and a slice is sorted when its turn
//! comes: cheap, for slices are short and mostly in order already.

use crate::packet::Packet;
use crate::units::{Span, Time};

/// A packet and when it gets somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub time: Time,
    /// What.
    pub packet: Packet,
}

impl Arrival {
    /// Of arrivals at the same time those of the lowest route come first, so that the
    /// order depends on nothing but the scenario.
    #[inline]
    fn key(&self) -> (Time, usize) {
        (self.time, self.packet.route())
    }
}

const SLICES: u64 = 1024;

/// Arrivals by slice of time.
#[derive(Clone, Debug)]
pub struct Inbox {
    /// Slices of `1 << shift` ns, by their number modulo their count.
    slices: Box<[Vec<Arrival>]>,
    shift: u32,
    /// Number of the slice that is worked through.
    current: u64,
    /// How many of the current slice have been taken.
    taken: usize,
    /// The rest of the current slice is in order.
    sorted: bool,
    /// Slices from here on are not kept apart.
    far: u64,
    /// What belongs to those, in the order in which it was added.
    beyond: Vec<Arrival>,
    /// Emptied slices, to be used again while they are in the cache.
    spare: Vec<Vec<Arrival>>,
    len: usize,
    earliest: Time,
}

impl Inbox {
    /// An empty inbox whose slices are about `slice` long.
    #[must_use]
    pub fn new(slice: Span) -> Self {
        Self {
            slices: vec![Vec::new(); SLICES as usize].into(),
            shift: slice.0.max(1).ilog2(),
            current: 0,
            taken: 0,
            sorted: true,
            far: SLICES,
            beyond: Vec::new(),
            spare: Vec::new(),
            len: 0,
            earliest: Time::NEVER,
        }
    }

    /// Not later than the next arrival; [`Time::NEVER`] if there is none.
    #[inline]
    #[must_use]
    pub const fn earliest(&self) -> Time {
        self.earliest
    }

    /// Adds an arrival, which must not be earlier than any that was taken.
    #[inline]
    pub fn push(&mut self, time: Time, packet: Packet) {
        let number = time.0 >> self.shift;
        debug_assert!(number >= self.current, "{time:?} is over");
        self.len += 1;
        self.earliest = self.earliest.min(time);
        if number >= self.far {
            self.beyond.push(Arrival { time, packet });
            return;
        }
        let slice = &mut self.slices[(number % SLICES) as usize];
        if slice.capacity() == 0 {
            *slice = self.spare.pop().unwrap_or_default();
        }
        self.sorted &= number != self.current;
        slice.push(Arrival { time, packet });
    }

    /// The next arrival before `horizon`.
    #[inline]
    pub fn pop_before(&mut self, horizon: Time) -> Option<Arrival> {
        loop {
            let slice = &mut self.slices[(self.current % SLICES) as usize];
            if !self.sorted {
                sort(&mut slice[self.taken..]);
                self.sorted = true;
            }
            if let Some(&arrival) = slice.get(self.taken) {
                if arrival.time >= horizon {
                    self.earliest = arrival.time;
                    return None;
                }
                self.taken += 1;
                self.len -= 1;
                return Some(arrival);
            }
            if !self.next_slice(horizon) {
                return None;
            }
        }
    }

    /// Every arrival, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Arrival> {
        let current = (self.current % SLICES) as usize;
        let taken = move |index| if index == current { self.taken } else { 0 };
        let slices = self.slices.iter().enumerate();
        slices.flat_map(move |(index, slice)| &slice[taken(index)..]).chain(&self.beyond)
    }

    /// Turns to the next slice in which something before `horizon` may be, if any.
    fn next_slice(&mut self, horizon: Time) -> bool {
        let last = horizon.0.saturating_sub(1) >> self.shift;
        let near = self.len > self.beyond.len();
        let next = if near { self.current + 1 } else { self.far.min(last) };
        let within = next <= last && next > self.current;
        if within {
            self.go_to(next);
        } else {
            self.earliest = if self.len == 0 { Time::NEVER } else { self.earliest.max(horizon) };
        }
        within
    }

    /// Leaves the current slice, of which everything was taken.
    fn go_to(&mut self, number: u64) {
        let mut emptied = std::mem::take(&mut self.slices[(self.current % SLICES) as usize]);
        if emptied.capacity() > 0 {
            emptied.clear();
            self.spare.push(emptied);
        }
        self.current = number;
        self.taken = 0;
        self.sorted = false;
        // Not at every slice, or what is beyond would be looked through too often.
        if self.far < number + SLICES / 2 {
            self.recall();
        }
    }

    /// Keeps apart as many slices as there can be.
    #[cold]
    fn recall(&mut self) {
        self.far = self.current + SLICES;
        let beyond = std::mem::take(&mut self.beyond);
        self.len -= beyond.len();
        for arrival in beyond {
            self.push(arrival.time, arrival.packet);
        }
    }
}

#[inline]
fn sort(arrivals: &mut [Arrival]) {
    if !arrivals.is_sorted_by_key(Arrival::key) {
        arrivals.sort_by_key(Arrival::key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Direction;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn arrivals_come_out_in_order_of_time_then_route_then_push(
            slice in 1u64..5_000,
            steps in prop::collection::vec(
                (prop::collection::vec((0u64..3_000_000, 0u32..3), 0..20), 0u64..200_000), 1..40,
            ),
        ) {
            let mut inbox = Inbox::new(Span(slice));
            let mut model: Vec<Arrival> = Vec::new();
            let (mut horizon, mut number) = (0, 0);
            for (pushes, step) in steps {
                for (ahead, flow) in pushes {
                    // A third of the pushes meet at the same few moments.
                    let time = Time(horizon + if ahead % 3 == 0 { ahead / 100_000 } else { ahead });
                    let packet = Packet::new(flow, Direction::Forward, 40, number);
                    number += 1;
                    inbox.push(time, packet);
                    model.push(Arrival { time, packet });
                }
                horizon += step;
                model.sort_by_key(Arrival::key);
                let split = model.partition_point(|arrival| arrival.time < Time(horizon));
                let rest = model.split_off(split);
                for expected in std::mem::replace(&mut model, rest) {
                    prop_assert!(inbox.earliest() <= expected.time);
                    prop_assert_eq!(inbox.pop_before(Time(horizon)), Some(expected));
                }
                prop_assert_eq!(inbox.pop_before(Time(horizon)), None);
                prop_assert_eq!(inbox.iter().count(), model.len());
                let earliest = model.first().map_or(Time::NEVER, |arrival| arrival.time);
                prop_assert!(inbox.earliest() <= earliest && inbox.earliest() >= Time(horizon).min(earliest));
            }
        }
    }
}
