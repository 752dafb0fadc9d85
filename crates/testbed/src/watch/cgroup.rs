//! The cgroup of this process, to which programs for its sockets are attached.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Open the folder of the cgroup (version 2) in which this process runs.
pub fn open() -> Result<File, Error> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let path = path_of_process(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
    let path = path.ok_or_else(|| Error::Machine {
        what: "cannot watch the sockets of a run".into(),
        cause: "no cgroup2 file system is mounted, or this process is in none of its groups".into(),
        remedy: "mount one (mount -t cgroup2 none /sys/fs/cgroup): see dumbbell doctor".into(),
    })?;
    File::open(&path).map_err(|error| Error::Machine {
        what: format!("cannot open the cgroup {}", path.display()),
        cause: error.to_string(),
        remedy: "run as root, where cgroups are accessible: see dumbbell doctor".into(),
    })
}

/// Find the folder in the tables of mounts and of cgroups of a process.
fn path_of_process(mounts: &str, groups: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        if !right.starts_with("cgroup2 ") {
            return None;
        }
        let fields: Vec<_> = left.split(' ').collect();
        let (root, mount) = (fields.get(3)?, unescape(fields.get(4)?));
        let inside = Path::new(group).strip_prefix(root).ok()?;
        Some(Path::new(&mount).join(inside))
    })
}

/// Decode a path of the table of mounts, where spaces and similar characters are octal numbers.
fn unescape(path: &str) -> String {
    let mut parts = path.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                plain.push(char::from(code));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cgroup_is_found_wherever_it_is_mounted() {
        let cases = [
            ("41 31 0:38 / /cg/unified rw - cgroup2 cgroup2 rw", "9:cpu:/a\n0::/", "/cg/unified"),
            ("25 1 0:2 / / rw - ext4 x rw\n3 25 0:8 / /cg rw - cgroup2 c rw", "0::/a/b", "/cg/a/b"),
            ("3 25 0:8 /box /cg rw - cgroup2 c rw", "0::/box/a", "/cg/a"),
            ("3 25 0:8 / /a\\040b\\x rw - cgroup2 c rw", "0::/c", "/a b\\x/c"),
        ];
        for (mounts, groups, expected) in cases {
            assert_eq!(
                path_of_process(mounts, groups).as_deref(),
                Some(Path::new(expected)),
                "{mounts}"
            );
        }
    }

    #[test]
    fn without_one_there_is_none() {
        assert_eq!(path_of_process("3 25 0:8 / /cg rw - cgroup c rw", "0::/"), None);
        assert_eq!(path_of_process("3 25 0:8 /other /cg rw - cgroup2 c rw", "0::/box"), None);
        assert_eq!(path_of_process("3 25 0:8 / /cg rw - cgroup2 c rw", "1:cpu:/"), None);
    }
}
