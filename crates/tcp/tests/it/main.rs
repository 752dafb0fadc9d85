//! The endpoint of a connection, whole and by its parts.

mod calls;
mod endpoint;
mod fuzz;
mod lagging;
mod predicted_bursts;
mod receiver;
mod receiver_model;
mod recovery;
mod scoreboard;
mod transmission;
mod wire;
