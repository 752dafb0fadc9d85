//! Facts about an algorithm that its compiled code shows.

use std::process::Command;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::compiler::{PATIENCE, Sources};
use super::error::LoadError;
use crate::complaint::is_of_floats;
use crate::ffi::{self, STATE_BYTES};

/// Functions that compilers call without being asked, to copy and clear memory. BPF compilers
/// inline them.
const COMPILERS_OWN: [&str; 4] = ["memcpy", "memmove", "memset", "memcmp"];

/// Contents and needs of an algorithm's compiled code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Anatomy {
    /// Size of its state in bytes.
    pub state_bytes: u32,
    /// Bytes that the kernel grants it.
    pub state_bytes_max: usize,
    /// Functions that it calls and does not contain; none: unknown, as without `nm`.
    pub outside: Option<Vec<String>>,
    /// Evidence of floating point; none: it uses none.
    pub floats: Option<String>,
}

/// Compile an algorithm once more and examine the result.
///
/// # Errors
/// If it does not compile.
pub fn examine(
    name: &str,
    code: &str,
    shown: &str,
    cancel: &AtomicBool,
) -> Result<Anatomy, LoadError> {
    let sources = Sources::new(&[(name, code)], cancel)?;
    let object = sources.shared_object(&format!("{name}.c"), shown)?;
    let state_bytes =
        ffi::state_bytes(&object, name).map_err(|problem| LoadError::file(shown, None, problem))?;
    let (outside, floats) = used_by(&sources, name)?;
    Ok(Anatomy { state_bytes, state_bytes_max: STATE_BYTES, outside, floats })
}

/// Find undefined functions and evidence of floating point. Without registers for it, a compiler
/// refuses floating point or calls functions of its runtime library.
fn used_by(
    sources: &Sources<'_>,
    name: &str,
) -> Result<(Option<Vec<String>>, Option<String>), LoadError> {
    let (file, object) = (format!("{name}.c"), sources.path("object.o"));
    let options = |more: &[&str]| {
        ["-O2", "-c"].iter().chain(more).map(ToString::to_string).collect::<Vec<_>>().into_iter()
    };
    let integers = sources.compile(options(&["-mgeneral-regs-only"]), &[&file], &object)?;
    let messages = String::from_utf8_lossy(&integers.stderr);
    let knows_option = integers.status.success() || !messages.contains("general-regs-only");
    if knows_option && !integers.status.success() {
        let error_line = messages.lines().find_map(|line| line.split_once("error: "));
        let error_line =
            error_line.map_or("the compiler needs registers for it", |(_, message)| message);
        sources.compile(options(&[]), &[&file], &object)?;
        return Ok((undefined(sources), Some(error_line.to_owned())));
    }
    if !knows_option {
        sources.compile(options(&[]), &[&file], &object)?;
    }
    let outside = undefined(sources);
    let floats = outside.iter().flatten().find(|function| is_of_floats(function)).cloned();
    let outside =
        outside.map(|names| names.into_iter().filter(|name| !is_of_floats(name)).collect());
    Ok((outside, floats))
}

/// Functions that the object does not contain, except those that compilers add.
fn undefined(sources: &Sources<'_>) -> Option<Vec<String>> {
    let mut command = Command::new("nm");
    command.arg("-u").arg(sources.path("object.o"));
    let output = sources.run(&mut command, PATIENCE).ok()?;
    let listed = String::from_utf8(output.stdout).ok()?;
    let names = listed.lines().filter_map(|line| line.split_whitespace().last());
    let prefix = if cfg!(target_os = "macos") { "_" } else { "" };
    let names = names.map(|name| name.strip_prefix(prefix).unwrap_or(name));
    output.status.success().then(|| {
        names
            .filter(|name| !COMPILERS_OWN.contains(name) && *name != "_GLOBAL_OFFSET_TABLE_")
            .map(ToOwned::to_owned)
            .collect()
    })
}
