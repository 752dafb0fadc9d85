//! An algorithm compiled for BPF.

use std::sync::Arc;

/// An algorithm compiled for BPF, in memory.
#[derive(Clone, Debug)]
pub struct Object {
    /// The algorithm's name.
    pub(super) name: String,
    /// Its file, as messages tell of it.
    pub(super) file: String,
    /// ELF.
    pub(super) bytes: Arc<[u8]>,
}

impl Object {
    /// The algorithm's name: its file's without the extension.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}
