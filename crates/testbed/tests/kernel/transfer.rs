//! A transfer over a path, under an algorithm in the kernel.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use dumbbell_testbed::kernel::Compiler;
use libbpf_rs::{MapCore as _, MapFlags, MapHandle, Object, ObjectBuilder};
use socket2::{Domain, Protocol, Socket, Type};

use crate::path::Path;

const RECEIVER: ([u8; 4], u16) = ([10, 0, 0, 2], 4_242);

/// What a sender saw.
pub struct Sent {
    /// Largest and smallest window, segments.
    pub cwnd_segs: (u32, u32),
    /// `struct cc_flow` of its socket, at the end.
    pub flow: Vec<u8>,
    pub bytes: u64,
}

/// Sends for some time, in turns long enough to leave the connection idle now and then.
pub fn send(path: &Path, kernel_name: &str, flows: &Flows, duration: Duration) -> Sent {
    let listener = path.receiver.run(|| TcpListener::bind(SocketAddr::from(RECEIVER)).unwrap());
    std::thread::scope(|scope| {
        let received = scope.spawn(|| receive(&listener));
        let socket = connect(path, kernel_name, flows);
        let mut sent = Sent { cwnd_segs: (0, u32::MAX), flow: vec![], bytes: 0 };
        let end = Instant::now() + duration;
        while Instant::now() < end {
            sent.turn(&socket);
        }
        sent.flow = flows.of(socket.as_fd());
        socket.shutdown(Shutdown::Write).unwrap();
        let arrived = received.join().unwrap();
        assert_eq!(arrived, sent.bytes, "all that was sent arrived");
        sent
    })
}

impl Sent {
    fn turn(&mut self, mut socket: &TcpStream) {
        let block = [0; 65_536];
        for _ in 0..40 {
            socket.write_all(&block).unwrap();
            self.bytes += block.len() as u64;
            let cwnd = cwnd_segs(socket);
            self.cwnd_segs = (self.cwnd_segs.0.max(cwnd), self.cwnd_segs.1.min(cwnd));
        }
    }
}

fn receive(listener: &TcpListener) -> u64 {
    let (mut socket, _) = listener.accept().unwrap();
    let (mut total, mut block) = (0, vec![0; 1 << 18]);
    loop {
        match socket.read(&mut block).unwrap() {
            0 => return total,
            length => total += length as u64,
        }
    }
}

fn connect(path: &Path, kernel_name: &str, flows: &Flows) -> TcpStream {
    let socket = path.sender.run(|| Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)));
    let socket = socket.unwrap();
    socket.set_tcp_congestion(kernel_name.as_bytes()).unwrap();
    flows.keep(socket.as_fd());
    socket.connect(&SocketAddr::from(RECEIVER).into()).unwrap();
    socket.into()
}

fn cwnd_segs(socket: &TcpStream) -> u32 {
    // SAFETY: tcp_info is plain numbers, filled in up to `length` by the kernel.
    unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(socket);
        let answer = libc::getsockopt(
            descriptor,
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        );
        assert_eq!(answer, 0);
        info.tcpi_snd_cwnd
    }
}

/// Socket storage of `struct cc_flow`, as a run has it.
pub struct Flows {
    map: MapHandle,
    _object: Object,
}

impl Flows {
    pub fn new() -> Self {
        // adapter.h defines the map; no algorithm is needed for it.
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("flows.c");
        std::fs::write(&source, "char cc_license[] CC_SECTION(\"license\") = \"GPL\";\n").unwrap();
        let bytes = Compiler::find().unwrap().compile(&source, "flows.c").unwrap();
        let object = ObjectBuilder::default().open_memory(&bytes).unwrap().load().unwrap();
        let map = object.maps().find(|map| map.name() == "cc_flows").unwrap();
        Self { map: MapHandle::try_from(&map).unwrap(), _object: object }
    }

    pub fn map(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }

    fn keep(&self, socket: BorrowedFd<'_>) {
        let flow = vec![0; self.map.value_size() as usize];
        self.map.update(&key(socket), &flow, MapFlags::ANY).unwrap();
    }

    fn of(&self, socket: BorrowedFd<'_>) -> Vec<u8> {
        self.map.lookup(&key(socket), MapFlags::ANY).unwrap().expect("a flow that is kept")
    }
}

fn key(socket: BorrowedFd<'_>) -> [u8; 4] {
    std::os::fd::AsRawFd::as_raw_fd(&socket).to_ne_bytes()
}
