//! The scoreboard compared with a slow model that has flags for each segment.

use std::ops::Range;

use dumbbell_algorithm::CaState;
use dumbbell_network::{Span, Time};
use dumbbell_tcp::{Ack, LossContext, LossDetection, PROFILES, SackBlocks, Scoreboard, Stack};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    arrived: bool,
    original_lost: bool,
    /// True if a retransmission is outstanding.
    resent: bool,
    ever_resent: bool,
    last_sent: Time,
    /// Number of that transmission.
    serial: u64,
    /// The next new segment at the last retransmission.
    sent_before: u64,
}

/// Every rule of loss detection, applied segment by segment.
struct Model {
    detection: LossDetection,
    segments: Vec<Flags>,
    una: u64,
    degree: u64,
    reordered: bool,
    transmissions: u64,
    /// Serial of the last sent segment among those that arrived, and the round trip of the last
    /// arrival.
    latest: Option<(u64, Span)>,
}

const MIN_RTT: Span = Span::from_millis(10);
const SRTT: Span = Span::from_millis(15);

fn context(now: Time, state: CaState) -> LossContext {
    LossContext { now, min_rtt: MIN_RTT, srtt: SRTT, state, echo: None }
}

impl Model {
    fn next(&self) -> u64 {
        self.segments.len() as u64
    }

    fn flags(&mut self, segment: u64) -> &mut Flags {
        &mut self.segments[segment as usize]
    }

    fn missing(&self) -> Vec<u64> {
        (self.una..self.next()).filter(|&s| !self.segments[s as usize].arrived).collect()
    }

    fn count(&self, what: impl Fn(&Flags) -> bool) -> u64 {
        let window = &self.segments[self.una as usize..];
        window.iter().filter(|flags| what(flags)).count() as u64
    }

    /// Numbers of segments that are SACKed, lost, sent again, in flight, and to be sent again.
    fn counts(&self) -> [u64; 5] {
        let sacked = self.count(|flags| flags.arrived);
        let lost = self.count(|flags| !flags.arrived && flags.original_lost);
        let resent = self.count(|flags| !flags.arrived && flags.resent);
        let original = self.count(|flags| !flags.arrived && !flags.original_lost);
        let pending = self.count(|flags| !flags.arrived && flags.original_lost && !flags.resent);
        [sacked, lost, resent, original + resent, pending]
    }

    fn top(&self) -> Option<u64> {
        let mut sacked = (self.una..self.next()).rev();
        sacked.find(|&segment| self.segments[segment as usize].arrived).map(|top| top + 1)
    }

    fn send(&mut self, now: Time) {
        self.transmissions += 1;
        let serial = self.transmissions;
        self.segments.push(Flags { last_sent: now, serial, ..Flags::default() });
    }

    fn resend(&mut self, now: Time, segment: u64) {
        self.transmissions += 1;
        let (next, serial) = (self.next(), self.transmissions);
        let flags = self.flags(segment);
        (flags.resent, flags.ever_resent) = (true, true);
        (flags.last_sent, flags.sent_before, flags.serial) = (now, next, serial);
    }

    fn acknowledge(&mut self, now: Time, cumulative: u64, blocks: &[Range<u64>]) {
        let top = self.top();
        let una = self.una;
        let below = una..cumulative.max(una);
        let mut lowest_original = None;
        for span in blocks.iter().chain([&below]) {
            for segment in span.clone().filter(|&segment| segment >= una) {
                let flags = *self.flags(segment);
                if !flags.arrived {
                    self.arrive(now, segment, flags);
                    if !flags.ever_resent {
                        let lowest: u64 = lowest_original.unwrap_or(segment);
                        lowest_original = Some(lowest.min(segment));
                    }
                }
            }
        }
        self.una = below.end;
        if let (Some(lowest), Some(top)) = (lowest_original, top) {
            if lowest + 1 < top {
                self.reordered = true;
                self.degree = self.degree.max((top - lowest).min(300));
            }
        }
    }

    fn arrive(&mut self, now: Time, segment: u64, flags: Flags) {
        self.flags(segment).arrived = true;
        let rtt = now.since(flags.last_sent);
        let too_soon = flags.ever_resent && rtt < MIN_RTT;
        if !too_soon {
            let latest = self.latest.map_or(0, |(serial, _)| serial);
            self.latest = Some((latest.max(flags.serial), rtt));
        }
        if self.detection == LossDetection::Sacked && flags.resent {
            for other in self.missing() {
                let other = self.flags(other);
                other.resent &= other.serial > flags.serial;
            }
        }
    }

    fn infer(&mut self, context: &LossContext) {
        let counting = self.reordered || self.detection == LossDetection::Sacked;
        let by_order = match self.detection {
            LossDetection::Fack => context.state != CaState::Loss && !self.reordered,
            detection => detection == LossDetection::Sacked,
        };
        if let (Some(top), true) = (self.top(), self.detection != LossDetection::Rack) {
            for segment in self.missing() {
                let above = self.segments[segment as usize..].iter();
                let sacked_above = above.filter(|flags| flags.arrived).count() as u64;
                let lost = if counting {
                    sacked_above >= self.degree
                } else {
                    top > segment + self.degree
                };
                let flags = self.flags(segment);
                flags.original_lost |= lost;
                flags.resent &= !by_order || top <= flags.sent_before;
            }
        }
        self.infer_by_time(context);
    }

    fn infer_by_time(&mut self, context: &LossContext) {
        let Some((latest, rtt)) = self.latest else { return };
        let [sacked, lost, ..] = self.counts();
        let quarter = Span(MIN_RTT.0 / 4);
        let window = match self.detection {
            LossDetection::Rack if self.reordered => quarter,
            LossDetection::Rack if context.is_repairing() || sacked >= self.degree => Span::ZERO,
            LossDetection::Rack => quarter,
            LossDetection::FackRack if self.reordered || lost == 0 => quarter,
            LossDetection::FackRack => Span::from_millis(1),
            _ => return,
        };
        let mut successor_lost = false;
        for segment in self.missing().into_iter().rev() {
            let flags = self.flags(segment);
            let overtaken = flags.serial < latest;
            let lost = overtaken && context.now.since(flags.last_sent).0 >= rtt.0 + window.0;
            successor_lost |= lost;
            flags.original_lost |= successor_lost;
            flags.resent &= !lost;
        }
    }

    fn lose_all(&mut self) {
        for segment in self.missing() {
            let flags = self.flags(segment);
            (flags.original_lost, flags.resent) = (true, false);
        }
    }

    fn lose_nothing(&mut self) {
        for segment in self.missing() {
            self.flags(segment).original_lost = false;
        }
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Send(u64),
    Resend(u64),
    Probe,
    /// Cumulative advance, then blocks as distances above it and lengths.
    Acknowledge(u64, Vec<(u64, u64)>),
    Wait(CaState),
    LoseAll,
    LoseNothing,
}

fn any_state() -> impl Strategy<Value = CaState> {
    prop::sample::select(&[CaState::Open, CaState::Recovery, CaState::Loss][..])
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let blocks = prop::collection::vec((0u64..30, 1u64..6), 0..4);
    let advance = prop_oneof![3 => Just(0u64), 2 => 0u64..12];
    prop_oneof![
        4 => (1u64..12).prop_map(Operation::Send),
        4 => (1u64..6).prop_map(Operation::Resend),
        1 => Just(Operation::Probe),
        8 => (advance, blocks).prop_map(|(by, blocks)| Operation::Acknowledge(by, blocks)),
        4 => any_state().prop_map(Operation::Wait),
        1 => Just(Operation::LoseAll),
        1 => Just(Operation::LoseNothing),
    ]
}

/// The board and the model under the same operations.
struct Pair {
    board: Scoreboard,
    model: Model,
    now: Time,
}

impl Pair {
    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Send(count) => (0..count).for_each(|_| {
                self.board.send_new(self.now, 1);
                self.model.send(self.now);
            }),
            Operation::Resend(count) => (0..count).for_each(|_| self.resend()),
            Operation::Probe => {
                if let Some(last) = self.model.missing().last().copied() {
                    self.board.resend(self.now, last);
                    self.model.resend(self.now, last);
                }
            }
            Operation::Acknowledge(by, blocks) => self.acknowledge(by, &blocks),
            Operation::Wait(state) => {
                self.tick(1_500_000);
                let context = context(self.now, state);
                self.board.infer_losses(&context);
                self.model.infer(&context);
                assert!(self.board.recheck() > self.now);
            }
            Operation::LoseAll => {
                self.board.lose_all();
                self.model.lose_all();
            }
            Operation::LoseNothing => {
                self.board.lose_nothing();
                self.model.lose_nothing();
            }
        }
    }

    fn tick(&mut self, ns: u64) {
        self.now += Span(ns);
    }

    fn resend(&mut self) {
        let Some(segment) = self.board.next_lost() else {
            assert_eq!(self.model.counts()[4], 0, "something is to be sent again");
            return;
        };
        let flags = *self.model.flags(segment);
        assert!(!flags.arrived && flags.original_lost && !flags.resent, "{segment}: {flags:?}");
        self.board.resend(self.now, segment);
        self.model.resend(self.now, segment);
    }

    fn acknowledge(&mut self, by: u64, distances: &[(u64, u64)]) {
        let next = self.model.next();
        let cumulative = (self.model.una + by).min(next);
        let (mut blocks, mut ranges) = (SackBlocks::default(), Vec::new());
        for &(distance, length) in distances {
            let start = cumulative + 1 + distance;
            if start < next && !blocks.is_full() {
                let range = start..(start + length).min(next);
                blocks.push(range.clone());
                ranges.push(range);
            }
        }
        self.tick(700_000);
        let ack = Ack { cumulative, has_blocks: !blocks.is_empty(), ..Ack::default() };
        let context = context(self.now, CaState::Open);
        let before = self.model.count(|flags| flags.arrived) + self.model.una;
        let delivery = self.board.acknowledge(&context, &ack, &blocks);
        self.model.acknowledge(self.now, cumulative, &ranges);
        let after = self.model.count(|flags| flags.arrived) + self.model.una;
        assert_eq!(delivery.delivered_segs, after - before);
    }

    fn compare(&self) {
        let [sacked, lost, resent, in_flight, _] = self.model.counts();
        assert_eq!(self.board.una(), self.model.una);
        assert_eq!(self.board.sacked_segs(), sacked, "SACKed");
        assert_eq!(self.board.lost_segs(), lost, "lost");
        assert_eq!(self.board.resent_segs(), resent, "sent again");
        assert_eq!(self.board.in_flight_segs(), in_flight, "in flight");
        assert_eq!(self.board.reordering().degree_segs(), self.model.degree);
        assert_eq!(self.board.reordering().is_seen(), self.model.reordered);
    }
}

fn pair(detection: LossDetection) -> Pair {
    let linux_6 = PROFILES.iter().find(|profile| profile.name == "linux-6");
    let stack = Stack { loss_detection: detection, ..(linux_6.expect("today's profile").stack)() };
    let model = Model {
        detection,
        segments: Vec::new(),
        una: 0,
        degree: 3,
        reordered: false,
        transmissions: 0,
        latest: None,
    };
    Pair { board: Scoreboard::new(&stack), model, now: Time::ZERO }
}

proptest! {
    #[test]
    fn the_board_agrees_with_a_model_of_flags(
        detection in prop::sample::select(&[
            LossDetection::Fack,
            LossDetection::FackRack,
            LossDetection::Sacked,
            LossDetection::Rack,
        ][..]),
        operations in prop::collection::vec(any_operation(), 1..60),
    ) {
        let mut pair = pair(detection);
        for operation in operations {
            pair.apply(operation);
            pair.compare();
        }
    }
}

fn board(detection: LossDetection) -> Scoreboard {
    let mut board = pair(detection).board;
    (0..10).for_each(|at| assert_eq!(board.send_new(Time(at), 1), at));
    board
}

#[test]
fn a_probe_of_the_last_segment_leaves_the_time_when_it_was_new() {
    let mut board = board(LossDetection::Rack);
    board.resend(Time(50), 9);
    board.resend(Time(60), 9);
    assert_eq!(board.last_new_sent(), Time(9));
    board.send_new(Time(70), 1);
    assert_eq!(board.last_new_sent(), Time(70));
}

#[test]
fn the_segment_behind_a_duplicate_ack_is_no_arrival() {
    let mut board = board(LossDetection::NewReno);
    for (cumulative, newest) in [(2, Some(1)), (2, None), (2, None), (6, Some(5))] {
        let ack = Ack { cumulative, ..Ack::default() };
        let delivery =
            board.acknowledge(&context(Time(90), CaState::Open), &ack, &SackBlocks::default());
        assert!(delivery.delivered_segs > 0);
        assert_eq!(delivery.newest, newest);
    }
}

/// As in Linux, which reads the blocks of an ACK before its cumulative number. The round-trip time
/// of a segment that waited for its delayed ACK is not that of a segment that overtook a hole.
#[test]
fn an_ack_that_advances_and_sacks_judges_by_what_it_acknowledges() {
    let mut board = pair(LossDetection::Rack).board;
    // Segment 1 is lost. It left with 0, and 2 and 3 left later.
    let sent = |at_us| Time::ZERO + Span::from_micros(at_us);
    for at_us in [0, 0, 5_000, 5_000] {
        board.send_new(sent(at_us), 1);
    }
    let mut acknowledge = |at_us, sacked: Range<u64>| {
        let mut blocks = SackBlocks::default();
        blocks.push(sacked);
        let ack = Ack { cumulative: 1, has_blocks: true, ..Ack::default() };
        let context = context(sent(at_us), CaState::Open);
        board.acknowledge(&context, &ack, &blocks);
        board.infer_losses(&context).segs
    };
    assert_eq!(acknowledge(20_000, 2..3), 0, "as old as what was acknowledged");
    assert_eq!(acknowledge(20_100, 2..4), 1, "older by more than a quarter of the smallest RTT");
}
