//! Network namespaces without names: they live as long as something holds them.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::error::Error;

/// A network namespace, kept by a descriptor.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A new, empty namespace.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn new() -> Result<Self, Error> {
        let file = in_new_thread(|| {
            // Only this thread moves (unshare(2)). /proc/self is the main thread's, and still the
            // old one.
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        });
        file.map(|file| Self { file }).map_err(|error| Error::Machine {
            what: "cannot make a network namespace".into(),
            cause: error.to_string(),
            remedy: "run as root, where namespaces are allowed: see dumbbell doctor".into(),
        })
    }

    /// Do `work` inside the namespace, in a separate thread. Its sockets and devices stay in the
    /// namespace, wherever they are used.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        in_new_thread(|| {
            setns(&self.file, CloneFlags::CLONE_NEWNET).expect("a namespace that is held open");
            work()
        })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Do `work` in a new thread: a thread that has changed its namespace is not used again.
fn in_new_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_namespace_is_another_one_and_only_inside() {
        let identity = || fs::read_link("/proc/thread-self/ns/net").unwrap();
        let (outside, namespace) = (identity(), Namespace::new().unwrap());
        let inside = namespace.run(identity);
        assert_ne!(inside, outside);
        assert_eq!(namespace.run(identity), inside);
        assert_eq!(identity(), outside);
    }
}
