//! Receivers whose application lags: the ACKs and windows of Linux.

use std::num::{NonZeroU32, NonZeroU64};

use dumbbell_network::{Span, Time};
use dumbbell_tcp::{AckDelay, Arrival, PROFILES, Reading, Receiver, Stack};

const MSS: u32 = 1_000;

/// The ACKs of a receiver: time in us, cumulative number and window.
struct Acks {
    receiver: Receiver,
    given: Vec<(u64, u64, u64)>,
}

/// A receiver whose buffer has space for 80 segments and whose application reads `block_segs` each
/// millisecond.
fn lagging(block_segs: u32) -> Acks {
    reading(block_segs, 1, AckDelay::Fixed)
}

/// The same with reads every `pause_ms`.
fn reading(block_segs: u32, pause_ms: u64, delayed_ack: AckDelay) -> Acks {
    let linux_6 = PROFILES.iter().find(|profile| profile.name == "linux-6").expect("linux-6");
    let stack = Stack {
        quick_acks: 0,
        delayed_ack,
        window_push: false,
        receive_buffer_bytes: 128_000,
        receive_buffer_max_bytes: 128_000,
        ..(linux_6.stack)()
    };
    let mut receiver = Receiver::new(&stack, Span::from_millis(10));
    let reading = Reading {
        rate_bps: NonZeroU64::new(8_000_000 * u64::from(block_segs) / pause_ms).unwrap(),
        block_bytes: NonZeroU32::new(MSS * block_segs).unwrap(),
    };
    receiver.read_as(&stack, reading, MSS);
    Acks { receiver, given: Vec::new() }
}

impl Acks {
    /// Let time pass until `us`.
    fn pass(&mut self, us: u64) {
        while let Some(due) = self.receiver.deadline().filter(|due| due.0 <= us * 1_000) {
            let ack = self.receiver.on_timer(due);
            self.note(due.0 / 1_000, ack);
        }
    }

    /// Let a segment arrive at `us`, after all timers that are due before.
    fn arrives(&mut self, us: u64, number: u64) {
        self.pass(us - 1);
        let now = Time(us * 1_000);
        let arrival =
            Arrival { number, stamp: 0, ce: false, cwr: false, full: true, pushed: false };
        let ack = self.receiver.on_data(now, arrival);
        self.note(us, ack);
    }

    fn note(&mut self, us: u64, ack: Option<dumbbell_tcp::Ack>) {
        let mut next = ack;
        while let Some(ack) = next {
            self.given.push((us, ack.cumulative, self.receiver.window().unwrap()));
            next = self.receiver.also();
        }
    }
}

/// Send `segs` segments, one every 100 us, from 1 ms on. Return the ACKs from `since` us on.
fn stream(mut acks: Acks, segs: u64, since: u64) -> Vec<(u64, u64, u64)> {
    for number in 0..segs {
        acks.arrives(1_000 + 100 * number, number);
    }
    acks.given.retain(|&(us, ..)| us >= since);
    acks.given
}

#[test]
fn acknowledgements_come_with_reads_once_the_window_cannot_grow() {
    let acks = stream(lagging(20), 100, 5_000);
    let pairs = acks.windows(2);
    let gaps: Vec<_> = pairs.map(|pair| (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1)).collect();
    // Ten segments arrive in the millisecond between two reads.
    assert!(gaps.len() >= 4 && gaps.iter().all(|gap| *gap == (1_000, 10)), "{acks:?}");
    // Each read empties the buffer. The window grows when data arrives, which itself takes space.
    assert!(acks.iter().all(|&(_, _, window)| window == 79), "{acks:?}");
}

#[test]
fn a_reader_that_is_too_slow_closes_the_window_and_opens_it_with_its_reads() {
    let mut acks = lagging(2);
    let mut sent = 0;
    // The sender uses the whole window, at ten segments a millisecond.
    for us in (1_000..60_000).step_by(100) {
        acks.pass(us - 1);
        let (acked, window) = match acks.given.last() {
            Some(&(_, cumulative, window)) => (cumulative, window),
            None => (0, acks.receiver.window().unwrap()),
        };
        if sent < acked + window {
            acks.arrives(us, sent);
            sent += 1;
        }
    }
    let read = 2 * 59;
    assert!((read + 70..=read + 80).contains(&sent), "{sent}: all read, and a buffer of 80");
    let late = acks.given.iter().filter(|ack| ack.0 > 30_000);
    let (least, most) =
        late.fold((u64::MAX, 0), |(least, most), ack| (least.min(ack.2), most.max(ack.2)));
    assert!(most <= 10, "the buffer stays full: windows of up to {most}");
    assert!(least <= 5, "windows of {least} and more");
}

#[test]
fn a_window_that_was_offered_is_never_taken_back() {
    let mut acks = lagging(1);
    for number in 0..60 {
        acks.arrives(1_000 + 10 * number, number);
    }
    acks.pass(300_000);
    let edges: Vec<_> =
        acks.given.iter().map(|(_, cumulative, window)| cumulative + window).collect();
    assert!(edges.is_sorted(), "{edges:?}");
}

#[test]
fn who_keeps_up_acknowledges_every_second_segment() {
    // A segment comes each 2 ms and a read takes one, so every second read acknowledges two.
    let mut acks = lagging(1);
    for number in 0..40 {
        acks.arrives(1_000 + 2_000 * number, number);
    }
    acks.pass(81_500);
    let late: Vec<_> = acks.given.iter().filter(|ack| ack.0 > 40_000).map(|ack| ack.1).collect();
    assert!(late.len() > 8 && late.windows(2).all(|pair| pair[1] - pair[0] == 2), "{late:?}");
}

#[test]
fn a_segment_that_comes_just_before_the_timer_is_acknowledged_at_once() {
    let acknowledged = |delayed_ack, late_ms: u64| {
        let mut acks = reading(50, 100, delayed_ack);
        // The window grows to its largest size.
        for number in 0..80 {
            acks.arrives(1_000 + 2_000 * number, number);
        }
        // The application reads the first of these, and the others wait for its next read.
        for number in 80..84 {
            acks.arrives(500_000 + number, number);
        }
        acks.arrives(500_000 + 1_000 * late_ms, 84);
        acks.pass(590_000);
        acks.given.retain(|ack| ack.0 > 501_000);
        acks.given.first().map(|ack| ack.0 / 1_000)
    };
    // Of the 40 ms of the timer a quarter is left.
    assert_eq!(acknowledged(AckDelay::Adaptive, 29), Some(540));
    assert_eq!(acknowledged(AckDelay::Adaptive, 31), Some(531));
    assert_eq!(acknowledged(AckDelay::Fixed, 31), Some(540));
}

#[test]
fn the_end_of_a_message_is_acknowledged_when_it_is_read() {
    let mut acks = lagging(2);
    let pushed =
        |number, pushed| Arrival { number, stamp: 0, ce: false, cwr: false, full: true, pushed };
    for (us, number) in [(1_000, 0), (1_100, 1), (1_200, 2)] {
        acks.pass(us - 1);
        let ack = acks.receiver.on_data(Time(us * 1_000), pushed(number, number == 2));
        acks.note(us, ack);
    }
    acks.pass(3_000);
    assert_eq!(acks.given.last().map(|ack| (ack.0, ack.1)), Some((2_000, 3)));
}

#[test]
fn a_probe_is_answered_with_the_window() {
    let mut acks = lagging(1);
    let ack = acks.receiver.on_probe();
    acks.note(0, ack);
    assert_eq!(acks.given.len(), 1);
}
