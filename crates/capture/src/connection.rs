//! The packets of one direction of a connection, as a capture shows them.

use std::net::SocketAddr;

use serde::Serialize;

use crate::place::Place;

/// One direction of a connection.
#[derive(Debug, Serialize)]
pub struct Connection {
    /// End that sends the data.
    pub sender: SocketAddr,
    /// End that acknowledges it.
    pub receiver: SocketAddr,
    /// Time of its first data, in ns since the capture's first packet.
    pub start_ns: u64,
    /// Time when its last data was sent or acknowledged, in ns.
    pub end_ns: u64,
    /// True if its beginning is in the capture.
    pub is_opened: bool,
    /// True if its acknowledgements are in the capture.
    pub is_answered: bool,
    /// Most bytes of data in a packet on the wire.
    pub mss_bytes: u32,
    /// Segments of that size to which the sent data amounts, retransmissions included.
    pub segments: u64,
    /// Retransmitted segments.
    pub again: u64,
    /// Segments that others overtook in the network.
    pub reordered: u64,
    /// Bytes acknowledged; without acknowledgements, bytes in the capture.
    pub delivered_bytes: u64,
    /// Bytes that were acknowledged and are not in the capture.
    pub missed_bytes: u64,
    /// Point of capture.
    pub place: Place,
    /// True if only one part of the round trip shows the point of capture.
    pub place_is_guess: bool,
    /// Shortest round trip, in ns; none: see `no_rtt`.
    pub rtt_min_ns: Option<u64>,
    /// Reason why there is no round trip; none: there is one.
    pub no_rtt: Option<&'static str>,
    /// Measurements for each step with packets.
    pub steps: Steps,
}

/// Measurements over time, as columns. Each step with packets is a row.
#[derive(Debug, Default, Serialize)]
pub struct Steps {
    /// Number of the step, from 0 where the capture begins.
    pub number: Vec<u64>,
    /// Bytes acknowledged; without acknowledgements, bytes in the capture.
    pub delivered_bytes: Vec<u64>,
    /// Retransmitted segments.
    pub again: Vec<u64>,
    /// Most unacknowledged bytes, as the sender sees them; none: unknown.
    pub in_flight_bytes: Vec<Option<u64>>,
    /// Largest window that the receiver offered; none: no handshake shows its scale.
    pub window_bytes: Vec<Option<u64>>,
    /// Mean round trip, in ns; none: unknown.
    pub rtt_mean_ns: Vec<Option<u64>>,
    /// Longest round trip, in ns; none: unknown.
    pub rtt_max_ns: Vec<Option<u64>>,
}
