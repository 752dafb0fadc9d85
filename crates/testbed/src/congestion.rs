//! The congestion control of a run's flows: our builds, or the kernel's own modules.

use std::fs;
use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicBool;

use crate::cancel::heed;
use crate::choices::AlgorithmChoice;
use crate::error::Error;
use crate::kernel::{Keep, Registered, compile};

/// A congestion control that sockets can use.
pub enum Congestion {
    /// Our build, registered in the kernel until this is dropped.
    Ours(Registered),
    /// The kernel's own of the same name.
    Kernels(&'static str),
}

impl Congestion {
    /// Register our build in the kernel. `flows` has the programs' data on each flow.
    ///
    /// # Errors
    /// If it does not compile, the kernel refuses it, or the run is cancelled meanwhile.
    pub fn ours(
        choice: &AlgorithmChoice,
        flows: BorrowedFd<'_>,
        keep: Keep,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        let object = compile(choice.algorithm, cancel)?;
        heed(cancel)?;
        Registered::new(&object, &choice.values, choice.of_stack, flows, keep).map(Self::Ours)
    }

    /// Find the kernel's own module.
    ///
    /// # Errors
    /// If there is none of this name, or the choice has other parameters than it has.
    pub fn kernels(choice: &AlgorithmChoice) -> Result<Self, Error> {
        let name = choice.algorithm.name;
        let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
            .unwrap_or_default();
        let refuse = |cause: String, remedy: &str| {
            Err(Error::machine(&format!("cannot use the kernel's own {name}"), &cause, remedy))
        };
        if !available.split_whitespace().any(|module| module == name) {
            let cause = format!("this kernel has {}", available.trim());
            return refuse(cause, "load the module, or use Dumbbell's build of the algorithm");
        }
        if choice.of_stack.counts_marks {
            let cause = "its marks cannot be counted".to_owned();
            return refuse(cause, "leave accecn at false, or use Dumbbell's build");
        }
        if choice.of_stack.start.is_some() {
            let cause = "its slow start cannot be set".to_owned();
            return refuse(cause, "leave slow_start at \"own\", or use Dumbbell's build");
        }
        let initial = choice.algorithm.parameters.iter().map(|parameter| parameter.initial);
        if !initial.eq(choice.values.iter().copied()) {
            let cause = "its parameters cannot be set".to_owned();
            return refuse(cause, "leave the parameters alone, or use Dumbbell's build");
        }
        Ok(Self::Kernels(name))
    }

    /// Its name for sockets (`TCP_CONGESTION`).
    pub fn kernel_name(&self) -> &str {
        match self {
            Self::Ours(registered) => registered.kernel_name(),
            Self::Kernels(name) => name,
        }
    }
}
