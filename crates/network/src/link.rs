//! One link: loss, a queue, a transmitter and a delay.
//!
//! Where the queue is first in, first out and the rate is known in advance, a packet's
//! departure is known the moment it arrives. So such a link is *prompt*: it needs no
//! events, says at once when a packet will reach the far end, and finds what still
//! waits by looking how many departures are over. A discipline that picks the next
//! packet only when the transmitter is free must be asked then ([`Link::serve`]).

use std::num::NonZeroU64;

use crate::chance::Chance;
use crate::delay_histograms::QueueDelays;
use crate::delays::{Batch, Delays, Jitter, Reorder};
use crate::drops::{Drops, Refusal};
use crate::link_config::LinkConfig;
use crate::loss::{LossModel, Losses};
use crate::occupancy::Occupancy;
use crate::packet::{Ecn, Packet};
use crate::policer::Policer;
use crate::queue::{Admission, Backlog, Limit, Queued, Scheduler, Verdict, scheduler};
use crate::random::Random;
use crate::serializer::Serializer;
use crate::transmitter::{RateConfig, Transmitter};
use crate::units::{Rate, Span, Time};

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
/// `arrived + duplicated = dropped + lost + departed + backlog`.
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

/// What happens to packets before the queue.
#[derive(Debug)]
struct Entrance {
    policer: Option<Policer>,
    losses: Losses,
    duplicate: Option<Chance>,
    jitter: Option<Jitter>,
}

/// What happens to packets behind the transmitter, beyond a constant delay.
#[derive(Debug)]
struct Exit {
    delays: Delays,
    jitter: Option<Jitter>,
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
    next_sample: Time,
    arrived_packets: u64,
    /// The transmitter of a link in express; others do not use it.
    serializer: Serializer,
    delay: Span,
    occupancy: Occupancy,
    overhead_bytes: u32,
    /// How many packets a link in express has room for, the one being sent among them.
    room: u32,
    is_express: bool,
    transmitter: Transmitter,
    duplicated_packets: u64,
    dropped_packets: u64,
    lost_packets: u64,
    marked_packets: u64,
    /// Whom its queue turned away.
    drops: Drops,
    entrance: Option<Box<Entrance>>,
    queue: Queue,
    exit: Option<Box<Exit>>,
    /// What a scheduler refused, pushed out or gave up, until it is asked for.
    given_up: Vec<Packet>,
    scheduled_packets_max: u32,
    samples: Option<Samples>,
    /// How long packets wait, where that is kept.
    delays: Option<Box<QueueDelays>>,
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
        let entrance = Entrance::new(config, random);
        let exit = Exit::new(config, random);
        let plain =
            entrance.as_ref().is_none_or(|entrance| entrance.only_loses()) && exit.is_none();
        let constant = match config.rate {
            Some(RateConfig::Constant(rate)) if plain => Some(rate),
            _ => None,
        };
        let limit = match queue {
            Queue::Fifo(Admission::Unlimited) => Some(u32::MAX),
            Queue::Fifo(Admission::Limited(Limit::Packets(limit))) => Some(limit),
            _ => None,
        };
        Self {
            next_sample: interval.map_or(Time::NEVER, |interval| Time::ZERO + interval),
            arrived_packets: 0,
            serializer: Serializer::new(constant.unwrap_or(Rate(NonZeroU64::MIN))),
            delay: config.delay.0[0].1,
            occupancy: Occupancy::new(),
            overhead_bytes,
            // The packet being sent is not counted.
            room: limit.map_or(0, |limit| limit.saturating_add(1)),
            is_express: constant.is_some() && limit.is_some(),
            transmitter: Transmitter::new(config.rate.as_ref()),
            duplicated_packets: 0,
            dropped_packets: 0,
            lost_packets: 0,
            marked_packets: 0,
            drops: Drops::default(),
            entrance,
            queue,
            exit,
            given_up: Vec::new(),
            scheduled_packets_max: 0,
            samples: interval.map(|interval| Samples { interval, taken: Vec::new() }),
            delays: None,
        }
    }

    /// Keeps how long packets wait from now on. Then the link is in express no more.
    pub fn keep_delays(&mut self, delays: QueueDelays) {
        self.delays = Some(Box::new(delays));
        self.is_express = false;
    }

    /// How long packets waited, if that was kept.
    pub fn take_delays(&mut self) -> Option<QueueDelays> {
        self.delays.take().map(|delays| *delays)
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
        if self.is_express {
            let leaves = self.pass(now, packet.bytes(), || packet);
            return leaves.map_or_else(Passage::Lost, Passage::Leaves);
        }
        if now > self.next_sample {
            self.sample_before(now);
        }
        self.arrived_packets += 1;
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        self.pass_entrance(now, packet, wire_bytes)
    }

    /// Whether there is nothing but losses, a limited first-in, first-out queue, a constant
    /// rate and a constant delay, so that [`Self::pass`] will do.
    #[must_use]
    pub const fn is_express(&self) -> bool {
        self.is_express
    }

    /// Takes no packet in express, which comes to the same.
    pub const fn take_long_way(&mut self) {
        self.is_express = false;
    }

    /// Takes a packet of `bytes` at `now` in express: when it is at the far end, or why it does
    /// not get there. `packet` is asked for only where packets are lost.
    #[inline(always)]
    pub fn pass(
        &mut self,
        now: Time,
        bytes: u16,
        packet: impl Fn() -> Packet,
    ) -> Result<Time, DropCause> {
        if now > self.next_sample {
            self.sample_before(now);
        }
        self.arrived_packets += 1;
        if self.is_lost(now, &packet) {
            return Err(DropCause::Random);
        }
        self.depart(now);
        if self.occupancy.packets() >= self.room {
            self.turn_away(now, packet().flow());
            return Err(DropCause::Overflow);
        }
        let wire_bytes = u32::from(bytes) + self.overhead_bytes;
        let (start, end) = self.serializer.send(now, wire_bytes);
        self.occupancy.join(start.since(now), end, wire_bytes);
        Ok(end + self.delay)
    }

    /// Whether a link that does nothing else at its entrance loses this packet.
    #[inline(always)]
    fn is_lost(&mut self, now: Time, packet: impl FnOnce() -> Packet) -> bool {
        self.entrance.is_some() && self.is_lost_there(now, packet())
    }

    #[inline(never)]
    fn is_lost_there(&mut self, now: Time, packet: Packet) -> bool {
        let Some(entrance) = &mut self.entrance else { return false };
        let lost = entrance.losses.lost(now, packet);
        self.lost_packets += u64::from(lost);
        lost
    }

    /// A packet of a flow finds no room.
    #[cold]
    fn turn_away(&mut self, now: Time, flow: u32) {
        self.dropped_packets += 1;
        let refusal = self.refusal();
        self.drops.note(now, flow, refusal);
    }

    /// How a packet that is refused finds the transmitter, if that sends at a constant rate.
    fn refusal(&self) -> Option<Refusal> {
        let (sent, bytes) = self.occupancy.sending()?;
        match &self.transmitter {
            Transmitter::Constant(serializer) => {
                let service = serializer.shortest(bytes);
                let waiting = match &self.queue {
                    Queue::Scheduled(scheduler) => scheduler.packets(),
                    Queue::Fifo(_) => 0,
                };
                let free = self.free_at() + Span(service.0 * u64::from(waiting));
                Some(Refusal { sent, service, free })
            }
            _ => None,
        }
    }

    /// Whom it turned away.
    #[must_use]
    pub const fn drops(&self) -> &Drops {
        &self.drops
    }

    /// When it has sent everything that it has decided to send.
    #[inline]
    #[must_use]
    pub fn free_at(&self) -> Time {
        if self.is_express { self.serializer.free_at() } else { self.transmitter.free_at() }
    }

    /// Whether the link does nothing but lose packets.
    #[must_use]
    pub fn only_loses(&self) -> bool {
        let loses = self.entrance.as_ref().is_some_and(|entrance| entrance.only_loses());
        let passes = matches!(self.transmitter, Transmitter::None)
            && matches!(self.queue, Queue::Fifo(Admission::Unlimited))
            && self.exit.is_none();
        let is_watched = self.samples.is_some() || self.delays.is_some();
        loses && passes && self.delay == Span::ZERO && !is_watched
    }

    /// Whether a link that does nothing but lose packets loses this one at `now`.
    #[inline]
    pub fn loses(&mut self, now: Time, packet: Packet) -> bool {
        self.arrived_packets += 1;
        self.is_lost(now, || packet)
    }

    /// Whether it is certain that the next `packets` are not lost.
    #[inline]
    #[must_use]
    pub fn spares(&self, packets: u32) -> bool {
        self.entrance.as_ref().is_none_or(|entrance| entrance.losses.spares(u64::from(packets)))
    }

    /// Counts packets which [`Self::spares`].
    #[inline]
    pub fn spare(&mut self, packets: u32) {
        self.arrived_packets += u64::from(packets);
        if let Some(entrance) = &mut self.entrance {
            entrance.losses.spare(u64::from(packets));
        }
    }

    /// Whether `count` packets that come at `now` in express have room.
    #[inline]
    pub fn has_room(&mut self, now: Time, count: u32) -> bool {
        if now > self.next_sample {
            self.sample_before(now);
        }
        self.depart(now);
        self.occupancy.packets() + count <= self.room
    }

    /// Removes what a link in express has sent by `now`.
    #[inline(always)]
    fn depart(&mut self, now: Time) {
        if self.serializer.free_at() <= now {
            self.occupancy.depart_all();
        } else {
            self.occupancy.depart(now);
        }
    }

    /// Sends packets of `bytes` that come at `now` in express, were spared and have room;
    /// `leaves` hears when each is at the far end.
    #[inline(always)]
    pub fn pass_run(&mut self, now: Time, count: u32, bytes: u16, mut leaves: impl FnMut(Time)) {
        let Self { serializer, occupancy, delay, .. } = self;
        let wire_bytes = u32::from(bytes) + self.overhead_bytes;
        let mut waited = Span::ZERO;
        serializer.send_run(now, wire_bytes, count, |start, end| {
            waited = waited + start.since(now);
            occupancy.add(end, wire_bytes);
            leaves(end + *delay);
        });
        occupancy.book(count, wire_bytes, waited);
    }

    /// Not earlier than the last of `count` packets of `bytes` is at the far end, if they come
    /// at `now` in express; and how far the first and the last are apart at most.
    #[inline]
    pub fn run_ends(&self, now: Time, count: u32, bytes: u16) -> (Time, Span) {
        let each = self.serializer.longest(u32::from(bytes) + self.overhead_bytes);
        let takes = each.saturating_mul(u64::from(count));
        let begins = self.serializer.free_at().max(now) + self.delay;
        (begins.saturating_add(takes), takes)
    }

    #[inline]
    fn pass_entrance(&mut self, now: Time, packet: Packet, wire_bytes: u32) -> Passage {
        let Some(entrance) = &mut self.entrance else {
            return self.join(now, now, packet, wire_bytes);
        };
        match entrance.pass(now, packet, wire_bytes) {
            Ok(ready) => self.join(now, ready, packet, wire_bytes),
            Err(cause) => {
                let count = match cause {
                    DropCause::Overflow => &mut self.dropped_packets,
                    DropCause::Random => &mut self.lost_packets,
                };
                *count += 1;
                Passage::Lost(cause)
            }
        }
    }

    /// Whether the packet that has just arrived comes twice; the copy then joins by
    /// [`Self::join_again`].
    pub fn duplicate(&mut self) -> bool {
        let chance = self.entrance.as_mut().and_then(|entrance| entrance.duplicate.as_mut());
        let happens = chance.is_some_and(Chance::happens);
        self.duplicated_packets += u64::from(happens);
        happens
    }

    /// Whether the link must be asked for its next packet.
    #[must_use]
    pub const fn is_scheduled(&self) -> bool {
        matches!(self.queue, Queue::Scheduled(_))
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

    fn join(&mut self, now: Time, ready: Time, packet: Packet, wire_bytes: u32) -> Passage {
        let verdict = match &mut self.queue {
            Queue::Fifo(Admission::Unlimited) => {
                self.occupancy.depart(now);
                Verdict::Accept
            }
            Queue::Fifo(_) => self.admit(now, packet, wire_bytes),
            Queue::Scheduled(_) => return self.enqueue(now, packet, wire_bytes),
        };
        if verdict == Verdict::Drop {
            self.turn_away(now, packet.flow());
            return Passage::Lost(DropCause::Overflow);
        }
        let end = self.transmit(now, ready, packet, wire_bytes);
        let at = self.far_end(end);
        if verdict == Verdict::Accept {
            return Passage::Leaves(at);
        }
        self.marked_packets += u64::from(packet.ecn() != Ecn::Ce);
        Passage::Marked(at)
    }

    /// Sends a packet that came at `since` and may be sent from `ready` on; gives when it
    /// has been.
    #[inline]
    fn transmit(&mut self, since: Time, ready: Time, packet: Packet, wire_bytes: u32) -> Time {
        let (start, end) = self.transmitter.send(ready, wire_bytes);
        let waited = start.since(since);
        self.occupancy.join(waited, end, wire_bytes);
        if let Some(delays) = &mut self.delays {
            delays.record(start, waited, packet);
        }
        end
    }

    fn admit(&mut self, now: Time, packet: Packet, wire_bytes: u32) -> Verdict {
        self.occupancy.depart(now);
        let free = self.transmitter.free_at();
        let backlog = Backlog {
            packets: self.occupancy.packets(),
            bytes: self.occupancy.bytes(),
            sending_bytes: self.occupancy.sending_bytes(),
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
        let marked = scheduler.marked();
        scheduler.enqueue(now, Queued { packet, wire_bytes, since: now }, &mut self.given_up);
        self.marked_packets += scheduler.marked() - marked;
        self.occupancy.depart(now);
        let packets = self.occupancy.packets() + scheduler.packets();
        self.scheduled_packets_max = self.scheduled_packets_max.max(packets);
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
        self.marked_packets += scheduler.marked() - marked;
        let Queued { packet, wire_bytes, since } = queued;
        self.occupancy.depart(now);
        let end = self.transmit(since, now, packet, wire_bytes);
        Some((self.far_end(end), packet))
    }

    /// A packet that the scheduler gave up at `now`, on the arrival of another or as it sent the
    /// next, and nobody has asked for yet.
    pub fn take_given_up(&mut self, now: Time, on_arrival: bool) -> Option<Packet> {
        let packet = self.given_up.pop()?;
        self.dropped_packets += 1;
        let refusal = if on_arrival { self.refusal() } else { None };
        self.drops.note(now, packet.flow(), refusal);
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
        let taken = self.samples.take().map(|samples| samples.taken);
        (self.counters(end), taken.unwrap_or_default())
    }

    fn counters(&mut self, now: Time) -> LinkCounters {
        let occupancy = &mut self.occupancy;
        occupancy.depart(now);
        let (queued_packets, queued_bytes) = match &self.queue {
            Queue::Scheduled(scheduler) => (scheduler.packets(), scheduler.bytes()),
            Queue::Fifo(_) => (0, 0),
        };
        let backlog_packets = occupancy.packets() + queued_packets;
        let entered = self.arrived_packets + self.duplicated_packets;
        let gone = self.dropped_packets + self.lost_packets + u64::from(backlog_packets);
        LinkCounters {
            arrived_packets: self.arrived_packets,
            duplicated_packets: self.duplicated_packets,
            dropped_packets: self.dropped_packets,
            lost_packets: self.lost_packets,
            marked_packets: self.marked_packets,
            departed_packets: entered - gone,
            departed_bytes: occupancy.departed_bytes(),
            backlog_packets,
            backlog_bytes: occupancy.bytes() + queued_bytes,
            backlog_packets_max: occupancy.packets_max().max(self.scheduled_packets_max),
            waiting_byte_ns: occupancy.waiting_byte_ns(),
        }
    }

    #[cold]
    fn sample_before(&mut self, time: Time) {
        while self.next_sample < time {
            let counters = self.counters(self.next_sample);
            let samples = self.samples.as_mut().expect("a time only where samples are taken");
            samples.taken.push(counters);
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
}

impl Entrance {
    fn new(config: &LinkConfig, random: impl Fn(u64) -> Random) -> Option<Box<Self>> {
        let mut streams = random(1);
        let losses = config.loss.iter().map(|loss| LossModel::new(loss, streams.split()));
        let plain = config.policer.is_none() && config.loss.is_empty() && config.duplicate == 0.0;
        if plain && config.jitter == Span::ZERO {
            return None;
        }
        Some(Box::new(Self {
            policer: config.policer.as_ref().map(Policer::new),
            losses: Losses::new(losses.collect()),
            duplicate: (config.duplicate > 0.0).then(|| Chance::new(config.duplicate, random(2))),
            jitter: Jitter::up_to(config.jitter, || random(3)),
        }))
    }

    const fn only_loses(&self) -> bool {
        self.policer.is_none() && self.duplicate.is_none() && self.jitter.is_none()
    }

    /// When the packet joins the queue, or why it does not.
    #[inline]
    fn pass(&mut self, now: Time, packet: Packet, wire_bytes: u32) -> Result<Time, DropCause> {
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, wire_bytes)) {
            return Err(DropCause::Overflow);
        }
        if self.losses.lost(now, packet) {
            return Err(DropCause::Random);
        }
        Ok(self.jitter.as_mut().map_or(now, |jitter| jitter.ready(now)))
    }
}

impl Exit {
    fn new(config: &LinkConfig, random: impl Fn(u64) -> Random) -> Option<Box<Self>> {
        let plain = config.delay.0.len() == 1 && config.reorder.is_none();
        if plain && config.batch == Span::ZERO && config.exit_jitter == Span::ZERO {
            return None;
        }
        Some(Box::new(Self {
            delays: Delays::new(&config.delay),
            jitter: Jitter::up_to(config.exit_jitter, || random(5)),
            reorder: config.reorder.as_ref().map(|reorder| Reorder::new(reorder, random(4))),
            batch: Batch::new(config.batch),
        }))
    }

    fn far_end(&mut self, end: Time) -> Time {
        let arrives = self.delays.arrives(end);
        let arrives = self.jitter.as_mut().map_or(arrives, |jitter| jitter.ready(arrives));
        let late = self.reorder.as_mut().and_then(Reorder::late_by).unwrap_or(Span::ZERO);
        let arrives = arrives + late;
        self.batch.map_or(arrives, |batch| batch.delivers(arrives))
    }
}
