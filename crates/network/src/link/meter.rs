//! The counters of a link, and their samples.

use super::outcome::DropCause;
use crate::delay_histograms::QueueDelays;
use crate::drops::{Drops, Refusal};
use crate::occupancy::Occupancy;
use crate::units::{Span, Time};

/// Counts since the run began. At any time `arrived + duplicated = dropped + lost + departed +
/// backlog`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that reached the link.
    pub arrived_packets: u64,
    /// Packets that joined the queue a second time.
    pub duplicated_packets: u64,
    /// Packets refused or given up by the queue or a policer.
    pub dropped_packets: u64,
    /// Packets lost at random.
    pub lost_packets: u64,
    /// Packets that the queue marked.
    pub marked_packets: u64,
    /// Packets that have left the transmitter.
    pub departed_packets: u64,
    /// Bytes on the wire that have left the transmitter.
    pub departed_bytes: u64,
    /// Packets that wait or are in transmission.
    pub backlog_packets: u32,
    /// Bytes on the wire that wait or are in transmission.
    pub backlog_bytes: u64,
    /// Largest backlog in packets so far.
    pub backlog_packets_max: u32,
    /// Integral of waiting bytes over time, in byte nanoseconds.
    pub waiting_byte_ns: u128,
}

/// State and counts of a scheduler's queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pub packets: u32,
    pub bytes: u64,
    pub packets_max: u32,
    pub marked_packets: u64,
}

/// Counters of one link.
#[derive(Debug)]
pub(super) struct Meter {
    /// Time of the next sample.
    pub next_sample: Time,
    pub arrived_packets: u64,
    /// Packets that the transmitter has and has not sent yet.
    pub occupancy: Occupancy,
    pub duplicated_packets: u64,
    pub dropped_packets: u64,
    pub lost_packets: u64,
    pub marked_packets: u64,
    /// Drops of the queue.
    pub drops: Drops,
    /// True if a wait counts when it ends, as it does with a scheduler.
    pub counts_as_scheduler: bool,
    /// Waits of packets; None if they are not recorded.
    pub delays: Option<Box<QueueDelays>>,
    samples: Option<Samples>,
}

/// Counters kept at regular times.
#[derive(Debug)]
struct Samples {
    interval: Span,
    counters_so_far: Vec<LinkCounters>,
}

impl Meter {
    /// A meter at zero that takes a sample every `interval`. None takes no samples.
    pub fn new(interval: Option<Span>) -> Self {
        Self {
            next_sample: interval.map_or(Time::NEVER, |interval| Time::ZERO + interval),
            arrived_packets: 0,
            occupancy: Occupancy::new(),
            duplicated_packets: 0,
            dropped_packets: 0,
            lost_packets: 0,
            marked_packets: 0,
            drops: Drops::default(),
            counts_as_scheduler: false,
            delays: None,
            samples: interval.map(|interval| Samples { interval, counters_so_far: Vec::new() }),
        }
    }

    /// Count a packet that got no further than the ingress.
    #[cold]
    pub const fn count_loss(&mut self, cause: DropCause) {
        match cause {
            DropCause::Overflow => self.dropped_packets += 1,
            DropCause::Random => self.lost_packets += 1,
        }
    }

    /// Count a packet of a flow that the queue drops.
    #[cold]
    pub fn turn_away(&mut self, now: Time, flow: u32, refusal: Option<Refusal>) {
        self.dropped_packets += 1;
        self.drops.note(now, flow, refusal);
    }

    /// Take the samples of every interval before `time`.
    #[cold]
    pub fn sample_before(&mut self, time: Time, waiting: Waiting) {
        while self.next_sample < time {
            let counters = self.counters(self.next_sample, waiting);
            let samples = self.samples.as_mut().expect("a time only where samples are taken");
            samples.counters_so_far.push(counters);
            self.next_sample += samples.interval;
        }
    }

    /// Return the counts at `end` and the samples before. Call this after the last packet.
    pub fn finish(&mut self, end: Time, waiting: Waiting) -> (LinkCounters, Vec<LinkCounters>) {
        // One nanosecond later, so an interval that ends with the run has a sample, too.
        self.sample_before(end.saturating_add(Span(1)), waiting);
        let counters_so_far = self.samples.take().map(|samples| samples.counters_so_far);
        (self.counters(end, waiting), counters_so_far.unwrap_or_default())
    }

    fn counters(&mut self, now: Time, waiting: Waiting) -> LinkCounters {
        let occupancy = &mut self.occupancy;
        occupancy.depart(now);
        let backlog_packets = occupancy.packets() + waiting.packets;
        let entered = self.arrived_packets + self.duplicated_packets;
        let gone = self.dropped_packets + self.lost_packets + u64::from(backlog_packets);
        LinkCounters {
            arrived_packets: self.arrived_packets,
            duplicated_packets: self.duplicated_packets,
            dropped_packets: self.dropped_packets,
            lost_packets: self.lost_packets,
            marked_packets: self.marked_packets + waiting.marked_packets,
            // Departures are not counted one by one. A packet that entered and is neither lost nor
            // here has left.
            departed_packets: entered - gone,
            departed_bytes: occupancy.departed_bytes(),
            backlog_packets,
            backlog_bytes: occupancy.bytes() + waiting.bytes,
            backlog_packets_max: occupancy.packets_max().max(waiting.packets_max),
            waiting_byte_ns: if self.counts_as_scheduler {
                occupancy.waited_byte_ns(now)
            } else {
                occupancy.waiting_byte_ns()
            },
        }
    }
}
