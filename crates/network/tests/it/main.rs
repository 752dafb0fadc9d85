//! The network as its users see it.

mod memory;
mod real_time;
