//! Many queues in one store: lists of packets whose places are reused.
//!
//! A packet costs no allocation once the store has the size of the largest backlog.

use super::Queued;
use crate::packet::Packet;
use crate::units::Time;

/// Places for the packets of many lists.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    nodes: Vec<Node>,
    /// First free place, which links to the next. None if all are in use.
    free: Option<u32>,
    packets: u32,
    bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    queued: Queued,
    next: Option<u32>,
}

/// A first-in, first-out list of packets in a [`Pool`].
#[derive(Clone, Copy, Debug, Default)]
pub struct List {
    /// First and last place, valid while the list has packets.
    ends: (u32, u32),
    packets: u32,
    bytes: u64,
}

impl List {
    /// Packets in the list.
    #[inline]
    pub const fn packets(&self) -> u32 {
        self.packets
    }

    /// Bytes on the wire in the list.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Pool {
    /// Packets in all lists.
    #[inline]
    pub const fn packets(&self) -> u32 {
        self.packets
    }

    /// Bytes on the wire in all lists.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Add a packet at the end of a list of this pool.
    #[inline]
    pub fn push(&mut self, list: &mut List, queued: Queued) {
        let place = self.place(queued);
        if list.packets == 0 {
            list.ends.0 = place;
        } else {
            self.nodes[list.ends.1 as usize].next = Some(place);
        }
        list.ends.1 = place;
        list.packets += 1;
        list.bytes += u64::from(queued.wire_bytes);
        self.packets += 1;
        self.bytes += u64::from(queued.wire_bytes);
    }

    /// Remove and return the packet at the front of a list of this pool; None if the list is empty.
    #[inline]
    pub fn pop(&mut self, list: &mut List) -> Option<Queued> {
        if list.packets == 0 {
            return None;
        }
        let place = list.ends.0;
        let Node { queued, next } = self.nodes[place as usize];
        // Free places are linked through the same field, so a pool allocates memory for its largest
        // backlog once.
        self.nodes[place as usize].next = self.free;
        self.free = Some(place);
        list.ends.0 = next.unwrap_or_default();
        list.packets -= 1;
        list.bytes -= u64::from(queued.wire_bytes);
        self.packets -= 1;
        self.bytes -= u64::from(queued.wire_bytes);
        Some(queued)
    }

    /// Remove and return the first packet of a list of this pool that `is_such`; None if there is
    /// none.
    pub fn remove(&mut self, list: &mut List, is_such: impl Fn(Packet) -> bool) -> Option<Packet> {
        let (mut before, mut place) = (None, list.ends.0);
        for _ in 0..list.packets {
            let Node { queued, next } = self.nodes[place as usize];
            if !is_such(queued.packet) {
                (before, place) = (Some(place), next.unwrap_or_default());
                continue;
            }
            let Some(before) = before else { return self.pop(list).map(|queued| queued.packet) };
            self.nodes[before as usize].next = next;
            if list.ends.1 == place {
                list.ends.1 = before;
            }
            // The packet moves to the front, and `pop` removes it there.
            let first = std::mem::replace(&mut list.ends.0, place);
            self.nodes[place as usize].next = Some(first);
            return self.pop(list).map(|queued| queued.packet);
        }
        None
    }

    /// The time at which the packet at the front of a list of this pool joined; None if the list is
    /// empty.
    #[inline]
    pub fn oldest(&self, list: &List) -> Option<Time> {
        (list.packets > 0).then(|| self.nodes[list.ends.0 as usize].queued.since)
    }

    /// The packets of a list of this pool, from the oldest to the newest.
    pub fn iter(&self, list: &List) -> impl Iterator<Item = Packet> {
        let first = (list.packets > 0).then_some(list.ends.0);
        let places = std::iter::successors(first, |&place| self.nodes[place as usize].next);
        places.map(|place| self.nodes[place as usize].queued.packet)
    }

    #[inline]
    fn place(&mut self, queued: Queued) -> u32 {
        let node = Node { queued, next: None };
        if let Some(place) = self.free {
            self.free = self.nodes[place as usize].next;
            self.nodes[place as usize] = node;
            return place;
        }
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("fewer than 2^32 packets in a queue")
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, queued};
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn lists_behave_as_queues(ops in prop::collection::vec((0usize..3, 0u64..5), 1..300)) {
            let mut pool = Pool::default();
            let mut lists = [List::default(); 3];
            let mut models = [const { VecDeque::new() }; 3];
            let mut most = 0;
            for (number, (which, what)) in (0..).zip(ops) {
                let (list, model) = (&mut lists[which], &mut models[which]);
                if what < 2 {
                    prop_assert_eq!(pool.pop(list).map(|queued| queued.packet), model.pop_front());
                } else if what == 2 {
                    let is_such = |packet: Packet| packet.number() % 3 == 1;
                    let at = model.iter().position(|&packet| is_such(packet));
                    let removed = at.and_then(|at| model.remove(at));
                    prop_assert_eq!(pool.remove(list, is_such), removed);
                } else {
                    pool.push(list, queued(0, packet(0, number)));
                    model.push_back(packet(0, number));
                }
                prop_assert_eq!(pool.oldest(list).is_some(), !model.is_empty());
                prop_assert!(pool.iter(list).eq(model.iter().copied()));
                prop_assert_eq!(list.packets() as usize, model.len());
                prop_assert_eq!(list.bytes(), 1500 * model.len() as u64);
                prop_assert_eq!(pool.packets(), lists.iter().map(List::packets).sum::<u32>());
                prop_assert_eq!(pool.bytes(), lists.iter().map(List::bytes).sum::<u64>());
                most = most.max(pool.packets());
                prop_assert!(pool.nodes.len() <= most as usize);
            }
        }
    }
}
