//! Trains of equal packets over a plain link.

use super::meter::Waiting;
use super::plain::PlainLink;
use crate::queue::Limit;
use crate::units::{Span, Time};

impl PlainLink {
    /// Return whether trains may pass. This needs a rate, no limit in bytes, nothing random except
    /// losses, and no record of single waits.
    pub(crate) fn takes_trains(&self) -> bool {
        self.serializer.is_some()
            && !matches!(self.limit, Some(Limit::Bytes(_)))
            && self.jitter.is_none()
            && self.meter.delays.is_none()
            && !self.meter.counts_as_scheduler
    }

    /// Return whether the link only loses packets and has no other effect.
    pub(crate) fn only_loses(&self) -> bool {
        let passes = self.serializer.is_none() && self.delay == Span::ZERO && self.jitter.is_none();
        let is_watched = self.meter.next_sample < Time::NEVER || self.meter.delays.is_some();
        self.losses.is_some() && self.limit.is_none() && passes && !is_watched
    }

    /// Return whether the next `packets` certainly pass.
    #[inline]
    pub(crate) fn can_skip(&self, packets: u32) -> bool {
        self.losses.as_ref().is_none_or(|losses| losses.can_skip(u64::from(packets)))
    }

    /// Count packets that [`Self::can_skip`] allows.
    #[inline]
    pub(crate) fn skip(&mut self, packets: u32) {
        self.meter.arrived_packets += u64::from(packets);
        if let Some(losses) = &mut self.losses {
            losses.skip(u64::from(packets));
        }
    }

    /// Return whether `count` packets that come at `now` have space.
    #[inline]
    pub(crate) fn has_space(&mut self, now: Time, count: u32) -> bool {
        if now > self.meter.next_sample {
            self.meter.sample_before(now, Waiting::default());
        }
        let occupancy = &mut self.meter.occupancy;
        if self.serializer.as_ref().is_some_and(|serializer| serializer.free_at() <= now) {
            occupancy.depart_all();
        } else {
            occupancy.depart(now);
        }
        match self.limit {
            // The packet in transmission does not count.
            Some(Limit::Packets(limit)) => occupancy.packets() + count <= limit.saturating_add(1),
            _ => true,
        }
    }

    /// Send packets of `bytes` that come at `now`. They must be skippable and have space. `leaves`
    /// is called with the arrival time of each at the far end.
    #[inline(always)]
    pub(crate) fn pass_train(
        &mut self,
        now: Time,
        count: u32,
        bytes: u16,
        mut leaves: impl FnMut(Time),
    ) {
        let Self { serializer: Some(serializer), meter, delay, .. } = self else { return };
        let wire_bytes = u32::from(bytes) + self.overhead_bytes;
        let mut waited = Span::ZERO;
        serializer.send_train(now, wire_bytes, count, |start, end| {
            // Summed for all and booked once, because the integral of the queue needs only the sum.
            waited = waited + start.since(now);
            meter.occupancy.add(end, wire_bytes);
            leaves(end + *delay);
        });
        meter.occupancy.book(count, wire_bytes, waited);
    }

    /// Return the earliest arrival time at the far end of a packet that comes at `now` or later.
    #[inline]
    pub(crate) fn train_begins(&self, now: Time) -> Time {
        self.free_at().max(now) + self.delay
    }

    /// Return an upper bound of the arrival time at the far end of the last of `count` packets of
    /// `bytes` that come at `now`. Also return an upper bound of the time between the first and the
    /// last.
    #[inline]
    pub(crate) fn train_ends(&self, now: Time, count: u32, bytes: u16) -> (Time, Span) {
        let Some(serializer) = &self.serializer else { return (now, Span::ZERO) };
        // The longest time for each: a late bound only makes a train shorter.
        let serialization = serializer.longest(u32::from(bytes) + self.overhead_bytes);
        let takes = serialization.saturating_mul(u64::from(count));
        (self.train_begins(now).saturating_add(takes), takes)
    }
}
