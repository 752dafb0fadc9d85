//! Delays outside the queue: propagation that changes, a busy host before the queue, batches and
//! reordering behind it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::chance::Chance;
use crate::check::{Check, not_zero, probability};
use crate::random::Random;
use crate::schedule::{Schedule, Steps};
use crate::units::{Span, Time};

/// Propagation delay by time. When the delay falls, packets keep their order, unless they take
/// another route.
#[derive(Clone, Debug)]
pub struct Delays {
    schedule: Schedule<Span>,
    latest: Time,
    routes: Option<Box<Routes>>,
}

/// Routes by time, and the latest arrival on each route that is not in use.
#[derive(Clone, Debug)]
struct Routes {
    schedule: Schedule<u32>,
    current: u32,
    left: BTreeMap<u32, Time>,
}

impl Delays {
    /// Delays and routes by time.
    ///
    /// # Panics
    /// If there is no step.
    #[must_use]
    pub fn new(steps: &Steps<Span>, routes: Option<&Steps<u32>>) -> Self {
        let routes = routes.map(|steps| {
            let mut schedule = Schedule::new(steps);
            let current = schedule.at(Time::ZERO);
            Box::new(Routes { schedule, current, left: BTreeMap::new() })
        });
        Self { schedule: Schedule::new(steps), latest: Time::ZERO, routes }
    }

    /// Return the arrival time at the far end of a packet that leaves at `departs`, which never
    /// goes back. The packet arrives after the delay of that time, but never before an earlier one
    /// of its route.
    #[inline]
    pub fn arrives(&mut self, departs: Time) -> Time {
        if let Some(routes) = &mut self.routes {
            routes.change(departs, &mut self.latest);
        }
        // A wire cannot reorder: when its delay falls, later packets wait for earlier ones.
        self.latest = self.latest.max(departs + self.schedule.at(departs));
        self.latest
    }
}

impl Routes {
    /// Store `latest` of the old route and load that of the new one, if the route changes.
    fn change(&mut self, now: Time, latest: &mut Time) {
        let next = self.schedule.at(now);
        if next != self.current {
            self.left.insert(self.current, *latest);
            // Packets on the old route do not delay those on the new one, so packets may overtake.
            *latest = self.left.remove(&next).unwrap_or(Time::ZERO);
            self.current = next;
        }
    }
}

/// A random delay that keeps the order. It is uniform up to a maximum, or longer if an earlier
/// packet is still delayed.
#[derive(Clone, Debug)]
pub struct Jitter {
    max: Span,
    latest: Time,
    random: Random,
}

impl Jitter {
    /// Jitter of at most `max`; None if that is zero.
    pub fn up_to(max: Span, random: impl FnOnce() -> Random) -> Option<Self> {
        (max > Span::ZERO).then(|| Self::new(max, random()))
    }

    /// Jitter of at most `max`.
    #[must_use]
    pub const fn new(max: Span, random: Random) -> Self {
        Self { max, latest: Time::ZERO, random }
    }

    /// Return the time at which a packet that arrives at `now` continues. `now` never goes back.
    #[inline]
    pub fn ready(&mut self, now: Time) -> Time {
        let drawn = now + Span(self.random.up_to(self.max.0));
        self.latest = self.latest.max(drawn);
        self.latest
    }
}

/// Delivery at multiples of a time only, as with aggregated ACKs.
#[derive(Clone, Copy, Debug)]
pub struct Batch(Span);

impl Batch {
    /// Deliveries every `every`; None if that is zero.
    #[must_use]
    pub fn new(every: Span) -> Option<Self> {
        (every > Span::ZERO).then_some(Self(every))
    }

    /// Return the delivery time of a packet that would reach the far end at `arrives`.
    #[inline]
    #[must_use]
    pub const fn delivers(self, arrives: Time) -> Time {
        // A packet that arrives exactly at a multiple does not wait for the next.
        Time(arrives.0.div_ceil(self.0.0) * self.0.0)
    }
}

/// Reordering as a scenario states it: some packets are late and others overtake them.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderConfig {
    /// Probability that a packet is late.
    pub probability: f64,
    /// Extra delay of a late packet.
    pub delay_ns: Span,
}

impl ReorderConfig {
    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        probability("probability", self.probability)?;
        not_zero("delay_ns", self.delay_ns.0)
    }
}

/// A running model of reordering.
#[derive(Clone, Debug)]
pub struct Reorder {
    late: Chance,
    delay: Span,
}

impl Reorder {
    /// A model before its first packet.
    #[must_use]
    pub fn new(config: &ReorderConfig, random: Random) -> Self {
        Self { late: Chance::new(config.probability, random), delay: config.delay_ns }
    }

    /// Return the extra delay of the next packet. None if it keeps its place.
    #[inline]
    pub fn late_by(&mut self) -> Option<Span> {
        self.late.happens().then_some(self.delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_when_the_delay_falls() {
        let steps = Steps(vec![(Time(0), Span(100)), (Time(50), Span(10)), (Time(200), Span(30))]);
        let mut delays = Delays::new(&steps, None);
        let arrives =
            [0, 49, 50, 120, 139, 140, 200].map(|departs| delays.arrives(Time(departs)).0);
        assert_eq!(arrives, [100, 149, 149, 149, 149, 150, 230]);
    }

    #[test]
    fn only_packets_of_another_route_overtake() {
        let delays = Steps(vec![(Time(0), Span(100)), (Time(50), Span(10)), (Time(70), Span(100))]);
        let arrives = |routes: &[(u64, u32)]| {
            let routes = routes.iter().map(|&(at, route)| (Time(at), route)).collect();
            let mut delays = Delays::new(&delays, Some(&Steps(routes)));
            [0, 49, 50, 60, 70, 75].map(|departs| delays.arrives(Time(departs)).0)
        };
        assert_eq!(arrives(&[(0, 1)]), [100, 149, 149, 149, 170, 175]);
        // The first two packets finish on their route, and packets that return to it come behind.
        assert_eq!(arrives(&[(0, 1), (50, 2), (70, 1)]), [100, 149, 60, 70, 170, 175]);
        assert_eq!(arrives(&[(0, 1), (50, 2), (55, 1)]), [100, 149, 60, 149, 170, 175]);
    }

    #[test]
    fn jitter_is_bounded_and_keeps_the_order() {
        let mut jitter = Jitter::new(Span(1_000), Random::new(3, 3));
        let (mut latest, mut waited_ns) = (Time::ZERO, 0);
        for now in (0..1_000_000).step_by(2_000) {
            let ready = jitter.ready(Time(now));
            assert!(ready >= latest && (now..=now + 1_000).contains(&ready.0));
            (latest, waited_ns) = (ready, waited_ns + ready.0 - now);
        }
        // 500 delays with a mean of 500 ns and a deviation of 289 ns: 4 sigma = 52 ns.
        assert!((448..=552).contains(&(waited_ns / 500)), "{}", waited_ns / 500);
    }

    #[test]
    fn batches_deliver_at_multiples() {
        let batch = Batch::new(Span(100)).unwrap();
        assert_eq!(
            [0, 1, 99, 100, 101].map(|at| batch.delivers(Time(at)).0),
            [0, 100, 100, 100, 200]
        );
        assert!(Batch::new(Span::ZERO).is_none());
    }

    #[test]
    fn some_packets_are_late() {
        let config: ReorderConfig =
            serde_json::from_str(r#"{"probability":0.1,"delay_ns":5000}"#).unwrap();
        config.check().unwrap();
        let mut reorder = Reorder::new(&config, Random::new(1, 2));
        let late = (0..100_000).filter_map(|_| reorder.late_by()).count();
        // 4 sigma of a binomial distribution: 380.
        assert!((9_620..=10_380).contains(&late), "{late}");
        assert_eq!(
            ReorderConfig { delay_ns: Span(0), ..config }.check().unwrap_err().0,
            "delay_ns"
        );
    }
}
