//! The tick of a kernel's timers.
//!
//! Linux counts in ticks (jiffies), and its timers expire at a tick. Since 4.8 long timers expire
//! only at every 8th tick, every 64th and so on. Here the ticks of all hosts coincide, so ticks
//! apply only where a stack names one.

use dumbbell_network::{Span, Time};

use crate::stack::Stack;

/// Extra delay or shortest duration of a sender's timers in Linux, for probes, reordering and early
/// retransmit.
pub const TIMER_MIN: Span = Span::from_millis(2);
/// Timers of fewer ticks expire at any tick.
const TICKS_EXACT: u64 = 63;
/// Factor between the levels of the timer wheel.
const LEVEL: u64 = 8;

/// The unit of a kernel's timers.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    length: Span,
    binds: bool,
}

impl Tick {
    /// Return the tick of a stack. If the stack names none, return a millisecond that no timer
    /// waits for.
    #[must_use]
    pub fn of(stack: &Stack) -> Self {
        let named = stack.timer_tick_ns.map(|ns| Span(ns.get()));
        Self { length: named.unwrap_or(Span::from_millis(1)), binds: named.is_some() }
    }

    /// Return a duration in ticks, rounded up.
    #[must_use]
    pub fn count(self, span: Span) -> u32 {
        span.0.div_ceil(self.length.0).try_into().unwrap_or(u32::MAX)
    }

    /// Return the duration of `ticks`.
    #[must_use]
    pub const fn span(self, ticks: u32) -> Span {
        Span(self.length.0.saturating_mul(ticks as u64))
    }

    /// Ticks until `now`, modulo 2^32.
    #[must_use]
    pub const fn clock(self, now: Time) -> u32 {
        (now.0 / self.length.0) as u32
    }

    /// Return the duration that a timer is set to for `span`.
    #[inline]
    #[must_use]
    pub const fn set_for(self, span: Span) -> Span {
        if self.binds { Span(up_to_multiple(span.0, self.length.0)) } else { span }
    }

    /// Return the time at which a timer expires that was set for `span` until `due`. With that time
    /// as `due`, the result is the same.
    #[must_use]
    pub const fn end(self, due: Time, span: Span) -> Time {
        if !self.binds {
            return due;
        }
        let (mut group, mut ticks) = (self.length.0, span.0 / self.length.0);
        // The levels of Linux's timer wheel have 64 buckets each (calc_wheel_index). A long timer
        // gets a coarse bucket, so it is late by at most an eighth.
        while ticks >= TICKS_EXACT {
            (group, ticks) = (group.saturating_mul(LEVEL), ticks / LEVEL);
        }
        Time(up_to_multiple(due.0, group))
    }
}

const fn up_to_multiple(value: u64, unit: u64) -> u64 {
    value.div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::stack::linux_6;

    fn tick(ms: u64) -> Tick {
        Tick::of(&Stack { timer_tick_ns: NonZeroU64::new(ms * 1_000_000), ..linux_6() })
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn a_timer_ends_with_the_tick_in_which_it_is_over() {
        let (tick, wait) = (tick(4), Span::from_millis(40));
        assert_eq!(tick.end(at(40_001), wait), at(44_000));
        assert_eq!(tick.end(at(44_000), wait), at(44_000));
        assert_eq!(tick.set_for(Span::from_micros(40_001)), Span::from_millis(44));
        assert_eq!(
            (tick.count(Span::from_micros(40_001)), tick.span(11)),
            (11, Span::from_millis(44))
        );
    }

    #[test]
    fn a_long_one_ends_with_one_of_eight_or_of_64() {
        let tick = tick(1);
        let end = |ticks| tick.end(at(9_000_500), Span::from_millis(ticks));
        assert_eq!([end(62), end(63), end(503)], [at(9_001_000), at(9_008_000), at(9_008_000)]);
        assert_eq!(
            [end(504), end(4_031), end(4_032)],
            [at(9_024_000), at(9_024_000), at(9_216_000)]
        );
    }

    #[test]
    fn without_one_timers_end_exactly_and_count_milliseconds() {
        let none = tick(0);
        assert_eq!(none.end(at(40_001), Span::from_millis(40)), at(40_001));
        assert_eq!(none.set_for(Span(1)), Span(1));
        assert_eq!((none.count(Span(1_000_001)), none.clock(at(2_999))), (2, 2));
    }

    #[test]
    fn nothing_is_too_long() {
        let end = tick(10).end(Time(u64::MAX - 1), Span(u64::MAX));
        assert_eq!(end, Time(u64::MAX));
    }
}
