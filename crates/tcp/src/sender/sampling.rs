//! Rate samples: from the sender to the sampler, and from there to the algorithm.

use dumbbell_network::Time;

use super::Sender;
use crate::rate::Acknowledged;

impl Sender {
    /// Return the number of segments delivered during the flight of the last sent segment among
    /// those that an ACK delivered. Without rate samples, return the number in flight after the
    /// ACK.
    #[inline]
    pub(super) fn delivered_in_flight_segs(&self) -> u32 {
        let delivered = self.conn.delivered_segs;
        let sampled = self.rates.as_ref().and_then(|rates| rates.delivered_in_flight(delivered));
        sampled.map_or(self.conn.in_flight_segs, |segs| segs as u32)
    }

    /// Take the rate sample of an ACK. An algorithm with `cong_control` then sets window and rate.
    #[inline]
    pub(super) fn sample_rate(&mut self, now: Time, ack: Acknowledged) {
        let Some(rates) = &mut self.rates else { return };
        let sample = rates.sample(now, &mut self.conn, ack);
        if self.algorithm.has_cong_control() {
            // Otherwise `grow` sets this, which such an algorithm does not use.
            self.conn.cwnd_limited = u8::from(self.is_cwnd_limited());
            self.algorithm.cong_control(&mut self.conn, &sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use dumbbell_algorithm::{Instance, RateSample};
    use dumbbell_network::{Random, Span};
    use proptest::prelude::*;

    use super::*;
    use crate::config::SenderConfig;
    use crate::handshake::Handshake;
    use crate::rate::RateSampler;
    use crate::sender::{Burst, Congestion, Observer};
    use crate::stack::{PROFILES, Stack};
    use crate::{Ack, Arrival, LossContext, Receiver, SackBlocks};

    struct Silent;

    impl Observer for Silent {
        fn congestion(&mut self, _: Congestion) {}
        fn timeout(&mut self, _: u32, _: u32) {}
        fn recovered(&mut self, _: u32, _: u32) {}
    }

    fn linux() -> Stack {
        (PROFILES.iter().find(|profile| profile.name == "linux-6").unwrap().stack)()
    }

    /// Return the ACKs of one arrival, and the times at which they reach the sender.
    fn replies(
        receiver: &mut Receiver,
        now: Time,
        first: Option<Ack>,
    ) -> Vec<(Time, (Ack, SackBlocks))> {
        let mut acks = Vec::new();
        let mut next = first;
        while let Some(ack) = next {
            let blocks =
                if ack.has_blocks { receiver.blocks().clone() } else { SackBlocks::default() };
            acks.push((now + Span::from_millis(5), (ack, blocks)));
            next = receiver.also();
        }
        acks
    }

    const fn full(number: u64) -> Arrival {
        Arrival { number, stamp: 0, ce: false, cwr: false, full: true, pushed: false }
    }

    /// A sender that takes rate samples with any algorithm.
    fn sampling_sender() -> Sender {
        let config = SenderConfig {
            mss_bytes: 1448,
            packet_bytes: 1500,
            overhead_bytes: 0,
            has_interface: false,
            tcp_bpf: None,
            handshake: Handshake::of(Span::from_millis(10)),
        };
        let reno = Instance::new("reno", None, &BTreeMap::new()).unwrap();
        let mut sender = Sender::new(&linux(), config, reno, Time::ZERO, 1);
        sender.rates = Some(Box::new(RateSampler::new(Time::ZERO, &mut sender.conn)));
        sender.equip();
        sender
    }

    /// Run a path with one queue that serves a segment every 100 us, 10 ms away. Return every valid
    /// sample.
    fn rates_over_lossy_path(supplies: &[(u64, u64)], lost_per_mille: u64) -> Vec<RateSample> {
        let (mut sender, mut receiver) =
            (sampling_sender(), Receiver::new(&linux(), Span::from_millis(10)));
        let mut random = Random::new(7, lost_per_mille);
        let mut acks: VecDeque<(Time, (Ack, SackBlocks))> = VecDeque::new();
        let mut data: VecDeque<(Time, u64)> = VecDeque::new();
        let (mut now, mut free, mut end) = (Time::ZERO, Time::ZERO, 0);
        let mut rates = Vec::new();
        for &(segs, pause_ms) in supplies {
            end += segs;
            sender.supply(end);
            let until = now + Span::from_millis(pause_ms);
            loop {
                let bursts = std::iter::from_fn(|| sender.next_burst(now));
                let numbers = |burst: Burst| burst.first..burst.first + u64::from(burst.segs);
                for number in bursts.flat_map(numbers) {
                    free = free.max(now) + Span::from_micros(100);
                    if random.up_to(999) >= lost_per_mille {
                        data.push_back((free + Span::from_millis(5), number));
                    }
                }
                let heads = [
                    data.front().map(|head| head.0),
                    acks.front().map(|head| head.0),
                    receiver.deadline(),
                    Some(sender.deadline()),
                ];
                let next = heads.into_iter().flatten().min().unwrap();
                if next > until {
                    break;
                }
                now = next;
                if heads[0] == Some(now) {
                    let segment = data.pop_front().unwrap().1;
                    let ack = receiver.on_data(now, full(segment));
                    acks.extend(replies(&mut receiver, now, ack));
                } else if heads[1] == Some(now) {
                    let (ack, blocks) = acks.pop_front().unwrap().1;
                    sender.on_ack(now, ack, &blocks, &mut Silent);
                    let sample = sender.rates.as_ref().and_then(|rates| rates.latest);
                    rates.extend(sample.filter(|sample| sample.interval_us > 0));
                } else {
                    let ack = receiver.on_timer(now);
                    acks.extend(replies(&mut receiver, now, ack));
                    sender.on_timer(now, &mut Silent);
                }
            }
            now = until;
        }
        rates
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Segments are lost and the application pauses. A sample may have two segments too many:
        /// one in service, and one that an earlier ACK had held back.
        #[test]
        fn no_rate_of_delivery_exceeds_the_path(
            supplies in prop::collection::vec((1u64..400, 1u64..300), 1..8),
            lost_per_mille in 0u64..60,
        ) {
            for rate in rates_over_lossy_path(&supplies, lost_per_mille) {
                prop_assert!(i64::from(rate.delivered_segs - 2) * 100 <= rate.interval_us, "{rate:?}");
            }
        }
    }

    #[test]
    fn a_bulk_flow_measures_the_path_and_is_not_limited_by_its_application() {
        let rates = rates_over_lossy_path(&[(u64::MAX / 2, 1_000)], 0);
        let last = rates.last().unwrap();
        assert_eq!(last.is_app_limited, 0);
        let per_second = i64::from(last.delivered_segs) * 1_000_000 / last.interval_us;
        assert!((9_900..=10_100).contains(&per_second), "{per_second} segments a second");
    }

    #[test]
    fn an_application_with_little_to_say_is_the_limit() {
        let rates = rates_over_lossy_path(&[(1, 100); 20], 0);
        assert_eq!(rates.last().unwrap().is_app_limited, 1);
    }

    #[test]
    fn the_flight_of_a_segment_is_what_was_delivered_during_it() {
        let mut sender = sampling_sender();
        sender.supply(u64::MAX);
        while sender.next_burst(Time::ZERO).is_some() {}
        let ack = |cumulative| Ack { cumulative, ..Ack::default() };
        sender.on_ack(Time(20_000_000), ack(2), &SackBlocks::default(), &mut Silent);
        while sender.next_burst(Time(20_000_000)).is_some() {}
        for cumulative in [4, 6, 8, 10] {
            sender.on_ack(Time(20_000_000), ack(cumulative), &SackBlocks::default(), &mut Silent);
        }
        let context = LossContext { echo: None, ..sender.context(Time(20_000_000)) };
        sender.board.acknowledge(&context, &ack(12), &SackBlocks::default());
        sender.conn.delivered_segs += 2;
        if let Some(rates) = &mut sender.rates {
            rates.on_delivered(11);
        }
        // Two had been delivered when these were sent, and ten since, with these.
        assert_eq!(sender.delivered_in_flight_segs(), 10);
    }
}
