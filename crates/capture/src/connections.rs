//! What the packets of a capture say of each connection, interval by interval.
//!
//! A capture knows no congestion window and no acknowledgement that it has not seen. What it tells
//! is what the wire shows: data acknowledged, data sent again, data in flight, and how long packets
//! took to be answered.
//!
//! # Where it was captured
//! At the sender the time between a segment and its acknowledgement is a round trip, by Karn's rule
//! of segments that were sent once (RFC 6298, section 3), where it acknowledges nothing else. At the
//! receiver that time is next to nothing; there a round trip is the time between an acknowledgement
//! and the first segment that echoes its timestamp (RFC 7323, section 4). Which of the two it is,
//! the longer one says.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::net::SocketAddr;
use std::num::NonZeroU64;

use serde::Serialize;

use crate::reader::{self, ReadError, Seen};

/// What a segment carries where the capture begins too late to say it.
const MAX_SEGMENT_BYTES: u32 = 1448;
/// The option of timestamps takes this from each segment.
const TIMESTAMPS_BYTES: u32 = 12;
/// Data further ahead or behind than this is of another connection between the same ports.
const SAME_CONNECTION_BYTES: i64 = 1 << 30;

/// What a capture says.
#[derive(Debug, Default, Serialize)]
pub struct Capture {
    /// From its first TCP packet to its last.
    pub duration_ns: u64,
    /// TCP packets.
    pub packets: u64,
    /// The file ends within a packet.
    pub is_cut: bool,
    /// One for each direction of a connection that carries data, in order of their first packet.
    pub connections: Vec<Connection>,
}

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
    /// Most bytes of data in a packet on the wire.
    pub mss_bytes: u32,
    /// Segments of that size that the data sent comes to, what was sent again included.
    pub segments: u64,
    /// Segments that were sent again, or seen out of order at the receiver.
    pub again: u64,
    /// Bytes acknowledged.
    pub acknowledged_bytes: u64,
    /// It was captured at the receiver.
    pub at_receiver: bool,
    /// Shortest round trip.
    pub rtt_min_ns: Option<u64>,
    /// What happened in each interval in which anything did.
    pub intervals: Vec<Interval>,
}

/// A part of a connection's time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Interval {
    /// Its number, from 0 where the capture begins.
    pub number: u64,
    /// Bytes acknowledged.
    pub acknowledged_bytes: u64,
    /// Segments sent again.
    pub again: u64,
    /// Most bytes that were sent and not acknowledged.
    pub in_flight_bytes: u64,
    /// Mean round trip.
    pub rtt_mean_ns: Option<u64>,
    /// Longest round trip.
    pub rtt_max_ns: Option<u64>,
}

/// Reads a pcap or pcapng file and follows its connections.
///
/// # Errors
/// If it is no capture, damaged, or of a link that is not known here.
pub fn connections(file: impl Read, interval_ns: NonZeroU64) -> Result<Capture, ReadError> {
    let mut followed = Followed::new(interval_ns);
    let is_cut = reader::read(file, &mut |packet| followed.see(packet))?;
    let mut connections: Vec<_> =
        followed.directions.into_iter().filter_map(Direction::told).collect();
    connections.sort_by_key(|it| (it.start_ns, it.sender, it.receiver));
    let duration_ns = followed.last_ns;
    Ok(Capture { duration_ns, packets: followed.packets, is_cut, connections })
}

/// How far a number of 32 bits is ahead of another, as serial numbers count (RFC 1982).
fn ahead(number: u32, other: u32) -> i64 {
    i64::from(number.wrapping_sub(other) as i32)
}

struct Followed {
    interval_ns: NonZeroU64,
    packets: u64,
    /// When the first packet was captured.
    first_ns: Option<u64>,
    last_ns: u64,
    directions: Vec<Direction>,
    /// The newest direction from one address to another.
    newest: BTreeMap<(SocketAddr, SocketAddr), usize>,
}

impl Followed {
    fn new(interval_ns: NonZeroU64) -> Self {
        Self {
            interval_ns,
            packets: 0,
            first_ns: None,
            last_ns: 0,
            directions: Vec::new(),
            newest: BTreeMap::new(),
        }
    }

    fn see(&mut self, packet: &Seen) {
        let first_ns = *self.first_ns.get_or_insert(packet.time_ns);
        // Clocks are set back at times.
        let time_ns = packet.time_ns.saturating_sub(first_ns);
        self.packets += 1;
        self.last_ns = self.last_ns.max(time_ns);
        let number = time_ns / self.interval_ns;
        let sent = self.direction(packet);
        self.directions[sent].data(packet, time_ns, number);
        if let Some(&answered) = self.newest.get(&(packet.destination, packet.source)) {
            self.directions[answered].answer(packet, time_ns, number);
        }
    }

    /// The direction that a packet is of: a new one if it opens a connection.
    fn direction(&mut self, packet: &Seen) -> usize {
        let ends = (packet.source, packet.destination);
        match self.newest.get(&ends) {
            Some(&known) if self.directions[known].holds(packet) => known,
            _ => {
                self.directions.push(Direction::new(packet));
                self.newest.insert(ends, self.directions.len() - 1);
                self.directions.len() - 1
            }
        }
    }
}

/// Data that was not acknowledged when it was last looked at.
struct Outstanding {
    start: i64,
    end: i64,
    sent_ns: u64,
    again: bool,
}

/// Round trips of one of the two kinds.
#[derive(Clone, Copy, Default)]
struct Rtts {
    count: u64,
    sum_ns: u64,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
}

impl Rtts {
    fn add(&mut self, rtt_ns: u64) {
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(rtt_ns);
        self.min_ns = Some(self.min_ns.map_or(rtt_ns, |least| least.min(rtt_ns)));
        self.max_ns = self.max_ns.max(Some(rtt_ns));
    }

    fn mean_ns(&self) -> Option<u64> {
        self.sum_ns.checked_div(self.count)
    }
}

#[derive(Default)]
struct Part {
    acknowledged_bytes: u64,
    again_bytes: u64,
    in_flight_bytes: u64,
    /// As the sender and as the receiver sees them.
    rtts: [Rtts; 2],
}

const SENDER: usize = 0;
const RECEIVER: usize = 1;

/// One direction of a connection as it goes on. Positions count bytes from the first one seen.
struct Direction {
    sender: SocketAddr,
    receiver: SocketAddr,
    /// The sequence number of position 0.
    first: u32,
    /// Behind the last byte that was sent, and that was acknowledged.
    sent: i64,
    acknowledged: Option<i64>,
    outstanding: VecDeque<Outstanding>,
    /// Timestamps of acknowledgements that no data has echoed, and when they were seen.
    unanswered: VecDeque<(u32, u64)>,
    is_opened: bool,
    has_timestamps: bool,
    /// What the receiver takes.
    max_segment_bytes: Option<u32>,
    largest_bytes: u32,
    data_bytes: u64,
    again_bytes: u64,
    /// When the first data was sent, and when anything happened last.
    start_ns: Option<u64>,
    end_ns: u64,
    rtts: [Rtts; 2],
    parts: BTreeMap<u64, Part>,
}

impl Direction {
    fn new(packet: &Seen) -> Self {
        let first = packet.sequence.wrapping_add(u32::from(packet.syn));
        Self {
            sender: packet.source,
            receiver: packet.destination,
            first,
            sent: 0,
            acknowledged: None,
            outstanding: VecDeque::new(),
            unanswered: VecDeque::new(),
            is_opened: packet.syn,
            has_timestamps: false,
            max_segment_bytes: None,
            largest_bytes: 0,
            data_bytes: 0,
            again_bytes: 0,
            start_ns: None,
            end_ns: 0,
            rtts: <[Rtts; 2]>::default(),
            parts: BTreeMap::new(),
        }
    }

    /// The position of a sequence number: the nearest to what was sent last.
    fn position(&self, sequence: u32) -> i64 {
        let last = self.first.wrapping_add((self.sent & i64::from(u32::MAX)) as u32);
        self.sent + ahead(sequence, last)
    }

    /// Whether a packet belongs to this connection, and not to a later one between the same ports.
    fn holds(&self, packet: &Seen) -> bool {
        if packet.syn {
            let is_same = self.is_opened && packet.sequence.wrapping_add(1) == self.first;
            return is_same && self.sent == 0;
        }
        (self.position(packet.sequence) - self.sent).abs() < SAME_CONNECTION_BYTES
    }

    /// A packet of the sender: its data, and the timestamp that it echoes.
    fn data(&mut self, packet: &Seen, time_ns: u64, number: u64) {
        if packet.syn || packet.payload_bytes == 0 {
            return;
        }
        self.start_ns.get_or_insert(time_ns);
        self.end_ns = time_ns;
        self.has_timestamps |= packet.timestamps.is_some();
        self.largest_bytes = self.largest_bytes.max(packet.payload_bytes);
        self.data_bytes += u64::from(packet.payload_bytes);
        self.echoed(packet, time_ns, number);
        let start = self.position(packet.sequence);
        let end = start + i64::from(packet.payload_bytes);
        if start < self.sent {
            let again = (end.min(self.sent) - start).unsigned_abs();
            self.again_bytes += again;
            self.parts.entry(number).or_default().again_bytes += again;
            self.mark(start, end);
        }
        if end > self.sent {
            let new = Outstanding { start: self.sent, end, sent_ns: time_ns, again: false };
            self.sent = end;
            self.outstanding.push_back(new);
        }
        let in_flight = self.sent - self.acknowledged.unwrap_or(0).min(self.sent);
        let part = self.parts.entry(number).or_default();
        part.in_flight_bytes = part.in_flight_bytes.max(in_flight.unsigned_abs());
    }

    /// Notes what was sent again: its acknowledgement says nothing of a round trip.
    fn mark(&mut self, start: i64, end: i64) {
        let first = self.outstanding.partition_point(|it| it.end <= start);
        for it in self.outstanding.range_mut(first..).take_while(|it| it.start < end) {
            it.again = true;
        }
    }

    /// Data that echoes the timestamp of an acknowledgement ends a round trip.
    fn echoed(&mut self, packet: &Seen, time_ns: u64, number: u64) {
        let Some(timestamps) = packet.timestamps else { return };
        while let Some(&(value, seen_ns)) = self.unanswered.front() {
            if ahead(timestamps.echo, value) < 0 {
                return;
            }
            self.unanswered.pop_front();
            if value == timestamps.echo {
                self.rtt(RECEIVER, time_ns.saturating_sub(seen_ns), number);
            }
        }
    }

    /// A packet of the other side: what it acknowledges, and its timestamp.
    fn answer(&mut self, packet: &Seen, time_ns: u64, number: u64) {
        if packet.syn {
            self.max_segment_bytes = packet.max_segment_bytes.map(u32::from);
        }
        let (Some(acknowledgement), Some(_)) = (packet.acknowledgement, self.start_ns) else {
            return;
        };
        // The end of a connection has a number, too, and captures miss packets.
        let acknowledged = self.position(acknowledgement).min(self.sent);
        if let Some(timestamps) = packet.timestamps {
            if self.unanswered.back().is_none_or(|&(value, _)| value != timestamps.value) {
                self.unanswered.push_back((timestamps.value, time_ns));
            }
        }
        let before = self.acknowledged.unwrap_or(0);
        if acknowledged <= before {
            return;
        }
        self.acknowledged = Some(acknowledged);
        self.end_ns = time_ns;
        let part = self.parts.entry(number).or_default();
        part.acknowledged_bytes += (acknowledged - before).unsigned_abs();
        let arrived = self.outstanding.partition_point(|it| it.end <= acknowledged);
        let (mut newest_ns, mut is_held_up) = (time_ns, false);
        for it in self.outstanding.drain(..arrived) {
            newest_ns = it.sent_ns;
            is_held_up |= it.again; // what follows a hole arrived before it was filled
        }
        if arrived > 0 && !is_held_up {
            self.rtt(SENDER, time_ns.saturating_sub(newest_ns), number);
        }
    }

    fn rtt(&mut self, side: usize, rtt_ns: u64, number: u64) {
        self.rtts[side].add(rtt_ns);
        self.parts.entry(number).or_default().rtts[side].add(rtt_ns);
    }

    /// What it came to, if it carried data.
    fn told(self) -> Option<Connection> {
        let start_ns = self.start_ns?;
        let [here, there] = self.rtts.map(|rtts| rtts.mean_ns().unwrap_or(0));
        let at_receiver = there / 2 > here;
        let side = if at_receiver { RECEIVER } else { SENDER };
        let mss_bytes = self.mss_bytes();
        let segments = |bytes: u64| bytes.div_ceil(u64::from(mss_bytes));
        let interval = |(number, part): (u64, Part)| Interval {
            number,
            acknowledged_bytes: part.acknowledged_bytes,
            again: segments(part.again_bytes),
            in_flight_bytes: part.in_flight_bytes,
            rtt_mean_ns: part.rtts[side].mean_ns(),
            rtt_max_ns: part.rtts[side].max_ns,
        };
        Some(Connection {
            sender: self.sender,
            receiver: self.receiver,
            start_ns,
            end_ns: self.end_ns,
            mss_bytes,
            segments: segments(self.data_bytes),
            again: segments(self.again_bytes),
            acknowledged_bytes: self.acknowledged.unwrap_or(0).unsigned_abs(),
            at_receiver,
            rtt_min_ns: self.rtts[side].min_ns,
            intervals: self.parts.into_iter().map(interval).collect(),
        })
    }

    /// What a packet carries on the wire: what is captured at a host may be cut into packets later.
    fn mss_bytes(&self) -> u32 {
        let options_bytes = if self.has_timestamps { TIMESTAMPS_BYTES } else { 0 };
        let taken =
            self.max_segment_bytes.map_or(MAX_SEGMENT_BYTES, |it| it.saturating_sub(options_bytes));
        self.largest_bytes.min(taken).max(1)
    }
}
