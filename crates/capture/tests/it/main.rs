//! Captures are read back by others as they were meant.

mod properties;
mod wireshark;
