//! The testbed on the real kernel; most of it needs root.
#![allow(clippy::disallowed_methods, reason = "real time")]

mod alone;
mod kernel;
mod kernel_algorithms;
mod kernel_hooks;
mod kernel_played;
mod kernel_refusals;
mod run;
#[path = "../scenarios/mod.rs"]
mod scenarios;
mod traffic;
mod watch_flows;
mod watch_steering;
mod watched;
