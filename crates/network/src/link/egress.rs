//! Egress impairments: what happens to packets behind the transmitter.

use crate::delays::{Batch, Delays, Jitter, Reorder};
use crate::link_config::LinkConfig;
use crate::random::Random;
use crate::units::{Span, Time};
use crate::variation::Variation;

/// Stream of a link's random numbers for its processing jitter.
const JITTER: u64 = 5;

/// Stream of its varying delays, before the queue or behind the transmitter.
pub(super) const VARIATION: u64 = 6;

/// Stream of its uniform delays, before the queue or behind the transmitter.
pub(super) const UNIFORM: u64 = 3;

/// Impairments of packets behind the transmitter.
#[derive(Debug)]
pub(super) enum Egress {
    /// A constant delay, with processing jitter or without.
    Plain(Span, Option<Jitter>),
    /// Any other combination.
    General(Box<General>),
}

/// All possible impairments behind the transmitter.
#[derive(Debug)]
pub(super) struct General {
    delays: Delays,
    jitter: Option<Jitter>,
    uniform: Option<Jitter>,
    variation: Option<Variation>,
    reorder: Option<Reorder>,
    /// True if packets of one route may overtake those of another, or early packets late ones.
    overtakes: bool,
    batch: Option<Batch>,
}

/// Return the delay and the processing jitter of a link without other impairments behind the
/// transmitter. None if the link has others.
pub(super) fn plain(
    config: &LinkConfig,
    random: impl Fn(u64) -> Random,
) -> Option<(Span, Option<Jitter>)> {
    let is_plain = config.delay.0.len() == 1
        && config.route.is_none()
        && config.variation.is_none()
        && config.reorder.is_none()
        && config.batch == Span::ZERO;
    let jitter = || Jitter::up_to(config.exit_jitter, || random(JITTER));
    is_plain.then(|| (config.delay.0[0].1, jitter()))
}

impl Egress {
    /// Impairments of a link. If it is `scheduled`, all varying delays are behind the transmitter.
    /// Otherwise those that keep the order are before the queue.
    pub fn new(config: &LinkConfig, scheduled: bool, random: impl Fn(u64) -> Random) -> Self {
        let uniform =
            Jitter::up_to(if scheduled { config.jitter } else { Span::ZERO }, || random(UNIFORM));
        if let (Some((delay, jitter)), None) = (plain(config, &random), &uniform) {
            return Self::Plain(delay, jitter);
        }
        let variation = config.variation.as_ref().filter(|it| it.overtaken || scheduled);
        Self::General(Box::new(General {
            delays: Delays::new(&config.delay, config.route.as_ref()),
            jitter: Jitter::up_to(config.exit_jitter, || random(JITTER)),
            uniform,
            variation: variation.map(|variation| Variation::new(variation, random(VARIATION))),
            reorder: config.reorder.as_ref().map(|reorder| Reorder::new(reorder, random(4))),
            overtakes: config.reorder.is_some()
                || config.route.is_some()
                || variation.is_some_and(|variation| variation.overtaken),
            batch: Batch::new(config.batch),
        }))
    }

    /// Return whether late packets are overtaken.
    pub const fn reorders(&self) -> bool {
        matches!(self, Self::General(egress) if egress.overtakes)
    }

    /// Return the arrival time at the far end of a packet that leaves the transmitter at `end`.
    #[inline]
    pub fn far_end(&mut self, end: Time) -> Time {
        match self {
            Self::Plain(delay, None) => end + *delay,
            Self::Plain(delay, Some(jitter)) => jitter.ready(end + *delay),
            Self::General(egress) => egress.far_end(end),
        }
    }
}

impl General {
    fn far_end(&mut self, end: Time) -> Time {
        let arrives = self.delays.arrives(end);
        let arrives = self.jitter.as_mut().map_or(arrives, |jitter| jitter.ready(arrives));
        let arrives = self.uniform.as_mut().map_or(arrives, |jitter| jitter.ready(arrives));
        let arrives = self.variation.as_mut().map_or(arrives, |it| it.ready(arrives));
        let late = self.reorder.as_mut().and_then(Reorder::late_by).unwrap_or(Span::ZERO);
        // Lateness comes after every delay that keeps the order. Otherwise the next packet would
        // wait for the late one.
        let arrives = arrives + late;
        self.batch.map_or(arrives, |batch| batch.delivers(arrives))
    }
}
