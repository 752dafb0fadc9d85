//! A transmitter that sends at the times of a trace.
//!
//! The semantics are those of mahimahi (Netravali et al., USENIX ATC 2015). Each opportunity
//! carries up to a number of bytes that are in the queue at its time. Small packets share one
//! opportunity, and a large packet takes several. An opportunity without packets is lost.

use super::config::TraceConfig;
use crate::units::Time;

/// A running transmitter.
#[derive(Clone, Debug)]
pub struct Trace {
    times: Vec<u64>,
    period: u64,
    bytes: u32,
    /// The opportunity for the next byte, and its bytes left.
    next: Opportunity,
    left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Opportunity {
    /// Start of its period.
    base: u64,
    index: usize,
}

impl Trace {
    /// A transmitter before its first opportunity.
    #[must_use]
    pub fn new(config: &TraceConfig) -> Self {
        Self {
            times: config.times_ns.iter().map(|time| time.0).collect(),
            period: config.period_ns.0,
            bytes: config.bytes,
            next: Opportunity { base: 0, index: 0 },
            left: config.bytes,
        }
    }

    /// See [`super::Transmitter::send`].
    pub fn send(&mut self, ready: Time, wire_bytes: u32) -> (Time, Time) {
        let first = self.first_from(ready);
        // Bytes left of a past opportunity are lost, as in mahimahi.
        if first != self.next {
            self.next = first;
            self.left = self.bytes;
        }
        let start = self.time(first);
        let beyond = wire_bytes.saturating_sub(self.left);
        if beyond > 0 {
            self.next = self.after(self.next, beyond.div_ceil(self.bytes));
            self.left = self.bytes - (beyond - 1) % self.bytes - 1;
        } else {
            self.left -= wire_bytes;
        }
        let end = self.time(self.next);
        if self.left == 0 {
            self.next = self.after(self.next, 1);
            self.left = self.bytes;
        }
        (start, end)
    }

    /// See [`super::Transmitter::begins`].
    #[inline]
    #[must_use]
    pub fn begins(&self, ready: Time) -> Time {
        self.time(self.first_from(ready))
    }

    /// Return the first opportunity at `ready` or later that has bytes left.
    fn first_from(&self, ready: Time) -> Opportunity {
        if self.time(self.next) >= ready {
            return self.next;
        }
        // The period with base < ready <= base + period, because a trace may end at its period's
        // end.
        let periods = (ready.0 - self.next.base - 1) / self.period;
        let base = self.next.base + periods * self.period;
        let index = self.times.partition_point(|&time| base + time < ready.0);
        if index < self.times.len() {
            Opportunity { base, index }
        } else {
            Opportunity { base: base + self.period, index: 0 }
        }
    }

    #[inline]
    fn time(&self, opportunity: Opportunity) -> Time {
        Time(opportunity.base.saturating_add(self.times[opportunity.index])).min(Time::STUCK)
    }

    /// Return the opportunity that comes so many after another.
    #[inline]
    fn after(&self, earlier: Opportunity, count: u32) -> Opportunity {
        let index = earlier.index + count as usize;
        if index < self.times.len() {
            return Opportunity { base: earlier.base, index };
        }
        let periods = (index / self.times.len()) as u64;
        let base = earlier.base.saturating_add(self.period.saturating_mul(periods));
        Opportunity { base, index: index % self.times.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn trace(times: &[u64], period: u64) -> Trace {
        trace_of(times, period, 1504)
    }

    fn trace_of(times: &[u64], period: u64, bytes: u32) -> Trace {
        let times_ns = times.iter().map(|&time| Time(time)).collect();
        Trace::new(&TraceConfig { times_ns, period_ns: Span(period), bytes })
    }

    #[test]
    fn packets_share_opportunities_and_take_several() {
        let mut trace = trace(&[5, 10, 10], 10);
        assert_eq!(trace.send(Time(0), 700), (Time(5), Time(5)));
        assert_eq!(trace.send(Time(0), 804), (Time(5), Time(5)));
        // 3,008 bytes take both at 10; the next opportunity is the first of the repetition.
        assert_eq!(trace.send(Time(0), 3008), (Time(10), Time(10)));
        assert_eq!(trace.send(Time(0), 1505), (Time(15), Time(20)));
        // 1,503 bytes are left of the first one at 20.
        assert_eq!(trace.send(Time(20), 1503 + 1504), (Time(20), Time(20)));
        assert_eq!(trace.begins(Time(0)), Time(25));
    }

    #[test]
    fn what_finds_nothing_to_carry_is_lost() {
        let mut trace = trace(&[5, 10], 10);
        assert_eq!(trace.send(Time(0), 100), (Time(5), Time(5)));
        // The rest of the opportunity at 5 is over for a packet that is ready at 6.
        assert_eq!(trace.send(Time(6), 1504), (Time(10), Time(10)));
        assert_eq!(trace.send(Time(1_001), 1504), (Time(1_005), Time(1_005)));
        assert_eq!(trace.send(Time(2_010), 1504), (Time(2_010), Time(2_010)));
    }

    /// Mahimahi's rule in its own order: each opportunity in turn serves the packets that have
    /// arrived.
    fn model(trace: &Trace, packets: &[(u64, u32)]) -> Vec<u64> {
        let mut waiting: VecDeque<_> = packets.iter().copied().collect();
        let mut ends = Vec::new();
        for base in (0..).map(|cycle| cycle * trace.period) {
            for time in &trace.times {
                let (now, mut left) = (base + time, trace.bytes);
                while let Some((ready, needs)) = waiting.front_mut() {
                    if *ready > now || left == 0 {
                        break;
                    }
                    let carried = left.min(*needs);
                    left -= carried;
                    *needs -= carried;
                    if *needs == 0 {
                        ends.push(now);
                        waiting.pop_front();
                    }
                }
            }
            if waiting.is_empty() {
                return ends;
            }
        }
        unreachable!("the trace repeats until all is sent")
    }

    proptest! {
        #[test]
        fn sends_exactly_what_its_opportunities_allow(
            mut times in prop::collection::vec(0u64..=50, 1..8),
            bytes in prop_oneof![1u32..100, Just(1504)],
            packets in prop::collection::vec((0u64..60, 1u32..5_000), 1..60),
        ) {
            times.sort_unstable();
            let mut trace = trace_of(&times, 50, bytes);
            let mut ready = 0;
            let packets: Vec<_> = packets
                .into_iter()
                .map(|(pause, bytes)| {
                    ready += pause;
                    (ready, bytes)
                })
                .collect();
            let expected = model(&trace, &packets);
            let ends: Vec<_> =
                packets.iter().map(|&(at, bytes)| trace.send(Time(at), bytes).1.0).collect();
            prop_assert_eq!(ends, expected);
        }
    }
}
