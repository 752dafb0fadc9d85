//! Observation of the kernel's TCP on the sockets of a run, and TCP-BPF.
//!
//! It works with every congestion control, including the kernel's modules. Three BPF programs
//! (`bpf/watch.c`) see the sockets of this process's cgroup, and ignore those outside the run's
//! namespaces. They are gone with the process, or when dropped.

mod cgroup;
mod event;
mod flow;
mod steering;

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use dumbbell_tcp::TcpBpf;
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder};
use libbpf_rs::{RingBuffer, RingBufferBuilder};

use crate::error::Error;
use crate::kernel::Compiler;
use crate::namespace::Namespace;

pub use event::{KernelEvent, KernelEventKind};
pub use flow::{FlowWatch, RttWatch};

const WATCH_C: &str = include_str!("../../bpf/watch.c");

/// Measures windows and round-trip times of a run's sockets.
#[derive(Debug)]
pub struct Watch {
    flows: MapHandle,
    steerings: MapHandle,
    lost_events: MapHandle,
    /// Reads the kernel's events into `events`.
    ring: Mutex<RingBuffer<'static>>,
    events: Arc<Mutex<Vec<KernelEvent>>>,
    /// The programs are active until these are dropped.
    _links: [Link; 3],
    _object: Object,
}

impl Watch {
    /// Watch the connections that sockets of these namespaces will open.
    ///
    /// # Errors
    /// If there is no clang or the system refuses the programs.
    pub fn load(namespaces: &[&Namespace], cancel: &AtomicBool) -> Result<Self, Error> {
        let object = open(cancel)?;
        let known = map(&object, "namespaces")?;
        for namespace in namespaces {
            let cookie = namespace.run(namespace_cookie).map_err(refused)?;
            known.update(&cookie.to_ne_bytes(), &[1], MapFlags::ANY).map_err(refused)?;
        }
        let flows = map(&object, "flows")?;
        assert_eq!(flows.value_size() as usize, flow::FLOW_BYTES, "bytes of a struct cc_flow");
        let events = Arc::default();
        Ok(Self {
            flows,
            steerings: map(&object, "steerings")?,
            lost_events: map(&object, "lost_events")?,
            ring: Mutex::new(listen(&map(&object, "events")?, &events).map_err(refused)?),
            events,
            _links: attach(&object)?,
            _object: object,
        })
    }

    /// The map with a `struct cc_flow` for each socket.
    #[must_use]
    pub fn map(&self) -> BorrowedFd<'_> {
        self.flows.as_fd()
    }

    /// Set the TCP-BPF settings of the sockets of a port. Call it before a socket listens at that
    /// port or connects from it.
    ///
    /// # Errors
    /// If the kernel would grant less than requested.
    pub fn steer(&self, port: u16, settings: &TcpBpf) -> Result<(), Error> {
        steering::check(settings)?;
        let key = u32::from(port).to_ne_bytes();
        self.steerings.update(&key, &steering::bytes(settings), MapFlags::ANY).map_err(refused)
    }

    /// Measurements of a socket; none: it is not in the run's namespaces, or its connection is not
    /// established.
    ///
    /// # Errors
    /// If the kernel does not return them.
    pub fn flow(&self, socket: BorrowedFd<'_>) -> Result<Option<FlowWatch>, Error> {
        let key = socket.as_raw_fd().to_ne_bytes();
        let bytes = self.flows.lookup(&key, MapFlags::ANY).map_err(refused)?;
        Ok(bytes.map(|bytes| FlowWatch::read(&bytes)))
    }

    /// Take the events at the connecting ends since the last call, the earliest first.
    ///
    /// # Errors
    /// If the kernel does not return them.
    pub fn events(&self) -> Result<Vec<KernelEvent>, Error> {
        hold(&self.ring).consume().map_err(refused)?;
        Ok(std::mem::take(&mut *hold(&self.events)))
    }

    /// Number of events without room since the beginning: [`Self::events`] was called too rarely.
    ///
    /// # Errors
    /// If the kernel does not return it.
    pub fn lost_events(&self) -> Result<u64, Error> {
        let bytes = self.lost_events.lookup(&[0; 4], MapFlags::ANY).map_err(refused)?;
        let count = bytes.and_then(|bytes| bytes.first_chunk().copied());
        Ok(u64::from_ne_bytes(count.expect("an array has all its entries")))
    }
}

/// Lock a mutex. The data of a thread that panicked is still in order.
fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Compile and load the programs.
fn open(cancel: &AtomicBool) -> Result<Object, Error> {
    let object = compiled(cancel)?;
    let opened = ObjectBuilder::default()
        .name("dumbbell_watch")
        .and_then(|builder| builder.open_memory(object));
    opened.and_then(libbpf_rs::OpenObject::load).map_err(refused)
}

/// The programs, compiled once for each process.
fn compiled(cancel: &AtomicBool) -> Result<&'static [u8], Error> {
    static COMPILED: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(object) = COMPILED.get() {
        return Ok(object);
    }
    let object = Compiler::find()?.compile_text("watch.c", WATCH_C, cancel)?;
    Ok(COMPILED.get_or_init(|| object))
}

fn map(object: &Object, name: &str) -> Result<MapHandle, Error> {
    let map = object.maps().find(|map| map.name() == name).expect("a map of watch.c");
    MapHandle::try_from(&map).map_err(refused)
}

/// Collect the kernel's events in `events` whenever the ring is consumed.
fn listen(
    ring: &MapHandle,
    events: &Arc<Mutex<Vec<KernelEvent>>>,
) -> libbpf_rs::Result<RingBuffer<'static>> {
    let events = Arc::clone(events);
    let mut builder = RingBufferBuilder::new();
    builder.add(ring, move |bytes| {
        hold(&events).extend(KernelEvent::read(bytes));
        0
    })?;
    builder.build()
}

fn attach(object: &Object) -> Result<[Link; 3], Error> {
    let program =
        |name: &str| object.progs_mut().find(|program| program.name() == name).expect("a program");
    let cgroup = cgroup::open()?;
    let arrivals = program("watch_arrival").attach().map_err(refused)?;
    let states = program("watch_state").attach().map_err(refused)?;
    let sockets = program("watch_socket").attach_cgroup(cgroup.as_raw_fd()).map_err(refused)?;
    Ok([arrivals, states, sockets])
}

/// The cookie of the calling thread's namespace, which identifies it in BPF programs.
fn namespace_cookie() -> io::Result<u64> {
    let (any, mut cookie) = (UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?, 0u64);
    let mut bytes = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `bytes` bytes to `cookie`, which has as many.
    #[allow(unsafe_code)]
    let result = unsafe {
        libc::getsockopt(
            any.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut bytes,
        )
    };
    if result == 0 { Ok(cookie) } else { Err(io::Error::last_os_error()) }
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::Machine {
        what: "cannot watch the sockets of a run".into(),
        cause: error.to_string(),
        remedy: "root is needed, and Linux 5.19 or later with BTF: see dumbbell doctor".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_may_share_it() {
        const fn shared<T: Send + Sync>() {}
        shared::<Watch>();
    }
}
