//! Runs tests in real time one after the other, and again if the machine was delayed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

const TRIES: usize = 5;
/// A machine on which a processor is missing for longer than this cannot judge a network.
const HELD_UP: Duration = Duration::from_millis(5);

/// Run a test alone, since two would delay each other's packets. A failure while another program
/// used a processor of this machine proves nothing, so the test is repeated.
pub fn undisturbed(test: impl Fn()) {
    static RUNNING: Mutex<()> = Mutex::new(());
    let _alone = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    for _ in 1..TRIES {
        let lateness = Lateness::watched();
        let result = catch_unwind(AssertUnwindSafe(&test));
        let longest = lateness.longest();
        match result {
            Ok(()) => return,
            Err(cause) if longest < HELD_UP => resume_unwind(cause),
            Err(_) => eprintln!("again, as the machine was held up for {longest:?}"),
        }
    }
    test();
}

/// A thread on each processor that measures how late it wakes. Other users of the machine may take
/// one processor and leave the others.
struct Lateness {
    stop: Arc<AtomicBool>,
    watchers: Vec<JoinHandle<Duration>>,
}

impl Lateness {
    fn watched() -> Self {
        let stop = Arc::<AtomicBool>::default();
        let watchers = processors().map(|processor| watcher(processor, &stop)).collect();
        Self { stop, watchers }
    }

    fn longest(self) -> Duration {
        self.stop.store(true, Relaxed);
        let longest = self.watchers.into_iter().map(|watcher| watcher.join().unwrap());
        longest.max().unwrap_or_default()
    }
}

fn processors() -> impl Iterator<Item = usize> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
    (0..CpuSet::count()).filter(move |&processor| allowed.is_set(processor).unwrap())
}

fn watcher(processor: usize, stop: &Arc<AtomicBool>) -> JoinHandle<Duration> {
    let stop = Arc::clone(stop);
    thread::spawn(move || {
        let mut here = CpuSet::new();
        here.set(processor).unwrap();
        sched_setaffinity(Pid::from_raw(0), &here).unwrap();
        let mut longest = Duration::ZERO;
        while !stop.load(Relaxed) {
            let asleep = Instant::now();
            thread::sleep(Duration::from_millis(1));
            longest = longest.max(asleep.elapsed());
        }
        longest
    })
}
