//! A link that decides on arrival, whatever its rate, its queue management and its impairments.

use super::egress::Egress;
use super::ingress::Ingress;
use super::meter::{Meter, Waiting};
use super::outcome::{DropCause, LinkOutcome};
use crate::drops::Refusal;
use crate::link_config::LinkConfig;
use crate::memory::Port;
use crate::netem_limit::NetemLimit;
use crate::packet::{Ecn, Packet};
use crate::queue::{Admission, Backlog, Verdict};
use crate::random::Random;
use crate::transmitter::Transmitter;
use crate::units::{Span, Time};

/// Size of a typical packet at the IP layer.
const TYPICAL_BYTES: u32 = 1_500;

/// Impairments, a queue with admission, a transmitter, and impairments behind it.
#[derive(Debug)]
pub struct GeneralLink {
    pub(super) meter: Meter,
    overhead_bytes: u32,
    ingress: Option<Box<Ingress>>,
    admission: Admission,
    transmitter: Transmitter,
    egress: Egress,
    /// Access to memory that it shares with other links. None if its memory is its own.
    port: Option<Port>,
    netem_limit: Option<Box<NetemLimit>>,
}

impl GeneralLink {
    /// # Panics
    /// If the discipline schedules.
    pub(super) fn new(
        config: &LinkConfig,
        meter: Meter,
        port: Option<Port>,
        random: impl Fn(u64) -> Random,
    ) -> Self {
        let overhead_bytes = u32::from(config.overhead_bytes);
        let packet_time = config
            .rate
            .as_ref()
            .map_or(Span::ZERO, |rate| rate.typical_time(TYPICAL_BYTES + overhead_bytes));
        let admission = Admission::new(&config.queue, packet_time, random(0));
        Self {
            meter,
            overhead_bytes,
            ingress: Ingress::new(config, false, &random),
            admission: admission.expect("a discipline schedules or admits"),
            transmitter: Transmitter::new(config.rate.as_ref()),
            egress: Egress::new(config, false, &random),
            port,
            netem_limit: NetemLimit::new(config.holds).map(Box::new),
        }
    }

    pub(super) const fn shares_memory(&self) -> bool {
        self.port.is_some()
    }

    /// Take a packet at `now`, which never goes back between calls.
    pub fn arrive(&mut self, now: Time, packet: Packet) -> LinkOutcome {
        if now > self.meter.next_sample {
            self.meter.sample_before(now, Waiting::default());
        }
        self.meter.arrived_packets += 1;
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        let Some(ingress) = &mut self.ingress else {
            return self.join(now, now, packet, wire_bytes);
        };
        match ingress.pass(now, packet, wire_bytes) {
            Ok(ready) => self.join(now, ready, packet, wire_bytes),
            Err(cause) => {
                self.meter.count_loss(cause);
                LinkOutcome::Lost(cause)
            }
        }
    }

    /// Return whether the packet that has just arrived comes twice. The copy must then join by
    /// [`Self::join_again`].
    pub fn duplicate(&mut self) -> bool {
        let happens = self.ingress.as_mut().is_some_and(|ingress| ingress.duplicate());
        self.meter.duplicated_packets += u64::from(happens);
        happens
    }

    /// Add the copy of a packet that has just arrived.
    pub fn join_again(&mut self, now: Time, packet: Packet) -> LinkOutcome {
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        self.join(now, now, packet, wire_bytes)
    }

    /// Return whether packets may come twice.
    pub fn duplicates(&self) -> bool {
        self.ingress.as_ref().is_some_and(|ingress| ingress.duplicates())
    }

    /// Return whether late packets are overtaken.
    pub(super) const fn reorders(&self) -> bool {
        self.egress.reorders()
    }

    pub(super) fn free_at(&self) -> Time {
        self.transmitter.free_at()
    }

    /// Return how many packets of `bytes` the queue has space for at `now`, which never goes back.
    pub(super) fn space(&mut self, now: Time, bytes: u16) -> u32 {
        let netem_limit =
            self.netem_limit.as_mut().map_or(u32::MAX, |netem_limit| netem_limit.space(now, 0));
        let Some(limit) = self.admission.limit() else { return netem_limit };
        let occupancy = &mut self.meter.occupancy;
        occupancy.depart(now);
        let wire_bytes = u32::from(bytes) + self.overhead_bytes;
        limit.space(occupancy.packets(), occupancy.waiting_bytes(), wire_bytes).min(netem_limit)
    }

    /// Return whether the number of packets is limited.
    pub(super) const fn is_limited(&self) -> bool {
        self.admission.limit().is_some() || self.netem_limit.is_some()
    }

    fn join(&mut self, now: Time, ready: Time, packet: Packet, wire_bytes: u32) -> LinkOutcome {
        if self.netem_limit.as_mut().is_some_and(|netem_limit| netem_limit.space(now, 0) == 0) {
            self.meter.turn_away(now, packet.flow(), None);
            return LinkOutcome::Lost(DropCause::Overflow);
        }
        let verdict = self.admit(now, packet, wire_bytes);
        if verdict == Verdict::Drop {
            let refusal = self.refusal();
            self.meter.turn_away(now, packet.flow(), refusal);
            return LinkOutcome::Lost(DropCause::Overflow);
        }
        // The transmitter counts from `ready`, after jitter. The wait counts from the arrival.
        let (start, end) = self.transmitter.send(ready, wire_bytes);
        let waited = start.since(now);
        self.meter.occupancy.join(waited, end, wire_bytes);
        if let Some(port) = &mut self.port {
            port.join(now, end, wire_bytes);
        }
        if let Some(delays) = &mut self.meter.delays {
            delays.record(start, waited, packet);
        }
        let at = self.egress.far_end(end);
        if let Some(netem_limit) = &mut self.netem_limit {
            netem_limit.hold(at);
        }
        if verdict == Verdict::Accept {
            return LinkOutcome::Leaves(at);
        }
        // The queue does not count a mark that the packet arrived with.
        self.meter.marked_packets += u64::from(packet.ecn() != Ecn::Ce);
        LinkOutcome::Marked(at)
    }

    fn admit(&mut self, now: Time, packet: Packet, wire_bytes: u32) -> Verdict {
        let occupancy = &mut self.meter.occupancy;
        occupancy.depart(now);
        if matches!(self.admission, Admission::Unlimited) && self.port.is_none() {
            return Verdict::Accept;
        }
        let free = self.transmitter.free_at();
        let backlog = Backlog {
            packets: occupancy.packets(),
            bytes: occupancy.bytes(),
            sending_bytes: occupancy.sending_bytes(),
            wait: Span(free.0.saturating_sub(now.0)),
            idle: Span(now.0.saturating_sub(free.0)),
        };
        // The manager sees the packet even if the shared memory refuses it, because it is load in
        // any case.
        let verdict = self.admission.admit(now, &backlog, packet, wire_bytes);
        let waits = backlog.packets > 0;
        let fits = |port: &Port| port.takes(now, backlog.waiting_bytes(), wire_bytes);
        if waits && !self.port.as_ref().is_none_or(fits) { Verdict::Drop } else { verdict }
    }

    /// Return the state of the transmitter when a packet is refused. None if no packet is in
    /// transmission or the rate is not constant.
    fn refusal(&self) -> Option<Refusal> {
        let (sent, bytes) = self.meter.occupancy.sending()?;
        let service = self.transmitter.constant_service(bytes)?;
        Some(Refusal { sent, service, free: self.transmitter.free_at() })
    }
}
