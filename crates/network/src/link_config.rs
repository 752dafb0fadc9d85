//! A link as the resolved scenario describes it.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{Check, probability, require, within};
use crate::delays::ReorderConfig;
use crate::loss::LossConfig;
use crate::memory::MemoryConfig;
use crate::policer::PolicerConfig;
use crate::queue::QueueConfig;
use crate::schedule::Steps;
use crate::transmitter::RateConfig;
use crate::units::Span;
use crate::variation::VariationConfig;

/// A link, in base units.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Name for people.
    pub name: String,
    /// Transmission rate; None if serialisation takes no time.
    pub rate: Option<RateConfig>,
    /// One-way propagation delay by time; packets keep their order when it falls.
    pub delay: Steps<Span>,
    /// The route that packets take, by time. Packets of one route keep their order and may overtake
    /// those of another. None if all take the same.
    #[serde(default)]
    pub route: Option<Steps<u32>>,
    /// Delay that varies from packet to packet, in addition to `delay`.
    #[serde(default)]
    pub variation: Option<VariationConfig>,
    /// Largest number of packets in its queue and under its delays; None is unlimited.
    #[serde(default)]
    pub holds: Option<NonZeroU32>,
    /// Bytes on the wire beyond those of the IP packet.
    pub overhead_bytes: u16,
    /// The queue in front of the transmitter.
    pub queue: QueueConfig,
    /// A token bucket that drops what exceeds it, before all else.
    pub policer: Option<PolicerConfig>,
    /// Random and scripted losses before the queue, tried in order.
    pub loss: Vec<LossConfig>,
    /// Probability that a packet, lost or not, joins the queue a second time.
    pub duplicate: f64,
    /// Packets that reach the far end late and so are overtaken.
    pub reorder: Option<ReorderConfig>,
    /// Longest random delay before the queue, order kept (a busy host).
    #[serde(rename = "jitter_ns")]
    pub jitter: Span,
    /// Longest random delay behind the transmitter, order kept.
    #[serde(default, rename = "exit_jitter_ns")]
    pub exit_jitter: Span,
    /// Packets reach the far end at multiples of this time only; 0: at any time.
    #[serde(rename = "batch_ns")]
    pub batch: Span,
    /// True if its counters are sampled.
    pub sampled: bool,
    /// True if it is the interface of a host, whose TCP knows the waiting packets of each flow.
    #[serde(default)]
    pub interface: bool,
    /// Memory that its queues share with those of other links; None if they have separate memory.
    #[serde(default)]
    pub memory: Option<MemoryConfig>,
}

impl LinkConfig {
    /// Return the longest delay of the link outside its queue and its transmitter.
    #[must_use]
    pub fn longest(&self) -> Span {
        let delay = self.delay.values().max().unwrap_or(Span::ZERO);
        let late = self.reorder.map_or(Span::ZERO, |reorder| reorder.delay_ns);
        let varied = self.variation.as_ref().map_or(Span::ZERO, VariationConfig::longest);
        [late, self.jitter, self.batch, varied].into_iter().fold(delay, Span::saturating_add)
    }

    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault and the fault.
    pub fn check(&self) -> Check {
        self.rate.as_ref().map_or(Ok(()), |rate| within("rate", rate.check()))?;
        self.delay.check("delay")?;
        self.route.as_ref().map_or(Ok(()), |route| route.check("route"))?;
        self.variation.as_ref().map_or(Ok(()), |it| within("variation", it.check()))?;
        within("queue", self.queue.check())?;
        self.policer.as_ref().map_or(Ok(()), |policer| within("policer", policer.check()))?;
        for (index, loss) in self.loss.iter().enumerate() {
            within(&format!("loss.{index}"), loss.check())?;
        }
        probability("duplicate", self.duplicate)?;
        let is_constant = matches!(self.rate, Some(RateConfig::Constant(_)));
        require(!self.interface || is_constant, "interface", || {
            "true, but an interface has a constant rate".into()
        })?;
        self.reorder.as_ref().map_or(Ok(()), |reorder| within("reorder", reorder.check()))?;
        let Some(memory) = &self.memory else { return Ok(()) };
        require(self.rate.is_some() && !self.interface, "memory", || {
            "given, but what shares memory has a rate and is no host's interface".into()
        })?;
        within("memory", memory.check())
    }
}
