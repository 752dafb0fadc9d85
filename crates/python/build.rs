//! Names the engine by its sources: `ENGINE_VERSION` changes when its results might.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The crates whose sources decide a simulation's results. Algorithms have hashes
/// of their own.
const ENGINE_CRATES: [&str; 5] = ["network", "record", "simulator", "tcp", "workload"];

fn main() {
    let mut hash = Sha256::new();
    for name in ENGINE_CRATES {
        let sources = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        for file in files_below(&sources) {
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
    println!("cargo::rustc-env=DUMBBELL_ENGINE_VERSION={version}");
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
