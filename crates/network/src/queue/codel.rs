//! Controlled delay (`CoDel`, RFC 8289).

use schemars::JsonSchema;
use serde::Deserialize;

use super::limit::Limit;
use super::pool::{List, Pool};
use super::{Example, Parameters, Queued, Scheduled, Scheduler};
use crate::check::{Check, not_zero, require};
use crate::packet::{Ecn, Packet};
use crate::random::Random;
use crate::units::{Span, Time};

/// Parameters of `CoDel` (RFC 8289, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoDelConfig {
    /// Largest standing sojourn time.
    pub target_ns: Span,
    /// Time for which the sojourn time must stay above the target.
    pub interval_ns: Span,
    /// True if ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Parameters for CoDelConfig {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "CoDel",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"codel","target_ns":5000000,"interval_ns":100000000,"ecn":false}}"#,
        },
        Example {
            name: "CoDel that marks",
            queue: r#"{"limit":{"packets":100},"discipline":{"kind":"codel","target_ns":5000000,"interval_ns":100000000,"ecn":true}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] =
        &[r#"{"kind":"codel","target_ns":500,"interval_ns":10000,"ecn":true}"#];

    fn check(&self) -> Check {
        not_zero("target_ns", self.target_ns.0)?;
        let longer = self.interval_ns > self.target_ns;
        require(longer, "interval_ns", || {
            format!("{}, but it must be above target_ns {}", self.interval_ns.0, self.target_ns.0)
        })
    }

    fn untouched_below(&self) -> Option<Span> {
        Some(self.target_ns)
    }
}

/// Number of intervals since the last drop after which its rate is out of date (section 5.5).
const MEMORY_INTERVALS: u64 = 16;

/// The control law, common to the queues of one link.
#[derive(Clone, Debug)]
pub struct Law {
    target: Span,
    interval: Span,
    ecn: bool,
    /// Largest packet so far, in bytes. A queue of no more bytes is never too long.
    largest_bytes: u32,
    marked: u64,
}

/// State of the law for one queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control {
    dropping: bool,
    /// Drops since the dropping state began, including those of an earlier state that it resumes.
    count: u32,
    /// `count` when the dropping state began.
    count_before: u32,
    drops_at: Time,
    /// Time at which the sojourn time will have been above the target for an interval. None while
    /// it is below.
    late_at: Option<Time>,
}

/// A packet from the queue. `late` is true if the law may drop it.
struct Candidate {
    queued: Queued,
    late: bool,
}

impl Law {
    /// The law with the given parameters.
    pub const fn new(config: &CoDelConfig) -> Self {
        Self {
            target: config.target_ns,
            interval: config.interval_ns,
            ecn: config.ecn,
            largest_bytes: 0,
            marked: 0,
        }
    }

    /// Number of packets marked so far.
    pub const fn marked(&self) -> u64 {
        self.marked
    }

    /// Record the size of a packet that joins.
    #[inline]
    pub fn sees(&mut self, wire_bytes: u32) {
        self.largest_bytes = self.largest_bytes.max(wire_bytes);
    }

    /// Return whether a packet that joins an empty queue and waits so long leaves unchanged. This
    /// is the last packet of its queue, so the law keeps only its size.
    #[inline]
    pub fn passes(&mut self, wire_bytes: u32, wait: Span) -> bool {
        self.sees(wire_bytes);
        wait < self.target
    }

    /// Remove and return the next packet of a list (section 5.5).
    #[inline]
    pub fn dequeue(
        &mut self,
        now: Time,
        control: &mut Control,
        (pool, list): (&mut Pool, &mut List),
        dropped: &mut Vec<Packet>,
    ) -> Option<Queued> {
        let first = self.take(now, control, (pool, list));
        match first {
            Some(candidate) if candidate.late => {
                if control.dropping {
                    self.keep_dropping(now, control, (pool, list), candidate, dropped)
                } else {
                    self.start_dropping(now, control, (pool, list), candidate, dropped)
                }
            }
            _ => {
                control.dropping = false;
                first.map(|candidate| candidate.queued)
            }
        }
    }

    /// Remove a packet and check its sojourn time (section 5.6).
    #[inline]
    fn take(
        &self,
        now: Time,
        control: &mut Control,
        (pool, list): (&mut Pool, &mut List),
    ) -> Option<Candidate> {
        let Some(queued) = pool.pop(list) else {
            control.late_at = None;
            return None;
        };
        // With at most one packet behind this one, a drop would only idle the link (RFC 8289,
        // section 5.6).
        let short = list.bytes() <= u64::from(self.largest_bytes);
        if short || now.since(queued.since) < self.target {
            control.late_at = None;
            return Some(Candidate { queued, late: false });
        }
        let late_at = *control.late_at.get_or_insert(now + self.interval);
        Some(Candidate { queued, late: now >= late_at })
    }

    /// Continue the dropping state: drop packets at shrinking intervals.
    #[cold]
    fn keep_dropping(
        &mut self,
        now: Time,
        control: &mut Control,
        (pool, list): (&mut Pool, &mut List),
        mut candidate: Candidate,
        dropped: &mut Vec<Packet>,
    ) -> Option<Queued> {
        while control.dropping && now >= control.drops_at {
            control.count = control.count.saturating_add(1);
            if self.marks(&mut candidate.queued) {
                // The next time counts from the planned one, so a late call does not lower the rate
                // of drops.
                control.drops_at = self.next(control.drops_at, control.count);
                break;
            }
            dropped.push(candidate.queued.packet);
            let Some(next) = self.take(now, control, (pool, list)) else {
                control.dropping = false;
                return None;
            };
            candidate = next;
            if candidate.late {
                control.drops_at = self.next(control.drops_at, control.count);
            } else {
                control.dropping = false;
            }
        }
        Some(candidate.queued)
    }

    /// Enter the dropping state with a first drop. Soon after the last state it resumes the rate of
    /// that state.
    #[cold]
    fn start_dropping(
        &mut self,
        now: Time,
        control: &mut Control,
        (pool, list): (&mut Pool, &mut List),
        mut candidate: Candidate,
        dropped: &mut Vec<Packet>,
    ) -> Option<Queued> {
        // Drops of the last dropping state alone, without those that it resumed.
        let reached = control.count - control.count_before;
        let recent = Span(now.0.saturating_sub(control.drops_at.0));
        let remembers = reached > 1 && recent.0 < MEMORY_INTERVALS * self.interval.0;
        control.count = if remembers { reached } else { 1 };
        control.count_before = control.count;
        control.drops_at = self.next(now, control.count);
        control.dropping = true;
        if self.marks(&mut candidate.queued) {
            return Some(candidate.queued);
        }
        dropped.push(candidate.queued.packet);
        // The next packet leaves in any case, because one drop is enough to begin.
        self.take(now, control, (pool, list)).map(|candidate| candidate.queued)
    }

    /// The control law: the next drop comes after one interval over the root of the count (section
    /// 5.6). Division and square root are the same on every machine (IEEE 754).
    fn next(&self, time: Time, count: u32) -> Time {
        time + Span((self.interval.0 as f64 / f64::from(count).sqrt()) as u64)
    }

    /// Mark a packet and return true, if it can be marked.
    fn marks(&mut self, queued: &mut Queued) -> bool {
        let marks = self.ecn && queued.packet.ecn() != Ecn::NotEct;
        if marks {
            queued.packet = queued.packet.with_ecn(Ecn::Ce);
            self.marked += 1;
        }
        marks
    }
}

impl Scheduled for CoDelConfig {
    type Law = CoDel;

    fn scheduler(&self, limit: Option<Limit>, _random: Random) -> CoDel {
        CoDel::new(self, limit)
    }
}

/// One queue with `CoDel`.
#[derive(Clone, Debug)]
pub struct CoDel {
    law: Law,
    control: Control,
    pool: Pool,
    list: List,
    limit: Option<Limit>,
}

impl CoDel {
    /// An empty queue.
    #[must_use]
    pub fn new(config: &CoDelConfig, limit: Option<Limit>) -> Self {
        Self {
            law: Law::new(config),
            control: Control::default(),
            pool: Pool::default(),
            list: List::default(),
            limit,
        }
    }
}

impl Scheduler for CoDel {
    fn enqueue(&mut self, _now: Time, queued: Queued, dropped: &mut Vec<Packet>) {
        let bytes = self.pool.bytes() + u64::from(queued.wire_bytes);
        let packets = self.pool.packets() + 1;
        if packets > 1 && self.limit.is_some_and(|limit| !limit.holds(packets, bytes)) {
            dropped.push(queued.packet);
            return;
        }
        self.law.sees(queued.wire_bytes);
        self.pool.push(&mut self.list, queued);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        self.law.dequeue(now, &mut self.control, (&mut self.pool, &mut self.list), dropped)
    }

    fn packets(&self) -> u32 {
        self.pool.packets()
    }

    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }

    fn marked(&self) -> u64 {
        self.law.marked()
    }

    fn waiting(&self) -> Vec<Packet> {
        self.pool.iter(&self.list).collect()
    }

    #[inline]
    fn passes(&mut self, wire_bytes: u32, wait: Span) -> bool {
        self.pool.packets() == 0 && self.law.passes(wire_bytes, wait)
    }

    fn holds(&self, packets: u32, bytes: u64) -> bool {
        self.limit.is_none_or(|limit| limit.holds(packets, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, put, refused, schedules, take};
    use super::*;

    const MS: u64 = 1_000_000;

    fn codel(ecn: bool) -> Box<dyn Scheduler> {
        let json = format!(
            r#"{{"kind":"codel","target_ns":5000000,"interval_ns":100000000,"ecn":{ecn}}}"#
        );
        schedules("null", &json)
    }

    /// Serve a packet each millisecond and keep `waiting` packets in the queue. Return the times of
    /// the drops, in milliseconds.
    fn serve(queue: &mut dyn Scheduler, from: u64, to: u64, waiting: u32) -> Vec<u64> {
        let mut drops = Vec::new();
        for now in from..to {
            let missing = waiting.saturating_sub(queue.packets());
            put(queue, now * MS, (0..missing).map(|_| packet(0, now)));
            let dropped = take(queue, now * MS).map_or(0, |(_, dropped)| dropped);
            drops.extend(std::iter::repeat_n(now, dropped));
        }
        drops
    }

    #[test]
    fn drops_come_at_intervals_over_the_root_of_their_count() {
        let mut queue = codel(false);
        let drops = serve(&mut *queue, 0, 1_000, 50);
        // The sojourn time first reaches 5 ms at 5 ms. The first drop comes an interval later.
        let mut expected = vec![105.0];
        for count in 1..drops.len() {
            expected.push(expected[count - 1] + 100.0 / (count as f64).sqrt());
        }
        assert!(drops.len() > 20);
        for (drop, expected) in drops.iter().zip(expected) {
            // Packets leave at whole milliseconds.
            assert_eq!(*drop, f64::ceil(expected) as u64, "{drops:?}");
        }
    }

    #[test]
    fn nothing_is_dropped_below_the_target_or_within_an_interval() {
        let mut queue = codel(false);
        assert!(serve(&mut *queue, 0, 2_000, 4).is_empty());
        // These bursts above the target last less than an interval.
        for burst in 0..10 {
            let from = 2_000 + 200 * burst;
            assert!(serve(&mut *queue, from, from + 60, 30).is_empty());
            assert!(serve(&mut *queue, from + 60, from + 200, 2).is_empty());
        }
    }

    #[test]
    fn a_single_packet_is_never_too_long_a_queue() {
        let mut queue = codel(false);
        for now in (0..5_000).step_by(50) {
            assert_eq!(put(&mut *queue, now * MS, [packet(0, now)]), 0);
            assert_eq!(take(&mut *queue, (now + 40) * MS).unwrap().1, 0);
        }
    }

    #[test]
    fn soon_after_it_returns_to_the_rate_it_had() {
        let mut queue = codel(false);
        let before = serve(&mut *queue, 0, 1_000, 50).len() as u64;
        serve(&mut *queue, 1_000, 1_200, 0);
        let again = serve(&mut *queue, 1_200, 1_500, 50);
        // The first drop comes an interval after the target was passed. The second comes sooner
        // than an interval later: after 100 ms / sqrt(count - 1).
        let gap = (100.0 / ((before - 1) as f64).sqrt()).ceil() as u64;
        assert!(again[1] - again[0] <= gap, "{again:?} {gap}");
        // After 16 intervals without a queue the law starts again.
        serve(&mut *queue, 1_500, 5_000, 0);
        let second = serve(&mut *queue, 5_000, 6_000, 50);
        assert_eq!(second[1] - second[0], 100);
    }

    #[test]
    fn capable_packets_are_marked_at_the_same_times() {
        let (mut marking, mut marks) = (codel(true), Vec::new());
        for now in 0..1_000 {
            let missing = 50 - marking.packets();
            put(&mut *marking, now * MS, (0..missing).map(|_| packet(0, now).with_ecn(Ecn::Ect0)));
            let (queued, dropped) = take(&mut *marking, now * MS).unwrap();
            assert_eq!(dropped, 0);
            marks.extend((queued.packet.ecn() == Ecn::Ce).then_some(now));
        }
        assert_eq!(marks, serve(&mut *codel(false), 0, 1_000, 50));
        assert_eq!(marking.marked(), marks.len() as u64);
    }

    #[test]
    fn a_limit_refuses_what_does_not_fit() {
        let json = r#"{"kind":"codel","target_ns":5000000,"interval_ns":100000000,"ecn":true}"#;
        let mut queue = schedules(r#"{"packets":10}"#, json);
        assert_eq!(put(&mut *queue, 0, (0..15).map(|number| packet(0, number))), 5);
        assert_eq!(queue.waiting(), (0..10).map(|number| packet(0, number)).collect::<Vec<_>>());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(refused::<CoDelConfig>("100000000", "5000000"), "discipline.interval_ns");
    }
}
