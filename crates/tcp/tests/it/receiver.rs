//! The answers of a receiver to given arrivals.

use std::num::NonZeroU64;
use std::ops::Range;

use dumbbell_network::{Span, Time};
use dumbbell_tcp::{Ack, AckDelay, Arrival, Ecn, PROFILES, Receiver, Stack};

/// Linux 6 without quick ACKs at the start, with a fixed delay and a window that never rises.
fn plain() -> Stack {
    let linux_6 = PROFILES.iter().find(|profile| profile.name == "linux-6").expect("linux-6");
    Stack {
        quick_acks: 0,
        delayed_ack: AckDelay::Fixed,
        receive_buffer_max_bytes: 0,
        ..(linux_6.stack)()
    }
}

fn full(number: u64) -> Arrival {
    Arrival { number, stamp: 0, ce: false, cwr: false, full: true, pushed: false }
}

/// A receiver whose peer is 100 ms away.
fn receiver(stack: &Stack) -> Receiver {
    Receiver::new(stack, Span::from_millis(100))
}

/// Return all ACKs that one event causes.
fn all(receiver: &mut Receiver, first: Option<Ack>) -> Vec<Ack> {
    std::iter::successors(first, |_| receiver.also()).collect()
}

fn on_data(receiver: &mut Receiver, now: u64, arrival: Arrival) -> Vec<Ack> {
    let first = receiver.on_data(Time(now), arrival);
    all(receiver, first)
}

fn on_timer(receiver: &mut Receiver, now: u64) -> Vec<Ack> {
    let first = receiver.on_timer(Time(now));
    all(receiver, first)
}

/// Return the duplicate and the blocks of the ACK of segment `number`.
fn sacked(receiver: &mut Receiver, number: u64) -> (Option<Range<u64>>, Vec<Range<u64>>) {
    let ack = receiver.on_data(Time(0), full(number)).expect("an ACK");
    assert!(ack.has_blocks);
    let blocks = (receiver.blocks().duplicate(), receiver.blocks().as_slice().to_vec());
    assert_eq!(receiver.also(), None);
    blocks
}

/// Let full segments arrive in order, a microsecond apart. Return for each whether it is
/// acknowledged at once.
fn at_once(receiver: &mut Receiver, numbers: Range<u64>) -> Vec<bool> {
    numbers.map(|number| !on_data(receiver, number * 1_000, full(number)).is_empty()).collect()
}

const MS: u64 = 1_000_000;

#[test]
fn every_second_segment_is_acknowledged_and_a_lone_one_after_the_delay() {
    let mut receiver = receiver(&plain());
    assert_eq!(receiver.on_data(Time(0), full(0)), None);
    assert_eq!(receiver.on_data(Time(1), full(1)).map(|ack| ack.cumulative), Some(2));
    assert_eq!(receiver.on_data(Time(2), full(2)), None);
    assert_eq!(receiver.deadline(), Some(Time(40 * MS + 2)));
    assert_eq!(receiver.on_timer(Time(40 * MS + 1)), None);
    assert_eq!(receiver.on_timer(Time(40 * MS + 2)).map(|ack| ack.cumulative), Some(3));
    assert_eq!(receiver.deadline(), None);
    assert_eq!((receiver.next(), receiver.received_segs()), (3, 3));
}

/// As in Linux: a sender of one segment per round trip waits longer and longer for its ACKs.
#[test]
fn a_lone_segment_that_waits_in_vain_makes_the_next_wait_longer() {
    let stack = Stack { delayed_ack: AckDelay::Adaptive, ..plain() };
    let mut receiver = receiver(&stack);
    let mut waits = Vec::new();
    for number in 0..4 {
        let now = number * 250 * MS;
        assert!(on_data(&mut receiver, now, full(number)).is_empty());
        let due = receiver.deadline().expect("it waits");
        waits.push((due.0 - now) / MS);
        assert_eq!(on_timer(&mut receiver, due.0).len(), 1);
    }
    assert_eq!(waits, [40, 80, 100, 100], "a round trip at most");
    assert_eq!(at_once(&mut receiver, 5..9), [true, true, true, false]);
    let deferred = receiver.deadline().expect("a duplicate is held").0;
    assert_eq!(on_timer(&mut receiver, deferred).len(), 1, "which is no wait in vain");
    on_data(&mut receiver, 1_000 * MS, full(4));
    for number in 9..19 {
        on_data(&mut receiver, 1_001 * MS, full(number));
    }
    assert!(on_data(&mut receiver, 1_002 * MS, full(19)).is_empty());
    assert_eq!(receiver.deadline(), Some(Time(1_042 * MS)), "short gaps lead back");
}

#[test]
fn a_lone_segment_waits_until_the_end_of_a_tick() {
    let timer_tick_ns = NonZeroU64::new(4 * MS);
    let stack = Stack { delayed_ack: AckDelay::Adaptive, timer_tick_ns, ..plain() };
    let mut receiver = receiver(&stack);
    assert!(on_data(&mut receiver, MS, full(0)).is_empty());
    assert!(on_timer(&mut receiver, 41 * MS).is_empty());
    assert_eq!(receiver.deadline(), Some(Time(44 * MS)));
    assert_eq!(on_timer(&mut receiver, 44 * MS).len(), 1);
}

#[test]
fn the_first_segments_are_acknowledged_at_once() {
    for delayed_ack in [AckDelay::Fixed, AckDelay::Adaptive] {
        let mut receiver = receiver(&Stack { quick_acks: 3, delayed_ack, ..plain() });
        assert_eq!(at_once(&mut receiver, 0..6), [true, true, true, false, true, false]);
    }
}

#[test]
fn a_short_segment_waits_for_a_full_one() {
    let mut receiver = receiver(&plain());
    let short = |number| Arrival { full: false, ..full(number) };
    assert_eq!(receiver.on_data(Time(0), short(0)), None);
    assert_eq!(receiver.on_data(Time(5), short(1)), None);
    assert_eq!(receiver.deadline(), Some(Time(40 * MS)), "the first one's delay");
    assert_eq!(receiver.on_data(Time(9), full(2)).map(|ack| ack.cumulative), Some(3));
    assert_eq!(receiver.on_data(Time(9), full(3)), None);
    assert_eq!(receiver.on_data(Time(9), short(4)).map(|ack| ack.cumulative), Some(5));
    assert_eq!(at_once(&mut receiver, 5..7), [false, true]);
}

#[test]
fn the_end_of_a_message_is_acknowledged_at_once() {
    let mut receiver = receiver(&plain());
    let last = |number| Arrival { pushed: true, full: false, ..full(number) };
    assert_eq!(receiver.on_data(Time(0), last(0)).map(|ack| ack.cumulative), Some(1));
    assert_eq!(receiver.on_data(Time(0), full(1)), None);
    assert_eq!(receiver.on_data(Time(0), last(2)).map(|ack| ack.cumulative), Some(3));
}

#[test]
fn the_end_of_a_chunk_is_acknowledged_at_once_and_brings_both_ends_into_step() {
    let mut receiver = receiver(&plain());
    let last = |number| Arrival { pushed: true, ..full(number) };
    assert_eq!(receiver.on_data(Time(0), full(0)), None);
    // Chunks have two segments from here on: the first ACK falls between two of one chunk.
    assert_eq!(receiver.on_data(Time(0), full(1)).map(|ack| ack.cumulative), Some(2));
    assert_eq!(receiver.on_data(Time(0), last(2)).map(|ack| ack.cumulative), Some(3));
    assert_eq!(receiver.on_data(Time(0), full(3)), None);
    assert_eq!(receiver.on_data(Time(0), last(4)).map(|ack| ack.cumulative), Some(5));
}

#[test]
fn what_fills_a_hole_is_acknowledged_at_once() {
    let mut receiver = receiver(&plain());
    assert_eq!(on_data(&mut receiver, 0, full(1)).len(), 1);
    let acks = on_data(&mut receiver, 0, full(0));
    assert_eq!(acks, [Ack { cumulative: 2, ..Ack::default() }]);
    assert_eq!(at_once(&mut receiver, 2..4), [false, true]);
}

#[test]
fn blocks_come_latest_first_and_grow() {
    let mut receiver = receiver(&plain());
    assert_eq!(sacked(&mut receiver, 2), (None, vec![2..3; 1]));
    assert_eq!(sacked(&mut receiver, 5), (None, vec![5..6, 2..3]));
    assert_eq!(sacked(&mut receiver, 3), (None, vec![2..4, 5..6]));
    let mut without = self::receiver(&Stack { sack_compression_ns: Span::ZERO, ..plain() });
    for number in [2, 5, 3] {
        sacked(&mut without, number);
    }
    assert_eq!(sacked(&mut without, 7).1, [7..8, 2..4, 5..6]);
    assert_eq!(sacked(&mut without, 9).1, [9..10, 7..8, 2..4]);
    assert_eq!(sacked(&mut without, 0).1, [9..10, 7..8, 2..4]);
    assert_eq!(sacked(&mut without, 1).1, [9..10, 7..8, 5..6]);
    assert_eq!((without.next(), without.received_segs()), (4, 7));
}

#[test]
fn without_timestamps_there_is_room_for_four_blocks() {
    let stack = Stack { timestamps: false, sack_compression_ns: Span::ZERO, ..plain() };
    let mut receiver = receiver(&stack);
    for number in [2, 4, 6, 8] {
        sacked(&mut receiver, number);
    }
    assert_eq!(sacked(&mut receiver, 10).1, [10..11, 8..9, 6..7, 4..5]);
    assert_eq!(sacked(&mut receiver, 6), (Some(6..7), vec![6..7, 10..11, 8..9]));
    let acks = on_data(&mut receiver, 0, Arrival { stamp: 7, ..full(0) });
    assert_eq!(acks[0].echo, 0);
}

#[test]
fn without_sack_there_are_only_duplicate_acknowledgements() {
    let mut receiver = receiver(&Stack { sack: false, ..plain() });
    for number in [2, 3, 4, 5, 6, 3] {
        let acks = on_data(&mut receiver, 0, full(number));
        assert_eq!(acks, [Ack::default()]);
    }
}

#[test]
fn a_duplicate_is_acknowledged_at_once_reported_first_and_not_counted() {
    let mut receiver = receiver(&plain());
    receiver.on_data(Time(0), full(0));
    assert_eq!(sacked(&mut receiver, 0), (Some(0..1), vec![]));
    sacked(&mut receiver, 4);
    sacked(&mut receiver, 6);
    // RFC 2883, section 4: the block with the duplicate follows it.
    assert_eq!(sacked(&mut receiver, 4), (Some(4..5), vec![4..5, 6..7]));
    assert_eq!(receiver.received_segs(), 3);
    let mut silent = self::receiver(&Stack { dsack: false, ..plain() });
    silent.on_data(Time(0), full(0));
    let acks = on_data(&mut silent, 0, full(0));
    assert_eq!(acks, [Ack { cumulative: 1, ..Ack::default() }]);
}

#[test]
fn a_duplicate_fills_the_quota_of_an_adaptive_receiver() {
    let stack = Stack { quick_acks: 16, delayed_ack: AckDelay::Adaptive, ..plain() };
    let mut receiver = receiver(&stack);
    assert_eq!(at_once(&mut receiver, 0..18)[16..], [false, true]);
    on_data(&mut receiver, 18_000, full(3));
    let quick = at_once(&mut receiver, 18..35);
    assert_eq!(quick.iter().filter(|quick| **quick).count(), 16, "15, and the second of two");
    assert_eq!(quick[14..], [true, false, true]);
}

#[test]
fn the_echo_is_the_stamp_of_the_first_segment_covered() {
    let stack = Stack { sack_compression_ns: Span::ZERO, ..plain() };
    let mut receiver = receiver(&stack);
    let mut echo = |number, stamp| {
        receiver.on_data(Time(0), Arrival { stamp, ..full(number) }).map(|ack| ack.echo)
    };
    assert_eq!([echo(0, 10), echo(1, 11)], [None, Some(10)], "the earlier of two");
    assert_eq!([echo(3, 13), echo(4, 14)], [Some(10); 2], "the last in order");
    assert_eq!(echo(2, 15), Some(15), "what fills the hole");
    assert_eq!(echo(2, 20), Some(15), "not of a duplicate");
    assert_eq!([echo(5, 14), echo(6, 16)], [None, Some(15)], "never back");
}

/// Return the cumulative numbers and ECE of all ACKs of full segments with these marks.
fn echoes(stack: &Stack, marks: &[u8]) -> Vec<(u64, bool)> {
    let mut receiver = receiver(stack);
    let mut acks = Vec::new();
    for (number, mark) in (0..).zip(marks) {
        let arrival = Arrival { ce: *mark == 1, ..full(number) };
        acks.extend(on_data(&mut receiver, number, arrival));
    }
    acks.extend(on_timer(&mut receiver, 1_000 * MS));
    acks.iter().map(|ack| (ack.cumulative, ack.ece)).collect()
}

#[test]
fn dctcp_acknowledges_what_came_before_under_the_old_mark() {
    let stack = Stack { ecn: Ecn::Dctcp, ..plain() };
    let (no, ce) = (false, true);
    // No segment waits when the mark changes: one ACK, at once.
    assert_eq!(echoes(&stack, &[0, 0, 1, 1, 1]), [(2, no), (3, ce), (5, ce)]);
    // One segment waits: two ACKs (RFC 8257, section 3.2).
    assert_eq!(echoes(&stack, &[0, 1, 0]), [(1, no), (2, ce), (3, no)]);
    assert_eq!(
        echoes(&stack, &[0, 0, 0, 1, 1, 0, 0, 0]),
        [(2, no), (3, no), (4, ce), (5, ce), (6, no), (8, no)]
    );
    assert_eq!(echoes(&stack, &[1, 1, 1, 1]), [(1, ce), (3, ce), (4, ce)]);
    assert_eq!(echoes(&stack, &[0, 0, 0]), [(2, no), (3, no)]);
}

#[test]
fn an_adaptive_receiver_is_quick_when_marks_begin() {
    let stack = Stack { ecn: Ecn::Dctcp, delayed_ack: AckDelay::Adaptive, ..plain() };
    let stack = Stack { quick_acks: 1, ..stack };
    assert_eq!(echoes(&stack, &[0, 0, 0, 1, 1]).len(), 4, "no more than the stack allows");
    let stack = Stack { quick_acks: 2, ..stack };
    // Two at the start; then the one that waits, with the old mark; then two quick ones.
    let cumulative: Vec<_> =
        echoes(&stack, &[0, 0, 0, 1, 1, 1, 1]).into_iter().map(|(number, _)| number).collect();
    assert_eq!(cumulative, [1, 2, 3, 4, 5, 7]);
}

#[test]
fn a_classic_echo_lasts_until_cwr() {
    let mut receiver = receiver(&Stack { ecn: Ecn::Classic, ..plain() });
    let mut acks = Vec::new();
    for number in 0..10 {
        let arrival = Arrival { ce: number == 3, cwr: number == 7, ..full(number) };
        acks.extend(on_data(&mut receiver, 0, arrival));
    }
    let acks: Vec<_> = acks.iter().map(|ack| (ack.cumulative, ack.ece)).collect();
    assert_eq!(acks, [(2, false), (4, true), (6, true), (8, false), (10, false)]);
}

#[test]
fn a_receiver_without_ecn_ignores_marks() {
    assert_eq!(echoes(&plain(), &[0, 1, 1, 0]), [(2, false), (4, false)]);
}

#[test]
fn from_the_fourth_on_duplicates_wait_for_a_millisecond_or_a_twentieth_of_the_round_trip() {
    // The wait includes the allowed lateness of its timer.
    for (rtt_ms, wait) in [(100, MS + MS / 10), (10, MS / 2 + MS / 10)] {
        let mut receiver = Receiver::new(&plain(), Span::from_millis(rtt_ms));
        assert_eq!(at_once(&mut receiver, 1..6), [true, true, true, false, false]);
        assert_eq!(receiver.deadline(), Some(Time(4_000 + wait)), "since the first that waits");
        let acks = on_timer(&mut receiver, 4_000 + wait);
        assert_eq!((acks.len(), receiver.blocks().as_slice()), (1, &vec![1..6; 1][..]));
        assert_eq!(at_once(&mut receiver, 6..7), [false], "the next wait again");
        assert_eq!(on_data(&mut receiver, 7_000, full(0)).len(), 1);
        assert_eq!((receiver.next(), receiver.deadline()), (7, None));
        assert_eq!(at_once(&mut receiver, 8..12), [true, true, true, false], "counted anew");
    }
}

#[test]
fn at_most_so_many_duplicates_wait_and_none_when_switched_off() {
    let few = Stack { sack_compression_segs: 3, ..plain() };
    let deferred = [true, true, true, false, false, false, true, false];
    assert_eq!(at_once(&mut receiver(&few), 1..9), deferred);
    let off = Stack { sack_compression_ns: Span::ZERO, ..plain() };
    assert_eq!(at_once(&mut receiver(&off), 1..9), [true; 8]);
}

#[test]
fn a_held_duplicate_goes_before_a_block_that_would_displace_what_it_reports() {
    let mut receiver = receiver(&plain());
    assert_eq!(at_once(&mut receiver, 1..2), [true]);
    assert_eq!(at_once(&mut receiver, 3..4), [true]);
    assert_eq!(at_once(&mut receiver, 5..6), [true]);
    assert_eq!(at_once(&mut receiver, 7..8), [false], "there is space for a fourth block");
    assert_eq!(at_once(&mut receiver, 9..10), [true], "of the fourth block, not of the fifth");
    assert_eq!(receiver.blocks().as_slice(), [7..8, 5..6, 3..4]);
    assert_eq!(at_once(&mut receiver, 10..11), [false], "it extends a block");
    assert_eq!(at_once(&mut receiver, 12..13), [true]);
    assert_eq!(receiver.blocks().as_slice(), [9..11, 7..8, 5..6]);
}

#[test]
fn a_held_duplicate_is_sent_under_its_own_mark() {
    let mut receiver = receiver(&Stack { ecn: Ecn::Dctcp, ..plain() });
    at_once(&mut receiver, 1..5);
    let acks = on_data(&mut receiver, 9_000, Arrival { ce: true, ..full(5) });
    assert_eq!(acks.iter().map(|ack| ack.ece).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn receive_offload_leaves_one_acknowledgement_for_a_run() {
    let gro_flush_ns = Span(5_000);
    let mut receiver = receiver(&Stack { gro_segs: 4, gro_flush_ns, ..plain() });
    assert_eq!(at_once(&mut receiver, 0..5), [false, false, false, true, false]);
    assert_eq!((receiver.next(), receiver.received_segs()), (4, 5));
    assert_eq!(receiver.deadline(), Some(Time(9_000)));
    assert!(on_timer(&mut receiver, 9_000).is_empty(), "one segment waits for a second");
    assert_eq!((receiver.next(), receiver.deadline()), (5, Some(Time(40 * MS + 9_000))));
    // A gap: the held aggregate is in order, and the segment after the gap is held next.
    for number in 5..7 {
        assert_eq!(on_data(&mut receiver, 9_000 + number, full(number)), []);
    }
    let acks = on_data(&mut receiver, 9_500, full(8));
    assert_eq!(acks.iter().map(|ack| ack.cumulative).collect::<Vec<_>>(), [7]);
    let acks = on_timer(&mut receiver, 14_500);
    assert_eq!((acks[0].cumulative, receiver.blocks().as_slice()), (7, &vec![8..9; 1][..]));
}

#[test]
fn receive_offload_ends_a_run_at_a_mark_and_at_the_end_of_a_message() {
    let stack = Stack { gro_segs: 44, gro_flush_ns: Span(5_000), ecn: Ecn::Dctcp, ..plain() };
    let mut receiver = receiver(&stack);
    on_data(&mut receiver, 0, full(0));
    assert_eq!(on_data(&mut receiver, 0, Arrival { ce: true, ..full(1) }), []);
    let last = Arrival { ce: true, pushed: true, ..full(2) };
    let acks = on_data(&mut receiver, 0, last);
    let acks: Vec<_> = acks.iter().map(|ack| (ack.cumulative, ack.ece)).collect();
    assert_eq!(acks, [(1, false), (3, true)], "the run that waits, and the one that ends");
    assert_eq!(receiver.deadline(), None);
}

#[test]
fn a_segment_that_raises_the_window_is_acknowledged_at_once_also_behind_a_hole() {
    let buffer = 16 * 8 * 1_448;
    let stack = Stack {
        delayed_ack: AckDelay::Adaptive,
        receive_buffer_bytes: buffer,
        receive_buffer_max_bytes: buffer,
        ..plain()
    };
    let mut eighth = receiver(&stack);
    assert_eq!(at_once(&mut eighth, 0..10), [vec![true; 8], vec![false, true]].concat());
    let mut hole = receiver(&stack);
    at_once(&mut hole, 0..4);
    let four_and_three = [vec![true; 7], vec![false]].concat();
    assert_eq!(at_once(&mut hole, 5..13), four_and_three, "three duplicates go at once anyway");
    let mut fixed = receiver(&Stack { delayed_ack: AckDelay::Fixed, ..stack });
    assert_eq!(at_once(&mut fixed, 0..4), [false, true, false, true]);
}
