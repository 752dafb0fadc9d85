//! Socket storage of `struct cc_flow`, as in a run, and the features that the kernel offers.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use dumbbell_testbed::NEVER;
use dumbbell_testbed::kernel::Compiler;
use libbpf_rs::{MapCore as _, MapFlags, MapHandle, Object, ObjectBuilder};

pub fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        eprintln!("not run: only root can register algorithms in the kernel");
    }
    root
}

/// The congestion controls that sockets can choose.
pub fn available() -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    fs::read_to_string(path).unwrap().split_whitespace().map(str::to_owned).collect()
}

pub struct Flows {
    map: MapHandle,
    _object: Object,
}

impl Flows {
    pub fn new() -> Self {
        // adapter.h defines the map; no algorithm is needed for it.
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("flows.c");
        fs::write(&source, "char cc_license[] CC_SECTION(\"license\") = \"GPL\";\n").unwrap();
        let bytes = Compiler::find().unwrap().compile(&source, "flows.c", &NEVER).unwrap();
        let object = ObjectBuilder::default().open_memory(&bytes).unwrap().load().unwrap();
        let map = object.maps().find(|map| map.name() == "cc_flows").unwrap();
        Self { map: MapHandle::try_from(&map).unwrap(), _object: object }
    }

    pub fn map(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }

    pub fn keep(&self, socket: BorrowedFd<'_>, base_rtt_us: u32) {
        let mut flow = vec![0; self.map.value_size() as usize];
        flow[BASE_RTT_AT..BASE_RTT_AT + 4].copy_from_slice(&base_rtt_us.to_ne_bytes());
        self.map.update(&key(socket), &flow, MapFlags::ANY).unwrap();
    }

    pub fn of(&self, socket: BorrowedFd<'_>) -> Vec<u8> {
        self.map.lookup(&key(socket), MapFlags::ANY).unwrap().expect("a flow that is kept")
    }
}

/// Offset of `base_rtt_us` in `struct cc_flow`.
const BASE_RTT_AT: usize = 36;

fn key(socket: BorrowedFd<'_>) -> [u8; 4] {
    socket.as_raw_fd().to_ne_bytes()
}
