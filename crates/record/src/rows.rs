//! Rows of a table during a run: no more than a machine can keep.
//!
//! The number of samples is known before a run. The number of events only shows during the run.

use crate::invalid::Invalid;
use crate::tables::{Event, EventKind, ModeChange, Request};

/// Most rows of each table that a run may keep. A full table takes about 2 GB, and so do the most
/// samples that a scenario may request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLimits {
    /// Events.
    pub events: usize,
    /// Requests and transfers.
    pub requests: usize,
    /// Changes of modes. Each of these rows has many columns.
    pub modes: usize,
}

impl Default for RowLimits {
    fn default() -> Self {
        Self { events: 20_000_000, requests: 20_000_000, modes: 8_000_000 }
    }
}

/// A row of a table that grows during a run.
pub trait Kept {
    /// The key of the scenario that reduces the number of these rows.
    const KEY: &'static str;
    /// The plural noun for these rows, and the remedy when there are too many.
    const WORDS: (&'static str, &'static str);
    /// Time of the row, in ns since the run began.
    fn kept_ns(&self) -> u64;
    /// The most frequent kind of row; none if all are of one kind.
    fn most(_: &[Self]) -> Option<String>
    where
        Self: Sized,
    {
        None
    }
}

/// The rows of a table so far.
#[derive(Clone, Debug)]
pub struct Rows<R> {
    rows: Vec<R>,
    most: usize,
    /// Time of the first row for which there was no room, in ns; none: all had room.
    full_ns: Option<u64>,
}

impl<R: Kept> Rows<R> {
    /// An empty table of at most `most` rows.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        Self { rows: Vec::new(), most, full_ns: None }
    }

    /// Keep a row if there is room; return whether there was. If there was none, the run must end:
    /// see [`Self::check`].
    #[inline]
    pub fn push(&mut self, row: R) -> bool {
        let fits = self.rows.len() < self.most;
        if fits {
            self.rows.push(row);
        } else {
            self.full_ns.get_or_insert(row.kept_ns());
        }
        fits
    }

    /// Check that every row had room.
    ///
    /// # Errors
    /// If a row had no room.
    pub fn check(&self) -> Result<(), Invalid> {
        let Some(full_ns) = self.full_ns else { return Ok(()) };
        let (what, remedy) = R::WORDS;
        let time_s = full_ns as f64 / 1e9;
        let most = R::most(&self.rows).map_or_else(String::new, |most| format!(", mostly {most}"));
        let problem =
            format!("more than {} {what} by {time_s} s of the run{most}; {remedy}", self.most);
        Err(Invalid { key: R::KEY.to_owned(), problem })
    }

    /// All rows.
    #[must_use]
    pub fn as_slice(&self) -> &[R] {
        &self.rows
    }

    /// All rows.
    #[must_use]
    pub fn into_vec(self) -> Vec<R> {
        self.rows
    }
}

impl Kept for Event {
    const KEY: &'static str = "record.events";
    const WORDS: (&'static str, &'static str) =
        ("events", "record fewer kinds of events, or end the run earlier");

    fn kept_ns(&self) -> u64 {
        self.time_ns
    }

    fn most(rows: &[Self]) -> Option<String> {
        let count = |kind: EventKind| rows.iter().filter(|row| row.kind == kind as u8).count();
        let most = EventKind::ALL.into_iter().max_by_key(|&kind| count(kind))?;
        Some(format!("{most:?}").to_lowercase())
    }
}

impl Kept for Request {
    const KEY: &'static str = "duration";
    const WORDS: (&'static str, &'static str) = (
        "requests and transfers that were completed",
        "end the run earlier, or request larger ones",
    );

    fn kept_ns(&self) -> u64 {
        self.time_ns + self.latency_ns
    }
}

impl Kept for ModeChange {
    const KEY: &'static str = "record.modes";
    const WORDS: (&'static str, &'static str) =
        ("changes of modes", "sample fewer flows, set it to false, or end the run earlier");

    fn kept_ns(&self) -> u64 {
        self.time_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_space_is_reported_and_no_earlier_row_is_lost() {
        let mut rows = Rows::new(3);
        let row = |time_ns, kind: EventKind| Event {
            time_ns,
            kind: kind as u8,
            flow: 0,
            segment: 0,
            cwnd_segs: 0,
            ssthresh_segs: 0,
        };
        for (time_ns, kind) in [(1, EventKind::Start), (2, EventKind::Loss), (3, EventKind::Loss)] {
            assert!(rows.push(row(time_ns, kind)));
            assert_eq!(rows.check(), Ok(()));
        }
        assert!(!rows.push(row(1_500_000, EventKind::Loss)));
        assert!(!rows.push(row(1_600_000, EventKind::Loss)));
        let Invalid { key, problem } = rows.check().unwrap_err();
        assert_eq!(key, "record.events");
        assert_eq!(
            problem,
            "more than 3 events by 0.0015 s of the run, mostly loss; \
             record fewer kinds of events, or end the run earlier"
        );
        assert_eq!(rows.into_vec().len(), 3);
    }
}
