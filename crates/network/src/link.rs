//! One link: loss, a queue, a transmitter and a delay.
//!
//! Where the queue is first in, first out and the rate is known in advance, a packet's
//! departure is known the moment it arrives. So such a link is *prompt*: it needs no
//! events, says at once when a packet will reach the far end, and finds what still
//! waits by looking how many departures are over. A discipline that picks the next
//! packet only when the transmitter is free must be asked then ([`Link::serve`]).

use crate::chance::Chance;
use crate::delays::{Batch, Delays, Jitter, Reorder};
use crate::fifo::Fifo;
use crate::link_config::LinkConfig;
use crate::loss::LossModel;
use crate::packet::{Ecn, Packet};
use crate::policer::Policer;
use crate::queue::{Admission, Backlog, Queued, Scheduler, Verdict, scheduler};
use crate::random::Random;
use crate::transmitter::Transmitter;
use crate::units::{Span, Time};

/// Why a packet went no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue had no room or decided against the packet, or a policer did.
    Overflow,
    /// The link's random or scripted loss.
    Random,
}

/// What a link says of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It will be at the far end then.
    Leaves(Time),
    /// The same, but it has been marked.
    Marked(Time),
    /// It goes no further.
    Lost(DropCause),
    /// It waits in the queue; [`Link::serve`] will tell.
    Queued,
}

/// Counts since the run began; at any time
/// `arrived + duplicated = dropped + lost + departed + backlog`. The backlog is kept for
/// a link that is sampled or whose queue decides by it.
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
#[derive(Debug)]
struct Samples {
    interval: Span,
    taken: Vec<LinkCounters>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    time: Time,
    wire_bytes: u32,
}

/// What happens to packets before the queue.
#[derive(Debug)]
struct Entrance {
    policer: Option<Policer>,
    losses: Vec<LossModel>,
    duplicate: Option<Chance>,
    jitter: Option<Jitter>,
}

/// What happens to packets behind the transmitter, beyond a constant delay.
#[derive(Debug)]
struct Exit {
    delays: Delays,
    reorder: Option<Reorder>,
    batch: Option<Batch>,
}

#[derive(Debug)]
enum Queue {
    /// Decides on arrival.
    Fifo(Admission),
    /// Decides when the transmitter is free.
    Scheduled(Box<dyn Scheduler>),
}

/// A link at work.
#[derive(Debug)]
pub struct Link {
    entrance: Option<Box<Entrance>>,
    queue: Queue,
    transmitter: Transmitter,
    delay: Span,
    exit: Option<Box<Exit>>,
    overhead_bytes: u32,
    /// What is being sent and, of a FIFO, waits, if anybody wants to know.
    departures: Option<Fifo<Departure>>,
    /// What a scheduler refused, pushed out or gave up, until it is asked for.
    given_up: Vec<Packet>,
    counters: LinkCounters,
    samples: Option<Samples>,
    next_sample: Time,
}

/// Random numbers of one link are drawn from this many streams.
const STREAMS: u64 = 8;

impl Link {
    /// An idle link, the `number`th of the network, whose random numbers come from
    /// `seed`; if it is to be sampled, its counters are kept every `interval`.
    #[must_use]
    pub fn new(config: &LinkConfig, seed: u64, number: u64, interval: Option<Span>) -> Self {
        let random = |part| Random::new(seed, STREAMS * number + part);
        let overhead_bytes = u32::from(config.overhead_bytes);
        let interval = interval.filter(|_| config.sampled);
        let packet_time = config
            .rate
            .as_ref()
            .map_or(Span::ZERO, |rate| rate.typical_time(1_500 + overhead_bytes));
        let queue = match scheduler(&config.queue, random(0)) {
            Some(scheduler) => Queue::Scheduled(scheduler),
            None => {
                let admission = Admission::new(&config.queue, packet_time, random(0));
                Queue::Fifo(admission.expect("a discipline schedules or admits"))
            }
        };
        let counted = config.sampled || !matches!(queue, Queue::Fifo(Admission::Unlimited));
        Self {
            entrance: Entrance::new(config, random),
            queue,
            transmitter: Transmitter::new(config.rate.as_ref()),
            delay: config.delay.0[0].1,
            exit: Exit::new(config, random),
            overhead_bytes,
            departures: counted.then(Fifo::new),
            given_up: Vec::new(),
            counters: LinkCounters::default(),
            next_sample: interval.map_or(Time::NEVER, |interval| Time::ZERO + interval),
            samples: interval.map(|interval| Samples { interval, taken: Vec::new() }),
        }
    }

    /// Whether the link says at once when a packet leaves, hands on as many as it got
    /// and keeps their order.
    #[must_use]
    pub fn is_prompt(&self) -> bool {
        matches!(self.queue, Queue::Fifo(_)) && !self.duplicates() && !self.reorders()
    }

    /// Takes a packet at `now`, which never goes back between calls.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: Packet) -> Passage {
        if now > self.next_sample {
            self.sample_before(now);
        }
        self.counters.arrived_packets += 1;
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        let mut ready = now;
        if let Some(entrance) = &mut self.entrance {
            match entrance.pass(now, packet, wire_bytes, &mut self.counters) {
                Ok(held) => ready = held,
                Err(cause) => return Passage::Lost(cause),
            }
        }
        self.join(now, ready, packet, wire_bytes)
    }

    /// Whether the packet that has just arrived comes twice; the copy then joins by
    /// [`Self::join_again`].
    pub fn duplicate(&mut self) -> bool {
        let chance = self.entrance.as_mut().and_then(|entrance| entrance.duplicate.as_mut());
        let happens = chance.is_some_and(Chance::happens);
        self.counters.duplicated_packets += u64::from(happens);
        happens
    }

    /// Whether packets may come twice.
    #[inline]
    #[must_use]
    pub fn duplicates(&self) -> bool {
        self.entrance.as_ref().is_some_and(|entrance| entrance.duplicate.is_some())
    }

    /// The copy of a packet that has just arrived.
    pub fn join_again(&mut self, now: Time, packet: Packet) -> Passage {
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        self.join(now, now, packet, wire_bytes)
    }

    #[inline]
    fn join(&mut self, now: Time, ready: Time, packet: Packet, wire_bytes: u32) -> Passage {
        let verdict = match &mut self.queue {
            Queue::Fifo(Admission::Unlimited) => Verdict::Accept,
            Queue::Fifo(_) => self.admit(now, packet, wire_bytes),
            Queue::Scheduled(_) => return self.enqueue(now, packet, wire_bytes),
        };
        if verdict == Verdict::Drop {
            self.counters.dropped_packets += 1;
            return Passage::Lost(DropCause::Overflow);
        }
        let (start, end) = self.transmitter.send(ready, wire_bytes);
        self.count(start.since(now), Departure { time: end, wire_bytes });
        let at = self.far_end(end);
        if verdict == Verdict::Accept {
            return Passage::Leaves(at);
        }
        self.counters.marked_packets += u64::from(packet.ecn() != Ecn::Ce);
        Passage::Marked(at)
    }

    #[inline]
    fn admit(&mut self, now: Time, packet: Packet, wire_bytes: u32) -> Verdict {
        self.depart(now);
        let free = self.transmitter.free_at();
        let sending = self.departures.as_ref().and_then(Fifo::front);
        let backlog = Backlog {
            packets: self.counters.backlog_packets,
            bytes: self.counters.backlog_bytes,
            sending_bytes: sending.map_or(0, |departure| departure.wire_bytes),
            wait: Span(free.0.saturating_sub(now.0)),
            idle: Span(now.0.saturating_sub(free.0)),
        };
        match &mut self.queue {
            Queue::Fifo(admission) => admission.admit(now, &backlog, packet, wire_bytes),
            Queue::Scheduled(_) => unreachable!("a scheduler takes every packet first"),
        }
    }

    fn enqueue(&mut self, now: Time, packet: Packet, wire_bytes: u32) -> Passage {
        let Queue::Scheduled(scheduler) = &mut self.queue else {
            unreachable!("a first-in, first-out queue admits")
        };
        scheduler.enqueue(now, Queued { packet, wire_bytes, since: now }, &mut self.given_up);
        self.depart(now);
        self.grow_backlog(wire_bytes);
        Passage::Queued
    }

    /// When [`Self::serve`] is to be called, as of `now`: a packet waits and the
    /// transmitter is free.
    #[must_use]
    pub fn next_service(&self, now: Time) -> Time {
        match &self.queue {
            Queue::Scheduled(scheduler) if scheduler.packets() > 0 => self.transmitter.begins(now),
            _ => Time::NEVER,
        }
    }

    /// Sends the packet whose turn it is; gives when it will be at the far end. There may
    /// be none, if all that waited is given up.
    pub fn serve(&mut self, now: Time) -> Option<(Time, Packet)> {
        if now > self.next_sample {
            self.sample_before(now);
        }
        let Queue::Scheduled(scheduler) = &mut self.queue else { return None };
        let marked = scheduler.marked();
        let queued = scheduler.dequeue(now, &mut self.given_up)?;
        self.counters.marked_packets += scheduler.marked() - marked;
        let Queued { packet, wire_bytes, since } = queued;
        let (start, end) = self.transmitter.send(now, wire_bytes);
        self.depart(now);
        let waited = start.since(since);
        self.counters.waiting_byte_ns += u128::from(waited.0) * u128::from(wire_bytes);
        self.note_departure(Departure { time: end, wire_bytes });
        Some((self.far_end(end), packet))
    }

    /// A packet that the scheduler gave up and nobody has asked for yet.
    pub fn take_given_up(&mut self) -> Option<Packet> {
        let packet = self.given_up.pop()?;
        self.counters.dropped_packets += 1;
        self.counters.backlog_packets -= 1;
        self.counters.backlog_bytes -= u64::from(packet.bytes()) + u64::from(self.overhead_bytes);
        Some(packet)
    }

    /// Whether late packets are overtaken behind the transmitter.
    #[must_use]
    pub fn reorders(&self) -> bool {
        self.exit.as_ref().is_some_and(|exit| exit.reorder.is_some())
    }

    /// Packets that wait for a scheduler's decision.
    #[must_use]
    pub fn waiting(&self) -> Vec<Packet> {
        match &self.queue {
            Queue::Scheduled(scheduler) => scheduler.waiting(),
            Queue::Fifo(_) => Vec::new(),
        }
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

    /// When a packet that leaves the transmitter at `end` is at the far end.
    #[inline]
    fn far_end(&mut self, end: Time) -> Time {
        match &mut self.exit {
            None => end + self.delay,
            Some(exit) => exit.far_end(end),
        }
    }

    #[inline]
    fn count(&mut self, waited: Span, departure: Departure) {
        if self.departures.is_some() {
            let wire_bytes = departure.wire_bytes;
            self.counters.waiting_byte_ns += u128::from(waited.0) * u128::from(wire_bytes);
            self.grow_backlog(wire_bytes);
            self.note_departure(departure);
        }
    }

    #[inline]
    fn grow_backlog(&mut self, wire_bytes: u32) {
        let counters = &mut self.counters;
        counters.backlog_packets += 1;
        counters.backlog_bytes += u64::from(wire_bytes);
        counters.backlog_packets_max = counters.backlog_packets_max.max(counters.backlog_packets);
    }

    #[inline]
    fn note_departure(&mut self, departure: Departure) {
        if let Some(departures) = &mut self.departures {
            departures.push(departure);
        }
    }

    /// Moves what has left the transmitter by `now` out of the backlog.
    #[inline]
    fn depart(&mut self, now: Time) {
        let Some(departures) = &mut self.departures else { return };
        while let Some(departure) = departures.front()
            && departure.time <= now
        {
            departures.pop();
            let wire_bytes = u64::from(departure.wire_bytes);
            self.counters.backlog_packets -= 1;
            self.counters.backlog_bytes -= wire_bytes;
            self.counters.departed_packets += 1;
            self.counters.departed_bytes += wire_bytes;
        }
    }
}

impl Entrance {
    fn new(config: &LinkConfig, random: impl Fn(u64) -> Random) -> Option<Box<Self>> {
        let mut losses = random(1);
        let plain = config.policer.is_none() && config.loss.is_empty() && config.duplicate == 0.0;
        if plain && config.jitter == Span::ZERO {
            return None;
        }
        let jittery = config.jitter > Span::ZERO;
        Some(Box::new(Self {
            policer: config.policer.as_ref().map(Policer::new),
            losses: config.loss.iter().map(|loss| LossModel::new(loss, losses.split())).collect(),
            duplicate: (config.duplicate > 0.0).then(|| Chance::new(config.duplicate, random(2))),
            jitter: jittery.then(|| Jitter::new(config.jitter, random(3))),
        }))
    }

    /// When the packet joins the queue, or why it does not.
    #[inline]
    fn pass(
        &mut self,
        now: Time,
        packet: Packet,
        wire_bytes: u32,
        counters: &mut LinkCounters,
    ) -> Result<Time, DropCause> {
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, wire_bytes)) {
            counters.dropped_packets += 1;
            return Err(DropCause::Overflow);
        }
        if self.losses.iter_mut().any(|loss| loss.lost(now, packet)) {
            counters.lost_packets += 1;
            return Err(DropCause::Random);
        }
        Ok(self.jitter.as_mut().map_or(now, |jitter| jitter.ready(now)))
    }
}

impl Exit {
    fn new(config: &LinkConfig, random: impl Fn(u64) -> Random) -> Option<Box<Self>> {
        let plain = config.delay.0.len() == 1 && config.reorder.is_none();
        if plain && config.batch == Span::ZERO {
            return None;
        }
        Some(Box::new(Self {
            delays: Delays::new(&config.delay),
            reorder: config.reorder.as_ref().map(|reorder| Reorder::new(reorder, random(4))),
            batch: Batch::new(config.batch),
        }))
    }

    fn far_end(&mut self, end: Time) -> Time {
        let arrives = self.delays.arrives(end);
        let late = self.reorder.as_mut().and_then(Reorder::late_by).unwrap_or(Span::ZERO);
        let arrives = arrives + late;
        self.batch.map_or(arrives, |batch| batch.delivers(arrives))
    }
}
