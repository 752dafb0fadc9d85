//! One link: random loss, a queue, a transmitter and a delay.
//!
//! Where the queue is first in, first out and the rate is known in advance, a packet's
//! departure is known the moment it arrives. So a link needs no events: it says at
//! once when a packet will reach the far end, and finds what still waits by looking
//! how many departures are over.

use serde::Deserialize;

use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::random::{Bernoulli, Random};
use crate::serializer::Serializer;
use crate::units::{Rate, Span, Time};

/// How much may wait for the transmitter, the packet being sent not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueLimit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes, link overhead included.
    Bytes(u64),
}

/// What a link is made of, in base units.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Name for people.
    pub name: String,
    /// Transmission rate; none means that serialisation takes no time.
    pub rate: Option<RateConfig>,
    /// One-way propagation delay and its changes: when, and which from then on.
    pub delay: Vec<(Time, Span)>,
    /// Bytes on the wire beyond those of the IP packet.
    pub overhead_bytes: u16,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// Random and scripted losses, before the queue.
    pub loss: Vec<LossConfig>,
    /// A token bucket that drops what exceeds it.
    pub policer: Option<PolicerConfig>,
    /// Probability at which a packet is sent twice.
    pub duplicate: f64,
    /// Packets that are late.
    pub reorder: Option<ReorderConfig>,
    /// Longest random delay before the queue, order kept (a busy host).
    #[serde(rename = "jitter_ns")]
    pub jitter: Span,
    /// Packets reach the far end at multiples of this time only; 0: at any time.
    #[serde(rename = "batch_ns")]
    pub batch: Span,
    /// Its counters are wanted.
    pub sampled: bool,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Placeholder {}

/// A policer: what exceeds its token bucket is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicerConfig {
    /// Rate at which the bucket fills.
    pub rate_bps: Rate,
    /// Size of the bucket.
    pub burst_bytes: u64,
}

/// Packets that are overtaken by others.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderConfig {
    /// Probability for each packet.
    pub probability: f64,
    /// By how much such a packet is late.
    #[serde(rename = "delay_ns")]
    pub delay: Span,
}

/// At which rate a link sends.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateConfig {
    /// Always the same.
    Constant(Rate),
}

/// A queue and its discipline.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct QueueConfig {
    /// Room; none: unlimited.
    pub limit: Option<QueueLimit>,
    discipline: Placeholder,
}

/// One cause of loss.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LossConfig {
    /// Independent losses.
    Bernoulli {
        /// When, and with which probability from then on.
        probability: Vec<(Time, f64)>,
    },
}

impl LinkConfig {
    /// What the types do not ensure: the key at fault and what is wrong with it.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn check(&self) -> Result<(), (String, String)> {
        check_schedule(&self.delay).map_err(|problem| ("delay".into(), problem))?;
        for (index, LossConfig::Bernoulli { probability }) in self.loss.iter().enumerate() {
            let key = format!("loss.{index}.probability");
            check_schedule(probability).map_err(|problem| (key.clone(), problem))?;
            if let Some((_, wrong)) = probability.iter().find(|(_, p)| !(0.0..1.0).contains(p)) {
                return Err((key, format!("{wrong}, but it must be in 0..1")));
            }
        }
        Ok(())
    }
}

/// A schedule begins at 0 and goes on in time.
fn check_schedule<T>(steps: &[(Time, T)]) -> Result<(), String> {
    match steps.first() {
        Some((Time::ZERO, _)) => {}
        _ => return Err("has no step at 0".into()),
    }
    if steps.is_sorted_by(|(before, _), (after, _)| before < after) {
        Ok(())
    } else {
        Err("its steps are not in order of time".into())
    }
}

/// Why a packet went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue had no room or decided against the packet.
    Overflow,
    /// The link's random loss.
    Random,
}

/// What a link says of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It will be at the far end then.
    Leaves(Time),
    /// It goes no further.
    Lost(DropCause),
}

/// Counts since the run began; at any time
/// `arrived = dropped + lost + departed + backlog`. The backlog is kept for a link
/// that is sampled or has a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets that reached the link.
    pub arrived_packets: u64,
    /// Packets refused by the queue.
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
    /// Largest backlog in packets so far.
    pub backlog_packets_max: u32,
    /// Integral of waiting bytes over time, in byte nanoseconds.
    pub waiting_byte_ns: u128,
}

/// Counts kept at regular times.
#[derive(Clone, Debug)]
struct Samples {
    interval: Span,
    taken: Vec<LinkCounters>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    time: Time,
    wire_bytes: u32,
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
    limit: Option<QueueLimit>,
    loss: Option<Bernoulli>,
    jitter: Option<Jitter>,
    /// What waits or is being sent, if anybody wants to know.
    backlog: Option<Fifo<Departure>>,
    counters: LinkCounters,
    samples: Option<Samples>,
    next_sample: Time,
}

impl Link {
    /// An idle link whose random numbers come from stream `stream` of `seed`; if it is to
    /// be sampled, its counters are kept every `interval`.
    #[must_use]
    pub fn new(config: &LinkConfig, seed: u64, stream: u64, interval: Option<Span>) -> Self {
        let random = |part| Random::new(seed, 2 * stream + part);
        let probability: f64 =
            config.loss.iter().map(|LossConfig::Bernoulli { probability }| probability[0].1).sum();
        let jittery = config.jitter > Span::ZERO;
        let interval = interval.filter(|_| config.sampled);
        let counted = config.sampled || config.queue.limit.is_some();
        Self {
            serializer: config
                .rate
                .as_ref()
                .map(|RateConfig::Constant(rate)| Serializer::new(*rate)),
            delay: config.delay[0].1,
            overhead_bytes: config.overhead_bytes,
            limit: config.queue.limit,
            loss: (probability > 0.0).then(|| Bernoulli::new(probability, random(0))),
            jitter: jittery.then(|| Jitter {
                max: config.jitter,
                latest: Time::ZERO,
                random: random(1),
            }),
            backlog: counted.then(Fifo::new),
            counters: LinkCounters::default(),
            next_sample: interval.map_or(Time::NEVER, |interval| Time::ZERO + interval),
            samples: interval.map(|interval| Samples { interval, taken: Vec::new() }),
        }
    }

    /// Whether the link says at once when a packet leaves, and keeps the order.
    #[must_use]
    pub const fn is_prompt(&self) -> bool {
        true
    }

    /// Takes a packet at `now`, which never goes back between calls.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: Packet) -> Passage {
        if now > self.next_sample {
            self.sample_before(now);
        }
        self.counters.arrived_packets += 1;
        if self.loss.as_mut().is_some_and(Bernoulli::lost) {
            self.counters.lost_packets += 1;
            return Passage::Lost(DropCause::Random);
        }
        let wire_bytes = u32::from(packet.bytes()) + u32::from(self.overhead_bytes);
        if !self.has_room(now, u64::from(wire_bytes)) {
            self.counters.dropped_packets += 1;
            return Passage::Lost(DropCause::Overflow);
        }
        let ready = self.jitter.as_mut().map_or(now, |jitter| jitter.ready(now));
        let (start, end) = match &mut self.serializer {
            Some(serializer) => serializer.send(ready, wire_bytes),
            None => (ready, ready),
        };
        self.count(now, start, Departure { time: end, wire_bytes });
        Passage::Leaves(end + self.delay)
    }

    /// Counts as of `end` and at every interval before, after the last packet.
    pub fn finish(&mut self, end: Time) -> (LinkCounters, Vec<LinkCounters>) {
        self.sample_before(end.saturating_add(Span(1)));
        self.depart(end);
        let taken = self.samples.take().map(|samples| samples.taken);
        (self.counters, taken.unwrap_or_default())
    }

    #[cold]
    fn sample_before(&mut self, time: Time) {
        while self.next_sample < time {
            self.depart(self.next_sample);
            let samples = self.samples.as_mut().expect("a time only where samples are taken");
            samples.taken.push(self.counters);
            self.next_sample += samples.interval;
        }
    }

    #[inline]
    fn count(&mut self, now: Time, start: Time, departure: Departure) {
        let Some(backlog) = &mut self.backlog else { return };
        backlog.push(departure);
        let (counters, wire_bytes) = (&mut self.counters, departure.wire_bytes);
        counters.backlog_packets += 1;
        counters.backlog_bytes += u64::from(wire_bytes);
        counters.backlog_packets_max = counters.backlog_packets_max.max(counters.backlog_packets);
        counters.waiting_byte_ns += u128::from(start.since(now).0) * u128::from(wire_bytes);
    }

    /// Moves what has left the transmitter by `now` out of the backlog.
    #[inline]
    fn depart(&mut self, now: Time) {
        let Some(backlog) = &mut self.backlog else { return };
        while let Some(departure) = backlog.front()
            && departure.time <= now
        {
            backlog.pop();
            let wire_bytes = u64::from(departure.wire_bytes);
            self.counters.backlog_packets -= 1;
            self.counters.backlog_bytes -= wire_bytes;
            self.counters.departed_packets += 1;
            self.counters.departed_bytes += wire_bytes;
        }
    }

    /// Whether the queue takes a packet at `now`.
    #[inline]
    fn has_room(&mut self, now: Time, wire_bytes: u64) -> bool {
        self.depart(now);
        match self.limit {
            None => true,
            Some(QueueLimit::Packets(limit)) => self.counters.backlog_packets <= limit,
            Some(QueueLimit::Bytes(limit)) => {
                self.counters.backlog_packets == 0 || self.waiting_bytes() + wire_bytes <= limit
            }
        }
    }

    /// Bytes of the backlog behind the packet that is being sent.
    fn waiting_bytes(&self) -> u64 {
        let sending = self.backlog.as_ref().and_then(Fifo::front);
        self.counters.backlog_bytes - sending.map_or(0, |sending| u64::from(sending.wire_bytes))
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
