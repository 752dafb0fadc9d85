//! Links joined by routes: packets go in at a host and come out at another.
//!
//! Links say at once when a packet will be at their far end, so a packet can be taken
//! through link after link in one go, as long as each link hears of its arrivals in
//! order of time. Where that is certain (a link with one source) packets pass *at once*;
//! elsewhere they wait in *lines*, each in order of time, and only the heads of lines
//! compete for being next.
//!
//! The hosts that hear over one line form a *group*. What a host sends on hearing
//! something reaches its first link a fixed delay later, so a group's turn is not when
//! it hears something, but when the link would: with that, hosts at different distances
//! feed one link in order without any further queue. Hosts therefore run ahead of each
//! other, and each counts, samples and stops by its own time.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::agenda::Agenda;
use crate::delay_histograms::QueueDelays;
use crate::drops::Drops;
use crate::express::{Express, Roads};
use crate::line::Line;
use crate::link::{DropCause, Link, LinkCounters, Passage};
use crate::link_config::LinkConfig;
use crate::packet::{Ecn, Packet};
use crate::plan::{Drive, GroupPlan, Plan, Way, WayKind};
use crate::units::{Span, Time};

/// Index of a link.
pub type LinkId = usize;

/// Index of a group: the hosts that hear over one line.
pub type GroupId = usize;

/// A link that a route passes and the propagation delay before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// The link.
    pub link: LinkId,
    /// Delay between the host or link before and this one.
    #[serde(rename = "delay_ns")]
    pub delay: Span,
}

/// One way through the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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
    /// From receiver to sender; none: the receiver never answers.
    pub reverse: Option<Route>,
}

/// A packet and when it gets somewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub time: Time,
    /// What.
    pub packet: Packet,
}

/// What became of a packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is on its way.
    UnderWay,
    /// It is at its host, by the time of that host.
    Delivered(Arrival),
    /// It was lost on a link.
    Lost(Arrival, LinkId, DropCause),
    /// There is now another of it; said before what becomes of either.
    Doubled(Packet),
    /// It leaves the transmitter of a link then of which that is asked for; said before what
    /// becomes of it. See [`Network::tell_departures`].
    Departs(Arrival, LinkId),
    /// Several things happened, to this and to other packets: see [`Network::news`].
    News,
}

/// What is to be seen to, other than that a packet reaches its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The group acts of itself: its timer is due.
    Timer(GroupId, Time),
    /// Something happened to packets that did not reach their hosts: see [`Network::news`].
    /// Hosts must hear all of it before anything else reaches them.
    News,
    /// Nothing: packets moved on, but none has reached its host so far.
    Onward,
}

/// Packets that move on between two looks of the caller at anything else.
const MOVES_MAX: u32 = 1 << 10;

/// A network of links with two routes for each flow.
#[derive(Debug)]
pub struct Network {
    links: Vec<Link>,
    /// Which of them are prompt.
    prompt: Vec<bool>,
    ways: Vec<Way>,
    stride: usize,
    groups: Vec<GroupPlan>,
    /// One for each group, then those to links.
    lines: Vec<Line>,
    /// The links of the latter.
    line_links: Vec<LinkId>,
    /// Links that must be asked for their next packet.
    scheduled: Vec<LinkId>,
    /// Turns of the lines, then of those links.
    agenda: Agenda,
    /// Of each link, whether it is to be told what departs.
    told: Vec<bool>,
    end: Time,
    /// What will get no further before the end.
    late: Vec<Packet>,
    /// What happened on links that are not prompt, until it is asked for.
    news: VecDeque<Fate>,
}

impl Network {
    /// A network of idle links that stands still after `end`; `paths` holds the routes of
    /// each flow. Counters of sampled links are kept every `interval`. Hosts that send as
    /// time goes by ([`Drive::Real`]) go on by [`Self::until`].
    ///
    /// # Panics
    /// If a route names a link that does not exist, or has none or more than 255.
    #[must_use]
    pub fn new(
        links: &[LinkConfig],
        paths: &[Path],
        seed: u64,
        end: Time,
        interval: Option<Span>,
        drive: Drive,
    ) -> Self {
        let link = |(stream, config)| Link::new(config, seed, stream, interval);
        let links: Vec<_> = (0..).zip(links).map(link).collect();
        let prompt: Vec<_> = links.iter().map(Link::is_prompt).collect();
        let Plan { ways, stride, groups, lines: line_links } = Plan::new(paths, &prompt, drive);
        let to_groups = groups.iter().map(|group| Line::new(group.shift));
        let to_links = line_links.iter().map(|_| Line::new(Span::ZERO));
        let lines: Vec<_> = to_groups.chain(to_links).collect();
        // Links that must be asked for their next packet have turns, too.
        let scheduled: Vec<_> =
            (0..links.len()).filter(|&link| links[link].is_scheduled()).collect();
        let agenda = Agenda::new(lines.len() + scheduled.len());
        let told = vec![false; links.len()];
        let (late, news) = (Vec::new(), VecDeque::new());
        Self {
            links,
            prompt,
            ways,
            stride,
            groups,
            lines,
            line_links,
            scheduled,
            agenda,
            told,
            end,
            late,
            news,
        }
    }

    /// Keeps how long each packet waits at a link.
    pub fn keep_delays(&mut self, link: LinkId, delays: QueueDelays) {
        self.links[link].keep_delays(delays);
    }

    /// How long packets waited at a link, if that was kept.
    pub fn take_delays(&mut self, link: LinkId) -> Option<QueueDelays> {
        self.links[link].take_delays()
    }

    /// Lets no link take packets in express, which comes to the same; before any is sent.
    pub fn take_long_way(&mut self) {
        self.links.iter_mut().for_each(Link::take_long_way);
    }

    /// The routes that end at the hosts of each group. That of flow `f` to its receiver
    /// is `2 f`, that to its sender `2 f + 1`.
    pub fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.groups.iter().map(|group| group.routes.as_slice())
    }

    /// Says when a group's earliest timer is due.
    #[inline]
    pub fn set_timer(&mut self, group: GroupId, time: Time) {
        self.lines[group].timer = time;
        self.plan_turn(group);
    }

    /// Asks for [`Fate::Departs`] of every packet that leaves a link which must be asked for its
    /// next packet; false: it is another link, of which [`Self::departs_by`] tells as much.
    pub fn tell_departures(&mut self, link: LinkId) -> bool {
        self.told[link] = self.links[link].is_scheduled();
        self.told[link]
    }

    /// When the packet has left that was the last to join a link which decides on arrival.
    #[inline]
    #[must_use]
    pub fn departs_by(&self, link: LinkId) -> Time {
        self.links[link].free_at()
    }

    /// Whom a link turned away.
    #[must_use]
    pub fn drops(&self, link: LinkId) -> &Drops {
        self.links[link].drops()
    }

    /// The route, if it leads over a single link in express.
    #[must_use]
    pub fn express(&self, route: usize) -> Option<Express> {
        let mut ways = self.ways[route * self.stride..].iter();
        let first = ways.next()?;
        let behind = ways.next()?;
        let loses = behind.kind == WayKind::Link && self.links[behind.target as usize].only_loses();
        let tail = loses.then_some(behind.target as usize);
        let end = if loses { ways.next()? } else { behind };
        let line = match end.kind {
            WayKind::Link => return None,
            WayKind::Host => None,
            WayKind::Line => Some(end.target),
        };
        // A packet is lost there when it would be at its host.
        if loses && end.delay != Span::ZERO {
            return None;
        }
        let last = Time(self.end.0.checked_sub(first.delay.0)?);
        let (link, before, after) = (first.target as usize, first.delay, behind.delay);
        let express = Express { link, tail, before, after, line, last };
        self.links[link].is_express().then_some(express)
    }

    /// Sends a packet at `now` over an open express route; gives when it is at its end, or why
    /// it does not get there.
    #[inline(always)]
    pub fn pass(
        &mut self,
        express: &Express,
        now: Time,
        packet: Packet,
    ) -> Result<Time, DropCause> {
        let link = &mut self.links[express.link];
        let leaves = link.pass(now + express.before, packet.bytes(), || packet)?;
        Ok(leaves + express.after)
    }

    /// Whether a packet that passed an express route is lost at its end, at `time`.
    #[inline(always)]
    pub fn loses(&mut self, express: &Express, time: Time, packet: Packet) -> bool {
        express.tail.is_some_and(|tail| time <= self.end && self.links[tail].loses(time, packet))
    }

    /// Lets a packet that passed an express route wait in the line at its end.
    #[inline]
    pub fn line_up(&mut self, express: &Express, time: Time, packet: Packet) {
        let line = express.line.expect("a route that ends in a line");
        self.wait(line as usize, Arrival { time, packet: packet.advanced() });
    }

    /// Keeps a packet that passed an express route but is at its end too late.
    #[cold]
    pub fn keep_late(&mut self, packet: Packet) {
        self.late.push(packet);
    }

    /// The end, beyond which nothing happens.
    #[inline]
    #[must_use]
    pub const fn end(&self) -> Time {
        self.end
    }

    /// Sends a packet from its host at `now`, by the time of its group.
    #[inline]
    pub fn send(&mut self, now: Time, packet: Packet) -> Fate {
        self.go(now, packet)
    }

    /// Takes the next packet that reaches a host, with all that happens before; none if
    /// something else must be seen to first: see [`Self::turn`].
    #[inline]
    pub fn next_delivery(&mut self) -> Option<Arrival> {
        for _ in 0..MOVES_MAX {
            let index = self.agenda.earliest().1;
            if index < self.groups.len() {
                let line = &mut self.lines[index];
                let front = line.waiting.front()?;
                if line.timer < front.time || front.time > self.end {
                    return None;
                }
                line.waiting.skip();
                self.plan_turn(index);
                return Some(front);
            }
            match self.move_on(index) {
                Fate::UnderWay => {}
                Fate::Delivered(arrival) => return Some(arrival),
                Fate::News => return None,
                fate => {
                    self.news.push_back(fate);
                    return None;
                }
            }
        }
        None
    }

    /// The group whose turn it is and what it hears next, if it does.
    #[inline]
    #[must_use]
    pub fn next_heard(&self) -> Option<(GroupId, Packet)> {
        let group = self.agenda.earliest().1;
        let front = self.lines.get(group)?.waiting.front()?;
        (group < self.groups.len()).then_some((group, front.packet))
    }

    /// Until when, by the time of the group whose turn it is, nothing else happens before what
    /// it hears.
    #[inline]
    #[must_use]
    pub fn undisputed(&self, group: GroupId) -> Time {
        let line = &self.lines[group];
        let (turn, rival) = self.agenda.earliest_beside(group);
        let undisputed = match turn {
            Time::NEVER => Time::NEVER,
            turn => Time(turn.0 - line.shift.0 - u64::from(rival < group)),
        };
        undisputed.min(line.timer).min(self.end)
    }

    /// The group that hears what passed an express route, if it is the next to do so.
    #[must_use]
    pub fn hears(&self, express: &Express) -> Option<GroupId> {
        express.line.map(|line| line as usize).filter(|&line| line < self.groups.len())
    }

    /// What the packets of a connection touch that is in express both ways;
    /// [`Self::leave`] must be told afterwards.
    ///
    /// # Panics
    /// If both lead over one link.
    #[inline]
    pub fn roads(&mut self, data: &Express, acks: &Express) -> Roads<'_> {
        let line = acks.line.expect("acknowledgements wait in a line") as usize;
        let (data_link, tail, acks_link) = match data.tail {
            None => {
                let links = self.links.get_disjoint_mut([data.link, acks.link]);
                let [data, acks] = links.expect("two links");
                (data, None, acks)
            }
            Some(tail) => {
                let links = self.links.get_disjoint_mut([data.link, tail, acks.link]);
                let [data, tail, acks] = links.expect("three links");
                (data, Some(tail), acks)
            }
        };
        Roads {
            data: data_link,
            tail,
            acks: acks_link,
            line: &mut self.lines[line],
            to_data: data.before,
            from_data: data.after,
            to_acks: acks.before,
            from_acks: acks.after,
        }
    }

    /// Roads of connections were used whose acknowledgements the group hears.
    #[inline]
    pub fn leave(&mut self, group: GroupId) {
        self.plan_turn(group);
    }

    /// Lets a packet go on that waited before a link or in one.
    #[inline]
    fn move_on(&mut self, index: usize) -> Fate {
        if index >= self.lines.len() {
            let link = self.scheduled[index - self.lines.len()];
            return self.serve(self.agenda.get(index), link);
        }
        let Arrival { time, packet } = self.lines[index].waiting.pop();
        self.plan_turn(index);
        self.enter(time, packet, self.line_links[index - self.groups.len()])
    }

    /// What is to be seen to before [`Self::next_delivery`] goes on; none: nothing more
    /// happens before the end.
    pub fn turn(&mut self) -> Option<Turn> {
        if !self.news.is_empty() {
            return Some(Turn::News);
        }
        let (time, index) = self.agenda.earliest();
        match time {
            Time::NEVER => None,
            _ if index < self.groups.len() => Some(Turn::Timer(index, self.lines[index].timer)),
            _ => Some(Turn::Onward),
        }
    }

    /// When something happens next in a network in real time.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Time {
        if self.news.is_empty() { self.agenda.earliest().0 } else { Time::ZERO }
    }

    /// In real time: what happens next, if it happens until `now`. What is sent at `now`
    /// must be sent after all that.
    #[inline]
    pub fn until(&mut self, now: Time) -> Option<Fate> {
        loop {
            if let Some(fate) = self.news.pop_front() {
                return Some(fate);
            }
            let (time, index) = self.agenda.earliest();
            if time > now || time == Time::NEVER {
                return None;
            }
            if index < self.groups.len() {
                let arrival = self.lines[index].waiting.pop();
                self.plan_turn(index);
                return Some(Fate::Delivered(arrival));
            }
            match self.move_on(index) {
                Fate::UnderWay | Fate::News => {}
                fate => return Some(fate),
            }
        }
    }

    /// What else happened, one by one, after [`Fate::News`].
    pub fn news(&mut self) -> Option<Fate> {
        self.news.pop_front()
    }

    /// Counts of one link as of the end, and at every interval before.
    pub fn counters(&mut self, link: LinkId) -> (LinkCounters, Vec<LinkCounters>) {
        self.links[link].finish(self.end)
    }

    /// Every packet that is still between two hosts at the end.
    pub fn under_way(&self) -> impl Iterator<Item = Packet> {
        let waiting = self.lines.iter().flat_map(|line| line.waiting.iter());
        let scheduled = self.links.iter().flat_map(Link::waiting);
        waiting.map(|arrival| arrival.packet).chain(self.late.iter().copied()).chain(scheduled)
    }

    /// Takes a packet from a host or a link as far as it gets at once.
    #[inline]
    fn go(&mut self, time: Time, packet: Packet) -> Fate {
        let way = self.ways[packet.route() * self.stride + packet.hop()];
        let time = time + way.delay;
        let target = way.target as usize;
        match way.kind {
            WayKind::Line => {
                self.wait(target, Arrival { time, packet });
                Fate::UnderWay
            }
            _ if time > self.end => self.be_late(packet),
            WayKind::Host => Fate::Delivered(Arrival { time, packet }),
            WayKind::Link => self.enter(time, packet, target),
        }
    }

    /// Takes a packet into a link and on from there.
    fn enter(&mut self, time: Time, packet: Packet, link: LinkId) -> Fate {
        if self.links[link].is_scheduled() {
            return self.enter_scheduled(time, packet, link);
        }
        match self.links[link].arrive(time, packet) {
            Passage::Leaves(at) if self.prompt[link] => self.go(at, packet.advanced()),
            passage => self.passage(time, packet, link, passage),
        }
    }

    /// Takes a packet into a scheduler's queue. What is to be sent before it comes must
    /// be chosen without it.
    fn enter_scheduled(&mut self, time: Time, packet: Packet, link: LinkId) -> Fate {
        let leaf = self.leaf_of(link);
        let mut before = Fate::UnderWay;
        while self.agenda.get(leaf) <= time {
            if self.serve(self.agenda.get(leaf), link) == Fate::News {
                before = Fate::News;
            }
        }
        let passage = self.links[link].arrive(time, packet);
        match self.passage(time, packet, link, passage) {
            Fate::UnderWay => before,
            fate if before == Fate::UnderWay => fate,
            Fate::News => Fate::News,
            fate => {
                self.news.push_back(fate);
                Fate::News
            }
        }
    }

    fn passage(&mut self, time: Time, packet: Packet, link: LinkId, passage: Passage) -> Fate {
        if !self.links[link].duplicates() || !self.links[link].duplicate() {
            return self.onward(time, packet, link, passage);
        }
        // Before all else: whoever hears that the last of a packet is lost forgets it.
        self.news.push_back(Fate::Doubled(packet));
        let fate = self.onward(time, packet, link, passage);
        self.news.push_back(fate);
        let again = self.links[link].join_again(time, packet);
        let again = self.onward(time, packet, link, again);
        self.news.push_back(again);
        Fate::News
    }

    fn onward(&mut self, time: Time, packet: Packet, link: LinkId, passage: Passage) -> Fate {
        match passage {
            Passage::Leaves(at) => self.go(at, packet.advanced()),
            Passage::Marked(at) => self.go(at, packet.advanced().with_ecn(Ecn::Ce)),
            Passage::Lost(cause) => Fate::Lost(Arrival { time, packet }, link, cause),
            Passage::Queued => self.queued(time, link),
        }
    }

    /// A packet joined a scheduler's queue.
    fn queued(&mut self, now: Time, link: LinkId) -> Fate {
        let leaf = self.leaf_of(link);
        if self.agenda.get(leaf) == Time::NEVER {
            self.agenda.set(leaf, self.service(link, now));
        }
        self.give_up(now, link, true)
    }

    /// Lets a scheduler send its next packet.
    fn serve(&mut self, now: Time, link: LinkId) -> Fate {
        let served = self.links[link].serve(now);
        self.agenda.set(self.leaf_of(link), self.service(link, now));
        let mut given_up = self.give_up(now, link, false);
        let Some((at, packet)) = served else { return given_up };
        if self.told[link] {
            let time = self.links[link].free_at();
            self.news.push_back(Fate::Departs(Arrival { time, packet }, link));
            given_up = Fate::News;
        }
        let fate = self.go(at, packet.advanced());
        if given_up == Fate::UnderWay {
            return fate;
        }
        self.news.push_back(fate);
        given_up
    }

    /// The turn of a scheduled link.
    fn leaf_of(&self, link: LinkId) -> usize {
        self.lines.len() + self.scheduled.binary_search(&link).expect("a scheduled link")
    }

    fn service(&self, link: LinkId, now: Time) -> Time {
        let next = self.links[link].next_service(now);
        if next > self.end { Time::NEVER } else { next }
    }

    /// Reports what a scheduler gave up, on an arrival or as it sent a packet.
    fn give_up(&mut self, time: Time, link: LinkId, on_arrival: bool) -> Fate {
        let mut fate = Fate::UnderWay;
        while let Some(packet) = self.links[link].take_given_up(time, on_arrival) {
            self.news.push_back(Fate::Lost(Arrival { time, packet }, link, DropCause::Overflow));
            fate = Fate::News;
        }
        fate
    }

    #[inline]
    fn wait(&mut self, line: usize, arrival: Arrival) {
        let Arrival { time, packet } = arrival;
        let was_empty = self.lines[line].waiting.front().is_none();
        if self.lines[line].push(time, packet) || was_empty {
            self.plan_turn(line);
        }
    }

    #[inline(always)]
    fn plan_turn(&mut self, index: usize) {
        let line = &self.lines[index];
        let front = line.waiting.front().map_or(Time::NEVER, |arrival| arrival.time);
        let next = front.min(line.timer);
        let turn = if next > self.end { Time::NEVER } else { next + line.shift };
        self.agenda.set(index, turn);
    }

    #[cold]
    fn be_late(&mut self, packet: Packet) -> Fate {
        self.late.push(packet);
        Fate::UnderWay
    }
}
