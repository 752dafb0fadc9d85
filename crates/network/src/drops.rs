//! The drops of a queue: flow, time, and the point of the service of the packet before.
//!
//! Where hosts send without any randomness, the packets of a flow find a full queue at the same
//! point of a service time again and again. That point alone decides whose packets are dropped
//! (Floyd and Jacobson, "On traffic phase effects in packet-switched gateways", 1992).

use std::collections::BTreeMap;

use crate::units::{Span, Time};

/// Number of parts into which a service time is divided.
const PHASES: usize = 16;

/// Packets of one flow that a queue dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowDrops {
    /// Number of packets.
    pub packets: u64,
    /// Arrival times of the first and of the latest.
    pub between: (Time, Time),
    /// Number of occasions by phase. The phase is the part of the transmission in progress at which
    /// the first refused packet of an occasion arrived.
    phases: [u32; PHASES],
    /// End of the latest occasion. Drops before it belong to that occasion.
    until: Time,
}

/// The packets that a link's queue dropped, by flow.
#[derive(Clone, Debug, Default)]
pub struct Drops(BTreeMap<u32, FlowDrops>);

/// State of the transmitter when a packet is refused on arrival.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// Time at which the packet in transmission has been sent.
    pub sent: Time,
    /// Duration of that transmission.
    pub service: Span,
    /// Time at which all waiting packets have been sent.
    pub free: Time,
}

impl Drops {
    /// Record a drop of a flow at `now`. `refusal` is None if the packet was not refused on
    /// arrival, or if the rate is not constant.
    ///
    /// Drops belong to one occasion until the queue at its first drop has been sent, because a
    /// burst that arrives at once shows no phase.
    #[cold]
    pub fn note(&mut self, now: Time, flow: u32, refusal: Option<Refusal>) {
        let fresh =
            FlowDrops { packets: 0, between: (now, now), phases: [0; PHASES], until: Time::ZERO };
        let of_flow = self.0.entry(flow).or_insert(fresh);
        of_flow.packets += 1;
        of_flow.between.1 = now;
        if let Some(Refusal { sent, service, free }) = refusal.filter(|_| now >= of_flow.until) {
            // A carried remainder may make a transmission one nanosecond longer.
            let part = sent.since(now).0 * PHASES as u64 / (service.0 + 1);
            of_flow.phases[(part as usize).min(PHASES - 1)] += 1;
            of_flow.until = free;
        }
    }

    /// Drops of each flow.
    pub fn of_flows(&self) -> impl Iterator<Item = (u32, &FlowDrops)> {
        self.0.iter().map(|(&flow, drops)| (flow, drops))
    }

    /// Drops of one flow; None if it had none.
    #[must_use]
    pub fn of(&self, flow: u32) -> Option<&FlowDrops> {
        self.0.get(&flow)
    }
}

impl FlowDrops {
    /// Number of occasions on which packets were refused on arrival.
    #[must_use]
    pub fn occasions(&self) -> u64 {
        self.phases.iter().map(|&count| u64::from(count)).sum()
    }

    /// Number of occasions in the two neighbouring parts of the transmission that have most of
    /// them.
    #[must_use]
    pub fn in_phase(&self) -> u64 {
        // A phase may lie on the boundary of two parts, so two neighbours count. The last part
        // adjoins the first.
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
