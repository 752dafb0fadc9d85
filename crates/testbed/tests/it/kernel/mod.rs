//! Transfers with algorithms in the kernel.

pub mod flows;
pub mod path;
pub mod transfer;
