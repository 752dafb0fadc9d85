//! The machine's C compiler.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use std::{env, fs};

use super::error::LoadError;
use crate::complaint::of_compiler;
use crate::ffi::INTERFACE;
use crate::programs::{Ended, limit_memory, output_of};
use crate::scratch::Scratch;

/// Longest time for a compiler. It takes a second or two for thousands of lines.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Options as for the built-in algorithms, with messages for a program to read.
const OPTIONS: [&str; 5] =
    ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fno-diagnostics-show-caret"];

/// The file's own functions go before those of the process that loads it. ELF does the opposite by
/// default; other systems do not.
const SHARED: &[&str] = if cfg!(any(target_os = "macos", target_os = "windows")) {
    &["-O2", "-fPIC", "-shared"]
} else {
    &["-O2", "-fPIC", "-shared", "-Wl,-Bsymbolic"]
};

/// Sources in a temporary folder, with the headers that they may include.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    folder: Scratch,
    cancel: &'a AtomicBool,
}

impl<'a> Sources<'a> {
    /// Store algorithms, each with name and source. `cancel` ends all work on them.
    pub(super) fn new(
        algorithms: &[(&str, &str)],
        cancel: &'a AtomicBool,
    ) -> Result<Self, LoadError> {
        let folder = Scratch::new().map_err(|error| no_space(&error))?;
        let sources = Self { folder, cancel };
        for (name, text) in INTERFACE {
            sources.add(name, text)?;
        }
        for (name, code) in algorithms {
            sources.add(&format!("{name}.c"), code)?;
        }
        Ok(sources)
    }

    pub(super) fn add(&self, file: &str, text: &str) -> Result<(), LoadError> {
        fs::write(self.path(file), text).map_err(|error| no_space(&error))
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Compile one of the files as a shared object.
    pub(super) fn shared_object(&self, file: &str, shown: &str) -> Result<PathBuf, LoadError> {
        let object = self.path(&format!("{file}.so"));
        let arguments = SHARED.iter().map(ToString::to_string);
        let output = self.compile(arguments, &[file], &object)?;
        self.succeeded(&output, file, shown)?;
        Ok(object)
    }

    /// Run the compiler on some of the files. The caller checks its status.
    pub(super) fn compile(
        &self,
        options: impl Iterator<Item = String>,
        files: &[&str],
        output: &Path,
    ) -> Result<Output, LoadError> {
        let (mut command, name) = compiler();
        command.args(OPTIONS).args(options).args(files.iter().map(|file| self.path(file)));
        command.arg("-o").arg(output).env("LC_ALL", "C").env("TMPDIR", self.folder.path());
        limit_memory(&mut command);
        let limit = PATIENCE * u32::try_from(files.len()).unwrap_or(1);
        output_of(&mut command, self.cancel, limit).map_err(|ended| match ended {
            Ended::NotRun(error) => {
                let remedy = "install one (apt install gcc), or name another in the variable CC";
                LoadError::machine(&format!("cannot run the C compiler '{name}'"), &error, remedy)
            }
            Ended::Cancelled => LoadError::Cancelled,
            ended => LoadError::file(files[0], None, format!("the compiler did not end: {ended}")),
        })
    }

    /// Run a program on the compiled files.
    pub(super) fn run(&self, command: &mut Command, limit: Duration) -> Result<Output, Ended> {
        output_of(command.env("TMPDIR", self.folder.path()), self.cancel, limit)
    }

    /// Return the compiler's error in a file as an error.
    pub(super) fn succeeded(
        &self,
        output: &Output,
        file: &str,
        shown: &str,
    ) -> Result<(), LoadError> {
        if output.status.success() {
            return Ok(());
        }
        let (_, name) = compiler();
        Err(LoadError::File(of_compiler(shown, &self.path(file), &name, output)))
    }
}

/// `$CC`, which may have arguments, or `cc`.
fn compiler() -> (Command, String) {
    let chosen = env::var("CC").unwrap_or_default();
    let mut words = chosen.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words);
    (command, if chosen.trim().is_empty() { "cc".to_owned() } else { chosen })
}

fn no_space(error: &io::Error) -> LoadError {
    let remedy = format!("see whether {} is writable and has space", env::temp_dir().display());
    LoadError::machine("cannot keep files for the compiler", error, &remedy)
}
