//! Compilers and other programs. They are ended if they are cancelled, take too long, or print too
//! much.

use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Flag for work that nothing cancels.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// Time between two checks of a running program.
const LOOK: Duration = Duration::from_millis(5);

/// Most time that counts towards a program's limit between two checks.
const COUNTED_MAX: Duration = LOOK.saturating_mul(4);

/// Most bytes of output.
const OUTPUT_MAX: u64 = 16 << 20;

/// Address space of a compiler in bytes. A few lines of macros can need any amount of memory.
pub(crate) const COMPILER_BYTES_MAX: u64 = 2_000_000_000;

/// Reason why a program gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// The caller cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// It ran longer than this limit.
    #[error("it was stopped after {} s", .0.as_secs())]
    TooLong(Duration),
    /// Its output was too long.
    #[error("it was stopped after {} MB of output", OUTPUT_MAX >> 20)]
    TooMuch,
    /// It cannot run.
    #[error(transparent)]
    NotRun(#[from] io::Error),
}

/// Run a program and return its status and output.
///
/// # Errors
/// If it cannot run, or was ended together with all processes that it started.
pub fn output_of(
    command: &mut Command,
    cancel: &AtomicBool,
    limit: Duration,
) -> Result<Output, Ended> {
    // Files, because a pipe could fill up before it is read.
    let [mut stdout, mut stderr] = [tempfile::tempfile()?, tempfile::tempfile()?];
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    of_its_own_group(command);
    let mut child = command.spawn()?;
    let mut patience = Patience(limit);
    let status: ExitStatus = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let output_bytes = stdout.metadata()?.len().max(stderr.metadata()?.len());
        let problem = if cancel.load(Ordering::Relaxed) {
            Ended::Cancelled
        } else if patience.0.is_zero() {
            Ended::TooLong(limit)
        } else if output_bytes > OUTPUT_MAX {
            Ended::TooMuch
        } else {
            patience.look(|| sleep(LOOK));
            continue;
        };
        end(&mut child)?;
        return Err(problem);
    };
    let [stdout, stderr] = [&mut stdout, &mut stderr].map(|file| {
        let mut output_bytes = Vec::new();
        file.rewind()?;
        file.take(OUTPUT_MAX).read_to_end(&mut output_bytes)?;
        Ok::<_, io::Error>(output_bytes)
    });
    Ok(Output { status, stdout: stdout?, stderr: stderr? })
}

/// Time that a program has left. A delay of this thread counts only up to [`COUNTED_MAX`]: a
/// machine that delays this thread delays its programs, too.
struct Patience(Duration);

impl Patience {
    fn look(&mut self, wait: impl FnOnce()) {
        let began = Instant::now();
        wait();
        self.0 = self.0.saturating_sub(began.elapsed().min(COUNTED_MAX));
    }
}

/// Limit the memory of a compiler, and of each program that it starts, to `COMPILER_BYTES_MAX`.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn limit_memory(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let allowed = getrlimit(Resource::As).maximum.unwrap_or(u64::MAX);
    let limit = Some(COMPILER_BYTES_MAX.min(allowed));
    let limit = move || Ok(setrlimit(Resource::As, Rlimit { current: limit, maximum: limit })?);
    // SAFETY: between fork and exec it makes one system call, and allocates nothing.
    unsafe { command.pre_exec(limit) };
}

/// Do nothing: other systems have no such limit.
#[cfg(not(target_os = "linux"))]
pub fn limit_memory(_: &mut Command) {}

/// Give the command a process group. Then a compiler's children end with it, and Ctrl-C reaches
/// only the process that waits.
#[cfg(unix)]
fn of_its_own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn of_its_own_group(_: &mut Command) {}

fn end(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // The process may have ended meanwhile.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    child.kill()?;
    child.wait().map(|_| ())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(1000);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn all_output_of_a_program_that_ends_is_returned() {
        let script = "yes complaint | head -c 200000 >&2; echo more; exit 3";
        let output = output_of(&mut shell(script), &NEVER, LONG).unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(3), 200_000));
        assert_eq!(output.stdout, b"more\n");
    }

    #[test]
    fn a_program_that_never_ends_is_ended_with_all_that_it_started() {
        let cancelled = AtomicBool::new(true);
        let mut begins = shell("exec sleep 1000000");
        assert!(matches!(output_of(&mut begins, &cancelled, LONG), Err(Ended::Cancelled)));
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("(sleep 1000000 & echo $! > {}; wait)", file.path().display());
        let limit = Duration::from_millis(300);
        let ended = output_of(&mut shell(&script), &NEVER, limit).unwrap_err();
        assert!(matches!(ended, Ended::TooLong(_)));
        let below = std::fs::read_to_string(file.path()).unwrap();
        let below = rustix::process::Pid::from_raw(below.trim().parse().unwrap()).unwrap();
        let began = Instant::now();
        while rustix::process::test_kill_process(below).is_ok() && !is_dead(below) {
            assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
            sleep(LOOK);
        }
    }

    /// True for a process that is gone, or a zombie, which a slow parent may still have to reap.
    fn is_dead(process: rustix::process::Pid) -> bool {
        let stat = format!("/proc/{}/stat", process.as_raw_nonzero());
        std::fs::read_to_string(stat).map_or(true, |stat| stat.contains(") Z "))
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_compiler_and_what_it_starts_have_a_limit_of_memory() {
        let mut asks = shell("sh -c 'ulimit -v; ulimit -Hv'");
        limit_memory(&mut asks);
        let output = output_of(&mut asks, &NEVER, LONG).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1953125\n1953125\n");
    }

    #[test]
    fn what_a_busy_machine_takes_is_not_counted() {
        let mut patience = Patience(3 * COUNTED_MAX);
        patience.look(|| sleep(50 * COUNTED_MAX));
        assert_eq!(patience.0, 2 * COUNTED_MAX);
        patience.look(|| sleep(COUNTED_MAX / 2));
        assert!((COUNTED_MAX..=2 * COUNTED_MAX - COUNTED_MAX / 2).contains(&patience.0));
    }

    #[test]
    fn a_flood_is_ended() {
        let ended = output_of(&mut shell("yes"), &NEVER, LONG).unwrap_err();
        assert_eq!(ended.to_string(), "it was stopped after 16 MB of output");
    }
}
