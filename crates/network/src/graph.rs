//! Links joined by routes: packets go in at a host and come out at another.
//!
//! Nothing here reads a clock. Whoever drives the network asks for the time of its
//! next event and lets it happen: the simulator at once, an emulator when that time
//! has come.

use crate::agenda::Agenda;
use crate::link::{Arrival, DropCause, Link, LinkConfig, LinkCounters};
use crate::packet::Packet;
use crate::units::Time;

/// Index of a link.
pub type LinkId = usize;

/// The links that a flow's packets pass, by direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// From sender to receiver.
    pub forward: Vec<LinkId>,
    /// From receiver to sender.
    pub reverse: Vec<LinkId>,
}

/// What one event in the network led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A packet is on its way to a further link's end.
    Forwarded,
    /// A packet reached the host at the end of its route.
    Delivered(Packet),
    /// A packet was lost at a link.
    Dropped(Packet, LinkId, DropCause),
}

const END_OF_ROUTE: u32 = u32::MAX;

/// A network of links with one route per flow and direction.
#[derive(Clone, Debug)]
pub struct Network {
    links: Vec<Link>,
    agenda: Agenda,
    /// All routes end to end, each padded with `END_OF_ROUTE` to `stride`.
    routes: Vec<u32>,
    stride: usize,
}

impl Network {
    /// A network of idle links; `paths` holds the route of each flow.
    ///
    /// # Panics
    /// If a path names a link that does not exist or has more than 255 links.
    #[must_use]
    pub fn new(links: &[LinkConfig], paths: &[Path], seed: u64) -> Self {
        let routes = || paths.iter().flat_map(|path| [&path.forward, &path.reverse]);
        let longest = routes().map(Vec::len).max().unwrap_or(0);
        assert!(longest < 256, "a path has {longest} links, more than 255");
        let stride = longest + 1;
        let mut padded = Vec::with_capacity(2 * paths.len() * stride);
        for route in routes() {
            for &link in route {
                assert!(link < links.len(), "a path names link {link} of {}", links.len());
                padded.push(u32::try_from(link).expect("fewer than 2^32 links"));
            }
            padded.resize(padded.len() + stride - route.len(), END_OF_ROUTE);
        }
        let links: Vec<_> = links
            .iter()
            .enumerate()
            .map(|(index, config)| Link::new(config, seed, index as u64))
            .collect();
        let agenda = Agenda::new(links.len());
        Self { links, agenda, routes: padded, stride }
    }

    /// When the next event happens; [`Time::NEVER`] if the network is empty.
    #[inline]
    #[must_use]
    pub fn next_event(&self) -> Time {
        self.agenda.earliest().0
    }

    /// Lets the next event happen.
    ///
    /// # Panics
    /// If the network is empty.
    #[inline]
    pub fn step(&mut self) -> Step {
        let (now, id) = self.agenda.earliest();
        let link = &mut self.links[id];
        let packet = link.take();
        self.agenda.set(id, link.next_arrival());
        self.forward(now, packet.advanced())
    }

    /// Hands a packet to the first link of its route at `now`.
    #[inline]
    pub fn inject(&mut self, now: Time, packet: Packet) -> Step {
        self.forward(now, packet)
    }

    /// Counts of one link as of `now`.
    pub fn counters(&mut self, link: LinkId, now: Time) -> LinkCounters {
        self.links[link].counters(now)
    }

    /// Every packet now between the ends of some link.
    pub fn under_way(&self) -> impl Iterator<Item = Packet> {
        self.links.iter().flat_map(Link::under_way)
    }

    #[inline]
    fn forward(&mut self, now: Time, mut packet: Packet) -> Step {
        let route = packet.route() * self.stride;
        loop {
            let next = self.routes[route + packet.hop()];
            if next == END_OF_ROUTE {
                return Step::Delivered(packet);
            }
            let id = next as usize;
            let link = &mut self.links[id];
            let was_idle = link.next_arrival() == Time::NEVER;
            match link.arrive(now, packet) {
                Arrival::Accepted => {
                    if was_idle {
                        self.agenda.set(id, link.next_arrival());
                    }
                    return Step::Forwarded;
                }
                Arrival::Through => packet = packet.advanced(),
                Arrival::Dropped(cause) => return Step::Dropped(packet, id, cause),
            }
        }
    }
}
