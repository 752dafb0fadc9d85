//! An algorithm compiled for BPF.

use std::sync::Arc;

/// An algorithm compiled for BPF, in memory.
#[derive(Clone, Debug)]
pub struct Object {
    /// The algorithm's name.
    pub(super) name: String,
    /// Name of its file in messages.
    pub(super) file: String,
    /// The ELF file.
    pub(super) bytes: Arc<[u8]>,
}

impl Object {
    /// The algorithm's name: its file's name without the extension.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}
