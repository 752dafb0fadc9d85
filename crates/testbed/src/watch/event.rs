//! Changes of a window, as the kernel reports them: the mirror of `struct event` (`bpf/watch.c`).

/// A change of a socket's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelEvent {
    /// Its time, by the kernel's monotonic clock, in ns.
    pub monotonic_ns: u64,
    /// Local port of the socket.
    pub port: u16,
    /// Its kind.
    pub kind: KernelEventKind,
    /// The window in segments: before a reduction or a timeout; at the return to the open state,
    /// before the kernel sets it to ssthresh; or after an undo.
    pub cwnd_segs: u32,
    /// The threshold in segments, after the event.
    pub ssthresh_segs: u32,
}

/// Kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelEventKind {
    /// It is being reduced.
    Congestion,
    /// The retransmission timer expired.
    Timeout,
    /// The reduction is over.
    Recovered,
    /// The reduction proved spurious and was undone.
    Undone,
}

impl KernelEvent {
    /// Read an event; none: the bytes are not an event.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (time, rest) = bytes.split_first_chunk()?;
        let mut fields = rest
            .chunks_exact(4)
            .map(|field| u32::from_ne_bytes(field.try_into().expect("a chunk of four")));
        let (port, kind) = (fields.next()?, fields.next()?);
        Some(Self {
            monotonic_ns: u64::from_ne_bytes(*time),
            port: u16::try_from(port).ok()?,
            kind: match kind {
                0 => KernelEventKind::Congestion,
                1 => KernelEventKind::Timeout,
                2 => KernelEventKind::Recovered,
                3 => KernelEventKind::Undone,
                _ => return None,
            },
            cwnd_segs: fields.next()?,
            ssthresh_segs: fields.next()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_event_is_none() {
        let bytes = |kind: u32| {
            let fields = [80u32, kind, 20, 10].into_iter().flat_map(u32::to_ne_bytes);
            7u64.to_ne_bytes().into_iter().chain(fields).collect::<Vec<_>>()
        };
        let expected = KernelEvent {
            monotonic_ns: 7,
            port: 80,
            kind: KernelEventKind::Recovered,
            cwnd_segs: 20,
            ssthresh_segs: 10,
        };
        assert_eq!(KernelEvent::read(&bytes(2)), Some(expected));
        assert_eq!(KernelEvent::read(&bytes(4)), None);
        assert_eq!(KernelEvent::read(&bytes(2)[..20]), None);
    }
}
