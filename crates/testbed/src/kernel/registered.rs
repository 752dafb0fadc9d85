//! A congestion control in the kernel.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dumbbell_algorithm::StartChoice;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, MapImpl, OpenMapMut, OpenObject, RingBuffer,
    RingBufferBuilder,
};

use super::complaint;
use super::messages;
use super::object::Object;
use super::record::{Record, Records};
use crate::error::Error;

/// Most characters of a name in the kernel.
const NAME_MAX: usize = 15;
/// Offset of slow start and parameters in `struct cc_settings`, after its three switches.
const START_AT: usize = 12;
const PARAMS_AT: usize = START_AT + size_of::<StartChoice>();
/// Bytes of the ring: room for 19,000 callbacks.
const RING_BYTES: u32 = 8 << 20;
/// Interval at which the ring is read. It is full after 190 ms at 100,000 callbacks per second.
const DRAIN_INTERVAL: Duration = Duration::from_millis(10);

/// Data that the adapters keep of each call of a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Connection and state, in the socket's `struct cc_flow`.
    pub state: bool,
    /// The whole call, as a [`Record`].
    pub callbacks: bool,
}

/// Functions of the stack that the adapters replace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfStack {
    /// The slow start for the algorithm.
    pub start: Option<StartChoice>,
    /// True if both ends count marks (RFC 9768), whatever the kernel lets them negotiate.
    pub counts_marks: bool,
}

impl From<Option<StartChoice>> for OfStack {
    fn from(start: Option<StartChoice>) -> Self {
        Self { start, counts_marks: false }
    }
}

/// An algorithm that sockets of this machine can choose, until this is dropped or the process ends.
/// Connections that use it keep it until they end.
pub struct Registered {
    name: String,
    // Fields are dropped in this order. After the link no new socket can choose the algorithm.
    _link: Link,
    recorder: Option<Recorder>,
    _object: libbpf_rs::Object,
}

impl fmt::Debug for Registered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Registered({})", self.name)
    }
}

impl Registered {
    /// Register an algorithm under a new name. `values` are those of its parameters in their order
    /// (none: the defaults of the source), `of_stack` is the stack's part, and `flows` the run's
    /// map of `struct cc_flow`.
    ///
    /// # Errors
    /// If the verifier rejects it, or the kernel cannot register it.
    pub fn new(
        object: &Object,
        values: &[u32],
        of_stack: OfStack,
        flows: BorrowedFd<'_>,
        keep: Keep,
    ) -> Result<Self, Error> {
        let settings = Settings { values, of_stack, keep };
        Self::named(new_name(&object.name), object, settings, flows)
    }

    fn named(
        name: String,
        object: &Object,
        settings: Settings<'_>,
        flows: BorrowedFd<'_>,
    ) -> Result<Self, Error> {
        let load = || {
            let mut open = libbpf_rs::ObjectBuilder::default().open_memory(&object.bytes)?;
            prepare(&mut open, &name, settings, flows)?;
            open.load()
        };
        let (loaded, log) = messages::of(load);
        let mut loaded = loaded.map_err(|error| {
            complaint::of_verifier(&object.name, &object.file, &log)
                .unwrap_or_else(|| refused(&object.name, &error, &log))
        })?;
        let (link, log) = messages::of(|| attach(&mut loaded));
        let link = link.map_err(|error| unregistered(&object.name, &name, &error, &log))?;
        let recorder = settings.keep.callbacks.then(|| Recorder::start(&loaded)).transpose();
        let recorder = recorder.map_err(|error| refused(&object.name, &error, ""))?;
        Ok(Self { name, _link: link, recorder, _object: loaded })
    }

    /// Its name for sockets (`TCP_CONGESTION`), unique on this machine.
    #[must_use]
    pub fn kernel_name(&self) -> &str {
        &self.name
    }

    /// Take the callbacks since the last call; none without [`Keep::callbacks`].
    ///
    /// # Errors
    /// If the kernel does not return them.
    pub fn records(&self) -> Result<Records, Error> {
        let Some(recorder) = &self.recorder else { return Ok(Records::default()) };
        recorder.take().map_err(|error| refused(&self.name, &error, ""))
    }
}

/// `db`, the process, a number within it, and as much of the algorithm's name as fits.
fn new_name(algorithm: &str) -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut name = format!("db{}_{}_{algorithm}", base_36(process::id()), base_36(number));
    name.truncate(NAME_MAX);
    name
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).expect("a digit of base 36"));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// Constants for the verifier (`struct cc_settings`).
#[derive(Clone, Copy)]
struct Settings<'a> {
    values: &'a [u32],
    of_stack: OfStack,
    keep: Keep,
}

/// Set everything that must be set before an object is loaded.
fn prepare(
    open: &mut OpenObject,
    name: &str,
    settings: Settings<'_>,
    flows: BorrowedFd<'_>,
) -> libbpf_rs::Result<()> {
    for mut map in open.maps_mut() {
        match map.name().to_string_lossy().as_ref() {
            "cc_ops" => write_at(&mut map, 0, name.as_bytes()),
            "cc_flows" => map.reuse_fd(flows)?,
            "cc_records" if settings.keep.callbacks => map.set_max_entries(RING_BYTES)?,
            "cc_records" => map.set_autocreate(false)?,
            ".rodata.dumbbell" => settings.write(&mut map),
            _ => {}
        }
    }
    Ok(())
}

impl Settings<'_> {
    fn write(&self, map: &mut OpenMapMut<'_>) {
        write_at(map, 0, &u32::from(self.keep.state).to_ne_bytes());
        write_at(map, 4, &u32::from(self.keep.callbacks).to_ne_bytes());
        write_at(map, 8, &u32::from(self.of_stack.counts_marks).to_ne_bytes());
        let start = self.of_stack.start.iter().flat_map(StartChoice::words);
        for (index, word) in start.enumerate() {
            write_at(map, START_AT + 4 * index, &word.to_ne_bytes());
        }
        write_parameters(map, self.values);
    }
}

/// Set the parameters of an object before it is loaded; `map` holds its `struct cc_settings`.
pub(super) fn write_parameters(map: &mut OpenMapMut<'_>, values: &[u32]) {
    for (index, value) in values.iter().enumerate() {
        write_at(map, PARAMS_AT + 4 * index, &value.to_ne_bytes());
    }
}

fn write_at(map: &mut OpenMapMut<'_>, offset: usize, bytes: &[u8]) {
    let memory = map.initial_value_mut().expect("a map with an initial value");
    memory[offset..offset + bytes.len()].copy_from_slice(bytes);
}

fn attach(object: &mut libbpf_rs::Object) -> libbpf_rs::Result<Link> {
    let map = object.maps_mut().find(|map| map.name() == "cc_ops");
    map.expect("adapter.h defines it").attach_struct_ops()
}

/// The error of an object that the verifier accepted and the kernel did not load.
pub(super) fn refused(algorithm: &str, error: &libbpf_rs::Error, log: &str) -> Error {
    let remedy = match error.kind() {
        ErrorKind::PermissionDenied => {
            "run as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN"
        }
        ErrorKind::OutOfMemory => "free memory, or raise the limit of the control group",
        _ => {
            "the kernel needs struct_ops and its own BTF (Linux 6.10 or later): see dumbbell doctor"
        }
    };
    Error::Machine {
        what: format!("cannot load '{algorithm}' into the kernel"),
        cause: with_first_line(error, log),
        remedy: remedy.into(),
    }
}

fn unregistered(algorithm: &str, name: &str, error: &libbpf_rs::Error, log: &str) -> Error {
    if error.kind() != ErrorKind::AlreadyExists {
        return refused(algorithm, error, log);
    }
    Error::Machine {
        what: format!("cannot register '{algorithm}' in the kernel"),
        cause: format!("there is a congestion control named '{name}' already"),
        remedy: "another Dumbbell may run in another container: wait for it to end, or try again"
            .into(),
    }
}

/// The system's message, with libbpf's first line if there is one.
fn with_first_line(error: &libbpf_rs::Error, log: &str) -> String {
    match log.lines().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("{error} ({})", line.trim_start_matches("libbpf: ")),
        None => error.to_string(),
    }
}

/// Takes records from the kernel before its ring is full.
struct Recorder {
    shared: Arc<Shared>,
    lost: libbpf_rs::MapHandle,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    ring: Mutex<RingBuffer<'static>>,
    records: Arc<Mutex<Vec<Record>>>,
    ends: AtomicBool,
}

impl Recorder {
    fn start(object: &libbpf_rs::Object) -> libbpf_rs::Result<Self> {
        let map = |name: &str| object.maps().find(|map: &MapImpl<'_>| map.name() == name);
        let lost = map(".bss.dumbbell").expect("adapter.h defines it");
        let ring = map("cc_records").expect("adapter.h defines it");
        let records = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&records);
        let mut builder = RingBufferBuilder::new();
        builder.add(&ring, move |bytes| {
            debug_assert_eq!(bytes.len(), Record::BYTES);
            lock(&sink).extend(Record::read(bytes));
            0
        })?;
        let ring = Mutex::new(builder.build()?);
        let shared = Arc::new(Shared { ring, records, ends: AtomicBool::new(false) });
        let drained = Arc::clone(&shared);
        let thread = thread::spawn(move || drained.drain_until_the_end());
        Ok(Self { shared, lost: libbpf_rs::MapHandle::try_from(&lost)?, thread: Some(thread) })
    }

    fn take(&self) -> libbpf_rs::Result<Records> {
        lock(&self.shared.ring).consume()?;
        let lost = self.lost.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY)?.unwrap_or_default();
        let lost = lost.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        Ok(Records { records: std::mem::take(&mut *lock(&self.shared.records)), lost })
    }
}

impl Shared {
    fn drain_until_the_end(&self) {
        while !self.ends.load(Ordering::Relaxed) {
            // An error here comes again when the records are requested.
            let _ = lock(&self.ring).consume();
            thread::sleep(DRAIN_INTERVAL);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NEVER;
    use crate::kernel::{Compiler, compile};
    use libbpf_rs::{MapHandle, ObjectBuilder};
    use std::fs;
    use std::os::fd::AsFd;

    #[test]
    fn names_are_short_and_of_one_process() {
        let names = [new_name("reno"), new_name("an_algorithm_with_a_long_name")];
        let process = format!("db{}_", base_36(process::id()));
        assert!(names.iter().all(|name| name.starts_with(&process) && name.len() <= NAME_MAX));
        assert_ne!(names[0], names[1]);
        assert_eq!((base_36(0), base_36(35), base_36(36)), ("0".into(), "z".into(), "10".into()));
    }

    fn flows() -> MapHandle {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("flows.c");
        fs::write(&source, "char cc_license[] CC_SECTION(\"license\") = \"GPL\";\n").unwrap();
        let bytes = Compiler::find().unwrap().compile(&source, "flows.c", &NEVER).unwrap();
        let object = ObjectBuilder::default().open_memory(&bytes).unwrap().load().unwrap();
        let map = object.maps().find(|map| map.name() == "cc_flows").unwrap();
        MapHandle::try_from(&map).unwrap()
    }

    #[test]
    fn a_name_in_use_is_reported_and_stays_with_its_owner() {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("not run: only root can register algorithms in the kernel");
            return;
        }
        let flows = flows();
        let reno = compile(dumbbell_algorithm::find("reno").unwrap(), &NEVER).unwrap();
        let settings =
            Settings { values: &[], of_stack: OfStack::default(), keep: Keep::default() };
        let register = |name: &str| Registered::named(name.into(), &reno, settings, flows.as_fd());
        let first = register("dbtaken").unwrap();
        let message = register("dbtaken").unwrap_err().to_string();
        assert!(
            message.contains("there is a congestion control named 'dbtaken' already"),
            "{message}"
        );
        drop(first);
        register("dbtaken").expect("a name that is free again");
    }
}
