//! The network as its users see it.

mod real_time;
