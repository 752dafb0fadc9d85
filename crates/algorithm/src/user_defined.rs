//! A user's own algorithm: one C file, compiled by this machine's compiler and loaded into this
//! process.
//!
//! An entry remains for the life of the process. The same source under the same name is the same
//! entry. Another source under a known name is another entry, so a notebook may load a file again
//! after a change. A name alone does not identify an entry: each run has a separate list
//! ([`crate::Algorithms`]).

mod compiler;
mod error;
mod examine;
mod fuzzer;

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use crate::ffi::{self, INTERFACE};
use crate::programs::NEVER;
use crate::registry::{Algorithm, registry};
use sha2::{Digest, Sha256};

use compiler::Sources;
pub use error::LoadError;
pub use examine::{Anatomy, examine};
pub use fuzzer::{Fuzzed, Fuzzer, Part};

/// All loaded algorithms.
static LOADED: Mutex<Vec<&'static Algorithm>> = Mutex::new(Vec::new());

/// Names with another meaning in places that name algorithms.
const RESERVED: [&str; 1] = ["udp"];

/// Compile, check and register the algorithm `name` from this source. Messages call its file
/// `shown`.
///
/// # Errors
/// If the name is not valid, there is no compiler, the source does not compile, or its registration
/// is not complete.
pub fn load(name: &str, code: &str, shown: &str) -> Result<&'static Algorithm, LoadError> {
    load_unless(name, code, shown, &NEVER)
}

/// As [`load`], unless `cancel` is set meanwhile.
///
/// # Errors
/// As for [`load`].
pub fn load_unless(
    name: &str,
    code: &str,
    shown: &str,
    cancel: &AtomicBool,
) -> Result<&'static Algorithm, LoadError> {
    check_name(name, shown)?;
    // Keep the lock while it compiles, so that no other thread compiles the same source.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let hash = source_hash(code);
    if let Some(known) = loaded.iter().find(|known| known.name == name && known.source_hash == hash)
    {
        return Ok(known);
    }
    check_registration(name, code, shown)?;
    let sources = Sources::new(&[(name, code)], cancel)?;
    let object = sources.shared_object(&format!("{name}.c"), shown)?;
    let table = ffi::open(&object, name)
        .and_then(|table| table.check(name).map(|()| table))
        .map_err(|problem| LoadError::file(shown, None, problem))?;
    let code = Box::leak(code.to_owned().into_boxed_str());
    let algorithm = Algorithm::new(table, Box::leak(hash.into_boxed_str()), code);
    let algorithm: &'static Algorithm = Box::leak(Box::new(algorithm));
    loaded.push(algorithm);
    Ok(algorithm)
}

/// Refuse a name that no user-defined algorithm can have.
///
/// # Errors
/// If it is no C identifier, is reserved, or belongs to a built-in algorithm.
pub fn check_name(name: &str, shown: &str) -> Result<(), LoadError> {
    let refuse = |problem: String| Err(LoadError::file(shown, None, problem));
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !letters || name.is_empty() || name.as_bytes()[0].is_ascii_digit() {
        return refuse(format!(
            "'{name}' cannot name an algorithm, since its functions begin with it: letters, \
             digits and _, not a digit first; rename the file, such as my_cc.c"
        ));
    }
    if RESERVED.contains(&name) || registry().iter().any(|known| known.name == name) {
        let whose = if RESERVED.contains(&name) { "reserved" } else { "built in" };
        return refuse(format!(
            "'{name}' is {whose}; rename the file and what it registers, such as my_{name}.c"
        ));
    }
    Ok(())
}

/// Refuse a file that registers another name or none. Otherwise only opening it would fail.
fn check_registration(name: &str, code: &str, shown: &str) -> Result<(), LoadError> {
    let registered = |(at, _): (usize, &str)| {
        let rest = code[at..].strip_prefix("CC_ALGORITHM")?.trim_start().strip_prefix('(')?;
        let end = rest.trim_start().find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let line = 1 + code[..at].matches('\n').count();
        Some((u32::try_from(line).ok()?, rest.trim_start()[..end].to_owned()))
    };
    let registrations: Vec<_> = code.match_indices("CC_ALGORITHM").filter_map(registered).collect();
    if registrations.is_empty() {
        let problem = format!("registers no algorithm; end it with CC_ALGORITHM({name}, ...)");
        return Err(LoadError::file(shown, None, problem));
    }
    if registrations.iter().all(|(_, other)| other != name) {
        let (line, other) = &registrations[0];
        let problem = format!(
            "registers '{other}', but an algorithm is called as its file; rename the file to \
             {other}.c, or '{other}' to '{name}'"
        );
        return Err(LoadError::file(shown, Some(*line), problem));
    }
    Ok(())
}

/// SHA-256 over the source and the headers that it may include, as for built-in algorithms.
pub fn source_hash(code: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(code);
    INTERFACE.iter().for_each(|(_, text)| hash.update(text));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
