//! The parts of a connection: its algorithm and the stack of its hosts, found and checked before
//! the run.

use dumbbell_algorithm::{Algorithms, Instance, Need, learner};
use dumbbell_network::Ecn;
use dumbbell_tcp::{Ecn as EcnMode, Stack};
use dumbbell_workload::{Flow, Tcp, Transport};

/// The algorithm of a connection, with its parameters, and the stack that serves it.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Its state is that of a new connection.
    pub algorithm: Instance,
    pub stack: Stack,
}

impl Choice {
    /// The choice for a flow; none: it sends datagrams.
    ///
    /// # Errors
    /// The key at fault, below the flow, and the problem.
    pub fn of_flow(
        flow: &Flow,
        algorithms: &Algorithms,
    ) -> Result<Option<Box<Self>>, (String, String)> {
        let Transport::Tcp(tcp) = &flow.transport else { return Ok(None) };
        let choice = Self::of(tcp, algorithms)
            .map_err(|(key, problem)| (format!("transport.tcp.{key}"), problem))?;
        Ok(Some(Box::new(choice)))
    }

    /// The choice for a flow that a learner steers. Only its algorithm differs.
    ///
    /// # Errors
    /// The key at fault, below the flow, and the problem.
    pub fn of_learner(flow: &Flow) -> Result<Box<Self>, (String, String)> {
        let Transport::Tcp(tcp) = &flow.transport else {
            return Err((
                "transport".into(),
                "sends datagrams, which a learner cannot steer".into(),
            ));
        };
        let choice = Self::with(tcp, |_| Ok(learner()))
            .map_err(|(key, problem)| (format!("transport.tcp.{key}"), problem))?;
        Ok(Box::new(choice))
    }

    fn of(tcp: &Tcp, algorithms: &Algorithms) -> Result<Self, (String, String)> {
        Self::with(tcp, |tcp| {
            algorithms
                .find(&tcp.algorithm)
                .and_then(|algorithm| {
                    Instance::of(algorithm, tcp.preset.as_deref(), &tcp.parameters)
                })
                .map_err(|error| (error.key(), error.to_string()))
        })
    }

    fn with(
        tcp: &Tcp,
        algorithm: impl FnOnce(&Tcp) -> Result<Instance, (String, String)>,
    ) -> Result<Self, (String, String)> {
        let stack =
            tcp.stack.resolve().map_err(|(key, problem)| (format!("stack.{key}"), problem))?;
        if tcp.reading.is_some() && stack.receive_buffer_max_bytes == 0 {
            let problem = "0, but what a lagging application has not read needs a buffer".into();
            return Err(("stack.switches.receive_buffer_max_bytes".into(), problem));
        }
        let algorithm = algorithm(tcp)?;
        stack
            .check_start(algorithm.algorithm())
            .map_err(|(key, problem)| (format!("stack.{key}"), problem))?;
        stack
            .check_marks(algorithm.algorithm())
            .map_err(|(key, problem)| (format!("stack.{key}"), problem))?;
        // Last, since an algorithm that needs marks turns ECN on, whatever the stack's switch.
        Ok(Self { stack: stack.serving(algorithm.algorithm()), algorithm })
    }

    /// Return true if the algorithm needs this feature of the stack.
    pub fn needs(&self, need: Need) -> bool {
        self.algorithm.algorithm().flags.contains(&need)
    }

    /// ECN field of ECN-capable packets.
    pub fn capable(&self) -> Ecn {
        if self.stack.ecn == EcnMode::L4s { Ecn::Ect1 } else { Ecn::Ect0 }
    }

    /// ECN field of the sender's packets during the handshake. Linux makes them ECN-capable if the
    /// algorithm needs marks.
    pub fn opening_ecn(&self) -> Ecn {
        // RFC 3168 (section 6.1.1) forbids that. Linux does so in tcp_ecn_send_syn.
        if self.needs(Need::Ecn) { self.capable() } else { Ecn::NotEct }
    }

    /// ECN field of acknowledgements and of the packet that ends a handshake. With Accurate ECN all
    /// packets of a connection are ECN-capable, as in Linux.
    pub fn answering_ecn(&self) -> Ecn {
        if self.stack.accecn { self.capable() } else { Ecn::NotEct }
    }

    /// Return true if the sender needs the receiver's timestamps.
    pub fn wants_stamps(&self) -> bool {
        self.needs(Need::OneWay) && self.stack.timestamps
    }
}
