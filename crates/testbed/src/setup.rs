//! Everything that a run needs of the machine: hosts, algorithms in the kernel, and the watch.

use std::num::NonZeroU32;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dumbbell_algorithm::{Algorithms, Instance, Need};
use dumbbell_network::{Span, Time};
use dumbbell_tcp::{Stack, TcpBpf};
use dumbbell_workload::{Flow, Scenario, Transport};

use crate::cancel::heed;
use crate::choices::Choices;
use crate::congestion::Congestion;
use crate::emulator::{Pair, mtu, propagation};
use crate::error::Error;
use crate::host::{Host, RECEIVER, SENDER};
use crate::kernel::Keep;
use crate::ports::port_of_flow;
use crate::processors::{KeptOff, Processors};
use crate::traffic::{Connection, Look, Report, Seen, SeenRtt, SocketTuning};
use crate::tuning::Tuning;
use crate::watch::Watch;
use crate::windows::{backlog_bytes, buffer_bytes};

/// Time for opening connections beyond two round trips, ...
const LEAD: Span = Span::from_millis(200);
/// ... and for each flow, as all may begin at once.
const LEAD_PER_FLOW: Span = Span::from_micros(200);
/// Calls in which a backlog is handed over if each segment leaves alone (no TSO). The last segment
/// of a call without room for it has PSH, and its receiver acknowledges it when it reads.
const BACKLOG_CALLS: u32 = 32;
/// The kernel's own initial window.
const INITIAL_WINDOW_SEGS: u32 = 10;

/// A scenario's hosts, algorithms and watch.
pub struct Setup<'a> {
    /// The scenario of the run.
    pub scenario: &'a Scenario,
    /// Algorithms and stacks of its flows.
    pub choices: Choices,
    /// One for each stack.
    pub tunings: Vec<Tuning>,
    /// One for each stack.
    pub pairs: Vec<Pair>,
    /// One for each algorithm.
    pub congestion: Vec<Congestion>,
    /// Watches the flows' sockets.
    pub watch: Arc<Watch>,
    /// Processors of the threads.
    pub processors: Processors,
    _kept_off: KeptOff,
}

impl<'a> Setup<'a> {
    /// Set up everything. With `kernel_modules`, use the kernel's own algorithms.
    ///
    /// # Errors
    /// If the testbed cannot do what the scenario requests, the system refuses something, or the
    /// run is cancelled meanwhile.
    pub fn new(
        scenario: &'a Scenario,
        algorithms: &Algorithms,
        kernel_modules: bool,
        keep: Keep,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        let choices = Choices::of(scenario, algorithms)?;
        let processors = Processors::divided()?;
        let kept_off = processors.keep_off();
        let buffer = buffer_bytes(scenario, algorithms);
        let has_interfaces = scenario.links.iter().any(|link| link.interface);
        let tuning = |(index, stack)| {
            let tuning = Tuning::of(stack, buffer, choices.all_need_marks(index));
            if has_interfaces { tuning.behind_interface(stack) } else { tuning }
        };
        let tunings: Vec<Tuning> = choices.stacks.iter().enumerate().map(tuning).collect();
        let mtu = mtu(scenario);
        let pair = |tuning: &Tuning| {
            heed(cancel)?;
            let host = |address| Host::new(address, mtu, tuning);
            Ok(Pair { sender: host(SENDER)?, receiver: host(RECEIVER)? })
        };
        let pairs = tunings.iter().map(pair).collect::<Result<Vec<_>, Error>>()?;
        let hosts = pairs.iter().flat_map(|pair| [&pair.sender, &pair.receiver]);
        let namespaces: Vec<_> = hosts.map(|host| &host.namespace).collect();
        let watch = Watch::load(&namespaces, cancel)?;
        let congestion = choices.algorithms.iter().map(|choice| {
            heed(cancel)?;
            if kernel_modules {
                Congestion::kernels(choice)
            } else {
                Congestion::ours(choice, watch.map(), keep, cancel)
            }
        });
        let congestion = congestion.collect::<Result<_, _>>()?;
        let watch = Arc::new(watch);
        let setup = Self {
            scenario,
            choices,
            tunings,
            pairs,
            congestion,
            watch,
            processors,
            _kept_off: kept_off,
        };
        setup.steer()?;
        Ok(setup)
    }

    /// Set the TCP-BPF settings of flows, and initial windows other than the kernel's.
    fn steer(&self) -> Result<(), Error> {
        for (index, flow) in self.scenario.flows.iter().enumerate() {
            let Transport::Tcp(tcp) = &flow.transport else { continue };
            let requested = self.tunings[self.choices.stack_of[index]].initial_window_segs;
            let mut settings = tcp.tcp_bpf.unwrap_or_default();
            if settings.initial_window_segs.is_none() && requested != INITIAL_WINDOW_SEGS {
                settings.initial_window_segs = NonZeroU32::new(requested);
            }
            if settings != TcpBpf::default() {
                self.watch.steer(port_of_flow(index), &settings)?;
            }
        }
        Ok(())
    }

    /// Time before the beginning of the run at which the first connections must be opened.
    pub fn lead(&self) -> Span {
        let flows = 0..self.scenario.flows.len();
        flows.map(|flow| self.lead_of(flow)).max().unwrap_or(LEAD)
    }

    fn lead_of(&self, flow: usize) -> Span {
        let flows = self.scenario.flows.len() as u64;
        let crowd = flows * LEAD_PER_FLOW.0;
        Span(LEAD.0 + crowd + 2 * self.base_rtt(&self.scenario.flows[flow]).0)
    }

    /// Round-trip propagation delay.
    fn base_rtt(&self, flow: &Flow) -> Span {
        let links = &self.scenario.links;
        let delay = |route| propagation(route, links, Time::ZERO).0;
        Span(delay(&flow.forward) + delay(&flow.reverse))
    }

    /// The shortest base RTT of all flows.
    pub fn shortest_rtt(&self) -> Span {
        let rtts = self.scenario.flows.iter().map(|flow| self.base_rtt(flow));
        rtts.min().unwrap_or(Span::ZERO)
    }

    /// All flows, ready to be started.
    pub fn connections(&self) -> Vec<Connection<'_>> {
        let connection = |(index, spec): (usize, &'a Flow)| {
            let stack = self.choices.stack_of[index];
            let pair = &self.pairs[stack];
            Connection {
                flow: index,
                spec,
                sender: &pair.sender.namespace,
                receiver: &pair.receiver.namespace,
                at_both_ends: self.choices.needs(index, Need::Ecn) || self.stack(index).accecn,
                congestion: self.choices.algorithm_of[index]
                    .map(|algorithm| self.congestion[algorithm].kernel_name().to_owned()),
                tuning: self.socket_tuning(index),
            }
        };
        self.scenario.flows.iter().enumerate().map(connection).collect()
    }

    fn socket_tuning(&self, flow: usize) -> SocketTuning {
        let tuning = &self.tunings[self.choices.stack_of[flow]];
        let clamp = tuning.receive_window_bytes;
        let backlog_bytes = backlog_bytes(&self.scenario.flows[flow], &self.scenario.links);
        let calls = if tuning.offload { 1 } else { BACKLOG_CALLS };
        SocketTuning {
            window_clamp_bytes: clamp.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
            pace_all: tuning.pace_all,
            paced: tuning.pace_all || self.choices.needs(flow, Need::Pacing),
            backlog_bytes,
            write_bytes: backlog_bytes / calls,
            flows: self.scenario.flows.len() as u32,
            lead: (!self.stack(flow).handshake).then(|| self.lead_of(flow)),
        }
    }

    /// Make a function that reads a flow's sending socket from the watch.
    pub fn look(&self) -> Look {
        let watch = Arc::clone(&self.watch);
        let algorithm = |choice: Option<usize>| {
            let choice = &self.choices.algorithms[choice?];
            self.scenario.record.samples_reports().then(|| choice.clone())
        };
        let choices: Vec<_> = self.choices.algorithm_of.iter().map(|c| algorithm(*c)).collect();
        Box::new(move |flow: usize, socket: BorrowedFd<'_>| {
            let seen = watch.flow(socket).ok()??;
            let report = choices[flow].as_ref().map(|choice| {
                let algorithm = Instance::with_state(choice.algorithm, &choice.values, &seen.state);
                let mode = algorithm.mode(&seen.conn).map(|(mode, _)| mode.min(255) as u8);
                Report { mode, values: algorithm.report(&seen.conn) }
            });
            Some(Seen {
                rtt_us: seen.rtt.map(|rtt| rtt.latest_us),
                congestion_events: seen.congestion_events,
                timeouts: seen.timeouts,
                spurious: seen.spurious,
                rtt: seen.rtt.map(|rtt| SeenRtt {
                    min_us: rtt.min_us,
                    mean_us: rtt.sum_us / u64::from(rtt.samples),
                    max_us: rtt.max_us,
                }),
                report,
            })
        })
    }

    /// Differences between the flows' stacks and the kernel, each once.
    pub fn not_offered(&self) -> Vec<String> {
        let mut all: Vec<String> =
            self.tunings.iter().flat_map(|tuning| tuning.not_offered.iter().cloned()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The stack of a flow.
    pub fn stack(&self, flow: usize) -> &Stack {
        &self.choices.stacks[self.choices.stack_of[flow]]
    }
}
