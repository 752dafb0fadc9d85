//! A shaper in front of another transmitter: it sends no earlier than a slower link further on
//! could, whose framing it knows.
//!
//! A virtual clock advances by the time of each packet at the shaper's rate, and no burst saves up
//! (Høiland-Jørgensen, Täht and Morton 2018, section III.A).

use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{Check, require};
use crate::serializer::Serializer;
use crate::units::{Rate, Time};

/// A shaper's rate, and the bytes of a packet that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShaperConfig {
    /// Bits per second.
    pub rate_bps: Rate,
    /// Bytes of a packet beyond those of IP; None if as many as on the link.
    pub overhead_bytes: Option<u16>,
    /// Smallest size of a packet; smaller ones count as so large.
    pub mpu_bytes: u16,
    /// Framing of the slower link.
    pub framing: Framing,
}

/// Framing of bytes on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// No framing.
    None,
    /// Whole cells of 53 bytes that carry 48 each (ATM).
    Atm,
    /// One more byte for each 64 (PTM, 64b/65b).
    Ptm,
}

/// Largest overhead and largest minimum size of a packet, in bytes.
const BYTES_MAX: u16 = 10_000;

impl ShaperConfig {
    /// Check the values that the types do not restrict.
    ///
    /// # Errors
    /// The first key at fault.
    pub fn check(&self) -> Check {
        let overhead = self.overhead_bytes.unwrap_or(0);
        for (key, bytes) in [("overhead_bytes", overhead), ("mpu_bytes", self.mpu_bytes)] {
            require(bytes <= BYTES_MAX, key, || format!("{bytes}, more than {BYTES_MAX}"))?;
        }
        Ok(())
    }

    /// Return the bytes of a packet on the slower link. It has `wire_bytes` here, of which
    /// `link_bytes` are those of this link.
    fn bytes(&self, wire_bytes: u32, link_bytes: u32) -> u32 {
        let overhead = self.overhead_bytes.map_or(link_bytes, u32::from);
        let bytes = (wire_bytes - link_bytes + overhead).max(self.mpu_bytes.into());
        match self.framing {
            Framing::None => bytes,
            // AAL5 pads the last cell of a packet.
            Framing::Atm => bytes.div_ceil(48) * 53,
            Framing::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

/// A running shaper.
#[derive(Clone, Debug)]
pub struct LinkShaper {
    config: ShaperConfig,
    /// Bytes that this link adds to each packet.
    link_bytes: u32,
    clock: Serializer,
}

impl LinkShaper {
    /// An idle shaper.
    pub const fn new(config: ShaperConfig, link_bytes: u32) -> Self {
        Self { config, link_bytes, clock: Serializer::new(config.rate_bps) }
    }

    /// Return the earliest start of a packet that is ready at `ready`.
    pub fn earliest(&self, ready: Time) -> Time {
        ready.max(self.clock.free_at())
    }

    /// Count a packet whose transmission starts at `start`.
    pub fn note_sent(&mut self, start: Time, wire_bytes: u32) {
        // The clock counts from the actual start, so time in which the link behind was busy allows
        // no burst.
        self.clock.send(start, self.config.bytes(wire_bytes, self.link_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transmitter::{RateConfig, Transmitter};

    fn config(more: &str) -> ShaperConfig {
        let json = format!(r#"{{"rate_bps":12000000,{more}}}"#);
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn framing_counts_what_the_line_carries() {
        let bytes = |more: &str, wire_bytes| config(more).bytes(wire_bytes, 38);
        let plain = r#""overhead_bytes":null,"mpu_bytes":0,"framing":"none""#;
        assert_eq!(bytes(plain, 1_538), 1_538);
        // PPPoE over ATM with VC multiplexing: 32 bytes, tc-cake(8).
        let atm = r#""overhead_bytes":32,"mpu_bytes":0,"framing":"atm""#;
        assert_eq!((bytes(atm, 78), bytes(atm, 1_538)), (2 * 53, 32 * 53));
        let ptm = r#""overhead_bytes":30,"mpu_bytes":0,"framing":"ptm""#;
        assert_eq!(bytes(ptm, 1_538), 1_530 + 24);
        let ethernet = r#""overhead_bytes":38,"mpu_bytes":84,"framing":"none""#;
        assert_eq!((bytes(ethernet, 78), bytes(ethernet, 128)), (84, 128));
        assert_eq!(config(&ptm.replace("30", "10001")).check().unwrap_err().0, "overhead_bytes");
    }

    #[test]
    fn packets_leave_at_the_shapers_rate_and_save_nothing_up() {
        let link: RateConfig = serde_json::from_str(r#"{"constant":120000000}"#).unwrap();
        let plain = config(r#""overhead_bytes":null,"mpu_bytes":0,"framing":"none""#);
        let mut shaped =
            Transmitter::shaped(LinkShaper::new(plain, 0), Transmitter::new(Some(&link)));
        let mut send = |at: u64| {
            let (start, end) = shaped.send(Time(at * 1_000), 1_500);
            (start.as_micros(), end.as_micros(), shaped.begins(Time::ZERO).as_micros())
        };
        // A packet takes 100 us on the link and 1 ms at the shaper's rate.
        assert_eq!(send(0), (0, 100, 1_000));
        assert_eq!(send(0), (1_000, 1_100, 2_000));
        assert_eq!(send(9_500), (9_500, 9_600, 10_500));
        assert_eq!(send(9_500), (10_500, 10_600, 11_500));
    }
}
