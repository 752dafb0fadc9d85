//! The earliest of many times: a winner tree whose leaves are set one by one.
//!
//! Every source of events (a link, a host's timer) owns one leaf. Setting a leaf
//! costs the depth of the tree at most; reading the earliest costs nothing. Of
//! equal times the lowest leaf comes first, so the order of events never depends
//! on anything but the scenario.

use crate::units::Time;

/// Times by leaf, with the earliest always known.
#[derive(Clone, Debug)]
pub struct Agenda {
    nodes: Vec<(Time, u32)>,
    leaves: usize,
}

impl Agenda {
    /// An agenda of `leaves` sources, none of which has anything planned.
    #[must_use]
    pub fn new(leaves: usize) -> Self {
        let leaves = leaves.max(1).next_power_of_two();
        let mut nodes = vec![(Time::NEVER, 0); 2 * leaves];
        for (leaf, node) in nodes[leaves..].iter_mut().enumerate() {
            node.1 = u32::try_from(leaf).expect("fewer than 2^32 event sources");
        }
        for parent in (1..leaves).rev() {
            nodes[parent] = nodes[2 * parent];
        }
        Self { nodes, leaves }
    }

    /// The earliest time and its leaf; [`Time::NEVER`] if nothing is planned.
    #[inline]
    #[must_use]
    pub fn earliest(&self) -> (Time, usize) {
        let (time, leaf) = self.nodes[1];
        (time, leaf as usize)
    }

    /// The time set for a leaf.
    #[inline]
    #[must_use]
    pub fn get(&self, leaf: usize) -> Time {
        self.nodes[self.leaves + leaf].0
    }

    /// The earliest time and its leaf among all leaves but one.
    #[inline]
    #[must_use]
    pub fn earliest_beside(&self, leaf: usize) -> (Time, usize) {
        let mut node = self.leaves + leaf;
        let mut winner = (Time::NEVER, u32::MAX);
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
        }
        (winner.0, winner.1 as usize)
    }

    /// Sets the time of a leaf; [`Time::NEVER`] removes it.
    #[inline]
    pub fn set(&mut self, leaf: usize, time: Time) {
        let mut node = self.leaves + leaf;
        let mut winner = (time, leaf as u32);
        self.nodes[node] = winner;
        while node > 1 {
            let sibling = self.nodes[node ^ 1];
            // On equal times the left one wins: the winner so far if its node is even.
            let keeps = winner.0 < sibling.0 || (winner.0 == sibling.0 && node % 2 == 0);
            winner = if keeps { winner } else { sibling };
            node /= 2;
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

    proptest! {
        #[test]
        fn earliest_is_the_minimum_and_ties_go_to_the_lowest_leaf(
            leaves in 1usize..40,
            sets in prop::collection::vec((0usize..40, 0u64..20), 1..200),
        ) {
            let mut agenda = Agenda::new(leaves);
            let mut times = vec![Time::NEVER; leaves];
            for (leaf, time) in sets {
                let leaf = leaf % leaves;
                agenda.set(leaf, Time(time));
                times[leaf] = Time(time);
                let expected = times.iter().enumerate().map(|(i, t)| (*t, i)).min().unwrap();
                prop_assert_eq!(agenda.earliest(), expected);
                prop_assert_eq!(agenda.get(leaf), Time(time));
                let others = times.iter().enumerate().filter(|(other, _)| *other != leaf);
                let earliest = others.map(|(i, t)| (*t, i)).min();
                if let Some(earliest) = earliest.filter(|(time, _)| *time < Time::NEVER) {
                    prop_assert_eq!(agenda.earliest_beside(leaf), earliest);
                } else {
                    prop_assert_eq!(agenda.earliest_beside(leaf).0, Time::NEVER);
                }
            }
        }
    }
}
