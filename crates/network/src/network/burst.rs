//! Packets that a host sends one right after the other.

use super::{Network, Outcome};
use crate::link::{DropCause, Link, PlainLink, ScheduledLink};
use crate::packet::Packet;
use crate::route::{Arrival, LinkId};
use crate::routing::{HopKind, NextHop};
use crate::units::{Span, Time};

/// Largest number of packets that are merged one by one. Below it the fixed cost of a burst is
/// larger.
const MERGED_ONE_BY_ONE: u32 = 2;

/// A host's own link, as far as departures are known on arrival.
trait HostLink {
    /// Take a packet and return its arrival time at the far end, or the cause of its loss. The
    /// error None means that the link did not take it, because the departure is unknown.
    fn take(&mut self, at: Time, packet: &mut Packet) -> Result<Time, Option<DropCause>>;
    /// Departure time of the last packet that was taken.
    fn departed(&self) -> Time;
}

impl HostLink for PlainLink {
    #[inline(always)]
    fn take(&mut self, at: Time, packet: &mut Packet) -> Result<Time, Option<DropCause>> {
        self.pass(at, packet).map_err(Some)
    }

    #[inline(always)]
    fn departed(&self) -> Time {
        self.free_at()
    }
}

impl HostLink for ScheduledLink {
    #[inline(always)]
    fn take(&mut self, at: Time, packet: &mut Packet) -> Result<Time, Option<DropCause>> {
        self.pass(at, *packet).ok_or(None)
    }

    #[inline(always)]
    fn departed(&self) -> Time {
        self.free_at()
    }
}

impl Network {
    /// Send up to `packets` from their host at `now`: `first` and those with the next numbers. Stop
    /// after a packet with another outcome than [`Outcome::UnderWay`].
    ///
    /// Return the number of packets sent and the outcome of the last. None means that the caller
    /// must send each with [`Self::send`]. `departs` gets the departure of each packet from its
    /// host, where it is known.
    #[inline(always)]
    pub fn send_burst(
        &mut self,
        now: Time,
        first: Packet,
        packets: u32,
        departs: impl FnMut(Time),
    ) -> Option<(u32, Outcome)> {
        let place = first.route() * self.stride;
        let [to_link, to_queue, ..] = self.hops[place..] else { return None };
        let (link, at) = (to_link.target as usize, now + to_link.delay);
        if to_link.kind != HopKind::Link || at > self.end {
            return None;
        }
        let NextHop { target, delay, rank, kind } = to_queue;
        let next = NextQueue { delay, rank, queue: target as usize };
        let is_merged = kind == HopKind::Queue && !self.is_process(next.queue);
        match &self.links[link] {
            Link::Plain(_) if is_merged => {
                self.merge_burst(at, first, packets, (link, next), plain, departs)
            }
            Link::Scheduled(scheduled) if !scheduled.serves_one_flow() => {
                let (sent, more) = self.schedule_burst(at, first, packets, link);
                Some((sent, if more { Outcome::Several } else { Outcome::UnderWay }))
            }
            Link::Scheduled(_) if is_merged => {
                self.merge_burst(at, first, packets, (link, next), scheduled, departs)
            }
            _ => None,
        }
    }

    /// Send packets over their host's own link into the queue before a shared link. None if the
    /// link does not know the departure of the first.
    #[inline(always)]
    fn merge_burst<L: HostLink>(
        &mut self,
        at: Time,
        first: Packet,
        packets: u32,
        (link, NextQueue { delay, rank, queue: source }): (LinkId, NextQueue),
        host_link: impl FnOnce(&mut Link) -> &mut L,
        mut departs: impl FnMut(Time),
    ) -> Option<(u32, Outcome)> {
        let Self { links, queues, hops, stride, events, end, .. } = self;
        let (queue, host_link) = (&mut queues[source], host_link(&mut links[link]));
        let rank_of = |packet: Packet| hops[packet.route() * *stride + packet.hop()].rank;
        let (before, mut packet, mut sent) = (queue.next_time(), first, 0);
        let mut outcome = Outcome::UnderWay;
        while sent < packets {
            let mut passing = packet;
            match host_link.take(at, &mut passing) {
                Ok(leaves) => {
                    departs(host_link.departed());
                    let (time, packet) = (leaves + delay, passing.advanced());
                    if packets > MERGED_ONE_BY_ONE {
                        queue.push_of_burst(time, packet);
                    } else {
                        queue.push(time, packet, rank, rank_of);
                    }
                }
                Err(Some(cause)) => {
                    outcome = Outcome::Lost(Arrival { time: at, packet }, link, cause);
                    sent += 1;
                    break;
                }
                // The link did not take this packet, so the caller sends it again by the general
                // path.
                Err(None) => break,
            }
            (packet, sent) = (packet.following(1), sent + 1);
        }
        queue.end_burst(rank, rank_of);
        let next = queue.next_time();
        if next < before {
            events.set(source, if next > *end { Time::NEVER } else { next });
        }
        (sent > 0).then_some((sent, outcome))
    }
}

/// The path from a host's own link to the merge queue behind it.
#[derive(Clone, Copy)]
struct NextQueue {
    delay: Span,
    rank: u32,
    queue: usize,
}

#[inline(always)]
fn plain(link: &mut Link) -> &mut PlainLink {
    match link {
        Link::Plain(link) => link,
        _ => unreachable!("a link that was looked at"),
    }
}

#[inline(always)]
fn scheduled(link: &mut Link) -> &mut ScheduledLink {
    match link {
        Link::Scheduled(link) => link,
        _ => unreachable!("a link that was looked at"),
    }
}
