//! Folders in which compilers work, within one folder of this user. Each goes with its process.
//!
//! A process that is killed leaves its folders behind. Each has a lock next to it that ends with
//! its process, so the next process removes those of the dead.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;

use tempfile::TempDir;

const LOCK: &str = "lock";

/// A folder of this process. Dropping the value removes the folder.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Make a new, empty folder.
    ///
    /// # Errors
    /// If there is no space for it.
    pub fn new() -> io::Result<Self> {
        static CLEANED: Once = Once::new();
        let home = home()?;
        CLEANED.call_once(|| remove_abandoned(&home));
        Self::within(&home)
    }

    fn within(home: &Path) -> io::Result<Self> {
        loop {
            let folder = tempfile::Builder::new().prefix("work-").tempdir_in(home)?;
            let path = folder.path().with_extension(LOCK);
            let lock = File::create_new(&path)?;
            // Another process may have cleaned up between the two steps, and has removed both then.
            if is_locked_here(&lock)? && path.exists() && folder.path().exists() {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Remove the lock last: no process would ever remove a folder without a lock.
        let _ = fs::remove_dir_all(self.path());
        let _ = fs::remove_file(self.path().with_extension(LOCK));
    }
}

/// This user's folder among those for temporary files. Nobody else can write there.
pub fn home() -> io::Result<PathBuf> {
    let home = std::env::temp_dir().join(name());
    match make(&home) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => other?,
    }
    if is_ours(&home)? {
        return Ok(home);
    }
    let problem = "another user made it, or others may write to it: remove it, or set TMPDIR";
    Err(io::Error::other(format!("{}: {problem}", home.display())))
}

#[cfg(unix)]
fn name() -> String {
    format!("dumbbell-{}", rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn name() -> String {
    "dumbbell".to_owned()
}

#[cfg(unix)]
fn make(home: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(home)
}

#[cfg(not(unix))]
fn make(home: &Path) -> io::Result<()> {
    fs::create_dir(home)
}

#[cfg(unix)]
fn is_ours(home: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = fs::symlink_metadata(home)?;
    let is_mine = metadata.uid() == rustix::process::geteuid().as_raw();
    Ok(metadata.is_dir() && is_mine && metadata.mode() & 0o022 == 0)
}

#[cfg(not(unix))]
fn is_ours(home: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(home)?.is_dir())
}

/// Take a lock that ends with this process; return false if another process has it.
#[cfg(unix)]
fn is_locked_here(lock: &File) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, flock};
    match flock(lock, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        other => Ok(other.map(|()| true)?),
    }
}

/// Without locks, no folder counts as abandoned.
#[cfg(not(unix))]
fn is_locked_here(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Remove the folders of processes that were killed. A folder that cannot be removed stays.
#[cfg(unix)]
fn remove_abandoned(home: &Path) {
    let entries = fs::read_dir(home).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != LOCK) {
            continue;
        }
        let Ok(lock) = File::open(&path) else { continue };
        if is_locked_here(&lock).unwrap_or(false) {
            let _ = fs::remove_dir_all(path.with_extension(""));
            let _ = fs::remove_file(&path);
        }
    }
}

#[cfg(not(unix))]
fn remove_abandoned(_: &Path) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_the_dead_left_is_removed_and_what_the_living_have_is_not() {
        let home = tempfile::tempdir().unwrap();
        let alive = Scratch::within(home.path()).unwrap();
        let dead = Scratch::within(home.path()).unwrap();
        let left = dead.path().to_owned();
        drop(dead);
        // A process that is killed leaves its folder and a lock file that no process has locked.
        fs::create_dir(&left).unwrap();
        fs::write(left.join("adapter.h"), "").unwrap();
        fs::write(left.with_extension(LOCK), "").unwrap();
        remove_abandoned(home.path());
        assert!(alive.path().is_dir() && !left.exists());
        drop(alive);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_folder_is_nobody_elses() {
        assert!(is_ours(&home().unwrap()).unwrap());
        let open = tempfile::tempdir().unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        fs::set_permissions(open.path(), mode).unwrap();
        assert!(!is_ours(open.path()).unwrap());
    }
}
