//! Compilers and other programs: ended when nobody wants them any more, when they take too long or
//! when they say too much.

use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Of what nobody cancels.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// Between two looks at a program that goes on.
const LOOK: Duration = Duration::from_millis(5);

/// So much of a program's time counts at most between two looks.
const COUNTED_MAX: Duration = LOOK.saturating_mul(4);

/// What a program may say, bytes.
const SAID_MAX: u64 = 16 << 20;

/// Address space of a compiler, bytes: macros of few lines can take any.
pub(crate) const COMPILER_BYTES_MAX: u64 = 2_000_000_000;

/// Why a program came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Ended {
    /// Nobody wants it any more.
    #[error("cancelled")]
    Cancelled,
    /// It went on for too long.
    #[error("it was ended after {} s", .0.as_secs())]
    TooLong(Duration),
    /// It said too much.
    #[error("it was ended after it had said {} MB", SAID_MAX >> 20)]
    TooMuch,
    /// It cannot be run.
    #[error(transparent)]
    NotRun(#[from] io::Error),
}

/// What a program came to and said.
///
/// # Errors
/// If it cannot be run, or had to be ended, with all that it started.
pub fn output_of(
    command: &mut Command,
    cancel: &AtomicBool,
    limit: Duration,
) -> Result<Output, Ended> {
    // A pipe could be full before anybody reads it.
    let [mut stdout, mut stderr] = [tempfile::tempfile()?, tempfile::tempfile()?];
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    of_its_own_group(command);
    let mut child = command.spawn()?;
    let mut patience = Patience(limit);
    let status: ExitStatus = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let said = stdout.metadata()?.len().max(stderr.metadata()?.len());
        let problem = if cancel.load(Ordering::Relaxed) {
            Ended::Cancelled
        } else if patience.0.is_zero() {
            Ended::TooLong(limit)
        } else if said > SAID_MAX {
            Ended::TooMuch
        } else {
            patience.look(|| sleep(LOOK));
            continue;
        };
        end(&mut child)?;
        return Err(problem);
    };
    let [stdout, stderr] = [&mut stdout, &mut stderr].map(|file| {
        let mut said = Vec::new();
        file.rewind()?;
        file.take(SAID_MAX).read_to_end(&mut said)?;
        Ok::<_, io::Error>(said)
    });
    Ok(Output { status, stdout: stdout?, stderr: stderr? })
}

/// The time that a program has left. It passes only as fast as this thread is woken: a machine that
/// holds this process up holds up its programs as well, and that is no fault of theirs.
struct Patience(Duration);

impl Patience {
    fn look(&mut self, wait: impl FnOnce()) {
        let began = Instant::now();
        wait();
        self.0 = self.0.saturating_sub(began.elapsed().min(COUNTED_MAX));
    }
}

/// Limits the memory of a compiler, and of each program that it starts, to `COMPILER_BYTES_MAX`.
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

/// Other systems have no such limit.
#[cfg(not(target_os = "linux"))]
pub fn limit_memory(_: &mut Command) {}

/// What a compiler starts ends with it, and Ctrl-C of a terminal is for whoever waits for it.
#[cfg(unix)]
fn of_its_own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn of_its_own_group(_: &mut Command) {}

fn end(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended by itself meanwhile.
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
    fn a_program_that_ends_tells_what_it_said_however_much_that_is() {
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

    /// Whether nobody but its parent, which may be slow, has to do with it.
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
        assert_eq!(ended.to_string(), "it was ended after it had said 16 MB");
    }
}
