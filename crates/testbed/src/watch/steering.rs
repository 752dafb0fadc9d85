//! The settings of TCP-BPF as the kernel's side reads them: the mirror of
//! `struct steering` (`bpf/watch.c`).

use std::fs;
use std::num::NonZeroU32;

use dumbbell_record::Invalid;
use dumbbell_tcp::TcpBpf;

use crate::error::Error;

/// The settings in their order; 0: not set.
pub fn bytes(settings: &TcpBpf) -> Vec<u8> {
    let TcpBpf {
        cwnd_clamp_segs,
        initial_window_segs,
        send_buffer_bytes,
        receive_buffer_bytes,
        base_rtt_us,
    } = *settings;
    let values = [
        cwnd_clamp_segs,
        initial_window_segs,
        send_buffer_bytes,
        receive_buffer_bytes,
        base_rtt_us,
    ];
    values.into_iter().flat_map(|value| value.map_or(0, NonZeroU32::get).to_ne_bytes()).collect()
}

/// Refuse buffers that the kernel would silently reduce.
pub fn check(settings: &TcpBpf) -> Result<(), Error> {
    check_buffer("send_buffer", settings.send_buffer_bytes, "wmem_max")?;
    check_buffer("receive_buffer", settings.receive_buffer_bytes, "rmem_max")
}

fn check_buffer(key: &str, requested: Option<NonZeroU32>, limit: &str) -> Result<(), Error> {
    let most = fs::read_to_string(format!("/proc/sys/net/core/{limit}"));
    let most = most.ok().and_then(|most| most.trim().parse::<u32>().ok());
    match (requested, most) {
        (Some(requested), Some(most)) if requested.get() > most => Err(Invalid {
            key: format!("tcp_bpf.{key}"),
            problem: format!(
                "{requested} bytes, but this kernel grants programs at most {most}; request less, or \
                 raise that (sysctl net.core.{limit}={requested})"
            ),
        }
        .into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_the_kernel_would_cut_is_refused_by_key() {
        let requested =
            |bytes| TcpBpf { send_buffer_bytes: NonZeroU32::new(bytes), ..Default::default() };
        check(&requested(4_096)).unwrap();
        let refused = check(&requested(u32::MAX)).unwrap_err().to_string();
        assert!(refused.starts_with("tcp_bpf.send_buffer: 4294967295 bytes"), "{refused}");
    }
}
