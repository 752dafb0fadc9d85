//! The testbed: a scenario in real time, between hosts of the real Linux kernel.
//!
//! A host is a network namespace with a TUN device. The emulator has the other ends of all devices,
//! and runs the simulator's network in real time. Namespaces have no names and BPF programs no
//! pins, so everything vanishes with the process.
#![deny(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "real time")]

mod cancel;
mod choices;
mod chunk;
mod clock;
mod congestion;
mod device;
mod emulator;
mod error;
mod facts;
mod guards;
mod host;
pub mod kernel;
mod namespace;
mod netlink;
mod parity;
mod ports;
mod processors;
mod report;
mod run;
mod segmentation;
mod setup;
mod sysctls;
pub mod traffic;
mod tun;
mod tuning;
mod turn;
mod watch;
mod windows;

pub use clock::Clock;
pub use dumbbell_algorithm::programs::NEVER;
pub use error::Error;
pub use facts::{Fact, Facts, facts};
pub use namespace::Namespace;
pub use parity::{ParityReport, parity};
pub use processors::Processors;
pub use run::{Options, run};
pub use tun::Tun;
pub use tuning::host_switches;
pub use watch::{FlowWatch, KernelEvent, KernelEventKind, RttWatch, Watch};
