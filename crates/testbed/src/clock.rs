//! The time of a run.

use dumbbell_network::{Span, Time};
use nix::time::{ClockId, clock_gettime};

/// Time since a run began, by the kernel's monotonic clock, which `bpf_ktime_get_ns` reads, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    epoch_ns: i64,
}

impl Clock {
    /// A clock of a run that begins `lead` from now. Connections are opened until then.
    #[must_use]
    pub fn starting_in(lead: Span) -> Self {
        Self { epoch_ns: monotonic_ns() + lead.0 as i64 }
    }

    /// Time since the run began in ns; negative before.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> i64 {
        monotonic_ns() - self.epoch_ns
    }

    /// Time since the run began; none before.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Option<Time> {
        u64::try_from(self.now_ns()).ok().map(Time)
    }

    /// Convert the time of the kernel's monotonic clock to time since the run began; none before.
    #[must_use]
    pub fn at(&self, monotonic_ns: u64) -> Option<Time> {
        u64::try_from(monotonic_ns as i64 - self.epoch_ns).ok().map(Time)
    }
}

fn monotonic_ns() -> i64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("the monotonic clock");
    now.tv_sec() * 1_000_000_000 + now.tv_nsec()
}
