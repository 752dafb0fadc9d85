//! The routing table: the next step of each packet, and the places where it must wait for others.
//!
//! A link must get its arrivals in order of time. With one source it does, so packets pass at once.
//! With several sources, a queue before the link merges their packets in order of time. In virtual
//! time hosts run ahead of each other, so each logical process (the hosts that share a clock) is a
//! source. In real time all hosts at one distance are one source.
//!
//! The event of a process is not the arrival of a packet. It is the time at which the answer may
//! reach the first link that others share, a fixed *lookahead* later:
//!
//! ```text
//!            own link       shared link
//! sender ──────▶▭────────────────▶▭──▶ receiver
//!        └────── lookahead ───────┘
//! ```
//!
//! Private links before that link report at once when a packet leaves, so events there do not
//! depend on others. Processes at different distances then feed the shared link nearly in order,
//! and few packets wait before it.

use std::collections::{BTreeMap, BTreeSet};

use crate::route::{Hop, LinkId, Path, ProcessId, Route};
use crate::units::Span;

/// The next step of a packet on its route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextHop {
    /// Propagation delay before it.
    pub delay: Span,
    /// Index of the link, process or queue, according to `kind`.
    pub target: u32,
    /// Kind of the target.
    pub kind: HopKind,
    /// Order of packets that reach a merge queue at the same time: the lowest goes first.
    pub rank: u32,
}

/// Target of a packet's next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HopKind {
    /// A link, which the packet enters at once.
    #[default]
    Link,
    /// A host, which the packet reaches at once.
    Host,
    /// A merge queue.
    Queue,
}

/// The hosts that packets reach over one link at one distance.
#[derive(Clone, Debug)]
pub struct ProcessRoutes {
    /// Routes that end at these hosts.
    pub routes: Vec<usize>,
    /// Time from an arrival until its answer may reach the first link that the process shares.
    pub lookahead: Span,
    /// True if the hosts take packets at once.
    pub at_once: bool,
}

/// Everything that is decided before the first packet.
#[derive(Clone, Debug)]
pub struct RoutingTable {
    /// Hops of all routes, each route padded to `stride`.
    pub hops: Vec<NextHop>,
    pub stride: usize,
    pub processes: Vec<ProcessRoutes>,
    /// Links of the merge queues that follow those of the processes.
    pub merged: Vec<LinkId>,
}

/// Time that drives the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Virtual time: each process of hosts has its own clock.
    Virtual,
    /// Real time: all hosts share one clock.
    Real,
}

/// Facts about a link that are known before its first packet.
#[derive(Clone, Copy, Debug)]
pub struct LinkTraits {
    /// True if packets leave in the order of their transmission, each once.
    pub is_orderly: bool,
    /// True if acceptance depends on the contents of other links. All these links must then get
    /// their arrivals in order of time.
    pub shares_memory: bool,
    /// True if the departure of a packet is known on its arrival.
    pub decides_on_arrival: bool,
}

/// A source of arrivals at a link. Arrivals of one source come in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Link(LinkId, Span),
    Hosts(LastHop, Span),
    AllHosts(Span),
}

/// The link and the distance over which packets reach hosts. A host that no packet reaches has the
/// index of its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LastHop {
    Over(LinkId, Span),
    Nothing(usize),
}

/// A link that others share and the distance to it.
type Shared = Option<(LinkId, Span)>;

/// Key of a process: hosts with the same last hop, whose packets meet others at the same place.
type ProcessKey = (LastHop, Shared);

struct RouteBuilder<'a> {
    routes: Vec<Option<&'a Route>>,
    sources: Vec<BTreeSet<Source>>,
    links: &'a [LinkTraits],
    drive: Drive,
    /// For each link that only its hosts use: the shared link behind it. None if there are several
    /// such links or distances.
    meets: BTreeMap<LinkId, Shared>,
}

/// A source before a merge queue: the link before it, or None for hosts; the delay; and the link
/// behind the queue.
type RankKey = (Option<LinkId>, Span, LinkId);

/// The merge queues of links, and the rank of each source before them.
#[derive(Default)]
struct Merging {
    queues: BTreeMap<LinkId, usize>,
    ranks: BTreeMap<RankKey, u32>,
}

impl RoutingTable {
    /// Return the table for the flows' `paths` over `links`.
    pub fn new(paths: &[Path], links: &[LinkTraits], drive: Drive) -> Self {
        let routes: Vec<_> =
            paths.iter().flat_map(|path| [Some(&path.forward), path.reverse.as_ref()]).collect();
        let longest = routes.iter().flatten().map(|route| route.hops.len()).max().unwrap_or(0);
        assert!(longest < 256, "a route has {longest} links, more than 255");
        let builder = RouteBuilder::new(routes, links, drive);
        let (processes, process_of) = builder.processes();
        let mut table =
            Self { hops: Vec::new(), stride: longest + 1, processes, merged: Vec::new() };
        let mut merging = Merging::default();
        for (number, route) in builder.routes.iter().enumerate() {
            if let Some(route) = route {
                table.lay(route, process_of[number], &builder, &mut merging);
            }
            table.hops.resize((number + 1) * table.stride, NextHop::default());
        }
        table
    }

    fn lay(
        &mut self,
        route: &Route,
        process: ProcessId,
        builder: &RouteBuilder<'_>,
        merging: &mut Merging,
    ) {
        let mut previous = None;
        for hop in &route.hops {
            let next = if builder.passes_at_once(previous, hop.link) {
                NextHop { delay: hop.delay, target: index(hop.link), kind: HopKind::Link, rank: 0 }
            } else {
                self.merge(previous, *hop, merging)
            };
            self.hops.push(next);
            previous = Some(hop.link);
        }
        let kind = if self.processes[process].at_once { HopKind::Host } else { HopKind::Queue };
        self.hops.push(NextHop { delay: route.delay, target: index(process), kind, rank: 0 });
    }

    fn merge(&mut self, previous: Option<LinkId>, hop: Hop, merging: &mut Merging) -> NextHop {
        let Hop { link, delay } = hop;
        // Ranks follow the order of routes in the scenario, so ties do not depend on the run.
        let next_rank = index(merging.ranks.len());
        let rank = *merging.ranks.entry((previous, delay, link)).or_insert(next_rank);
        let queue = *merging.queues.entry(link).or_insert_with(|| {
            self.merged.push(link);
            self.processes.len() + self.merged.len() - 1
        });
        NextHop { delay, target: index(queue), kind: HopKind::Queue, rank }
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 links, processes and queues")
}

fn is_receiver(route: usize) -> bool {
    route % 2 == 0
}

impl<'a> RouteBuilder<'a> {
    fn new(routes: Vec<Option<&'a Route>>, links: &'a [LinkTraits], drive: Drive) -> Self {
        let sources = vec![BTreeSet::new(); links.len()];
        let mut builder = Self { routes, sources, links, drive, meets: BTreeMap::new() };
        for number in 0..builder.routes.len() {
            let Some(route) = builder.routes[number] else { continue };
            let first = route.hops.first().expect("a route passes a link");
            // A host answers packets that reach it, so its time is that of the last hop of the
            // route back (number ^ 1).
            let speakers = match drive {
                Drive::Virtual => Source::Hosts(builder.last_hop(number ^ 1), first.delay),
                Drive::Real => Source::AllHosts(first.delay),
            };
            builder.sources[first.link].insert(speakers);
            for (before, hop) in route.hops.iter().zip(&route.hops[1..]) {
                builder.sources[hop.link].insert(Source::Link(before.link, hop.delay));
            }
        }
        builder.note_meetings();
        builder
    }

    fn note_meetings(&mut self) {
        for route in self.routes.clone().into_iter().flatten() {
            let (first, meets) = (route.hops[0].link, self.meets_behind(route));
            let noted = self.meets.entry(first).or_insert(meets);
            if *noted != meets {
                *noted = None;
            }
        }
    }

    /// Return the shared link behind a route's first link. None if the first link is shared itself,
    /// or does not decide on arrival and in order, or if the second link is not shared.
    fn meets_behind(&self, route: &Route) -> Shared {
        let [first, second, ..] = route.hops[..] else { return None };
        let is_exclusive = self.has_one_source(first.link)
            && self.links[first.link].is_orderly
            && self.links[first.link].decides_on_arrival;
        let is_shared = !self.has_one_source(second.link);
        (is_exclusive && is_shared).then_some((second.link, first.delay + second.delay))
    }

    /// Return the last hop of a route, which leads to its host.
    fn last_hop(&self, route: usize) -> LastHop {
        match self.routes[route] {
            Some(Route { hops, delay }) => {
                LastHop::Over(hops.last().expect("a route passes a link").link, *delay)
            }
            None => LastHop::Nothing(route),
        }
    }

    /// Return whether a link gets its arrivals in order even if they pass at once.
    fn has_one_source(&self, link: LinkId) -> bool {
        // Links that share memory also need order among each other, which only merging gives.
        self.sources[link].len() == 1 && !self.links[link].shares_memory
    }

    /// Return whether a packet that leaves a link can continue at once.
    fn hands_on(&self, link: LinkId) -> bool {
        let LinkTraits { is_orderly, decides_on_arrival, .. } = self.links[link];
        is_orderly && (decides_on_arrival || self.drive == Drive::Virtual)
    }

    /// Return whether a packet from a link, or from a host if `from` is None, enters `to` at once.
    fn passes_at_once(&self, from: Option<LinkId>, to: LinkId) -> bool {
        match from {
            Some(link) => self.hands_on(link) && self.has_one_source(to),
            // In virtual time hosts send when their event is the next.
            None => self.drive == Drive::Virtual || self.has_one_source(to),
        }
    }

    fn key(&self, route: usize) -> ProcessKey {
        let last_hop = self.last_hop(route);
        let Some(sent) = self.routes[route ^ 1].filter(|_| self.drive == Drive::Virtual) else {
            return (last_hop, None);
        };
        let first = sent.hops[0];
        if !self.has_one_source(first.link) {
            (last_hop, Some((first.link, first.delay)))
        } else if is_receiver(route) {
            (last_hop, None)
        } else {
            (last_hop, self.meets[&first.link])
        }
    }

    /// Return the processes, and the process at the end of each route.
    fn processes(&self) -> (Vec<ProcessRoutes>, Vec<ProcessId>) {
        let mut processes: Vec<ProcessRoutes> = Vec::new();
        let mut known = BTreeMap::new();
        let mut process_of = Vec::with_capacity(self.routes.len());
        for route in 0..self.routes.len() {
            let key = self.key(route);
            let process = *known.entry(key).or_insert_with(|| {
                let lookahead = key.1.map_or(Span::ZERO, |(_, before)| before);
                let hands_on = matches!(key.0, LastHop::Over(link, _) if self.hands_on(link));
                let at_once = hands_on && key.1.is_none() && self.drive == Drive::Virtual;
                processes.push(ProcessRoutes { routes: Vec::new(), lookahead, at_once });
                processes.len() - 1
            });
            processes[process].routes.push(route);
            // Senders wait for their event. Otherwise packets would circle at once for ever.
            processes[process].at_once &= is_receiver(route);
            process_of.push(process);
        }
        (processes, process_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(links: &[LinkId], before: u64, after: u64) -> Route {
        let hops = links.iter().enumerate().map(|(position, &link)| Hop {
            link,
            delay: Span(if position == 0 { before } else { 0 }),
        });
        Route { hops: hops.collect(), delay: Span(after) }
    }

    fn path(forward: Route, reverse: Route) -> Path {
        Path { forward, reverse: Some(reverse) }
    }

    const PLAIN: LinkTraits =
        LinkTraits { is_orderly: true, shares_memory: false, decides_on_arrival: true };

    fn table_of(paths: &[Path], links: &[LinkTraits]) -> RoutingTable {
        RoutingTable::new(paths, links, Drive::Virtual)
    }

    fn kinds(table: &RoutingTable, route: usize, hops: usize) -> Vec<HopKind> {
        let begin = route * table.stride;
        table.hops[begin..=begin + hops].iter().map(|hop| hop.kind).collect()
    }

    #[test]
    fn flows_of_one_distance_wait_only_as_acknowledgements() {
        let flow = || path(route(&[0], 5, 0), route(&[1], 0, 5));
        let table = table_of(&[flow(), flow()], &[PLAIN; 2]);
        assert_eq!(kinds(&table, 0, 1), [HopKind::Link, HopKind::Host]);
        assert_eq!(kinds(&table, 3, 1), [HopKind::Link, HopKind::Queue]);
        assert_eq!((table.processes.len(), table.merged.len()), (2, 0));
    }

    #[test]
    fn flows_of_different_distances_take_turns_at_the_shared_link() {
        let flow = |rtt| path(route(&[0], rtt, 0), route(&[1], 0, rtt));
        let table = table_of(&[flow(5), flow(9)], &[PLAIN; 2]);
        let lookaheads: Vec<_> =
            table.processes.iter().map(|process| process.lookahead.0).collect();
        assert_eq!(lookaheads, [0, 5, 9]);
        assert_eq!(kinds(&table, 0, 1), [HopKind::Link, HopKind::Host]);
    }

    #[test]
    fn what_leaves_own_links_is_merged_before_a_shared_one() {
        let flow = |edge| path(route(&[edge, 0], 0, 0), route(&[1], 0, 5));
        let table = table_of(&[flow(2), flow(3)], &[PLAIN; 4]);
        assert_eq!(kinds(&table, 0, 2), [HopKind::Link, HopKind::Queue, HopKind::Host]);
        assert_eq!(table.merged, [0]);
        assert_eq!([table.hops[1].rank, table.hops[4 * table.stride / 2 + 1].rank], [0, 1]);
    }

    /// A route over a private link, 5 ns away from its host, and the shared link, `further` ns
    /// behind.
    fn over_exclusive_link(edge: LinkId, further: u64) -> Route {
        let hops = vec![Hop { link: edge, delay: Span(5) }, Hop { link: 0, delay: Span(further) }];
        Route { hops, delay: Span(0) }
    }

    #[test]
    fn a_group_behind_links_of_its_own_acts_when_its_data_may_meet_others() {
        let flow = |edge| path(over_exclusive_link(edge, 2), route(&[1], 0, 9));
        let table = table_of(&[flow(2), flow(3)], &[PLAIN; 4]);
        let senders = &table.processes[1];
        assert_eq!((senders.routes.clone(), senders.lookahead), (vec![1, 3], Span(7)));
        // A scheduler does not know departures on arrival.
        let fair = LinkTraits { decides_on_arrival: false, ..PLAIN };
        let table = table_of(&[flow(2), flow(3)], &[PLAIN, PLAIN, fair, fair]);
        assert_eq!(table.processes[1].lookahead, Span::ZERO);
    }

    /// Otherwise packets of both hosts would reach the link out of order.
    #[test]
    fn hosts_that_share_a_link_of_their_own_act_at_one_distance() {
        let flow = |further| path(over_exclusive_link(2, further), route(&[1], 0, 9));
        let table = table_of(&[flow(2), flow(30)], &[PLAIN; 3]);
        assert_eq!((table.processes.len(), table.processes[1].lookahead), (2, Span::ZERO));
    }

    #[test]
    fn nothing_passes_at_once_where_data_and_acknowledgements_share_links() {
        let there = || path(route(&[0], 0, 0), route(&[1], 0, 0));
        let back = || path(route(&[1], 0, 0), route(&[0], 0, 0));
        let table = table_of(&[there(), back()], &[PLAIN; 2]);
        assert!(table.processes.iter().all(|process| !process.at_once));
    }

    #[test]
    fn what_a_link_hands_on_out_of_order_waits() {
        let reorders = LinkTraits { is_orderly: false, ..PLAIN };
        let table = table_of(&[path(route(&[0], 0, 0), route(&[1], 0, 0))], &[reorders, PLAIN]);
        assert_eq!(kinds(&table, 0, 1), [HopKind::Link, HopKind::Queue]);
    }

    #[test]
    fn receivers_behind_a_scheduler_hear_at_once_but_in_real_time() {
        let fair = LinkTraits { decides_on_arrival: false, ..PLAIN };
        let paths = [path(route(&[0], 0, 0), route(&[1], 0, 0))];
        assert_eq!(kinds(&table_of(&paths, &[fair, PLAIN]), 0, 1)[1], HopKind::Host);
        let real = RoutingTable::new(&paths, &[fair, PLAIN], Drive::Real);
        assert_eq!(kinds(&real, 0, 1)[1], HopKind::Queue);
    }

    #[test]
    fn in_real_time_only_different_distances_wait_before_a_shared_link() {
        let flow = |rtt| path(route(&[0], rtt, 0), route(&[1], 0, rtt));
        let near = RoutingTable::new(&[flow(5), flow(5)], &[PLAIN; 2], Drive::Real);
        assert_eq!(kinds(&near, 0, 1), [HopKind::Link, HopKind::Queue]);
        let both = RoutingTable::new(&[flow(5), flow(9)], &[PLAIN; 2], Drive::Real);
        assert_eq!(kinds(&both, 0, 1), [HopKind::Queue, HopKind::Queue]);
        assert_eq!(kinds(&both, 3, 1), [HopKind::Link, HopKind::Queue]);
        assert_eq!(both.merged, [0]);
        assert!(
            both.processes
                .iter()
                .all(|process| process.lookahead == Span::ZERO && !process.at_once)
        );
    }
}
