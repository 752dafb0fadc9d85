//! Algorithms in the kernel: compiled for BPF, registered as `tcp_congestion_ops`, and compared
//! with the native build of the same source.

mod compile;
mod complaint;
mod messages;
mod object;
pub mod parity;
mod played;
mod record;
mod registered;

pub use compile::{Compiler, compile, compile_file, compile_for_calls};
pub use object::Object;
pub use played::Played;
pub use record::{Argument, Hook, Memory, Record, Records};
pub use registered::{Keep, OfStack, Registered};
