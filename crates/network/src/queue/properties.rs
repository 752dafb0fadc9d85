//! Properties of every discipline under any traffic.

use proptest::prelude::*;

use super::testing::{admission, schedules};
use super::{Backlog, Discipline, Queued, Scheduler, Verdict};
use crate::packet::{Direction, Ecn, Packet};
use crate::units::{Span, Time};

/// All disciplines that decide on departure, or all that decide on arrival.
fn disciplines(schedules: bool) -> Vec<&'static str> {
    let mut examples = Discipline::quick_examples();
    let is_such =
        |json: &&str| serde_json::from_str::<Discipline>(json).unwrap().schedules() == schedules;
    examples.retain(is_such);
    examples
}

const LIMITS: [&str; 3] = ["null", r#"{"packets":12}"#, r#"{"bytes":20000}"#];

/// An operation on a queue: time passes, and a packet comes or leaves.
#[derive(Clone, Copy, Debug)]
struct Operation {
    pause: u64,
    /// Flow and size of the packet that comes. None if one leaves.
    packet: Option<(u32, u16)>,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let packet = prop::option::weighted(0.55, (0u32..6, 40u16..3_000));
    let operation = (0u64..600, packet).prop_map(|(pause, packet)| Operation { pause, packet });
    prop::collection::vec(operation, 1..500)
}

/// Flows with odd numbers are ECN-capable, half of them with ECT(1).
const fn ecn(flow: u32) -> Ecn {
    match flow % 4 {
        1 => Ecn::Ect0,
        3 => Ecn::Ect1,
        _ => Ecn::NotEct,
    }
}

/// A queue and all packets that went through it.
struct Observed {
    queue: Box<dyn Scheduler>,
    marks_instead: bool,
    entered: Vec<Packet>,
    left: Vec<Packet>,
    dropped: Vec<Packet>,
}

impl Observed {
    fn apply(&mut self, now: u64, operation: Operation) -> Result<(), TestCaseError> {
        if let Some((flow, bytes)) = operation.packet {
            let number = self.entered.len() as u64;
            let packet = Packet::new(flow, Direction::Forward, bytes, number).with_ecn(ecn(flow));
            let queued = Queued { packet, wire_bytes: bytes.into(), since: Time(now) };
            self.queue.enqueue(Time(now), queued, &mut self.dropped);
            self.entered.push(packet);
            return Ok(());
        }
        let before = (self.queue.packets(), self.dropped.len());
        let queued = self.queue.dequeue(Time(now), &mut self.dropped);
        // Work conservation: a queue with packets returns one.
        prop_assert_eq!(queued.is_some(), before.0 > 0);
        for packet in &self.dropped[before.1..] {
            prop_assert!(!self.marks_instead || packet.ecn() == Ecn::NotEct, "{packet:?} dropped");
        }
        if let Some(queued) = queued {
            self.check_order(queued)?;
            self.left.push(queued.packet);
        }
        Ok(())
    }

    /// Check that a flow's packets leave in their order and unchanged except for marks.
    fn check_order(&self, queued: Queued) -> Result<(), TestCaseError> {
        let packet = queued.packet;
        let mut of_flow = self.left.iter().rev().filter(|other| other.flow() == packet.flow());
        prop_assert!(of_flow.next().is_none_or(|other| other.number() < packet.number()));
        let entered_as = self.entered[packet.number() as usize];
        prop_assert_eq!(packet.with_ecn(entered_as.ecn()), entered_as);
        prop_assert!(packet == entered_as || entered_as.ecn() != Ecn::NotEct, "{packet:?} marked");
        prop_assert_eq!(queued.wire_bytes, u32::from(packet.bytes()));
        Ok(())
    }

    /// Check that each packet that came in went out, was dropped or is still there, once.
    fn check_conservation(&self) -> Result<(), TestCaseError> {
        let waiting = self.queue.waiting();
        prop_assert_eq!(waiting.len(), self.queue.packets() as usize);
        let bytes: u64 = waiting.iter().map(|packet| u64::from(packet.bytes())).sum();
        prop_assert_eq!(bytes, self.queue.bytes());
        let examples = [&self.left, &self.dropped, &waiting];
        let mut numbers: Vec<_> =
            examples.into_iter().flatten().map(|packet| packet.number()).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..self.entered.len() as u64));
        let marked = [&self.left, &waiting].into_iter().flatten();
        let marked = marked.filter(|packet| packet.ecn() == Ecn::Ce).count() as u64;
        // No discipline drops a packet that it has marked.
        prop_assert_eq!(marked, self.queue.marked());
        Ok(())
    }

    fn check_limit(&self, limit: &str, classes: u32) -> Result<(), TestCaseError> {
        if self.queue.packets() > 1 {
            prop_assert!(limit != LIMITS[1] || self.queue.packets() <= 12 * classes);
            prop_assert!(limit != LIMITS[2] || self.queue.bytes() <= 20_000 * u64::from(classes));
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn schedulers_keep_their_promises(
        json in prop::sample::select(disciplines(true)),
        limit in 0..LIMITS.len(),
        operations in operations(),
    ) {
        let limit = LIMITS[limit];
        let mut observed = Observed {
            queue: schedules(limit, json),
            marks_instead: json.contains("\"ecn\":true"),
            entered: Vec::new(),
            left: Vec::new(),
            dropped: Vec::new(),
        };
        let mut now = 0;
        for operation in operations {
            now += operation.pause;
            observed.apply(now, operation)?;
            observed.check_conservation()?;
            observed.check_limit(limit, if json.contains("classes") { 2 } else { 1 })?;
        }
    }
}

proptest! {
    #[test]
    fn admissions_mark_only_capable_packets_and_respect_the_limit(
        json in prop::sample::select(disciplines(false)),
        limit in 0..LIMITS.len(),
        arrivals in prop::collection::vec((0u64..900, 0u32..6, 40u16..3_000), 1..400),
    ) {
        let mut queue = admission(LIMITS[limit], json);
        // A byte takes a nanosecond to send.
        let (mut now, mut ends) = (0, std::collections::VecDeque::<(u64, u32)>::new());
        let mut free_at = 0;
        for (pause, flow, bytes) in arrivals {
            now += pause;
            while ends.front().is_some_and(|&(end, _)| end <= now) {
                ends.pop_front();
            }
            let backlog = Backlog {
                packets: ends.len() as u32,
                bytes: ends.iter().map(|&(_, bytes)| u64::from(bytes)).sum(),
                sending_bytes: ends.front().map_or(0, |&(_, bytes)| bytes),
                wait: Span(free_at.max(now) - now),
                idle: Span(now - free_at.min(now)),
            };
            let packet = Packet::new(flow, Direction::Forward, bytes, 0).with_ecn(ecn(flow));
            let verdict = queue.admit(Time(now), &backlog, packet, bytes.into());
            prop_assert!(verdict != Verdict::Mark || packet.ecn() != Ecn::NotEct);
            if verdict != Verdict::Drop {
                free_at = free_at.max(now) + u64::from(bytes);
                ends.push_back((free_at, bytes.into()));
                prop_assert!(limit != 1 || ends.len() <= 13);
                let waiting: u32 = ends.iter().skip(1).map(|&(_, bytes)| bytes).sum();
                prop_assert!(limit != 2 || waiting <= 20_000);
            }
        }
    }
}
