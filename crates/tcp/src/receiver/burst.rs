//! Bursts that are received at once, where header prediction holds for all of their segments.

use dumbbell_network::{Span, Time};

use super::{DELAYED_SEGS_MAX, Receiver};
use crate::ack::Ack;

/// The acknowledgements of a predicted burst.
#[derive(Debug)]
pub struct BurstAcks {
    next: u64,
    /// Segments until the next acknowledgement.
    until_ack: u64,
    /// The timestamp that it echoes, and that of those after it.
    echo: u32,
    echo_then: u32,
}

impl BurstAcks {
    /// The acknowledgement to send when the next segment arrives, if any.
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
    /// Whether `segs` full segments in order from `first` on that say nothing but `stamp` are as
    /// expected, if the last comes until `last` and not more than `takes` after the first.
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

    /// Whether the segments of such a burst are to be taken by [`Self::on_predicted_data`], one by
    /// one, as receive offload is on.
    #[inline]
    #[must_use]
    pub const fn gathers(&self) -> bool {
        self.gathers
    }

    /// Takes such a burst of `segs` segments, all with one timestamp. `arrives` lets them
    /// arrive one by one, asks for the acknowledgement of each, and gives when the last came.
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
        // A segment that waits has set the timestamp to echo: the first that an ACK covers decides
        // (RFC 7323, section 4.3).
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
