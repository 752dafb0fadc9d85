//! One link: loss, a queue, a transmitter and a delay.
//!
//! There are three types. A [`PlainLink`] is first in, first out at a constant rate, by its
//! discipline or by its packets ([`Traffic`]); the bottleneck of nearly every study is one. A
//! [`GeneralLink`] decides on arrival, too, whatever its rate, its queue management and its
//! impairments. Both know a packet's departure the moment it arrives, so they need no events (a
//! virtual queue). A [`ScheduledLink`] picks its next packet only when the transmitter is free, and
//! must be asked then.

mod egress;
mod general;
mod ingress;
mod meter;
mod outcome;
mod plain;
mod plain_train;
mod scheduled;

use crate::delay_histograms::QueueDelays;
use crate::drops::Drops;
use crate::link_config::LinkConfig;
use crate::memory::Port;
use crate::network_config::NetworkConfig;
use crate::packet::Packet;
use crate::random::Random;
use crate::traffic::Traffic;
use crate::units::Time;

use self::general::GeneralLink;
use self::meter::Meter;

pub use self::meter::LinkCounters;
pub use self::outcome::{DropCause, LinkOutcome};
pub(crate) use self::plain::PlainLink;
pub(crate) use self::scheduled::ScheduledLink;

/// A running link.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "most links are plain, and every packet asks one")]
pub enum Link {
    /// First in, first out at a constant rate.
    Plain(PlainLink),
    /// Anything else that decides on arrival.
    General(Box<GeneralLink>),
    /// A link that decides when its transmitter is free.
    Scheduled(Box<ScheduledLink>),
}

/// Number of streams of random numbers for each link.
const STREAMS: u64 = 8;

impl Link {
    /// An idle link. `number` is its index in the network.
    #[must_use]
    pub fn new(
        config: &LinkConfig,
        number: u64,
        traffic: &Traffic,
        network: &NetworkConfig,
        port: Option<Port>,
    ) -> Self {
        // Streams belong to the link's number, so a link added at the end changes no other draws.
        let random = |part| Random::new(network.seed, STREAMS * number + part);
        let meter = || Meter::new(network.interval.filter(|_| config.sampled));
        let plain = PlainLink::new(config, traffic, meter(), random);
        // A plain link is a faster general link with the same results. Tests disable this shortcut
        // and compare.
        if let Some(link) = plain.filter(|_| network.shortcuts && port.is_none()) {
            return Self::Plain(link);
        }
        let waiting_max = traffic.waiting_max.filter(|_| network.shortcuts);
        if config.queue.discipline.schedules() {
            let link = ScheduledLink::new(config, waiting_max, meter(), port, random);
            return Self::Scheduled(Box::new(link));
        }
        Self::General(Box::new(GeneralLink::new(config, meter(), port, random)))
    }

    fn meter(&self) -> &Meter {
        match self {
            Self::Plain(link) => &link.meter,
            Self::General(link) => &link.meter,
            Self::Scheduled(link) => &link.meter,
        }
    }

    fn meter_mut(&mut self) -> &mut Meter {
        match self {
            Self::Plain(link) => &mut link.meter,
            Self::General(link) => &mut link.meter,
            Self::Scheduled(link) => &mut link.meter,
        }
    }

    /// Record how long packets wait from now on.
    pub fn keep_delays(&mut self, delays: QueueDelays) {
        self.meter_mut().delays = Some(Box::new(delays));
    }

    /// Return the waits of packets. None if they were not recorded.
    pub fn take_delays(&mut self) -> Option<QueueDelays> {
        self.meter_mut().delays.take().map(|delays| *delays)
    }

    /// Drops of its queue.
    #[must_use]
    pub fn drops(&self) -> &Drops {
        &self.meter().drops
    }

    /// Return whether packets leave in the order of their transmission, each once.
    #[must_use]
    pub fn is_orderly(&self) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::General(link) => !link.duplicates() && !link.reorders(),
            Self::Scheduled(link) => !link.duplicates() && !link.reorders(),
        }
    }

    /// Return whether acceptance depends on the contents of other links.
    #[must_use]
    pub fn shares_memory(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::General(link) => link.shares_memory(),
            Self::Scheduled(link) => link.shares_memory(),
        }
    }

    /// Return whether the departure of a packet is known on its arrival.
    #[must_use]
    pub fn decides_on_arrival(&self) -> bool {
        !matches!(self, Self::Scheduled(_))
    }

    /// Return the departure time of the packet that joined last. None if it is still unknown.
    #[inline]
    #[must_use]
    pub fn departs_by(&self) -> Option<Time> {
        match self {
            Self::Plain(link) => Some(link.free_at()),
            Self::General(link) => Some(link.free_at()),
            Self::Scheduled(link) => link.departs_by(),
        }
    }

    /// Return whether a full queue refuses the arriving packet rather than dropping another.
    #[must_use]
    pub fn has_tail_drop(&self) -> bool {
        match self {
            Self::Plain(link) => link.limit.is_some() && link.serializer.is_some(),
            Self::General(link) => link.is_limited(),
            // A scheduler may give up another packet than the arriving one.
            Self::Scheduled(_) => false,
        }
    }

    /// Return how many packets of `bytes` its queue has space for at `now`, which never goes back.
    #[inline]
    pub fn space(&mut self, now: Time, bytes: u16) -> u32 {
        match self {
            Self::Plain(link) => link.space(now, bytes),
            Self::General(link) => link.space(now, bytes),
            Self::Scheduled(_) => u32::MAX,
        }
    }

    /// Packets that wait for a scheduler's decision.
    #[must_use]
    pub fn waiting(&self) -> Vec<Packet> {
        match self {
            Self::Scheduled(link) => link.waiting(),
            Self::Plain(_) | Self::General(_) => Vec::new(),
        }
    }

    /// Return the counts at `end` and the samples before. Call this after the last packet.
    pub fn finish(&mut self, end: Time) -> (LinkCounters, Vec<LinkCounters>) {
        match self {
            Self::Scheduled(link) => link.finish(end),
            other => other.meter_mut().finish(end, meter::Waiting::default()),
        }
    }
}
