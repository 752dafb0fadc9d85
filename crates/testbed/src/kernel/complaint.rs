//! The verifier's words, shortened to the cause. For the compiler's see
//! [`dumbbell_algorithm::complaint`].

use std::path::Path;

use dumbbell_algorithm::complaint::kept;

use crate::error::Error;

/// Text between a program's name and its log, in libbpf's messages.
const LOG_BEGINS: &str = "-- BEGIN PROG LOAD LOG --";
const LOG_ENDS: &str = "-- END PROG LOAD LOG --";

/// Describe why the verifier refuses a program of an algorithm; none: it is not the cause.
pub(super) fn of_verifier(name: &str, shown: &str, output: &str) -> Option<Error> {
    let (before, rest) = output.split_once(LOG_BEGINS)?;
    let log = rest.split_once(LOG_ENDS).map_or(rest, |(log, _)| log);
    let program = before.rsplit_once("prog '")?.1.split('\'').next()?;
    let hook = program.strip_prefix("on_").unwrap_or(program);
    let verdict = verdict(log)?;
    let place = source_line(log, &format!("{name}.c"));
    let at = place.map_or_else(String::new, |(_, text)| format!(" (in '{text}')"));
    let rest = kept(shown, output);
    Some(Error::Algorithm {
        file: shown.to_owned(),
        line: place.map(|(line, _)| line),
        cause: format!("the kernel's verifier rejects {hook}: {verdict}{at}; {rest}"),
    })
}

/// The verifier's reason: its last line before the statistics.
fn verdict(log: &str) -> Option<String> {
    let lines: Vec<&str> =
        log.lines().map(str::trim).filter(|line| !line.is_empty() && !is_trace(line)).collect();
    let last = *lines.last()?;
    // The line on an infinite loop comes before the states that prove it.
    let reason = lines.iter().find(|line| line.contains("infinite loop")).unwrap_or(&last);
    Some((*reason).to_owned())
}

/// Return true for lines of the verifier's trace: instructions, source lines, states of registers,
/// and statistics.
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

/// The last line of `file` that the verifier reached: `; TEXT @ FILE:LINE`.
fn source_line<'a>(log: &'a str, file: &str) -> Option<(u32, &'a str)> {
    log.lines().rev().find_map(|line| {
        let (text, place) = line.strip_prefix("; ")?.rsplit_once(" @ ")?;
        let (path, number) = place.rsplit_once(':')?;
        let is_it = Path::new(path).file_name()?.to_str()? == file;
        is_it.then_some((number.trim().parse().ok()?, text.trim()))
    })
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
    fn the_verifier_is_quoted_with_reason_and_line() {
        let error = of_verifier("odd", "odd.c", LOG).unwrap().to_string();
        let expected = "odd.c:14: the kernel's verifier rejects cong_avoid: R1 unbounded memory \
                      access, make sure to bounds check any such access (in 'u32 row = \
                      odd->row;'); all of it is in ";
        let log = error.strip_prefix(expected).unwrap_or_else(|| panic!("{error}"));
        assert_eq!(std::fs::read_to_string(log).unwrap(), LOG);
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn a_refusal_without_a_verdict_is_not_the_algorithms() {
        assert!(of_verifier("odd", "odd.c", "libbpf: failed to find valid kernel BTF").is_none());
    }
}
