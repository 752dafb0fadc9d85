//! Compiles `algorithms/*.c` and generates the list of what was compiled.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../algorithms");
    let interface = folder.join("cc.h");
    let files = algorithm_files(&folder);

    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=src/layout.c");
    cc::Build::new()
        .include(&folder)
        .files(&files)
        .file("src/layout.c")
        .std("gnu11")
        .opt_level(3)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .compile("dumbbell_algorithms");

    let output = Path::new(&env::var("OUT_DIR").expect("set by cargo")).join("algorithms.rs");
    fs::write(&output, generated(&interface, &files))
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", output.display()));
}

/// Every algorithm's file, in the order of their names.
fn algorithm_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no algorithm in {}", folder.display());
    files
}

/// Rust source: the C tables as extern statics, and the hash of each source.
fn generated(interface: &Path, files: &[PathBuf]) -> String {
    let mut statics = String::new();
    let mut rows = String::new();
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a UTF-8 name");
        writeln!(statics, "    static dumbbell_algorithm_{name}: CcAlgorithm;").expect("a string");
        writeln!(
            rows,
            "        (unsafe {{ &dumbbell_algorithm_{name} }}, \"{}\", include_str!({:?})),",
            source_hash(interface, file),
            file.canonicalize().expect("a file that was just read")
        )
        .expect("a string");
    }
    println!("cargo::rerun-if-changed={}", interface.display());
    format!(
        "unsafe extern \"C\" {{\n{statics}}}\n\n\
         /// The compiled algorithms, each with the hash of its source and the source.\n\
         pub(crate) fn compiled() -> [(&'static CcAlgorithm, &'static str, &'static str); {}] {{\n    \
         // SAFETY: each is a constant that its C file defines through CC_ALGORITHM.\n    \
         [\n{rows}    ]\n}}\n\n\
         /// The interface that they are written to, `cc.h`.\n\
         pub const INTERFACE: &str = include_str!({:?});\n",
        files.len(),
        interface.canonicalize().expect("a file that was just read")
    )
}

/// SHA-256 over the algorithm's file and the interface that it includes.
fn source_hash(interface: &Path, file: &Path) -> String {
    let mut hash = Sha256::new();
    for path in [file, interface] {
        hash.update(
            fs::read(path)
                .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display())),
        );
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
