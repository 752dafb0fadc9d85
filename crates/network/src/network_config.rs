//! Settings of a network that do not depend on its links and routes.

use crate::routing::Drive;
use crate::units::{Span, Time};

/// Configuration of a run of a network.
#[derive(Clone, Copy, Debug)]
pub struct NetworkConfig {
    /// Seed of its random numbers.
    pub seed: u64,
    /// Time at which it stops.
    pub end: Time,
    /// Interval at which counters of sampled links are kept; None keeps none.
    pub interval: Option<Span>,
    /// Time that drives the network. A driver of hosts in real time calls
    /// [`crate::Network::until`].
    pub drive: Drive,
    /// True if links take shortcuts where they can. Shortcuts do not change any result.
    pub shortcuts: bool,
}
