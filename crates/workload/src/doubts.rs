//! Doubts whether a run shows its algorithms: its bottleneck was in a host, a flow was locked out,
//! or the phase of packets decided the drops.
//!
//! A doubt does not make a run invalid. The run is true to the scenario, and hosts that are exactly
//! as fast as their network do behave so. But it may be far from what the author intended.

use dumbbell_network::{Drops, LinkConfig, LinkCounters, LinkId, Network, RateConfig, Span};
use dumbbell_record::{Cause, Doubt, FlowSummary};

use crate::Scenario;
use crate::flow::{Demand, Flow, Transport};

/// A host's interface may be the bottleneck if it sends for at least this share of the time, in
/// percent.
const BUSY_PERCENT: u128 = 90;
/// A flow may be locked out if it gets less than this part of its share, ...
const LOCKED_OUT: u64 = 20;
/// ... has at least this many drops, ...
const DROPS_MIN: u64 = 5;
/// ... and has at least so many drops for each drop of the flow with most data.
const DROPS_RATIO: u64 = 50;
/// A flow may be in phase after at least so many occasions of drops, ...
const OCCASIONS_MIN: u64 = 8;
/// ... and it is if, at this percentage of them, the first drop came in two of the sixteen parts of
/// a service time.
const PHASE_PERCENT: u64 = 90;
/// Most flows that a text names.
const NAMED: usize = 3;
const PACKET_BYTES: u32 = 1_500;

/// Parts of a scenario that the search for doubts needs.
#[derive(Clone, Debug)]
pub struct Outline {
    links: Vec<LinkOutline>,
    flows: Vec<FlowOutline>,
}

#[derive(Clone, Debug)]
struct LinkOutline {
    name: String,
    /// Bits per second; none: it has no rate.
    rate_bps: Option<u64>,
    is_interface: bool,
}

#[derive(Clone, Debug)]
struct FlowOutline {
    label: String,
    /// Links that its data passes.
    path: Vec<LinkId>,
    /// Rate of a flow that sends all the time, in bits per second: `u64::MAX` for endless TCP;
    /// none: it does not send all the time.
    wants_bps: Option<u64>,
}

/// Counters of a link after the run.
#[derive(Debug)]
struct Seen {
    counters: LinkCounters,
    drops: Drops,
}

impl Outline {
    /// The outline of a scenario.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        Self {
            links: scenario.links.iter().map(LinkOutline::of).collect(),
            flows: scenario.flows.iter().map(FlowOutline::of).collect(),
        }
    }

    /// Find the doubts about a run, after its last packet.
    #[must_use]
    pub fn doubts(&self, flows: &[FlowSummary], network: &mut Network) -> Vec<Doubt> {
        let seen =
            |link| Seen { counters: network.counters(link).0, drops: network.drops(link).clone() };
        let links: Vec<_> = (0..self.links.len()).map(seen).collect();
        let passing = self.flows.iter().enumerate();
        let passing = passing.flat_map(|(flow, of)| of.path.iter().map(move |&link| (link, flow)));
        let mut passing: Vec<_> = passing.collect();
        passing.sort_unstable();
        passing.dedup();
        let run = LookBack { outline: self, flows, links, passing };
        let hosts = (0..self.links.len()).filter_map(|link| run.host(link));
        let flows = (0..self.flows.len()).filter_map(|flow| run.locked_out(flow));
        let phases = (0..self.links.len()).filter_map(|link| run.phase(link));
        hosts.chain(flows).chain(phases).collect()
    }
}

impl LinkOutline {
    fn of(link: &LinkConfig) -> Self {
        let rate_bps = |rate: &RateConfig| {
            let packet_ns = rate.typical_time(PACKET_BYTES).0.max(1);
            u64::from(PACKET_BYTES) * 8_000_000_000 / packet_ns
        };
        Self {
            name: link.name.clone(),
            rate_bps: link.rate.as_ref().map(rate_bps),
            is_interface: link.interface,
        }
    }
}

impl FlowOutline {
    fn of(flow: &Flow) -> Self {
        let wants_bps = match &flow.transport {
            Transport::Tcp(tcp) => matches!(tcp.demand, Demand::Endless).then_some(u64::MAX),
            Transport::Udp(udp) => {
                let is_constant = udp.on_off.is_none() && udp.changes_bps.is_none();
                is_constant.then_some(udp.rate_bps.0.get())
            }
        };
        let path = flow.forward.hops.iter().map(|hop| hop.link).collect();
        Self { label: flow.label.clone(), path, wants_bps }
    }
}

/// A finished run.
struct LookBack<'a> {
    outline: &'a Outline,
    flows: &'a [FlowSummary],
    links: Vec<Seen>,
    /// Each link with each flow whose data passes it, in order.
    passing: Vec<(LinkId, usize)>,
}

impl LookBack<'_> {
    /// Flows whose data passes a link.
    fn through(&self, link: LinkId) -> impl Iterator<Item = usize> {
        let begin = self.passing.partition_point(|&(other, _)| other < link);
        let end = self.passing.partition_point(|&(other, _)| other <= link);
        self.passing[begin..end].iter().map(|&(_, flow)| flow)
    }

    /// Links that a flow's data passes, without hosts' interfaces.
    fn beyond_host(&self, flow: usize) -> impl Iterator<Item = LinkId> {
        let path = self.outline.flows[flow].path.iter().copied();
        path.filter(|&link| !self.outline.links[link].is_interface)
    }

    fn labels(&self, flows: &[usize]) -> String {
        let named = flows.iter().take(NAMED).map(|&flow| self.outline.flows[flow].label.as_str());
        let mut text = named.collect::<Vec<_>>().join(", ");
        if flows.len() > NAMED {
            text += &format!(" and {} more", flows.len() - NAMED);
        }
        text
    }

    /// A doubt if a host, not the network, limited its flows.
    fn host(&self, link: LinkId) -> Option<Doubt> {
        let LinkOutline { rate_bps: Some(rate_bps), is_interface: true, .. } =
            self.outline.links[link]
        else {
            return None;
        };
        let flows: Vec<_> = self.through(link).collect();
        let here = &self.links[link].counters;
        let dropped: u64 = flows.iter().map(|&flow| self.flows[flow].dropped_packets).sum();
        let mut beyond: Vec<_> = flows.iter().flat_map(|&flow| self.beyond_host(flow)).collect();
        beyond.sort_unstable();
        beyond.dedup();
        let is_marked = beyond.iter().any(|&link| self.links[link].counters.marked_packets > 0);
        if dropped > here.dropped_packets || is_marked {
            return None;
        }
        let names = self.labels(&flows);
        let refused = flows.iter().filter_map(|&flow| self.flows[flow].local_drops);
        let refused = refused.map(u64::from).sum::<u64>();
        if refused + here.dropped_packets > 0 {
            let count = refused + here.dropped_packets;
            let did = if refused > 0 { "refused" } else { "dropped" };
            return Some(Doubt {
                cause: Cause::Host,
                text: format!(
                    "the host of {names} was the bottleneck: its own queue {did} {count} of its \
                     packets, the network dropped none"
                ),
            });
        }
        let begin = flows.iter().map(|&flow| self.flows[flow].start_ns).min()?;
        let end = flows.iter().map(|&flow| self.flows[flow].end_ns).max()?;
        let sent_bits = u128::from(here.departed_bytes) * 8;
        let could_bits = u128::from(rate_bps) * u128::from(end - begin) / 1_000_000_000;
        let waited = mean_wait(here);
        let elsewhere = beyond.iter().map(|&link| mean_wait(&self.links[link].counters)).max()?;
        if 100 * sent_bits < BUSY_PERCENT * could_bits || waited <= elsewhere {
            return None;
        }
        Some(Doubt {
            cause: Cause::Host,
            text: format!(
                "the host of {names} was the bottleneck: packets waited {} us there and at most {} \
                 us in the network, which dropped none of them",
                waited.as_micros(),
                elsewhere.as_micros(),
            ),
        })
    }

    /// A doubt if a flow met a full queue again and again where another one never did.
    fn locked_out(&self, flow: usize) -> Option<Doubt> {
        let (outline, summary) = (&self.outline.flows[flow], &self.flows[flow]);
        let wants_bps = outline.wants_bps?;
        let of = |link: LinkId| self.links[link].drops.of(flow as u32).map(|drops| drops.packets);
        let link = self.beyond_host(flow).max_by_key(|&link| of(link))?;
        let dropped = of(link).filter(|&dropped| dropped >= DROPS_MIN)?;
        let life = (summary.start_ns, summary.end_ns);
        let meets = |other: usize| {
            let FlowSummary { start_ns, end_ns, .. } = self.flows[other];
            other != flow && start_ns < life.1 && end_ns > life.0
        };
        let rivals: Vec<_> = self.through(link).filter(|&other| meets(other)).collect();
        let first = *rivals.iter().max_by_key(|&&rival| self.flows[rival].received_bytes)?;
        let share = self.outline.links[link].rate_bps? / (rivals.len() as u64 + 1);
        let share_bps = share.min(wants_bps);
        let got_bits = u128::from(summary.received_bytes) * 8_000_000_000;
        let got_bps = (got_bits / u128::from(life.1 - life.0).max(1)) as u64;
        let of_first = self.links[link].drops.of(first as u32).map_or(0, |drops| {
            let (from, to) = drops.between;
            if from.0 < life.1 && to.0 > life.0 { drops.packets } else { 0 }
        });
        if got_bps >= share_bps / LOCKED_OUT || of_first * DROPS_RATIO > dropped {
            return None;
        }
        Some(Doubt {
            cause: Cause::LockedOut,
            text: format!(
                "{} was locked out: it got {} of {}, and {} dropped {dropped} of its packets and \
                 {of_first} of those of {}",
                outline.label,
                bits(got_bps),
                bits(share_bps),
                self.outline.links[link].name,
                self.outline.flows[first].label,
            ),
        })
    }

    /// A doubt if a link dropped packets at one point of its service time.
    fn phase(&self, link: LinkId) -> Option<Doubt> {
        let outline = &self.outline.links[link];
        if outline.is_interface || self.through(link).nth(1).is_none() {
            return None;
        }
        let (mut all, mut in_phase, mut flows) = (0, 0, Vec::new());
        for (flow, drops) in self.links[link].drops.of_flows() {
            let occasions = drops.occasions();
            all += occasions;
            if occasions >= OCCASIONS_MIN && 100 * drops.in_phase() >= PHASE_PERCENT * occasions {
                in_phase += occasions;
                flows.push(flow as usize);
            }
        }
        (in_phase > 0 && 2 * in_phase >= all).then(|| Doubt {
            cause: Cause::Phase,
            text: format!(
                "the packets of {} kept one phase: those that {} dropped came at one point of its \
                 service of another",
                self.labels(&flows),
                outline.name,
            ),
        })
    }
}

/// Time that a byte waited for the transmitter, on average.
fn mean_wait(counters: &LinkCounters) -> Span {
    let bytes = u128::from(counters.departed_bytes).max(1);
    Span(u64::try_from(counters.waiting_byte_ns / bytes).unwrap_or(u64::MAX))
}

/// A rate in Mbit/s, for people.
fn bits(bits_per_s: u64) -> String {
    format!("{:.1} Mbit/s", bits_per_s as f64 / 1e6)
}
