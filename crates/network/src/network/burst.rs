//! Packets that a host sends one right after the other.

use super::{Network, Outcome};
use crate::link::Link;
use crate::packet::Packet;
use crate::route::{Arrival, LinkId};
use crate::routing::{HopKind, NextHop};
use crate::units::Time;

/// So few packets are merged one by one: a run has its own cost.
const MERGED_ONE_BY_ONE: u32 = 2;

impl Network {
    /// Sends `packets` from their host at `now`, the first of them and those with the numbers
    /// after it, until more is to be said of one than that it is on its way; gives how many that
    /// are, and what became of the last. None: each is to be sent by [`Self::send`].
    #[inline(always)]
    pub fn send_burst(&mut self, now: Time, first: Packet, packets: u32) -> Option<(u32, Outcome)> {
        if packets == 1 {
            return None;
        }
        let place = first.route() * self.stride;
        let [to_link, to_queue, ..] = self.hops[place..] else { return None };
        let (link, at) = (to_link.target as usize, now + to_link.delay);
        if to_link.kind != HopKind::Link || at > self.end {
            return None;
        }
        let waits_in = (to_queue.kind == HopKind::Queue).then_some(to_queue.target as usize);
        match &self.links[link] {
            Link::Plain(_) if waits_in.is_some_and(|queue| !self.is_group(queue)) => {
                Some(self.merge_burst(at, first, packets, (link, place + 1)))
            }
            Link::Scheduled(scheduled) if !scheduled.serves_one_flow() => {
                Some(self.schedule_burst(at, first, packets, link))
            }
            _ => None,
        }
    }

    /// Takes packets over their hosts' own link into the queue before one that others share.
    #[inline(always)]
    fn merge_burst(
        &mut self,
        at: Time,
        first: Packet,
        packets: u32,
        (link, place): (LinkId, usize),
    ) -> (u32, Outcome) {
        let Self { links, queues, hops, stride, events, end, .. } = self;
        let NextHop { delay, target, rank, .. } = hops[place];
        let (source, queue) = (target as usize, &mut queues[target as usize]);
        let Link::Plain(plain) = &mut links[link] else {
            unreachable!("a link that was looked at")
        };
        let rank_of = |packet: Packet| hops[packet.route() * *stride + packet.hop()].rank;
        let (mut packet, mut is_next) = (first, false);
        let mut outcome = (packets, Outcome::UnderWay);
        for sent in 1..=packets {
            let mut passing = packet;
            match plain.pass(at, &mut passing) {
                Ok(leaves) => {
                    let (time, packet) = (leaves + delay, passing.advanced());
                    is_next |= if packets > MERGED_ONE_BY_ONE {
                        queue.push_of_run(time, packet)
                    } else {
                        queue.push(time, packet, rank, rank_of)
                    };
                }
                Err(cause) => {
                    outcome = (sent, Outcome::Lost(Arrival { time: at, packet }, link, cause));
                    break;
                }
            }
            packet = packet.following(1);
        }
        is_next |= queue.end_run(rank, rank_of);
        if is_next {
            let next = queue.next_time();
            events.set(source, if next > *end { Time::NEVER } else { next });
        }
        outcome
    }
}
