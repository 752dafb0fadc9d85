//! The packets in a link's transmitter and in its first-in, first-out queue, known by their
//! departure times.

use crate::fifo::Fifo;
use crate::units::{Span, Time};

/// A packet and the time at which its transmission ends.
#[derive(Clone, Copy, Debug, Default)]
struct Departure {
    time: Time,
    wire_bytes: u32,
    /// Wait before the transmission, in ns. Only [`Occupancy::waited_byte_ns`] needs it.
    waited: u32,
}

/// Packets that have joined and not departed.
#[derive(Debug)]
pub struct Occupancy {
    departures: Fifo<Departure>,
    joined_bytes: u64,
    departed_bytes: u64,
    /// Bytes on the wire that took no time to send.
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

    /// Add a packet whose transmission begins after `waited` and ends at `time`.
    #[inline(always)]
    pub fn join(&mut self, waited: Span, time: Time, wire_bytes: u32) {
        // 32 bits keep a departure at 16 bytes. Only links with short waits use this field.
        self.departures.push(Departure { time, wire_bytes, waited: waited.0 as u32 });
        self.book(1, wire_bytes, waited);
    }

    /// Add a packet whose transmission ends at `time`. [`Self::book`] must count it.
    #[inline(always)]
    pub fn add(&mut self, time: Time, wire_bytes: u32) {
        self.departures.push(Departure { time, wire_bytes, waited: 0 });
    }

    /// Count `count` packets of `wire_bytes` that were added. `waited` is the sum of their waits
    /// before transmission.
    #[inline(always)]
    pub fn book(&mut self, count: u32, wire_bytes: u32, waited: Span) {
        self.joined_bytes += u64::from(count) * u64::from(wire_bytes);
        self.packets_max = self.packets_max.max(self.packets());
        if waited > Span::ZERO {
            // Each byte counts for as long as it waits. This gives the area below the curve without
            // a look at its changes.
            self.waiting_byte_ns += u128::from(waited.0) * u128::from(wire_bytes);
        }
    }

    /// Count a packet that takes no time to send, so no packet ever waits.
    #[inline]
    pub fn pass(&mut self, wire_bytes: u32) {
        self.passed_bytes += u64::from(wire_bytes);
    }

    /// Remove the packets that have been sent by `now`.
    #[inline]
    pub fn depart(&mut self, now: Time) {
        while let Some(departure) = self.departures.front()
            && departure.time <= now
        {
            self.departures.skip();
            self.departed_bytes += u64::from(departure.wire_bytes);
        }
    }

    /// Remove all packets, because they have been sent.
    #[inline]
    pub const fn depart_all(&mut self) {
        self.departures.skip_all();
        self.departed_bytes = self.joined_bytes;
    }

    /// Number of packets, with the one in transmission.
    #[inline]
    pub const fn packets(&self) -> u32 {
        self.departures.len() as u32
    }

    /// Bytes on the wire, with those in transmission.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.joined_bytes - self.departed_bytes
    }

    /// Bytes on the wire behind the packet in transmission.
    #[inline]
    pub fn waiting_bytes(&self) -> u64 {
        self.bytes() - u64::from(self.sending_bytes())
    }

    /// Size in bytes of the packet in transmission; 0 if there is none.
    pub fn sending_bytes(&self) -> u32 {
        self.sending().map_or(0, |(_, wire_bytes)| wire_bytes)
    }

    /// End of the transmission in progress and the size of its packet; None if there is none.
    pub fn sending(&self) -> Option<(Time, u32)> {
        self.departures.front().map(|departure| (departure.time, departure.wire_bytes))
    }

    /// Bytes on the wire that have departed.
    pub const fn departed_bytes(&self) -> u64 {
        self.departed_bytes + self.passed_bytes
    }

    /// Largest number of packets so far.
    pub fn packets_max(&self) -> u32 {
        // A packet that takes no time is there alone for a moment.
        self.packets_max.max(u32::from(self.passed_bytes > 0))
    }

    /// Return [`Self::waiting_byte_ns`] without the packets that still wait at `now`. No wait may
    /// be longer than 2^32 ns.
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
