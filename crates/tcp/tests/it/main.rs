//! The endpoint of a connection, whole and by its parts.

mod calls;
mod endpoint;
mod fuzz;
mod receiver;
mod receiver_model;
mod recovery;
mod routine_runs;
mod scoreboard;
mod transmission;
mod wire;
