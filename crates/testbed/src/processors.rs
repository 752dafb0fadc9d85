//! Placement on processors: the emulator has one to itself.

use std::fs;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::error::Error;

/// The processors of this process, divided between emulator and applications.
#[derive(Clone, Debug)]
pub struct Processors {
    allowed: CpuSet,
    emulator: usize,
    others: Vec<usize>,
}

impl Processors {
    /// Give the last one to the emulator.
    ///
    /// # Errors
    /// If there is only one.
    pub fn divided() -> Result<Self, Error> {
        let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
        let mut others: Vec<usize> =
            (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).collect();
        match others.pop() {
            Some(emulator) if !others.is_empty() => Ok(Self { allowed, emulator, others }),
            _ => Err(Error::machine(
                "cannot run the testbed",
                &"it needs two processors, one of them for the emulator",
                "allow this process more processors (taskset, cgroup)",
            )),
        }
    }

    /// Keep the calling thread, which is the emulator's, on its processor, with priority.
    pub fn keep_emulator(&self) {
        keep(&[self.emulator]);
        // SAFETY: a system call on plain numbers; 0 is the calling thread.
        #[allow(unsafe_code)]
        unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, HIGHEST_PRIORITY)
        };
    }

    /// Keep the calling thread, which is the applications', on one of the others, with priority:
    /// while it has a socket locked, no packet passes.
    pub fn keep_applications(&self) {
        keep(&self.others[..1]);
        let priority = libc::sched_param { sched_priority: 1 };
        // SAFETY: a system call on a structure that outlives it; 0 is the calling thread.
        #[allow(unsafe_code)]
        unsafe {
            libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority)
        };
    }

    /// Keep the calling thread and those that it starts off the emulator's processor, until the
    /// result is dropped.
    pub fn keep_off(&self) -> KeptOff {
        keep(&self.others);
        KeptOff { allowed: self.allowed }
    }
}

/// A thread that leaves the emulator its processor.
#[derive(Debug)]
pub struct KeptOff {
    allowed: CpuSet,
}

impl Drop for KeptOff {
    fn drop(&mut self) {
        let _ = sched_setaffinity(Pid::from_raw(0), &self.allowed);
    }
}

const HIGHEST_PRIORITY: libc::c_int = -20;

/// Move this thread. If the system refuses, it stays where it is, and the guards detect the effect.
fn keep(cpus: &[usize]) {
    let mut set = CpuSet::new();
    let known = cpus.iter().all(|cpu| set.set(*cpu).is_ok());
    if known {
        let _ = sched_setaffinity(Pid::from_raw(0), &set);
    }
}

/// Time of all processors since the machine's start, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineTime {
    all: u64,
    stolen: u64,
}

impl MachineTime {
    /// Read it; zero if the system does not report it.
    #[must_use]
    pub fn now() -> Self {
        fs::read_to_string("/proc/stat").ok().and_then(|text| Self::read(&text)).unwrap_or_default()
    }

    fn read(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> =
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // The last two, of guests, are part of the first two.
        Some(Self { all: ticks.iter().take(8).sum(), stolen: *ticks.get(7)? })
    }

    /// Share of the time since `earlier` that the machine's host gave to others, in 1/1000.
    #[must_use]
    pub fn stolen_permille_since(&self, earlier: Self) -> u32 {
        let all = self.all.saturating_sub(earlier.all).max(1);
        (1_000 * self.stolen.saturating_sub(earlier.stolen) / all) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_distinguished_from_the_rest() {
        let read = |text| MachineTime::read(text).unwrap();
        let earlier = read("cpu  10 0 10 70 5 0 5 0 0 0\ncpu0 1\n");
        let later = read("cpu  20 0 20 140 10 0 5 5 7 7\n");
        assert_eq!(earlier, MachineTime { all: 100, stolen: 0 });
        assert_eq!(later.stolen_permille_since(earlier), 50);
    }
}
