//! The compiler's and the verifier's words, shortened to the cause.

use std::io::Write as _;
use std::path::Path;

use crate::error::Error;

/// What stands between a program's name and its log, in libbpf's messages.
const LOG_BEGINS: &str = "-- BEGIN PROG LOAD LOG --";
const LOG_ENDS: &str = "-- END PROG LOAD LOG --";

/// The compiler does not take a file.
pub(super) fn of_compiler(shown: &str, source: &Path, command: &str, said: &str) -> Error {
    let found = said.lines().find_map(|line| located(line, source));
    let (line, cause) = found
        .or_else(|| said.lines().find(|line| line.contains("error:")).map(|line| (None, line)))
        .unwrap_or_else(|| (None, said.lines().next().unwrap_or("the compiler says nothing")));
    let rest = kept(shown, &format!("{command}\n\n{said}"));
    Error::Algorithm { file: shown.to_owned(), line, cause: format!("{cause}; {rest}") }
}

/// Line and message, if this is an error in `source`: `FILE:LINE:COLUMN: error: MESSAGE`.
fn located<'a>(line: &'a str, source: &Path) -> Option<(Option<u32>, &'a str)> {
    let rest = line.strip_prefix(source.to_str()?)?.strip_prefix(':')?;
    let (place, message) = rest.split_once("error: ")?;
    let number = place.split(':').next()?.parse().ok()?;
    Some((Some(number), message))
}

/// The verifier does not take a program of an algorithm; none, if it is not to blame.
pub(super) fn of_verifier(name: &str, shown: &str, said: &str) -> Option<Error> {
    let (before, rest) = said.split_once(LOG_BEGINS)?;
    let log = rest.split_once(LOG_ENDS).map_or(rest, |(log, _)| log);
    let program = before.rsplit_once("prog '")?.1.split('\'').next()?;
    let hook = program.strip_prefix("on_").unwrap_or(program);
    let verdict = verdict(log)?;
    let place = source_line(log, &format!("{name}.c"));
    let at = place.map_or_else(String::new, |(_, text)| format!(" (in '{text}')"));
    let rest = kept(shown, said);
    Some(Error::Algorithm {
        file: shown.to_owned(),
        line: place.map(|(line, _)| line),
        cause: format!("the kernel's verifier rejects {hook}: {verdict}{at}; {rest}"),
    })
}

/// The verifier's reason: what it says last, but for its statistics.
fn verdict(log: &str) -> Option<String> {
    let told: Vec<&str> =
        log.lines().map(str::trim).filter(|line| !line.is_empty() && !is_trace(line)).collect();
    let last = *told.last()?;
    // An infinite loop is told before the states that show it.
    let reason = told.iter().find(|line| line.contains("infinite loop")).unwrap_or(&last);
    Some((*reason).to_owned())
}

/// Whether a line shows the verifier's way, not its end: instructions, source lines, the
/// state of registers, statistics.
fn is_trace(line: &str) -> bool {
    const NOISE: [&str; 11] = [
        "processed ",
        "verification time",
        "stack depth",
        "mark_precise",
        "parent state",
        "last_idx",
        "from ",
        "cur state",
        "old state",
        "caller",
        "arg#",
    ];
    line.starts_with(|c: char| c.is_ascii_digit() || c == ';')
        || NOISE.iter().any(|noise| line.starts_with(noise))
        || line.starts_with("R0") && line.contains('=')
        || line.starts_with('R') && line.contains("=") && line.contains("R10=")
}

/// The last line of `file` that the verifier went through: `; TEXT @ FILE:LINE`.
fn source_line<'a>(log: &'a str, file: &str) -> Option<(u32, &'a str)> {
    log.lines().rev().find_map(|line| {
        let (text, place) = line.strip_prefix("; ")?.rsplit_once(" @ ")?;
        let (path, number) = place.rsplit_once(':')?;
        let is_it = Path::new(path).file_name()?.to_str()? == file;
        is_it.then_some((number.trim().parse().ok()?, text.trim()))
    })
}

/// Keeps all that was said in a file and says where; the file outlives the process, since
/// it is to be read.
fn kept(shown: &str, all: &str) -> String {
    let stem =
        Path::new(shown).file_stem().map_or("algorithm".into(), |stem| stem.to_string_lossy());
    let file = tempfile::Builder::new()
        .prefix(&format!("dumbbell-{stem}-"))
        .suffix(".log")
        .tempfile()
        .and_then(|mut file| file.write_all(all.as_bytes()).map(|()| file))
        .and_then(|file| file.keep().map_err(|error| error.error));
    match file {
        Ok((_, path)) => format!("all of it is in {}", path.display()),
        Err(error) => format!("all of it could not be kept: {error}"),
    }
}
