//! The inventory: all queue disciplines, a line each.
//!
//! All else follows from that line, such as reading and checking the parameters.

use schemars::JsonSchema;
use serde::Deserialize;

use super::cake::CakeConfig;
use super::classes::ClassesConfig;
use super::codel::CoDelConfig;
use super::dualpi2::DualPi2Config;
use super::fq::FqConfig;
use super::fq_codel::FqCoDelConfig;
use super::fq_pie::FqPieConfig;
use super::pie::PieConfig;
use super::red::RedConfig;
use super::step::StepConfig;
use super::{
    Backlog, Example, Limit, Manage, Managed, Parameters, Queued, Scheduled, Scheduler, Verdict,
};
use crate::check::Check;
use crate::packet::Packet;
use crate::random::Random;
use crate::transmitter::ShaperConfig;
use crate::units::{Span, Time};

/// Example queues without a manager, for tests.
const FIFO_EXAMPLES: &[Example] = &[
    Example {
        name: "first in, first out",
        queue: r#"{"limit":{"packets":20},"discipline":{"kind":"fifo"}}"#,
    },
    Example { name: "bytes", queue: r#"{"limit":{"bytes":30000},"discipline":{"kind":"fifo"}}"# },
    Example { name: "no limit", queue: r#"{"limit":null,"discipline":{"kind":"fifo"}}"# },
];

macro_rules! disciplines {
    (
        managers { $($(#[$manager_doc:meta])* $manager:ident($manager_config:ty) = $manager_kind:literal,)* }
        schedulers { $($(#[$scheduler_doc:meta])* $scheduler:ident($scheduler_config:ty) = $scheduler_kind:literal,)* }
    ) => {
        /// A queue discipline and its parameters.
        #[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
        pub enum Discipline {
            /// First in, first out; drops packets without space.
            // A variant with braces, because serde lets a unit variant have any other key.
            Fifo {},
            $(
                $(#[$manager_doc])*
                #[serde(rename = $manager_kind)]
                $manager($manager_config),
            )*
            $(
                $(#[$scheduler_doc])*
                #[serde(rename = $scheduler_kind)]
                $scheduler($scheduler_config),
            )*
        }

        impl Discipline {
            /// Example queues of all disciplines, for tests.
            #[must_use]
            pub fn examples() -> Vec<Example> {
                let for_each_law: &[&[Example]] = &[
                    FIFO_EXAMPLES,
                    $(<$manager_config>::EXAMPLES,)*
                    $(<$scheduler_config>::EXAMPLES,)*
                ];
                for_each_law.concat()
            }

            /// Disciplines in JSON with times so short that they act within microseconds. Each
            /// decides on arrival or on departure.
            #[must_use]
            pub fn quick_examples() -> Vec<&'static str> {
                let for_each_law: &[&[&'static str]] = &[
                    &[r#"{"kind":"fifo"}"#],
                    $(<$manager_config>::QUICK_EXAMPLES,)*
                    $(<$scheduler_config>::QUICK_EXAMPLES,)*
                ];
                for_each_law.concat()
            }

            /// Return whether it decides on departure, so that a driver must request each packet.
            #[must_use]
            pub const fn schedules(&self) -> bool {
                matches!(self, $(Self::$scheduler(_))|*)
            }

            /// Return the wait below which it neither drops, marks nor reorders packets of a single
            /// flow. None if there is no such wait.
            pub(crate) fn untouched_below(&self) -> Option<Span> {
                match self {
                    Self::Fifo {} => None,
                    $(Self::$manager(config) => config.untouched_below(),)*
                    $(Self::$scheduler(config) => config.untouched_below(),)*
                }
            }

            /// The shaper in front of the transmitter; None if there is none.
            pub(crate) fn shaper(&self) -> Option<ShaperConfig> {
                match self {
                    Self::Fifo {} => None,
                    $(Self::$manager(config) => config.shaper(),)*
                    $(Self::$scheduler(config) => config.shaper(),)*
                }
            }

            pub(super) fn check(&self) -> Check {
                match self {
                    Self::Fifo {} => Ok(()),
                    $(Self::$manager(config) => config.check(),)*
                    $(Self::$scheduler(config) => config.check(),)*
                }
            }
        }

        /// Active queue management (RFC 7567): decides on arrival, in addition to the limit.
        #[derive(Clone, Debug)]
        pub enum Manager {
            $($(#[$manager_doc])* $manager(Box<<$manager_config as Managed>::Law>),)*
        }

        impl Manager {
            /// A manager with an empty queue. None if the discipline is of another kind.
            pub fn new(discipline: &Discipline, packet_time: Span, random: Random) -> Option<Self> {
                Some(match discipline {
                    $(Discipline::$manager(config) => {
                        Self::$manager(Box::new(config.manager(packet_time, random)))
                    })*
                    Discipline::Fifo {} $(| Discipline::$scheduler(_))* => return None,
                })
            }
        }

        impl Manage for Manager {
            fn admit(&mut self, now: Time, backlog: &Backlog, packet: Packet) -> Verdict {
                match self {
                    $(Self::$manager(law) => law.admit(now, backlog, packet),)*
                }
            }
        }

        /// A discipline that decides when the transmitter is free, as one type.
        #[derive(Debug)]
        pub enum AnyScheduler {
            $($(#[$scheduler_doc])* $scheduler(Box<<$scheduler_config as Scheduled>::Law>),)*
        }

        /// Evaluates an expression for the discipline, whichever it is.
        macro_rules! for_each_law {
            ($any:expr, $law:ident => $answer:expr) => {
                match $any {
                    $(Self::$scheduler($law) => $answer,)*
                }
            };
        }

        impl AnyScheduler {
            /// An empty queue. None if the discipline decides on arrival, as an
            /// [`super::Admission`].
            #[must_use]
            pub fn new(discipline: &Discipline, limit: Option<Limit>, random: Random) -> Option<Self> {
                Some(match discipline {
                    $(Discipline::$scheduler(config) => {
                        Self::$scheduler(Box::new(config.scheduler(limit, random)))
                    })*
                    Discipline::Fifo {} $(| Discipline::$manager(_))* => return None,
                })
            }
        }
    };
}

disciplines! {
    managers {
        /// FIFO that marks at a backlog (RFC 8257, section 3.1).
        Step(StepConfig) = "step",
        /// Random early detection.
        Red(RedConfig) = "red",
        /// Proportional integral controller enhanced.
        Pie(PieConfig) = "pie",
    }
    schedulers {
        /// Controlled delay.
        CoDel(CoDelConfig) = "codel",
        /// Flow queues with `CoDel`.
        FqCoDel(FqCoDelConfig) = "fq-codel",
        /// Flow queues.
        Fq(FqConfig) = "fq",
        /// Flow queues with PIE.
        FqPie(FqPieConfig) = "fq-pie",
        /// A queue with little delay next to a classic one, their signals coupled.
        DualPi2(DualPi2Config) = "dualpi2",
        /// Flow queues of hosts with `CoDel` and BLUE.
        Cake(CakeConfig) = "cake",
        /// Classes of packets.
        Classes(ClassesConfig) = "classes",
    }
}

impl Scheduler for AnyScheduler {
    #[inline]
    fn enqueue(&mut self, now: Time, queued: Queued, dropped: &mut Vec<Packet>) {
        for_each_law!(self, law => law.enqueue(now, queued, dropped));
    }

    #[inline]
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Queued> {
        for_each_law!(self, law => law.dequeue(now, dropped))
    }

    #[inline]
    fn packets(&self) -> u32 {
        for_each_law!(self, law => law.packets())
    }

    fn bytes(&self) -> u64 {
        for_each_law!(self, law => law.bytes())
    }

    fn bytes_with(&self, packet: Packet) -> u64 {
        for_each_law!(self, law => law.bytes_with(packet))
    }

    fn marked(&self) -> u64 {
        for_each_law!(self, law => law.marked())
    }

    fn waiting(&self) -> Vec<Packet> {
        for_each_law!(self, law => law.waiting())
    }

    #[inline]
    fn passes(&mut self, wire_bytes: u32, wait: Span) -> bool {
        for_each_law!(self, law => law.passes(wire_bytes, wait))
    }

    fn holds(&self, packets: u32, bytes: u64) -> bool {
        for_each_law!(self, law => law.holds(packets, bytes))
    }
}
