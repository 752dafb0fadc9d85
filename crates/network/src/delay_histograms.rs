//! Delays of single packets, counted in histograms of constant memory.
//!
//! The buckets are those of an HDR histogram. Each is narrower than 1/128 of its delays, so
//! percentiles of the buckets' middles have an error below 0.4 %. Each period of the run has a
//! separate histogram, so parts of the run can be studied alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use hdrhistogram::Histogram;

use crate::packet::{Direction, Packet};
use crate::units::{Span, Time};

/// Significant decimal digits of a delay, which determine the width of the buckets.
const DIGITS: u8 = 2;

/// Packets of one period with about the same delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayCount {
    /// End of the period.
    pub until: Time,
    /// Middle of the bucket.
    pub delay: Span,
    /// Number of packets.
    pub packets: u64,
}

/// Times at which histograms begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Periods {
    /// Length of each period; the last one ends with the run.
    pub length: Span,
    /// The end of the run.
    pub end: Time,
}

/// Histograms of delays, one for each period.
#[derive(Clone, Debug)]
pub struct DelayHistograms {
    periods: Periods,
    current: Histogram<u64>,
    /// End of the current period.
    until: Time,
    counts: Vec<DelayCount>,
}

impl Periods {
    /// One period: the whole run.
    #[must_use]
    pub const fn whole(end: Time) -> Self {
        Self { length: Span(end.0), end }
    }

    /// Return the end of the period that contains `time`. A period contains its end.
    fn end_of(self, time: Time) -> Time {
        let before = time.0.saturating_sub(1) / self.length.0;
        Time((before + 1).saturating_mul(self.length.0)).min(self.end)
    }
}

impl DelayHistograms {
    /// Histograms before the first packet.
    ///
    /// # Panics
    /// If the periods have length zero.
    #[must_use]
    pub fn new(periods: Periods) -> Self {
        assert!(periods.length > Span::ZERO, "a period takes time");
        let current = Histogram::new(DIGITS).expect("a valid precision");
        Self { periods, current, until: periods.end_of(Time::ZERO), counts: Vec::new() }
    }

    /// Count a packet whose delay ended at `at`, which never goes back. Delays that end after the
    /// run do not count.
    pub fn record(&mut self, at: Time, delay: Span) {
        if at > self.until {
            // A link that decides on arrival knows departures after the end of the run.
            if at > self.periods.end {
                return;
            }
            self.close();
            self.until = self.periods.end_of(at);
        }
        self.current.record(delay.0).expect("a histogram that grows");
    }

    /// Return all counts, ordered by period and then by delay.
    #[must_use]
    pub fn finish(mut self) -> Vec<DelayCount> {
        self.close();
        self.counts
    }

    fn close(&mut self) {
        let (until, current) = (self.until, &self.current);
        let buckets = current.iter_recorded().map(|bucket| DelayCount {
            until,
            delay: Span(current.median_equivalent(bucket.value_iterated_to())),
            packets: bucket.count_at_value(),
        });
        self.counts.extend(buckets);
        self.current.reset();
    }
}

/// Delays of packets in one queue. Some flows have separate histograms, and all other packets share
/// one.
#[derive(Clone, Debug)]
pub struct QueueDelays {
    periods: Periods,
    /// By flow: true if its data has separate histograms.
    is_separate: Arc<[bool]>,
    histograms: BTreeMap<Option<u32>, DelayHistograms>,
}

impl QueueDelays {
    /// A record before the first packet.
    #[must_use]
    pub const fn new(periods: Periods, is_separate: Arc<[bool]>) -> Self {
        Self { periods, is_separate, histograms: BTreeMap::new() }
    }

    /// Count a packet that begins to be sent at `at`, after it `waited`.
    pub fn record(&mut self, at: Time, waited: Span, packet: Packet) {
        let separate =
            packet.direction() == Direction::Forward && self.is_separate[packet.flow() as usize];
        let flow = separate.then_some(packet.flow());
        let periods = self.periods;
        let of_flow = self.histograms.entry(flow).or_insert_with(|| DelayHistograms::new(periods));
        of_flow.record(at, waited);
    }

    /// Return all counts by flow. None is the key of the packets that share a histogram.
    pub fn finish(self) -> impl Iterator<Item = (Option<u32>, Vec<DelayCount>)> {
        self.histograms.into_iter().map(|(flow, histograms)| (flow, histograms.finish()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Span = Span(1_000_000_000);

    fn periods(length: Span, end: u64) -> Periods {
        Periods { length, end: Time(end) }
    }

    /// Percentile by nearest rank, of delays with their counts.
    fn percentile(counts: &[(Span, u64)], per_mille: u64) -> Span {
        let total: u64 = counts.iter().map(|count| count.1).sum();
        let rank = (total * per_mille).div_ceil(1_000).max(1);
        let mut below = 0;
        let bucket = counts.iter().find(|count| {
            below += count.1;
            below >= rank
        });
        bucket.expect("a rank within all of them").0
    }

    fn any_delays() -> impl Strategy<Value = Vec<u64>> {
        let any = prop_oneof![
            1 => Just(0),
            2 => 0u64..300,
            4 => 1_000u64..2_000_000,
            4 => (10u32..45, 0u64..1 << 20).prop_map(|(power, rest)| (1 << power) + rest),
        ];
        prop::collection::vec(any, 1..400)
    }

    proptest! {
        #[test]
        fn percentiles_are_within_a_hundredth_of_those_of_sorted_delays(delays in any_delays()) {
            let mut histograms = DelayHistograms::new(Periods::whole(Time(1)));
            delays.iter().for_each(|&delay| histograms.record(Time(1), Span(delay)));
            let counts: Vec<_> =
                histograms.finish().iter().map(|count| (count.delay, count.packets)).collect();
            let mut sorted = delays;
            sorted.sort_unstable();
            let exact: Vec<_> = sorted.iter().map(|&delay| (Span(delay), 1)).collect();
            for per_mille in [1, 10, 500, 900, 950, 990, 999, 1_000] {
                let (estimate, exact) = (percentile(&counts, per_mille).0, percentile(&exact, per_mille).0);
                prop_assert!(estimate.abs_diff(exact) * 100 <= exact, "{estimate} for {exact}");
            }
        }

        /// Any division of the run into periods counts the same packets.
        #[test]
        fn periods_add_up_to_the_whole(
            delays in prop::collection::vec((0u64..400, 0u64..1 << 30), 1..300), length in 1u64..5_000,
        ) {
            let end = 20_000;
            let mut parts = DelayHistograms::new(periods(Span(length), end));
            let mut whole = DelayHistograms::new(Periods::whole(Time(end)));
            let mut now = Time::ZERO;
            let mut counted = 0;
            for (later, delay) in delays {
                now += Span(later);
                counted += u64::from(now.0 <= end);
                parts.record(now, Span(delay));
                whole.record(now, Span(delay));
            }
            let together = |counts: Vec<DelayCount>| {
                let mut packets = BTreeMap::new();
                counts.iter().for_each(|c| *packets.entry(c.delay).or_insert(0) += c.packets);
                packets
            };
            let parts = parts.finish();
            prop_assert!(parts.iter().all(|c| c.until.0 % length == 0 || c.until.0 == end));
            prop_assert!(parts.is_sorted_by_key(|c| (c.until, c.delay)));
            let whole = together(whole.finish());
            prop_assert_eq!(whole.values().sum::<u64>(), counted);
            prop_assert_eq!(together(parts), whole);
        }
    }

    #[test]
    fn a_period_ends_with_its_last_nanosecond_and_the_last_one_with_the_run() {
        let mut histograms = DelayHistograms::new(periods(SECOND, 2_500_000_000));
        let times = [0, SECOND.0, SECOND.0 + 1, 2_400_000_000, 2_500_000_000, 2_500_000_001];
        times.into_iter().for_each(|at| histograms.record(Time(at), Span(7)));
        let counts = histograms.finish().into_iter().map(|count| (count.until.0, count.packets));
        let expected = [(SECOND.0, 2), (2 * SECOND.0, 1), (2_500_000_000, 2)];
        assert_eq!(counts.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn memory_does_not_grow_with_packets() {
        let mut histograms = DelayHistograms::new(Periods::whole(Time(10)));
        for delay in 0..1_000_000u64 {
            histograms.record(Time(1), Span(delay * 1_000));
        }
        // 128 buckets for each of 23 powers of two from 2^7 on.
        assert!(histograms.current.distinct_values() < 4_000);
        assert!(histograms.finish().len() < 4_000);
    }

    #[test]
    fn data_of_some_flows_has_separate_histograms() {
        let mut delays = QueueDelays::new(Periods::whole(Time(9)), [false, true].into());
        let packet = |flow, direction| Packet::new(flow, direction, 100, 0);
        delays.record(Time(1), Span(5), packet(0, Direction::Forward));
        delays.record(Time(2), Span(6), packet(1, Direction::Forward));
        delays.record(Time(3), Span(7), packet(1, Direction::Reverse));
        let by_flow: Vec<_> = delays
            .finish()
            .map(|(flow, counts)| (flow, counts.iter().map(|count| count.delay.0).collect()))
            .collect::<Vec<(_, Vec<u64>)>>();
        assert_eq!(by_flow, [(None, vec![5, 7]), (Some(1), vec![6])]);
    }
}
