//! Whole runs of the simulator.

mod behaviour;
mod cancel;
mod capture;
mod closed_forms;
mod common;
mod delays;
mod environment;
mod extremes;
mod full;
mod handshakes;
mod hosts;
mod invariants;
mod lagging;
mod model_based;
mod modes;
mod short_flows;
mod shortcuts;
mod tcp_bpf;
