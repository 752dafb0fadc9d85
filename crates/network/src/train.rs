//! Trains: ACKs of bulk data that follow each other over plain links, with nothing else in the
//! network between them.
//!
//! The result is the same as packet by packet. A train looks up once its links, its merge queue and
//! the losses that will not occur.

use crate::link::{Link, PlainLink};
use crate::merge_queue::MergeQueue;
use crate::network::Network;
use crate::packet::Packet;
use crate::route::{Arrival, LinkId, ProcessId};
use crate::routing::{HopKind, NextHop};
use crate::units::{Span, Time};

/// A route over a single plain link, whose result can be computed at once. A second link at its
/// very end may lose packets and do nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectPath {
    link: LinkId,
    lossy: Option<LinkId>,
    before: Span,
    after: Span,
    /// The merge queue at its end. None if the host takes packets at once.
    queue: Option<usize>,
    /// Latest time of sending: a later packet would not reach the link before the end.
    last: Time,
}

impl DirectPath {
    /// Latest time of sending over this path.
    #[must_use]
    pub const fn last(&self) -> Time {
        self.last
    }

    /// Return whether the host at its end takes packets at once.
    #[must_use]
    pub const fn ends_at_host(&self) -> bool {
        self.queue.is_none()
    }

    /// Return whether both paths use the same link.
    #[must_use]
    pub const fn meets(&self, other: &Self) -> bool {
        self.link == other.link
    }
}

/// Everything that the packets of a connection with direct paths touch, as long as no packet is
/// lost.
#[derive(Debug)]
pub struct Train<'a> {
    data: &'a mut PlainLink,
    lossy: Option<&'a mut PlainLink>,
    acks: &'a mut PlainLink,
    queue: &'a mut MergeQueue,
    to_data: Span,
    from_data: Span,
    to_acks: Span,
    from_acks: Span,
}

impl Network {
    /// Return the direct path of a route. None if the route is not direct.
    #[must_use]
    pub fn direct_path(&self, route: usize) -> Option<DirectPath> {
        let mut hops = self.hops_of(route).iter();
        let first = hops.next()?;
        let behind = hops.next()?;
        let lossy = self.lossy_link(behind);
        let end = if lossy.is_some() { hops.next()? } else { behind };
        let queue = match end.kind {
            HopKind::Link => return None,
            HopKind::Host => None,
            HopKind::Queue => Some(end.target as usize),
        };
        // The last link must lose a packet at the time at which it would be at its host.
        if lossy.is_some() && end.delay != Span::ZERO {
            return None;
        }
        let link = first.target as usize;
        let takes_trains = first.kind == HopKind::Link
            && self.plain_link(link).is_some_and(PlainLink::takes_trains);
        let last = Time(self.end().0.checked_sub(first.delay.0)?);
        let (before, after) = (first.delay, behind.delay);
        takes_trains.then_some(DirectPath { link, lossy, before, after, queue, last })
    }

    fn lossy_link(&self, hop: &NextHop) -> Option<LinkId> {
        let link = hop.target as usize;
        let is_lossy =
            hop.kind == HopKind::Link && self.plain_link(link).is_some_and(PlainLink::only_loses);
        is_lossy.then_some(link)
    }

    /// Return the process that packets reach after a direct path. None if another link follows.
    #[must_use]
    pub fn process_behind(&self, path: &DirectPath) -> Option<ProcessId> {
        path.queue.filter(|&queue| self.is_process(queue))
    }

    /// Begin a train of a connection with direct paths. The caller must end it with
    /// [`Network::end_train`].
    ///
    /// # Panics
    /// If the ACKs end at no queue, or both paths use one link.
    #[inline]
    pub fn begin_train(&mut self, data: &DirectPath, acks: &DirectPath) -> Train<'_> {
        let queue = acks.queue.expect("acknowledgements wait in a queue");
        let (links, queue) = self.links_and_queue(queue);
        let (to_data, from_data) = (data.before, data.after);
        let (to_acks, from_acks) = (acks.before, acks.after);
        let (data, lossy, acks) = match data.lossy {
            None => {
                let two = links.get_disjoint_mut([data.link, acks.link]);
                let [data, acks] = two.expect("two links").map(plain);
                (data, None, acks)
            }
            Some(lossy) => {
                let three = links.get_disjoint_mut([data.link, lossy, acks.link]);
                let [data, lossy, acks] = three.expect("three links").map(plain);
                (data, Some(lossy), acks)
            }
        };
        Train { data, lossy, acks, queue, to_data, from_data, to_acks, from_acks }
    }
}

#[inline]
fn plain(link: &mut Link) -> &mut PlainLink {
    match link {
        Link::Plain(link) => link,
        _ => unreachable!("direct paths lead over plain links"),
    }
}

impl Train<'_> {
    /// Return the next ACK. None if it comes after `until`.
    #[inline]
    #[must_use]
    pub fn next(&self, until: Time) -> Option<Arrival> {
        self.queue.first().filter(|arrival| arrival.time <= until)
    }

    /// Remove the next ACK.
    #[inline]
    pub fn skip(&mut self) {
        self.queue.skip();
    }

    /// Return the earliest time at which a packet that is sent at `now` is at its host.
    #[inline]
    #[must_use]
    pub fn begins(&self, now: Time) -> Time {
        self.data.train_begins(now + self.to_data) + self.from_data
    }

    /// Return a time at which the last of `count` packets of `bytes`, sent at `now`, is at its host
    /// at the latest. Also return an upper bound of the time since the first of them.
    #[inline]
    #[must_use]
    pub fn ends(&self, now: Time, count: u32, bytes: u16) -> (Time, Span) {
        let (last, takes) = self.data.train_ends(now + self.to_data, count, bytes);
        (last.saturating_add(self.from_data), takes)
    }

    /// Return whether all of `count` packets that are sent at `now` will certainly arrive. If so,
    /// the caller must send them.
    #[inline]
    pub fn admit(&mut self, now: Time, count: u32) -> bool {
        let is_certain = self.data.can_skip(count)
            && self.lossy.as_ref().is_none_or(|lossy| lossy.can_skip(count))
            && self.data.has_space(now + self.to_data, count);
        // Losses are counted only once all agree, so a refusal leaves all loss models unchanged.
        if is_certain {
            self.data.skip(count);
            if let Some(lossy) = &mut self.lossy {
                lossy.skip(count);
            }
        }
        is_certain
    }

    /// Send packets of `bytes` that were admitted at `now`. `answer` gets the time of each arrival
    /// and returns the ACK that is sent at once, if there is one; `packet_of` makes its packet.
    /// Return the time of the last arrival.
    #[inline(always)]
    pub fn send<Ack: Copy>(
        &mut self,
        now: Time,
        (count, bytes): (u32, u16),
        mut answer: impl FnMut(Time) -> Option<Ack>,
        packet_of: impl Fn(Ack) -> Packet,
    ) -> Time {
        let Self { data, acks, queue, from_data, to_acks, from_acks, .. } = self;
        let mut at = now;
        data.pass_train(now + self.to_data, count, bytes, |leaves| {
            at = leaves + *from_data;
            let Some(ack) = answer(at) else { return };
            let mut packet = packet_of(ack);
            if let Ok(time) = acks.pass(at + *to_acks, &mut packet) {
                queue.push(time + *from_acks, packet.advanced(), 0, |_| 0);
            }
        });
        at
    }
}
