//! Data on its way into the receiver.

use std::ops::Range;

use dumbbell_network::Time;

/// The hosts' clock for timestamps (RFC 7323): milliseconds, as Linux has them.
#[inline]
#[must_use]
pub const fn clock(now: Time) -> u32 {
    (now.0 / 1_000_000) as u32
}

/// What a data segment brings to the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number.
    pub number: u64,
    /// The sender's timestamp, in milliseconds.
    pub stamp: u32,
    /// It carries a congestion mark.
    pub ce: bool,
    /// The sender has reduced its window (CWR).
    pub cwr: bool,
    /// It is as long as a segment can be.
    pub full: bool,
    /// It is the last of a request, of a transfer or of what its host sent in one chunk (PSH).
    pub pushed: bool,
}

/// Segments that TCP gets in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate {
    pub span: Range<u64>,
    pub stamp: u32,
    pub ce: bool,
    pub cwr: bool,
    /// The last is as long as a segment can be; the others are.
    pub full: bool,
    pub pushed: bool,
}

impl Arrival {
    /// Whether it is a full segment that says nothing of congestion.
    #[inline]
    pub const fn says_nothing_else(&self) -> bool {
        self.full & !(self.ce | self.cwr)
    }
}

impl Aggregate {
    /// An aggregate of nothing that `arrival` continues.
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
