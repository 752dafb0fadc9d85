//! The earliest of many times that are set separately.
//!
//! Every source of events (a link, a host's timer) has a place. Few sources are in an array, and
//! each call searches it for the least. Many sources are the leaves of a tournament tree: setting a
//! time costs at most the tree's depth, and reading the earliest costs nothing. Of equal times the
//! lowest place comes first, so the order of events depends on the scenario only.

use crate::units::Time;

/// Largest number of times in the array.
const FEW: usize = 8;
/// Half of the array is enough in most networks.
const FEWER: usize = 4;

/// A time in the high bits and its place in the low ones. The least key is the earliest time at the
/// lowest place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    const PLACE_BITS: u32 = FEW.trailing_zeros();
    /// Time that means [`Time::NEVER`], as do all later ones. A scenario and a route take 2^60
    /// ns each. A stuck link and an application of rate zero have such times.
    const NEVER: u64 = u64::MAX >> Self::PLACE_BITS;

    #[inline]
    const fn new(time: Time, place: usize) -> Self {
        let time = if time.0 < Self::NEVER { time.0 } else { Self::NEVER };
        // The time is in the high bits, so one comparison orders by time and then by place.
        Self(time << Self::PLACE_BITS | place as u64)
    }

    #[inline]
    const fn time(self) -> Time {
        let time = self.0 >> Self::PLACE_BITS;
        if time == Self::NEVER { Time::NEVER } else { Time(time) }
    }

    #[inline]
    const fn place(self) -> usize {
        self.0 as usize % FEW
    }
}

/// Times by place. The earliest is known or found quickly.
#[derive(Clone, Debug)]
pub struct EventQueue {
    few: [Key; FEW],
    sources: usize,
    /// The tournament tree; empty if there are few sources.
    nodes: Vec<(Time, u32)>,
    leaves: usize,
}

impl EventQueue {
    /// A queue of `sources` sources without scheduled times.
    #[must_use]
    pub fn new(sources: usize) -> Self {
        let few = std::array::from_fn(|place| Key::new(Time::NEVER, place));
        if sources <= FEW {
            return Self { few, sources, nodes: Vec::new(), leaves: 0 };
        }
        let leaves = sources.next_power_of_two();
        let mut nodes = vec![(Time::NEVER, 0); 2 * leaves];
        for (leaf, node) in nodes[leaves..].iter_mut().enumerate() {
            node.1 = u32::try_from(leaf).expect("fewer than 2^32 event sources");
        }
        for parent in (1..leaves).rev() {
            nodes[parent] = nodes[2 * parent];
        }
        Self { few, sources, nodes, leaves }
    }

    /// Source of the earliest time; the first source if nothing is scheduled.
    #[inline]
    #[must_use]
    pub fn first(&self) -> usize {
        self.earliest().1
    }

    /// The earliest time and its source; [`Time::NEVER`] if nothing is scheduled.
    #[inline(always)]
    #[must_use]
    pub fn earliest(&self) -> (Time, usize) {
        let [a, b, c, d, e, f, g, h] = self.few;
        let first = a.min(b).min(c.min(d));
        if self.sources <= FEWER {
            (first.time(), first.place())
        } else if self.sources <= FEW {
            let first = first.min(e.min(f).min(g.min(h)));
            (first.time(), first.place())
        } else {
            let (time, source) = self.nodes[1];
            (time, source as usize)
        }
    }

    /// The time set for a source.
    #[inline]
    #[must_use]
    pub fn get(&self, source: usize) -> Time {
        match self.nodes.get(self.leaves + source) {
            Some(node) if self.leaves > 0 => node.0,
            _ => self.few[source].time(),
        }
    }

    /// The earliest time and its source among all sources but one.
    #[inline]
    #[must_use]
    pub fn earliest_except(&self, source: usize) -> (Time, usize) {
        if self.leaves == 0 {
            let others = self.few.iter().filter(|other| other.place() != source);
            let earliest = *others.min().expect("more than one place");
            return (earliest.time(), earliest.place());
        }
        let mut node = self.leaves + source;
        let mut winner = (Time::NEVER, u32::MAX);
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
        }
        (winner.0, winner.1 as usize)
    }

    /// Set the time of a source; [`Time::NEVER`] removes it.
    #[inline(always)]
    pub fn set(&mut self, source: usize, time: Time) {
        if self.leaves == 0 {
            self.few[source] = Key::new(time, source);
        } else {
            self.set_leaf(source, time);
        }
    }

    #[inline(never)]
    fn set_leaf(&mut self, leaf: usize, time: Time) {
        let mut node = self.leaves + leaf;
        let mut winner = (time, leaf as u32);
        self.nodes[node] = winner;
        while node > 1 {
            let sibling = self.nodes[node ^ 1];
            // On equal times the left node wins: the winner so far if its node is even.
            let keeps = winner.0 < sibling.0 || (winner.0 == sibling.0 && node % 2 == 0);
            winner = if keeps { winner } else { sibling };
            node /= 2;
            // No node above can change, because their winners were chosen from this one.
            if self.nodes[node] == winner {
                return;
            }
            self.nodes[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_time_beyond_every_scenario_is_never() {
        let mut events = EventQueue::new(2);
        for late in [Time::STUCK, Time(Time::STUCK.0 + 1), Time(u64::MAX - 1)] {
            events.set(0, late);
            events.set(1, Time(7));
            assert_eq!(events.earliest(), (Time(7), 1));
            events.set(1, Time::NEVER);
            assert_eq!(events.earliest().0, Time::NEVER);
        }
    }

    proptest! {
        #[test]
        fn earliest_is_the_minimum_and_ties_go_to_the_lowest_place(
            sources in 1usize..40,
            sets in prop::collection::vec((0usize..40, 0u64..20), 1..200),
        ) {
            let mut events = EventQueue::new(sources);
            let mut times = vec![Time::NEVER; sources];
            prop_assert_eq!(events.earliest().0, Time::NEVER);
            for (source, time) in sets {
                let source = source % sources;
                let time = if time == 0 { Time::NEVER } else { Time(time) };
                events.set(source, time);
                times[source] = time;
                let expected = times.iter().enumerate().map(|(i, t)| (*t, i)).min().unwrap();
                prop_assert_eq!(events.earliest(), expected);
                prop_assert_eq!(events.get(source), time);
                let others = times.iter().enumerate().filter(|(other, _)| *other != source);
                let earliest = others.map(|(i, t)| (*t, i)).min();
                let others = events.earliest_except(source);
                match earliest.filter(|(time, _)| *time < Time::NEVER) {
                    Some(earliest) => prop_assert_eq!(others, earliest),
                    None => prop_assert_eq!(others.0, Time::NEVER),
                }
            }
        }
    }
}
