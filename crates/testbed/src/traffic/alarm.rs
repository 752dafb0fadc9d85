//! The alarm that wakes the applications' thread when something is due, and measures its lateness.

use std::time::Duration;

use dumbbell_network::Time;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

use crate::clock::Clock;

/// Delay that the thread's own work may cause, in ns.
const STALL_NS: u64 = 1_000_000;

/// A timer, and the stalls of its thread.
#[derive(Debug)]
pub struct Alarm {
    pub timer: TimerFd,
    /// Time for which it is set.
    rings: Option<Time>,
    pub stalls: Stalls,
}

/// Stalls of a thread, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Their sum.
    pub all_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Time up to which stalls are counted.
    counted: Time,
}

impl Alarm {
    /// A timer that is not set.
    pub fn new() -> nix::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        Ok(Self { timer, rings: None, stalls: Stalls::default() })
    }

    /// Set it for `due`.
    pub fn set(&mut self, due: Time, clock: &Clock) -> nix::Result<()> {
        self.look(clock);
        if self.rings == Some(due) {
            return Ok(());
        }
        // A timer of 0 ns would never ring.
        let wait_ns = (due.0 as i64).saturating_sub(clock.now_ns()).max(1);
        let wait = TimeSpec::from_duration(Duration::from_nanos(wait_ns as u64));
        self.timer.set(Expiration::OneShot(wait), TimerSetTimeFlags::empty())?;
        self.rings = Some(due);
        Ok(())
    }

    /// Note that it rang.
    pub fn rang(&mut self) {
        self.rings = None;
    }

    /// Count a stall if it should have rung before.
    pub fn look(&mut self, clock: &Clock) {
        if let (Some(due), Some(now)) = (self.rings, clock.now()) {
            self.stalls.look(due, now);
        }
    }
}

impl Stalls {
    fn look(&mut self, due: Time, now: Time) {
        let late_ns = now.0.saturating_sub(due.max(self.counted).0);
        if late_ns > STALL_NS {
            self.all_ns += late_ns;
            self.max_ns = self.max_ns.max(late_ns);
            self.counted = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_late_is_counted_once_and_only_if_own_work_does_not_explain_it() {
        let mut stalls = Stalls::default();
        let at_us = |us: u64| Time(1_000 * us);
        stalls.look(at_us(10_000), at_us(9_000));
        stalls.look(at_us(10_000), at_us(11_000));
        assert_eq!(stalls, Stalls::default());
        stalls.look(at_us(12_000), at_us(15_000));
        stalls.look(at_us(12_000), at_us(15_500));
        assert_eq!((stalls.all_ns, stalls.max_ns), (3_000_000, 3_000_000));
        stalls.look(at_us(12_000), at_us(17_000));
        assert_eq!((stalls.all_ns, stalls.max_ns), (5_000_000, 3_000_000));
    }
}
