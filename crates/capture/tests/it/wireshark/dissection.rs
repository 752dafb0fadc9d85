//! tshark's dissection of a file.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

const FIELDS: &[&str] = &[
    "frame.number",
    "frame.time_epoch",
    "frame.interface_name",
    "frame.len",
    "frame.cap_len",
    "_ws.col.Protocol",
    "ip.checksum.status",
    "ip.dsfield.ecn",
    "ip.src",
    "tcp.checksum.status",
    "udp.checksum.status",
    "udp.length",
    "tcp.seq",
    "tcp.seq_raw",
    "tcp.ack",
    "tcp.len",
    "tcp.flags.ece",
    "tcp.flags.cwr",
    "tcp.window_size",
    "tcp.window_size_scalefactor",
    "tcp.options.mss_val",
    "tcp.options.sack_le",
    "tcp.options.sack_re",
    "tcp.options.sack.dsack_le",
    "tcp.options.sack.dsack_re",
    "tcp.options.timestamp.tsval",
    "tcp.options.timestamp.tsecr",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.bytes_in_flight",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.duplicate_ack",
    "tcp.analysis.lost_segment",
    "tcp.analysis.ack_lost_segment",
    "tcp.analysis.window_full",
    "tcp.analysis.zero_window",
    MALFORMED,
    SEVERITY,
];
const MALFORMED: &str = "_ws.malformed";
const SEVERITY: &str = "_ws.expert.severity";
/// The severity of an error, in Wireshark's `epan/proto.h`. Notes and warnings have lower numbers.
const ERROR: u64 = 0x0080_0000;

/// One row for each packet, in the order of [`FIELDS`].
pub struct Dissection(Vec<Vec<String>>);

impl Dissection {
    /// Dissect a file, and check that nothing in it is malformed or an error. tshark takes a
    /// quarter of a second to start, so it runs once.
    pub fn of(file: &Path) -> Self {
        let mut arguments = vec!["-T", "fields", "-E", "separator=|"];
        arguments.extend(FIELDS.iter().flat_map(|field| ["-e", field]));
        let rows = tshark(file, &arguments);
        let seen =
            Self(rows.lines().map(|row| row.split('|').map(str::to_owned).collect()).collect());
        for packet in 1..=seen.packets() {
            let malformed = seen.field(packet, MALFORMED);
            let severities =
                seen.field(packet, SEVERITY).split(',').filter(|text| !text.is_empty());
            let is_error = |text: &str| text.parse::<u64>().expect("a number") >= ERROR;
            let worst = severities.clone().any(is_error);
            assert!(
                malformed.is_empty() && !worst,
                "tshark takes offence at packet {packet} of {}",
                file.display()
            );
        }
        seen
    }

    pub fn packets(&self) -> usize {
        self.0.len()
    }

    /// A field of a packet, counted from 1; empty: the packet has no such field.
    pub fn field(&self, packet: usize, name: &str) -> &str {
        let column = FIELDS.iter().position(|field| *field == name);
        &self.0[packet - 1][column.unwrap_or_else(|| panic!("{name} is not asked for"))]
    }

    /// A field that is a number.
    pub fn number(&self, packet: usize, name: &str) -> u64 {
        let text = self.field(packet, name);
        text.parse().unwrap_or_else(|_| panic!("{name} of packet {packet} is {text:?}"))
    }

    /// The packets that have a field.
    pub fn with(&self, name: &str) -> Vec<usize> {
        (1..=self.packets()).filter(|packet| !self.field(*packet, name).is_empty()).collect()
    }

    /// The packets with this value of a field.
    pub fn whose(&self, name: &str, value: &str) -> Vec<usize> {
        (1..=self.packets()).filter(|packet| self.field(*packet, name) == value).collect()
    }
}

static IS_THERE: LazyLock<bool> = LazyLock::new(|| {
    let is_installed = Command::new("tshark").arg("--version").output().is_ok();
    if !is_installed {
        // Unlike printed text, this appears even when tests pass.
        let notice = "skipped: tshark is missing (apt install tshark)";
        writeln!(std::io::stderr(), "{notice}").expect("a standard error to write to");
    }
    is_installed
});

/// Return true if tshark is installed; if not, report that once.
pub fn can_dissect() -> bool {
    *IS_THERE
}

/// Run tshark with every checksum validated.
fn tshark(file: &Path, arguments: &[&str]) -> String {
    let checks = ["ip", "tcp", "udp"].map(|protocol| format!("{protocol}.check_checksum:TRUE"));
    let output = Command::new("tshark")
        .args(["-n", "-r"])
        .arg(file)
        .args(checks.iter().flat_map(|check| ["-o", check]))
        .args(arguments)
        .output()
        .expect("tshark runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "tshark: {complaint}");
    String::from_utf8(output.stdout).expect("tshark prints UTF-8")
}
