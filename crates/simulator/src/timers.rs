//! When hosts want to act of themselves, group by group.

use dumbbell_network::{EventQueue, GroupId, Network, Span, Time};

/// Timers and sampling times of all hosts.
#[derive(Debug)]
pub struct Timers {
    groups: Vec<Group>,
    /// Of the host at the end of each route.
    places: Vec<Place>,
    interval: Option<Span>,
}

/// Where a host's timer is, and what it says.
#[derive(Clone, Copy, Debug)]
struct Place {
    group: u32,
    leaf: u32,
    due: Time,
}

/// The hosts of one group, all of which have got equally far in time.
#[derive(Debug)]
struct Group {
    /// Routes that end at the hosts.
    routes: Vec<usize>,
    /// One leaf for each host: not later than the host wants to act. It may be earlier,
    /// and is then set again.
    events: EventQueue,
    next_sample: Time,
    /// When the first of the hosts acts, or may do so, and its leaf.
    next_timer: (Time, usize),
    /// The earlier of the next timer and the next sample.
    wakes: Time,
}

/// What a group has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The host at the end of this route acts.
    Act(usize, Time),
    /// All hosts are sampled.
    Sample(Time),
}

impl Timers {
    /// No timers; samples every `interval`.
    pub fn new(network: &Network, interval: Option<Span>) -> Self {
        let first = interval.map_or(Time::NEVER, |interval| Time::ZERO + interval);
        let group = |routes: &[usize]| Group {
            routes: routes.to_vec(),
            events: EventQueue::new(routes.len()),
            next_sample: first,
            next_timer: (Time::NEVER, 0),
            wakes: first,
        };
        let groups: Vec<_> = network.groups().map(group).collect();
        let nowhere = Place { group: 0, leaf: 0, due: Time::NEVER };
        let mut places = vec![nowhere; groups.iter().map(|group| group.routes.len()).sum()];
        for (group, Group { routes, .. }) in (0..).zip(&groups) {
            for (leaf, &route) in (0..).zip(routes) {
                places[route] = Place { group, leaf, ..nowhere };
            }
        }
        Self { groups, places, interval }
    }

    /// The group of the host at the end of a route.
    #[inline]
    pub fn group_of(&self, route: usize) -> GroupId {
        self.places[route].group as usize
    }

    /// The routes that end at the hosts of a group.
    pub fn routes(&self, group: GroupId) -> &[usize] {
        &self.groups[group].routes
    }

    /// When a group has something to do next.
    #[inline]
    pub fn wakes(&self, group: GroupId) -> Time {
        self.groups[group].wakes
    }

    /// Whether a host's leaf is not later than `due`.
    #[inline]
    pub fn covers(&self, route: usize, due: Time) -> bool {
        self.places[route].due <= due
    }

    /// Whether a group has something to do before `time`.
    #[inline]
    pub fn is_behind(&self, group: GroupId, time: Time) -> bool {
        self.groups[group].wakes < time
    }

    /// What a group has to do next before `time`.
    pub fn next_task(&mut self, group: GroupId, time: Time) -> Option<Task> {
        let group = &mut self.groups[group];
        if group.wakes >= time {
            return None;
        }
        let (timer, leaf) = group.next_timer;
        // Of equal times the host acts first, so a sample shows what came of it.
        if timer <= group.next_sample {
            return Some(Task::Act(group.routes[leaf], timer));
        }
        let sample = group.next_sample;
        group.next_sample += self.interval.expect("the interval of a planned sample");
        group.wakes = timer.min(group.next_sample);
        Some(Task::Sample(sample))
    }

    /// Makes sure that a host's leaf is not later than `due`.
    #[inline]
    pub fn at_latest(&mut self, route: usize, due: Time, network: &mut Network) {
        if !self.covers(route, due) {
            self.set(route, due, network);
        }
    }

    /// Sets when a host wants to act.
    pub fn set(&mut self, route: usize, due: Time, network: &mut Network) {
        let place = &mut self.places[route];
        place.due = due;
        let index = place.group as usize;
        let group = &mut self.groups[index];
        group.events.set(place.leaf as usize, due);
        let earliest = group.events.earliest();
        // The network hears only of changes of the group's earliest timer.
        if earliest != group.next_timer {
            group.next_timer = earliest;
            group.wakes = earliest.0.min(group.next_sample);
            network.set_timer(index, earliest.0);
        }
    }
}
