//! The congestion-control algorithms of `algorithms/`, ready to be used.
//!
//! An algorithm is one C file of pure functions (see `algorithms/cc.h`). This
//! crate compiles them, describes them ([`registry()`]) and attaches them to
//! connections ([`Instance`]). The stack at hand fills in a [`Conn`], calls the
//! hooks at the moments at which Linux does, and reads the window back.
//!
//! A user's own file becomes one of them while the process runs ([`user_defined`]).
//!
//! ```
//! use dumbbell_algorithm::{Conn, Instance};
//!
//! let mut cubic = Instance::new("cubic", None, &Default::default()).unwrap();
//! let mut conn = Conn { cwnd_segs: 100, ssthresh_segs: 100, ..Conn::default() };
//! cubic.init(&mut conn);
//! assert_eq!(cubic.ssthresh(&conn), 70);
//! ```

#![deny(missing_docs)]
#![deny(unsafe_code)]

mod algorithms;
pub mod call;
pub mod complaint;
mod conn;
mod error;
#[allow(unsafe_code)]
mod ffi;
pub mod guarded;
mod instance;
mod learner;
#[allow(clippy::disallowed_methods, reason = "compilers take real time")]
pub mod programs;
mod registry;
pub mod scratch;
#[allow(unsafe_code)]
mod slow_start;
pub mod user_defined;

pub use algorithms::{Algorithms, find};
pub use conn::{
    ACK_ECE, ACK_SLOWPATH, ACK_WIN_UPDATE, AckSample, CaState, Conn, CwndEvent, NO_RTT, RateSample,
    SSTHRESH_INFINITE, STACK_COUNT_ACKS, STACK_ENDS_SLOW_START, STACK_SLOW_START_INCLUSIVE,
};
pub use error::AlgorithmError;
pub use ffi::INTERFACE;
pub use instance::{INFO_MAX, Instance, SAMPLED_INFO, STATE_BYTES};
pub use learner::learner;
pub use registry::{Algorithm, Family, Need, Parameter, Preset, registry};
pub use slow_start::{SlowStart, StartChoice};
