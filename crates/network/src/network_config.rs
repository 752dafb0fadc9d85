//! Settings of a network that do not depend on its links and routes.

use crate::routing::Drive;
use crate::units::{Span, Time};

/// How a network is run.
#[derive(Clone, Copy, Debug)]
pub struct NetworkConfig {
    /// What its random numbers come from.
    pub seed: u64,
    /// When it stands still.
    pub end: Time,
    /// Counters of sampled links are kept so often.
    pub interval: Option<Span>,
    /// Whose time it is. Hosts that send as time goes by go on by [`crate::Network::until`].
    pub drive: Drive,
    /// Links take shortcuts where they can, which comes to the same.
    pub shortcuts: bool,
}
