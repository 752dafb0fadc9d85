//! The compiler's and the verifier's words, shortened to the cause.

use std::io::Write as _;
use std::path::Path;

use crate::error::Error;

/// What stands between a program's name and its log, in libbpf's messages.
const LOG_BEGINS: &str = "-- BEGIN PROG LOAD LOG --";
const LOG_ENDS: &str = "-- END PROG LOAD LOG --";
/// What is kept of a log at most: the verifier's may have hundreds of megabytes, and what
/// matters is at its end.
const KEPT_BYTES: usize = 1 << 20;

/// The compiler does not take a file.
pub(super) fn of_compiler(shown: &str, source: &Path, command: &str, said: &str) -> Error {
    let found = said.lines().find_map(|line| located(line, source));
    let (line, cause) = found
        .or_else(|| said.lines().find(|line| line.contains("error:")).map(|line| (None, line)))
        .unwrap_or_else(|| (None, said.lines().next().unwrap_or("the compiler says nothing")));
    let hint =
        if wants_floats(cause) { " (floating point: the kernel has integers only)" } else { "" };
    let rest = kept(shown, &format!("{command}\n\n{said}"));
    Error::Algorithm { file: shown.to_owned(), line, cause: format!("{cause}{hint}; {rest}") }
}

/// Whether the compiler misses a function of its own for floating point, such as
/// `__muldf3`.
fn wants_floats(cause: &str) -> bool {
    let function = cause.split_once("built-in function '__").map(|(_, rest)| rest);
    function.is_some_and(|name| {
        let name = name.split('\'').next().unwrap_or_default();
        ["sf", "df", "tf"].iter().any(|kind| name.contains(kind))
    })
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
        .and_then(|mut file| file.write_all(end_of(all).as_bytes()).map(|()| file))
        .and_then(|file| file.keep().map_err(|error| error.error));
    match file {
        Ok((_, path)) => format!("all of it is in {}", path.display()),
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

    const LOG: &str = "libbpf: prog 'on_cong_avoid': -- BEGIN PROG LOAD LOG --
0: R1=ctx() R10=fp0
; u32 row = odd->row; @ odd.c:14
243: (bc) w2 = w2   ; R2=scalar(id=35)
; return a < b ? a : b; @ cc.h:140
246: (61) r2 = *(u32 *)(r1 +4)
R1 unbounded memory access, make sure to bounds check any such access
processed 269 insns (limit 1000000) max_states_per_insn 0 total_states 11
-- END PROG LOAD LOG --
libbpf: prog 'on_cong_avoid': failed to load: -EACCES
";

    #[test]
    fn the_verifier_is_told_by_reason_and_line_of_the_algorithm() {
        let error = of_verifier("odd", "odd.c", LOG).unwrap().to_string();
        let wanted = "odd.c:14: the kernel's verifier rejects cong_avoid: R1 unbounded memory \
                      access, make sure to bounds check any such access (in 'u32 row = \
                      odd->row;'); all of it is in ";
        let log = error.strip_prefix(wanted).unwrap_or_else(|| panic!("{error}"));
        assert_eq!(std::fs::read_to_string(log).unwrap(), LOG);
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn a_refusal_without_a_verdict_is_not_the_algorithms() {
        assert!(of_verifier("odd", "odd.c", "libbpf: failed to find valid kernel BTF").is_none());
    }

    #[test]
    fn of_long_logs_the_end_is_kept() {
        assert_eq!(end_of(&"é".repeat(KEPT_BYTES)).len(), KEPT_BYTES);
        assert_eq!(end_of("short"), "short");
    }
}
