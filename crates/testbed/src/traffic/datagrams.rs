//! Datagrams at a constant rate.

use std::io::{self, ErrorKind};

use dumbbell_network::{Rate, Span, Time};
use dumbbell_workload::{Bursts, Udp};

use crate::traffic::app::random_of;
use crate::traffic::sockets::Ends;
use crate::traffic::{DatagramCount, FlowEnd};

/// Both ends of a flow of datagrams.
#[derive(Debug)]
pub struct Datagrams {
    pub ends: Ends,
    pub schedule: Schedule,
    pub count: DatagramCount,
    payload: Vec<u8>,
    packet_bytes: u16,
    received_bytes: u64,
}

/// When datagrams are due: exactly as in the simulator.
#[derive(Debug)]
pub struct Schedule {
    rate: Rate,
    /// Time of the next datagram, and its fraction in units of one over the rate.
    next: Time,
    remainder: u64,
    /// None: without a pause.
    bursts: Option<Bursts>,
    turns: Time,
}

impl Schedule {
    /// The schedule of a flow.
    pub fn new(udp: &Udp, start: Time, seed: u64, flow: usize) -> Self {
        let mut bursts = udp.on_off.map(|pattern| Bursts::new(pattern, random_of(seed, flow)));
        let turns = bursts.as_mut().map_or(Time::NEVER, |bursts| start + bursts.turn());
        Self { rate: udp.rate_bps, next: start, remainder: 0, bursts, turns }
    }

    /// When the next datagram or the next turn is due.
    pub fn due(&self) -> Time {
        self.next.min(self.turns)
    }

    /// No datagrams any more.
    pub fn stop(&mut self) {
        (self.next, self.turns) = (Time::NEVER, Time::NEVER);
    }

    /// How many datagrams of so many bytes are due until `now`.
    pub fn take(&mut self, now: Time, bytes: u16) -> u64 {
        let mut count = 0;
        while self.due() <= now {
            if self.turns <= self.next {
                self.turn();
            } else {
                count += 1;
                self.step(bytes);
            }
        }
        count
    }

    fn turn(&mut self) {
        let bursts = self.bursts.as_mut().expect("turns come from bursts");
        let now = self.turns;
        self.turns += bursts.turn();
        (self.next, self.remainder) = if bursts.on { (now, 0) } else { (Time::NEVER, 0) };
    }

    fn step(&mut self, bytes: u16) {
        let rate = self.rate.0.get();
        let bit_ns = u64::from(bytes) * 8 * 1_000_000_000 + self.remainder;
        self.next += Span(bit_ns / rate);
        self.remainder = bit_ns % rate;
    }
}

impl Datagrams {
    /// A flow of which nothing has been sent.
    pub fn new(ends: Ends, schedule: Schedule, packet_bytes: u16, payload_bytes: u32) -> Self {
        let payload = vec![0; payload_bytes as usize];
        let count = DatagramCount::default();
        Self { ends, schedule, count, payload, packet_bytes, received_bytes: 0 }
    }

    /// Sends what is due.
    pub fn send(&mut self, now: Time) -> io::Result<()> {
        let due = self.schedule.take(now, self.packet_bytes);
        self.count.asked += due;
        for _ in 0..due {
            match self.ends.sender.send_with_flags(&self.payload, libc::MSG_NOSIGNAL) {
                Ok(_) => self.count.sent += 1,
                // The host's buffers are full: what was due now is not sent at all.
                Err(error) if is_full(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes what has arrived.
    pub fn receive(&mut self) -> io::Result<()> {
        // Payload is not needed: with MSG_TRUNC its length comes without it.
        let mut nothing = [];
        loop {
            match self.ends.receiver.recv_with_flags(&mut nothing, libc::MSG_TRUNC) {
                Ok(bytes) => self.received_bytes += bytes as u64,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// As the end of a flow.
    pub fn end(&self, end_ns: Option<u64>) -> FlowEnd {
        FlowEnd {
            end_ns,
            sent_segs: self.count.sent,
            sent_bytes: self.count.sent * self.payload.len() as u64,
            received_bytes: self.received_bytes,
            ..FlowEnd::default()
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_workload::OnOff;
    use std::num::NonZeroU64;

    fn some(value: u64) -> NonZeroU64 {
        NonZeroU64::new(value).unwrap()
    }

    #[test]
    fn a_late_look_finds_all_that_was_due() {
        let udp = Udp { rate_bps: Rate(some(7_000_000)), on_off: None };
        let mut schedule = Schedule::new(&udp, Time(5), 1, 0);
        assert_eq!(schedule.take(Time(4), 1_500), 0);
        assert_eq!(schedule.take(Time(5), 1_500), 1);
        // 1,714,285.71 ns between datagrams: 7,000 in 12 seconds.
        assert_eq!(schedule.take(Time(12_000_000_004), 1_500), 6_999);
        assert_eq!(schedule.due(), Time(12_000_000_005));
    }

    #[test]
    fn nothing_is_due_in_silence() {
        let on_off = OnOff { on_ns: some(10_000_000), off_ns: some(30_000_000), random: false };
        let udp = Udp { rate_bps: Rate(some(12_000_000)), on_off: Some(on_off) };
        let mut schedule = Schedule::new(&udp, Time(0), 1, 0);
        // One datagram each millisecond while it sends.
        assert_eq!(schedule.take(Time(39_999_999), 1_500), 10);
        assert_eq!(schedule.take(Time(40_000_000), 1_500), 1);
    }
}
