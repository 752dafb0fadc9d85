//! Links joined by routes: packets go in at a host and come out at another.
//!
//! Links that decide on arrival report at once when a packet will be at their far end. So a packet
//! is taken through link after link in one go, as long as each link gets its arrivals in order of
//! time (see [`crate::routing`]). Elsewhere packets wait in merge queues, whose heads compete with
//! the hosts' timers and with schedulers for being the next event.
//!
//! Hosts run ahead of each other, and each counts, samples and stops by its own time.

mod burst;
mod real_time;
mod scheduling;

use std::collections::VecDeque;

use crate::delay_histograms::QueueDelays;
use crate::drops::Drops;
use crate::event_queue::EventQueue;
use crate::link::{DropCause, Link, LinkCounters, LinkOutcome, PlainLink};
use crate::link_config::LinkConfig;
use crate::memory::Memories;
use crate::merge_queue::MergeQueue;
use crate::network_config::NetworkConfig;
use crate::packet::{Ecn, Packet};
use crate::route::{Arrival, LinkId, Path, ProcessId};
use crate::routing::{HopKind, LinkTraits, NextHop, ProcessRoutes, RoutingTable};
use crate::traffic::Traffic;
use crate::units::{Span, Time};

/// Outcome of sending a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packet is under way.
    UnderWay,
    /// The packet is at its host, by the time of that host. In virtual time it is data for a
    /// receiver.
    Delivered(Arrival),
    /// A link lost the packet.
    Lost(Arrival, LinkId, DropCause),
    /// A link made a copy of the packet. This outcome comes before those of both.
    Duplicated(Packet),
    /// The packet leaves the transmitter of a link at that time, before its next outcome. Only
    /// links of [`Network::report_departures`] report this.
    Departs(Arrival, LinkId),
    /// The packet reaches a link that is not plain. [`Network::enter_other`] continues from there.
    Reaches(Arrival, LinkId),
    /// Several things happened to this and to other packets: see [`Network::next_outcome`].
    Several,
}

/// The next event in virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet reaches a host.
    Arrival(Arrival),
    /// A packet that waited before a link continued.
    Outcome(Outcome),
    /// A link must choose its next packet: [`Network::serve`].
    Service(LinkId, Time),
    /// The earliest timer of the process is due.
    Timer(ProcessId, Time),
    /// Nothing more happens before the end.
    End,
}

/// A logical process: the network's view of hosts on one clock.
#[derive(Clone, Copy, Debug)]
struct Process {
    /// Time between an arrival and its event.
    lookahead: Span,
    /// Time at which its earliest timer is due.
    timer: Time,
}

/// A network of links with two routes for each flow.
#[derive(Debug)]
pub struct Network {
    links: Vec<Link>,
    /// Hops of all routes, each route padded to `stride`.
    hops: Vec<NextHop>,
    stride: usize,
    process_routes: Vec<ProcessRoutes>,
    processes: Vec<Process>,
    /// Packets on their way to the hosts of each process, then packets that wait before links.
    queues: Vec<MergeQueue>,
    /// Links that have a merge queue, in the order of these queues.
    merged: Vec<LinkId>,
    /// Links that choose their next packet when their transmitter is free.
    scheduled: Vec<LinkId>,
    /// Place among the events of each such link, by link.
    service_of: Vec<u32>,
    /// Times of the queues, then of the scheduled links.
    events: EventQueue,
    /// By link: true if it reports departures.
    reports: Vec<bool>,
    end: Time,
    /// Packets that get no further before the end.
    late: Vec<Packet>,
    /// Outcomes that callers have not taken yet, of several packets at one time.
    outcomes: VecDeque<Outcome>,
}

impl Network {
    /// A network of idle links. `paths` has the routes of each flow, and `traffic` the known facts
    /// about the packets of each link. Missing entries of `traffic` assume nothing.
    ///
    /// # Panics
    /// If a route names a link that does not exist, or has none or more than 255.
    #[must_use]
    pub fn new(
        links: &[LinkConfig],
        paths: &[Path],
        traffic: &[Traffic],
        config: NetworkConfig,
    ) -> Self {
        let NetworkConfig { end, drive, .. } = config;
        let traffic = traffic.iter().copied().chain(std::iter::repeat(Traffic::default()));
        let mut memories = Memories::default();
        let link = |((number, link), traffic): ((_, &LinkConfig), _)| {
            let port = link.memory.map(|memory| memories.port(memory));
            Link::new(link, number, &traffic, &config, port)
        };
        let links: Vec<_> = (0..).zip(links).zip(traffic).map(link).collect();
        let traits = |link: &Link| LinkTraits {
            is_orderly: link.is_orderly(),
            shares_memory: link.shares_memory(),
            decides_on_arrival: link.decides_on_arrival(),
        };
        let traits: Vec<_> = links.iter().map(traits).collect();
        let table = RoutingTable::new(paths, &traits, drive);
        let RoutingTable { hops, stride, processes: routes, merged } = table;
        let process =
            |routes: &ProcessRoutes| Process { lookahead: routes.lookahead, timer: Time::NEVER };
        let processes: Vec<_> = routes.iter().map(process).collect();
        let sources = processes.len() + merged.len();
        let scheduled: Vec<_> =
            (0..links.len()).filter(|&link| !links[link].decides_on_arrival()).collect();
        let mut service_of = vec![u32::MAX; links.len()];
        for (place, &link) in scheduled.iter().enumerate() {
            service_of[link] = (sources + place) as u32;
        }
        Self {
            reports: vec![false; links.len()],
            links,
            hops,
            stride,
            process_routes: routes,
            processes,
            queues: (0..sources).map(|_| MergeQueue::new()).collect(),
            merged,
            events: EventQueue::new(sources + scheduled.len()),
            scheduled,
            service_of,
            end,
            late: Vec::new(),
            outcomes: VecDeque::new(),
        }
    }

    /// Record how long each packet waits at a link.
    pub fn keep_delays(&mut self, link: LinkId, delays: QueueDelays) {
        self.links[link].keep_delays(delays);
    }

    /// Return the waits at a link. None if they were not recorded.
    pub fn take_delays(&mut self, link: LinkId) -> Option<QueueDelays> {
        self.links[link].take_delays()
    }

    /// Return the routes that end at the hosts of each process. Flow `f` has route `2 f` to its
    /// receiver and route `2 f + 1` to its sender.
    pub fn processes(&self) -> impl Iterator<Item = &[usize]> {
        self.process_routes.iter().map(|process| process.routes.as_slice())
    }

    /// Add a process without hosts whose timer is an alarm: it stops the caller that runs the
    /// network. Call this before any event is scheduled. At equal times the alarm comes after all
    /// other timers.
    pub fn add_alarm(&mut self) -> ProcessId {
        let alarm = self.processes.len();
        // Queues before links come after those of the processes.
        for hop in self.hops.iter_mut().filter(|hop| hop.kind == HopKind::Queue) {
            hop.target += u32::from(hop.target as usize >= alarm);
        }
        for service in self.service_of.iter_mut().filter(|service| **service < u32::MAX) {
            *service += 1;
        }
        self.process_routes.push(ProcessRoutes {
            routes: Vec::new(),
            lookahead: Span::ZERO,
            at_once: false,
        });
        self.processes.push(Process { lookahead: Span::ZERO, timer: Time::NEVER });
        self.queues.insert(alarm, MergeQueue::new());
        // Nothing is scheduled yet, so a new event queue loses nothing.
        self.events = EventQueue::new(self.queues.len() + self.scheduled.len());
        alarm
    }

    /// Return the time of a process when an alarm rings at `time`. A packet that the process sends
    /// at that time meets other packets no earlier than they have come.
    #[must_use]
    pub fn at_alarm(&self, process: ProcessId, time: Time) -> Time {
        Time(time.0.saturating_sub(self.processes[process].lookahead.0))
    }

    /// Return the time of an alarm that rings just after an action of a process at `time`: see
    /// [`Self::at_alarm`].
    #[must_use]
    pub fn alarm_at(&self, process: ProcessId, time: Time) -> Time {
        time.saturating_add(self.processes[process].lookahead)
    }

    /// Set the time at which a process's earliest timer is due.
    #[inline]
    pub fn set_timer(&mut self, process: ProcessId, time: Time) {
        self.processes[process].timer = time;
        self.schedule_process(process);
    }

    /// Report [`Outcome::Departs`] for every packet whose departure from a link is unknown when the
    /// packet joins ([`Self::departs_by`]).
    pub fn report_departures(&mut self, link: LinkId) {
        self.reports[link] = true;
    }

    /// Return the departure time of the packet that joined a link last. None if it is still
    /// unknown.
    #[inline]
    #[must_use]
    pub fn departs_by(&self, link: LinkId) -> Option<Time> {
        self.links[link].departs_by()
    }

    /// Return whether a link refuses packets that its queue has no space for: see [`Self::space`].
    #[must_use]
    pub fn has_tail_drop(&self, link: LinkId) -> bool {
        self.links[link].has_tail_drop()
    }

    /// Return whether a link's queue takes `packets` packets of `bytes` from its host at `now`.
    #[inline(always)]
    pub fn takes(&mut self, link: LinkId, now: Time, bytes: u16, packets: u32) -> bool {
        let is_certain = matches!(&self.links[link], Link::Plain(link) if link.holds(packets));
        is_certain || self.space(link, now, bytes) >= packets
    }

    /// Return how many packets of `bytes` a link's queue takes from its host at `now`.
    #[inline(never)]
    pub fn space(&mut self, link: LinkId, now: Time, bytes: u16) -> u32 {
        self.links[link].space(now, bytes)
    }

    /// Drops of a link's queue.
    #[must_use]
    pub fn drops(&self, link: LinkId) -> &Drops {
        self.links[link].drops()
    }

    /// End of the run. Nothing happens after it.
    #[inline]
    #[must_use]
    pub const fn end(&self) -> Time {
        self.end
    }

    /// Send a packet from its host at `now`, by the time of its process.
    #[inline]
    pub fn send(&mut self, now: Time, packet: Packet) -> Outcome {
        match self.begin(now, packet) {
            Outcome::Reaches(arrival, link) => self.enter_other(arrival, link),
            outcome => outcome,
        }
    }

    /// Send a packet as [`Self::send`] does, but over plain links only, from a host or from another
    /// link.
    ///
    /// Other links report elsewhere. If calls returned outcomes in memory, each outcome would be
    /// copied there.
    #[inline(always)]
    pub fn begin(&mut self, mut time: Time, mut packet: Packet) -> Outcome {
        let mut place = packet.route() * self.stride + packet.hop();
        loop {
            let NextHop { delay, target, kind, rank } = self.hops[place];
            let target = target as usize;
            time += delay;
            match kind {
                // This comes before the comparison with the end, because a packet in a queue is
                // reported as under way from there.
                HopKind::Queue => {
                    self.wait(target, time, packet, rank);
                    return Outcome::UnderWay;
                }
                _ if time > self.end => {
                    self.be_late(packet);
                    return Outcome::UnderWay;
                }
                HopKind::Host => return Outcome::Delivered(Arrival { time, packet }),
                HopKind::Link => {}
            }
            let Link::Plain(link) = &mut self.links[target] else {
                return Outcome::Reaches(Arrival { time, packet }, target);
            };
            match link.pass(time, &mut packet) {
                Ok(at) => (time, packet, place) = (at, packet.advanced(), place + 1),
                Err(cause) => return Outcome::Lost(Arrival { time, packet }, target, cause),
            }
        }
    }

    /// Run the next event in virtual time. The caller must have taken all outcomes.
    #[inline(always)]
    pub fn next_event(&mut self) -> Event {
        let source = self.events.first();
        if source < self.processes.len() {
            self.process_acts(source)
        } else if source < self.queues.len() {
            Event::Outcome(self.move_on(source))
        } else {
            Event::Service(self.scheduled[source - self.queues.len()], self.events.get(source))
        }
    }

    #[inline]
    fn process_acts(&mut self, process: ProcessId) -> Event {
        let (timer, queue) = (self.processes[process].timer, &mut self.queues[process]);
        let next = queue.next_time();
        if timer.min(next) > self.end {
            return Event::End;
        }
        if timer < next {
            return Event::Timer(process, timer);
        }
        let arrival = queue.pop().expect("a packet of a link with an event");
        self.schedule_process(process);
        Event::Arrival(arrival)
    }

    /// Move a packet on that waited before a link.
    #[inline(always)]
    fn move_on(&mut self, source: usize) -> Outcome {
        let queue = &mut self.queues[source];
        let Some(Arrival { time, packet }) = queue.pop() else { return Outcome::UnderWay };
        let next = queue.next_time();
        self.events.set(source, if next > self.end { Time::NEVER } else { next });
        self.enter(time, packet, self.merged[source - self.processes.len()])
    }

    /// Return the process of the next event and the packet that reaches its hosts then. None if no
    /// packet does.
    #[inline]
    #[must_use]
    pub fn next_arrival(&self) -> Option<(ProcessId, Packet)> {
        let process = self.events.earliest().1;
        let packet = self.queues.get(process)?.first()?.packet;
        self.is_process(process).then_some((process, packet))
    }

    /// Return the time, by the clock of the next event's process, until which nothing but arrivals
    /// at its hosts happens.
    #[inline]
    #[must_use]
    pub fn undisputed(&self, process: ProcessId) -> Time {
        let Process { lookahead, timer } = self.processes[process];
        let (rivals, rival) = self.events.earliest_except(process);
        let undisputed = match rivals {
            Time::NEVER => Time::NEVER,
            // Of equal times the lower place goes first, so a rival below this process wins a tie.
            time => Time(time.0 - lookahead.0 - u64::from(rival < process)),
        };
        undisputed.min(timer).min(self.end)
    }

    /// End a train of the process.
    #[inline]
    pub fn end_train(&mut self, process: ProcessId) {
        self.schedule_process(process);
    }

    pub(crate) fn is_process(&self, source: usize) -> bool {
        source < self.processes.len()
    }

    pub(crate) fn hops_of(&self, route: usize) -> &[NextHop] {
        &self.hops[route * self.stride..][..self.stride]
    }

    pub(crate) fn plain_link(&self, link: LinkId) -> Option<&PlainLink> {
        match &self.links[link] {
            Link::Plain(link) => Some(link),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn links_and_queue(&mut self, queue: usize) -> (&mut [Link], &mut MergeQueue) {
        (&mut self.links, &mut self.queues[queue])
    }

    /// Return the next of several outcomes, after [`Outcome::Several`].
    pub fn next_outcome(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// Return the counters of one link at the end, and those at each interval.
    pub fn counters(&mut self, link: LinkId) -> (LinkCounters, Vec<LinkCounters>) {
        self.links[link].finish(self.end)
    }

    /// Return every packet that is still between two hosts at the end.
    pub fn under_way(&self) -> impl Iterator<Item = Packet> {
        let waiting = self.queues.iter().flat_map(MergeQueue::iter);
        let scheduled = self.links.iter().flat_map(Link::waiting);
        waiting.map(|arrival| arrival.packet).chain(self.late.iter().copied()).chain(scheduled)
    }

    /// Send a packet on that leaves a link, where speed does not matter.
    #[inline(never)]
    fn send_on(&mut self, time: Time, packet: Packet) -> Outcome {
        self.send(time, packet)
    }

    /// Pass a packet through a link and on from there.
    #[inline(always)]
    fn enter(&mut self, time: Time, mut packet: Packet, link: LinkId) -> Outcome {
        let Link::Plain(plain) = &mut self.links[link] else {
            return Outcome::Reaches(Arrival { time, packet }, link);
        };
        match plain.pass(time, &mut packet) {
            Ok(at) => self.begin(at, packet.advanced()),
            Err(cause) => Outcome::Lost(Arrival { time, packet }, link, cause),
        }
    }

    /// Pass a packet through a link that is not plain, and on from there.
    #[inline(never)]
    pub fn enter_other(&mut self, Arrival { time, packet }: Arrival, link: LinkId) -> Outcome {
        match &mut self.links[link] {
            Link::Plain(_) => unreachable!("a plain link is entered elsewhere"),
            Link::Scheduled(_) => self.enter_scheduled(time, packet, link),
            Link::General(general) => {
                let at_link = general.arrive(time, packet);
                // The draw follows the arrival whether the packet was lost or not, so losses do not
                // shift duplicates.
                if !general.duplicates() || !general.duplicate() {
                    return self.forward(time, packet, link, at_link);
                }
                let again = general.join_again(time, packet);
                // This must come first: a host forgets a packet once it learns that its last copy
                // is lost.
                self.outcomes.push_back(Outcome::Duplicated(packet));
                for at_link in [at_link, again] {
                    let outcome = self.forward(time, packet, link, at_link);
                    self.outcomes.push_back(outcome);
                }
                Outcome::Several
            }
        }
    }

    fn forward(
        &mut self,
        time: Time,
        packet: Packet,
        link: LinkId,
        at_link: LinkOutcome,
    ) -> Outcome {
        match at_link {
            LinkOutcome::Leaves(at) => self.send_on(at, packet.advanced()),
            LinkOutcome::Marked(at) => self.send_on(at, packet.advanced().with_ecn(Ecn::Ce)),
            LinkOutcome::Lost(cause) => Outcome::Lost(Arrival { time, packet }, link, cause),
        }
    }

    #[inline(always)]
    fn wait(&mut self, queue: usize, time: Time, packet: Packet, rank: u32) {
        let (hops, stride) = (&self.hops, self.stride);
        let rank_of = |packet: Packet| hops[packet.route() * stride + packet.hop()].rank;
        let next = self.queues[queue].next_time();
        self.queues[queue].push(time, packet, rank, rank_of);
        if time >= next {
            return;
        }
        if queue < self.processes.len() {
            self.schedule_process(queue);
        } else {
            self.events.set(queue, if time > self.end { Time::NEVER } else { time });
        }
    }

    #[inline]
    fn schedule_process(&mut self, process: ProcessId) {
        let Process { lookahead, timer } = self.processes[process];
        let next = self.queues[process].next_time().min(timer);
        // The end counts by the process's own time, and the order of events by the shifted one.
        let event = if next > self.end { Time::NEVER } else { next + lookahead };
        self.events.set(process, event);
    }

    #[cold]
    fn be_late(&mut self, packet: Packet) {
        self.late.push(packet);
    }
}
