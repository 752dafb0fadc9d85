//! Transmitters: the start and the end of each packet's transmission.
//!
//! Every transmitter sends in the order of its calls, so both times are known once it is known when
//! the packet is ready.

mod config;
mod shaped;
mod stepped;
mod token_bucket;
mod trace;

pub use config::RateConfig;
pub use shaped::{LinkShaper, ShaperConfig};
pub use stepped::Stepped;
pub use token_bucket::TokenBucket;
pub use trace::Trace;

use std::num::{NonZeroU32, NonZeroU64};

use crate::serializer::Serializer;
use crate::units::{Rate, Span, Time};

/// Bits of a byte.
const BITS: NonZeroU64 = NonZeroU64::new(8).expect("above zero");

/// The transmitter of a link.
#[derive(Clone, Debug)]
pub enum Transmitter {
    /// No serialisation: sending takes no time.
    None,
    /// A constant rate.
    Constant(Serializer),
    /// A rate that changes at given times.
    Stepped(Stepped),
    /// Opportunities of a trace.
    Trace(Trace),
    /// A token bucket that delays.
    TokenBucket(TokenBucket),
    /// A shaper in front of another transmitter.
    Shaped(Box<(LinkShaper, Transmitter)>),
    /// A number of packets per second. Each packet counts as one byte.
    Packets(Serializer),
}

impl Transmitter {
    /// A shaper in front of a transmitter.
    #[must_use]
    pub fn shaped(shaper: LinkShaper, behind: Self) -> Self {
        Self::Shaped(Box::new((shaper, behind)))
    }

    /// An idle transmitter.
    #[must_use]
    pub fn new(config: Option<&RateConfig>) -> Self {
        match config {
            None => Self::None,
            Some(RateConfig::Constant(rate)) => Self::Constant(Serializer::new(*rate)),
            Some(RateConfig::Steps(steps)) => Self::Stepped(Stepped::new(steps)),
            Some(RateConfig::Trace(trace)) => Self::Trace(Trace::new(trace)),
            Some(RateConfig::TokenBucket(bucket)) => Self::TokenBucket(TokenBucket::new(bucket)),
            Some(RateConfig::Packets(rate)) => Self::Packets(per_packet(*rate)),
        }
    }

    /// Append a packet that is ready at `ready`, which never goes back. Return the start and the
    /// end of its transmission ([`Time::STUCK`]: never).
    #[inline]
    pub fn send(&mut self, ready: Time, wire_bytes: u32) -> (Time, Time) {
        match self {
            Self::Constant(serializer) => serializer.send(ready, wire_bytes),
            other => other.send_otherwise(ready, wire_bytes),
        }
    }

    #[inline(never)]
    fn send_otherwise(&mut self, ready: Time, wire_bytes: u32) -> (Time, Time) {
        match self {
            Self::None => (ready, ready),
            Self::Constant(serializer) => serializer.send(ready, wire_bytes),
            Self::Stepped(stepped) => stepped.send(ready, wire_bytes),
            Self::Trace(trace) => trace.send(ready, wire_bytes),
            Self::TokenBucket(bucket) => bucket.send(ready, wire_bytes),
            Self::Shaped(shaped) => {
                let (shaper, behind) = &mut **shaped;
                let (start, end) = behind.send(shaper.earliest(ready), wire_bytes);
                shaper.note_sent(start, wire_bytes);
                (start, end)
            }
            Self::Packets(serializer) => serializer.send(ready, 1),
        }
    }

    /// Earliest start of a packet that has long been ready. It comes after all earlier packets,
    /// after an outage, and after the wait for the tokens of a packet as large as the last.
    #[inline]
    #[must_use]
    pub fn free_at(&self) -> Time {
        self.begins(Time::ZERO)
    }

    /// Return the earliest start of a packet that is ready at `ready`. This is the best time to ask
    /// a scheduler for its packet.
    #[inline]
    #[must_use]
    pub fn begins(&self, ready: Time) -> Time {
        match self {
            Self::Constant(serializer) => serializer.free_at().max(ready),
            other => other.begins_otherwise(ready),
        }
    }

    #[inline(never)]
    fn begins_otherwise(&self, ready: Time) -> Time {
        match self {
            Self::None => ready,
            Self::Constant(serializer) | Self::Packets(serializer) => {
                serializer.free_at().max(ready)
            }
            Self::Stepped(stepped) => stepped.begins(ready),
            Self::Trace(trace) => trace.begins(ready),
            Self::TokenBucket(bucket) => bucket.begins(ready),
            Self::Shaped(shaped) => shaped.1.begins(shaped.0.earliest(ready)),
        }
    }

    /// Return the transmission time of a packet. None if the rate is not constant.
    #[must_use]
    pub const fn constant_service(&self, wire_bytes: u32) -> Option<Span> {
        match self {
            Self::Constant(serializer) => Some(serializer.shortest(wire_bytes)),
            _ => None,
        }
    }
}

/// A serializer in which one byte takes as long as one packet shall take.
fn per_packet(rate: NonZeroU32) -> Serializer {
    Serializer::new(Rate(NonZeroU64::from(rate).saturating_mul(BITS)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RATES: [&str; 8] = [
        r#"{"constant":7000000}"#,
        r#"{"packets":1300}"#,
        r#"{"steps":[[0,7000000],[1000000,0],[5000000,30000000],[20000000,1000000000]]}"#,
        r#"{"steps":[[0,0],[2000000,1000],[9000000,333333333]]}"#,
        r#"{"trace":{"times_ns":[0,700000,700000,3000000],"period_ns":3000000,"bytes":1504}}"#,
        r#"{"trace":{"times_ns":[400000],"period_ns":1000000,"bytes":500}}"#,
        r#"{"token_bucket":{"rate_bps":7000000,"burst_bytes":9000,"peak_bps":null}}"#,
        r#"{"token_bucket":{"rate_bps":7000000,"burst_bytes":1000,"peak_bps":100000000}}"#,
    ];

    proptest! {
        #[test]
        fn packets_keep_their_order_and_announced_times(
            which in 0..RATES.len(),
            packets in prop::collection::vec((0u64..3_000_000, 40u32..9_000), 1..80),
        ) {
            let config: RateConfig = serde_json::from_str(RATES[which]).unwrap();
            config.check().unwrap();
            let mut transmitter = Transmitter::new(Some(&config));
            let (mut ready, mut previous) = (Time::ZERO, (Time::ZERO, Time::ZERO));
            for (pause, bytes) in packets {
                ready += Span(pause);
                let shortest = transmitter.constant_service(bytes).unwrap_or(Span::ZERO);
                let begins = transmitter.begins(ready);
                prop_assert_eq!(transmitter.begins(transmitter.free_at()), transmitter.free_at());
                let (start, end) = transmitter.send(ready, bytes);
                prop_assert!(ready <= start && start <= end, "{ready:?} {start:?} {end:?}");
                prop_assert!(previous.0 <= start && previous.1 <= end, "{previous:?} {start:?}");
                prop_assert!(end.since(start) >= shortest, "{start:?} {end:?} {shortest:?}");
                if !matches!(transmitter, Transmitter::TokenBucket(_)) {
                    prop_assert_eq!(start, begins);
                }
                previous = (start, end);
            }
        }
    }

    #[test]
    fn at_a_rate_in_packets_their_sizes_do_not_count() {
        let config: RateConfig = serde_json::from_str(r#"{"packets":1000}"#).unwrap();
        assert_eq!(config.typical_time(9_000), Span(1_000_000));
        let mut transmitter = Transmitter::new(Some(&config));
        assert_eq!(transmitter.send(Time(7), 9_000), (Time(7), Time(1_000_007)));
        assert_eq!(transmitter.send(Time(9), 40), (Time(1_000_007), Time(2_000_007)));
    }

    #[test]
    fn without_a_rate_sending_takes_no_time() {
        let mut transmitter = Transmitter::new(None);
        assert_eq!(transmitter.send(Time(7), 1500), (Time(7), Time(7)));
        assert_eq!((transmitter.free_at(), transmitter.constant_service(1500)), (Time::ZERO, None));
    }
}
