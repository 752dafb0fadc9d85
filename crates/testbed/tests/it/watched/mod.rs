//! A path between two hosts for tests: every packet arrives after a fixed delay, unless the test
//! drops or delays it.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dumbbell_testbed::{Namespace, Tun};
use socket2::{Domain, Protocol, Socket, Type};

pub const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// Two hosts and the path between them.
pub struct Path {
    pub sender: Namespace,
    pub receiver: Namespace,
    pub faults: Arc<Faults>,
    stop: Arc<AtomicBool>,
    forwarder: Option<JoinHandle<()>>,
}

/// Faults of the next data packets.
#[derive(Default)]
pub struct Faults {
    /// Number of packets to lose.
    pub drop_next: AtomicU32,
    /// Delay of the next packet and all that follow, in ms.
    pub hold_ms: AtomicU32,
    /// One in so many packets is lost; 0: none.
    pub drop_every: AtomicU32,
    /// Number of packets to delay behind all packets sent within this many ms after them.
    pub overtaken: AtomicU32,
    pub overtaken_ms: AtomicU32,
    /// Number of ECN-capable packets to mark.
    pub mark_next: AtomicU32,
}

impl Path {
    /// A path with this delay in each direction.
    pub fn new(delay: Duration) -> Self {
        let (sender, receiver) = (Namespace::new().unwrap(), Namespace::new().unwrap());
        let devices = [device(&sender, SENDER), device(&receiver, RECEIVER)];
        let (faults, stop) = (Arc::<Faults>::default(), Arc::<AtomicBool>::default());
        let (its_faults, its_stop) = (Arc::clone(&faults), Arc::clone(&stop));
        let forwarder = thread::spawn(move || forward(&devices, delay, &its_faults, &its_stop));
        Self { sender, receiver, faults, stop, forwarder: Some(forwarder) }
    }

    /// A listener on the receiver.
    pub fn listen(&self, port: u16) -> Socket {
        self.receiver.run(|| {
            let socket = new_socket();
            socket.bind(&SocketAddrV4::new(RECEIVER, port).into()).unwrap();
            socket.listen(8).unwrap();
            socket
        })
    }

    /// Connect a port of the sender to the same port of the receiver, with CUBIC; return both ends.
    pub fn connect(&self, port: u16) -> (Socket, Socket) {
        let listener = self.listen(port);
        let socket = self.sender.run(|| {
            let socket = new_socket();
            socket.set_tcp_congestion(b"cubic").unwrap();
            socket.bind(&SocketAddrV4::new(SENDER, port).into()).unwrap();
            socket.connect(&SocketAddrV4::new(RECEIVER, port).into()).unwrap();
            socket
        });
        (socket, listener.accept().unwrap().0)
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(forwarder) = self.forwarder.take() {
            forwarder.join().unwrap();
        }
    }
}

/// Send data for a while, which the other end reads, and call `look` all the time. Return the bytes
/// that arrived.
pub fn bulk(ends: &(Socket, Socket), time: Duration, mut look: impl FnMut()) -> u64 {
    let (sender, receiver) = ends;
    sender.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    receiver.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reading = scope.spawn(|| read_all(receiver, &done));
        let end = Instant::now() + time;
        while Instant::now() < end {
            // Full buffers are no error.
            let _ = sender.send(&[0; 16_384]);
            look();
        }
        done.store(true, Relaxed);
        reading.join().unwrap()
    })
}

fn read_all(socket: &Socket, done: &AtomicBool) -> u64 {
    use std::io::Read;
    let (mut buffer, mut total, mut socket) = (vec![0; 1 << 18], 0, socket);
    while !done.load(Relaxed) {
        total += socket.read(&mut buffer).unwrap_or(0) as u64;
    }
    total
}

/// Read the kernel's TCP_INFO of a connection.
pub fn tcp_info(socket: &Socket) -> libc::tcp_info {
    // SAFETY: a table of numbers may be zeros, and the kernel writes at most its size.
    unsafe {
        let mut info: libc::tcp_info = std::mem::zeroed();
        let mut bytes = size_of::<libc::tcp_info>() as libc::socklen_t;
        let place = (&raw mut info).cast();
        let descriptor = socket.as_raw_fd();
        let (level, option) = (libc::IPPROTO_TCP, libc::TCP_INFO);
        let result = libc::getsockopt(descriptor, level, option, place, &raw mut bytes);
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
        info
    }
}

fn new_socket() -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket
}

fn device(namespace: &Namespace, address: Ipv4Addr) -> Tun {
    namespace.run(|| {
        let device = Tun::new("tun0", false).unwrap();
        device.set_up(address, 1_500, 20_000).unwrap();
        device
    })
}

struct Waiting {
    due: Instant,
    packet: Vec<u8>,
}

fn forward(devices: &[Tun; 2], delay: Duration, faults: &Faults, stop: &AtomicBool) {
    let mut lines = [VecDeque::<Waiting>::new(), VecDeque::new()];
    let (mut buffer, mut number) = (vec![0; 2_048], 0);
    while !stop.load(Relaxed) {
        let mut idle = true;
        for (from, line) in lines.iter_mut().enumerate() {
            if let Some(bytes) = received(devices[from].receive(&mut buffer)) {
                idle = false;
                let now = Instant::now();
                let is_data = from == 0 && carries_data(&buffer[..bytes]);
                number += u32::from(is_data);
                if !is_data || !faults.drop(number) {
                    if is_data {
                        faults.mark(&mut buffer);
                    }
                    let late = if is_data { faults.late() } else { Duration::ZERO };
                    insert(
                        line,
                        Waiting { due: now + delay + late, packet: buffer[..bytes].into() },
                    );
                }
            }
            if line.front().is_some_and(|head| head.due <= Instant::now()) {
                idle = false;
                let head = line.pop_front().unwrap();
                devices[1 - from].send(&head.packet).unwrap();
            }
        }
        if idle {
            thread::sleep(Duration::from_micros(50));
        }
    }
}

/// Return true if a packet is IPv4 and TCP and has payload, even one byte. If all else is lost, its
/// acknowledgement reports a hole to the sender.
///
/// Hosts also send IPv6 of their own, such as router solicitations, at random times.
fn carries_data(packet: &[u8]) -> bool {
    let (is_ipv4, is_tcp) = (packet[0] >> 4 == 4, packet[9] == 6);
    if !(is_ipv4 && is_tcp) {
        return false;
    }
    let network = usize::from(packet[0] & 15) * 4;
    let transport = usize::from(packet[network + 12] >> 4) * 4;
    packet.len() > network + transport
}

fn insert(line: &mut VecDeque<Waiting>, waiting: Waiting) {
    let place = line.partition_point(|other| other.due <= waiting.due);
    line.insert(place, waiting);
}

fn received(result: io::Result<usize>) -> Option<usize> {
    match result {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        Err(error) => panic!("{error}"),
    }
}

impl Faults {
    fn drop(&self, number: u32) -> bool {
        let take = |left: u32| left.checked_sub(1);
        let every = self.drop_every.load(Relaxed);
        (every > 0 && number % every == 0)
            || self.drop_next.fetch_update(Relaxed, Relaxed, take).is_ok()
    }

    /// Change ECT(0) to CE in an IPv4 header. Its checksum falls by the same amount.
    fn mark(&self, packet: &mut [u8]) {
        let take = |left: u32| left.checked_sub(1);
        if packet[1] & 3 == 2 && self.mark_next.fetch_update(Relaxed, Relaxed, take).is_ok() {
            packet[1] |= 3;
            let sum = u16::from_be_bytes([packet[10], packet[11]]);
            let sum = sum.checked_sub(1).unwrap_or(u16::MAX - 1);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
    }

    fn late(&self) -> Duration {
        let take = |left: u32| left.checked_sub(1);
        let ms = if self.overtaken.fetch_update(Relaxed, Relaxed, take).is_ok() {
            self.overtaken_ms.load(Relaxed)
        } else {
            self.hold_ms.load(Relaxed)
        };
        Duration::from_millis(ms.into())
    }
}
