//! Facts about the packets of each link that are known before the run.

use dumbbell_algorithm::Need;
use dumbbell_network::{Ecn, LinkId, Span, Traffic};
use dumbbell_tcp::{Ecn as EcnMode, SACK_BYTES_MAX, syn_bytes};
use dumbbell_workload::{Flow, Scenario};

use crate::choice::Choice;

/// Kinds of traffic that the flows of a scenario send over each of its links.
pub fn traffic_of_links(scenario: &Scenario, choices: &[Option<Box<Choice>>]) -> Vec<Traffic> {
    let nothing =
        Traffic { packet_bytes_max: 0, has_ecn: false, has_other: false, waiting_max: None };
    let routes = routes_over_links(scenario);
    let mut links = vec![nothing; scenario.links.len()];
    for (flow, choice) in scenario.flows.iter().zip(choices) {
        let (has_ecn, has_other) = ecn_of_data(choice.as_deref());
        // The size with the most SACK blocks, whether that occurs or not.
        let ack_bytes = flow.header_bytes + SACK_BYTES_MAX;
        let opens = choice.as_deref().filter(|choice| choice.stack.handshake);
        let syn_bytes = opens.map_or(0, |choice| syn_bytes(&choice.stack, flow.header_bytes));
        let has_other =
            has_other || opens.is_some_and(|choice| choice.opening_ecn() == Ecn::NotEct);
        let data = (&flow.forward, flow.packet_bytes.max(syn_bytes), has_ecn, has_other);
        let acks = (&flow.reverse, ack_bytes, false, true);
        for (route, bytes, has_ecn, has_other) in [data, acks] {
            for hop in &route.hops {
                let traffic = &mut links[hop.link];
                traffic.packet_bytes_max = traffic.packet_bytes_max.max(bytes);
                traffic.has_ecn |= has_ecn;
                traffic.has_other |= has_other;
            }
        }
    }
    for (flow, choice) in scenario.flows.iter().zip(choices) {
        if let Some(choice) = choice
            && let Some((link, tsq_bytes)) = small_queue(flow, choice, scenario)
            // With a second flow, the order in the queue would matter.
            && routes[link] == 1
        {
            let overhead_bytes = u32::from(scenario.links[link].overhead_bytes);
            links[link].waiting_max = Some(waiting_max(flow, overhead_bytes, tsq_bytes));
        }
    }
    links
}

/// Number of routes over each link.
pub fn routes_over_links(scenario: &Scenario) -> Vec<u32> {
    let mut routes = vec![0; scenario.links.len()];
    let all = scenario.flows.iter().flat_map(|flow| [&flow.forward, &flow.reverse]);
    all.flat_map(|route| &route.hops).for_each(|hop| routes[hop.link] += 1);
    routes
}

/// True if some of a flow's data is ECN-capable; and true if some is not.
fn ecn_of_data(choice: Option<&Choice>) -> (bool, bool) {
    let Some(choice) = choice else { return (false, true) };
    let has_ecn = choice.stack.ecn != EcnMode::Off;
    // Unless the algorithm needs marks, retransmissions are not ECN-capable (RFC 3168, section
    // 6.1.5).
    (has_ecn, !(has_ecn && choice.needs(Need::Ecn)))
}

/// The interface of a flow's host (its first link) and the limit of TCP small queues there in
/// bytes. None: its sender does not need to know what leaves it.
pub fn small_queue(flow: &Flow, choice: &Choice, scenario: &Scenario) -> Option<(LinkId, u64)> {
    let tsq_bytes = choice.stack.tsq_bytes?;
    Some((interface_of(flow, scenario)?, tsq_bytes.get()))
}

/// The interface of a flow's host: its first link, if that is an interface.
pub fn interface_of(flow: &Flow, scenario: &Scenario) -> Option<LinkId> {
    let first = flow.forward.hops[0];
    // A link at a distance is not in the host.
    let is_interface = scenario.links[first.link].interface && first.delay == Span::ZERO;
    is_interface.then_some(first.link)
}

/// Most packets of a flow that wait in its host. This is twice the sum of the limit of TCP small
/// queues and of the chunk that exceeds it: once for data, and once for retransmissions and probes,
/// which never wait for the limit.
fn waiting_max(flow: &Flow, overhead_bytes: u32, tsq_bytes: u64) -> u32 {
    const CHUNK_BYTES: u64 = 1 << 16;
    let wire_bytes = u64::from(flow.packet_bytes) + u64::from(overhead_bytes);
    let chunk_segs = CHUNK_BYTES / u64::from(flow.mss_bytes()) + 1;
    let packets = 2 * (tsq_bytes / wire_bytes + chunk_segs);
    u32::try_from(packets).unwrap_or(u32::MAX)
}
