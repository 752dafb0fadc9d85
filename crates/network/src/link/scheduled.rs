//! A link that picks its next packet when its transmitter is free.

use super::egress::Egress;
use super::ingress::Ingress;
use super::meter::{LinkCounters, Meter, Waiting};
use super::outcome::DropCause;
use crate::drops::Refusal;
use crate::link_config::LinkConfig;
use crate::memory::Port;
use crate::netem_limit::NetemLimit;
use crate::packet::Packet;
use crate::queue::{AnyScheduler, Queued, Scheduler};
use crate::random::Random;
use crate::transmitter::{LinkShaper, Transmitter};
use crate::units::{Span, Time};

/// Upper bound of a packet's bytes on the wire.
const BYTES_MAX: u64 = 2 * u16::MAX as u64;

/// Impairments, a scheduler, a transmitter, and impairments behind it.
#[derive(Debug)]
pub struct ScheduledLink {
    pub(super) meter: Meter,
    overhead_bytes: u32,
    packets_max: u32,
    scheduler: AnyScheduler,
    transmitter: Transmitter,
    egress: Egress,
    ingress: Option<Box<Ingress>>,
    netem_limit: Option<Box<NetemLimit>>,
    /// Packets that the scheduler refused, pushed out or gave up, until a caller takes them.
    given_up: Vec<Packet>,
    /// See [`Self::serves_one_flow`]. Packets that do not wait long then leave as from a first-in,
    /// first-out queue, so their departures are known on arrival.
    serves_one_flow: bool,
    /// Access to memory that it shares with other links. None if its memory is its own.
    port: Option<Port>,
}

impl ScheduledLink {
    /// # Panics
    /// If the discipline admits.
    pub(super) fn new(
        config: &LinkConfig,
        waiting_max: Option<u32>,
        meter: Meter,
        port: Option<Port>,
        random: impl Fn(u64) -> Random,
    ) -> Self {
        let scheduler = AnyScheduler::new(&config.queue.discipline, config.queue.limit, random(0))
            .expect("a discipline that schedules");
        let overhead_bytes = u32::from(config.overhead_bytes);
        let transmitter = Transmitter::new(config.rate.as_ref());
        let transmitter = match config.queue.discipline.shaper() {
            Some(shaper) => {
                Transmitter::shaped(LinkShaper::new(shaper, overhead_bytes), transmitter)
            }
            None => transmitter,
        };
        let ingress = Ingress::new(config, true, &random);
        // One flow behind a constant rate leaves no choice, and space for all its packets leaves no
        // drop. Samples, shared memory and limits would need to see the queue.
        let serves_one_flow = !config.sampled
            && ingress.is_none()
            && port.is_none()
            && config.holds.is_none()
            && matches!(transmitter, Transmitter::Constant(_))
            && waiting_max
                .is_some_and(|packets| scheduler.holds(packets, u64::from(packets) * BYTES_MAX));
        Self {
            meter,
            overhead_bytes,
            packets_max: 0,
            scheduler,
            transmitter,
            egress: Egress::new(config, true, &random),
            netem_limit: NetemLimit::new(config.holds).map(Box::new),
            ingress,
            given_up: Vec::new(),
            serves_one_flow,
            port,
        }
    }

    pub(super) const fn shares_memory(&self) -> bool {
        self.port.is_some()
    }

    /// Return whether the packets of one flow may pass without waiting in the scheduler.
    #[inline]
    pub const fn serves_one_flow(&self) -> bool {
        self.serves_one_flow
    }

    /// Send a packet at once and return its arrival time at the far end. None if the scheduler must
    /// decide.
    #[inline]
    pub fn pass(&mut self, now: Time, packet: Packet) -> Option<Time> {
        if !self.serves_one_flow {
            return None;
        }
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        let wait = Span(self.free_at().0.saturating_sub(now.0));
        if !self.scheduler.passes(wire_bytes, wait) {
            return None;
        }
        self.meter.arrived_packets += 1;
        self.meter.occupancy.depart(now);
        let (start, end) = self.transmitter.send(now, wire_bytes);
        self.meter.occupancy.join(start.since(now), end, wire_bytes);
        Some(self.egress.far_end(end))
    }

    /// Return the departure time of the packet that joined last. None if it is still unknown.
    #[inline]
    pub fn departs_by(&self) -> Option<Time> {
        let is_known = self.serves_one_flow && self.scheduler.packets() == 0;
        is_known.then(|| self.free_at())
    }

    /// Add a packet to the queue at `now`, which never goes back between calls. Return the cause if
    /// the packet is lost before the queue.
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: Packet) -> Result<(), DropCause> {
        if now > self.meter.next_sample {
            self.sample_before(now);
        }
        self.meter.arrived_packets += 1;
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        if let Some(ingress) = &mut self.ingress {
            if let Err(cause) = ingress.pass(now, packet, wire_bytes) {
                self.meter.count_loss(cause);
                return Err(cause);
            }
        }
        self.enqueue(now, packet, wire_bytes);
        Ok(())
    }

    /// Return whether the packet that has just arrived comes twice. The copy must then join by
    /// [`Self::join_again`].
    pub fn duplicate(&mut self) -> bool {
        let happens = self.ingress.as_mut().is_some_and(|ingress| ingress.duplicate());
        self.meter.duplicated_packets += u64::from(happens);
        happens
    }

    /// Add the copy of a packet that has just arrived.
    pub fn join_again(&mut self, now: Time, packet: Packet) {
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        self.enqueue(now, packet, wire_bytes);
    }

    /// Return whether packets may come twice.
    #[inline]
    pub fn duplicates(&self) -> bool {
        self.ingress.as_ref().is_some_and(|ingress| ingress.duplicates())
    }

    /// Return whether late packets are overtaken.
    pub(super) const fn reorders(&self) -> bool {
        self.egress.reorders()
    }

    #[inline]
    fn enqueue(&mut self, now: Time, packet: Packet, wire_bytes: u32) {
        let waiting = self.scheduler.packets();
        if self.netem_limit.as_mut().is_some_and(|netem_limit| netem_limit.space(now, waiting) == 0)
        {
            self.meter.occupancy.depart(now);
            // Treated like a packet that the scheduler refuses, because netem's limit counts queue
            // and delay together.
            self.given_up.push(packet);
            return;
        }
        let queued = Queued { packet, wire_bytes, since: now };
        if self.port.is_some() {
            self.enqueue_in_shared_memory(now, queued);
        } else {
            self.scheduler.enqueue(now, queued, &mut self.given_up);
        }
        self.meter.occupancy.depart(now);
        let packets = self.meter.occupancy.packets() + self.scheduler.packets();
        self.packets_max = self.packets_max.max(packets);
    }

    #[cold]
    fn enqueue_in_shared_memory(&mut self, now: Time, queued: Queued) {
        let Self { scheduler, transmitter, port, .. } = self;
        let Some(port) = port else { return };
        // A packet that is sent at once needs no space in the queue.
        let is_idle = scheduler.packets() == 0 && transmitter.begins(now) == now;
        let queue_bytes = scheduler.bytes_with(queued.packet);
        if !is_idle && !port.takes(now, queue_bytes, queued.wire_bytes) {
            self.given_up.push(queued.packet);
            return;
        }
        scheduler.enqueue(now, queued, &mut self.given_up);
        port.hold(scheduler.bytes());
    }

    /// Return the time at which [`Self::serve`] must be called, as of `now`. A packet then waits
    /// and the transmitter is free.
    #[inline]
    pub fn next_service(&self, now: Time) -> Time {
        if self.scheduler.packets() > 0 { self.transmitter.begins(now) } else { Time::NEVER }
    }

    /// Send the packet whose turn it is, and return its arrival time at the far end. None if the
    /// scheduler gave up all waiting packets.
    #[inline]
    pub fn serve(&mut self, now: Time) -> Option<(Time, Packet)> {
        if now > self.meter.next_sample {
            self.sample_before(now);
        }
        let queued = self.scheduler.dequeue(now, &mut self.given_up);
        if let Some(port) = &mut self.port {
            port.hold(self.scheduler.bytes());
        }
        let queued = queued?;
        let Queued { packet, wire_bytes, since } = queued;
        self.meter.occupancy.depart(now);
        let (start, end) = self.transmitter.send(now, wire_bytes);
        let waited = start.since(since);
        self.meter.occupancy.join(waited, end, wire_bytes);
        if let Some(delays) = &mut self.meter.delays {
            delays.record(start, waited, packet);
        }
        let at = self.egress.far_end(end);
        if let Some(netem_limit) = &mut self.netem_limit {
            netem_limit.hold(at);
        }
        Some((at, packet))
    }

    /// Return whether the scheduler gave up packets that no caller has taken.
    #[inline]
    pub fn has_given_up(&self) -> bool {
        !self.given_up.is_empty()
    }

    /// Return a packet that the scheduler gave up at `now`, on the arrival of another packet or
    /// when it sent one. None if callers have taken all.
    pub fn take_given_up(&mut self, now: Time, on_arrival: bool) -> Option<Packet> {
        let packet = self.given_up.pop()?;
        let refusal = if on_arrival { self.refusal() } else { None };
        self.meter.turn_away(now, packet.flow(), refusal);
        Some(packet)
    }

    /// Time at which it has sent everything that it has decided to send.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.transmitter.free_at()
    }

    pub(super) fn waiting(&self) -> Vec<Packet> {
        self.scheduler.waiting()
    }

    /// Return the counts at `end` and the samples before. Call this after the last packet.
    pub(super) fn finish(&mut self, end: Time) -> (LinkCounters, Vec<LinkCounters>) {
        let waiting = self.in_queue();
        self.meter.finish(end, waiting)
    }

    #[cold]
    fn sample_before(&mut self, time: Time) {
        let waiting = self.in_queue();
        self.meter.sample_before(time, waiting);
    }

    fn in_queue(&self) -> Waiting {
        Waiting {
            packets: self.scheduler.packets(),
            bytes: self.scheduler.bytes(),
            packets_max: self.packets_max,
            marked_packets: self.scheduler.marked(),
        }
    }

    /// Return the state of the transmitter when a packet is refused. None if no packet is in
    /// transmission or the rate is not constant.
    fn refusal(&self) -> Option<Refusal> {
        let (sent, bytes) = self.meter.occupancy.sending()?;
        let service = self.transmitter.constant_service(bytes)?;
        // An estimate: all waiting packets count with the size of the one in transmission, because
        // a scheduler's order is not known ahead.
        let waiting = u64::from(self.scheduler.packets());
        Some(Refusal { sent, service, free: self.free_at() + Span(service.0 * waiting) })
    }
}
