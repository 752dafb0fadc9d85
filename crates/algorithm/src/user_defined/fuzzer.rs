//! Random calls on algorithms, made by a separate program (`fuzz.c`).

use std::borrow::Cow;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;

use super::compiler::Sources;
use super::error::LoadError;
use crate::programs::Ended;

const PROGRAM: &str = include_str!("../fuzz.c");

/// Property that the fuzzer checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// All calls keep C's rules: the sanitizers find nothing.
    Rules,
    /// Windows stay within their limits.
    Limits,
    /// The same calls end with the same bytes.
    Repeat,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Rules, Self::Limits, Self::Repeat];

    const fn argument(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Limits => "limits",
            Self::Repeat => "repeat",
        }
    }
}

/// Result of one part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fuzzed {
    /// The property that was checked.
    pub part: Part,
    /// True if no call violated it; none: it was not checked.
    pub passed: Option<bool>,
    /// True if a hook does not end.
    pub endless: bool,
    /// Number of calls, the violation, or the reason why nothing was checked. The first line is a
    /// summary; one line for each call follows.
    pub message: String,
}

/// Longest time for a part, and the extra time for each algorithm.
const PATIENCE: Duration = Duration::from_secs(60);
const PATIENCE_EACH: Duration = Duration::from_secs(5);

/// Exit code of the program if a hook does not end.
const EXIT_ENDLESS: i32 = 3;

/// Name of the program's file. No algorithm can have it, as it is no identifier.
const PROGRAM_FILE: &str = "random-calls.c";
const PROGRAM_OBJECT: &str = "random-calls.o";
const CHECKED_PROGRAM: &str = "checked-calls.o";
/// Most of a check's time is that of the compiler, and most of that is for the program.
const PROGRAM_OPTIONS: [&str; 2] = ["-Og", "-c"];
/// The program with algorithms without optimisation: a compiler that optimises gives a variable
/// that was never set any value that it likes.
const LITERAL: &str = "literal";
const EMPTY_FILE: &str = "no-calls.c";

/// The fuzzer for some algorithms.
#[derive(Debug)]
pub struct Fuzzer<'a> {
    sources: Sources<'a>,
    names: Vec<String>,
    patience: Duration,
}

impl<'a> Fuzzer<'a> {
    /// Build it for algorithms of these names and sources.
    ///
    /// # Errors
    /// If there is no compiler, they do not compile, or it is cancelled.
    pub fn new(algorithms: &[(&str, &str)], cancel: &'a AtomicBool) -> Result<Self, LoadError> {
        let sources = Sources::new(algorithms, cancel)?;
        sources.add(PROGRAM_FILE, PROGRAM)?;
        let names: Vec<_> = algorithms.iter().map(|(name, _)| (*name).to_owned()).collect();
        let patience = PATIENCE + PATIENCE_EACH * u32::try_from(names.len()).unwrap_or(0);
        let fuzzer = Self { sources, names, patience };
        let program = fuzzer.compile(PROGRAM_OBJECT, &PROGRAM_OPTIONS, &[PROGRAM_FILE])?;
        program.map_err(|messages| fuzzer.refused(messages))?;
        let literal = fuzzer.compile(LITERAL, &["-O0"], &fuzzer.files(PROGRAM_OBJECT))?;
        literal.map_err(|messages| fuzzer.refused(messages))?;
        Ok(fuzzer)
    }

    /// Check a property.
    ///
    /// # Errors
    /// If the program cannot run, or it is cancelled.
    pub fn run(&self, part: Part) -> Result<Fuzzed, LoadError> {
        let program = match part {
            Part::Rules => match self.sanitized()? {
                Ok(program) => program,
                Err(why) => {
                    let message = format!("the compiler has no sanitizers: {why}");
                    return Ok(Fuzzed { part, passed: None, endless: false, message });
                }
            },
            Part::Limits | Part::Repeat => self.sources.path(LITERAL),
        };
        let mut command = Command::new(program);
        // Leak detection needs ptrace, which containers forbid, and algorithms allocate nothing.
        command.arg(part.argument()).env("ASAN_OPTIONS", "detect_leaks=0");
        command.env("UBSAN_OPTIONS", "print_stacktrace=0");
        let output = match self.sources.run(&mut command, self.patience) {
            Ok(output) => output,
            Err(Ended::Cancelled) => return Err(LoadError::Cancelled),
            Err(Ended::NotRun(error)) => {
                let remedy = "see whether programs may be run in the temporary folder (TMPDIR)";
                return Err(LoadError::machine("cannot run the fuzzer", &error, remedy));
            }
            Err(ended) => {
                let message = format!("the calls do not end: {ended}");
                return Ok(Fuzzed { part, passed: Some(false), endless: true, message });
            }
        };
        let message = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
        let messages = String::from_utf8_lossy(&output.stderr);
        let why = messages.lines().find_map(|line| of_sanitizer(line, &messages));
        let message = why.map_or(message.clone(), |why| format!("{why}\n{message}"));
        let endless = output.status.code() == Some(EXIT_ENDLESS);
        Ok(Fuzzed { part, passed: Some(output.status.success()), endless, message })
    }

    /// Check all properties, up to one for which a hook does not end: it would not end for the
    /// others either.
    ///
    /// # Errors
    /// As `run`.
    pub fn run_all(&self) -> Result<Vec<Fuzzed>, LoadError> {
        let mut all = Vec::new();
        for part in Part::ALL {
            all.push(self.run(part)?);
            if all.last().is_some_and(|fuzzed| fuzzed.endless) {
                break;
            }
        }
        Ok(all)
    }

    /// Build all with sanitizers; the inner error: the compiler has none.
    fn sanitized(&self) -> Result<Result<PathBuf, String>, LoadError> {
        // Without warnings: the code for sanitizers causes new ones, and the other build has
        // checked the files.
        let options = [
            "-O1",
            "-g",
            "-w",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-fno-omit-frame-pointer",
        ];
        // So that accesses beyond its variables are seen; its own rules are not in question.
        let of_program = [&PROGRAM_OPTIONS[..], &["-w", "-fsanitize=address"]].concat();
        let built = match self.compile(CHECKED_PROGRAM, &of_program, &[PROGRAM_FILE])? {
            Ok(_) => self.compile("sanitized", &options, &self.files(CHECKED_PROGRAM))?,
            Err(messages) => Err(messages),
        };
        if let Err(messages) = &built {
            self.sources.add(EMPTY_FILE, "int main(void) { return 0; }\n")?;
            if self.compile("empty", &options, &[EMPTY_FILE])?.is_ok() {
                return Err(self.refused(messages.clone()));
            }
        }
        Ok(built)
    }

    fn files<'b>(&self, program: &'b str) -> Vec<Cow<'b, str>> {
        let algorithms = self.names.iter().map(|name| Cow::from(format!("{name}.c")));
        std::iter::once(Cow::from(program)).chain(algorithms).collect()
    }

    fn refused(&self, messages: String) -> LoadError {
        let file = self.names.first().map_or("", String::as_str);
        LoadError::file(&format!("{file}.c"), None, messages)
    }

    /// Run the compiler; the inner error: its first message.
    fn compile(
        &self,
        output: &str,
        options: &[&str],
        files: &[impl AsRef<str>],
    ) -> Result<Result<PathBuf, String>, LoadError> {
        let listed: String = self.names.iter().map(|name| format!("X({name}) ")).collect();
        let options = options.iter().map(ToString::to_string);
        let options = options.chain([format!("-DALGORITHMS={listed}")]);
        let files: Vec<&str> = files.iter().map(AsRef::as_ref).collect();
        let path = self.sources.path(output);
        let output = self.sources.compile(options, &files, &path)?;
        let messages = String::from_utf8_lossy(&output.stderr);
        let first = messages.lines().find(|line| {
            ["error", "cannot find", "multiple definition"].iter().any(|it| line.contains(it))
        });
        let first = first.or(messages.lines().next()).unwrap_or("it prints no reason").to_owned();
        Ok(if output.status.success() { Ok(path) } else { Err(first) })
    }
}

/// A sanitizer's finding, with file and line but without folders; none: the line has none.
fn of_sanitizer(line: &str, messages: &str) -> Option<String> {
    if let Some((place, message)) = line.split_once(": runtime error: ") {
        return Some(format!("{}: {message}", file_of(place)));
    }
    let (_, message) = line.split_once("ERROR: AddressSanitizer: ")?;
    let kind = message.split_whitespace().next()?;
    let frames = messages.lines().filter(|line| line.trim_start().starts_with('#'));
    let place = frames.filter_map(|line| line.rsplit_once(' ')).map(|(_, place)| place);
    let place = place.map(file_of).find(|place| place.contains(".c:"));
    Some(place.map_or(kind.to_owned(), |place| format!("{place}: {kind}")))
}

fn file_of(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or(place)
}
