//! The disciplines that decide when a packet arrives and keep the order.

use super::Manage;
use super::backlog::{Backlog, Verdict};
use super::config::QueueConfig;
use super::inventory::{Discipline, Manager};
use super::limit::Limit;
use crate::packet::Packet;
use crate::random::Random;
use crate::units::{Span, Time};

/// Decisions of a first-in, first-out queue.
#[derive(Clone, Debug)]
pub enum Admission {
    /// Accepts every packet.
    Unlimited,
    /// Accepts packets that have space.
    Limited(Limit),
    /// Accepts packets that have space and that its manager accepts.
    Managed(Option<Limit>, Manager),
}

impl Admission {
    /// An empty queue. `packet_time` is the transmission time of a typical full packet. None if the
    /// discipline decides on departure.
    #[must_use]
    pub fn new(config: &QueueConfig, packet_time: Span, random: Random) -> Option<Self> {
        if matches!(config.discipline, Discipline::Fifo {}) {
            return Some(config.limit.map_or(Self::Unlimited, Self::Limited));
        }
        let manager = Manager::new(&config.discipline, packet_time, random)?;
        Some(Self::Managed(config.limit, manager))
    }

    /// Limit of the queue; None if it is unlimited.
    #[must_use]
    pub const fn limit(&self) -> Option<Limit> {
        match self {
            Self::Unlimited => None,
            Self::Limited(limit) => Some(*limit),
            Self::Managed(limit, _) => *limit,
        }
    }

    /// Return the decision about a packet that arrives at `now`, which never goes back.
    #[inline]
    pub fn admit(
        &mut self,
        now: Time,
        backlog: &Backlog,
        packet: Packet,
        wire_bytes: u32,
    ) -> Verdict {
        let takes = |limit: Limit| limit.takes(backlog, wire_bytes);
        match self {
            Self::Unlimited => Verdict::Accept,
            Self::Limited(limit) => {
                if takes(*limit) {
                    Verdict::Accept
                } else {
                    Verdict::Drop
                }
            }
            Self::Managed(limit, manager) => {
                // A manager also sees packets that a full queue refuses, because they are load.
                let verdict = manager.admit(now, backlog, packet);
                if limit.is_none_or(takes) { verdict } else { Verdict::Drop }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SIZE, admission, packet};
    use super::*;
    use crate::packet::Ecn;

    fn backlog(packets: u32) -> Backlog {
        let bytes = u64::from(packets * SIZE);
        let sending_bytes = if packets > 0 { SIZE } else { 0 };
        Backlog { packets, bytes, sending_bytes, ..Backlog::default() }
    }

    fn verdict(limit: &str, discipline: &str, packets: u32, ecn: Ecn) -> Verdict {
        let mut admission = admission(limit, discipline);
        admission.admit(Time::ZERO, &backlog(packets), packet(0, 0).with_ecn(ecn), SIZE)
    }

    #[test]
    fn a_limit_does_not_count_the_packet_being_sent() {
        let fifo = |limit, packets| verdict(limit, r#"{"kind":"fifo"}"#, packets, Ecn::Ect0);
        assert_eq!(fifo("null", 1_000_000), Verdict::Accept);
        assert_eq!(fifo(r#"{"packets":0}"#, 0), Verdict::Accept);
        assert_eq!(fifo(r#"{"packets":0}"#, 1), Verdict::Drop);
        assert_eq!(fifo(r#"{"packets":10}"#, 10), Verdict::Accept);
        assert_eq!(fifo(r#"{"packets":10}"#, 11), Verdict::Drop);
        assert_eq!(fifo(r#"{"bytes":0}"#, 0), Verdict::Accept);
        assert_eq!(fifo(r#"{"bytes":15000}"#, 10), Verdict::Accept);
        assert_eq!(fifo(r#"{"bytes":15000}"#, 11), Verdict::Drop);
        assert_eq!(fifo(r#"{"bytes":14999}"#, 10), Verdict::Drop);
    }

    #[test]
    fn a_step_marks_from_its_threshold_on() {
        let limit = r#"{"packets":30}"#;
        for threshold in [r#"{"packets":20}"#, r#"{"bytes":30000}"#] {
            let json = format!(r#"{{"kind":"step","threshold":{threshold}}}"#);
            let step = |packets, ecn| verdict(limit, &json, packets, ecn);
            for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
                assert_eq!(step(19, ecn), Verdict::Accept);
                assert_eq!(step(20, ecn), Verdict::Mark);
                assert_eq!(step(31, ecn), Verdict::Drop);
            }
            assert_eq!(step(20, Ecn::NotEct), Verdict::Accept);
            assert_eq!(step(31, Ecn::NotEct), Verdict::Drop);
        }
    }
}
