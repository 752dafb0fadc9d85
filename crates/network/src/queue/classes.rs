//! Classes of packets that share a transmitter: in turns by weight, or by precedence.
//!
//! A switch may have separate queues for ECN-capable packets and for all others. DCTCP and senders
//! that fill the queue then do not starve each other (Brakmo's tests, algorithms.md, 9.1). The
//! round robin counts bytes (Shreedhar and Varghese, SIGCOMM 1995), and the mark is that of DCTCP
//! (RFC 8257, section 3.1).

use schemars::JsonSchema;
use serde::Deserialize;

use super::limit::Limit;
use super::pool::{List, Pool};
use super::{Example, Parameters, Queued, Scheduled, Scheduler};
use crate::check::{Check, not_zero, require, within};
use crate::packet::{Ecn, Packet};
use crate::random::Random;
use crate::units::Time;

/// Parameters of the classes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassesConfig {
    /// Property that decides the class of a packet.
    pub by: ClassOf,
    /// Order in which the classes are served.
    pub serve: Serve,
    /// Backlog of a class from which its ECN-capable packets are marked; None marks none.
    pub threshold: Option<Limit>,
}

/// Property that decides the class of a packet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClassOf {
    /// Its ECN field.
    Ecn(EcnClasses),
    /// Its flow: the class of each flow, data and acknowledgements.
    Flows(Vec<u8>),
}

/// The classes by the ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EcnClasses {
    /// Class of ECN-capable packets.
    pub capable: u8,
    /// Class of other packets.
    pub other: u8,
}

/// Order in which the classes are served.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Serve {
    /// The classes take turns.
    RoundRobin(Turns),
    /// The first class that has a packet.
    Priority(Precedence),
}

/// Turns of classes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// Bytes that a class of weight 1 may send in its turn.
    pub quantum_bytes: u32,
    /// The weight of each class.
    pub weights: Vec<u32>,
}

/// Precedence of classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Precedence {
    /// Number of classes.
    pub classes: u8,
}

impl Parameters for ClassesConfig {
    const EXAMPLES: &'static [Example] = &[
        Example {
            name: "classes by marks",
            queue: r#"{"limit":{"packets":60},"discipline":{"kind":"classes","by":{"ecn":{"capable":1,"other":0}},"threshold":null,"serve":{"round_robin":{"quantum_bytes":1514,"weights":[1,1]}}}}"#,
        },
        Example {
            name: "classes by marks that mark",
            queue: r#"{"limit":{"packets":60},"discipline":{"kind":"classes","by":{"ecn":{"capable":1,"other":0}},"threshold":{"packets":5},"serve":{"round_robin":{"quantum_bytes":1514,"weights":[1,1]}}}}"#,
        },
    ];
    const QUICK_EXAMPLES: &'static [&'static str] = &[
        r#"{"kind":"classes","by":{"ecn":{"capable":0,"other":1}},"threshold":{"packets":3},"serve":{"round_robin":{"quantum_bytes":1514,"weights":[1,3]}}}"#,
        r#"{"kind":"classes","by":{"flows":[0,1,1,0,1,0]},"threshold":{"packets":3},"serve":{"priority":{"classes":2}}}"#,
    ];

    fn check(&self) -> Check {
        within("serve", self.serve.check())?;
        let count = self.serve.classes();
        let exists = |key: &str, class: u8| {
            require(usize::from(class) < count, key, || {
                format!("{class}, but there are {count} classes")
            })
        };
        match &self.by {
            ClassOf::Ecn(of) => {
                exists("by.ecn.capable", of.capable)?;
                exists("by.ecn.other", of.other)
            }
            ClassOf::Flows(of) => {
                let wrong = of.iter().position(|&class| usize::from(class) >= count);
                wrong.map_or(Ok(()), |flow| exists(&format!("by.flows.{flow}"), of[flow]))
            }
        }
    }
}

impl Serve {
    /// Number of classes.
    fn classes(&self) -> usize {
        match self {
            Self::RoundRobin(turns) => turns.weights.len(),
            Self::Priority(precedence) => precedence.classes as usize,
        }
    }

    fn check(&self) -> Check {
        match self {
            Self::RoundRobin(turns) => {
                not_zero("round_robin.quantum_bytes", turns.quantum_bytes.into())?;
                let count = turns.weights.len();
                require((1..256).contains(&count), "round_robin.weights", || {
                    format!("{count} classes, but there may be 1 to 255")
                })?;
                let idle = turns.weights.iter().position(|&weight| weight == 0);
                idle.map_or(Ok(()), |at| not_zero(&format!("round_robin.weights.{at}"), 0))
            }
            Self::Priority(precedence) => not_zero("priority.classes", precedence.classes.into()),
        }
    }
}

impl Scheduled for ClassesConfig {
    type Law = Classes;

    fn scheduler(&self, limit: Option<Limit>, _random: Random) -> Classes {
        Classes::new(self, limit)
    }
}

/// Running classes.
#[derive(Clone, Debug)]
pub struct Classes {
    config: ClassesConfig,
    classes: Vec<Class>,
    /// The class whose turn it is, in a round robin.
    turn: usize,
    pool: Pool,
    /// Limit of each class.
    limit: Option<Limit>,
    marked: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    list: List,
    /// Bytes that it may still send in its turn.
    credit_bytes: i64,
}

impl Classes {
    /// Empty classes. Each has the limit `limit`.
    #[must_use]
    pub fn new(config: &ClassesConfig, limit: Option<Limit>) -> Self {
        Self {
            config: config.clone(),
            classes: vec![Class::default(); config.serve.classes()],
            turn: 0,
            pool: Pool::default(),
            limit,
            marked: 0,
        }
    }

    fn class_of(&self, packet: Packet) -> usize {
        match &self.config.by {
            ClassOf::Ecn(of) if packet.ecn() == Ecn::NotEct => of.other.into(),
            ClassOf::Ecn(of) => of.capable.into(),
            ClassOf::Flows(of) => of[packet.flow() as usize].into(),
        }
    }
}

/// Return the class whose turn it is. At least one class must have a packet.
fn whose_turn(classes: &mut [Class], turn: &mut usize, turns: &Turns) -> usize {
    loop {
        let class = &mut classes[*turn];
        if class.list.packets() == 0 {
            // An idle class saves no credit and keeps no debt.
            class.credit_bytes = 0;
        } else if class.credit_bytes > 0 {
            return *turn;
        }
        // The credit comes with the turn and not before the check: deficit round robin (Shreedhar
        // and Varghese 1995).
        *turn = if *turn + 1 == turns.weights.len() { 0 } else { *turn + 1 };
        let weight = turns.weights[*turn];
        classes[*turn].credit_bytes += i64::from(turns.quantum_bytes) * i64::from(weight);
    }
}

impl Scheduler for Classes {
    fn enqueue(&mut self, _now: Time, mut queued: Queued, dropped: &mut Vec<Packet>) {
        let of = self.class_of(queued.packet);
        let list = &mut self.classes[of].list;
        let (packets, bytes) = (list.packets(), list.bytes());
        let holds = |limit: Limit| limit.holds(packets + 1, bytes + u64::from(queued.wire_bytes));
        if packets > 0 && !self.limit.is_none_or(holds) {
            dropped.push(queued.packet);
            return;
        }
        // The threshold counts the packets that a packet finds, without the packet itself.
        let reached = |threshold: Limit| threshold.is_reached(packets, bytes);
        let is_capable = queued.packet.ecn() != Ecn::NotEct;
        if is_capable && self.config.threshold.is_some_and(reached) {
            queued.packet = queued.packet.with_ecn(Ecn::Ce);
            self.marked += 1;
        }
        self.pool.push(list, queued);
    }

    fn dequeue(&mut self, _now: Time, _dropped: &mut Vec<Packet>) -> Option<Queued> {
        if self.pool.packets() == 0 {
            return None;
        }
        let Self { config, classes, turn, pool, .. } = self;
        let next = match &config.serve {
            Serve::RoundRobin(turns) => whose_turn(classes, turn, turns),
            Serve::Priority(_) => classes.iter().position(|class| class.list.packets() > 0)?,
        };
        let queued = pool.pop(&mut classes[next].list)?;
        // The credit may become negative by less than a packet. The next turn pays this debt.
        classes[next].credit_bytes -= i64::from(queued.wire_bytes);
        Some(queued)
    }

    fn packets(&self) -> u32 {
        self.pool.packets()
    }

    fn bytes(&self) -> u64 {
        self.pool.bytes()
    }

    fn bytes_with(&self, packet: Packet) -> u64 {
        self.classes[self.class_of(packet)].list.bytes()
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
    use proptest::prelude::*;

    use super::super::testing::{packet as of_flow, put, schedules, take};
    use super::*;
    use crate::packet::Direction;

    const BY_ECN: &str = r#"{"kind":"classes","by":{"ecn":{"capable":0,"other":1}},"threshold":{"packets":20},
        "serve":{"round_robin":{"quantum_bytes":1514,"weights":[1,1]}}}"#;
    /// Flow `f` belongs to class `f`.
    const WEIGHTED: &str = r#"{"kind":"classes","by":{"flows":[0,1,2]},"threshold":null,
        "serve":{"round_robin":{"quantum_bytes":1514,"weights":WEIGHTS}}}"#;
    const PRIORITY: &str = r#"{"kind":"classes","by":{"flows":[0,1,2]},"threshold":null,
        "serve":{"priority":{"classes":3}}}"#;

    fn packet(ecn: Ecn, bytes: u16) -> Packet {
        Packet::new(0, Direction::Forward, bytes, 0).with_ecn(ecn)
    }

    #[test]
    fn classes_share_equally_in_bytes_whatever_they_offer() {
        let mut queue = schedules(r#"{"bytes":150000}"#, BY_ECN);
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
        let mut queue = schedules(r#"{"packets":50}"#, BY_ECN);
        assert_eq!(put(&mut *queue, 0, [packet(Ecn::NotEct, 1500); 60]), 10);
        assert_eq!(put(&mut *queue, 0, [packet(Ecn::Ect0, 1500); 60]), 10);
        // Packets of other classes do not count for the mark, either.
        let mut queue = schedules(r#"{"packets":50}"#, BY_ECN);
        put(&mut *queue, 0, [packet(Ecn::NotEct, 1500); 40]);
        put(&mut *queue, 0, [packet(Ecn::Ect0, 1500); 25]);
        assert_eq!(queue.marked(), 5);
        let marks = queue.waiting().iter().filter(|packet| packet.ecn() == Ecn::Ce).count();
        assert_eq!(marks, 5);
    }

    #[test]
    fn one_class_alone_has_everything() {
        let mut queue = schedules("null", BY_ECN);
        put(&mut *queue, 0, [packet(Ecn::Ect1, 9_000); 30]);
        assert!((0..30).all(|_| take(&mut *queue, 0).is_some()));
        assert!(take(&mut *queue, 0).is_none());
    }

    #[test]
    fn a_class_that_was_idle_has_saved_nothing_up() {
        let mut queue = schedules("null", BY_ECN);
        put(&mut *queue, 0, [packet(Ecn::Ect0, 1500); 200]);
        assert!((0..100).all(|_| take(&mut *queue, 0).is_some()));
        put(&mut *queue, 0, [packet(Ecn::NotEct, 1500); 100]);
        let sent = (0..20).filter_map(|_| take(&mut *queue, 0));
        let capable = sent.filter(|(queued, _)| queued.packet.ecn() != Ecn::NotEct).count();
        assert!((9..=11).contains(&capable), "{capable}");
    }

    #[test]
    fn ecn_capable_packets_of_any_class_are_marked() {
        let json = WEIGHTED.replace("WEIGHTS", "[1,1,1]").replace("null", r#"{"packets":2}"#);
        let mut queue = schedules("null", &json);
        for flow in 0..3 {
            put(&mut *queue, 0, (0..5).map(|number| of_flow(flow, number).with_ecn(Ecn::Ect0)));
            put(&mut *queue, 0, (5..9).map(|number| of_flow(flow, number)));
        }
        assert_eq!(queue.marked(), 3 * 3);
    }

    #[test]
    fn a_class_never_waits_for_those_behind_it() {
        let mut queue = schedules("null", PRIORITY);
        for flow in [2, 0, 1] {
            put(&mut *queue, 0, (0..2).map(|number| of_flow(flow, number)));
        }
        let order: Vec<_> = (0..6).map(|_| take(&mut *queue, 0).unwrap().0.packet.flow()).collect();
        assert_eq!(order, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let key = |json: &str| {
            let config: ClassesConfig = serde_json::from_str(json).unwrap();
            config.check().unwrap_err().0
        };
        let turns = |by: &str, weights: &str| {
            key(&format!(
                r#"{{"by":{by},"threshold":null,
                    "serve":{{"round_robin":{{"quantum_bytes":9,"weights":{weights}}}}}}}"#
            ))
        };
        let by_ecn = r#"{"ecn":{"capable":1,"other":2}}"#;
        assert_eq!(turns(by_ecn, "[1,2]"), "by.ecn.other");
        assert_eq!(turns(by_ecn, "[1]"), "by.ecn.capable");
        assert_eq!(turns(r#"{"flows":[0,1,2,1]}"#, "[1,1]"), "by.flows.2");
        assert_eq!(turns(r#"{"flows":[]}"#, "[]"), "serve.round_robin.weights");
        assert_eq!(turns(r#"{"flows":[]}"#, "[1,0]"), "serve.round_robin.weights.1");
        let none = r#"{"by":{"flows":[]},"threshold":null,"serve":{"priority":{"classes":0}}}"#;
        assert_eq!(key(none), "serve.priority.classes");
    }

    /// Draw the sizes of the packets of three classes.
    fn sizes() -> impl Strategy<Value = [Vec<u16>; 3]> {
        prop::array::uniform3(prop::collection::vec(40u16..9_000, 0..60))
    }

    /// Add packets of three classes. Return the classes and sizes in the order of departure.
    fn order(queue: &mut dyn Scheduler, sizes: &[Vec<u16>; 3]) -> Vec<(usize, u64)> {
        for (flow, sizes) in (0..).zip(sizes) {
            let packets = (0..).zip(sizes);
            put(queue, 0, packets.map(|(n, &b)| Packet::new(flow, Direction::Forward, b, n)));
        }
        let mut order = Vec::new();
        while let Some((queued, _)) = take(queue, 0) {
            order.push((queued.packet.flow() as usize, u64::from(queued.wire_bytes)));
        }
        order
    }

    proptest! {
        /// While all classes have packets, each sends its share by weight, to within a turn and a
        /// packet. A class never waits longer than the turns of the others take.
        #[test]
        fn turns_share_by_weight_and_starve_nobody(
            weights in prop::array::uniform3(1u32..9), sizes in sizes(),
        ) {
            let json = WEIGHTED.replace("WEIGHTS", &format!("{weights:?}"));
            let order = order(&mut *schedules("null", &json), &sizes);
            // Work conservation: all packets left, one after the other.
            prop_assert_eq!(order.len(), sizes.iter().map(Vec::len).sum::<usize>());
            let (quantum, largest) = (1514.0, 9_000.0);
            let total = f64::from(weights.iter().sum::<u32>());
            let mut left = [0, 1, 2].map(|class| sizes[class].len());
            let (mut sent, mut waited) = ([0.0; 3], [0.0; 3]);
            for (class, bytes) in order {
                if left.iter().all(|&left| left > 0) {
                    sent[class] += bytes as f64;
                    let rounds = sent.iter().sum::<f64>() / (quantum * total);
                    for class in 0..3 {
                        let weight = f64::from(weights[class]);
                        let error = (sent[class] - rounds * quantum * weight).abs();
                        let most = 2.0 * quantum * total + 3.0 * largest;
                        prop_assert!(error <= most, "{sent:?} {weights:?}");
                    }
                }
                for other in 0..3 {
                    let waits = other != class && left[other] > 0;
                    waited[other] = if waits { waited[other] + bytes as f64 } else { 0.0 };
                    // A class may still owe the part of its largest packet beyond its turn.
                    let weight = f64::from(weights[other]);
                    let rounds = 1.0 + (largest / (quantum * weight)).ceil();
                    let most = rounds * (quantum * (total - weight) + 2.0 * largest);
                    prop_assert!(waited[other] <= most, "{} waited {}", other, waited[other]);
                }
                left[class] -= 1;
            }
        }

        #[test]
        fn by_precedence_each_class_is_emptied_before_the_next(sizes in sizes()) {
            let order = order(&mut *schedules("null", PRIORITY), &sizes);
            prop_assert_eq!(order.len(), sizes.iter().map(Vec::len).sum::<usize>());
            prop_assert!(order.is_sorted_by_key(|&(class, _)| class));
        }
    }
}
