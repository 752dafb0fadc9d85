//! One direction of a connection: its data, and the acknowledgements of it.

use std::collections::VecDeque;
use std::net::SocketAddr;

use crate::connection::{Connection, Steps};
use crate::frames::Seen;
use crate::parts::{Part, Parts};
use crate::place::{CapturePoint, Place, Shortest};

/// Payload of a segment when no handshake shows it.
const MAX_SEGMENT_BYTES: u32 = 1448;
/// Bytes that the timestamps option takes from each segment.
const TIMESTAMPS_BYTES: u32 = 12;
/// Longest distance to the last data of the same connection. Data further away belongs to another
/// connection between the same ports.
const SAME_CONNECTION_BYTES: i64 = 1 << 30;
/// Most data that one acknowledgement may cover and the capture may be missing. More is damage.
const UNSEEN_BYTES_MAX: i64 = 1 << 26;
/// Most segments in flight that are followed. The oldest are forgotten.
const OUTSTANDING_MAX: usize = 1 << 17;
const UNANSWERED_MAX: usize = 1 << 13;
const HOLES_MAX: usize = 1 << 10;
/// A segment that fills a hole within this time was overtaken, if no round trip is known.
const REORDERED_NS: u64 = 3_000_000;

/// Shortest time that shows a delayed acknowledgement. Linux delays by 40 ms.
const DELAYED_NS: u64 = 35_000_000;

/// Distance of a 32-bit number from another, as serial numbers count (RFC 1982).
fn ahead(number: u32, answer: u32) -> i64 {
    i64::from(number.wrapping_sub(answer) as i32)
}

/// Time of a packet since the capture's first one, and the step that it is in.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    pub time_ns: u64,
    pub number: u64,
}

/// Data that is not acknowledged yet.
struct Outstanding {
    start: i64,
    end: i64,
    sent_ns: u64,
    again: bool,
}

/// A timestamp of acknowledgements that no data has echoed.
struct Unanswered {
    value: u32,
    seen_ns: u64,
    /// True if the sender had data in flight meanwhile.
    is_busy: bool,
}

/// Data missing from the sequence seen so far.
struct Hole {
    start: i64,
    end: i64,
    opened_ns: u64,
}

/// The opening of a connection, as one side shows it.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    seen_ns: u64,
    is_repeated: bool,
    /// True for a SYN/ACK.
    is_reply: bool,
    /// True if the capture cut its options.
    is_cut: bool,
    window_scale: Option<u8>,
    max_segment_bytes: Option<u16>,
}

/// One direction of a connection. Positions count bytes from the first one seen.
pub(crate) struct Direction {
    sender: SocketAddr,
    receiver: SocketAddr,
    /// The sequence number of position 0.
    first: u32,
    /// Position behind the last byte that was sent, and behind the last one acknowledged.
    sent: i64,
    acknowledged: Option<i64>,
    outstanding: VecDeque<Outstanding>,
    unanswered: VecDeque<Unanswered>,
    holes: VecDeque<Hole>,
    /// Opening by the sender, and by the receiver.
    opening: Option<Opening>,
    answered_opening: Option<Opening>,
    /// True once its handshake is over.
    is_open: bool,
    is_answered: bool,
    /// The latest timestamp of the sender.
    latest: Option<u32>,
    largest_bytes: u32,
    data_bytes: u64,
    new_bytes: u64,
    again_bytes: u64,
    reordered_bytes: u64,
    /// Bytes that were acknowledged and are not in the capture.
    missed_bytes: u64,
    /// Time of the first data, and of the last packet.
    start_ns: Option<u64>,
    end_ns: u64,
    shortest: Shortest,
    /// The latest round trip up to an acknowledgement, delayed ones left out.
    latest_there_ns: Option<u64>,
    /// True if the latest one was left out.
    left_out: bool,
    parts: Parts,
}

impl Direction {
    /// The direction of a packet.
    pub fn of(packet: &Seen) -> Self {
        let mut new = Self::between(packet.source, packet.destination, packet.sequence);
        if packet.syn {
            new.first = packet.sequence.wrapping_add(1);
        }
        new
    }

    /// The direction of data that was not captured, from its acknowledgement.
    pub fn answered_by(packet: &Seen, acknowledgement: u32) -> Self {
        Self::between(packet.destination, packet.source, acknowledgement)
    }

    fn between(sender: SocketAddr, receiver: SocketAddr, first: u32) -> Self {
        Self {
            sender,
            receiver,
            first,
            sent: 0,
            acknowledged: None,
            outstanding: VecDeque::new(),
            unanswered: VecDeque::new(),
            holes: VecDeque::new(),
            opening: None,
            answered_opening: None,
            is_open: false,
            is_answered: false,
            latest: None,
            largest_bytes: 0,
            data_bytes: 0,
            new_bytes: 0,
            again_bytes: 0,
            reordered_bytes: 0,
            missed_bytes: 0,
            start_ns: None,
            end_ns: 0,
            shortest: Shortest::default(),
            latest_there_ns: None,
            left_out: false,
            parts: Parts::default(),
        }
    }

    /// Position of a sequence number: the nearest to the last data sent.
    fn position(&self, sequence: u32) -> i64 {
        let last = self.first.wrapping_add((self.sent & i64::from(u32::MAX)) as u32);
        self.sent + ahead(sequence, last)
    }

    /// Return true if a packet belongs to this connection, not to a later one between the same
    /// ports.
    pub fn holds(&self, packet: &Seen) -> bool {
        if packet.syn {
            let is_same = packet.sequence.wrapping_add(1) == self.first;
            return is_same && self.opening.is_some() && self.sent == 0;
        }
        (self.position(packet.sequence) - self.sent).abs() < SAME_CONNECTION_BYTES
    }

    /// Number of steps with packets.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Make each step twice as long.
    pub fn halve(&mut self) {
        self.parts.halve();
    }

    /// Its sender's opening; none: not captured.
    pub fn opening(&self) -> Option<Opening> {
        self.opening
    }

    /// Note the other side's opening of the connection that this direction accepts.
    pub fn answers(&mut self, opening: Option<Opening>) {
        self.answered_opening = opening;
    }

    /// End the handshake at the client's first packet behind its SYN, which shows both parts of a
    /// round trip. `is_client` is true if the client sends this direction's data.
    fn shake(&mut self, is_client: bool, now: Moment) {
        let (Some(opening), Some(answer)) = (self.opening, self.answered_opening) else { return };
        if self.is_open || opening.is_reply == is_client {
            return;
        }
        self.is_open = true;
        if opening.is_repeated || answer.is_repeated {
            return;
        }
        let (syn, reply) = if is_client { (opening, answer) } else { (answer, opening) };
        let of_server_ns = reply.seen_ns.saturating_sub(syn.seen_ns);
        let of_client_ns = now.time_ns.saturating_sub(reply.seen_ns);
        if is_client {
            self.shortest.handshake(of_server_ns, of_client_ns);
        } else {
            self.shortest.handshake(of_client_ns, of_server_ns);
        }
    }

    /// Take a packet of the sender: its data, and the timestamp that it echoes.
    pub fn data(&mut self, packet: &Seen, now: Moment) {
        if packet.syn {
            open(&mut self.opening, packet, now);
            return;
        }
        self.shake(true, now);
        let start = self.position(packet.sequence);
        let end = start + i64::from(packet.payload_bytes);
        if packet.payload_bytes == 0 || is_probe(packet, end, self.acknowledged) {
            return;
        }
        self.start_ns.get_or_insert(now.time_ns);
        self.end_ns = now.time_ns;
        self.largest_bytes = self.largest_bytes.max(packet.payload_bytes);
        self.data_bytes += u64::from(packet.payload_bytes);
        self.echoed(packet, now);
        if start < self.sent {
            self.old_data(packet, start, end.min(self.sent), now);
        } else if start > self.sent {
            let hole = Hole { start: self.sent, end: start, opened_ns: now.time_ns };
            pushed(&mut self.holes, hole, HOLES_MAX);
        }
        if end > self.sent {
            self.new_data(start.max(self.sent), end, now);
        }
        if let Some(timestamps) = packet.timestamps {
            if self.latest.is_none_or(|latest| ahead(timestamps.value, latest) > 0) {
                self.latest = Some(timestamps.value);
            }
        }
    }

    fn new_data(&mut self, start: i64, end: i64, now: Moment) {
        self.new_bytes += (end - start).unsigned_abs();
        self.sent = end;
        if self.is_answered || self.answered_opening.is_some() {
            let new = Outstanding { start, end, sent_ns: now.time_ns, again: false };
            pushed(&mut self.outstanding, new, OUTSTANDING_MAX);
        }
        let in_flight = self.sent - self.acknowledged.unwrap_or(0).min(self.sent);
        let part = self.parts.at(now.number);
        part.new_bytes += (end - start).unsigned_abs();
        part.in_flight_bytes = part.in_flight_bytes.max(in_flight.unsigned_abs());
    }

    /// Take data that was seen before or fills a hole: a retransmission, or overtaken in the
    /// network.
    fn old_data(&mut self, packet: &Seen, start: i64, end: i64, now: Moment) {
        let (filled, opened_ns) = self.fill(start, end);
        if filled > 0 && self.was_overtaken(packet, now.time_ns.saturating_sub(opened_ns)) {
            self.reordered_bytes += filled;
        } else {
            let again = (end - start).unsigned_abs();
            self.again_bytes += again;
            self.parts.at(now.number).again_bytes += again;
        }
        self.new_bytes += filled;
        self.parts.at(now.number).new_bytes += filled;
        // Retransmitted data gives no round-trip sample: its acknowledgement is ambiguous (Karn).
        let first = self.outstanding.partition_point(|it| it.end <= start);
        for it in self.outstanding.range_mut(first..).take_while(|it| it.start < end) {
            it.again = true;
        }
    }

    /// Take data out of the holes. Return the bytes that were in them, and when the first hole was
    /// opened.
    fn fill(&mut self, start: i64, end: i64) -> (u64, u64) {
        let (mut filled, mut opened_ns) = (0, 0);
        let mut left = VecDeque::new();
        for hole in self.holes.drain(..) {
            let (from, to) = (hole.start.max(start), hole.end.min(end));
            if from >= to {
                left.push_back(hole);
                continue;
            }
            if filled == 0 {
                opened_ns = hole.opened_ns;
            }
            filled += (to - from).unsigned_abs();
            for (start, end) in [(hole.start, from), (to, hole.end)] {
                if start < end {
                    left.push_back(Hole { start, end, ..hole });
                }
            }
        }
        self.holes = left;
        (filled, opened_ns)
    }

    /// Return true if data that fills a hole was sent before the data behind it. Then its timestamp
    /// is older, or it comes before the sender can know of the hole.
    fn was_overtaken(&self, packet: &Seen, open_ns: u64) -> bool {
        match (packet.timestamps, self.latest) {
            (Some(timestamps), Some(latest)) if timestamps.value != latest => {
                ahead(timestamps.value, latest) < 0
            }
            _ => open_ns <= self.shortest.here_ns.map_or(REORDERED_NS, |ns| ns / 2),
        }
    }

    /// End a round trip at data that echoes the timestamp of an acknowledgement.
    fn echoed(&mut self, packet: &Seen, now: Moment) {
        let Some(timestamps) = packet.timestamps else { return };
        while let Some(first) = self.unanswered.front() {
            if ahead(timestamps.echo, first.value) < 0 {
                // The sender sent this before the oldest of these acknowledgements arrived.
                if let Some(latest) = self.unanswered.back_mut() {
                    latest.is_busy = true;
                }
                return;
            }
            if timestamps.echo == first.value {
                let part_ns = now.time_ns.saturating_sub(first.seen_ns);
                self.shortest.idle(part_ns);
                if first.is_busy {
                    self.shortest.here(part_ns);
                    self.parts.at(now.number).here.add(part_ns);
                }
            }
            self.unanswered.pop_front();
        }
    }

    /// Take a packet of the other side: its acknowledgement, window and timestamp.
    pub fn answer(&mut self, packet: &Seen, now: Moment) {
        if packet.syn {
            open(&mut self.answered_opening, packet, now);
        } else {
            self.shake(false, now);
        }
        let Some(acknowledgement) = packet.acknowledgement else { return };
        self.is_answered = true;
        let before = self.acknowledged.unwrap_or(0);
        let acknowledged = self.arrived(self.position(acknowledgement));
        let is_progress = acknowledged.is_some_and(|it| it > before);
        if !is_progress && self.start_ns.is_none() {
            return;
        }
        if let Some(acknowledged) = acknowledged.filter(|_| is_progress) {
            self.start_ns.get_or_insert(now.time_ns);
            self.end_ns = now.time_ns;
            self.acknowledged = Some(acknowledged);
            self.parts.at(now.number).acknowledged_bytes += (acknowledged - before).unsigned_abs();
            self.round_trip(acknowledged, now);
        }
        self.stamped(packet, now);
        if let Some(scale) = self.window_scale().filter(|_| !packet.syn) {
            let part = self.parts.at(now.number);
            part.window_bytes = part.window_bytes.max(u64::from(packet.window) << scale);
        }
    }

    /// Position of an acknowledgement; none: it is impossible, even if the capture is missing data.
    fn arrived(&mut self, acknowledged: i64) -> Option<i64> {
        let unseen = acknowledged - self.sent;
        if unseen > UNSEEN_BYTES_MAX {
            return None;
        }
        // A FIN has a sequence number, too.
        if unseen > 1 {
            self.missed_bytes += unseen.unsigned_abs();
            self.sent = acknowledged;
        }
        while let Some(hole) = self.holes.front().filter(|hole| hole.end <= acknowledged) {
            self.missed_bytes += (hole.end - hole.start).unsigned_abs();
            self.holes.pop_front();
        }
        Some(acknowledged.min(self.sent))
    }

    fn round_trip(&mut self, acknowledged: i64, now: Moment) {
        let arrived = self.outstanding.partition_point(|it| it.end <= acknowledged);
        let (mut newest_ns, mut fills_hole) = (now.time_ns, false);
        for it in self.outstanding.drain(..arrived) {
            newest_ns = it.sent_ns;
            fills_hole |= it.again; // data behind a hole arrived before the hole was filled
        }
        if arrived == 0 || fills_hole {
            return;
        }
        let part_ns = now.time_ns.saturating_sub(newest_ns);
        self.shortest.there(part_ns);
        self.left_out = arrived == 1 && self.is_delayed(part_ns);
        if !self.left_out {
            self.latest_there_ns = Some(part_ns);
            self.parts.at(now.number).there.add(part_ns);
        }
    }

    /// Return true if the acknowledgement of a single segment came so late that its receiver
    /// delayed it.
    fn is_delayed(&self, part_ns: u64) -> bool {
        let least_ns = self.shortest.there_ns.unwrap_or(0);
        let usual_ns = match self.latest_there_ns {
            // The receiver waited for the next segments. A path that slows down does so for more
            // than one acknowledgement.
            Some(latest_ns) if !self.outstanding.is_empty() => {
                if self.left_out {
                    return false;
                }
                latest_ns
            }
            _ => least_ns,
        };
        part_ns >= usual_ns.saturating_add(DELAYED_NS)
    }

    /// Note the timestamp of an acknowledgement, which data will echo.
    fn stamped(&mut self, packet: &Seen, now: Moment) {
        let Some(timestamps) = packet.timestamps else { return };
        let value = timestamps.value;
        // A sender waits for acknowledgements of data in flight.
        let is_busy = self.acknowledged.is_some_and(|acknowledged| acknowledged < self.sent);
        match self.unanswered.back_mut() {
            Some(latest) if latest.value == value => latest.is_busy = is_busy,
            _ => {
                let new = Unanswered { value, seen_ns: now.time_ns, is_busy };
                pushed(&mut self.unanswered, new, UNANSWERED_MAX);
            }
        }
    }

    /// Scale of the receiver's windows; none: the handshake is not in the capture, or cut.
    fn window_scale(&self) -> Option<u8> {
        let (opening, answer) = (self.opening.as_ref()?, self.answered_opening.as_ref()?);
        if [opening, answer].iter().any(|it| it.is_cut && it.window_scale.is_none()) {
            return None;
        }
        // Both sides must offer it (RFC 7323, section 2.2). A scale above 14 counts as 14 (section
        // 2.3).
        Some(opening.window_scale.and(answer.window_scale).unwrap_or(0).min(14))
    }

    /// Return the connection; none if it carried no data.
    pub fn connection(&self) -> Option<Connection> {
        let start_ns = self.start_ns?;
        let capture_point = self.capture_point();
        let mss_bytes = self.mss_bytes();
        let segments = |bytes: u64| bytes.div_ceil(u64::from(mss_bytes));
        Some(Connection {
            sender: self.sender,
            receiver: self.receiver,
            start_ns,
            end_ns: self.end_ns,
            is_opened: self.opening.is_some() || self.answered_opening.is_some(),
            is_answered: self.is_answered,
            mss_bytes,
            segments: segments(self.data_bytes),
            again: segments(self.again_bytes),
            reordered: segments(self.reordered_bytes),
            delivered_bytes: self.delivered_bytes(),
            missed_bytes: self.missed_bytes,
            place: capture_point.place,
            place_is_guess: capture_point.is_guess,
            rtt_min_ns: capture_point.rtt_min_ns.ok(),
            no_rtt: capture_point.rtt_min_ns.err(),
            steps: Steps::default(),
        })
    }

    /// Measurements over time.
    pub fn steps(&self) -> Steps {
        let mss_bytes = u64::from(self.mss_bytes());
        let place = self.capture_point().place;
        let mut steps = Steps::default();
        for part in self.parts.iter() {
            steps.number.push(part.number);
            steps.delivered_bytes.push(self.delivered_in(part));
            steps.again.push(part.again_bytes.div_ceil(mss_bytes));
            let known = |bytes: u64, is_known: bool| (is_known && bytes > 0).then_some(bytes);
            // Elsewhere, only part of the data in flight has passed the point of capture.
            let is_here = place == Place::Sender && self.is_answered;
            steps.in_flight_bytes.push(known(part.in_flight_bytes, is_here));
            steps.window_bytes.push(known(part.window_bytes, true));
            let [mean, longest] = self.rtts(part, place);
            steps.rtt_mean_ns.push(mean);
            steps.rtt_max_ns.push(longest);
        }
        steps
    }

    fn capture_point(&self) -> CapturePoint {
        let mut capture_point = self.shortest.capture_point();
        if self.data_bytes == 0 {
            capture_point.rtt_min_ns = Err("its data is not in the capture");
        } else if !self.is_answered {
            capture_point.rtt_min_ns = Err("its acknowledgements are not in the capture");
        }
        capture_point
    }

    /// Bytes delivered. Without acknowledgements, these are the bytes captured.
    fn delivered_bytes(&self) -> u64 {
        if self.is_answered {
            self.acknowledged.unwrap_or(0).unsigned_abs()
        } else {
            self.new_bytes
        }
    }

    fn delivered_in(&self, part: &Part) -> u64 {
        if self.is_answered { part.acknowledged_bytes } else { part.new_bytes }
    }

    /// Mean and longest round trip in ns.
    fn rtts(&self, part: &Part, place: Place) -> [Option<u64>; 2] {
        let [there, here] =
            [part.there, part.here].map(|it| it.mean_ns().map(|mean| [mean, it.max_ns]));
        let of = |rtts: Option<[u64; 2]>| [rtts.map(|it| it[0]), rtts.map(|it| it[1])];
        match place {
            Place::Sender => of(there),
            Place::Receiver => of(here),
            Place::Between => {
                let least = self.shortest.here_ns.unwrap_or(0);
                let here = here.unwrap_or([least; 2]);
                of(there.map(|it| [it[0] + here[0], it[1] + here[1]]))
            }
        }
    }

    /// Payload of a packet on the wire. A host may capture larger packets than it sends (TSO).
    fn mss_bytes(&self) -> u32 {
        let options_bytes = if self.latest.is_some() { TIMESTAMPS_BYTES } else { 0 };
        let most = self.answered_opening.as_ref().and_then(|it| it.max_segment_bytes);
        let segment_max =
            most.map_or(MAX_SEGMENT_BYTES, |most| u32::from(most).saturating_sub(options_bytes));
        self.largest_bytes.min(segment_max).max(1)
    }
}

/// Note a SYN, of either side.
fn open(opening: &mut Option<Opening>, packet: &Seen, now: Moment) {
    let is_repeated = opening.is_some();
    *opening = Some(Opening {
        seen_ns: now.time_ns,
        is_repeated,
        is_reply: packet.acknowledgement.is_some(),
        is_cut: packet.is_cut,
        window_scale: packet.window_scale,
        max_segment_bytes: packet.max_segment_bytes,
    });
}

/// Return true for a keep-alive probe, which repeats the last acknowledged byte.
fn is_probe(packet: &Seen, end: i64, acknowledged: Option<i64>) -> bool {
    packet.payload_bytes == 1 && acknowledged == Some(end)
}

fn pushed<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}
