//! Where packets were captured: at the sender of the data, at its receiver, or between them.
//!
//! The point of capture splits each round trip into two parts. A segment and its acknowledgement
//! show the part on the receiver's side. An acknowledgement and the first segment that echoes its
//! timestamp (RFC 7323, section 4) show the part on the sender's side. A handshake shows both. A
//! sample may be longer than the network's part, but never shorter: an acknowledgement may be
//! delayed, and a sender may have nothing to send. So the shortest sample of each part counts.
//!
//! A sender without data shows the pause of its application instead of a round trip. Other echoes
//! differ from these: a sender that continues has data in flight, or data still arrives that was
//! sent before.

use serde::Serialize;

/// A part of the round trip is the host's, not the network's, if it is below one in so many or
/// below this time.
const HOST_SHARE: u64 = 20;
const HOST_AT_MOST_NS: u64 = 100_000;
/// Longest time in which a host answers if there is no network between.
const HOST_NS: u64 = 1_000_000;
/// Shortest handshake between two hosts.
const HANDSHAKE_NS: u64 = 2_000;

/// Point of capture of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// At the host that sends the data.
    Sender,
    /// At the host that acknowledges it.
    Receiver,
    /// In the network.
    Between,
}

/// Shortest samples of the two parts of the round trip, in ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shortest {
    /// On the receiver's side, ...
    pub there_ns: Option<u64>,
    /// ... on the sender's side while it had data in flight, ...
    pub here_ns: Option<u64>,
    /// ... and at any time.
    pub idle_ns: Option<u64>,
}

/// Point of capture, and the shortest round trip or the reason why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CapturePoint {
    pub place: Place,
    /// True if only one part of the round trip was seen.
    pub is_guess: bool,
    pub rtt_min_ns: Result<u64, &'static str>,
}

impl Shortest {
    /// Take the two parts that a handshake shows.
    pub fn handshake(&mut self, there_ns: u64, here_ns: u64) {
        if there_ns + here_ns >= HANDSHAKE_NS {
            shorten(&mut self.there_ns, there_ns);
            shorten(&mut self.here_ns, here_ns);
        }
    }

    pub fn there(&mut self, ns: u64) {
        shorten(&mut self.there_ns, ns);
    }

    pub fn here(&mut self, ns: u64) {
        shorten(&mut self.here_ns, ns);
    }

    pub fn idle(&mut self, ns: u64) {
        shorten(&mut self.idle_ns, ns);
    }

    pub fn capture_point(&self) -> CapturePoint {
        let (place, rtt_min_ns) = match (self.there_ns, self.here_ns) {
            (None, _) => (Place::Sender, Err("no segment that was sent once was acknowledged")),
            (Some(there), Some(here)) => {
                let (shorter, whole) = (there.min(here), there.saturating_add(here));
                if shorter > HOST_AT_MOST_NS.max(whole / HOST_SHARE) {
                    (Place::Between, Ok(whole))
                } else if here < there {
                    (Place::Sender, Ok(there))
                } else {
                    (Place::Receiver, Ok(here))
                }
            }
            (Some(there), None) => match self.idle_ns {
                _ if there >= HOST_NS => (Place::Sender, Ok(there)),
                Some(idle) if idle <= there.saturating_mul(HOST_SHARE) => {
                    (Place::Sender, Ok(there))
                }
                Some(_) => (Place::Receiver, Err(ONLY_PAUSES)),
                None => (Place::Receiver, Err(NO_OTHER_PART)),
            },
        };
        let rtt_min_ns = rtt_min_ns.and_then(|ns| if ns > 0 { Ok(ns) } else { Err(NO_TIME) });
        CapturePoint { place, is_guess: self.here_ns.is_none(), rtt_min_ns }
    }
}

const ONLY_PAUSES: &str = "it was captured at the receiver and without the handshake, and before \
    each segment the sender had nothing to send";
const NO_OTHER_PART: &str = "segments were acknowledged at once, as at the receiver, and neither a \
    handshake nor timestamps show the way to the sender";
const NO_TIME: &str = "the clock of the capture shows no time between packets";

fn shorten(least: &mut Option<u64>, ns: u64) {
    *least = Some(least.map_or(ns, |known| known.min(ns)));
}
