//! Packets of handshakes before the run, if the handshake is not a part of the scenario
//! (`handshake`). They travel as long as data on an empty path, but bypass queues and losses. So a
//! run begins with connections that know their round-trip time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dumbbell_network::{LinkConfig, Route, Span, Time};

/// Packets of handshakes before the run, by the time of their arrival (ns since the run began, or
/// before).
#[derive(Debug, Default)]
pub struct Greetings {
    waiting: BinaryHeap<Reverse<(i64, u64, u32, usize)>>,
    count: u64,
}

impl Greetings {
    /// Send the packet in `slot` to a host, to arrive at `time_ns`.
    pub fn send(&mut self, time_ns: i64, slot: u32, host: usize) {
        self.waiting.push(Reverse((time_ns, self.count, slot, host)));
        self.count += 1;
    }

    /// Slot and host of the next packet that has arrived by `now_ns`.
    #[inline]
    pub fn arrived(&mut self, now_ns: i64) -> Option<(u32, usize)> {
        let Reverse((time_ns, _, slot, host)) = *self.waiting.peek()?;
        (time_ns <= now_ns).then(|| {
            self.waiting.pop();
            (slot, host)
        })
    }
}

/// Propagation delay along a route at `at`.
pub fn propagation(route: &Route, links: &[LinkConfig], at: Time) -> Span {
    let hop_delay = |hop: &dumbbell_network::Hop| {
        let steps = links[hop.link].delay.0.iter();
        let (_, delay) =
            steps.take_while(|(from, _)| *from <= at).last().expect("a delay from the beginning");
        hop.delay.0 + delay.0
    };
    Span(route.delay.0 + route.hops.iter().map(hop_delay).sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_arrive_in_order_of_time_and_not_before() {
        let mut greetings = Greetings::default();
        greetings.send(5, 1, 0);
        greetings.send(-3, 2, 1);
        greetings.send(5, 3, 0);
        assert_eq!((greetings.arrived(-4), greetings.arrived(0)), (None, Some((2, 1))));
        assert_eq!(greetings.arrived(4), None);
        assert_eq!((greetings.arrived(5), greetings.arrived(5)), (Some((1, 0)), Some((3, 0))));
        assert_eq!(greetings.arrived(i64::MAX), None);
    }
}
