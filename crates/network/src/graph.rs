//! Links joined by routes: packets go in at a host and come out at another.
//!
//! A packet that leaves now cannot be anywhere else before the delay between has
//! passed. So links need not be worked through in step, event by event: each takes all
//! arrivals up to the moment before which no other link can send it more (its
//! *horizon*), and in one go. A round takes every link as far as its horizon lets it,
//! and between rounds about a round-trip time passes.
//!
//! Nothing here reads a clock. The simulator runs rounds as fast as it can; an emulator
//! takes the time of day for the limit.

use serde::Deserialize;

use crate::fifo::Fifo;
use crate::inbox::{Arrival, Inbox};
use crate::link::{DropCause, FarEnd, Link, LinkConfig, LinkCounters};
use crate::packet::Packet;
use crate::units::{Span, Time};

/// Index of a link.
pub type LinkId = usize;

/// A link that a route passes and the propagation delay before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// The link.
    pub link: LinkId,
    /// Delay between the host or link before and this one.
    #[serde(rename = "delay_ns")]
    pub delay: Span,
}

/// One way through the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The links in their order, at least one.
    pub hops: Vec<Hop>,
    /// Delay after the last of them.
    #[serde(rename = "delay_ns")]
    pub delay: Span,
}

/// The two routes of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// From sender to receiver.
    pub forward: Route,
    /// From receiver to sender.
    pub reverse: Route,
}

/// The hosts at the ends of all routes. Routes are numbered: that of flow `f` towards
/// the receiver is `2 f`, that back to the sender `2 f + 1`.
pub trait Hosts {
    /// `packet` reaches the host at the end of its route at `now`. What a host receives
    /// over one route comes in order of time.
    fn deliver(&mut self, now: Time, packet: Packet, wires: &mut Wires);
    /// Nothing more will be delivered over `route` before `until`: timers that are due
    /// before then can fire.
    fn quiet(&mut self, route: usize, until: Time, wires: &mut Wires);
    /// `packet` was lost on `link`.
    fn lose(&mut self, now: Time, packet: Packet, link: LinkId, cause: DropCause);
    /// When the earliest timer of any host is due.
    fn next_timer(&self) -> Time;
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, Default)]
struct Next {
    /// A link's inbox; past those, one of the lines to hosts.
    target: u32,
    delay: Span,
}

/// All that is on its way to a link or to a host.
#[derive(Debug)]
pub struct Wires {
    inboxes: Vec<Inbox>,
    /// To hosts: what comes off one link with one delay behind it, in order of time.
    lines: Vec<Fifo<Arrival>>,
    /// The delay behind each line's link.
    line_delays: Vec<Span>,
    /// Next targets of all routes, hop by hop, each padded to `stride`.
    next: Vec<Next>,
    stride: usize,
}

/// A link and what limits how far it can be worked through.
#[derive(Debug)]
struct Node {
    link: Link,
    /// Links from which something can come here, straight or by way of a host, and the
    /// shortest delay between.
    sources: Vec<(LinkId, Span)>,
    /// Lines that begin here.
    lines: Vec<usize>,
    /// Routes that end here, and the delay behind.
    ends: Vec<(usize, Span)>,
    /// Every arrival before has been worked through.
    seen: Time,
    /// Nothing that arrives from now on reaches the far end before.
    out: Time,
}

/// A network of links with two routes for each flow.
#[derive(Debug)]
pub struct Network {
    nodes: Vec<Node>,
    wires: Wires,
    /// The last round moved nothing.
    stuck: bool,
    /// Nothing happens before.
    floor: Time,
}

impl Network {
    /// A network of idle links; `paths` holds the routes of each flow.
    ///
    /// # Panics
    /// If a route names a link that does not exist, or has none or more than 255.
    #[must_use]
    pub fn new(links: &[LinkConfig], paths: &[Path], seed: u64) -> Self {
        let nodes = links.iter().enumerate().map(|(index, config)| Node {
            link: Link::new(config, seed, index as u64),
            sources: Vec::new(),
            lines: Vec::new(),
            ends: Vec::new(),
            seen: Time::ZERO,
            out: Time::ZERO,
        });
        let mut network = Self {
            nodes: nodes.collect(),
            wires: Wires::new(links, paths),
            stuck: true,
            floor: Time::ZERO,
        };
        for (index, path) in paths.iter().enumerate() {
            network.lay(2 * index, &path.forward, &path.reverse);
            network.lay(2 * index + 1, &path.reverse, &path.forward);
        }
        network
    }

    /// Lays a route at whose end a host answers over the route `back`.
    fn lay(&mut self, number: usize, route: &Route, back: &Route) {
        let begin = number * self.wires.stride;
        for (position, hop) in route.hops.iter().enumerate() {
            let target = u32::try_from(hop.link).expect("fewer than 2^32 links");
            self.wires.next[begin + position] = Next { target, delay: hop.delay };
            if position > 0 {
                self.nodes[hop.link].can_follow(route.hops[position - 1].link, hop.delay);
            }
        }
        let last = route.hops.last().expect("a route passes a link").link;
        let line = self.line(last, route.delay);
        let target = u32::try_from(self.nodes.len() + line).expect("fewer than 2^32 lines");
        self.wires.next[begin + route.hops.len()] = Next { target, delay: route.delay };
        self.nodes[last].ends.push((number, route.delay));
        let answer = back.hops.first().expect("a route passes a link");
        self.nodes[answer.link].can_follow(last, route.delay + answer.delay);
    }

    /// The line from a link to hosts at a certain distance.
    fn line(&mut self, link: LinkId, delay: Span) -> usize {
        let end = |&line: &usize| self.wires.line_delays[line] == delay;
        if let Some(&line) = self.nodes[link].lines.iter().find(|line| end(line)) {
            return line;
        }
        let line = self.wires.lines.len();
        self.wires.lines.push(Fifo::new());
        self.wires.line_delays.push(delay);
        self.nodes[link].lines.push(line);
        line
    }

    /// When the network's next event happens at the earliest; [`Time::NEVER`] if it is
    /// empty.
    #[must_use]
    pub fn next_event(&self) -> Time {
        let arrivals = self.wires.inboxes.iter().map(Inbox::earliest);
        let deliveries = self.wires.lines.iter().filter_map(Fifo::front).map(|front| front.time);
        arrivals.chain(deliveries).min().unwrap_or(Time::NEVER)
    }

    /// Lets happen all that happens before `limit`.
    pub fn run_until(&mut self, limit: Time, hosts: &mut impl Hosts) {
        // What was held back for the former limit comes before all else.
        for link in 0..self.nodes.len() {
            self.deliver(link, limit, hosts);
        }
        self.stuck = true;
        loop {
            if self.stuck {
                let next = self.next_event().min(hosts.next_timer());
                if next >= limit {
                    return;
                }
                self.jump(next, limit, hosts);
            }
            self.stuck = true;
            for link in 0..self.nodes.len() {
                let horizon = self.horizon(link).min(limit);
                self.pass(link, horizon, hosts);
                self.deliver(link, limit, hosts);
                self.settle(link, limit, hosts);
            }
        }
    }

    /// Nothing happens anywhere before `next`: whatever waits for that may go on.
    fn jump(&mut self, next: Time, limit: Time, hosts: &mut impl Hosts) {
        self.floor = next + Span(1);
        for link in 0..self.nodes.len() {
            let node = &mut self.nodes[link];
            node.seen = node.seen.max(next);
            self.settle(link, limit, hosts);
        }
    }

    /// The moment before which nothing more can be sent to a link.
    fn horizon(&self, link: LinkId) -> Time {
        let sources = self.nodes[link].sources.iter();
        let earliest = sources.map(|&(source, delay)| self.nodes[source].out.saturating_add(delay));
        earliest.min().unwrap_or(Time::NEVER).max(self.floor)
    }

    /// Works through the arrivals at a link before `horizon`.
    fn pass(&mut self, link: LinkId, horizon: Time, hosts: &mut impl Hosts) {
        let node = &mut self.nodes[link];
        let mut onward = Onward { link, wires: &mut self.wires, hosts };
        while let Some(Arrival { time, packet }) = onward.wires.inboxes[link].pop_before(horizon) {
            node.link.arrive(time, packet, &mut onward);
            self.stuck = false;
        }
        node.seen = node.seen.max(horizon);
    }

    /// Hands to hosts what came off a link and reaches them before `limit`.
    fn deliver(&mut self, link: LinkId, limit: Time, hosts: &mut impl Hosts) {
        for &line in &self.nodes[link].lines {
            while let Some(Arrival { time, packet }) = self.wires.lines[line].front()
                && time < limit
            {
                self.wires.lines[line].pop();
                hosts.deliver(time, packet, &mut self.wires);
                self.stuck = false;
            }
        }
    }

    /// Lets the hosts behind a link act up to the moment at which they may hear more.
    fn settle(&mut self, link: LinkId, limit: Time, hosts: &mut impl Hosts) {
        let node = &mut self.nodes[link];
        node.out = node.link.earliest_from(node.seen);
        for &(route, delay) in &node.ends {
            let until = node.out.saturating_add(delay).max(self.floor).min(limit);
            hosts.quiet(route, until, &mut self.wires);
        }
    }

    /// Counts of one link as of `now`.
    pub fn counters(&mut self, link: LinkId, now: Time) -> LinkCounters {
        self.nodes[link].link.counters(now)
    }

    /// Every packet between two hosts.
    pub fn under_way(&self) -> impl Iterator<Item = Packet> {
        let wires = &self.wires;
        let inboxes = wires.inboxes.iter().flat_map(Inbox::iter).map(|arrival| arrival.packet);
        let lines = wires.lines.iter().flat_map(Fifo::iter).map(|arrival| arrival.packet);
        inboxes.chain(lines)
    }
}

impl Node {
    /// Something can come here `delay` after it left `source`.
    fn can_follow(&mut self, source: LinkId, delay: Span) {
        match self.sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, shortest)) => *shortest = delay.min(*shortest),
            None => self.sources.push((source, delay)),
        }
    }
}

impl Wires {
    fn new(links: &[LinkConfig], paths: &[Path]) -> Self {
        let hops = paths.iter().flat_map(|path| [&path.forward.hops, &path.reverse.hops]);
        let longest = hops.map(Vec::len).max().unwrap_or(0);
        assert!(longest < 256, "a route has {longest} links, more than 255");
        Self {
            inboxes: links.iter().map(|link| Inbox::new(link.usual_slice())).collect(),
            lines: Vec::new(),
            line_delays: Vec::new(),
            next: vec![Next::default(); 2 * paths.len() * (longest + 1)],
            stride: longest + 1,
        }
    }

    /// Sends a packet on its way at `now`; a host must not send earlier than before,
    /// and not earlier than it was told that all is quiet.
    #[inline]
    pub fn send(&mut self, now: Time, packet: Packet) {
        let Next { target, delay } = self.next[packet.route() * self.stride + packet.hop()];
        let (time, target) = (now + delay, target as usize);
        match self.inboxes.get_mut(target) {
            Some(inbox) => inbox.push(time, packet),
            None => self.lines[target - self.inboxes.len()].push(Arrival { time, packet }),
        }
    }
}

/// Where a link's packets go.
struct Onward<'a, H> {
    link: LinkId,
    wires: &'a mut Wires,
    hosts: &'a mut H,
}

impl<H: Hosts> FarEnd for Onward<'_, H> {
    #[inline]
    fn reach(&mut self, time: Time, packet: Packet) {
        self.wires.send(time, packet.advanced());
    }

    #[inline]
    fn lose(&mut self, time: Time, packet: Packet, cause: DropCause) {
        self.hosts.lose(time, packet, self.link, cause);
    }
}
