//! One link: random loss, a drop-tail queue, a transmitter and a fixed delay.
//!
//! Because the queue is first in, first out and the rate constant, a packet's
//! departure is known the moment it arrives. So a link needs no event for its
//! queue: accepted packets lie in one ring, ordered by the time at which they reach
//! the far end, and what still waits is found by looking how many of them have
//! left the transmitter.

use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::random::{Bernoulli, Random};
use crate::serializer::Serializer;
use crate::units::{Rate, Span, Time};

/// How much may wait for the transmitter, the packet being sent not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// Nothing is ever dropped for want of room.
    Unlimited,
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes, link overhead included.
    Bytes(u64),
}

/// What a link is made of.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Transmission rate; none means that serialisation takes no time.
    pub rate: Option<Rate>,
    /// One-way propagation delay.
    pub delay: Span,
    /// Bytes on the wire beyond those of the IP packet.
    pub overhead_bytes: u16,
    /// Room in front of the transmitter.
    pub queue: QueueLimit,
    /// Probability at which arriving packets are lost at random.
    pub loss_probability: f64,
    /// Longest random delay before the queue, order kept (a busy host).
    pub jitter: Span,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            rate: None,
            delay: Span::ZERO,
            overhead_bytes: 0,
            queue: QueueLimit::Unlimited,
            loss_probability: 0.0,
            jitter: Span::ZERO,
        }
    }
}

impl LinkConfig {
    /// Whether packets pass such a link unchanged and at once.
    #[must_use]
    pub fn is_transparent(&self) -> bool {
        let waits = self.rate.is_some() || self.delay > Span::ZERO || self.jitter > Span::ZERO;
        !waits && self.loss_probability == 0.0
    }
}

/// Why a packet went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was full.
    Overflow,
    /// The link's random loss.
    Random,
}

/// What became of a packet that arrived at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It will reach the far end later.
    Accepted,
    /// It reached the far end at once.
    Through,
    /// It is gone.
    Dropped(DropCause),
}

/// Counts since the run began; at any time
/// `arrived = dropped + lost + departed + backlog`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that reached the link.
    pub arrived_packets: u64,
    /// Packets refused by a full queue.
    pub dropped_packets: u64,
    /// Packets lost at random.
    pub lost_packets: u64,
    /// Packets that have left the transmitter.
    pub departed_packets: u64,
    /// Bytes on the wire that have left the transmitter.
    pub departed_bytes: u64,
    /// Packets waiting or being sent.
    pub backlog_packets: u32,
    /// Bytes waiting or being sent.
    pub backlog_bytes: u64,
    /// Largest backlog in packets so far; kept for a limited queue.
    pub backlog_packets_max: u32,
    /// Integral of waiting bytes over time, in byte nanoseconds; kept for a limited queue.
    pub waiting_byte_ns: u128,
}

#[derive(Clone, Copy, Debug, Default)]
struct InPipe {
    arrives: Time,
    packet: Packet,
}

#[derive(Clone, Debug)]
struct Jitter {
    max: Span,
    latest: Time,
    random: Random,
}

/// A link at work.
#[derive(Clone, Debug)]
pub struct Link {
    serializer: Option<Serializer>,
    delay: Span,
    overhead_bytes: u16,
    limit: QueueLimit,
    loss: Option<Bernoulli>,
    jitter: Option<Jitter>,
    pipe: Fifo<InPipe>,
    /// The first entry of `pipe` that is not known to have left the transmitter.
    sending: u64,
    counters: LinkCounters,
}

impl Link {
    /// An idle link whose random numbers come from stream `stream` of `seed`.
    #[must_use]
    pub fn new(config: &LinkConfig, seed: u64, stream: u64) -> Self {
        let random = |part| Random::new(seed, 2 * stream + part);
        let lossy = config.loss_probability > 0.0;
        let jittery = config.jitter > Span::ZERO;
        Self {
            serializer: config.rate.map(Serializer::new),
            delay: config.delay,
            overhead_bytes: config.overhead_bytes,
            limit: config.queue,
            loss: lossy.then(|| Bernoulli::new(config.loss_probability, random(0))),
            jitter: jittery.then(|| Jitter {
                max: config.jitter,
                latest: Time::ZERO,
                random: random(1),
            }),
            pipe: Fifo::new(),
            sending: 0,
            counters: LinkCounters::default(),
        }
    }

    /// Takes a packet at `now`, which never goes back between calls.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: Packet) -> Arrival {
        self.counters.arrived_packets += 1;
        if self.loss.as_mut().is_some_and(Bernoulli::lost) {
            self.counters.lost_packets += 1;
            return Arrival::Dropped(DropCause::Random);
        }
        let wire_bytes = u32::from(packet.bytes()) + u32::from(self.overhead_bytes);
        if !self.has_room(now, u64::from(wire_bytes)) {
            self.counters.dropped_packets += 1;
            return Arrival::Dropped(DropCause::Overflow);
        }
        let ready = self.jitter.as_mut().map_or(now, |jitter| jitter.ready(now));
        let (start, end) = match &mut self.serializer {
            Some(serializer) => serializer.send(ready, wire_bytes),
            None => (ready, ready),
        };
        let arrives = end + self.delay;
        if arrives == now {
            self.counters.departed_packets += 1;
            self.counters.departed_bytes += u64::from(wire_bytes);
            return Arrival::Through;
        }
        self.pipe.push(InPipe { arrives, packet });
        let counters = &mut self.counters;
        counters.backlog_packets += 1;
        counters.backlog_bytes += u64::from(wire_bytes);
        if self.limit != QueueLimit::Unlimited {
            counters.backlog_packets_max =
                counters.backlog_packets_max.max(counters.backlog_packets);
            counters.waiting_byte_ns += u128::from(start.since(now).0) * u128::from(wire_bytes);
        }
        Arrival::Accepted
    }

    /// When the next packet reaches the far end.
    #[inline]
    #[must_use]
    pub fn next_arrival(&self) -> Time {
        self.pipe.front().map_or(Time::NEVER, |head| head.arrives)
    }

    /// The packet that [`Self::next_arrival`] announced.
    ///
    /// # Panics
    /// If nothing is under way.
    #[inline]
    pub fn take(&mut self) -> Packet {
        let packet = self.pipe.pop().packet;
        if self.sending < self.pipe.popped() {
            self.count_departure(packet);
        }
        packet
    }

    /// Counts as of `now`.
    pub fn counters(&mut self, now: Time) -> LinkCounters {
        self.depart(now);
        self.counters
    }

    /// Packets between the link's two ends.
    pub fn under_way(&self) -> impl Iterator<Item = Packet> {
        self.pipe.iter().map(|entry| entry.packet)
    }

    /// Moves what has left the transmitter by `now` out of the backlog.
    #[inline]
    fn depart(&mut self, now: Time) {
        let latest = now + self.delay;
        while self.sending < self.pipe.pushed() {
            let entry = self.pipe.get(self.sending);
            if entry.arrives > latest {
                break;
            }
            self.count_departure(entry.packet);
        }
    }

    #[inline]
    fn count_departure(&mut self, packet: Packet) {
        let wire_bytes = u64::from(packet.bytes()) + u64::from(self.overhead_bytes);
        self.sending += 1;
        self.counters.backlog_packets -= 1;
        self.counters.backlog_bytes -= wire_bytes;
        self.counters.departed_packets += 1;
        self.counters.departed_bytes += wire_bytes;
    }

    /// Whether the queue takes a packet at `now`.
    #[inline]
    fn has_room(&mut self, now: Time, wire_bytes: u64) -> bool {
        match self.limit {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => {
                self.depart(now);
                self.counters.backlog_packets <= limit
            }
            QueueLimit::Bytes(limit) => {
                self.depart(now);
                self.counters.backlog_packets == 0 || self.waiting_bytes() + wire_bytes <= limit
            }
        }
    }

    /// Bytes of the backlog behind the packet that is being sent.
    fn waiting_bytes(&self) -> u64 {
        let sending = self.pipe.get(self.sending).packet;
        let sending = u64::from(sending.bytes()) + u64::from(self.overhead_bytes);
        self.counters.backlog_bytes - sending
    }
}

impl Jitter {
    #[inline]
    fn ready(&mut self, now: Time) -> Time {
        let drawn = now + Span(self.random.up_to(self.max.0));
        self.latest = self.latest.max(drawn);
        self.latest
    }
}
