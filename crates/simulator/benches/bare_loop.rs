//! The yardstick: a loop that does only the work which no simulator of this can avoid.
//!
//! One bulk flow crosses one bottleneck. For each data packet, the loop decides whether the
//! drop-tail queue has room, when the packet departs, and whether it is lost at random. For each
//! ACK, it decides when it arrives, what the window becomes (one indirect call), and which packets
//! to send. There are no retransmissions, sequence numbers, samples or other events. The time of a
//! real simulator is reported as a multiple of this.

use std::collections::VecDeque;
use std::hint::black_box;

use cpu_time::ThreadTime;

const SERIALISATION_NS: u64 = 48_000; // 1500 bytes at 250 Mbit/s
const RTT_NS: u64 = 162_000_000;
const QUEUE_PACKETS: usize = 675;
const LOSS: f64 = 1e-6;

/// Run the loop with one ACK for every `PER_ACK` packets until `goal` packets were acknowledged;
/// return nanoseconds per packet.
pub fn ns_per_packet<const PER_ACK: u32>(goal: u64) -> f64 {
    let mut path = Loop::<PER_ACK>::new(black_box(aimd as Law));
    let begin = ThreadTime::now();
    path.run(black_box(goal));
    let elapsed = begin.elapsed();
    path.check(goal);
    elapsed.as_nanos() as f64 / path.acknowledged() as f64
}

/// A window law. Its input is the number of packets that an ACK covers, and whether some were lost.
type Law = fn(&mut Window, acked: u32, lost: bool);

struct Window {
    packets: u32,
    credit: u32,
    threshold: u32,
}

fn aimd(window: &mut Window, acked: u32, lost: bool) {
    if lost {
        window.packets = (window.packets / 2).max(2);
        window.threshold = window.packets;
        window.credit = 0;
    } else if window.packets < window.threshold {
        window.packets += acked;
    } else {
        window.credit += acked;
        if window.credit >= window.packets {
            window.credit -= window.packets;
            window.packets += 1;
        }
    }
}

/// Times in order, with numbers that are never used again.
struct Ring {
    times: Box<[u64]>,
    head: usize,
    tail: usize,
}

impl Ring {
    fn new(at_least: usize) -> Self {
        let size = at_least.next_power_of_two();
        Self { times: vec![0; size].into_boxed_slice(), head: 0, tail: 0 }
    }

    fn push(&mut self, time: u64) {
        let slot = self.tail & (self.times.len() - 1);
        self.times[slot] = time;
        self.tail += 1;
    }

    fn first(&self) -> u64 {
        self.times[self.head & (self.times.len() - 1)]
    }

    fn len(&self) -> usize {
        self.tail - self.head
    }
}

struct Loop<const PER_ACK: u32> {
    law: Law,
    window: Window,
    in_flight: u32,
    sent: u64,
    dropped: u64,
    lost: u64,
    /// Departures of the packets in the queue, and the time when the last one departs.
    departures: Ring,
    busy_until: u64,
    /// Arrivals of ACKs, and packets delivered since the last ACK.
    acks: Ring,
    unacknowledged: u32,
    /// Packets missing before an ACK: the ACK's number, their number, and the packets sent by then.
    missing: VecDeque<(usize, u32, u64)>,
    next_missing: usize,
    missing_now: u32,
    /// Losses among the packets sent up to this number belong to one congestion event.
    recovery_ends: u64,
    until_loss: u64,
    random: u64,
}

impl<const PER_ACK: u32> Loop<PER_ACK> {
    fn new(law: Law) -> Self {
        // Twice the path's capacity, since slow start overshoots.
        let capacity = 2 * ((RTT_NS / SERIALISATION_NS) as usize + QUEUE_PACKETS);
        let mut path = Self {
            law,
            window: Window { packets: 10, credit: 0, threshold: u32::MAX },
            in_flight: 0,
            sent: 0,
            dropped: 0,
            lost: 0,
            departures: Ring::new(QUEUE_PACKETS + 2),
            busy_until: 0,
            acks: Ring::new(capacity),
            unacknowledged: 0,
            missing: VecDeque::new(),
            next_missing: usize::MAX,
            missing_now: 0,
            recovery_ends: 0,
            until_loss: 0,
            random: 0x9E37_79B9_7F4A_7C15, // a small seed would begin with small numbers
        };
        path.until_loss = path.packets_to_next_loss();
        path
    }

    fn run(&mut self, goal: u64) {
        self.fill_window(0);
        while self.acknowledged() < goal {
            assert!(self.acks.len() > 0, "a window of at least two packets was lost as a whole");
            let now = self.acks.first();
            let lost = self.acks.head == self.next_missing && self.notice_missing();
            self.acks.head += 1;
            self.in_flight -= PER_ACK;
            (self.law)(&mut self.window, PER_ACK, lost);
            self.fill_window(now);
        }
    }

    fn fill_window(&mut self, now: u64) {
        while self.in_flight < self.window.packets {
            self.in_flight += 1;
            self.sent += 1;
            self.send(now);
        }
    }

    fn send(&mut self, now: u64) {
        while self.departures.len() > 0 && self.departures.first() <= now {
            self.departures.head += 1;
        }
        // One packet is being sent, the others wait.
        if self.departures.len() > QUEUE_PACKETS {
            self.dropped += 1;
            return self.miss();
        }
        self.busy_until = self.busy_until.max(now) + SERIALISATION_NS;
        self.departures.push(self.busy_until);
        self.until_loss -= 1;
        if self.until_loss == 0 {
            self.until_loss = self.packets_to_next_loss();
            self.lost += 1;
            return self.miss();
        }
        self.unacknowledged += 1;
        if self.unacknowledged == PER_ACK {
            self.unacknowledged = 0;
            self.acks.push(self.busy_until + RTT_NS);
        }
    }

    /// Lose a packet. The next ACK reports it.
    #[cold]
    fn miss(&mut self) {
        match self.missing.back_mut() {
            Some((ack, count, sent)) if *ack == self.acks.tail => {
                (*count, *sent) = (*count + 1, self.sent);
            }
            _ => self.missing.push_back((self.acks.tail, 1, self.sent)),
        }
        self.next_missing = self.missing[0].0;
        self.missing_now += 1;
    }

    /// Take the packets missing before this ACK out of flight; return whether they make a new
    /// congestion event.
    #[cold]
    fn notice_missing(&mut self) -> bool {
        let (_, count, sent) = self.missing.pop_front().expect("what next_missing announced");
        self.next_missing = self.missing.front().map_or(usize::MAX, |&(ack, ..)| ack);
        self.in_flight -= count;
        self.missing_now -= count;
        let new = sent > self.recovery_ends;
        if new {
            self.recovery_ends = self.sent;
        }
        new
    }

    /// Draw the number of packets up to and including the next one lost.
    #[cold]
    fn packets_to_next_loss(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let uniform = ((self.random >> 11) + 1) as f64 / (1u64 << 53) as f64;
        1 + (uniform.ln() / (1.0 - LOSS).ln()) as u64
    }

    fn acknowledged(&self) -> u64 {
        self.acks.head as u64 * u64::from(PER_ACK)
    }

    /// Check that every packet is accounted for, and that no more arrived than the link can carry.
    fn check(&self, goal: u64) {
        let on_the_way = self.acks.len() as u64 * u64::from(PER_ACK);
        let undropped = self.acknowledged() + on_the_way + u64::from(self.unacknowledged);
        assert_eq!(self.sent, undropped + self.dropped + self.lost, "packets are conserved");
        assert_eq!(
            u64::from(self.in_flight),
            on_the_way + u64::from(self.unacknowledged + self.missing_now),
            "the sender knows what is in flight"
        );
        assert!(self.acknowledged() >= goal, "as many packets as wanted");
        assert!(self.busy_until >= self.acknowledged() * SERIALISATION_NS, "within the rate");
        assert!(self.lost > 0 && self.dropped > 0, "both kinds of loss occur");
        assert!(self.acks.len() <= self.acks.times.len(), "ACKs fit their ring");
    }
}
