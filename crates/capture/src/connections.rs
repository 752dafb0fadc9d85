//! The connections of a capture, step by step in time.
//!
//! A capture knows no congestion window, and no packet that it has not seen. It shows data that was
//! delivered, data that was sent again, data in flight, and how long packets took to be answered.

use std::collections::{BTreeMap, VecDeque};
use std::io::Read;
use std::net::SocketAddr;
use std::num::NonZeroU64;

use serde::Serialize;

use crate::connection::Connection;
use crate::direction::{Direction, Moment};
use crate::frames::{self, Content, Seen};
use crate::records::{self, ReadError};

/// Most directions of connections. Each takes half a kilobyte.
const DIRECTIONS_MAX: usize = 1 << 19;
/// Most steps of all connections, of 150 bytes each. If there are more, steps become longer.
const PARTS_MAX: usize = 1 << 19;
/// Longest time by which packets are stored out of order. If time goes back further, the clock was
/// set.
const CLOCK_NS: i128 = 1_000_000_000;
/// Packets that wait for earlier ones that are stored behind them, as in files of several
/// interfaces.
const WAITING_PACKETS: usize = 4096;
/// Longest time between a packet and its copy, with at most as many others between them as the
/// queue holds.
const COPY_NS: u64 = 1_000_000;
const COPY_PACKETS: usize = 32;

/// Content of a capture.
#[derive(Debug, Default, Serialize)]
pub struct Capture {
    /// Time from its first TCP packet to its last, in ns.
    pub duration_ns: u64,
    /// TCP packets.
    pub packets: u64,
    /// Packets that were captured twice, as on two interfaces of a host. They count once.
    pub copies: u64,
    /// TCP packets that are cut before the end of their header, and are not read.
    pub too_short: u64,
    /// Packets of unknown link types.
    pub unknown: u64,
    /// The lowest of these types; none: all are known.
    pub unknown_link: Option<u32>,
    /// Number of times that the clock was set back. Time continues from there.
    pub clock_steps: u64,
    /// Packets that are stored too far behind later ones to be sorted. They count as of the time of
    /// the latest.
    pub too_late: u64,
    /// True if the file ends within a packet.
    pub is_cut: bool,
    /// Length of a step, in ns.
    pub step_ns: u64,
    /// Directions left out because their share of all data is too small.
    pub left_out: u64,
    /// The directions of connections that carry data, in order of their first packet.
    pub connections: Vec<Connection>,
}

/// Options for reading a capture.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Length of a step, in ns. It doubles until there are few enough steps.
    pub step_ns: NonZeroU64,
    /// Directions with a smaller share of all data are left out; from 0 to 1.
    pub least_share: f64,
}

/// Read a pcap or pcapng file and follow its connections, as long as `may_continue` returns true.
///
/// Memory does not grow with the length of the file, and is below half a gigabyte.
///
/// # Errors
/// If it is not a capture, is damaged, has too many connections, or was cancelled.
pub fn connections(
    file: impl Read + Send,
    options: Options,
    may_continue: impl Fn() -> bool,
) -> Result<Capture, ReadError> {
    let mut followed = Followed::new(options.step_ns);
    let is_cut = records::read(file, may_continue, &mut |frame| followed.frame(frame))?;
    Ok(Capture { is_cut, ..followed.finish(options.least_share)? })
}

type Ends = (SocketAddr, SocketAddr);

struct Followed {
    capture: Capture,
    step_ns: NonZeroU64,
    clock: Clock,
    waiting: Waiting,
    copies: Copies,
    directions: Vec<Direction>,
    /// The newest direction from one address to another.
    newest: BTreeMap<Ends, usize>,
    parts: usize,
}

impl Followed {
    fn new(step_ns: NonZeroU64) -> Self {
        Self {
            capture: Capture::default(),
            step_ns,
            clock: Clock::default(),
            waiting: Waiting::default(),
            copies: Copies::default(),
            directions: Vec::new(),
            newest: BTreeMap::new(),
            parts: 0,
        }
    }

    fn frame(&mut self, frame: &records::Frame) -> Result<(), ReadError> {
        match frames::content(frame) {
            Content::Tcp(packet) => self.packet(&packet)?,
            Content::Cut => self.capture.too_short += 1,
            Content::Unknown(link) => {
                self.capture.unknown += 1;
                let least = self.capture.unknown_link.map_or(link, |known| known.min(link));
                self.capture.unknown_link = Some(least);
            }
            Content::Other => {}
        }
        Ok(())
    }

    fn packet(&mut self, packet: &Seen) -> Result<(), ReadError> {
        self.capture.packets += 1;
        self.waiting.push(self.clock.time_ns(packet.time_ns), *packet);
        if self.waiting.len() > WAITING_PACKETS { self.next() } else { Ok(()) }
    }

    /// Take the earliest packet that waits.
    fn next(&mut self) -> Result<(), ReadError> {
        let Some((time_ns, packet)) = self.waiting.pop() else { return Ok(()) };
        self.take(&packet, time_ns)
    }

    fn take(&mut self, packet: &Seen, time_ns: u64) -> Result<(), ReadError> {
        if self.copies.is_one(packet) {
            self.capture.copies += 1;
            return Ok(());
        }
        let now = Moment { time_ns, number: time_ns / self.step_ns };
        let sent = self.sent(packet)?;
        let answered = self.answered(packet)?;
        if let Some(answered) = answered {
            if packet.syn {
                let opening = self.directions[answered].opening();
                self.directions[sent].answers(opening);
            }
            self.change(answered, |direction| direction.answer(packet, now));
        }
        self.change(sent, |direction| direction.data(packet, now));
        while self.parts > PARTS_MAX {
            self.halve();
        }
        Ok(())
    }

    /// Find a packet's direction, or add one if the packet opens a connection.
    fn sent(&mut self, packet: &Seen) -> Result<usize, ReadError> {
        let ends = (packet.source, packet.destination);
        match self.newest.get(&ends) {
            Some(&known) if self.directions[known].holds(packet) => Ok(known),
            _ => self.add(ends, Direction::of(packet)),
        }
    }

    /// Find the direction that a packet acknowledges, or add one if none of its data was captured.
    /// None: the packet acknowledges nothing.
    fn answered(&mut self, packet: &Seen) -> Result<Option<usize>, ReadError> {
        let ends = (packet.destination, packet.source);
        let Some(acknowledgement) = packet.acknowledgement else { return Ok(None) };
        match self.newest.get(&ends) {
            Some(&known) => Ok(Some(known)),
            None => self.add(ends, Direction::answered_by(packet, acknowledgement)).map(Some),
        }
    }

    fn add(&mut self, ends: Ends, direction: Direction) -> Result<usize, ReadError> {
        if self.directions.len() == DIRECTIONS_MAX {
            return Err(ReadError::Connections(DIRECTIONS_MAX / 2));
        }
        self.directions.push(direction);
        self.newest.insert(ends, self.directions.len() - 1);
        Ok(self.directions.len() - 1)
    }

    fn change(&mut self, number: usize, change: impl FnOnce(&mut Direction)) {
        let direction = &mut self.directions[number];
        let before = direction.parts();
        change(direction);
        self.parts += direction.parts() - before;
    }

    fn halve(&mut self) {
        self.step_ns = self.step_ns.saturating_add(self.step_ns.get());
        self.directions.iter_mut().for_each(Direction::halve);
        self.parts = self.directions.iter().map(Direction::parts).sum();
    }

    fn finish(mut self, least_share: f64) -> Result<Capture, ReadError> {
        while self.waiting.len() > 0 {
            self.next()?;
        }
        let carried = self.directions.iter().filter_map(|it| Some((it, it.connection()?)));
        let mut carried: Vec<_> = carried.collect();
        let whole: u64 = carried.iter().map(|(_, it)| it.delivered_bytes).sum();
        let with_data = carried.iter().filter(|(_, it)| it.delivered_bytes > 0).count();
        let least = least_share * whole as f64;
        carried.retain(|(_, it)| it.delivered_bytes > 0 && it.delivered_bytes as f64 >= least);
        self.capture.left_out = (with_data - carried.len()) as u64;
        let mut connections: Vec<_> = carried
            .into_iter()
            .map(|(direction, connection)| Connection { steps: direction.steps(), ..connection })
            .collect();
        connections.sort_by_key(|it| (it.start_ns, it.sender, it.receiver));
        Ok(Capture {
            connections,
            duration_ns: self.clock.latest_ns.unwrap_or(0),
            clock_steps: self.clock.steps,
            too_late: self.waiting.too_late,
            step_ns: self.step_ns.get(),
            ..self.capture
        })
    }
}

/// Sorts packets by time, as far as they are stored out of order. Packets of equal time keep theirs.
#[derive(Default)]
struct Waiting {
    by_time: BTreeMap<(u64, u64), Seen>,
    pushed: u64,
    popped_ns: u64,
    too_late: u64,
}

impl Waiting {
    fn len(&self) -> usize {
        self.by_time.len()
    }

    fn push(&mut self, time_ns: u64, packet: Seen) {
        self.pushed += 1;
        self.by_time.insert((time_ns, self.pushed), packet);
    }

    fn pop(&mut self) -> Option<(u64, Seen)> {
        let ((time_ns, _), packet) = self.by_time.pop_first()?;
        self.too_late += u64::from(time_ns < self.popped_ns);
        self.popped_ns = self.popped_ns.max(time_ns);
        Some((self.popped_ns, packet))
    }
}

/// Time since the first packet. It continues if a clock was set back.
#[derive(Default)]
struct Clock {
    /// Difference to the capture's clock.
    shift_ns: i128,
    latest_ns: Option<u64>,
    steps: u64,
}

impl Clock {
    fn time_ns(&mut self, captured_ns: u64) -> u64 {
        let captured_ns = i128::from(captured_ns);
        let Some(latest_ns) = self.latest_ns else {
            (self.shift_ns, self.latest_ns) = (-captured_ns, Some(0));
            return 0;
        };
        if captured_ns + self.shift_ns + CLOCK_NS < i128::from(latest_ns) {
            self.shift_ns = i128::from(latest_ns) - captured_ns;
            self.steps += 1;
        }
        let time_ns = u64::try_from(captured_ns + self.shift_ns).unwrap_or(0);
        self.latest_ns = Some(latest_ns.max(time_ns));
        time_ns
    }
}

/// Finds packets that were captured twice: on two interfaces of a host, or on both sides of a
/// switch.
#[derive(Default)]
struct Copies(VecDeque<Seen>);

impl Copies {
    /// Return true for a copy. It has the identification of its original, which no other packet has
    /// for long.
    fn is_one(&mut self, packet: &Seen) -> bool {
        if packet.identification == 0 {
            return false;
        }
        let is_one = self.0.iter().any(|other| {
            other.identification == packet.identification
                && packet.time_ns.abs_diff(other.time_ns) <= COPY_NS
                && *other == Seen { time_ns: other.time_ns, ..*packet }
        });
        if self.0.len() == COPY_PACKETS {
            self.0.pop_front();
        }
        self.0.push_back(*packet);
        is_one
    }
}
