//! Facts that the kernel reports in files.

use std::fs;
use std::thread::available_parallelism;

/// The capabilities that the testbed uses, with their bits.
const CAPABILITIES: [(&str, u32); 4] =
    [("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", 21), ("CAP_PERFMON", 38), ("CAP_BPF", 39)];

const KERNEL_ALGORITHMS: [&str; 3] = ["reno", "cubic", "bbr"];

/// Smallest memory limit of TCP, in bytes. It is the product of 1 Gbit/s and 160 ms, and a queue of
/// that size, times eight for the overhead of buffers and for other flows.
const TCP_BYTES_MIN: u64 = 8 * 40_000_000;

/// The value found: `Ok` if it is sufficient.
pub(super) type Finding = Result<String, String>;

const STOLEN_PERMILLE_MAX: u64 = 10;

pub(super) fn file(path: &str) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{path}: {error}"))
}

fn text(path: &str) -> Result<String, String> {
    file(path).map(|content| String::from_utf8_lossy(&content).trim().to_owned())
}

pub(super) fn kernel_release() -> Option<String> {
    text("/proc/sys/kernel/osrelease").ok()
}

pub(super) fn privileges() -> Finding {
    let status = text("/proc/self/status")?;
    let missing = missing_capabilities(&status).ok_or("no CapEff in /proc/self/status")?;
    if missing.is_empty() {
        return Ok("all that are needed".into());
    }
    Err(format!("without {}", missing.join(", ")))
}

fn missing_capabilities(status: &str) -> Option<Vec<&'static str>> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let available = u64::from_str_radix(line.trim(), 16).ok()?;
    let missing = CAPABILITIES.into_iter().filter(|(_, bit)| available & (1 << bit) == 0);
    Some(missing.map(|(name, _)| name).collect())
}

/// Find a type of this name in the kernel's BTF, where a zero byte ends each name.
pub(super) fn named_in(btf: &Result<Vec<u8>, String>, name: &str) -> Finding {
    let types = btf.as_ref().map_err(|_| "unknown without the kernel's types".to_owned())?;
    let entry = format!("\0{name}\0");
    if memmem(types, entry.as_bytes()) {
        Ok("there".into())
    } else {
        Err(format!("the kernel has no {name}"))
    }
}

fn memmem(within: &[u8], pattern: &[u8]) -> bool {
    within.windows(pattern.len()).any(|window| window == pattern)
}

pub(super) fn jit() -> Finding {
    match text("/proc/sys/net/core/bpf_jit_enable")?.as_str() {
        "0" => Err("off".into()),
        _ => Ok("on".into()),
    }
}

/// Find the hierarchy of control groups for programs, and the group of this process.
pub(super) fn cgroup2() -> Finding {
    let mounts = text("/proc/self/mountinfo")?;
    let place = mount_of(&mounts, "cgroup2").ok_or("not mounted")?;
    let groups = text("/proc/self/cgroup")?;
    groups
        .lines()
        .find_map(|line| line.strip_prefix("0::"))
        .map(|group| format!("{place}{}", if group == "/" { "" } else { group }))
        .ok_or(format!("{place}, but this process is in no group"))
}

/// Find where a file system of a kind is mounted. Its kind follows a lone hyphen.
fn mount_of<'a>(mounts: &'a str, kind: &str) -> Option<&'a str> {
    mounts.lines().find_map(|line| {
        let (place, about) = line.split_once(" - ")?;
        about.split(' ').next().filter(|&word| word == kind)?;
        place.split(' ').nth(4)
    })
}

pub(super) fn processors() -> Finding {
    let count = available_parallelism().map_err(|error| error.to_string())?.get();
    if count >= 2 { Ok(count.to_string()) } else { Err("one".into()) }
}

/// Check `skb_defer_max`, the most buffers that wait until the processor that allocated them frees
/// them. That is the emulator's processor, which frees them in between.
pub(super) fn deferred_buffers() -> Finding {
    deferred(text("/proc/sys/net/core/skb_defer_max").ok().as_deref())
}

/// Judge the limit. Kernels before 6.0 have none, and let no buffer wait.
fn deferred(most: Option<&str>) -> Finding {
    match most {
        Some("0") | None => Ok("freed by their reader".into()),
        Some(most) => Err(format!("up to {most} buffers wait for the emulator")),
    }
}

/// Check the memory that the kernel grants all TCP sockets together.
pub(super) fn tcp_memory() -> Finding {
    let limits = text("/proc/sys/net/ipv4/tcp_mem")?;
    let pages = limits.split_whitespace().nth(2).and_then(|limit| limit.parse::<u64>().ok());
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    let bytes = pages.zip(page).ok_or("cannot be read")?;
    let bytes = bytes.0.saturating_mul(bytes.1 as u64);
    let shown = format!("{} MB for all sockets", bytes / 1_000_000);
    if bytes >= TCP_BYTES_MIN { Ok(shown) } else { Err(shown) }
}

pub(super) fn kernel_algorithms() -> Finding {
    let available = text("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    let available: Vec<_> = available.split_whitespace().collect();
    let missing: Vec<_> =
        KERNEL_ALGORITHMS.into_iter().filter(|name| !available.contains(name)).collect();
    if missing.is_empty() {
        Ok(KERNEL_ALGORITHMS.join(", "))
    } else {
        Err(format!("without {}", missing.join(", ")))
    }
}

/// Share of this machine's time since its start that its host gave to others.
pub(super) fn stolen() -> Finding {
    let permille = stolen_permille(&text("/proc/stat")?).ok_or("cannot be read")?;
    let shown = format!("{}.{} % since the start", permille / 10, permille % 10);
    if permille <= STOLEN_PERMILLE_MAX { Ok(shown) } else { Err(shown) }
}

/// Compute it from the first eight fields. Guests' times are already part of users' times.
fn stolen_permille(stat: &str) -> Option<u64> {
    let fields = stat.lines().next()?.strip_prefix("cpu")?.split_whitespace();
    let times: Option<Vec<u64>> = fields.take(8).map(|time| time.parse().ok()).collect();
    let times = times.filter(|times| times.len() == 8)?;
    Some(1000 * times[7] / times.iter().sum::<u64>().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_misses_every_capability_and_root_none() {
        let available = |bits| missing_capabilities(&format!("Name:\tx\nCapEff:\t{bits}\n"));
        assert_eq!(available("000001ffffffffff"), Some(vec![]));
        assert_eq!(available("0000000000000000").unwrap().len(), 4);
        assert_eq!(available("000001ffffffefff"), Some(vec!["CAP_NET_ADMIN"]));
        assert_eq!(missing_capabilities("Name:\tx\n"), None);
    }

    #[test]
    fn types_are_found_by_their_whole_names() {
        let btf = Ok(b"\0int\0btf_trace_x\0".to_vec());
        assert!(named_in(&btf, "btf_trace_x").is_ok());
        assert_eq!(named_in(&btf, "trace_x").unwrap_err(), "the kernel has no trace_x");
        assert!(named_in(&Err("no file".into()), "int").unwrap_err().contains("unknown"));
    }

    #[test]
    fn a_mount_is_found_by_its_kind() {
        let mounts = "24 1 0:22 / /sys rw shared:7 - sysfs sysfs rw\n\
                      32 24 0:28 / /sys/fs/cgroup rw - cgroup2 none rw";
        assert_eq!(mount_of(mounts, "cgroup2"), Some("/sys/fs/cgroup"));
        assert_eq!(mount_of(mounts, "cgroup"), None);
    }

    #[test]
    fn buffers_wait_unless_the_kernel_reports_that_none_may() {
        assert!(deferred(None).is_ok());
        assert!(deferred(Some("0")).is_ok());
        assert_eq!(deferred(Some("64")).unwrap_err(), "up to 64 buffers wait for the emulator");
    }

    #[test]
    fn stolen_time_is_a_share_of_all() {
        assert_eq!(stolen_permille("cpu  100 0 100 700 0 0 0 100 50 0\ncpu0 1"), Some(100));
        assert_eq!(stolen_permille("intr 1"), None);
    }
}
