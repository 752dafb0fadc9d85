//! C to BPF. The sources are in the program, so that it needs no folder of them.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dumbbell_algorithm::complaint::of_compiler;
use dumbbell_algorithm::programs::{Ended, NEVER, limit_memory, output_of};
use dumbbell_algorithm::scratch::Scratch;
use dumbbell_algorithm::{Algorithm, INTERFACE, registry};

use super::object::Object;
use crate::error::Error;

/// Files that programs may include in addition to the interface.
const HEADERS: [(&str, &str); 3] = [
    ("flow.h", include_str!("../../bpf/flow.h")),
    ("adapter.h", include_str!("../../bpf/adapter.h")),
    ("play.h", include_str!("../../bpf/play.h")),
];

/// Headers before an algorithm's file. The first kind makes it a congestion control of the kernel,
/// the other kind a program that calls one hook.
const FOR_SOCKETS: &[&str] = &["-include", "adapter.h"];
const FOR_CALLS: &[&str] = &["-include", "adapter.h", "-include", "play.h"];

/// Options of clang. As in the kernel, no strict aliasing: an algorithm's state is bytes of the
/// socket.
const OPTIONS: [&str; 8] = [
    "-mcpu=v3",
    "-O2",
    "-g",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fno-strict-aliasing",
    "-fno-caret-diagnostics",
];

/// The first version of clang with all these features.
const OLDEST: u32 = 15;
const NEWEST: u32 = 30;

/// Longest time for a compiler. It takes a second or two for thousands of lines.
const PATIENCE: Duration = Duration::from_secs(60);

/// A compiler for BPF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    /// Its path.
    pub path: PathBuf,
    /// Its major version.
    pub version: u32,
}

impl Compiler {
    /// Find clang 19, with which everything is tested, or else the newest on `PATH` from clang 15
    /// on.
    ///
    /// # Errors
    /// If there is none.
    pub fn find() -> Result<Self, Error> {
        let numbered = (OLDEST..=NEWEST).rev().map(|version| format!("clang-{version}"));
        ["clang-19".to_owned()]
            .into_iter()
            .chain(numbered)
            .chain(["clang".to_owned()])
            .find_map(|name| Self::named(&name))
            .ok_or_else(|| Error::Machine {
                what: "cannot compile algorithms for the kernel".into(),
                cause: format!("there is no clang {OLDEST} or later on PATH"),
                remedy: "install it: apt install clang-19".into(),
            })
    }

    fn named(name: &str) -> Option<Self> {
        let path = env::split_paths(&env::var_os("PATH")?)
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())?;
        let output = Command::new(&path).arg("--version").output().ok()?;
        let version = version(&String::from_utf8_lossy(&output.stdout))?;
        (version >= OLDEST).then_some(Self { path, version })
    }

    /// Compile an algorithm's file for sockets. Messages call it `shown`.
    ///
    /// # Errors
    /// If it does not compile, the compiler cannot run, or the run is cancelled meanwhile.
    pub fn compile(
        &self,
        source: &Path,
        shown: &str,
        cancel: &AtomicBool,
    ) -> Result<Vec<u8>, Error> {
        self.run(source, shown, FOR_SOCKETS, cancel)
    }

    /// Compile a program of the testbed, which is not an algorithm.
    ///
    /// # Errors
    /// If it does not compile, the compiler cannot run, or the run is cancelled meanwhile.
    pub(crate) fn compile_text(
        &self,
        name: &str,
        text: &str,
        cancel: &AtomicBool,
    ) -> Result<Vec<u8>, Error> {
        let folder = Scratch::new().map_err(|error| no_space(&error))?;
        let source = folder.path().join(name);
        fs::write(&source, text).map_err(|error| no_space(&error))?;
        self.run(&source, name, &[], cancel)
    }

    fn run(
        &self,
        source: &Path,
        shown: &str,
        options: &[&str],
        cancel: &AtomicBool,
    ) -> Result<Vec<u8>, Error> {
        let folder = Scratch::new().map_err(|error| no_space(&error))?;
        for (name, text) in INTERFACE.into_iter().chain(HEADERS) {
            fs::write(folder.path().join(name), text).map_err(|error| no_space(&error))?;
        }
        let object = folder.path().join("object");
        let mut command = Command::new(&self.path);
        command.args(["-target", "bpf"]).args(OPTIONS).arg("-I").arg(folder.path());
        command.args(options).arg("-c").arg(source).arg("-o").arg(&object);
        command.env("TMPDIR", folder.path());
        limit_memory(&mut command);
        let output = output_of(&mut command, cancel, PATIENCE).map_err(|ended| match ended {
            Ended::Cancelled => Error::Cancelled,
            Ended::NotRun(error) => Error::Machine {
                what: format!("cannot run {}", self.path.display()),
                cause: error.to_string(),
                remedy: "see whether it runs on the command line, or install another clang".into(),
            },
            ended => Error::Algorithm {
                file: shown.to_owned(),
                line: None,
                cause: format!("the compiler did not end: {ended}"),
            },
        })?;
        if !output.status.success() {
            return Err(of_compiler(shown, source, &format!("{command:?}"), &output).into());
        }
        fs::read(&object).map_err(|error| no_space(&error))
    }
}

/// Read the major version in the output of `clang --version`.
fn version(printed: &str) -> Option<u32> {
    let (_, rest) = printed.split_once("version ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn no_space(error: &io::Error) -> Error {
    Error::Machine {
        what: "cannot keep files for the compiler".into(),
        cause: error.to_string(),
        remedy: format!("see whether {} is writable and has space", env::temp_dir().display()),
    }
}

/// Compile an algorithm for the kernel, built in or a user's own, once for each process.
///
/// # Errors
/// If there is no compiler, the algorithm does not compile, or the run is cancelled meanwhile.
pub fn compile(algorithm: &'static Algorithm, cancel: &AtomicBool) -> Result<Object, Error> {
    compiled(algorithm, FOR_SOCKETS, cancel)
}

/// As [`compile`], for a [`super::Played`].
///
/// # Errors
/// As [`compile`].
pub fn compile_for_calls(
    algorithm: &'static Algorithm,
    cancel: &AtomicBool,
) -> Result<Object, Error> {
    compiled(algorithm, FOR_CALLS, cancel)
}

fn compiled(
    algorithm: &'static Algorithm,
    headers: &'static [&'static str],
    cancel: &AtomicBool,
) -> Result<Object, Error> {
    type Identity = (&'static str, &'static str, &'static [&'static str]);
    static COMPILED: Mutex<BTreeMap<Identity, Object>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let identity = (algorithm.name, algorithm.source_hash, headers);
    if let Some(object) = compiled.get(&identity) {
        return Ok(object.clone());
    }
    let folder = Scratch::new().map_err(|error| no_space(&error))?;
    let source = folder.path().join(format!("{}.c", algorithm.name));
    fs::write(&source, algorithm.code).map_err(|error| no_space(&error))?;
    let built_in = registry().iter().any(|known| known.name == algorithm.name);
    let folder = if built_in { "algorithms/" } else { "" };
    let shown = format!("{folder}{}.c", algorithm.name);
    let object = object(algorithm.name, &source, &shown, headers, cancel)?;
    compiled.insert(identity, object.clone());
    Ok(object)
}

/// Compile a user's file for the kernel.
///
/// # Errors
/// If it cannot be read, there is no compiler, or it does not compile.
pub fn compile_file(path: &Path) -> Result<Object, Error> {
    let shown = path.display().to_string();
    let refused = |cause: String| Error::Algorithm { file: shown.clone(), line: None, cause };
    let name = path.file_stem().and_then(|stem| stem.to_str());
    let name = name.ok_or_else(|| refused("its name is not an algorithm's".into()))?;
    fs::metadata(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
    object(name, path, &shown, FOR_SOCKETS, &NEVER)
}

fn object(
    name: &str,
    source: &Path,
    shown: &str,
    headers: &[&str],
    cancel: &AtomicBool,
) -> Result<Object, Error> {
    let bytes = Compiler::find()?.run(source, shown, headers, cancel)?;
    Ok(Object { name: name.to_owned(), file: shown.to_owned(), bytes: Arc::from(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_distributions_print() {
        assert_eq!(version("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"), Some(19));
        assert_eq!(version("clang version 15.0.0"), Some(15));
        assert_eq!(version("Apple clang"), None);
    }

    #[test]
    fn a_macro_bomb_ends_at_the_limit_of_memory() {
        let ten = "#define TEN(x) x x x x x x x x x x\n#define M(x) TEN(TEN(TEN(x)))\n";
        let bomb = format!("{ten}int bomb(int a) {{ return a M(M(M(+a))); }}\n");
        let compiler = Compiler::find().unwrap();
        let message = compiler.compile_text("bomb.c", &bomb, &NEVER).unwrap_err().to_string();
        assert!(message.contains("the compiler took more than 2 GB of memory"), "{message}");
    }
}
