//! A run, from its scenario to its output.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dumbbell_algorithm::Algorithms;
use dumbbell_network::Time;
use dumbbell_record::Output;
use dumbbell_workload::Scenario;
use serde::Deserialize;

use crate::clock::{Clock, Stalls};
use crate::emulator::{Emulated, Emulator};
use crate::error::Error;
use crate::guards::Limits;
use crate::kernel::Keep;
use crate::processors::MachineTime;
use crate::report::{Measured, report};
use crate::setup::Setup;
use crate::traffic::{Plan, Prepared, TrafficOutput};
use crate::turn::Turn;
use crate::watch::KernelEvent;

/// Options of a run.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Use the kernel's own algorithms of the same names, not our builds.
    pub kernel_modules: bool,
    /// Give up as soon as the machine's stalls exceed the limits of a valid run.
    pub give_up: bool,
}

/// Run a scenario with these algorithms in real time. Wait first until no other run is active on
/// this machine.
///
/// # Errors
/// If the scenario cannot run, the machine cannot run it, or it was cancelled or given up.
pub fn run(
    scenario: &Scenario,
    algorithms: &Algorithms,
    options: Options,
    cancel: &Arc<AtomicBool>,
) -> Result<Output, Error> {
    let _turn = Turn::wait(cancel)?;
    let keep = Keep { state: scenario.record.samples_reports(), callbacks: false };
    let setup = Setup::new(scenario, algorithms, options.kernel_modules, keep, cancel)?;
    carry_out(&setup, cancel, options.give_up)
}

/// Run a scenario on its hosts.
pub(crate) fn carry_out(
    setup: &Setup<'_>,
    cancel: &Arc<AtomicBool>,
    give_up: bool,
) -> Result<Output, Error> {
    let applications = Prepared::new(&setup.connections(), plan(setup, cancel))?;
    let before = MachineTime::now();
    let clock = Clock::starting_in(setup.lead());
    let stop = Arc::new(AtomicBool::new(false));
    let emulator =
        Emulator::new(setup.scenario, &setup.pairs, &setup.choices.stack_of, clock.clone());
    let (emulated, traffic) = thread::scope(|scope| {
        let emulated = thread::Builder::new()
            .name("dumbbell-emulator".into())
            .spawn_scoped(scope, || {
                setup.processors.keep_emulator();
                emulator.run(&stop)
            })
            .map_err(|error| Error::machine("cannot start a thread", &error, "free some memory"))?;
        let traffic = drive(setup, applications, &clock, give_up.then_some(clock.stalls()));
        if traffic.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        let emulated: Emulated =
            emulated.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        traffic.map(|traffic| (emulated, traffic))
    })?;
    let (traffic, events) = traffic;
    let stolen_permille = MachineTime::now().stolen_permille_since(before);
    report(setup, Measured { emulated, traffic, events, stolen_permille })
}

fn plan<'a>(setup: &Setup<'a>, cancel: &Arc<AtomicBool>) -> Plan<'a> {
    Plan {
        record: &setup.scenario.record,
        seed: setup.scenario.seed,
        end: Time::ZERO + setup.scenario.duration_ns,
        cancel: Arc::clone(cancel),
        look: setup.look(),
        processors: Some(setup.processors.clone()),
    }
}

/// Run the applications, from the first connection to the end of the run, or until it is given up.
fn drive(
    setup: &Setup<'_>,
    applications: Prepared,
    clock: &Clock,
    given_up_if: Option<&Stalls>,
) -> Result<(TrafficOutput, Vec<(Time, KernelEvent)>), Error> {
    let traffic = applications.start(clock.clone())?;
    let limits = Limits::for_paths(setup.shortest_rtt().0);
    let mut events = Vec::new();
    let mut take_events = || -> Result<(), Error> {
        let taken = setup.watch.events()?.into_iter();
        events.extend(taken.filter_map(|event| Some((clock.at(event.monotonic_ns)?, event))));
        Ok(())
    };
    while !traffic.is_over() {
        thread::sleep(LOOK);
        take_events()?;
        let duration_ns = setup.scenario.duration_ns.0;
        if let Some(why) = given_up_if.and_then(|it| limits.hopeless(it, duration_ns)) {
            return Err(Error::GivenUp(why));
        }
    }
    let output = traffic.finish()?;
    take_events()?;
    Ok((output, events))
}

/// Interval between two readings of the kernel's events.
const LOOK: Duration = Duration::from_millis(50);
