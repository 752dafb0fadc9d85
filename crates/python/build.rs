//! Names the engines by their sources: `ENGINE_VERSION` and `TESTBED_VERSION` change when
//! their results might.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The crates whose sources decide a simulation's results. Algorithms have hashes
/// of their own.
const ENGINE_CRATES: [&str; 5] = ["network", "record", "simulator", "tcp", "workload"];

/// Those that decide what a run on the testbed comes to. Of `tcp` it is only the switches
/// that are set, which the scenario holds, and of the algorithms only their interface.
const TESTBED_SOURCES: [&str; 6] =
    ["algorithm/src", "network/src", "record/src", "testbed/bpf", "testbed/src", "workload/src"];

fn main() {
    let engine = ENGINE_CRATES.map(|name| format!("{name}/src"));
    tell("DUMBBELL_ENGINE_VERSION", &engine.each_ref().map(String::as_str));
    tell("DUMBBELL_TESTBED_VERSION", &TESTBED_SOURCES);
}

/// Gives the crate the hash of some sources as a variable.
fn tell(variable: &str, sources: &[&str]) {
    let mut hash = Sha256::new();
    for source in sources {
        let sources = Path::new("..").join(source);
        println!("cargo::rerun-if-changed={}", sources.display());
        for file in files_of(&sources) {
            hash.update(file.strip_prefix("..").expect("a sibling").to_string_lossy().as_bytes());
            hash.update(
                fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())),
            );
        }
    }
    let mut version = format!("{}+", env!("CARGO_PKG_VERSION"));
    for byte in &hash.finalize()[..8] {
        write!(version, "{byte:02x}").expect("writing to a string");
    }
    println!("cargo::rustc-env={variable}={version}");
}

/// A file itself, or all files in a folder.
fn files_of(source: &Path) -> Vec<PathBuf> {
    if source.is_file() { vec![source.to_owned()] } else { files_below(source) }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}
