//! One-way delays of a flow's datagrams, as their receiver measures them.

use crate::delay_histograms::{DelayCount, DelayHistograms, Periods};
use crate::units::{Span, Time};

/// One-way delays of datagrams in the order of their arrival.
#[derive(Debug)]
pub struct OneWay {
    counters: OneWayCounters,
    latest: Option<Span>,
    histograms: DelayHistograms,
}

/// Sums over all datagrams so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OneWayCounters {
    /// Number of datagrams; one that arrives twice counts twice.
    pub packets: u64,
    /// Sum of their delays.
    pub delay: Span,
    /// Smallest delay; zero before the first datagram.
    pub delay_min: Span,
    /// Largest delay.
    pub delay_max: Span,
    /// Sum of the differences between the delays of one datagram and of the one that arrived
    /// before.
    pub variation: Span,
}

impl OneWay {
    /// A record before the first datagram.
    #[must_use]
    pub fn new(periods: Periods) -> Self {
        let (counters, histograms) = (OneWayCounters::default(), DelayHistograms::new(periods));
        Self { counters, latest: None, histograms }
    }

    /// Count a datagram that arrives at `now`, `delay` after it was sent. `now` never goes back.
    pub fn arrives(&mut self, now: Time, delay: Span) {
        let OneWayCounters { packets, delay_min, delay_max, .. } = self.counters;
        let before = self.latest.replace(delay).unwrap_or(delay);
        self.counters = OneWayCounters {
            packets: packets + 1,
            delay: self.counters.delay + delay,
            delay_min: if packets == 0 { delay } else { delay_min.min(delay) },
            delay_max: delay_max.max(delay),
            variation: self.counters.variation + Span(delay.0.abs_diff(before.0)),
        };
        self.histograms.record(now, delay);
    }

    /// Sums so far.
    #[must_use]
    pub const fn counters(&self) -> OneWayCounters {
        self.counters
    }

    /// Return the histograms of all delays.
    #[must_use]
    pub fn finish(self) -> Vec<DelayCount> {
        self.histograms.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variation_is_between_one_datagram_and_the_next() {
        let mut one_way = OneWay::new(Periods::whole(Time(100)));
        assert_eq!(one_way.counters(), OneWayCounters::default());
        for (at, delay) in [(10, 5), (20, 9), (21, 9), (40, 2)] {
            one_way.arrives(Time(at), Span(delay));
        }
        let expected = OneWayCounters {
            packets: 4,
            delay: Span(25),
            delay_min: Span(2),
            delay_max: Span(9),
            variation: Span(4 + 7),
        };
        assert_eq!(one_way.counters(), expected);
        let counts = one_way.finish().into_iter().map(|count| (count.delay.0, count.packets));
        assert_eq!(counts.collect::<Vec<_>>(), [(2, 1), (5, 1), (9, 2)]);
    }
}
