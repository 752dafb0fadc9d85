//! Rates as a scenario states them.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{Check, not_zero, require, within};
use crate::policer::check_burst;
use crate::schedule::Steps;
use crate::units::{Rate, Span, Time};

/// One byte, in units of (bit/s) × ns.
pub(super) const BYTE: u64 = 8 * 1_000_000_000;

/// The rate of a link.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateConfig {
    /// Bits per second.
    Constant(Rate),
    /// Bits per second and the times from which they hold; 0 is an outage.
    Steps(Steps<u64>),
    /// Opportunities to send, as mahimahi's traces list them.
    Trace(TraceConfig),
    /// A token bucket that delays.
    TokenBucket(TokenBucketConfig),
    /// Packets per second, whatever their sizes.
    Packets(NonZeroU32),
}

/// Most packets per second: each takes at least a nanosecond.
const PACKETS_MAX: u32 = 1_000_000_000;

/// Opportunities to send, repeated for ever.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// Times within a period; a time that appears twice is two opportunities.
    pub times_ns: Vec<Time>,
    /// Period after which they repeat.
    pub period_ns: Span,
    /// Bytes on the wire that each carries.
    pub bytes: u32,
}

/// A token bucket that delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBucketConfig {
    /// Rate at which tokens fill, in bits per second.
    pub rate_bps: Rate,
    /// Depth of the bucket in bytes on the wire; a larger packet waits until it is full.
    pub burst_bytes: u64,
    /// Rate of a burst; None sends it at once.
    pub peak_bps: Option<Rate>,
}

impl RateConfig {
    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        match self {
            Self::Constant(_) => Ok(()),
            Self::Steps(steps) => {
                steps.check("steps")?;
                require(steps.values().any(|rate| rate > 0), "steps", || "never above 0".into())
            }
            Self::Trace(trace) => within("trace", trace.check()),
            Self::TokenBucket(bucket) => within("token_bucket", bucket.check()),
            Self::Packets(rate) => require(rate.get() <= PACKETS_MAX, "packets", || {
                format!("{rate}, but at most {PACKETS_MAX} a second")
            }),
        }
    }

    /// Return the approximate transmission time of a packet. It is based on the first rate above 0,
    /// on the mean of a trace, or on the rate of tokens.
    #[must_use]
    pub fn typical_time(&self, wire_bytes: u32) -> Span {
        let at = |rate: u64| Span(u64::from(wire_bytes) * BYTE / rate.max(1));
        match self {
            Self::Constant(rate) => at(rate.0.get()),
            Self::Steps(steps) => at(steps.values().find(|&rate| rate > 0).unwrap_or(1)),
            Self::Trace(trace) => trace.typical_time(wire_bytes),
            Self::TokenBucket(bucket) => at(bucket.rate_bps.0.get()),
            Self::Packets(rate) => Span(u64::from(PACKETS_MAX / rate.get())),
        }
    }
}

impl TraceConfig {
    fn check(&self) -> Check {
        not_zero("period_ns", self.period_ns.0)?;
        not_zero("bytes", self.bytes.into())?;
        require(!self.times_ns.is_empty(), "times_ns", || "no opportunity to send".into())?;
        let rises = self.times_ns.windows(2).all(|pair| pair[0] <= pair[1]);
        require(rises, "times_ns", || "not in order".into())?;
        let last = self.times_ns[self.times_ns.len() - 1];
        require(last.0 <= self.period_ns.0, "times_ns", || {
            format!("ends at {} ns, after the period of {} ns", last.0, self.period_ns.0)
        })
    }

    fn typical_time(&self, wire_bytes: u32) -> Span {
        let carried = u128::from(self.bytes) * self.times_ns.len() as u128;
        let time = u128::from(wire_bytes) * u128::from(self.period_ns.0) / carried.max(1);
        Span(u64::try_from(time).unwrap_or(u64::MAX))
    }
}

impl TokenBucketConfig {
    fn check(&self) -> Check {
        check_burst(self.burst_bytes)?;
        let Some(peak) = self.peak_bps else { return Ok(()) };
        require(peak.0 >= self.rate_bps.0, "peak_bps", || {
            format!("{}, less than rate_bps {}", peak.0, self.rate_bps.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(json: &str) -> RateConfig {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let key = |json: &str| config(json).check().unwrap_err().0;
        assert_eq!(key(r#"{"steps":[[0,0]]}"#), "steps");
        assert_eq!(key(r#"{"steps":[[0,9],[5,8],[5,7]]}"#), "steps.2");
        assert_eq!(key(r#"{"packets":1000000001}"#), "packets");
        let trace = |times, period| {
            format!(r#"{{"trace":{{"times_ns":{times},"period_ns":{period},"bytes":1504}}}}"#)
        };
        assert_eq!(key(&trace("[]", 1)), "trace.times_ns");
        assert_eq!(key(&trace("[3,2]", 5)), "trace.times_ns");
        assert_eq!(key(&trace("[3,6]", 5)), "trace.times_ns");
        assert_eq!(key(&trace("[3]", 0)), "trace.period_ns");
        let bucket = r#"{"token_bucket":{"rate_bps":9,"burst_bytes":5,"peak_bps":8}}"#;
        assert_eq!(key(bucket), "token_bucket.peak_bps");
    }

    #[test]
    fn unknown_keys_are_refused() {
        for json in [
            r#"{"constant":0}"#,
            r#"{"packets":0}"#,
            r#"{"constant":1,"steps":[]}"#,
            r#"{"constantly":1}"#,
            r#"{"token_bucket":{"rate_bps":9,"burst_bytes":5,"peak_bps":null,"mtu":1}}"#,
        ] {
            assert!(serde_json::from_str::<RateConfig>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn typical_times() {
        assert_eq!(config(r#"{"constant":12000000}"#).typical_time(1500), Span(1_000_000));
        assert_eq!(config(r#"{"steps":[[0,0],[9,12000000]]}"#).typical_time(1500), Span(1_000_000));
        let trace = r#"{"trace":{"times_ns":[1,2],"period_ns":4000000,"bytes":1500}}"#;
        assert_eq!(config(trace).typical_time(1500), Span(2_000_000));
    }
}
