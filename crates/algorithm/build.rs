//! Compiles `algorithms/*.c` and generates the list of compiled algorithms.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, iter};

fn main() {
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../algorithms");
    let headers = files_of(&folder, "h");
    let files = files_of(&folder, "c");

    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=src/guarded.c");
    println!("cargo::rerun-if-changed=src/layout.c");
    println!("cargo::rerun-if-changed=src/learner.c");
    println!("cargo::rerun-if-changed=src/slow_start.c");
    // Its timers are those of Linux.
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    cc::Build::new()
        .include(&folder)
        .files(&files)
        .file("src/layout.c")
        .file("src/learner.c")
        .file("src/slow_start.c")
        .files(is_linux.then_some("src/guarded.c"))
        .std("gnu11")
        .opt_level(3)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("dumbbell_algorithms");

    let output = Path::new(&env::var("OUT_DIR").expect("set by cargo")).join("algorithms.rs");
    fs::write(&output, generated(&headers, &files))
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", output.display()));
}

/// Files of one kind, in the order of their names.
fn files_of(folder: &Path, kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == kind))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .{kind} file in {}", folder.display());
    files
}

/// Rust source of the tables as extern statics, the hash of each source, and the headers.
fn generated(headers: &[PathBuf], files: &[PathBuf]) -> String {
    let mut statics = String::new();
    let mut rows = String::new();
    let mut interface = String::new();
    for header in headers {
        let name = header.file_name().and_then(|name| name.to_str()).expect("a UTF-8 name");
        writeln!(interface, "    (\"{name}\", include_str!({:?})),", absolute(header))
            .expect("a string");
    }
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a UTF-8 name");
        writeln!(statics, "    static dumbbell_algorithm_{name}: CcAlgorithm;").expect("a string");
        writeln!(
            rows,
            "        (unsafe {{ &dumbbell_algorithm_{name} }}, \"{}\", include_str!({:?})),",
            source_hash(headers, file),
            absolute(file)
        )
        .expect("a string");
    }
    format!(
        "unsafe extern \"C\" {{\n{statics}}}\n\n\
         /// The compiled algorithms, each with the hash of its source and the source.\n\
         pub(crate) fn compiled() -> [(&'static CcAlgorithm, &'static str, &'static str); {}] {{\n    \
         // SAFETY: each is a constant that its C file defines through CC_ALGORITHM.\n    \
         [\n{rows}    ]\n}}\n\n\
         /// The headers that algorithms may include, by name: `cc.h`, and what families share.\n\
         pub const INTERFACE: [(&str, &str); {}] = [\n{interface}];\n",
        files.len(),
        headers.len()
    )
}

fn absolute(file: &Path) -> PathBuf {
    file.canonicalize().expect("a file that was just listed")
}

/// SHA-256 over the algorithm's file and all headers that it may include.
fn source_hash(headers: &[PathBuf], file: &Path) -> String {
    let mut hash = Sha256::new();
    for path in iter::once(file).chain(headers.iter().map(PathBuf::as_path)) {
        hash.update(
            fs::read(path)
                .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display())),
        );
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
