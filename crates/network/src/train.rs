//! Trains: acknowledgements of bulk data that come one after the other over plain links, with
//! nothing else in the network between them.
//!
//! All that happens is what would happen packet by packet; what is looked up once for a train is
//! links, merge queue and losses that will not hit.

use crate::link::{Link, PlainLink};
use crate::merge_queue::MergeQueue;
use crate::network::Network;
use crate::packet::Packet;
use crate::route::{Arrival, LinkId, ProcessId};
use crate::routing::{HopKind, NextHop};
use crate::units::{Span, Time};

/// A route over a single plain link, of which everything can be said at once. At its very end
/// there may be one more that does nothing but lose packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectPath {
    link: LinkId,
    lossy: Option<LinkId>,
    before: Span,
    after: Span,
    /// The merge queue at its end; none: the host takes it at once.
    queue: Option<usize>,
    /// A packet sent later would not reach the link before the end.
    last: Time,
}

impl DirectPath {
    /// Nothing is sent over it later.
    #[must_use]
    pub const fn last(&self) -> Time {
        self.last
    }

    /// Whether the host at its end takes packets at once.
    #[must_use]
    pub const fn ends_at_host(&self) -> bool {
        self.queue.is_none()
    }

    /// Whether both lead over the same link.
    #[must_use]
    pub const fn meets(&self, other: &Self) -> bool {
        self.link == other.link
    }
}

/// All that the packets of a connection touch whose paths are direct, as long as everything goes
/// well.
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
    /// The route, if it is a direct path.
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
        // A packet is lost there when it would be at its host.
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

    /// The process that what passed a direct path reaches, if that is where it goes next.
    #[must_use]
    pub fn process_behind(&self, path: &DirectPath) -> Option<ProcessId> {
        path.queue.filter(|&queue| self.is_process(queue))
    }

    /// What the packets of a connection touch whose paths are direct; [`Network::end_train`] must
    /// be called afterwards.
    ///
    /// # Panics
    /// If they are none, or both lead over one link.
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
    /// The next acknowledgement, if it comes until then.
    #[inline]
    #[must_use]
    pub fn next(&self, until: Time) -> Option<Arrival> {
        self.queue.first().filter(|arrival| arrival.time <= until)
    }

    /// Takes the next acknowledgement away.
    #[inline]
    pub fn skip(&mut self) {
        self.queue.skip();
    }

    /// No packet that is sent at `now` is at its host earlier.
    #[inline]
    #[must_use]
    pub fn begins(&self, now: Time) -> Time {
        self.data.train_begins(now + self.to_data) + self.from_data
    }

    /// When the last of `count` packets of `bytes` that are sent at `now` is at its host, or
    /// some time later, and how long after the first at most.
    #[inline]
    #[must_use]
    pub fn ends(&self, now: Time, count: u32, bytes: u16) -> (Time, Span) {
        let (last, takes) = self.data.train_ends(now + self.to_data, count, bytes);
        (last.saturating_add(self.from_data), takes)
    }

    /// Whether all of `count` packets that are sent at `now` will certainly arrive; they must
    /// then be sent.
    #[inline]
    pub fn admit(&mut self, now: Time, count: u32) -> bool {
        let is_certain = self.data.can_skip(count)
            && self.lossy.as_ref().is_none_or(|lossy| lossy.can_skip(count))
            && self.data.has_space(now + self.to_data, count);
        // Counted only once all agree, so that a refusal leaves all loss models as they were.
        if is_certain {
            self.data.skip(count);
            if let Some(lossy) = &mut self.lossy {
                lossy.skip(count);
            }
        }
        is_certain
    }

    /// Sends packets of `bytes` that were admitted at `now`; `answer` gives what is acknowledged
    /// at once when the next of them is at its host then, and `packet_of` the packet of that. Gives
    /// when the last is there.
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
