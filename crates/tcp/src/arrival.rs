//! Data on its way into the receiver.

use std::ops::Range;

use dumbbell_network::Time;

/// Return the hosts' clock for timestamps (RFC 7323) in milliseconds, as in Linux.
#[inline]
#[must_use]
pub const fn clock(now: Time) -> u32 {
    (now.0 / 1_000_000) as u32
}

/// A data segment that reaches the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number.
    pub number: u64,
    /// The sender's timestamp, in milliseconds.
    pub stamp: u32,
    /// True if it carries a congestion mark.
    pub ce: bool,
    /// True if the sender has reduced its window (CWR).
    pub cwr: bool,
    /// True if the segment is full.
    pub full: bool,
    /// True if it ends a request, a transfer or a chunk of its host (PSH).
    pub pushed: bool,
}

/// Segments that TCP gets as one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    pub span: Range<u64>,
    pub stamp: u32,
    pub ce: bool,
    pub cwr: bool,
    /// True if the last segment is full. All others are.
    pub full: bool,
    pub pushed: bool,
}

impl Arrival {
    /// Return whether it is a full segment without a mark or CWR.
    #[inline]
    pub const fn is_plain_data(&self) -> bool {
        self.full & !(self.ce | self.cwr)
    }
}

impl Aggregate {
    /// An empty aggregate that `arrival` continues.
    pub const fn before(arrival: &Arrival) -> Self {
        let &Arrival { number, stamp, ce, cwr, full, pushed } = arrival;
        Self { span: number..number, stamp, ce, cwr, full, pushed }
    }

    /// An aggregate of `arrival` alone.
    #[inline]
    pub const fn of(arrival: &Arrival) -> Self {
        let aggregate = Self::before(arrival);
        Self { span: aggregate.span.start..aggregate.span.start + 1, ..aggregate }
    }
}
