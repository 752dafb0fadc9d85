//! Two hosts and a path between them, with a rate, a queue and a delay.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dumbbell_testbed::{Namespace, Tun};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

/// Properties of a path for packets from the senders' host.
#[derive(Clone, Copy)]
pub struct Conditions {
    /// Rate at the IP layer; none: no limit.
    pub rate_bps: Option<u64>,
    /// Size of its queue.
    pub queue_bytes: usize,
    /// One-way delay, in both directions.
    pub delay: Duration,
}

/// A path without limits.
pub const FREE: Conditions =
    Conditions { rate_bps: None, queue_bytes: usize::MAX, delay: Duration::ZERO };

/// Two connected hosts.
pub struct Path {
    pub senders: Namespace,
    pub receivers: Namespace,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Path {
    pub fn new(conditions: Conditions) -> Self {
        let (senders, sending) = host("10.0.0.1");
        let (receivers, receiving) = host("10.0.0.2");
        let stop = Arc::new(AtomicBool::new(false));
        let back = Conditions { rate_bps: None, ..conditions };
        let ways = [(&sending, &receiving, conditions), (&receiving, &sending, back)];
        let threads = ways.map(|(from, to, conditions)| {
            let (from, to, stop) = (Arc::clone(from), Arc::clone(to), Arc::clone(&stop));
            std::thread::spawn(move || forward(&from, &to, conditions, &stop))
        });
        Self { senders, receivers, stop, threads: threads.into() }
    }

    /// Both hosts, the senders' first.
    pub fn hosts(&self) -> [&Namespace; 2] {
        [&self.senders, &self.receivers]
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().unwrap());
    }
}

/// A namespace with a TUN device.
pub fn host(address: &str) -> (Namespace, Arc<Tun>) {
    let namespace = Namespace::new().unwrap();
    let device = namespace.run(|| {
        let device = Tun::new("dumbbell", false).unwrap();
        device.set_up(address.parse().unwrap(), 1_500, 100_000).unwrap();
        // The receiver's window must not be the limit.
        std::fs::write("/proc/sys/net/ipv4/tcp_rmem", "4096 8000000 16000000").unwrap();
        device
    });
    (namespace, Arc::new(device))
}

fn forward(from: &Tun, to: &Tun, conditions: Conditions, stop: &AtomicBool) {
    let mut under_way: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let mut free_at = Instant::now();
    let mut buffer = [0; 65_536];
    while !stop.load(Ordering::Relaxed) {
        wait(from.as_fd(), under_way.front().map(|(due, _)| *due));
        while let Ok(bytes) = from.receive(&mut buffer) {
            let now = Instant::now();
            if let Some(rate) = conditions.rate_bps {
                let waiting = free_at.saturating_duration_since(now).as_secs_f64();
                if waiting * rate as f64 / 8.0 > conditions.queue_bytes as f64 {
                    continue;
                }
                free_at =
                    free_at.max(now) + Duration::from_secs_f64(8.0 * bytes as f64 / rate as f64);
            } else {
                free_at = now;
            }
            under_way.push_back((free_at + conditions.delay, buffer[..bytes].to_vec()));
        }
        while let Some((due, packet)) = under_way.front()
            && *due <= Instant::now()
        {
            to.send(packet).unwrap();
            under_way.pop_front();
        }
    }
}

fn wait(device: BorrowedFd<'_>, until: Option<Instant>) {
    let longest = Duration::from_millis(20);
    let wait =
        until.map_or(longest, |until| until.saturating_duration_since(Instant::now()).min(longest));
    let mut fds = [PollFd::new(device.as_fd(), PollFlags::POLLIN)];
    ppoll(&mut fds, Some(TimeSpec::from_duration(wait)), None).unwrap();
}
