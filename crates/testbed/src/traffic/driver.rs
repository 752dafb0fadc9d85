//! The applications' thread: waits for sockets and times, and lets flows act.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dumbbell_network::{EventQueue, Span, Time};
use dumbbell_workload::Queries;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::time::{ClockId, clock_gettime};

use crate::clock::Clock;
use crate::error::Error;
use crate::processors::Processors;
use crate::traffic::alarm::Alarm;
use crate::traffic::flow::{Carrier, Common, End, FlowState};
use crate::traffic::output::{DatagramCount, TrafficOutput};
use crate::traffic::progress::Progress;
use crate::traffic::recorder::Recorder;
use crate::traffic::setup::{Connection, Plan};
use crate::traffic::sockets;

/// Interval between two checks for cancellation, in ms.
const PATIENCE_MS: u16 = 50;
/// Most events of sockets at once.
const EVENTS: usize = 256;
/// The alarm's token in epoll.
const ALARM: u64 = u64::MAX;

/// All flows, and the queue of their next actions.
pub struct Driver {
    flows: Vec<FlowState>,
    common: Common,
    epoll: Epoll,
    alarm: Alarm,
    /// One leaf for each flow, then one for the samples, and one for the end.
    agenda: EventQueue,
    /// Sockets with more work than fitted into a turn.
    unfinished: Vec<u64>,
    interval: Option<Span>,
    end: Time,
    /// Set at the start.
    clock: Clock,
    /// Latest time that this thread has read.
    latest: Time,
    cancel: Arc<AtomicBool>,
    processors: Option<Processors>,
}

impl Driver {
    /// Open all sockets. Nothing has been sent yet.
    pub fn new(connections: &[Connection<'_>], plan: Plan<'_>) -> Result<Self, Error> {
        let ends = sockets::open(connections)?;
        let flows = connections.iter().zip(ends);
        let flows: Vec<_> =
            flows.map(|(connection, ends)| FlowState::new(connection, ends, plan.seed)).collect();
        let specs = connections.iter().map(|connection| connection.spec);
        let queries = Queries::new(specs, plan.seed);
        let mut agenda = EventQueue::new(flows.len() + 2);
        for (leaf, flow) in flows.iter().enumerate() {
            agenda.set(leaf, flow.due());
        }
        let interval = plan.record.interval_ns.map(|interval| Span(interval.get()));
        agenda.set(flows.len(), interval.map_or(Time::NEVER, |interval| Time::ZERO + interval));
        agenda.set(flows.len() + 1, plan.end);
        let (epoll, alarm) = watch(&flows).map_err(cannot_wait)?;
        Ok(Self {
            flows,
            common: Common::new(Recorder::new(plan.record), plan.look, queries),
            epoll,
            alarm,
            agenda,
            unfinished: Vec::new(),
            interval,
            end: plan.end,
            clock: Clock::starting_in(Span::ZERO),
            latest: Time::ZERO,
            cancel: plan.cancel,
            processors: plan.processors,
        })
    }

    /// Work until the end of the run.
    pub fn run(mut self, clock: Clock, abandoned: &AtomicBool) -> Result<TrafficOutput, Error> {
        self.clock = clock;
        if let Some(processors) = &self.processors {
            processors.keep_applications();
        }
        for leaf in 0..self.flows.len() {
            self.flows[leaf].connect_early()?;
            self.plan(leaf);
        }
        let mut busy_before = None;
        loop {
            self.wait()?;
            if self.cancel.load(Ordering::Relaxed) || abandoned.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            if self.now().is_some() {
                busy_before.get_or_insert_with(busy);
            }
            if self.do_what_is_due()? {
                let busy = busy() - busy_before.unwrap_or_default();
                return self.finish(busy);
            }
        }
    }

    /// Time since the run began; none before. It waits where the clock goes back after a stall.
    fn now(&mut self) -> Option<Time> {
        self.latest = self.latest.max(self.clock.now()?);
        Some(self.latest)
    }

    /// Wait for sockets or the next time, and handle the sockets' events.
    fn wait(&mut self) -> Result<(), Error> {
        self.alarm.set(self.agenda.earliest().0, &self.clock).map_err(cannot_wait)?;
        let mut events = [EpollEvent::empty(); EVENTS];
        let patience = if self.unfinished.is_empty() { PATIENCE_MS } else { 0 };
        let count = match self.epoll.wait(&mut events, patience) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(cannot_wait(error)),
        };
        self.alarm.look(&self.clock);
        for token in std::mem::take(&mut self.unfinished) {
            self.hear(token)?;
        }
        for event in &events[..count] {
            match event.data() {
                ALARM => self.alarm.rang(),
                token => self.hear(token)?,
            }
        }
        Ok(())
    }

    fn hear(&mut self, token: u64) -> Result<(), Error> {
        let (leaf, end) = flow_of(token);
        let now = self.now().unwrap_or(Time::ZERO);
        if now > self.end {
            // The last counts are those at the end.
            return Ok(());
        }
        let flow = &mut self.flows[leaf];
        if end == End::Receiver && flow.accept()? {
            watch_accepted(&self.epoll, leaf, flow).map_err(cannot_wait)?;
        }
        let progress = flow.hear(end, now, &mut self.common)?;
        if progress == Progress::More {
            self.unfinished.push(token);
        }
        self.plan(leaf);
        for (leaf, begins) in std::mem::take(&mut self.common.answers_due) {
            self.flows[leaf].ask(begins);
            self.plan(leaf);
        }
        Ok(())
    }

    /// Let flows act, and sample them, in order of time. Return true at the end.
    fn do_what_is_due(&mut self) -> Result<bool, Error> {
        let Some(now) = self.now() else { return Ok(false) };
        // A late check must not find actions after the end.
        let now = now.min(self.end);
        loop {
            let (due, leaf) = self.agenda.earliest();
            if due > now {
                return Ok(false);
            }
            if let Some(flow) = self.flows.get_mut(leaf) {
                let progress = flow.act(now, &mut self.common)?;
                if progress == Progress::More {
                    self.unfinished.push(token_of(leaf, End::Sender));
                }
                self.plan(leaf);
            } else if leaf == self.flows.len() {
                self.sample(due)?;
            } else {
                return Ok(true);
            }
        }
    }

    fn plan(&mut self, leaf: usize) {
        self.agenda.set(leaf, self.flows[leaf].due());
    }

    fn sample(&mut self, time: Time) -> Result<(), Error> {
        for flow in self.flows.iter().filter(|flow| flow.is_sampled()) {
            flow.sample(time, &mut self.common)?;
        }
        let interval = self.interval.expect("the interval of a planned sample");
        self.agenda.set(self.flows.len(), time + interval);
        Ok(())
    }

    /// Take the last counts, then reset all connections.
    fn finish(mut self, busy: Duration) -> Result<TrafficOutput, Error> {
        let look = &mut self.common.look;
        let ends = self.flows.iter_mut().map(|flow| flow.end(look)).collect::<Result<_, _>>()?;
        let counts: Vec<_> = self.flows.iter().filter_map(FlowState::datagrams).collect();
        let Recorder { flows, internals, modes, requests, events, .. } = self.common.recorder;
        modes.check()?;
        requests.check()?;
        events.check()?;
        Ok(TrafficOutput {
            flows,
            internals,
            modes: modes.into_vec(),
            requests: requests.into_vec(),
            events: events.into_vec(),
            ends,
            busy_permille: (busy.as_nanos() * 1_000 / u128::from(self.end.0.max(1))) as u32,
            stalled_ns: self.alarm.stalls.all_ns,
            stalled_max_ns: self.alarm.stalls.max_ns,
            datagrams: (!counts.is_empty()).then(|| sum(&counts)),
            late_connections: self.common.late,
        })
    }
}

fn sum(counts: &[DatagramCount]) -> DatagramCount {
    counts.iter().fold(DatagramCount::default(), |total, count| DatagramCount {
        due: total.due + count.due,
        sent: total.sent + count.sent,
    })
}

/// Watch all sockets for events.
fn watch(flows: &[FlowState]) -> nix::Result<(Epoll, Alarm)> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    let alarm = Alarm::new()?;
    let edge = EpollFlags::EPOLLET | EpollFlags::EPOLLIN;
    epoll.add(&alarm.timer, EpollEvent::new(edge, ALARM))?;
    for (leaf, flow) in flows.iter().enumerate() {
        let receiver = EpollEvent::new(edge, token_of(leaf, End::Receiver));
        match &flow.transport {
            Carrier::Datagrams(datagrams) => epoll.add(&datagrams.ends.receiver, receiver)?,
            Carrier::Stream(stream) => {
                let token = token_of(leaf, End::Sender);
                epoll.add(&stream.sender, EpollEvent::new(edge | EpollFlags::EPOLLOUT, token))?;
                epoll.add(&stream.listener, receiver)?;
            }
        }
    }
    Ok((epoll, alarm))
}

/// Watch a receiving end that was accepted.
fn watch_accepted(epoll: &Epoll, leaf: usize, flow: &FlowState) -> nix::Result<()> {
    let Carrier::Stream(stream) = &flow.transport else { return Ok(()) };
    let Some(receiver) = &stream.receiver else { return Ok(()) };
    let flags = EpollFlags::EPOLLET | EpollFlags::EPOLLIN;
    epoll.add(&receiver.socket, EpollEvent::new(flags, token_of(leaf, End::Receiver)))
}

const fn token_of(leaf: usize, end: End) -> u64 {
    2 * leaf as u64 + matches!(end, End::Receiver) as u64
}

const fn flow_of(token: u64) -> (usize, End) {
    let end = if token % 2 == 0 { End::Sender } else { End::Receiver };
    ((token / 2) as usize, end)
}

/// Processor time of this thread.
fn busy() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("a thread's clock").into()
}

fn cannot_wait(error: Errno) -> Error {
    sockets::failed("the applications' thread cannot wait for its sockets".into(), &error.into())
}
