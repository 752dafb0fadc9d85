//! Direct paths that all connections of a logical process share, so that trains may pass them.

use dumbbell_network::{DirectPath, Network, ProcessId};

use crate::flow::{FlowState, receiver_of, sender_of};
use crate::timers::Timers;

/// The direct paths that all connections with acknowledgements to one process share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPaths {
    /// Path of data to the receiver.
    pub data: DirectPath,
    /// Path of acknowledgements to the sender.
    pub acks: DirectPath,
    /// The process of the receivers.
    pub receivers: ProcessId,
}

impl SharedPaths {
    /// The shared paths of each process; none: its connections have different paths.
    pub fn of_processes(
        flows: &[FlowState],
        timers: &Timers,
        network: &Network,
    ) -> Vec<Option<Self>> {
        let of_process = |(process, routes): (ProcessId, &[usize])| {
            let mut all = routes.iter().map(|&route| {
                let is_sender = route == sender_of(route / 2);
                is_sender
                    .then(|| Self::of(&flows[route / 2], route / 2, process, timers, network))?
            });
            let first = all.next()??;
            all.all(|paths| paths == Some(first)).then_some(first)
        };
        network.processes().enumerate().map(of_process).collect()
    }

    fn of(
        flow: &FlowState,
        index: usize,
        process: ProcessId,
        timers: &Timers,
        network: &Network,
    ) -> Option<Self> {
        let data = network.direct_path(receiver_of(index)).filter(DirectPath::ends_at_host)?;
        let acks = network.direct_path(sender_of(index)).filter(|path| !path.ends_at_host())?;
        let reaches = network.process_behind(&acks) == Some(process);
        let fits = reaches && !data.meets(&acks) && !flow.needs_packets();
        let receivers = timers.process_of(receiver_of(index));
        fits.then_some(Self { data, acks, receivers })
    }
}
