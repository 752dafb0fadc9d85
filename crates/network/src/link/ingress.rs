//! Ingress impairments: what happens to packets before the queue.

use super::egress::{UNIFORM, VARIATION};
use super::outcome::DropCause;
use crate::chance::Chance;
use crate::delays::Jitter;
use crate::link_config::LinkConfig;
use crate::loss::{LossModel, LossModels};
use crate::packet::Packet;
use crate::policer::Policer;
use crate::random::Random;
use crate::units::{Span, Time};
use crate::variation::Variation;

/// Impairments of packets before the queue.
#[derive(Debug)]
pub(super) struct Ingress {
    policer: Option<Policer>,
    losses: LossModels,
    duplicate: Option<Chance>,
    jitter: Option<Jitter>,
    variation: Option<Variation>,
}

/// Return the losses of a link.
pub(super) fn losses(config: &LinkConfig, random: impl Fn(u64) -> Random) -> LossModels {
    let mut streams = random(1);
    let losses = config.loss.iter().map(|loss| LossModel::new(loss, streams.split()));
    LossModels::new(losses.collect())
}

/// Return whether a link has no impairments but losses before its queue.
pub(super) fn only_loses(config: &LinkConfig) -> bool {
    config.policer.is_none()
        && config.duplicate == 0.0
        && config.jitter == Span::ZERO
        && config.variation.is_none()
}

impl Ingress {
    /// Impairments of a link, or None if it has none. Before a queue that is `scheduled` no delay
    /// varies.
    pub fn new(
        config: &LinkConfig,
        scheduled: bool,
        random: impl Fn(u64) -> Random,
    ) -> Option<Box<Self>> {
        if only_loses(config) && config.loss.is_empty() {
            return None;
        }
        let variation = config.variation.as_ref().filter(|it| !it.overtaken && !scheduled);
        Some(Box::new(Self {
            policer: config.policer.as_ref().map(Policer::new),
            losses: losses(config, &random),
            duplicate: (config.duplicate > 0.0).then(|| Chance::new(config.duplicate, random(2))),
            jitter: Jitter::up_to(if scheduled { Span::ZERO } else { config.jitter }, || {
                random(UNIFORM)
            }),
            variation: variation.map(|it| Variation::new(it, random(VARIATION))),
        }))
    }

    /// Return whether packets may come twice.
    pub const fn duplicates(&self) -> bool {
        self.duplicate.is_some()
    }

    /// Return whether the packet that has just arrived comes twice.
    pub fn duplicate(&mut self) -> bool {
        self.duplicate.as_mut().is_some_and(Chance::happens)
    }

    /// Return the time at which the packet joins the queue, or the cause of its loss.
    #[inline]
    pub fn pass(&mut self, now: Time, packet: Packet, wire_bytes: u32) -> Result<Time, DropCause> {
        // The policer comes first, so it also counts packets that are then lost at random.
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, wire_bytes)) {
            return Err(DropCause::Overflow);
        }
        if self.losses.lost(now, packet) {
            return Err(DropCause::Random);
        }
        let ready = self.jitter.as_mut().map_or(now, |jitter| jitter.ready(now));
        Ok(self.variation.as_mut().map_or(ready, |variation| variation.ready(ready)))
    }
}
