//! The applications of all flows of a run, on sockets of the kernel.
//!
//! One thread serves them all: it connects, sends, receives and samples when it is due, and
//! measures how busy that keeps it. The demand of an application is decided apart from sockets
//! (`app`, `datagrams`), as in the simulator.

mod alarm;
mod app;
mod datagrams;
mod driver;
mod flow;
mod options;
mod output;
mod progress;
mod receiver;
mod recorder;
mod setup;
mod sockets;
mod stream;
mod tcp_info;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::clock::Clock;
use crate::error::Error;
use driver::Driver;

pub use output::{DatagramCount, FlowEnd, Limits, Report, Seen, SeenRtt, TrafficOutput};
pub use setup::{Connection, Look, Plan, SocketTuning};

/// Applications with open sockets, before they send.
pub struct Prepared {
    driver: Driver,
}

/// Running applications.
#[derive(Debug)]
pub struct Traffic {
    thread: Option<JoinHandle<Result<TrafficOutput, Error>>>,
    abandoned: Arc<AtomicBool>,
}

impl Prepared {
    /// Open the sockets of all flows. That takes time, so set the clock afterwards.
    ///
    /// # Errors
    /// If the system refuses a socket or one of its options.
    pub fn new(connections: &[Connection<'_>], plan: Plan<'_>) -> Result<Self, Error> {
        Driver::new(connections, plan).map(|driver| Self { driver })
    }

    /// Start the applications. Flows that start soon connect at once.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(self, clock: Clock) -> Result<Traffic, Error> {
        let abandoned = Arc::new(AtomicBool::new(false));
        let (driver, flag) = (self.driver, Arc::clone(&abandoned));
        let thread = std::thread::Builder::new().name("dumbbell-apps".into());
        let thread = thread.spawn(move || driver.run(clock, &flag)).map_err(|error| {
            sockets::failed("cannot start the applications' thread".into(), &error)
        })?;
        Ok(Traffic { thread: Some(thread), abandoned })
    }
}

impl Traffic {
    /// Return true once the end has come, or an error.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Wait for the end and return the applications' output. All connections have been reset then.
    ///
    /// # Errors
    /// The error of a socket meanwhile, or the cancellation.
    pub fn finish(mut self) -> Result<TrafficOutput, Error> {
        let thread = self.thread.take().expect("a thread until it is finished");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.abandoned.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Nobody waits for the result.
            drop(thread.join());
        }
    }
}
