//! Captures are read back by others as they were meant.

mod connections;
mod properties;
mod wireshark;
