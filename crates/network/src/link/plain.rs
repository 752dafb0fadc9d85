//! The common link: first in, first out, at a constant rate or none.

use super::egress;
use super::ingress::{losses, only_loses};
use super::meter::{Meter, Waiting};
use super::outcome::DropCause;
use crate::delays::Jitter;
use crate::drops::Refusal;
use crate::link_config::LinkConfig;
use crate::loss::LossModels;
use crate::packet::{Ecn, Packet};
use crate::queue::{Discipline, Limit};
use crate::random::Random;
use crate::serializer::Serializer;
use crate::traffic::{FifoLimits, Traffic};
use crate::transmitter::RateConfig;
use crate::units::{Span, Time};

/// A link with a first-in, first-out queue, a constant rate or none, a constant delay, processing
/// jitter, and losses. The queue is limited in packets or bytes and may mark above a threshold.
#[derive(Debug)]
pub struct PlainLink {
    pub(super) meter: Meter,
    /// None if serialisation takes no time.
    pub(super) serializer: Option<Serializer>,
    pub(super) limit: Option<Limit>,
    /// Length of the queue at which packets are marked; None marks none. All packets are
    /// ECN-capable.
    threshold: Option<Limit>,
    pub(super) overhead_bytes: u32,
    pub(super) delay: Span,
    pub(super) jitter: Option<Jitter>,
    pub(super) losses: Option<Box<LossModels>>,
}

impl PlainLink {
    /// A plain link. None if the link needs anything else.
    pub(super) fn new(
        config: &LinkConfig,
        traffic: &Traffic,
        mut meter: Meter,
        random: impl Fn(u64) -> Random,
    ) -> Option<Self> {
        let serializer = match &config.rate {
            None => None,
            Some(RateConfig::Constant(rate)) => Some(Serializer::new(*rate)),
            Some(_) => return None,
        };
        let FifoLimits { limit, threshold } = match &config.queue.discipline {
            Discipline::Fifo {} => FifoLimits { limit: config.queue.limit, threshold: None },
            _ => {
                meter.counts_as_scheduler = true;
                traffic.fifo(config)?
            }
        };
        let (delay, jitter) = egress::plain(config, &random)?;
        (only_loses(config) && config.holds.is_none()).then(|| Self {
            meter,
            serializer,
            limit,
            threshold,
            overhead_bytes: u32::from(config.overhead_bytes),
            delay,
            jitter,
            losses: (!config.loss.is_empty()).then(|| Box::new(losses(config, &random))),
        })
    }

    /// Take a packet at `now`, which never goes back, and mark it if the queue is long. Return its
    /// arrival time at the far end, or the cause of its loss.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, packet: &mut Packet) -> Result<Time, DropCause> {
        if now > self.meter.next_sample {
            self.meter.sample_before(now, Waiting::default());
        }
        self.meter.arrived_packets += 1;
        if let Some(losses) = &mut self.losses {
            if losses.lost(now, *packet) {
                self.meter.lost_packets += 1;
                return Err(DropCause::Random);
            }
        }
        let wire_bytes = u32::from(packet.bytes()) + self.overhead_bytes;
        let sent = match &mut self.serializer {
            None => {
                self.meter.occupancy.pass(wire_bytes);
                self.note_wait(now, now, *packet);
                now
            }
            Some(serializer) => {
                let occupancy = &mut self.meter.occupancy;
                // An idle link has sent everything, so departures need no search.
                if serializer.free_at() <= now {
                    occupancy.depart_all();
                } else {
                    occupancy.depart(now);
                    if !has_space(self.limit, occupancy, wire_bytes) {
                        return self.refuse(now, *packet);
                    }
                }
                if let Some(threshold) = self.threshold {
                    // This queue replaces a scheduler, which does not count the packet in
                    // transmission.
                    let waiting = occupancy.packets().saturating_sub(1);
                    if threshold.is_reached(waiting, occupancy.waiting_bytes()) {
                        self.meter.marked_packets += 1;
                        *packet = packet.with_ecn(Ecn::Ce);
                    }
                }
                let (start, end) = serializer.send(now, wire_bytes);
                occupancy.join(start.since(now), end, wire_bytes);
                self.note_wait(now, start, *packet);
                end
            }
        };
        let leaves = sent + self.delay;
        Ok(match &mut self.jitter {
            None => leaves,
            Some(jitter) => jitter.ready(leaves),
        })
    }

    #[inline(always)]
    fn note_wait(&mut self, now: Time, start: Time, packet: Packet) {
        if let Some(delays) = &mut self.meter.delays {
            delays.record(start, start.since(now), packet);
        }
    }

    #[cold]
    fn refuse(&mut self, now: Time, packet: Packet) -> Result<Time, DropCause> {
        let refusal = self.serializer.as_ref().zip(self.meter.occupancy.sending()).map(
            |(serializer, (sent, bytes))| Refusal {
                sent,
                service: serializer.shortest(bytes),
                free: if self.meter.counts_as_scheduler {
                    let waiting = u64::from(self.meter.occupancy.packets() - 1);
                    sent + serializer.shortest(bytes).saturating_mul(waiting)
                } else {
                    serializer.free_at()
                },
            },
        );
        self.meter.turn_away(now, packet.flow(), refusal);
        Err(DropCause::Overflow)
    }

    /// Return whether the queue certainly takes `packets` packets, without removing departures
    /// first.
    #[inline(always)]
    pub fn holds(&self, packets: u32) -> bool {
        match self.limit {
            // Departures only make space, so an old count can refuse wrongly but never accept
            // wrongly.
            Some(Limit::Packets(limit)) if self.serializer.is_some() => {
                u64::from(self.meter.occupancy.packets()) + u64::from(packets) <= u64::from(limit)
            }
            _ => false,
        }
    }

    /// Return how many packets of `bytes` the queue takes at `now`, which never goes back.
    pub fn space(&mut self, now: Time, bytes: u16) -> u32 {
        let Some(limit) = self.limit.filter(|_| self.serializer.is_some()) else { return u32::MAX };
        let occupancy = &mut self.meter.occupancy;
        occupancy.depart(now);
        let wire_bytes = u32::from(bytes) + self.overhead_bytes;
        limit.space(occupancy.packets(), occupancy.waiting_bytes(), wire_bytes)
    }

    /// Time at which it has sent all its packets; zero without a rate.
    #[inline]
    pub fn free_at(&self) -> Time {
        self.serializer.as_ref().map_or(Time::ZERO, Serializer::free_at)
    }
}

/// Return whether a packet has space behind others. The packet in transmission does not count.
#[inline(always)]
fn has_space(
    limit: Option<Limit>,
    occupancy: &crate::occupancy::Occupancy,
    wire_bytes: u32,
) -> bool {
    match limit {
        None => true,
        Some(Limit::Packets(limit)) => occupancy.packets() <= limit,
        Some(Limit::Bytes(limit)) => occupancy.waiting_bytes() + u64::from(wire_bytes) <= limit,
    }
}
