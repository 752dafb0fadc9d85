//! The packets in a link's transmitter and in its first-in, first-out queue, known by their
//! departure times.

use crate::fifo::Fifo;
use crate::units::{Span, Time};

/// A packet that will have been sent then.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    time: Time,
    wire_bytes: u32,
    /// How long it waits before, in ns; of meaning where [`Occupancy::waited_byte_ns`] is asked.
    waited: u32,
}

/// Packets that have joined and not departed.
#[derive(Debug)]
pub struct Occupancy {
    departures: Fifo<Departure>,
    joined_bytes: u64,
    departed_bytes: u64,
    /// Bytes on the wire that took no time to be sent.
    passed_bytes: u64,
    packets_max: u32,
    /// Integral of waiting bytes over time.
    waiting_byte_ns: u128,
}

impl Occupancy {
    pub fn new() -> Self {
        Self {
            departures: Fifo::new(),
            joined_bytes: 0,
            departed_bytes: 0,
            passed_bytes: 0,
            packets_max: 0,
            waiting_byte_ns: 0,
        }
    }

    /// Adds a packet that begins to be sent after `waited`, and has been at `time`.
    #[inline(always)]
    pub fn join(&mut self, waited: Span, time: Time, wire_bytes: u32) {
        // 32 bits keep a departure at 16 bytes; only links whose waits are short ask for this.
        self.departures.push(Departure { time, wire_bytes, waited: waited.0 as u32 });
        self.book(1, wire_bytes, waited);
    }

    /// Adds a packet that has been sent at `time`, of several that [`Self::book`] must
    /// count.
    #[inline(always)]
    pub fn add(&mut self, time: Time, wire_bytes: u32) {
        self.departures.push(Departure { time, wire_bytes, waited: 0 });
    }

    /// Books `count` packets of `wire_bytes` that were added; together they wait for `waited`
    /// until they begin to be sent.
    #[inline(always)]
    pub fn book(&mut self, count: u32, wire_bytes: u32, waited: Span) {
        self.joined_bytes += u64::from(count) * u64::from(wire_bytes);
        self.packets_max = self.packets_max.max(self.packets());
        if waited > Span::ZERO {
            // Each byte counts for as long as it waits: the area below the curve, without a look at
            // its changes.
            self.waiting_byte_ns += u128::from(waited.0) * u128::from(wire_bytes);
        }
    }

    /// Counts a packet that takes no time to be sent, so that none ever waits.
    #[inline]
    pub fn pass(&mut self, wire_bytes: u32) {
        self.passed_bytes += u64::from(wire_bytes);
    }

    /// Removes what has been sent by `now`.
    #[inline]
    pub fn depart(&mut self, now: Time) {
        while let Some(departure) = self.departures.front()
            && departure.time <= now
        {
            self.departures.skip();
            self.departed_bytes += u64::from(departure.wire_bytes);
        }
    }

    /// Removes everything: it has been sent.
    #[inline]
    pub const fn depart_all(&mut self) {
        self.departures.skip_all();
        self.departed_bytes = self.joined_bytes;
    }

    /// Packets, the one being sent among them.
    #[inline]
    pub const fn packets(&self) -> u32 {
        self.departures.len() as u32
    }

    /// Bytes on the wire, those being sent among them.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.joined_bytes - self.departed_bytes
    }

    /// Bytes on the wire behind the packet being sent.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes() - u64::from(self.sending_bytes())
    }

    /// Size of the packet being sent; 0 if there is none.
    pub fn sending_bytes(&self) -> u32 {
        self.sending().map_or(0, |(_, wire_bytes)| wire_bytes)
    }

    /// When the packet being sent has been, and its size; none if there is none.
    pub fn sending(&self) -> Option<(Time, u32)> {
        self.departures.front().map(|departure| (departure.time, departure.wire_bytes))
    }

    /// Bytes on the wire that have departed.
    pub const fn departed_bytes(&self) -> u64 {
        self.departed_bytes + self.passed_bytes
    }

    /// Most packets so far.
    pub fn packets_max(&self) -> u32 {
        // What takes no time is there alone for a moment.
        self.packets_max.max(u32::from(self.passed_bytes > 0))
    }

    /// As [`Self::waiting_byte_ns`], without what still waits at `now`, where no wait is longer
    /// than 2^32 ns.
    pub fn waited_byte_ns(&self, now: Time) -> u128 {
        let mut begins = Time::ZERO;
        let waiting = self.departures.iter().map(|departure| {
            let waits = std::mem::replace(&mut begins, departure.time) > now;
            u128::from(waits) * u128::from(departure.waited) * u128::from(departure.wire_bytes)
        });
        self.waiting_byte_ns - waiting.sum::<u128>()
    }

    /// Integral of waiting bytes over time, in byte nanoseconds.
    pub const fn waiting_byte_ns(&self) -> u128 {
        self.waiting_byte_ns
    }
}
