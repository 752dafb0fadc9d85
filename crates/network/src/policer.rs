//! A policer: a token bucket that drops what exceeds it (RFC 2475, section 2.3.3.4).

use schemars::JsonSchema;
use serde::Deserialize;

use crate::bucket::{BURST_BYTES_MAX, Bucket};
use crate::check::{Check, require};
use crate::units::{Rate, Time};

/// A policer as a scenario states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerConfig {
    /// Rate at which tokens fill, in bits per second.
    pub rate_bps: Rate,
    /// Depth of the bucket in bytes on the wire; larger packets never pass.
    pub burst_bytes: u64,
}

impl PolicerConfig {
    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        check_burst(self.burst_bytes)
    }
}

/// Check the depth of a bucket.
pub(crate) fn check_burst(burst_bytes: u64) -> Check {
    require((1..=BURST_BYTES_MAX).contains(&burst_bytes), "burst_bytes", || {
        format!("{burst_bytes}, but it must be in 1..{BURST_BYTES_MAX}")
    })
}

/// A running policer.
#[derive(Clone, Debug)]
pub struct Policer(Bucket);

impl Policer {
    /// A policer whose bucket is full.
    #[must_use]
    pub const fn new(config: &PolicerConfig) -> Self {
        Self(Bucket::new(config.rate_bps, config.burst_bytes))
    }

    /// Return whether a packet that arrives at `now` conforms. `now` never goes back.
    #[inline]
    pub fn passes(&mut self, now: Time, wire_bytes: u32) -> bool {
        let passes = self.0.fits(wire_bytes) && self.0.holds_at(wire_bytes) <= now;
        // A dropped packet takes no tokens, so a flood of packets that do not conform starves no
        // others.
        if passes {
            self.0.take(now, wire_bytes);
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policer(json: &str) -> Policer {
        let config: PolicerConfig = serde_json::from_str(json).unwrap();
        config.check().unwrap();
        Policer::new(&config)
    }

    #[test]
    fn a_burst_passes_up_to_the_depth() {
        // 7 Mbit/s: a packet's tokens take 1,714,285.7 ns.
        let mut policer = policer(r#"{"rate_bps":7000000,"burst_bytes":15000}"#);
        let burst = |policer: &mut Policer, now| {
            (0..100).filter(|_| policer.passes(Time(now), 1500)).count()
        };
        assert_eq!(burst(&mut policer, 0), 10);
        assert_eq!(burst(&mut policer, 1_714_285), 0);
        assert_eq!(burst(&mut policer, 1_714_286), 1);
        assert_eq!(burst(&mut policer, 1_000_000_000), 10);
    }

    #[test]
    fn the_rate_holds_in_the_long_run() {
        let mut policer = policer(r#"{"rate_bps":7000000,"burst_bytes":3000}"#);
        // 12 Mbit/s of unresponsive traffic for 70 s; 7 Mbit/s are 583.33 packets a second.
        let passed = (0..70_000).filter(|&ms| policer.passes(Time(ms * 1_000_000), 1500)).count();
        assert!((40_832..=40_836).contains(&passed), "{passed}");
    }

    #[test]
    fn a_packet_as_large_as_the_bucket_waits_for_its_last_bit() {
        let mut policer = policer(r#"{"rate_bps":7000000,"burst_bytes":1500}"#);
        assert!(policer.passes(Time(0), 1500));
        assert!(!policer.passes(Time(1_714_285), 1500));
        assert!(policer.passes(Time(1_714_286), 1500));
    }

    #[test]
    fn a_packet_larger_than_the_bucket_never_passes() {
        let mut policer = policer(r#"{"rate_bps":7000000,"burst_bytes":1499}"#);
        assert!(!policer.passes(Time(1 << 40), 1500));
        assert!(policer.passes(Time(1 << 40), 1499));
    }

    #[test]
    fn a_bucket_without_depth_is_refused() {
        let config: PolicerConfig =
            serde_json::from_str(r#"{"rate_bps":1,"burst_bytes":0}"#).unwrap();
        assert_eq!(config.check().unwrap_err().0, "burst_bytes");
        assert!(
            serde_json::from_str::<PolicerConfig>(r#"{"rate_bps":0,"burst_bytes":1}"#).is_err()
        );
    }
}
