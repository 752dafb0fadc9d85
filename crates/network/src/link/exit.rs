//! Impairments behind the transmitter.

use crate::delays::{Batch, Delays, Jitter, Reorder};
use crate::link_config::LinkConfig;
use crate::random::Random;
use crate::units::{Span, Time};

/// The stream of a link's random numbers that its processing jitter is drawn from.
const JITTER: u64 = 5;

/// What happens to packets behind the transmitter.
#[derive(Debug)]
pub(super) enum Exit {
    /// A constant delay, and processing jitter if there is any.
    Plain(Span, Option<Jitter>),
    /// Anything else.
    General(Box<General>),
}

/// All that may happen there.
#[derive(Debug)]
pub(super) struct General {
    delays: Delays,
    jitter: Option<Jitter>,
    reorder: Option<Reorder>,
    batch: Option<Batch>,
}

/// The delay and the processing jitter of a link behind whose transmitter nothing else happens.
pub(super) fn plain(
    config: &LinkConfig,
    random: impl Fn(u64) -> Random,
) -> Option<(Span, Option<Jitter>)> {
    let is_plain =
        config.delay.0.len() == 1 && config.reorder.is_none() && config.batch == Span::ZERO;
    let jitter = || Jitter::up_to(config.exit_jitter, || random(JITTER));
    is_plain.then(|| (config.delay.0[0].1, jitter()))
}

impl Exit {
    pub fn new(config: &LinkConfig, random: impl Fn(u64) -> Random) -> Self {
        if let Some((delay, jitter)) = plain(config, &random) {
            return Self::Plain(delay, jitter);
        }
        Self::General(Box::new(General {
            delays: Delays::new(&config.delay),
            jitter: Jitter::up_to(config.exit_jitter, || random(JITTER)),
            reorder: config.reorder.as_ref().map(|reorder| Reorder::new(reorder, random(4))),
            batch: Batch::new(config.batch),
        }))
    }

    /// Whether late packets are overtaken.
    pub const fn reorders(&self) -> bool {
        matches!(self, Self::General(exit) if exit.reorder.is_some())
    }

    /// When a packet that leaves the transmitter at `end` is at the far end.
    #[inline]
    pub fn far_end(&mut self, end: Time) -> Time {
        match self {
            Self::Plain(delay, None) => end + *delay,
            Self::Plain(delay, Some(jitter)) => jitter.ready(end + *delay),
            Self::General(exit) => exit.far_end(end),
        }
    }
}

impl General {
    fn far_end(&mut self, end: Time) -> Time {
        let arrives = self.delays.arrives(end);
        let arrives = self.jitter.as_mut().map_or(arrives, |jitter| jitter.ready(arrives));
        let late = self.reorder.as_mut().and_then(Reorder::late_by).unwrap_or(Span::ZERO);
        let arrives = arrives + late;
        self.batch.map_or(arrives, |batch| batch.delivers(arrives))
    }
}
