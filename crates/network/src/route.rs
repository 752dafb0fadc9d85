//! Routes as a scenario states them, and what travels over them.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::packet::Packet;
use crate::units::{Span, Time};

/// Index of a link.
pub type LinkId = usize;

/// Index of a logical process: hosts on one clock that packets reach over one link at one distance.
pub type ProcessId = usize;

/// A link that a route passes and the propagation delay before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// The link.
    pub link: LinkId,
    /// Delay between the host or link before and this one.
    #[serde(rename = "delay_ns")]
    pub delay: Span,
}

/// A route through the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The links in their order, at least one.
    pub hops: Vec<Hop>,
    /// Delay after the last of them.
    #[serde(rename = "delay_ns")]
    pub delay: Span,
}

/// The two routes of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// From sender to receiver.
    pub forward: Route,
    /// From receiver to sender. None if the receiver never answers.
    pub reverse: Option<Route>,
}

/// A packet and the time at which it arrives somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Time of arrival.
    pub time: Time,
    /// The packet.
    pub packet: Packet,
}
