//! The packets of one direction of a connection, as a capture shows them.

use std::net::SocketAddr;

use serde::Serialize;

use crate::place::Place;

/// One direction of a connection.
#[derive(Debug, Serialize)]
pub struct Connection {
    /// Whose data it is.
    pub sender: SocketAddr,
    /// Who acknowledges it.
    pub receiver: SocketAddr,
    /// When its first data was seen, since the capture's first packet.
    pub start_ns: u64,
    /// When its last data was sent or acknowledged.
    pub end_ns: u64,
    /// Its beginning is in the capture.
    pub is_opened: bool,
    /// Its acknowledgements are in the capture.
    pub is_answered: bool,
    /// Most bytes of data in a packet on the wire.
    pub mss_bytes: u32,
    /// Segments of that size that the data sent comes to, what was sent again included.
    pub segments: u64,
    /// Segments that were sent again.
    pub again: u64,
    /// Segments that others overtook on their way.
    pub reordered: u64,
    /// Bytes acknowledged; without acknowledgements, those that were seen.
    pub delivered_bytes: u64,
    /// Bytes that were acknowledged and are not in the capture.
    pub missed_bytes: u64,
    /// Where it was captured.
    pub place: Place,
    /// Only one part of the round trip says where it was captured.
    pub place_is_guess: bool,
    /// Shortest round trip.
    pub rtt_min_ns: Option<u64>,
    /// Why there is none.
    pub no_rtt: Option<&'static str>,
    /// What happened in each step in which anything did.
    pub steps: Steps,
}

/// What happened over time: columns, with a row for each step in which anything did.
#[derive(Debug, Default, Serialize)]
pub struct Steps {
    /// Its number, from 0 where the capture begins.
    pub number: Vec<u64>,
    /// Bytes acknowledged; without acknowledgements, those that were seen.
    pub delivered_bytes: Vec<u64>,
    /// Segments sent again.
    pub again: Vec<u64>,
    /// Most bytes that were sent and not acknowledged, as their sender sees it.
    pub in_flight_bytes: Vec<Option<u64>>,
    /// Largest window that the receiver offered, if the handshake says how to read it.
    pub window_bytes: Vec<Option<u64>>,
    /// Mean round trip.
    pub rtt_mean_ns: Vec<Option<u64>>,
    /// Longest round trip.
    pub rtt_max_ns: Vec<Option<u64>>,
}
