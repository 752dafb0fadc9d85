//! The time of a run.
//!
//! It stops while the emulator is stalled: no packet moves then, so that nothing that a run
//! measures should count that time. All parts of a run share it, the applications, the samples and
//! the end among them. A run therefore lasts longer in real time by the sum of its stalls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dumbbell_network::{Span, Time};
use nix::time::{ClockId, clock_gettime};

/// Stalls of the emulator, for readers during the run.
#[derive(Debug, Default)]
pub struct Stalls {
    /// Their sum, in ns.
    pub total_ns: AtomicU64,
    /// The longest, in ns.
    pub longest_ns: AtomicU64,
}

/// Time since a run began, by the kernel's monotonic clock, which `bpf_ktime_get_ns` reads, too,
/// without the emulator's stalls.
///
/// A stall is known once it is over. So the time may go back by as much, and who needs it in order
/// keeps the latest.
#[derive(Clone, Debug)]
pub struct Clock {
    epoch_ns: i64,
    stalls: Arc<Stalls>,
}

impl Clock {
    /// A clock of a run that begins `lead` from now. Connections are opened until then.
    #[must_use]
    pub fn starting_in(lead: Span) -> Self {
        Self { epoch_ns: monotonic_ns() + lead.0 as i64, stalls: Arc::default() }
    }

    /// The emulator's stalls, which this time leaves out.
    pub(crate) fn stalls(&self) -> &Stalls {
        &self.stalls
    }

    /// Note a stall of the emulator, which alone does so.
    #[cold]
    pub(crate) fn stall(&self, gap_ns: u64) {
        self.stalls.total_ns.fetch_add(gap_ns, Relaxed);
        self.stalls.longest_ns.fetch_max(gap_ns, Relaxed);
    }

    /// Real time since the run began in ns, with all stalls; negative before.
    #[inline]
    pub(crate) fn real_ns(&self) -> i64 {
        monotonic_ns() - self.epoch_ns
    }

    /// Time since the run began in ns; negative before.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> i64 {
        self.without_stalls(self.real_ns())
    }

    /// Time since the run began; none before.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Option<Time> {
        u64::try_from(self.now_ns()).ok().map(Time)
    }

    /// Convert the time of the kernel's monotonic clock to time since the run began; none before.
    /// All stalls until now count as earlier, so convert soon.
    #[must_use]
    pub fn at(&self, monotonic_ns: u64) -> Option<Time> {
        let real_ns = monotonic_ns as i64 - self.epoch_ns;
        u64::try_from(self.without_stalls(real_ns)).ok().map(Time)
    }

    #[inline]
    pub(crate) fn without_stalls(&self, real_ns: i64) -> i64 {
        real_ns - self.stalls.total_ns.load(Relaxed) as i64
    }
}

fn monotonic_ns() -> i64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("the monotonic clock");
    now.tv_sec() * 1_000_000_000 + now.tv_nsec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_do_not_count() {
        let clock = Clock::starting_in(Span::ZERO);
        let real_ns = clock.real_ns();
        let monotonic_ns = (clock.epoch_ns + real_ns) as u64;
        assert_eq!(clock.at(monotonic_ns), Some(Time(real_ns as u64)));
        clock.clone().stalls().total_ns.store(3_600_000_000_000, Relaxed);
        assert!(clock.now_ns() < -3_599_000_000_000, "clones share their stalls");
        assert_eq!((clock.now(), clock.at(monotonic_ns)), (None, None));
        assert_eq!(clock.at(monotonic_ns + 3_600_000_000_000), Some(Time(real_ns as u64)));
    }
}
