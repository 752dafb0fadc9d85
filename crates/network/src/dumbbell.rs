//! The dumbbell: many flows, one shared bottleneck in each direction.
//!
//! ```text
//! sender 0 --access--\                               /--[receiver 0]
//! sender 1 --access---> bottleneck (rate, queue) --->---[receiver 1]
//! sender 0 <-return--- reverse bottleneck <------------- receivers
//! ```
//!
//! A flow's access and return links hold what its round-trip time exceeds that of
//! the bottleneck, half in each direction.

use std::num::NonZeroU64;

use serde::Deserialize;

use crate::graph::{LinkId, Network, Path};
use crate::link::{LinkConfig, QueueLimit};
use crate::units::{Rate, Span};

/// A dumbbell in base units, as the resolved scenario gives it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DumbbellConfig {
    /// Rate of the forward bottleneck.
    pub rate_bps: NonZeroU64,
    /// One-way propagation delay of the bottleneck, the same in both directions.
    pub delay_ns: Span,
    /// Drop-tail limit of the forward bottleneck.
    pub queue: Queue,
    /// Bytes on the wire that every link adds to each IP packet.
    pub overhead_bytes: u16,
    /// Rate of each sender's access link; none means unlimited.
    pub edge_rate_bps: Option<NonZeroU64>,
    /// Longest random delay of a packet in its sender, order kept.
    pub edge_jitter_ns: Span,
    /// The bottleneck of the way back.
    pub reverse: Reverse,
    /// Random loss by place.
    pub loss: Vec<Loss>,
}

/// Size of a drop-tail queue.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Queue {
    /// Limit in packets.
    Packets(u32),
    /// Limit in bytes, link overhead included.
    Bytes(u64),
}

/// The bottleneck that acknowledgements share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reverse {
    /// Its rate.
    pub rate_bps: NonZeroU64,
    /// Its drop-tail limit.
    pub queue: Queue,
}

/// Independent random loss.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loss {
    /// Where packets are lost.
    pub place: Place,
    /// Probability for each packet, in `0.0..1.0`.
    pub probability: f64,
}

/// Where on the dumbbell packets can be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// As data leaves its sender.
    Sender,
    /// Before the queue of the bottleneck.
    Bottleneck,
    /// As data reaches its receiver, after the bottleneck.
    Receiver,
    /// Acknowledgements, before the reverse bottleneck.
    Reverse,
}

/// The forward bottleneck of a dumbbell network.
pub const FORWARD_BOTTLENECK: LinkId = 0;
/// The reverse bottleneck of a dumbbell network.
pub const REVERSE_BOTTLENECK: LinkId = 1;

impl From<Queue> for QueueLimit {
    fn from(queue: Queue) -> Self {
        match queue {
            Queue::Packets(limit) => Self::Packets(limit),
            Queue::Bytes(limit) => Self::Bytes(limit),
        }
    }
}

impl DumbbellConfig {
    /// Builds the network for flows with the given base round-trip times.
    ///
    /// # Panics
    /// If a round-trip time is shorter than the bottleneck's own.
    #[must_use]
    pub fn build(&self, flow_rtts: impl IntoIterator<Item = Span>, seed: u64) -> Network {
        let mut links = vec![self.forward_bottleneck(), self.reverse_bottleneck()];
        let mut add = |link: LinkConfig| {
            let id = (!link.is_transparent()).then_some(links.len());
            links.extend(id.map(|_| link));
            id
        };
        let paths: Vec<_> = flow_rtts
            .into_iter()
            .map(|rtt| {
                let shared = Span(2 * self.delay_ns.0);
                assert!(rtt >= shared, "rtt {rtt:?} shorter than the bottleneck's {shared:?}");
                let edges = rtt - shared;
                let outward = Span(edges.0 / 2);
                let access = add(self.access(outward));
                let receiver = add(self.receiver());
                let back = add(self.link(None, edges - outward));
                Path {
                    forward: [access, Some(FORWARD_BOTTLENECK), receiver]
                        .into_iter()
                        .flatten()
                        .collect(),
                    reverse: [Some(REVERSE_BOTTLENECK), back].into_iter().flatten().collect(),
                }
            })
            .collect();
        Network::new(&links, &paths, seed)
    }

    fn forward_bottleneck(&self) -> LinkConfig {
        LinkConfig {
            queue: self.queue.into(),
            loss_probability: self.loss_at(Place::Bottleneck),
            ..self.link(Some(self.rate_bps), self.delay_ns)
        }
    }

    fn reverse_bottleneck(&self) -> LinkConfig {
        LinkConfig {
            queue: self.reverse.queue.into(),
            loss_probability: self.loss_at(Place::Reverse),
            ..self.link(Some(self.reverse.rate_bps), self.delay_ns)
        }
    }

    fn access(&self, delay: Span) -> LinkConfig {
        LinkConfig {
            loss_probability: self.loss_at(Place::Sender),
            jitter: self.edge_jitter_ns,
            ..self.link(self.edge_rate_bps, delay)
        }
    }

    fn receiver(&self) -> LinkConfig {
        LinkConfig {
            loss_probability: self.loss_at(Place::Receiver),
            ..self.link(None, Span::ZERO)
        }
    }

    fn link(&self, rate: Option<NonZeroU64>, delay: Span) -> LinkConfig {
        LinkConfig {
            rate: rate.map(Rate),
            delay,
            overhead_bytes: self.overhead_bytes,
            ..LinkConfig::default()
        }
    }

    /// Probability that at least one of the losses at `place` hits a packet.
    fn loss_at(&self, place: Place) -> f64 {
        let at_place = self.loss.iter().filter(|loss| loss.place == place);
        let survival: f64 = at_place.map(|loss| 1.0 - loss.probability).product();
        1.0 - survival
    }
}
