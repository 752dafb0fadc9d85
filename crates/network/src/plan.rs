//! Which packets pass at once and which wait in a line.
//!
//! A link must hear of its arrivals in order of time. With one source it does; with
//! several, each of them must wait its turn. In virtual time hosts run ahead of each other,
//! so each group of them is a source; in real time all that is sent at one distance is.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{GroupId, LinkId, Path, Route};
use crate::units::Span;

/// Where a packet goes from one point of its route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Propagation delay until there.
    pub delay: Span,
    /// Index of what `kind` says.
    pub target: u32,
    /// How it goes there.
    pub kind: WayKind,
}

/// How a packet goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WayKind {
    /// Into a link, at once.
    #[default]
    Link,
    /// To a host, at once.
    Host,
    /// Into a line, to wait for its turn.
    Line,
}

/// The hosts that hear over one line.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Routes that end at these hosts.
    pub routes: Vec<usize>,
    /// When the group hears something, its first link does so this much later.
    pub shift: Span,
    /// They hear at once.
    pub at_once: bool,
}

/// Everything that is decided before the first packet.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Ways of all routes, hop by hop, each padded to `stride`.
    pub ways: Vec<Way>,
    pub stride: usize,
    pub groups: Vec<GroupPlan>,
    /// Lines to links follow those to groups: the link of each.
    pub lines: Vec<LinkId>,
}

/// Whose time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// Each group of hosts has its own.
    Virtual,
    /// All hosts send, and hear, as time goes by.
    Real,
}

/// A source of arrivals at a link, each of which comes in order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Link(LinkId, Span),
    Hosts(Heard, Span),
    AllHosts(Span),
}

/// Over which link and at which distance hosts hear; a host that hears nothing is
/// known by its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heard {
    Over(LinkId, Span),
    Nothing(usize),
}

/// What makes hosts one group: what they hear, and the shared link into which they
/// speak, with the distance to it.
type GroupKey = (Heard, Option<(LinkId, Span)>);

struct Planner<'a> {
    routes: Vec<Option<&'a Route>>,
    sources: Vec<BTreeSet<Source>>,
    /// Links that may hand on packets at once.
    prompt: &'a [bool],
    drive: Drive,
}

/// Lines to links: by the link before, if there is one, the delay and the link.
type LineKey = (Option<LinkId>, Span, LinkId);

impl Plan {
    /// A plan for the flows' `paths` over links of which some are `prompt`: they say at
    /// once, and in order, when a packet leaves.
    pub fn new(paths: &[Path], prompt: &[bool], drive: Drive) -> Self {
        let routes: Vec<_> =
            paths.iter().flat_map(|path| [Some(&path.forward), path.reverse.as_ref()]).collect();
        let longest = routes.iter().flatten().map(|route| route.hops.len()).max().unwrap_or(0);
        assert!(longest < 256, "a route has {longest} links, more than 255");
        let planner = Planner::new(routes, prompt, drive);
        let (groups, group_of) = planner.groups();
        let mut plan = Self { ways: Vec::new(), stride: longest + 1, groups, lines: Vec::new() };
        let mut known = BTreeMap::new();
        for (number, route) in planner.routes.iter().enumerate() {
            if let Some(route) = route {
                plan.lay(route, group_of[number], &planner, &mut known);
            }
            plan.ways.resize((number + 1) * plan.stride, Way::default());
        }
        plan
    }

    fn lay(
        &mut self,
        route: &Route,
        group: GroupId,
        planner: &Planner<'_>,
        known: &mut BTreeMap<LineKey, usize>,
    ) {
        let mut previous = None;
        for hop in &route.hops {
            let (kind, target) = if planner.passes_at_once(previous, hop.link) {
                (WayKind::Link, hop.link)
            } else {
                let line = *known.entry((previous, hop.delay, hop.link)).or_insert_with(|| {
                    self.lines.push(hop.link);
                    self.groups.len() + self.lines.len() - 1
                });
                (WayKind::Line, line)
            };
            self.ways.push(Way { delay: hop.delay, target: index(target), kind });
            previous = Some(hop.link);
        }
        let kind = if self.groups[group].at_once { WayKind::Host } else { WayKind::Line };
        self.ways.push(Way { delay: route.delay, target: index(group), kind });
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("fewer than 2^32 links, groups and lines")
}

fn is_receiver(route: usize) -> bool {
    route % 2 == 0
}

impl<'a> Planner<'a> {
    fn new(routes: Vec<Option<&'a Route>>, prompt: &'a [bool], drive: Drive) -> Self {
        let sources = vec![BTreeSet::new(); prompt.len()];
        let mut planner = Self { routes, sources, prompt, drive };
        for number in 0..planner.routes.len() {
            let Some(route) = planner.routes[number] else { continue };
            let first = route.hops.first().expect("a route passes a link");
            let speakers = match drive {
                Drive::Virtual => Source::Hosts(planner.heard(number ^ 1), first.delay),
                Drive::Real => Source::AllHosts(first.delay),
            };
            planner.sources[first.link].insert(speakers);
            for (before, hop) in route.hops.iter().zip(&route.hops[1..]) {
                planner.sources[hop.link].insert(Source::Link(before.link, hop.delay));
            }
        }
        planner
    }

    /// What the host at the end of a route hears.
    fn heard(&self, route: usize) -> Heard {
        match self.routes[route] {
            Some(heard) => {
                Heard::Over(heard.hops.last().expect("a route passes a link").link, heard.delay)
            }
            None => Heard::Nothing(route),
        }
    }

    fn has_one_source(&self, link: LinkId) -> bool {
        self.sources[link].len() == 1
    }

    /// Whether what comes from a link or, if from none, from a host enters `to` at once.
    fn passes_at_once(&self, from: Option<LinkId>, to: LinkId) -> bool {
        match from {
            Some(link) => self.prompt[link] && self.has_one_source(to),
            // In virtual time hosts wait for their turn before they send.
            None => self.drive == Drive::Virtual || self.has_one_source(to),
        }
    }

    fn key(&self, route: usize) -> GroupKey {
        if self.drive == Drive::Real {
            return (self.heard(route), None);
        }
        let first = self.routes[route ^ 1].map(|route| route.hops[0]);
        let shared = first.filter(|hop| !self.has_one_source(hop.link));
        (self.heard(route), shared.map(|hop| (hop.link, hop.delay)))
    }

    /// The groups, and for each route that at whose hosts it ends.
    fn groups(&self) -> (Vec<GroupPlan>, Vec<GroupId>) {
        let mut groups: Vec<GroupPlan> = Vec::new();
        let mut known = BTreeMap::new();
        let mut group_of = Vec::with_capacity(self.routes.len());
        for route in 0..self.routes.len() {
            let key = self.key(route);
            let group = *known.entry(key).or_insert_with(|| {
                let shift = key.1.map_or(Span::ZERO, |(_, before)| before);
                let prompt = matches!(key.0, Heard::Over(link, _) if self.prompt[link]);
                let at_once = prompt && key.1.is_none() && self.drive == Drive::Virtual;
                groups.push(GroupPlan { routes: Vec::new(), shift, at_once });
                groups.len() - 1
            });
            groups[group].routes.push(route);
            // Senders wait for their turn, or packets would go round at once for ever.
            groups[group].at_once &= is_receiver(route);
            group_of.push(group);
        }
        (groups, group_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Hop;

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

    fn planned(paths: &[Path], prompt: &[bool]) -> Plan {
        Plan::new(paths, prompt, Drive::Virtual)
    }

    fn kinds(plan: &Plan, route: usize, hops: usize) -> Vec<WayKind> {
        let begin = route * plan.stride;
        plan.ways[begin..=begin + hops].iter().map(|way| way.kind).collect()
    }

    #[test]
    fn flows_of_one_distance_wait_only_as_acknowledgements() {
        let flow = || path(route(&[0], 5, 0), route(&[1], 0, 5));
        let plan = planned(&[flow(), flow()], &[true; 2]);
        assert_eq!(kinds(&plan, 0, 1), [WayKind::Link, WayKind::Host]);
        assert_eq!(kinds(&plan, 3, 1), [WayKind::Link, WayKind::Line]);
        assert_eq!((plan.groups.len(), plan.lines.len()), (2, 0));
    }

    #[test]
    fn flows_of_different_distances_take_turns_at_the_shared_link() {
        let flow = |rtt| path(route(&[0], rtt, 0), route(&[1], 0, rtt));
        let plan = planned(&[flow(5), flow(9)], &[true; 2]);
        let shifts: Vec<_> = plan.groups.iter().map(|group| group.shift.0).collect();
        assert_eq!(shifts, [0, 5, 9]);
        assert_eq!(kinds(&plan, 0, 1), [WayKind::Link, WayKind::Host]);
    }

    #[test]
    fn what_leaves_private_links_waits_before_a_shared_one() {
        let flow = |edge| path(route(&[edge, 0], 0, 0), route(&[1], 0, 5));
        let plan = planned(&[flow(2), flow(3)], &[true; 4]);
        assert_eq!(kinds(&plan, 0, 2), [WayKind::Link, WayKind::Line, WayKind::Host]);
        assert_eq!(plan.lines, [0, 0]);
    }

    #[test]
    fn nothing_passes_at_once_where_data_and_acknowledgements_share_links() {
        let there = || path(route(&[0], 0, 0), route(&[1], 0, 0));
        let back = || path(route(&[1], 0, 0), route(&[0], 0, 0));
        let plan = planned(&[there(), back()], &[true; 2]);
        assert!(plan.groups.iter().all(|group| !group.at_once));
    }

    #[test]
    fn a_link_that_is_not_prompt_fills_lines() {
        let plan = planned(&[path(route(&[0], 0, 0), route(&[1], 0, 0))], &[false, true]);
        assert_eq!(kinds(&plan, 0, 1), [WayKind::Link, WayKind::Line]);
    }

    #[test]
    fn in_real_time_only_different_distances_wait_before_a_shared_link() {
        let flow = |rtt| path(route(&[0], rtt, 0), route(&[1], 0, rtt));
        let near = Plan::new(&[flow(5), flow(5)], &[true; 2], Drive::Real);
        assert_eq!(kinds(&near, 0, 1), [WayKind::Link, WayKind::Line]);
        let both = Plan::new(&[flow(5), flow(9)], &[true; 2], Drive::Real);
        assert_eq!(kinds(&both, 0, 1), [WayKind::Line, WayKind::Line]);
        assert_eq!(kinds(&both, 3, 1), [WayKind::Link, WayKind::Line]);
        assert_eq!(both.lines, [0, 0]);
        assert!(both.groups.iter().all(|group| group.shift == Span::ZERO && !group.at_once));
    }
}
