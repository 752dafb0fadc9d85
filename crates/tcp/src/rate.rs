//! Samples of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation).
//!
//! Each segment remembers the number of segments delivered when it was sent. When it is delivered,
//! the deliveries since then are divided by the longer of two times: the time of sending and the
//! time of acknowledging. The result is the rate of its flight.

use std::num::NonZeroU64;
use std::ops::Range;

use dumbbell_algorithm::{Conn, RateSample};
use dumbbell_network::Time;

use crate::ring::SegmentRing;

/// Takes the rate samples of one connection.
#[derive(Debug)]
pub struct RateSampler {
    /// The bursts of each segment.
    numbers: SegmentRing<Numbers>,
    /// The state at each burst, which segments that are sent together share.
    bursts: SegmentRing<Sent>,
    /// Number of the next burst.
    next_burst: u32,
    /// Transmission time of the last sent segment among those delivered.
    first_sent: Time,
    /// Time of the last delivery.
    delivered_at: Time,
    /// The last sent segment among those that this ACK delivered, and its number.
    newest: Option<(u64, Sent)>,
    /// One of so many segments is short: the last of them. None if all are full.
    short_every_segs: Option<NonZeroU64>,
    #[cfg(test)]
    pub latest: Option<RateSample>,
}

/// The bursts in which a segment was sent for the first and for the last time, modulo 2^32.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    first: u32,
    last: u32,
}

/// State at the time at which a burst was sent.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    at: Time,
    first_sent: Time,
    delivered_at: Time,
    delivered_segs: u64,
    is_app_limited: bool,
}

/// Record that the application has nothing to send although the window has space.
pub fn mark_app_limited(conn: &mut Conn, in_flight_segs: u32) {
    // 0 would mean that the application is not the limit, and the count wraps at 2^32.
    conn.app_limited_segs = (conn.delivered_segs as u32).wrapping_add(in_flight_segs).max(1);
}

/// End the application's limit once all segments that were in flight are delivered.
const fn end_app_limit(conn: &mut Conn) {
    // A signed difference compares counts that wrap. The phase ends with the first segment that was
    // sent after it, not with the last before.
    let left = conn.app_limited_segs.wrapping_sub(conn.delivered_segs as u32);
    if conn.app_limited_segs > 0 && (left as i32) < 0 {
        conn.app_limited_segs = 0;
    }
}

/// One ACK, without the segments that it delivered.
#[derive(Clone, Copy, Debug)]
pub struct Acknowledged {
    /// Number of newly delivered segments.
    pub delivered_segs: u64,
    /// Number of segments that newly count as lost.
    pub lost_segs: u64,
    /// Number of segments in flight before it.
    pub prior_in_flight_segs: u32,
    /// Its sample of the round-trip time, in microseconds; None if it has none.
    pub rtt_us: Option<u32>,
}

impl RateSampler {
    /// A sampler at the beginning of a connection. Until the first segment is delivered, the
    /// application counts as the limit.
    pub fn new(now: Time, conn: &mut Conn) -> Self {
        conn.app_limited_segs = u32::MAX;
        Self {
            numbers: SegmentRing::new(),
            bursts: SegmentRing::new(),
            next_burst: 0,
            first_sent: now,
            delivered_at: now,
            newest: None,
            short_every_segs: None,
            #[cfg(test)]
            latest: None,
        }
    }

    /// Make the last of every `segs` segments shorter than a full one.
    pub const fn shorten_every(&mut self, segs: NonZeroU64) {
        self.short_every_segs = Some(segs);
    }

    /// Record the state when `segments` of the `window` are sent, for the first time or again.
    #[inline]
    pub fn on_sent(
        &mut self,
        now: Time,
        segments: Range<u64>,
        window: Range<u64>,
        is_retransmission: bool,
        conn: &Conn,
    ) {
        // Idle time is not part of a flight, so both intervals restart (tcp_rate_skb_sent).
        if !is_retransmission && segments.start == window.start {
            self.first_sent = now;
            self.delivered_at = now;
        }
        let number = self.next_burst;
        self.next_burst = number.wrapping_add(1);
        self.numbers.reserve(window.start, window.end);
        for segment in segments {
            let numbers = self.numbers.get_mut(segment);
            let first = if is_retransmission { numbers.first } else { number };
            *numbers = Numbers { first, last: number };
        }
        // No outstanding segment was sent before the lowest one was first sent.
        let oldest = self.numbers.get(window.start).first;
        let before = u64::from(number.wrapping_sub(oldest));
        self.bursts.reserve(oldest.into(), u64::from(oldest) + before + 1);
        *self.bursts.get_mut(number.into()) = Sent {
            at: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered_segs: conn.delivered_segs,
            is_app_limited: conn.app_limited_segs > 0,
        };
    }

    /// Record the last sent segment among those that an ACK newly delivered. It gives the sample.
    #[inline]
    pub fn on_delivered(&mut self, newest: u64) {
        let burst = self.numbers.get(newest).last;
        self.newest = Some((newest, self.bursts.get(burst.into())));
    }

    /// Return the number of segments delivered during the flight of the sampled segment, with
    /// itself. None if there is no sampled segment.
    pub fn delivered_in_flight(&self, delivered_segs: u64) -> Option<u64> {
        self.newest.map(|(_, newest)| delivered_segs - newest.delivered_segs)
    }

    /// Return the sample of an ACK, after all its deliveries were recorded.
    pub fn sample(&mut self, now: Time, conn: &mut Conn, ack: Acknowledged) -> RateSample {
        end_app_limit(conn);
        let mut sample = RateSample {
            interval_us: -1,
            delivered_segs: -1,
            rtt_us: ack.rtt_us.map_or(-1, |rtt_us| rtt_us as i32),
            losses_segs: ack.lost_segs as u32,
            acked_sacked_segs: ack.delivered_segs as u32,
            prior_in_flight_segs: ack.prior_in_flight_segs,
            ..RateSample::default()
        };
        if let Some((number, newest)) = self.newest.take() {
            self.measure(now, conn, newest, &mut sample);
            // A receiver that waits for two full segments may have delayed the ACK of a lone short
            // one (FLAG_ACK_MAYBE_DELAYED of tcp_clean_rtx_queue).
            let is_alone = sample.delivered_segs == 1 && ack.delivered_segs == 1;
            sample.is_ack_delayed = u8::from(is_alone && self.is_short(number));
        }
        if ack.delivered_segs > 0 {
            self.delivered_at = now;
        }
        #[cfg(test)]
        (self.latest = Some(sample));
        sample
    }

    fn is_short(&self, segment: u64) -> bool {
        self.short_every_segs.is_some_and(|every| (segment + 1) % every.get() == 0)
    }

    fn measure(&mut self, now: Time, conn: &Conn, newest: Sent, sample: &mut RateSample) {
        // The next flight counts from here: Linux moves first_tx_mstamp in tcp_rate_skb_delivered.
        self.first_sent = newest.at;
        let sending_us = newest.at.since(newest.first_sent).as_micros();
        let acknowledging_us = now.since(newest.delivered_at).as_micros();
        // The longer interval counts. Otherwise ACKs that arrive together, or segments that left
        // together, would show a rate above that of the path.
        let interval_us = sending_us.max(acknowledging_us);
        let segs = conn.delivered_segs - newest.delivered_segs;
        sample.prior_delivered_segs = newest.delivered_segs;
        sample.delivered_segs = segs as i32;
        sample.is_app_limited = u8::from(newest.is_app_limited);
        // A shorter interval is impossible: the segment was sent twice, and the first copy arrived.
        if interval_us > 0 && interval_us >= u64::from(conn.min_rtt_us) {
            sample.interval_us = interval_us as i64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A connection whose test decides when segments are sent and acknowledged.
    struct Flight {
        rates: RateSampler,
        conn: Conn,
        next: u64,
    }

    impl Flight {
        fn new() -> Self {
            let mut conn = Conn { min_rtt_us: 10, ..Conn::default() };
            Self { rates: RateSampler::new(Time::ZERO, &mut conn), conn, next: 0 }
        }

        fn send(&mut self, at_us: u64, segment: u64) {
            let is_again = segment < self.next;
            let window = self.conn.delivered_segs..self.next.max(segment + 1);
            let (now, segments) = (Time(at_us * 1_000), segment..segment + 1);
            self.rates.on_sent(now, segments, window, is_again, &self.conn);
            self.next = self.next.max(segment + 1);
        }

        fn deliver(&mut self, at_us: u64, segments: Range<u64>) -> RateSample {
            let delivered_segs = segments.end - segments.start;
            self.conn.delivered_segs += delivered_segs;
            if let Some(newest) = segments.last() {
                self.rates.on_delivered(newest);
            }
            let ack = Acknowledged {
                delivered_segs,
                lost_segs: 0,
                prior_in_flight_segs: 0,
                rtt_us: None,
            };
            self.rates.sample(Time(at_us * 1_000), &mut self.conn, ack)
        }
    }

    #[test]
    fn the_rate_is_what_was_delivered_during_the_flight_of_a_segment() {
        let mut flight = Flight::new();
        (0..10).for_each(|segment| flight.send(segment, segment));
        let first = flight.deliver(100, 0..1);
        assert_eq!((first.delivered_segs, first.interval_us), (1, 100));
        flight.send(100, 10);
        for segment in 1..10 {
            flight.deliver(100 + segment, segment..segment + 1);
        }
        let sample = flight.deliver(200, 10..11);
        assert_eq!((sample.prior_delivered_segs, sample.delivered_segs), (1, 10));
        assert_eq!(sample.interval_us, 100);
        assert_eq!(sample.is_app_limited, 0);
    }

    #[test]
    fn compressed_acks_do_not_hide_how_slowly_segments_were_sent() {
        let mut flight = Flight::new();
        (0..5).for_each(|segment| flight.send(50 * segment, segment));
        let sample = flight.deliver(201, 0..5);
        assert_eq!((sample.delivered_segs, sample.interval_us), (5, 201));
        let mut flight = Flight::new();
        flight.send(0, 0);
        flight.deliver(100, 0..1);
        flight.send(100, 1);
        (2..6).for_each(|segment| flight.send(100 * segment, segment));
        flight.deliver(510, 1..2);
        // The segments took 400 us to send, and the last ACK comes 90 us after the one before.
        let sample = flight.deliver(600, 2..6);
        assert_eq!((sample.delivered_segs, sample.interval_us), (5, 500));
    }

    #[test]
    fn a_sample_shorter_than_the_smallest_rtt_is_invalid() {
        let mut flight = Flight::new();
        flight.send(0, 0);
        let sample = flight.deliver(9, 0..1);
        assert_eq!(sample.interval_us, -1);
    }

    #[test]
    fn an_ack_that_delivers_nothing_gives_no_sample() {
        let mut flight = Flight::new();
        flight.send(0, 0);
        let sample = flight.deliver(50, 0..0);
        assert_eq!((sample.interval_us, sample.delivered_segs), (-1, -1));
    }

    #[test]
    fn segments_are_marked_until_what_was_in_flight_has_been_delivered() {
        let mut flight = Flight::new();
        flight.send(0, 0);
        flight.deliver(100, 0..1);
        flight.send(100, 1);
        flight.send(100, 2);
        assert_eq!(flight.deliver(200, 1..2).is_app_limited, 0);
        mark_app_limited(&mut flight.conn, 1);
        flight.send(300, 3);
        assert_eq!(flight.deliver(400, 2..3).is_app_limited, 0, "sent before the mark");
        assert!(flight.conn.app_limited_segs > 0, "as many delivered as there were, not more");
        assert_eq!(flight.deliver(500, 3..4).is_app_limited, 1);
        assert!(flight.conn.app_limited_segs == 0);
        flight.send(600, 4);
        assert_eq!(flight.deliver(700, 4..5).is_app_limited, 0);
    }

    #[test]
    fn a_lone_short_segment_may_have_waited_at_the_receiver() {
        let mut flight = Flight::new();
        flight.rates.shorten_every(NonZeroU64::new(2).unwrap());
        flight.send(0, 0);
        assert_eq!(flight.deliver(100, 0..1).is_ack_delayed, 0, "a full segment");
        flight.send(100, 1);
        assert_eq!(flight.deliver(200, 1..2).is_ack_delayed, 1);
        flight.send(200, 2);
        flight.send(200, 3);
        assert_eq!(flight.deliver(300, 2..4).is_ack_delayed, 0, "two segments");
    }

    proptest! {
        /// A path of one segment per 100 us and any application. A filter for the largest rate
        /// skips lower rates that the application limited. The result never exceeds the path.
        #[test]
        fn no_sample_exceeds_the_rate_of_the_path(
            bursts in prop::collection::vec((1u64..30, 0u64..4_000), 1..40),
        ) {
            const SPACING_US: u64 = 100;
            const DELAY_US: u64 = 700;
            let mut flight = Flight::new();
            flight.conn.min_rtt_us = DELAY_US as u32;
            let mut arrivals = std::collections::VecDeque::new();
            let (mut now, mut free) = (0, 0);
            let mut rates = Vec::new();
            for (count, pause) in bursts {
                for _ in 0..count {
                    let segment = flight.next;
                    flight.send(now, segment);
                    free = now.max(free) + SPACING_US;
                    arrivals.push_back((free + DELAY_US, segment));
                }
                let in_flight = arrivals.len() as u32;
                mark_app_limited(&mut flight.conn, in_flight);
                now += pause;
                while arrivals.front().is_some_and(|&(at, _)| at <= now) {
                    let (at, segment) = arrivals.pop_front().unwrap();
                    rates.push(flight.deliver(at, segment..segment + 1));
                }
            }
            for sample in rates.iter().filter(|sample| sample.interval_us > 0) {
                let segs = sample.delivered_segs as u64;
                // The segment in service at the start of the interval counts as a whole.
                prop_assert!((segs - 1) * SPACING_US <= sample.interval_us as u64, "{sample:?}");
            }
        }
    }
}
