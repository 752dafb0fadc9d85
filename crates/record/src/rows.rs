//! Rows of a table during a run: no more than a machine can keep.
//!
//! How many samples a run takes is known before; the number of events shows only during the run.

use crate::tables::{Event, EventKind, ModeChange, Request};

/// How many rows a run may keep of what happens in it. Each of these tables takes about 2 GB then,
/// as do the most samples that a scenario may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLimits {
    /// Events.
    pub events: usize,
    /// Requests and transfers.
    pub requests: usize,
    /// Changes of modes, of which each row has many columns.
    pub modes: usize,
}

impl Default for RowLimits {
    fn default() -> Self {
        Self { events: 20_000_000, requests: 20_000_000, modes: 8_000_000 }
    }
}

/// A table would have more rows than a run may keep of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Full {
    /// The key of a scenario that says what is kept.
    pub key: &'static str,
    /// What has grown, when, and the way out.
    pub problem: String,
}

/// A row of a table that a run fills as it goes.
pub trait Kept {
    /// The key of a scenario with which there are fewer.
    const KEY: &'static str;
    /// What there would be more than enough of, and how there are fewer.
    const WORDS: (&'static str, &'static str);
    /// When it was kept, in ns since the run began.
    fn kept_ns(&self) -> u64;
    /// What most of them are, if they differ.
    fn most(_: &[Self]) -> Option<String>
    where
        Self: Sized,
    {
        None
    }
}

/// Rows so far.
#[derive(Clone, Debug)]
pub struct Rows<R> {
    rows: Vec<R>,
    most: usize,
    /// When there was one more than there may be.
    full_ns: Option<u64>,
}

impl<R: Kept> Rows<R> {
    /// None, of at most so many.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        Self { rows: Vec::new(), most, full_ns: None }
    }

    /// Keeps a row if there is room; gives whether there was. If not, the run must end: see
    /// [`Self::check`].
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

    /// Whether all are there.
    ///
    /// # Errors
    /// There was one for which there is no room.
    pub fn check(&self) -> Result<(), Full> {
        let Some(full_ns) = self.full_ns else { return Ok(()) };
        let (what, remedy) = R::WORDS;
        let time_s = full_ns as f64 / 1e9;
        let most = R::most(&self.rows).map_or_else(String::new, |most| format!(", mostly {most}"));
        let problem =
            format!("more than {} {what} by {time_s} s of the run{most}; {remedy}", self.most);
        Err(Full { key: R::KEY, problem })
    }

    /// All of them.
    #[must_use]
    pub fn as_slice(&self) -> &[R] {
        &self.rows
    }

    /// All of them.
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
        "end the run earlier, or ask for larger ones",
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
    fn what_finds_no_room_is_told_and_nothing_is_lost_before() {
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
        let Full { key, problem } = rows.check().unwrap_err();
        assert_eq!(key, "record.events");
        assert_eq!(
            problem,
            "more than 3 events by 0.0015 s of the run, mostly loss; \
             record fewer kinds of events, or end the run earlier"
        );
        assert_eq!(rows.into_vec().len(), 3);
    }
}
