//! One flow: its path, its transport and what it has to send.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use dumbbell_network::{LinkConfig, Rate, Route, Span, Steps, Time};
use dumbbell_tcp::{Reading, StackChoice, TcpBpf};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::pace::check_pace;

/// One flow between two hosts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Name for people.
    pub label: String,
    /// Name of a group of flows over which quantities are taken together; none: of no group.
    pub group: Option<String>,
    /// When it begins.
    pub start_ns: Time,
    /// When it stops sending new data; none: never.
    pub stop_ns: Option<Time>,
    /// Size of a full packet at the IP layer.
    pub packet_bytes: u16,
    /// Bytes of it that are headers.
    pub header_bytes: u16,
    /// Route of its data.
    pub forward: Route,
    /// Route of the receiver's answers.
    pub reverse: Route,
    /// True if it has rows in the table of flows.
    pub sampled: bool,
    /// Transport of its data.
    pub transport: Transport,
}

/// Transport of a flow's data.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// A TCP connection.
    Tcp(Tcp),
    /// Datagrams that nobody answers.
    Udp(Udp),
}

/// A TCP connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Congestion-control algorithm.
    pub algorithm: String,
    /// Preset of its parameters; none: the defaults.
    pub preset: Option<String>,
    /// Parameters that differ from the preset.
    pub parameters: BTreeMap<String, u32>,
    /// The stack of both its hosts.
    pub stack: StackChoice,
    /// Data that it has to send.
    pub demand: Demand,
    /// Settings by a program while it is set up; none: nothing.
    pub tcp_bpf: Option<TcpBpf>,
    /// Lag of its receiving application; none: it reads at once.
    pub reading: Option<Box<Reading>>,
}

/// Data that an application has to send over a connection.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Demand {
    /// Never without data.
    Endless,
    /// This many bytes of payload.
    Transfer(NonZeroU64),
    /// Requests one after the other.
    Requests(Requests),
    /// Data in bursts.
    OnOff(OnOff),
    /// Data as the application produces it, a full segment at a time.
    AppLimited {
        /// Bits of payload per second and the times of the run from which they hold.
        rate_bps: Steps<u64>,
    },
}

/// Requests one after the other.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Payload of each.
    pub bytes: NonZeroU64,
    /// Time, or mean time, between the reply to one and the next.
    pub pause_ns: Span,
    /// Times between them are exponentially distributed.
    #[serde(default)]
    pub random: bool,
    /// They begin at multiples of this time, counted from the start; none: after a pause.
    pub period_ns: Option<NonZeroU64>,
    /// Number of the queries that it answers with other flows, so that all wait for the last
    /// reply; none: it waits for its own alone.
    pub query: Option<u32>,
}

/// Times of sending and of silence in turn, beginning with the former.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Length, or mean length, of sending.
    pub on_ns: NonZeroU64,
    /// Length, or mean length, of silence.
    pub off_ns: NonZeroU64,
    /// Lengths are exponentially distributed.
    pub random: bool,
}

/// Datagrams at a rate.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Udp {
    /// Rate while sending, at the IP layer; the highest of those that change.
    pub rate_bps: Rate,
    /// Bits per second and the times of the run from which they hold; none: `rate_bps` throughout.
    pub changes_bps: Option<Steps<u64>>,
    /// Bursts; none: without a pause.
    pub on_off: Option<OnOff>,
}

impl Tcp {
    /// Check how its application reads.
    fn check_reading(&self) -> Result<(), (String, String)> {
        let Some(reading) = &self.reading else { return Ok(()) };
        let Reading { rate_bps, block_bytes } = **reading;
        let refuse = |key: &str, problem: String| Err((key.into(), problem));
        if block_bytes.get() > Reading::BLOCK_BYTES_MAX {
            let most = Reading::BLOCK_BYTES_MAX;
            return refuse("block_bytes", format!("{block_bytes}, but at most {most}"));
        }
        let fastest = Reading::fastest_bps(block_bytes);
        if rate_bps.get() > fastest {
            let problem = format!("{rate_bps}, at which a block takes no time: at most {fastest}");
            return refuse("rate_bps", problem);
        }
        if matches!(self.demand, Demand::Requests(_)) {
            return refuse("rate_bps", "requests are answered at once, not when read".into());
        }
        if self.tcp_bpf.is_some_and(|settings| settings.receive_buffer_bytes.is_some()) {
            return refuse("rate_bps", "a program sets the receive buffer, too".into());
        }
        Ok(())
    }
}

impl Udp {
    /// The highest rate, in bits per second, at which a packet of `bytes` takes at least 1 ns.
    const fn fastest_bps(bytes: u16) -> u64 {
        bytes as u64 * 8 * 1_000_000_000
    }
}

impl Flow {
    fn check_transport(&self) -> Result<(), (String, String)> {
        let within = |key: &str, (inner, problem)| (format!("{key}.{inner}"), problem);
        match &self.transport {
            Transport::Udp(Udp { rate_bps, changes_bps, on_off }) => {
                let (rate, fastest) = (rate_bps.0.get(), Udp::fastest_bps(self.packet_bytes));
                if rate > fastest {
                    let problem = format!(
                        "{rate}, at which a packet of {} bytes takes no nanosecond: at most {fastest}",
                        self.packet_bytes
                    );
                    return Err(("udp.rate_bps".into(), problem));
                }
                if let Some(changes) = changes_bps {
                    check_changes(changes, rate).map_err(|e| within("udp", e))?;
                    if on_off.is_some() {
                        let problem = "with a rate that changes, where 0 is silence".into();
                        return Err(("udp.on_off".into(), problem));
                    }
                }
                on_off.map_or(Ok(()), |pattern| pattern.check()).map_err(|e| within("udp", e))
            }
            Transport::Tcp(tcp) => {
                tcp.check_reading().map_err(|e| within("tcp.reading", e))?;
                match &tcp.demand {
                    Demand::OnOff(pattern) => pattern.check().map_err(|e| within("tcp.demand", e)),
                    Demand::Requests(requests) => {
                        requests.check().map_err(|e| within("tcp.demand.requests", e))
                    }
                    Demand::AppLimited { rate_bps } => check_pace(rate_bps, self.mss_bytes())
                        .map_err(|e| within("tcp.demand.app_limited", e)),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Lag of its receiving application; none: it reads at once, or there is no such application.
    #[must_use]
    pub fn reading(&self) -> Option<Reading> {
        match &self.transport {
            Transport::Tcp(tcp) => tcp.reading.as_deref().copied(),
            Transport::Udp(_) => None,
        }
    }

    /// Payload of a full packet in bytes.
    #[must_use]
    pub const fn mss_bytes(&self) -> u32 {
        (self.packet_bytes - self.header_bytes) as u32
    }

    /// Check what the types do not ensure.
    ///
    /// # Errors
    /// The key at fault, and the problem.
    pub(crate) fn check(&self, links: &[LinkConfig]) -> Result<(), (String, String)> {
        if self.packet_bytes <= self.header_bytes {
            let problem =
                format!("{}, but {} of them are headers", self.packet_bytes, self.header_bytes);
            return Err(("packet_bytes".into(), problem));
        }
        if self.stop_ns.is_some_and(|stop| stop <= self.start_ns) {
            return Err(("stop_ns".into(), format!("not after start_ns {}", self.start_ns.0)));
        }
        self.check_transport().map_err(|(key, problem)| (format!("transport.{key}"), problem))?;
        for (name, route) in [("forward", &self.forward), ("reverse", &self.reverse)] {
            check_route(route, links)
                .map_err(|(key, problem)| (format!("{name}.{key}"), problem))?;
        }
        Ok(())
    }
}

/// Check rates against their highest, which the flow gives as `highest_bps`.
fn check_changes(changes: &Steps<u64>, highest_bps: u64) -> Result<(), (String, String)> {
    changes.check("changes_bps")?;
    let highest = changes.values().max().unwrap_or(0);
    if highest == highest_bps {
        return Ok(());
    }
    Err(("changes_bps".into(), format!("at most {highest}, but rate_bps is {highest_bps}")))
}

impl Requests {
    fn check(&self) -> Result<(), (String, String)> {
        let Some(period) = self.period_ns else { return Ok(()) };
        if self.pause_ns != Span::ZERO {
            return Err(("pause_ns".into(), format!("{}, with a period", self.pause_ns.0)));
        }
        if period.get() > Span::LONGEST.0 {
            return Err(("period_ns".into(), too_long(period.get())));
        }
        Ok(())
    }
}

fn too_long(time: u64) -> String {
    format!("{time}, but the longest is 2^60 ns (36 years)")
}

impl OnOff {
    fn check(&self) -> Result<(), (String, String)> {
        for (key, time) in [("on_ns", self.on_ns), ("off_ns", self.off_ns)] {
            if time.get() > Span::LONGEST.0 {
                return Err((format!("on_off.{key}"), too_long(time.get())));
            }
        }
        Ok(())
    }
}

fn check_route(route: &Route, links: &[LinkConfig]) -> Result<(), (String, String)> {
    if !(1..256).contains(&route.hops.len()) {
        let problem = format!("{} links, but a route passes 1 to 255", route.hops.len());
        return Err(("hops".into(), problem));
    }
    for (index, hop) in route.hops.iter().enumerate() {
        if hop.link >= links.len() {
            let problem = format!("{}, but there are {} links", hop.link, links.len());
            return Err((format!("hops.{index}.link"), problem));
        }
    }
    let hops = route.hops.iter().map(|hop| hop.delay.saturating_add(links[hop.link].longest()));
    let longest = hops.fold(route.delay, Span::saturating_add);
    if longest > Span::LONGEST {
        let problem = "takes more than 2^60 ns (36 years) even without queues".into();
        return Err(("hops".into(), problem));
    }
    Ok(())
}
