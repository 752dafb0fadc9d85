//! A compiler's words, shortened to the cause.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{ExitStatus, Output};

use crate::programs::COMPILER_BYTES_MAX;
use crate::scratch;

/// Most bytes of a log that are kept, from its end. Some logs have hundreds of megabytes, and the
/// verifier reports its reason last.
const KEPT_BYTES: usize = 1 << 20;

/// Reason why a user's file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The file.
    pub file: String,
    /// The line at fault; none: unknown.
    pub line: Option<u32>,
    /// The fault and the remedy.
    pub cause: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map_or_else(String::new, |line| format!(":{line}"));
        write!(f, "{}{line}: {}", self.file, self.cause)
    }
}

/// Messages of compilers that reach their limit of memory.
const NO_MEMORY: [&str; 4] =
    ["out of memory", "memory exhausted", "Cannot allocate memory", "std::bad_alloc"];

/// Describe the failure of a compiler on `source`, which messages call `shown`.
#[must_use]
pub fn of_compiler(shown: &str, source: &Path, command: &str, output: &Output) -> Complaint {
    let output_text = &*String::from_utf8_lossy(&output.stderr);
    if NO_MEMORY.iter().any(|sign| output_text.contains(sign)) {
        let most = COMPILER_BYTES_MAX / 1_000_000_000;
        let cause = format!(
            "the compiler took more than {most} GB of memory; valid: macros and tables that end \
             sooner"
        );
        return Complaint { file: shown.to_owned(), line: None, cause };
    }
    let silent = silence(output.status);
    let (line, cause) = first_error(source, output_text).unwrap_or((None, &silent));
    let hint =
        if wants_floats(cause) { " (floating point: the kernel has integers only)" } else { "" };
    let rest = kept(shown, &format!("{command}\n\n{output_text}"));
    Complaint { file: shown.to_owned(), line, cause: format!("{cause}{hint}; {rest}") }
}

fn silence(status: ExitStatus) -> String {
    format!("the compiler failed without a message ({status})")
}

/// Find the first error in `source`, else the first in any file, such as in an included macro. If
/// no message is an error, take the first message. Return its line, if known, and its text.
fn first_error<'a>(source: &Path, output_text: &'a str) -> Option<(Option<u32>, &'a str)> {
    if let Some((line, message)) =
        output_text.lines().find_map(|line| located(line, source, "error: "))
    {
        return Some((Some(line), message));
    }
    let elsewhere = output_text.lines().position(|line| line.contains("error:"));
    let Some(elsewhere) = elsewhere else {
        let first = output_text.lines().find(|line| !line.trim().is_empty());
        return first.map(|message| (None, message));
    };
    let mut lines = output_text.lines().skip(elsewhere);
    let message = lines.next().expect("the line of the error");
    let message = message.split_once("error: ").map_or(message, |(_, rest)| rest);
    let notes = lines.take_while(|line| !line.contains("error:"));
    let used = notes.filter_map(|line| located(line, source, "note: ")).next();
    Some((used.map(|(line, _)| line), message))
}

/// Return true if the compiler misses one of its functions for floating point, such as `__muldf3`.
fn wants_floats(cause: &str) -> bool {
    let function = cause.split_once("built-in function '__").map(|(_, rest)| rest);
    function
        .is_some_and(|name| is_of_floats(&format!("__{}", name.split('\'').next().unwrap_or(""))))
}

/// Return true for the name of a compiler's function for floating point.
pub(crate) fn is_of_floats(function: &str) -> bool {
    function.starts_with("__")
        && ["sf", "df", "tf", "xf"].iter().any(|kind| function.contains(kind))
}

/// Return line and message of `FILE:LINE:COLUMN: KIND: MESSAGE`; none: another kind or file.
fn located<'a>(line: &'a str, source: &Path, kind: &str) -> Option<(u32, &'a str)> {
    let rest = line.strip_prefix(source.to_str()?)?.strip_prefix(':')?;
    let (place, message) = rest.split_once(kind)?;
    Some((place.split(':').next()?.parse().ok()?, message))
}

/// Keep all messages in a file and return a reference to it. The user reads it later, so the file
/// outlives the process. The next complaint about the same algorithm replaces it.
#[must_use]
pub fn kept(shown: &str, all: &str) -> String {
    let stem = Path::new(shown).file_stem().and_then(|stem| stem.to_str());
    let stem = stem.filter(|stem| stem.len() < 100).unwrap_or("algorithm");
    let kept = scratch::home().and_then(|home| {
        let path = home.join(format!("{stem}.log"));
        fs::write(&path, end_of(all)).map(|()| path)
    });
    match kept {
        Ok(path) => format!("all of it is in {}", path.display()),
        Err(error) => format!("all of it could not be kept: {error}"),
    }
}

fn end_of(text: &str) -> &str {
    let begin = text.len().saturating_sub(KEPT_BYTES);
    let begin = (begin..=text.len()).find(|&at| text.is_char_boundary(at));
    &text[begin.expect("the end is a boundary")..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_logs_the_end_is_kept() {
        assert_eq!(end_of(&"é".repeat(KEPT_BYTES)).len(), KEPT_BYTES);
        assert_eq!(end_of("short"), "short");
    }

    #[test]
    fn an_error_in_a_macro_is_reported_at_the_line_that_uses_it() {
        let output_text = "/t/cc.h:9:2: error: static assertion failed: \"too large\"\n\
                    /t/odd.c:7:1: note: in expansion of macro 'CC_ALGORITHM'\n";
        let first = first_error(Path::new("/t/odd.c"), output_text);
        assert_eq!(first, Some((Some(7), "static assertion failed: \"too large\"")));
    }

    #[test]
    fn errors_of_the_file_itself_come_first() {
        let output_text = "/t/cc.h:9:2: error: other\n/t/odd.c:12:3: error: 'x' undeclared\n";
        assert_eq!(
            first_error(Path::new("/t/odd.c"), output_text),
            Some((Some(12), "'x' undeclared"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_signal_that_killed_a_compiler_is_reported() {
        let killed = std::os::unix::process::ExitStatusExt::from_raw(9);
        assert_eq!(first_error(Path::new("/t/odd.c"), ""), None);
        assert_eq!(silence(killed), "the compiler failed without a message (signal: 9 (SIGKILL))");
    }

    #[test]
    fn functions_for_floating_point_are_known_by_name() {
        assert!(is_of_floats("__muldf3") && is_of_floats("__floatsisf"));
        assert!(!is_of_floats("memcpy") && !is_of_floats("__udivti3"));
        assert!(wants_floats("A call to built-in function '__muldf3' is not supported."));
    }
}
