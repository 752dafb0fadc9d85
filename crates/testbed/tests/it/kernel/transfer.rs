//! A transfer over a path, with an algorithm in the kernel.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::flows::Flows;
use super::path::Path;

const RECEIVER: ([u8; 4], u16) = ([10, 0, 0, 2], RECEIVER_PORT);
pub const RECEIVER_PORT: u16 = 4_242;
/// RTT of the empty path that TCP-BPF sets for each flow.
pub const BASE_RTT_US: u32 = 4_321;

/// Measurements of a sender.
pub struct Sent {
    /// Largest and smallest window, segments.
    pub cwnd_segs: (u32, u32),
    /// `struct cc_flow` of its socket, at the end.
    pub flow: Vec<u8>,
    pub bytes: u64,
    /// True if both ends agreed on ECN.
    pub ecn: bool,
}

/// Bit of `tcpi_options`.
const OPTION_ECN: u8 = 8;

/// Length of a sender's pause, once all its data is acknowledged.
pub const PAUSE: Duration = Duration::from_millis(300);

/// Send for some time, and a little more after a pause. The receiver's end has the algorithm, too.
/// Otherwise Linux grants no ECN to an algorithm that needs it.
pub fn send(path: &Path, kernel_name: &str, flows: &Flows, duration: Duration) -> Sent {
    let listener = path.receiver.run(|| TcpListener::bind(SocketAddr::from(RECEIVER)).unwrap());
    SockRef::from(&listener).set_tcp_congestion(kernel_name.as_bytes()).unwrap();
    thread::scope(|scope| {
        let received = scope.spawn(|| receive(&listener));
        let socket = connect(path, kernel_name, flows);
        let mut sent = Sent { cwnd_segs: (0, u32::MAX), flow: vec![], bytes: 0, ecn: false };
        let end = Instant::now() + duration;
        while Instant::now() < end {
            sent.turn(&socket, 40);
        }
        while queued_bytes(&socket) > 0 {
            thread::sleep(Duration::from_millis(10));
        }
        thread::sleep(PAUSE);
        sent.turn(&socket, 1);
        sent.flow = flows.of(socket.as_fd());
        socket.shutdown(Shutdown::Write).unwrap();
        let arrived = received.join().unwrap();
        assert_eq!(arrived, sent.bytes, "all that was sent arrived");
        sent
    })
}

impl Sent {
    fn turn(&mut self, mut socket: &TcpStream, blocks: u32) {
        let block = [0; 65_536];
        for _ in 0..blocks {
            socket.write_all(&block).unwrap();
            self.bytes += block.len() as u64;
            let info = tcp_info(socket);
            self.ecn = info.tcpi_options & OPTION_ECN != 0;
            let cwnd = info.tcpi_snd_cwnd;
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
    flows.keep(socket.as_fd(), BASE_RTT_US);
    socket.connect(&SocketAddr::from(RECEIVER).into()).unwrap();
    socket.into()
}

/// Bytes that are not acknowledged, sent or not.
fn queued_bytes(socket: &TcpStream) -> libc::c_int {
    let mut bytes = 0;
    // SAFETY: this request writes one number.
    let answer = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    assert_eq!(answer, 0);
    bytes
}

fn tcp_info(socket: &TcpStream) -> libc::tcp_info {
    // SAFETY: tcp_info is plain numbers, filled in up to `length` by the kernel.
    unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        let answer = libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        );
        assert_eq!(answer, 0);
        info
    }
}
