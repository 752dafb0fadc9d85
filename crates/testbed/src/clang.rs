//! The compiler: C sources that lie in this program become BPF objects in memory.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Output};

/// Names under which clang may be installed, the preferred first.
const NAMES: [&str; 8] =
    ["clang", "clang-19", "clang-20", "clang-21", "clang-22", "clang-18", "clang-17", "clang-16"];

/// One of several files that are compiled together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    /// Its name, as includes and messages have it.
    pub name: &'a str,
    /// What is in it.
    pub text: &'a str,
}

/// Why there is no object.
#[derive(Debug)]
pub(crate) enum Failure {
    /// There is no clang.
    Absent,
    /// It could not be run, or its files not be written.
    System(io::Error),
    /// It rejects the source, in these words.
    Rejected(String),
}

/// Compiles a file, which may include others, to a BPF object with BTF.
pub(crate) fn compile(source: Text<'_>, includes: &[Text<'_>]) -> Result<Vec<u8>, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::System)?;
    for file in includes.iter().chain([&source]) {
        fs::write(folder.path().join(file.name), file.text).map_err(Failure::System)?;
    }
    let output = NAMES.into_iter().find_map(|name| run(name, source.name, folder.path()));
    let output = output.ok_or(Failure::Absent)?.map_err(Failure::System)?;
    if !output.status.success() {
        return Err(Failure::Rejected(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    fs::read(folder.path().join("object")).map_err(Failure::System)
}

/// None if there is no such compiler.
fn run(name: &str, source: &str, folder: &Path) -> Option<io::Result<Output>> {
    let output = Command::new(name)
        .args(["-target", "bpf", "-mcpu=v3", "-std=gnu11", "-O2", "-g", "-Wall", "-Werror"])
        .args(["-I.", "-c", source, "-o", "object"])
        .current_dir(folder)
        .output();
    match output {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        output => Some(output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Text<'_> = Text { name: "one.h", text: "#define ONE 1\n" };

    #[test]
    fn a_source_becomes_an_object() {
        let source = Text { name: "one.c", text: "#include \"one.h\"\nint one = ONE;\n" };
        assert!(compile(source, &[HEADER]).unwrap().starts_with(b"\x7fELF"));
    }

    #[test]
    fn a_wrong_source_is_rejected_with_file_and_line() {
        let source = Text { name: "one.c", text: "#include \"one.h\"\nint one = TWO;\n" };
        let Err(Failure::Rejected(words)) = compile(source, &[HEADER]) else { panic!("compiled") };
        assert!(words.starts_with("one.c:2:11: error:"), "{words}");
    }
}
