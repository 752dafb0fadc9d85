//! Facts about this machine that the testbed needs; the checks leave nothing behind.

mod probe;
mod read;

use serde::Serialize;

use read::Finding;

/// Abilities of a machine.
#[derive(Debug, Serialize)]
pub struct Facts {
    /// Release of the kernel; none: unknown.
    pub kernel: Option<String>,
    /// True if the testbed can run.
    pub ready: bool,
    /// The facts, in the order in which they depend on each other.
    pub facts: Vec<Fact>,
}

/// One ability of a machine.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Its name.
    pub name: &'static str,
    /// Its value on this machine.
    pub state: String,
    /// True if the value is sufficient.
    pub ok: bool,
    /// True if the testbed cannot run without it.
    pub required: bool,
    /// The features that need it.
    pub needed_for: &'static str,
    /// The remedy; none: none is necessary.
    pub remedy: Option<&'static str>,
}

/// Examine this machine.
#[must_use]
pub fn facts() -> Facts {
    let btf = read::file("/sys/kernel/btf/vmlinux");
    let facts: Vec<Fact> =
        [privileges(), kernel(&btf), hosts(), machine()].into_iter().flatten().collect();
    Facts {
        kernel: read::kernel_release(),
        ready: facts.iter().all(|fact| fact.ok || !fact.required),
        facts,
    }
}

const ALGORITHMS: &str = "algorithms in the kernel";
const HOSTS: &str = "hosts";
const KERNEL: &str = "a kernel that was built so, such as Debian's or Fedora's of 2023 or later";
const ROOT: &str = "run as root, in containers with --privileged";

fn privileges() -> Vec<Fact> {
    vec![
        required("this build", Ok("with the testbed".into()), "everything", ""),
        required(
            "system",
            read::kernel_release()
                .map(|release| format!("Linux {release}"))
                .ok_or("unknown".into()),
            "everything",
            "Linux 6.10 or later",
        ),
        required("privileges", read::privileges(), "everything", ROOT),
    ]
}

fn kernel(btf: &Result<Vec<u8>, String>) -> Vec<Fact> {
    vec![
        required(
            "kernel types (BTF)",
            btf.as_ref().map(|types| format!("{} kB", types.len() / 1000)).map_err(Clone::clone),
            ALGORITHMS,
            KERNEL,
        ),
        required(
            "congestion control in BPF",
            read::named_in(btf, "bpf_struct_ops_tcp_congestion_ops")
                .and_then(|_| probe::struct_ops()),
            ALGORITHMS,
            KERNEL,
        ),
        required(
            "congestion events",
            read::named_in(btf, "btf_trace_tcp_cong_state_set"),
            "counting reductions of windows",
            "Linux 6.10 or later, built with tracepoints",
        ),
        advised(
            "BPF compiled (JIT)",
            read::jit(),
            "algorithms at their full speed",
            "sysctl -w net.core.bpf_jit_enable=1",
        ),
        required(
            "clang",
            probe::compiler(),
            ALGORITHMS,
            "apt install clang-19, or clang of 15 or later",
        ),
    ]
}

fn hosts() -> Vec<Fact> {
    vec![
        required("network namespaces", probe::namespace(), HOSTS, ROOT),
        required(
            "TUN devices",
            probe::tun(),
            HOSTS,
            "modprobe tun; in containers, pass /dev/net/tun on",
        ),
        required(
            "control groups (cgroup2)",
            read::cgroup2(),
            "watching sockets",
            "mount -t cgroup2 none /sys/fs/cgroup",
        ),
    ]
}

fn machine() -> Vec<Fact> {
    vec![
        advised(
            "processors",
            read::processors(),
            "an emulator in time: one for it, one for the hosts",
            "run at lower rates; runs that come too late are marked invalid",
        ),
        advised(
            "data that applications have read",
            read::deferred_buffers(),
            "many flows at a time: the emulator's processor frees it",
            "sysctl -w net.core.skb_defer_max=0; runs that suffer are marked invalid",
        ),
        advised(
            "memory for TCP",
            read::tcp_memory(),
            "windows of long, fast paths",
            "more memory, or sysctl net.ipv4.tcp_mem",
        ),
        advised(
            "the kernel's own algorithms",
            read::kernel_algorithms(),
            "comparing our reno, cubic and bbr with them",
            "modprobe tcp_bbr; other comparisons work without",
        ),
        advised(
            "time lost to others",
            read::stolen(),
            "an emulator in time",
            "a dedicated machine, or fewer neighbours; runs that suffer are marked invalid",
        ),
    ]
}

fn required(
    name: &'static str,
    state: Finding,
    needed_for: &'static str,
    remedy: &'static str,
) -> Fact {
    Fact { required: true, ..advised(name, state, needed_for, remedy) }
}

fn advised(
    name: &'static str,
    state: Finding,
    needed_for: &'static str,
    remedy: &'static str,
) -> Fact {
    let ok = state.is_ok();
    Fact {
        name,
        state: state.unwrap_or_else(|missing| missing),
        ok,
        required: false,
        needed_for,
        remedy: (!ok).then_some(remedy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_need_comes_with_a_remedy() {
        let missing = required("wings", Err("none".into()), "flying", "grow some");
        assert_eq!((missing.ok, missing.state.as_str()), (false, "none"));
        assert_eq!(missing.remedy, Some("grow some"));
        assert_eq!(required("feet", Ok("two".into()), "walking", "").remedy, None);
    }

    #[test]
    fn the_testbed_is_ready_if_nothing_required_is_missing() {
        let machine = facts();
        let missing = machine.facts.iter().filter(|fact| fact.required && !fact.ok).count();
        assert_eq!(machine.ready, missing == 0);
        assert!(machine.kernel.is_some());
    }
}
