//! Other programs read our captures as we meant them.

mod connections;
mod properties;
mod wireshark;
