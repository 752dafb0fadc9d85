//! The drops of a queue: flow, time, and the point of the service of the packet before.
//!
//! Where hosts send without any randomness, the packets of a flow find a full queue at the same
//! point of a service time again and again. That point alone decides whose packets are dropped
//! (Floyd and Jacobson, "On traffic phase effects in packet-switched gateways", 1992).

use std::collections::BTreeMap;

use crate::units::{Span, Time};

/// Into how many parts a service time is divided.
const PHASES: usize = 16;

/// A flow's packets that a queue dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowDrops {
    /// How many there were.
    pub packets: u64,
    /// When the first and the latest of them came.
    pub between: (Time, Time),
    /// On how many occasions the first one that was refused on arrival came in which part of the
    /// service of the packet being sent.
    phases: [u32; PHASES],
    /// What comes until then belongs to the latest occasion.
    until: Time,
}

/// The packets that a link's queue dropped, by flow.
#[derive(Clone, Debug, Default)]
pub struct Drops(BTreeMap<u32, FlowDrops>);

/// How a packet that is refused on arrival finds the transmitter.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// When the packet being sent has been.
    pub sent: Time,
    /// How long that takes in all.
    pub service: Span,
    /// When all that waits has been sent.
    pub free: Time,
}

impl Drops {
    /// A packet of a flow is dropped at `now`, on arrival or later.
    ///
    /// What is dropped while the queue of an earlier drop is sent is of one occasion with it: a
    /// burst that comes at a time shows no phase.
    #[cold]
    pub fn note(&mut self, now: Time, flow: u32, refusal: Option<Refusal>) {
        let fresh =
            FlowDrops { packets: 0, between: (now, now), phases: [0; PHASES], until: Time::ZERO };
        let of_flow = self.0.entry(flow).or_insert(fresh);
        of_flow.packets += 1;
        of_flow.between.1 = now;
        if let Some(Refusal { sent, service, free }) = refusal.filter(|_| now >= of_flow.until) {
            // A carried remainder may make a service a nanosecond longer.
            let part = sent.since(now).0 * PHASES as u64 / (service.0 + 1);
            of_flow.phases[(part as usize).min(PHASES - 1)] += 1;
            of_flow.until = free;
        }
    }

    /// What was noted of each flow.
    pub fn of_flows(&self) -> impl Iterator<Item = (u32, &FlowDrops)> {
        self.0.iter().map(|(&flow, drops)| (flow, drops))
    }

    /// What was noted of a flow.
    #[must_use]
    pub fn of(&self, flow: u32) -> Option<&FlowDrops> {
        self.0.get(&flow)
    }
}

impl FlowDrops {
    /// On how many occasions packets were refused on arrival.
    #[must_use]
    pub fn occasions(&self) -> u64 {
        self.phases.iter().map(|&count| u64::from(count)).sum()
    }

    /// On how many of them the first came in the two neighbouring parts in which most did.
    #[must_use]
    pub fn in_phase(&self) -> u64 {
        // Two neighbours, because a phase may lie on the boundary of two parts; the last adjoins
        // the first.
        let pair = |part: usize| self.phases[part] + self.phases[(part + 1) % PHASES];
        (0..PHASES).map(pair).max().unwrap_or(0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn refusal(now: u64, left: u64, queue: u64) -> Option<Refusal> {
        let (sent, free) = (Time(now + left), Time(now + left + queue));
        Some(Refusal { sent, service: Span(1_000), free })
    }

    #[test]
    fn what_comes_at_one_point_of_the_service_is_in_phase() {
        let mut drops = Drops::default();
        for number in 0..100 {
            let now = 1_000_000 * number;
            drops.note(Time(now), 3, refusal(now, 995 + number % 3, 5_000));
            drops.note(Time(now), 4, refusal(now, 10 * number, 5_000));
        }
        drops.note(Time(100_000_000), 4, None);
        let of = |flow| *drops.of(flow).unwrap();
        assert_eq!((of(3).occasions(), of(3).in_phase()), (100, 100));
        assert_eq!((of(4).packets, of(4).occasions()), (101, 100));
        assert_eq!(of(3).between, (Time(0), Time(99_000_000)));
        assert!((12..=14).contains(&of(4).in_phase()), "two sixteenths of 100");
        assert_eq!(drops.of_flows().count(), 2);
        assert!(drops.of(5).is_none());
    }

    #[test]
    fn a_burst_is_one_occasion() {
        let mut drops = Drops::default();
        for now in [0, 100, 5_499, 5_500, 5_600] {
            drops.note(Time(now), 0, refusal(now, 500, 5_000));
        }
        let of_flow = drops.of(0).unwrap();
        assert_eq!((of_flow.packets, of_flow.occasions()), (5, 2));
    }

    #[test]
    fn the_end_of_a_service_is_next_to_its_beginning() {
        let mut drops = Drops::default();
        drops.note(Time(0), 0, refusal(0, 0, 0));
        drops.note(Time(1), 0, refusal(1, 1_001, 0));
        assert_eq!(drops.of(0).unwrap().in_phase(), 2);
    }
}
