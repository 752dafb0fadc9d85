//! Receive offload (GRO): consecutive segments reach TCP as one.
//!
//! This happens below TCP and does not depend on it. A segment that continues the current aggregate
//! joins it, whether TCP expects that segment or not.

use dumbbell_network::{Span, Time};

use crate::arrival::{Aggregate, Arrival};
use crate::stack::Stack;

/// The aggregate that grows.
#[derive(Clone, Debug)]
pub struct Coalescer {
    segs_max: u64,
    flush_after: Span,
    timestamps: bool,
    aggregate: Option<Aggregate>,
    due: Time,
}

impl Coalescer {
    /// A coalescer without an aggregate.
    pub fn new(stack: &Stack) -> Self {
        Self {
            segs_max: u64::from(stack.gro_segs.max(1)),
            flush_after: stack.gro_flush_ns,
            timestamps: stack.timestamps,
            aggregate: None,
            due: Time::NEVER,
        }
    }

    /// Return whether segments are merged at all.
    pub const fn is_on(&self) -> bool {
        self.segs_max > 1
    }

    /// Time at which the held aggregate must be delivered.
    #[inline]
    pub const fn due(&self) -> Time {
        self.due
    }

    /// Return whether a segment is in the held aggregate.
    pub fn holds(&self, number: u64) -> bool {
        self.aggregate.as_ref().is_some_and(|aggregate| aggregate.span.contains(&number))
    }

    /// The held aggregate; None if there is none.
    #[inline]
    pub const fn aggregate(&self) -> Option<&Aggregate> {
        self.aggregate.as_ref()
    }

    /// Return whether segments that arrive within `span` may all join one aggregate.
    #[inline]
    pub fn gathers_for(&self, span: Span) -> bool {
        span <= self.flush_after
    }

    /// Return whether a segment with this timestamp may join the held aggregate. True if there is
    /// none.
    #[inline]
    pub fn joins_by(&self, stamp: u32) -> bool {
        self.aggregate.as_ref().is_none_or(|aggregate| aggregate.stamp == stamp || !self.timestamps)
    }

    /// Take an arrival. Return the aggregate that it does not continue, and the aggregate that it
    /// completes.
    pub fn add(&mut self, now: Time, arrival: &Arrival) -> [Option<Aggregate>; 2] {
        let before = if self.is_continued_by(arrival) { None } else { self.take() };
        [before, self.join(now, arrival)]
    }

    /// Take an arrival that continues the held aggregate, or begins one. Return the aggregate that
    /// it completes; None if it completes none.
    #[inline]
    pub fn join(&mut self, now: Time, arrival: &Arrival) -> Option<Aggregate> {
        // The time runs from the first segment, so a stream of segments cannot extend it.
        let aggregate = self.aggregate.get_or_insert_with(|| {
            self.due = now + self.flush_after;
            Aggregate::before(arrival)
        });
        aggregate.span.end += 1;
        aggregate.full = arrival.full;
        aggregate.pushed = arrival.pushed;
        let complete = aggregate.span.end - aggregate.span.start >= self.segs_max;
        // A short segment ends an aggregate, and CWR never waits.
        let last = complete || arrival.pushed || !arrival.full || arrival.cwr;
        if last { self.take() } else { None }
    }

    fn is_continued_by(&self, arrival: &Arrival) -> bool {
        // All header fields except the number must be equal, with the options.
        self.aggregate.as_ref().is_some_and(|aggregate| {
            aggregate.span.end == arrival.number && aggregate.ce == arrival.ce && !arrival.cwr
        }) && self.joins_by(arrival.stamp)
    }

    /// Remove and return the held aggregate; None if there is none.
    #[inline]
    pub fn take(&mut self) -> Option<Aggregate> {
        self.due = Time::NEVER;
        self.aggregate.take()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::stack::linux_6;

    fn coalescer(gro_segs: u32) -> Coalescer {
        let gro_flush_ns = Span(100);
        Coalescer::new(&Stack { gro_segs, gro_flush_ns, ..linux_6() })
    }

    fn full(number: u64) -> Arrival {
        Arrival { number, stamp: 7, ce: false, cwr: false, full: true, pushed: false }
    }

    /// Return the spans that come out at each arrival.
    fn spans(coalescer: &mut Coalescer, arrivals: &[Arrival]) -> Vec<Vec<Range<u64>>> {
        let spans = |arrival| {
            let aggregates = coalescer.add(Time(5), arrival);
            aggregates.into_iter().flatten().map(|aggregate| aggregate.span).collect()
        };
        arrivals.iter().map(spans).collect()
    }

    #[test]
    fn when_off_every_segment_passes_at_once() {
        for gro_segs in [0, 1] {
            let mut off = coalescer(gro_segs);
            assert_eq!(spans(&mut off, &[full(0), full(4)]), [vec![0..1; 1], vec![4..5; 1]]);
            assert_eq!(off.due(), Time::NEVER);
        }
    }

    #[test]
    fn what_follows_joins_until_the_run_is_long_enough() {
        let mut on = coalescer(3);
        assert_eq!(spans(&mut on, &[full(0), full(1)]), [vec![], vec![]]);
        assert_eq!(on.due(), Time(105));
        assert!(on.holds(1) && !on.holds(2));
        assert_eq!(spans(&mut on, &[full(2), full(3)]), [vec![0..3; 1], vec![]]);
    }

    #[test]
    fn a_gap_a_mark_another_stamp_and_cwr_begin_another_run() {
        for other in [
            full(9),
            Arrival { ce: true, ..full(1) },
            Arrival { stamp: 8, ..full(1) },
            Arrival { cwr: true, ..full(1) },
        ] {
            let mut on = coalescer(44);
            spans(&mut on, &[full(0)]);
            let aggregates = on.add(Time(9), &other);
            assert_eq!(aggregates[0].as_ref().unwrap().span, 0..1);
            assert_eq!(aggregates[1].is_some(), other.cwr);
        }
        let mut on = Coalescer { timestamps: false, ..coalescer(44) };
        assert_eq!(spans(&mut on, &[full(0), Arrival { stamp: 8, ..full(1) }]), [vec![], vec![]]);
    }

    #[test]
    fn the_end_of_a_message_and_a_short_segment_end_the_run() {
        for last in [Arrival { pushed: true, ..full(1) }, Arrival { full: false, ..full(1) }] {
            let mut on = coalescer(44);
            assert_eq!(spans(&mut on, &[full(0), last]), [vec![], vec![0..2; 1]]);
            assert_eq!(on.due(), Time::NEVER);
        }
    }
}
