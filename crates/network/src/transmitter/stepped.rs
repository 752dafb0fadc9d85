//! A transmitter whose rate changes at given times and may be zero (an outage).
//!
//! It sends exactly the integral of its rate. Within a step it carries the remainder of a
//! nanosecond, as a constant rate does, and a packet may span steps.

use super::config::BYTE;
use crate::schedule::Steps;
use crate::units::{Span, Time};

/// A running transmitter.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// Times, and rates in bits per second.
    steps: Vec<(Time, u64)>,
    /// Index of the step at `free_at`.
    step: usize,
    free_at: Time,
    /// Used part of the nanosecond at `free_at`, in 1/rate.
    used: u64,
}

impl Stepped {
    /// An idle transmitter.
    #[must_use]
    pub fn new(steps: &Steps<u64>) -> Self {
        Self { steps: steps.0.clone(), step: 0, free_at: Time::ZERO, used: 0 }
    }

    /// See [`super::Transmitter::send`].
    pub fn send(&mut self, ready: Time, wire_bytes: u32) -> (Time, Time) {
        let begins = self.begins(ready);
        if begins > self.free_at {
            self.move_to(begins);
        }
        let mut units = u64::from(wire_bytes) * BYTE;
        while self.free_at < Time::STUCK {
            let rate = self.steps[self.step].1;
            let lasts = self.step_ends().0 - self.free_at.0;
            // At a rate of 0 (an outage) no bit of the packet leaves in this step.
            let whole = (units + self.used).checked_div(rate).unwrap_or(u64::MAX);
            if whole < lasts {
                self.free_at += Span(whole);
                self.used = (units + self.used) % rate;
                break;
            }
            // The packet takes all that the step has left, with the nanosecond that `used` refers
            // to.
            units = units + self.used - lasts * rate;
            self.move_to(self.step_ends());
            if units == 0 {
                break;
            }
        }
        (begins, self.free_at)
    }

    /// See [`super::Transmitter::begins`].
    #[inline]
    #[must_use]
    pub fn begins(&self, ready: Time) -> Time {
        let at = self.free_at.max(ready);
        let later = self.steps[self.step + 1..].partition_point(|step| step.0 <= at);
        let now = &self.steps[self.step + later..];
        if now[0].1 > 0 {
            return at.min(Time::STUCK);
        }
        now.iter().find(|step| step.1 > 0).map_or(Time::STUCK, |step| step.0)
    }

    fn step_ends(&self) -> Time {
        self.steps.get(self.step + 1).map_or(Time::STUCK, |step| step.0)
    }

    fn move_to(&mut self, time: Time) {
        self.free_at = time;
        self.used = 0;
        self.step += self.steps[self.step + 1..].partition_point(|step| step.0 <= time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serializer::Serializer;
    use crate::units::Rate;
    use std::num::NonZeroU64;

    fn stepped(steps: &[(u64, u64)]) -> Stepped {
        Stepped::new(&Steps(steps.iter().map(|&(at, rate)| (Time(at), rate)).collect()))
    }

    #[test]
    fn one_step_is_a_constant_rate() {
        let mut stepped = stepped(&[(0, 7_000_000)]);
        let mut constant = Serializer::new(Rate(NonZeroU64::new(7_000_000).unwrap()));
        for packet in 0..5_000 {
            let (ready, bytes) = (Time(packet * 1_500_000), 40 + (packet as u32 * 613) % 1460);
            assert_eq!(stepped.send(ready, bytes), constant.send(ready, bytes));
        }
    }

    #[test]
    fn a_packet_spans_steps_and_outages() {
        // 12,000 bits: 4,000 in the first 4 us, none for 10 us, 8,000 at 2 Gbit/s.
        let mut stepped = stepped(&[(0, 1_000_000_000), (4_000, 0), (14_000, 2_000_000_000)]);
        assert_eq!(stepped.send(Time(0), 1500), (Time(0), Time(18_000)));
        assert_eq!(stepped.send(Time(0), 1500), (Time(18_000), Time(24_000)));
        assert_eq!(stepped.send(Time(30_000), 1500), (Time(30_000), Time(36_000)));
    }

    #[test]
    fn an_outage_delays_what_arrives_in_it() {
        let mut stepped = stepped(&[(0, 1_000_000_000), (5_000, 0), (9_000, 1_000_000_000)]);
        assert_eq!(stepped.begins(Time(6_000)), Time(9_000));
        assert_eq!(stepped.send(Time(6_000), 125), (Time(9_000), Time(10_000)));
    }

    #[test]
    fn a_packet_that_ends_with_a_step_leaves_an_outage_to_wait_for() {
        let mut stepped = stepped(&[(0, 1_000_000_000), (1_000, 0), (9_000, 1_000_000_000)]);
        assert_eq!(stepped.send(Time(0), 125), (Time(0), Time(1_000)));
        assert_eq!(stepped.begins(Time(0)), Time(9_000));
    }

    #[test]
    fn an_outage_without_end_sends_nothing() {
        let mut stepped = stepped(&[(0, 1_000_000_000), (1_000, 0)]);
        assert_eq!(stepped.send(Time(0), 250), (Time(0), Time::STUCK));
        assert_eq!(stepped.send(Time(5_000), 250), (Time::STUCK, Time::STUCK));
    }

    #[test]
    fn a_busy_transmitter_sends_the_integral_of_its_rate() {
        // 1 s each of 7, 3 and 11 Mbit/s, and then 10: 21 Mbit are 1,750 packets.
        let second = 1_000_000_000;
        let steps = [(0, 7_000_000), (second, 3_000_000), (2 * second, 11_000_000)];
        let mut stepped = stepped(&[&steps[..], &[(3 * second, 10_000_000)]].concat());
        let ends: Vec<_> = (0..3_000).map(|_| stepped.send(Time(0), 1500).1).collect();
        assert_eq!(ends[1_749], Time(3 * second));
        // No packet gets the remainder of a step's last nanosecond.
        assert_eq!(ends[2_999], Time(4 * second + second / 2));
    }
}
