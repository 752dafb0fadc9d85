//! Routes over a single link, of which everything can be said at once.

use crate::graph::{Arrival, LinkId};
use crate::line::Line;
use crate::link::Link;
use crate::packet::Packet;
use crate::units::{Span, Time};

/// A route over a single link in express, of which everything can be said at once.
/// At its very end there may be one more that does nothing but lose packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Express {
    pub(crate) link: LinkId,
    pub(crate) tail: Option<LinkId>,
    pub(crate) before: Span,
    pub(crate) after: Span,
    /// The line at its end; none: the host hears at once.
    pub(crate) line: Option<u32>,
    /// A packet sent later would not reach the link before the end.
    pub(crate) last: Time,
}

impl Express {
    /// Whether what is sent at `now` can take it.
    #[inline]
    #[must_use]
    pub fn is_open(&self, now: Time) -> bool {
        now <= self.last
    }

    /// When what is sent at `now` reaches the link.
    #[must_use]
    pub fn reaches_link(&self, now: Time) -> Time {
        now + self.before
    }

    /// Nothing is sent over it later.
    #[must_use]
    pub const fn last(&self) -> Time {
        self.last
    }

    /// Whether both lead over the same link.
    #[must_use]
    pub const fn meets(&self, other: &Self) -> bool {
        self.link == other.link
    }

    /// Whether there is a link behind that loses packets.
    #[must_use]
    pub const fn has_tail(&self) -> bool {
        self.tail.is_some()
    }

    /// Whether the host at its end hears at once.
    #[must_use]
    pub const fn ends_at_host(&self) -> bool {
        self.line.is_none()
    }
}

/// All that the packets of a connection touch which is in express both ways, as long as
/// everything goes well.
#[derive(Debug)]
pub struct Roads<'a> {
    pub(crate) data: &'a mut Link,
    pub(crate) tail: Option<&'a mut Link>,
    pub(crate) acks: &'a mut Link,
    pub(crate) line: &'a mut Line,
    pub(crate) to_data: Span,
    pub(crate) from_data: Span,
    pub(crate) to_acks: Span,
    pub(crate) from_acks: Span,
}

impl Roads<'_> {
    /// The next acknowledgement, if it comes until then.
    #[inline]
    #[must_use]
    pub fn next(&self, until: Time) -> Option<Arrival> {
        self.line.waiting.front().filter(|arrival| arrival.time <= until)
    }

    /// Takes the next acknowledgement away.
    #[inline]
    pub const fn skip(&mut self) {
        self.line.waiting.skip();
    }

    /// When the last of `count` packets of `bytes` that are sent at `now` is at its host, or
    /// some time later, and how long after the first at most.
    #[inline]
    #[must_use]
    pub fn run_ends(&self, now: Time, count: u32, bytes: u16) -> (Time, Span) {
        let (last, takes) = self.data.run_ends(now + self.to_data, count, bytes);
        (last.saturating_add(self.from_data), takes)
    }

    /// Whether all of `count` packets that are sent at `now` will certainly arrive; they must
    /// then be sent.
    #[inline]
    pub fn admit(&mut self, now: Time, count: u32) -> bool {
        let is_certain = self.data.spares(count)
            && self.tail.as_ref().is_none_or(|tail| tail.spares(count))
            && self.data.has_room(now + self.to_data, count);
        if is_certain {
            self.data.spare(count);
            if let Some(tail) = &mut self.tail {
                tail.spare(count);
            }
        }
        is_certain
    }

    /// Sends packets of `bytes` that were admitted at `now`; `answer` gives what is acknowledged
    /// at once when the next of them is at its host, and `packet_of` the packet of that, of
    /// `ack_bytes`. Gives when the last is there.
    #[inline(always)]
    pub fn send<Ack: Copy>(
        &mut self,
        now: Time,
        (count, bytes, ack_bytes): (u32, u16, u16),
        mut answer: impl FnMut() -> Option<Ack>,
        packet_of: impl Fn(Ack) -> Packet,
    ) -> Time {
        let Self { data, acks, line, from_data, to_acks, from_acks, .. } = self;
        let mut at = now;
        data.pass_run(now + self.to_data, count, bytes, |leaves| {
            at = leaves + *from_data;
            let Some(ack) = answer() else { return };
            // A packet that exists only when it is put down need not be kept until then.
            if let Ok(time) = acks.pass(at + *to_acks, ack_bytes, || packet_of(ack)) {
                line.push(time + *from_acks, packet_of(ack).advanced());
            }
        });
        at
    }
}
