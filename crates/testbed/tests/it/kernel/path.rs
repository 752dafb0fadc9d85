//! A lossy path between two hosts, with enough trouble to reach every hook of an algorithm.

use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dumbbell_testbed::{Namespace, Tun};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

const DELAY: Duration = Duration::from_millis(2);
/// Most packets of a host that wait or travel. Packets beyond that are dropped.
const CAPACITY: usize = 400;
/// One packet in so many is dropped, and one comes late, which looks like a loss.
const DROPPED: u64 = 400;
const LATE: u64 = 1_500;
const LATENESS: Duration = Duration::from_millis(6);
/// Interval of pauses in which nothing arrives. A sender takes all its data for lost. After every
/// other pause the data arrives after all.
const PAUSE_EVERY: Duration = Duration::from_millis(1_500);
const PAUSE: Duration = Duration::from_millis(300);

/// Two hosts and the thread that carries packets between them.
pub struct Path {
    pub sender: Namespace,
    pub receiver: Namespace,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Path {
    pub fn new() -> Self {
        let (sender, receiver) = (Namespace::new().unwrap(), Namespace::new().unwrap());
        let devices = [device(&sender, "10.0.0.1"), device(&receiver, "10.0.0.2")];
        let ends = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&ends);
        let thread = thread::spawn(move || forward(&devices, &stop));
        Self { sender, receiver, ends, thread: Some(thread) }
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn device(namespace: &Namespace, address: &str) -> Tun {
    namespace.run(|| {
        let device = Tun::new("tun0", false).expect("a TUN device");
        device.set_up(address.parse().unwrap(), 1_500, 500).unwrap();
        device
    })
}

/// A travelling packet, and the time of its arrival.
struct Travelling {
    due: Instant,
    bytes: Vec<u8>,
}

fn forward(devices: &[Tun; 2], ends: &AtomicBool) {
    let mut lines = [VecDeque::<Travelling>::new(), VecDeque::new()];
    let mut random = 88_172_645_463_325_252_u64;
    let begin = Instant::now();
    while !ends.load(Ordering::Relaxed) {
        let mut ready =
            devices.each_ref().map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN));
        poll(&mut ready, PollTimeout::from(1_u8)).unwrap();
        for (from, line) in lines.iter_mut().enumerate() {
            let mut buffer = [0; 2_048];
            while let Ok(length) = devices[from].receive(&mut buffer) {
                // Only data is disturbed. Acknowledgements are short.
                let troubled = length > 200;
                if let Some(due) = arrival_of(&mut random, begin.elapsed(), line.len(), troubled) {
                    insert(line, Travelling { due, bytes: buffer[..length].to_vec() });
                }
            }
            while line.front().is_some_and(|packet| packet.due <= Instant::now()) {
                let packet = line.pop_front().unwrap();
                let _ = devices[1 - from].send(&packet.bytes);
            }
        }
    }
}

/// Time of a packet's arrival; none: it is dropped.
fn arrival_of(random: &mut u64, age: Duration, waiting: usize, troubled: bool) -> Option<Instant> {
    let due = Instant::now() + DELAY;
    if waiting >= CAPACITY {
        return None;
    }
    if !troubled {
        return Some(due);
    }
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let nth_pause = age.as_micros() / PAUSE_EVERY.as_micros();
    let into_pause = Duration::from_micros((age.as_micros() % PAUSE_EVERY.as_micros()) as u64);
    if nth_pause > 0 && into_pause < PAUSE {
        return (nth_pause % 2 == 0).then(|| due + (PAUSE - into_pause));
    }
    match *random {
        number if number % DROPPED == 0 => None,
        number if number % LATE == 0 => Some(due + LATENESS),
        _ => Some(due),
    }
}

/// Insert a packet in the order of arrival.
fn insert(line: &mut VecDeque<Travelling>, packet: Travelling) {
    let at = line.partition_point(|other| other.due <= packet.due);
    line.insert(at, packet);
}
