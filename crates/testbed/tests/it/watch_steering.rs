//! TCP-BPF: settings of connections by a program while they are set up.

use std::num::NonZeroU32;
use std::os::fd::AsFd;
use std::time::Duration;

use crate::alone::undisturbed;
use crate::watched::{Path, bulk, tcp_info};
use dumbbell_tcp::TcpBpf;
use dumbbell_testbed::{NEVER, Watch};
use socket2::Socket;

const PORT: u16 = 1_030;

/// A connection with these settings, over a path with a round trip of 40 ms.
fn steered(settings: &TcpBpf) -> (Path, Watch, (Socket, Socket)) {
    let path = Path::new(Duration::from_millis(20));
    let watch = Watch::load(&[&path.sender, &path.receiver], &NEVER).unwrap();
    watch.steer(PORT, settings).unwrap();
    let ends = path.connect(PORT);
    (path, watch, ends)
}

/// Send for a second; return the most segments that were outstanding.
fn most_outstanding(ends: &(Socket, Socket)) -> u32 {
    let mut outstanding = 0;
    bulk(ends, Duration::from_secs(1), || {
        outstanding = outstanding.max(tcp_info(&ends.0).tcpi_unacked);
    });
    outstanding
}

#[test]
fn the_window_stays_within_its_clamp() {
    undisturbed(|| {
        let clamp = TcpBpf { cwnd_clamp_segs: NonZeroU32::new(25), ..TcpBpf::default() };
        let (_path, _watch, ends) = steered(&clamp);
        assert_eq!(tcp_info(&ends.0).tcpi_snd_cwnd, 10, "a small initial window is left alone");
        let mut largest = 0;
        bulk(&ends, Duration::from_millis(400), || {
            largest = largest.max(tcp_info(&ends.0).tcpi_snd_cwnd);
        });
        assert_eq!(largest, 25);
        assert_eq!(most_outstanding(&ends), 25);
    });
}

#[test]
fn the_initial_window_is_as_set_or_at_most_the_clamp() {
    undisturbed(|| {
        let initial = |clamp, initial| {
            let (cwnd_clamp_segs, initial_window_segs) =
                (NonZeroU32::new(clamp), NonZeroU32::new(initial));
            let settings = TcpBpf { cwnd_clamp_segs, initial_window_segs, ..TcpBpf::default() };
            let (_path, _watch, ends) = steered(&settings);
            tcp_info(&ends.0).tcpi_snd_cwnd
        };
        assert_eq!(initial(0, 32), 32);
        assert_eq!(initial(4, 0), 4);
        assert_eq!(initial(16, 12), 12);
        assert_eq!(initial(4, 12), 4);
    });
}

#[test]
fn the_receive_buffer_limits_what_is_outstanding() {
    undisturbed(|| {
        let bytes = 40 * 1_448;
        let settings = TcpBpf { receive_buffer_bytes: NonZeroU32::new(bytes), ..TcpBpf::default() };
        let (_path, _watch, ends) = steered(&settings);
        assert_eq!(ends.1.recv_buffer_size().unwrap(), 2 * bytes as usize);
        let outstanding = most_outstanding(&ends);
        // At first, half of twice the size is payload. Then the kernel measures how much memory
        // packets take.
        assert!((36..=52).contains(&outstanding), "{outstanding} segments were outstanding");
    });
}

#[test]
fn the_send_buffer_limits_what_is_outstanding() {
    undisturbed(|| {
        let bytes = 40 * 1_448;
        let settings = TcpBpf { send_buffer_bytes: NonZeroU32::new(bytes), ..TcpBpf::default() };
        let (_path, _watch, ends) = steered(&settings);
        assert_eq!(ends.0.send_buffer_size().unwrap(), 2 * bytes as usize);
        let outstanding = most_outstanding(&ends);
        // Twice the size is payload, and a chunk that began within it is filled: 64 KB.
        assert!((70..=126).contains(&outstanding), "{outstanding} segments were outstanding");
    });
}

#[test]
fn the_base_rtt_is_kept_with_the_socket() {
    undisturbed(|| {
        let settings = TcpBpf { base_rtt_us: NonZeroU32::new(40_000), ..TcpBpf::default() };
        let (path, watch, ends) = steered(&settings);
        let base_rtt = |socket: &Socket| watch.flow(socket.as_fd()).unwrap().unwrap().base_rtt_us;
        assert_eq!((base_rtt(&ends.0), base_rtt(&ends.1)), (Some(40_000), Some(40_000)));
        assert_eq!(base_rtt(&path.connect(PORT + 1).0), None);
    });
}
