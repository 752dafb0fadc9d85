//! The timers of hosts, one logical process after the other.

use dumbbell_network::{EventQueue, Network, ProcessId, Span, Time};

/// Timers and sampling times of all hosts.
#[derive(Debug)]
pub struct Timers {
    processes: Vec<ProcessTimers>,
    /// Place of the host at the end of each route.
    places: Vec<Place>,
    interval: Option<Span>,
}

/// Place and time of a host's timer.
#[derive(Clone, Copy, Debug)]
struct Place {
    process: u32,
    leaf: u32,
    due: Time,
}

/// The hosts of one process, which have all reached the same time.
#[derive(Debug)]
struct ProcessTimers {
    /// Routes that end at the hosts.
    routes: Vec<usize>,
    /// One leaf for each host, never later than the host's next action. It may be earlier, and is
    /// then set again.
    events: EventQueue,
    next_sample: Time,
    /// Earliest action of a host, or a time before it, and the host's leaf.
    next_timer: (Time, usize),
    /// The earlier of the next timer and the next sample.
    wakes: Time,
}

/// Next task of a process.
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
        let process = |routes: &[usize]| ProcessTimers {
            routes: routes.to_vec(),
            events: EventQueue::new(routes.len()),
            next_sample: first,
            next_timer: (Time::NEVER, 0),
            wakes: first,
        };
        let processes: Vec<_> = network.processes().map(process).collect();
        let nowhere = Place { process: 0, leaf: 0, due: Time::NEVER };
        let mut places = vec![nowhere; processes.iter().map(|process| process.routes.len()).sum()];
        for (process, ProcessTimers { routes, .. }) in (0..).zip(&processes) {
            for (leaf, &route) in (0..).zip(routes) {
                places[route] = Place { process, leaf, ..nowhere };
            }
        }
        Self { processes, places, interval }
    }

    /// The process of the host at the end of a route.
    #[inline]
    pub fn process_of(&self, route: usize) -> ProcessId {
        self.places[route].process as usize
    }

    /// The routes that end at the hosts of a process.
    pub fn routes(&self, process: ProcessId) -> &[usize] {
        &self.processes[process].routes
    }

    /// Time of a process's next task.
    #[inline]
    pub fn wakes(&self, process: ProcessId) -> Time {
        self.processes[process].wakes
    }

    /// Return true if a host's leaf is not later than `due`.
    #[inline]
    pub fn covers(&self, route: usize, due: Time) -> bool {
        self.places[route].due <= due
    }

    /// Return true if a process has a task before `time`.
    #[inline]
    pub fn is_behind(&self, process: ProcessId, time: Time) -> bool {
        self.processes[process].wakes < time
    }

    /// Take a process's next task before `time`.
    pub fn next_task(&mut self, process: ProcessId, time: Time) -> Option<Task> {
        let process = &mut self.processes[process];
        if process.wakes >= time {
            return None;
        }
        let (timer, leaf) = process.next_timer;
        // At equal times the host acts first, so the sample includes the action.
        if timer <= process.next_sample {
            return Some(Task::Act(process.routes[leaf], timer));
        }
        let sample = process.next_sample;
        process.next_sample += self.interval.expect("the interval of a scheduled sample");
        process.wakes = timer.min(process.next_sample);
        Some(Task::Sample(sample))
    }

    /// Make sure that a host's leaf is not later than `due`.
    #[inline]
    pub fn at_latest(&mut self, route: usize, due: Time, network: &mut Network) {
        if !self.covers(route, due) {
            self.set(route, due, network);
        }
    }

    /// Set the time when a host acts next.
    pub fn set(&mut self, route: usize, due: Time, network: &mut Network) {
        let place = &mut self.places[route];
        place.due = due;
        let index = place.process as usize;
        let process = &mut self.processes[index];
        process.events.set(place.leaf as usize, due);
        let earliest = process.events.earliest();
        // Pass only changes of the process's earliest timer to the network.
        if earliest != process.next_timer {
            process.next_timer = earliest;
            process.wakes = earliest.0.min(process.next_sample);
            network.set_timer(index, earliest.0);
        }
    }
}
