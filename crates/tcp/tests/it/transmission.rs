//! Transmissions of a sender and their times, over a path of one queue without loss.

use std::collections::{BTreeMap, VecDeque};
use std::num::{NonZeroU32, NonZeroU64};

use crate::wire::{Segment, segments};
use dumbbell_algorithm::Instance;
use dumbbell_network::{Rate, Serializer, Span, Time};
use dumbbell_tcp::{
    Ack, Congestion, Handshake, Observer, PROFILES, Pacing, SackBlocks, Sender, SenderConfig,
    SlowStart, Stack,
};
use proptest::prelude::*;

struct Silent;

impl Observer for Silent {
    fn congestion(&mut self, _: Congestion) {}
    fn timeout(&mut self, _: u32, _: u32) {}
    fn recovered(&mut self, _: u32, _: u32) {}
}

const PACKET_BYTES: u32 = 1500;

fn linux() -> Stack {
    (PROFILES.iter().find(|profile| profile.name == "linux-6").expect("a profile").stack)()
}

fn rate(bits_per_s: u64) -> NonZeroU64 {
    NonZeroU64::new(bits_per_s).unwrap()
}

/// A sender and its path: host link, bottleneck and delay. Each segment is acknowledged.
struct Bench {
    sender: Sender,
    host: Option<Serializer>,
    bottleneck: Serializer,
    rtt: Span,
    acks: VecDeque<(Time, u64)>,
    now: Time,
    /// Transmission time of each segment.
    sent: Vec<Time>,
    /// By segment: true if it carries the end of a chunk.
    pushed: Vec<bool>,
    /// Longest wait before the bottleneck.
    queue_max: Span,
}

impl Bench {
    fn new(
        stack: &Stack,
        algorithm: &str,
        host_bps: Option<u64>,
        path_bps: u64,
        rtt: Span,
    ) -> Self {
        let config = SenderConfig {
            mss_bytes: 1448,
            packet_bytes: PACKET_BYTES,
            overhead_bytes: 0,
            has_interface: host_bps.is_some(),
            tcp_bpf: None,
            handshake: Handshake::of(rtt),
        };
        let algorithm = Instance::new(algorithm, None, &BTreeMap::new()).unwrap();
        Self {
            sender: Sender::new(stack, config, algorithm, Time::ZERO, 1),
            host: host_bps.map(|bps| Serializer::new(Rate(rate(bps)))),
            bottleneck: Serializer::new(Rate(rate(path_bps))),
            rtt,
            acks: VecDeque::new(),
            now: Time::ZERO,
            sent: Vec::new(),
            pushed: Vec::new(),
            queue_max: Span::ZERO,
        }
    }

    fn transmit(&mut self) {
        while let Some(burst) = self.sender.next_burst(self.now) {
            segments(&self.sender, burst).for_each(|segment| self.put(segment));
        }
    }

    fn put(&mut self, segment: Segment) {
        assert!(!segment.is_retransmission, "nothing is lost here");
        assert_eq!(segment.number, self.sent.len() as u64);
        self.sent.push(self.now);
        self.pushed.push(segment.pushed);
        let left = self.host.as_mut().map_or(self.now, |host| host.send(self.now, PACKET_BYTES).1);
        self.sender.on_tx_completion(1, left);
        let (start, end) = self.bottleneck.send(left, PACKET_BYTES);
        self.queue_max = self.queue_max.max(start.since(left));
        self.acks.push_back((end + self.rtt, segment.number + 1));
    }

    /// Run until `end`, and call `check` after each transmission.
    fn run(&mut self, end: Time, mut check: impl FnMut(&Self)) {
        loop {
            self.transmit();
            check(self);
            let arrival = self.acks.front().map_or(Time::NEVER, |ack| ack.0);
            let next = arrival.min(self.sender.deadline());
            if next > end {
                self.now = end;
                return;
            }
            assert!(next >= self.now, "a deadline in the past");
            self.now = next;
            if arrival <= next {
                let cumulative = self.acks.pop_front().unwrap().1;
                let ack = Ack { cumulative, ..Ack::default() };
                self.sender.on_ack(self.now, ack, &SackBlocks::default(), &mut Silent);
            } else {
                self.sender.on_timer(self.now, &mut Silent);
            }
        }
    }

    fn cwnd(&self) -> u32 {
        self.sender.conn().cwnd_segs
    }
}

const SECOND: u64 = 1_000_000_000;
const RTT: Span = Span::from_millis(20);

prop_compose! {
    fn any_stack()(
        paced: bool, tso: bool, tso_push: bool, tsq: bool, credit: bool, late_us in 0u64..500,
        window in prop::option::of(1_448u64..400_000),
        slow_start in prop::sample::select(vec![
            SlowStart::Own, SlowStart::Standard, SlowStart::Limited, SlowStart::Hystart,
            SlowStart::HystartPlusPlus, SlowStart::Search, SlowStart::CarefulResume,
        ]),
    ) -> Stack {
        Stack {
            pacing: if paced { Pacing::Fq } else { Pacing::Off },
            pacing_credit: credit,
            pacing_late_ns: Span::from_micros(late_us),
            tso,
            tso_push,
            tsq_bytes: if tsq { linux().tsq_bytes } else { None },
            receive_window_bytes: window.and_then(NonZeroU64::new),
            slow_start,
            resume_window_segs: NonZeroU32::new(200),
            resume_rtt_ns: Some(RTT),
            ..linux()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_more_than_either_window_is_ever_outstanding(
        stack in any_stack(),
        algorithm in prop::sample::select(vec!["reno", "cubic", "fast"]),
        supplies in prop::collection::vec((1u64..300, 1u64..400), 1..12),
    ) {
        let window = stack.receive_window_bytes.map_or(u64::MAX, |bytes| bytes.get() / 1448);
        let mut bench = Bench::new(&stack, algorithm, Some(SECOND), SECOND / 10, RTT);
        let mut supplied = 0;
        for (segs, pause_ms) in supplies {
            supplied += segs;
            bench.sender.supply(supplied);
            let end = bench.now + Span::from_millis(pause_ms);
            bench.run(end, |bench| {
                let sent = bench.sent.len() as u64;
                assert!(sent <= supplied);
                assert!(bench.sender.in_flight() <= bench.cwnd().max(10));
                assert!(sent - bench.sender.acked_segs() <= window);
            });
        }
        let end = bench.now + Span::from_millis(60_000);
        bench.run(end, |_| {});
        prop_assert!(bench.sender.is_done(), "{} of {supplied}", bench.sender.acked_segs());
    }
}

#[test]
fn a_bulk_flow_is_always_limited_by_its_window() {
    for tso in [false, true] {
        let stack = Stack { tso, ..linux() };
        let mut bench = Bench::new(&stack, "reno", None, SECOND / 10, RTT);
        bench.sender.supply(u64::MAX);
        bench.run(Time(SECOND), |bench| assert_eq!(bench.sender.conn().cwnd_limited, 1));
        assert_eq!(bench.cwnd() as u64, 10 + bench.sender.acked_segs(), "tso {tso}");
    }
}

#[test]
fn a_window_half_used_does_not_grow_beyond_twice_its_use() {
    let mut bench = Bench::new(&linux(), "reno", None, SECOND, RTT);
    for request in 1..200 {
        bench.sender.supply(request * 40);
        let end = bench.now + Span::from_millis(50);
        bench.run(end, |_| {});
    }
    // In slow start the window limits while cwnd < 2 x outstanding.
    assert!((40..=80 + 40).contains(&bench.cwnd()), "{}", bench.cwnd());
}

#[test]
fn idle_time_halves_the_window_for_each_timeout() {
    let restarted = |stack: Stack, idle_ms: u64| {
        let mut bench = Bench::new(&stack, "reno", None, SECOND, RTT);
        bench.sender.supply(3_000);
        bench.run(Time(SECOND / 2), |_| {});
        assert!(bench.sender.is_done());
        let (before, last) = (bench.cwnd(), *bench.sent.last().unwrap());
        bench.now = last + Span::from_millis(idle_ms);
        bench.sender.supply(3_001);
        bench.transmit();
        (before, bench.cwnd())
    };
    // The timeout is 220 ms or slightly more.
    let (before, after) = restarted(linux(), 600);
    assert!(before > 500);
    assert_eq!(after, before / 4);
    assert_eq!(restarted(linux(), 60_000).1, 10);
    let (before, after) = restarted(Stack { slow_start_after_idle: false, ..linux() }, 60_000);
    assert_eq!(before, after);
}

#[test]
fn a_window_that_the_application_does_not_use_falls_towards_its_use_unless_acks_keep_coming() {
    let window = |window_validation, gap_ms| {
        let stack = Stack { window_validation, slow_start_after_idle: false, ..linux() };
        let mut bench = Bench::new(&stack, "reno", None, SECOND, RTT);
        bench.sender.supply(3_000);
        bench.run(Time(SECOND / 2), |_| {});
        let before = bench.cwnd();
        for request in 1..100 {
            bench.sender.supply(3_000 + request * 20);
            let end = bench.now + Span::from_millis(gap_ms);
            bench.run(end, |_| {});
        }
        (before, bench.cwnd())
    };
    // The timeout is 220 ms.
    for (window_validation, gap_ms) in [(false, 300), (true, 50), (true, 200)] {
        let (before, after) = window(window_validation, gap_ms);
        assert_eq!(before, after);
    }
    let (_, after) = window(true, 300);
    assert!((20..60).contains(&after), "{after}");
}

/// Return the most segments sent in any span of this length.
fn most_in(sent: &[Time], span: Span) -> usize {
    let until = |begin: Time| sent.partition_point(|&time| time <= begin + span);
    sent.iter().enumerate().map(|(first, &begin)| until(begin) - first).max().unwrap_or(0)
}

#[test]
fn fq_spreads_a_window_over_the_round_trip() {
    let most = |pacing| {
        let stack = Stack { pacing, ..linux() };
        let mut bench = Bench::new(&stack, "reno", None, 10 * SECOND, RTT);
        bench.sender.supply(u64::MAX);
        bench.run(Time(SECOND / 10), |_| {});
        (bench.cwnd() as usize, most_in(&bench.sent, Span::from_millis(1)))
    };
    let (cwnd, burst) = most(Pacing::Off);
    assert!(burst > cwnd / 3, "{burst} of {cwnd} in a millisecond");
    let (cwnd, burst) = most(Pacing::Fq);
    // Twice the window in 20 ms is a tenth of it in one millisecond, and the window still grows.
    assert!(burst <= cwnd / 10 + 3, "{burst} of {cwnd} in a millisecond");
}

#[test]
fn the_first_ten_segments_leave_at_once() {
    let stack = Stack { pacing: Pacing::Fq, ..linux() };
    let mut bench = Bench::new(&stack, "reno", None, SECOND, RTT);
    bench.sender.supply(u64::MAX);
    bench.transmit();
    assert_eq!(bench.sent.len(), 10);
}

#[test]
fn chunks_leave_back_to_back() {
    let stack = Stack { tso: true, pacing: Pacing::Fq, ..linux() };
    let mut bench = Bench::new(&stack, "reno", None, SECOND, RTT);
    bench.sender.supply(u64::MAX);
    bench.run(Time(SECOND / 2), |_| {});
    let late = &bench.sent[bench.sent.len() / 2..];
    let distinct = late.iter().collect::<std::collections::BTreeSet<_>>().len();
    let mean = late.len() / distinct;
    assert!((20..=45).contains(&mean), "chunks of {mean} segments");
}

#[test]
fn chunks_of_several_segments_say_where_they_end() {
    let pushed = |tso_push| {
        let stack = Stack { tso: true, tso_push, pacing: Pacing::Fq, ..linux() };
        let mut bench = Bench::new(&stack, "reno", None, SECOND, RTT);
        bench.sender.supply(u64::MAX);
        bench.run(Time(SECOND / 2), |_| {});
        // The last chunk may still be incomplete.
        let chunks = bench.sent.chunk_by(|one, next| one == next).map(<[Time]>::len);
        (
            chunks
                .scan(0, |end, segs| {
                    *end += segs;
                    Some((*end, segs))
                })
                .collect::<Vec<_>>(),
            bench.pushed,
        )
    };
    let (chunks, pushes) = pushed(true);
    let last: Vec<_> =
        (0..pushes.len()).filter(|segment| pushes[*segment]).map(|segment| segment + 1).collect();
    let ends: Vec<_> = chunks.iter().filter(|(_, segs)| *segs > 1).map(|(end, _)| *end).collect();
    assert!(ends.len() > 20, "{chunks:?}");
    assert!(ends.iter().all(|end| last.contains(end)), "{chunks:?} {last:?}");
    assert!(chunks.iter().all(|(end, segs)| *segs > 1 || !last.contains(end)), "{chunks:?}");
    assert!(pushed(false).1.iter().all(|pushes| !pushes), "before Linux 5.4");
}

#[test]
fn what_leaves_first_knows_the_round_trip_time_of_the_handshake() {
    let path = Span::from_millis(100);
    let begun = |algorithm| {
        let stack = Stack { tso: true, ..linux() };
        let mut bench = Bench::new(&stack, algorithm, None, SECOND, path);
        bench.sender.supply(u64::MAX);
        bench.transmit();
        bench
    };
    let reno = begun("reno");
    assert_eq!(reno.sender.rtt().rto(), Span::from_millis(100 + 200));
    // At 20 segments in a round trip chunks have their smallest size, from the first on.
    assert_eq!(reno.pushed, [false, true].repeat(5));
    let bbr = begun("bbr");
    assert_eq!(bbr.sender.algorithm_info()[1], 100_000, "its estimate of the path");
    let rate = bbr.sender.conn().pacing_rate_bytes_per_s;
    let expected = 2.885 * 0.99 * 10.0 * 1448.0 / 0.1;
    assert!((rate as f64 / expected - 1.0).abs() < 0.01, "{rate}, expected {expected}");
    assert_eq!(begun("bbr3").sender.algorithm_info()[1], 100_000);
}

#[test]
fn with_small_queues_a_window_beyond_the_path_waits_in_the_host() {
    // The host is as fast as the network, so no packet waits in the network. The path holds 17
    // segments. Segments that wait in the host may fill the window.
    let run = |tsq_bytes: Option<u64>| {
        let tsq_bytes = tsq_bytes.and_then(NonZeroU64::new);
        let stack = Stack { tsq_bytes, ..linux() };
        let mut bench =
            Bench::new(&stack, "reno", Some(10 * SECOND), 10 * SECOND, Span::from_micros(20));
        bench.sender.supply(u64::MAX);
        let mut in_flight_max = 0;
        bench.run(Time(SECOND / 20), |bench| {
            in_flight_max = in_flight_max.max(bench.sender.in_flight());
        });
        assert_eq!(bench.queue_max, Span::ZERO, "no queue in the network");
        let goodput = bench.sender.acked_segs() * u64::from(PACKET_BYTES) * 8 * 20;
        assert!(goodput > 9 * SECOND, "{goodput} bit/s");
        (in_flight_max, bench.cwnd())
    };
    // A millisecond of 10 Gbit/s is 833 packets, and 256 KiB are 174.
    let (in_flight, cwnd) = run(Some(1 << 18));
    assert!((174..=174 + 25).contains(&in_flight), "{in_flight}");
    assert!(cwnd > 174 && cwnd <= 2 * 200, "{cwnd}: twice the use at most in slow start");
    let (in_flight, _) = run(None);
    assert!(in_flight > 10_000, "without the limit the whole window is handed over");
}

#[test]
fn the_receive_window_limits_and_leaves_the_window_alone() {
    let stack = Stack { receive_window_bytes: NonZeroU64::new(30 * 1448 + 1), ..linux() };
    let mut bench = Bench::new(&stack, "reno", None, SECOND, RTT);
    bench.sender.supply(u64::MAX);
    bench.run(Time(SECOND), |bench| assert!(bench.sender.in_flight() <= 30));
    assert_eq!(bench.sender.in_flight(), 30);
    assert!(bench.cwnd() <= 60, "{}", bench.cwnd());
}

#[test]
fn hystart_plus_plus_leaves_slow_start_before_the_queue_is_long() {
    let queue = |slow_start| {
        let stack = Stack { slow_start, ..linux() };
        let mut bench = Bench::new(&stack, "reno", None, SECOND / 10, Span::from_millis(40));
        bench.sender.supply(u64::MAX);
        bench.run(Time(SECOND), |_| {});
        bench.queue_max
    };
    let (standard, hystart) = (queue(SlowStart::Standard), queue(SlowStart::HystartPlusPlus));
    // The path holds 333 segments. Five conservative rounds add half of the window each.
    assert!(hystart < Span::from_millis(320), "{hystart:?}");
    assert!(standard > Span(2 * hystart.0), "{standard:?}");
}

#[test]
fn careful_resume_fills_the_path_in_three_round_trips() {
    let rtt = Span::from_millis(100);
    let acked = |slow_start| {
        let resumes = slow_start == SlowStart::CarefulResume;
        let stack = Stack {
            slow_start,
            resume_window_segs: NonZeroU32::new(1_600).filter(|_| resumes),
            resume_rtt_ns: Some(rtt).filter(|_| resumes),
            ..linux()
        };
        // The path holds 833 segments.
        let mut bench = Bench::new(&stack, "reno", None, SECOND / 10, rtt);
        bench.sender.supply(u64::MAX);
        bench.run(Time(3 * rtt.0), |_| {});
        bench.sender.acked_segs()
    };
    // Windows of 10 and 20. With the jump the window is 800 instead, over one round trip.
    let standard = acked(SlowStart::Standard);
    assert!((25..=30).contains(&standard), "{standard}");
    let resumed = acked(SlowStart::CarefulResume);
    assert!((780..=830).contains(&resumed), "{resumed}");
}

#[test]
fn a_stopped_sender_takes_no_more() {
    let mut bench = Bench::new(&linux(), "reno", None, SECOND, RTT);
    bench.sender.supply(5);
    assert!(!bench.sender.is_done());
    bench.transmit();
    bench.sender.stop();
    bench.sender.supply(50);
    bench.run(Time(SECOND), |_| {});
    assert_eq!(bench.sent.len(), 5);
    assert!(bench.sender.is_done());
}
