//! Settings of a namespace.

use std::fs;
use std::path::Path;

use crate::error::Error;

/// Settings by name, such as `net.ipv4.tcp_sack`. Later ones replace earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sysctls(Vec<(&'static str, String)>);

impl Sysctls {
    /// Add a setting.
    pub fn set(&mut self, name: &'static str, value: impl ToString) {
        self.0.push((name, value.to_string()));
    }

    /// Write all settings in the namespace of this thread.
    ///
    /// # Errors
    /// The first setting that the kernel refuses.
    pub fn write(&self) -> Result<(), Error> {
        for (name, value) in &self.0 {
            let path = Path::new("/proc/sys").join(name.replace('.', "/"));
            fs::write(path, value).map_err(|error| {
                Error::machine(
                    &format!("cannot set {name} = {value} in a namespace"),
                    &error,
                    "this kernel is too old for the requested stack, or /proc/sys is read-only",
                )
            })?;
        }
        Ok(())
    }
}
