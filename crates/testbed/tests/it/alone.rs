//! One test in real time after the other, and again where the machine was held up.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const TRIES: usize = 5;
/// Whoever waits for longer than this for a processor cannot say what a network did.
const HELD_UP: Duration = Duration::from_millis(10);

/// Runs a test while no other goes on: two would make each other's packets late. One that fails
/// while this process had to wait for a processor says nothing, and is repeated.
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

/// A thread that looks how late it is woken.
struct Lateness {
    stop: Arc<AtomicBool>,
    longest: JoinHandle<Duration>,
}

impl Lateness {
    fn watched() -> Self {
        let stop = Arc::<AtomicBool>::default();
        let its_stop = Arc::clone(&stop);
        let longest = thread::spawn(move || {
            let mut longest = Duration::ZERO;
            while !its_stop.load(Relaxed) {
                let asleep = Instant::now();
                thread::sleep(Duration::from_millis(1));
                longest = longest.max(asleep.elapsed());
            }
            longest
        });
        Self { stop, longest }
    }

    fn longest(self) -> Duration {
        self.stop.store(true, Relaxed);
        self.longest.join().unwrap()
    }
}
