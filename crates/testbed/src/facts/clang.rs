//! The compiler of the algorithms.

use std::process::Command;

use super::Found;

const OLDEST: u32 = 15;
const NAMES: [&str; 9] = [
    "clang", "clang-19", "clang-20", "clang-21", "clang-22", "clang-18", "clang-17", "clang-16",
    "clang-15",
];

/// The first clang on the way that tells its version.
pub(super) fn version() -> Found {
    let (name, line) = NAMES
        .into_iter()
        .find_map(|name| Some((name, first_line(name)?)))
        .ok_or("not installed")?;
    judged(name, &line)
}

fn first_line(name: &str) -> Option<String> {
    let output = Command::new(name).arg("--version").output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}

fn judged(name: &str, line: &str) -> Found {
    match major(line) {
        Some(version) if version >= OLDEST => Ok(format!("{name}: version {version}")),
        Some(version) => Err(format!("{name}: version {version}, older than {OLDEST}")),
        None => Err(format!("{name}: of unknown version ({line})")),
    }
}

fn major(line: &str) -> Option<u32> {
    let (_, version) = line.split_once("version ")?;
    version.split(|digit: char| !digit.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_first_line() {
        assert_eq!(major("Debian clang version 19.1.4 (1~deb12u1)"), Some(19));
        assert_eq!(major("Apple clang version 17.0.0 (clang-1700.0.13.3)"), Some(17));
        assert_eq!(major("gcc (Debian 12.2.0-14) 12.2.0"), None);
    }

    #[test]
    fn an_old_one_will_not_do() {
        assert!(judged("clang", "clang version 15.0.6").is_ok());
        let lacking = judged("clang", "clang version 14.0.6").unwrap_err();
        assert_eq!(lacking, "clang: version 14, older than 15");
    }
}
