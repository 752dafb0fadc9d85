//! One run at a time on a machine: two would take each other's processor.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

use crate::error::Error;

const NAME: &str = "dumbbell-testbed";
const PAUSE: Duration = Duration::from_millis(20);

/// The right to run, a name among abstract sockets. The kernel gives it to one process only, and
/// takes it back when that process ends in any way.
#[derive(Debug)]
pub struct Turn {
    _listener: UnixListener,
}

impl Turn {
    /// Wait until no other run is active.
    ///
    /// # Errors
    /// If the system refuses sockets, or the run is cancelled meanwhile.
    pub fn wait(cancel: &AtomicBool) -> Result<Self, Error> {
        Self::wait_for(NAME, cancel)
    }

    fn wait_for(name: &str, cancel: &AtomicBool) -> Result<Self, Error> {
        let address = SocketAddr::from_abstract_name(name).expect("a short name");
        while !cancel.load(Ordering::Relaxed) {
            match UnixListener::bind_addr(&address) {
                Ok(listener) => return Ok(Self { _listener: listener }),
                Err(error) if error.kind() == ErrorKind::AddrInUse => sleep(PAUSE),
                Err(error) => {
                    let what = "cannot find out whether another run is under way";
                    return Err(Error::machine(what, &error, "allow this process more files"));
                }
            }
        }
        Err(Error::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn turns_are_taken_one_after_the_other() {
        let (name, running) = ("dumbbell-testbed-test", AtomicBool::new(false));
        let first = Turn::wait_for(name, &running).unwrap();
        let cancelled = AtomicBool::new(true);
        assert!(matches!(Turn::wait_for(name, &cancelled), Err(Error::Cancelled)));
        thread::scope(|scope| {
            let second = scope.spawn(|| Turn::wait_for(name, &running).unwrap());
            sleep(3 * PAUSE);
            assert!(!second.is_finished());
            drop(first);
            second.join().unwrap();
        });
    }
}
