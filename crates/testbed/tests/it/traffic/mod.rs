//! The applications on real sockets, over a path of two TUN devices and a thread. Needs root.

mod bulk;
mod datagrams;
mod iperf;
mod messages;
mod paced;
mod path;
mod setup;
