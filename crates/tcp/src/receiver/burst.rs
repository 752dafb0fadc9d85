//! Bursts that are received in one step, because header prediction holds for all their segments.

use dumbbell_network::{Span, Time};

use super::{DELAYED_SEGS_MAX, Receiver};
use crate::ack::Ack;

/// The ACKs of a predicted burst.
#[derive(Debug)]
pub struct BurstAcks {
    next: u64,
    /// Number of segments until the next ACK.
    until_ack: u64,
    /// The timestamp that it echoes, and that of the ACKs after it.
    echo: u32,
    echo_then: u32,
}

impl BurstAcks {
    /// Return the ACK to send when the next segment arrives; None if there is none.
    #[inline(always)]
    pub fn of_next(&mut self) -> Option<Ack> {
        self.next += 1;
        self.until_ack -= 1;
        if self.until_ack > 0 {
            return None;
        }
        let ack = Ack { cumulative: self.next, echo: self.echo, ece: false, has_blocks: false };
        (self.until_ack, self.echo) = (DELAYED_SEGS_MAX, self.echo_then);
        Some(ack)
    }
}

impl Receiver {
    /// Return whether a burst is as expected: `segs` full segments in order from `first` on, with
    /// the timestamp `stamp` and no marks. The last comes by `last`, and at most `takes` after the
    /// first.
    #[inline]
    #[must_use]
    pub fn predicts_burst(
        &self,
        (first, segs, stamp): (u64, u32, u32),
        last: Time,
        takes: Span,
    ) -> bool {
        let fits = if self.gathers {
            self.slow.coalescer.gathers_for(takes)
        } else {
            self.push.next() - self.next >= u64::from(segs)
        };
        fits && self.predicts(last, first, stamp)
            && !self.delay.is_quick()
            && takes < self.delay.wait()
    }

    /// Return whether receive offload is on. [`Self::on_predicted_data`] must then take the
    /// segments of such a burst one by one.
    #[inline]
    #[must_use]
    pub const fn gathers(&self) -> bool {
        self.gathers
    }

    /// Take such a burst of `segs` segments with one timestamp. `arrives` lets them arrive one by
    /// one, gets the ACK of each, and returns the time of the last.
    #[inline(always)]
    pub fn on_predicted_burst(
        &mut self,
        segs: u32,
        stamp: u32,
        arrives: impl FnOnce(&mut BurstAcks) -> Time,
    ) {
        let waiting = self.next - self.acknowledged;
        let until_ack = DELAYED_SEGS_MAX - waiting;
        let echo_then = if self.is_newer(stamp) { stamp & self.stamp_mask } else { self.echo };
        // A waiting segment has set the timestamp to echo, because the first that an ACK covers
        // decides (RFC 7323, section 4.3).
        let echo = if waiting > 0 { self.echo } else { echo_then };
        let last = arrives(&mut BurstAcks { next: self.next, until_ack, echo, echo_then });
        let segs = u64::from(segs);
        if waiting == 0 || segs > until_ack {
            self.echo = echo_then;
        }
        let waiting = (waiting + segs) % DELAYED_SEGS_MAX;
        self.next += segs;
        self.expected = self.next;
        self.acknowledged = self.next - waiting;
        self.received_segs += segs;
        self.delay.on_predicted_data(last);
        self.ack_due = if waiting > 0 { last + self.delay.wait() } else { Time::NEVER };
    }
}
