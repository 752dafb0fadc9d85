//! Cancellation before a run has begun.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

/// Return an error if the run was cancelled.
///
/// # Errors
/// [`Error::Cancelled`].
pub fn heed(cancel: &AtomicBool) -> Result<(), Error> {
    if cancel.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
}
