//! A class for ECN-capable packets and one for the others, in equal turns.
//!
//! So works the switch of Brakmo's DCTCP tests (algorithms.md, 9.1): DCTCP cannot be
//! starved by senders that fill the queue, nor starve them. The round robin is by bytes
//! (Shreedhar and Varghese, SIGCOMM 1995), the mark DCTCP's (RFC 8257, section 3.1).

use serde::Deserialize;

use super::limit::Limit;
use super::pool::{List, Pool};
use super::{Queued, Scheduler};
use crate::check::{Check, not_zero};
use crate::packet::{Ecn, Packet};
use crate::units::Time;

/// Parameters of the two classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoClassConfig {
    /// What waits in the ECN-capable class from which it marks; none: never.
    pub threshold: Option<Limit>,
    /// Bytes that a class may send in its turn.
    pub quantum_bytes: u32,
}

impl TwoClassConfig {
    /// Checks what the types do not ensure.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        not_zero("quantum_bytes", self.quantum_bytes.into())
    }
}

/// The two classes at work.
#[derive(Clone, Debug)]
pub struct TwoClass {
    config: TwoClassConfig,
    /// Not capable, capable.
    classes: [Class; 2],
    turn: usize,
    pool: Pool,
    /// Room of each class.
    limit: Option<Limit>,
    marked: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    list: List,
    /// Bytes that it may still send in its turn.
    credit_bytes: i64,
}

impl TwoClass {
    /// Empty classes, with room for `limit` in each.
    #[must_use]
    pub fn new(config: &TwoClassConfig, limit: Option<Limit>) -> Self {
        Self {
            config: *config,
            classes: [Class::default(); 2],
            turn: 0,
            pool: Pool::default(),
            limit,
            marked: 0,
        }
    }
}

impl Scheduler for TwoClass {
    fn enqueue(&mut self, _now: Time, mut queued: Queued, dropped: &mut Vec<Packet>) {
        let capable = queued.packet.ecn() != Ecn::NotEct;
        let list = &mut self.classes[usize::from(capable)].list;
        let (packets, bytes) = (list.packets(), list.bytes());
        let holds = |limit: Limit| limit.holds(packets + 1, bytes + u64::from(queued.wire_bytes));
        if packets > 0 && !self.limit.is_none_or(holds) {
            dropped.push(queued.packet);
            return;
        }
        let reached = |threshold: Limit| threshold.is_reached(packets, bytes);
        if capable && self.config.threshold.is_some_and(reached) {
            queued.packet = queued.packet.with_ecn(Ecn::Ce);
            self.marked += 1;
        }
        self.pool.push(list, queued);
    }

    fn dequeue(&mut self, _now: Time, _dropped: &mut Vec<Packet>) -> Option<Queued> {
        if self.pool.packets() == 0 {
            return None;
        }
        loop {
            let class = &mut self.classes[self.turn];
            if class.list.packets() == 0 {
                // Who has nothing to send saves nothing up and owes nothing.
                class.credit_bytes = 0;
            } else if class.credit_bytes > 0 {
                let queued = self.pool.pop(&mut class.list)?;
                class.credit_bytes -= i64::from(queued.wire_bytes);
                return Some(queued);
            }
            self.turn ^= 1;
            let next = &mut self.classes[self.turn];
            next.credit_bytes += i64::from(self.config.quantum_bytes);
        }
    }

    fn packets(&self) -> u32 {
        self.pool.packets()
    }

    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }

    fn marked(&self) -> u64 {
        self.marked
    }

    fn waiting(&self) -> Vec<Packet> {
        self.classes.iter().flat_map(|class| self.pool.iter(&class.list)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{put, schedules, take};
    use super::*;
    use crate::packet::Direction;

    const JSON: &str = r#"{"kind":"two-class","threshold":{"packets":20},"quantum_bytes":1514}"#;

    fn packet(ecn: Ecn, bytes: u16) -> Packet {
        Packet::new(0, Direction::Forward, bytes, 0).with_ecn(ecn)
    }

    #[test]
    fn classes_share_equally_in_bytes_whatever_they_offer() {
        let mut queue = schedules(r#"{"bytes":150000}"#, JSON);
        let mut sent = [0u64; 2];
        for _ in 0..20_000 {
            put(&mut *queue, 0, [packet(Ecn::Ect0, 1500), packet(Ecn::NotEct, 200)]);
            put(&mut *queue, 0, [packet(Ecn::NotEct, 900); 6]);
            let (queued, _) = take(&mut *queue, 0).unwrap();
            sent[usize::from(queued.packet.ecn() != Ecn::NotEct)] += u64::from(queued.wire_bytes);
        }
        assert!(sent[0].abs_diff(sent[1]) <= 2 * 1514 + 1500, "{sent:?}");
    }

    #[test]
    fn a_full_class_leaves_the_other_alone() {
        let mut queue = schedules(r#"{"packets":50}"#, JSON);
        assert_eq!(put(&mut *queue, 0, [packet(Ecn::NotEct, 1500); 60]), 10);
        assert_eq!(put(&mut *queue, 0, [packet(Ecn::Ect0, 1500); 60]), 10);
        // Nor does what others fill count for the mark.
        let mut queue = schedules(r#"{"packets":50}"#, JSON);
        put(&mut *queue, 0, [packet(Ecn::NotEct, 1500); 40]);
        put(&mut *queue, 0, [packet(Ecn::Ect0, 1500); 25]);
        assert_eq!(queue.marked(), 5);
        let marks = queue.waiting().iter().filter(|packet| packet.ecn() == Ecn::Ce).count();
        assert_eq!(marks, 5);
    }

    #[test]
    fn one_class_alone_has_everything() {
        let mut queue = schedules("null", JSON);
        put(&mut *queue, 0, [packet(Ecn::Ect1, 9_000); 30]);
        assert!((0..30).all(|_| take(&mut *queue, 0).is_some()));
        assert!(take(&mut *queue, 0).is_none());
    }

    #[test]
    fn a_class_that_was_idle_has_saved_nothing_up() {
        let mut queue = schedules("null", JSON);
        put(&mut *queue, 0, [packet(Ecn::Ect0, 1500); 200]);
        assert!((0..100).all(|_| take(&mut *queue, 0).is_some()));
        put(&mut *queue, 0, [packet(Ecn::NotEct, 1500); 100]);
        let sent = (0..20).filter_map(|_| take(&mut *queue, 0));
        let capable = sent.filter(|(queued, _)| queued.packet.ecn() != Ecn::NotEct).count();
        assert!((9..=11).contains(&capable), "{capable}");
    }
}
