//! Our files compared with Linux's own modules, call by call in short runs. `make linux-modules`
//! writes them, and `tests/linux_modules/vectors.py` describes their format.

use crate::instance;
use dumbbell_algorithm::{AckSample, CaState, Conn, CwndEvent, Instance, RateSample};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Bytes of a segment in sequence numbers.
const MSS: u32 = 1448;
/// Most calls with another outcome that a message lists.
const SHOWN: usize = 10;

/// Set a field by its name in a vector.
fn set(conn: &mut Conn, name: &str, value: &str) {
    let wide: u64 = value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number"));
    let number = wide as u32;
    match name {
        "cwnd" => conn.cwnd_segs = number,
        "cnt" => conn.cwnd_cnt = number,
        "ssthresh" => conn.ssthresh_segs = number,
        "clamp" => conn.cwnd_clamp_segs = number,
        "rate" => conn.pacing_rate_bytes_per_s = wide,
        "app_limited" => conn.app_limited_segs = number,
        "prior_cwnd" => conn.prior_cwnd_segs = number,
        "now" => conn.now_us = wide,
        "delivered" => conn.delivered_segs = wide,
        "delivered_ce" => conn.delivered_ce_segs = wide,
        "lost" => conn.lost_segs = wide,
        "resent" => conn.resent_segs = number,
        "in_flight" => conn.in_flight_segs = number,
        "srtt" => conn.srtt_us = number,
        "min_rtt" => conn.min_rtt_us = number,
        "una" => conn.snd_una = number.wrapping_mul(MSS),
        "nxt" => conn.snd_nxt = number.wrapping_mul(MSS),
        "random" => conn.random = number,
        "state" => conn.state = state(number),
        "limited" => conn.cwnd_limited = u8::from(number != 0),
        "pacing_wait" => conn.pacing_wait_us = number,
        "stamp" => conn.stamp_ms = number,
        "echo" => conn.echo_ms = number,
        "last_sent" => conn.last_sent_ms = number,
        _ => panic!("no field is called {name}"),
    }
}

fn state(number: u32) -> CaState {
    [CaState::Open, CaState::Disorder, CaState::Cwr, CaState::Recovery, CaState::Loss]
        [number as usize]
}

fn event(number: i64) -> CwndEvent {
    [CwndEvent::TxStart, CwndEvent::CwndRestart, CwndEvent::CompleteCwr, CwndEvent::Loss]
        [number as usize]
}

/// A line: the hook and its input, changes before the call, the outcome of Linux's module, and our
/// file's outcome if a difference is declared.
struct Line<'a> {
    hook: &'a str,
    arguments: Vec<i64>,
    seen: Vec<(&'a str, &'a str)>,
    linux: Vec<(&'a str, &'a str)>,
    ours: Option<Vec<(&'a str, &'a str)>>,
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Self {
        let mut words = text.split(' ');
        let hook = words.next().expect("a hook");
        let mut line = Self { hook, arguments: vec![], seen: vec![], linux: vec![], ours: None };
        let mut part = ' ';
        for word in words {
            match (word, word.split_once('='), part) {
                ("|" | ">" | "!", ..) => part = word.chars().next().expect("one"),
                (_, Some(pair), '|') => line.seen.push(pair),
                (_, Some(pair), '>') => line.linux.push(pair),
                (_, Some(pair), '!') => line.ours.get_or_insert_default().push(pair),
                _ => line.arguments.push(word.parse().expect("a number")),
            }
            if word == "!" {
                line.ours = Some(vec![]);
            }
        }
        line
    }

    /// Make the call; return the window that it returns, if it does.
    fn call(&self, algorithm: &mut Instance, conn: &mut Conn) -> Option<u32> {
        let arguments = |place: usize| self.arguments.get(place).copied().unwrap_or(0);
        let first = arguments(0) as u32;
        match self.hook {
            "init" => algorithm.init(conn),
            "cong_avoid" => algorithm.cong_avoid(conn, first),
            "cwnd_event" => algorithm.cwnd_event(conn, event(arguments(0))),
            "set_state" => algorithm.set_state(conn, state(first)),
            "in_ack_event" => algorithm.in_ack_event(conn, first),
            "ssthresh" => return Some(algorithm.ssthresh(conn)),
            "undo_cwnd" => return Some(algorithm.undo_cwnd(conn)),
            "pkts_acked" => {
                let rtt_us = arguments(1) as i32;
                let in_flight_bytes = arguments(2) as u32;
                algorithm
                    .pkts_acked(conn, &AckSample { pkts_acked: first, rtt_us, in_flight_bytes });
            }
            "cong_control" => algorithm.cong_control(conn, &self.rate()),
            _ => panic!("no hook is called {}", self.hook),
        }
        None
    }

    fn rate(&self) -> RateSample {
        let [prior, interval, delivered, rtt, losses, acked, in_flight, app_limited, delayed] =
            self.arguments[..]
        else {
            panic!("nine numbers, not {:?}", self.arguments)
        };
        RateSample {
            prior_delivered_segs: prior as u64,
            interval_us: interval,
            delivered_segs: delivered as i32,
            rtt_us: rtt as i32,
            losses_segs: losses as u32,
            acked_sacked_segs: acked as u32,
            prior_in_flight_segs: in_flight as u32,
            is_app_limited: u8::from(app_limited != 0),
            is_ack_delayed: u8::from(delayed != 0),
            ..RateSample::default()
        }
    }
}

/// Connection and returned value of an outcome.
fn after(before: &Conn, outcome: &[(&str, &str)]) -> (Conn, Option<u32>) {
    let (mut conn, mut returned) = (*before, None);
    for (name, value) in outcome {
        match *name {
            "returned" => returned = value.parse().ok(),
            _ => set(&mut conn, name, value),
        }
    }
    (conn, returned)
}

/// Calls with another outcome, with the numbers of the lines.
fn faults(name: &str, vectors: &str) -> Vec<String> {
    let mut faults_found = Vec::new();
    let mut algorithm = None;
    let mut conn = Conn::default();
    for (number, text) in (1..).zip(vectors.lines()) {
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        if text.starts_with("run ") {
            algorithm = Some(instance(name, None, &[]));
            conn = Conn::default();
            continue;
        }
        let line = Line::new(text);
        line.seen.iter().for_each(|(name, value)| set(&mut conn, name, value));
        let expected = after(&conn, line.ours.as_ref().unwrap_or(&line.linux));
        let (linux, _) = after(&conn, &line.linux);
        let returned = line.call(algorithm.as_mut().expect("a line that begins a run"), &mut conn);
        if (conn, returned) != expected {
            faults_found.push(format!("{number}: {text}\n  made {conn:?}, returned {returned:?}"));
        }
        conn = linux;
    }
    faults_found
}

#[test]
fn our_files_do_what_linux_modules_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/linux");
    let (mut count, mut arguments) = (0, String::new());
    for entry in fs::read_dir(&folder).expect("the vectors") {
        let file = entry.expect("a readable folder").path();
        let name = file.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        let vectors = fs::read_to_string(&file).expect("readable vectors");
        let faults_found = faults(name, &vectors);
        for fault in faults_found.iter().take(SHOWN) {
            writeln!(arguments, "{}:{fault}", file.display()).expect("a string");
        }
        count += 1;
    }
    assert_eq!(count, 17, "a file for each of Linux's modules");
    assert!(
        arguments.is_empty(),
        "files of algorithms/ that do otherwise than when `make linux-modules` compared them:\n{arguments}"
    );
}

/// A vector that cannot fail proves nothing.
#[test]
fn another_outcome_is_noticed() {
    let right = "run x\nssthresh 0 | cwnd=20 > returned=10\ncong_avoid 1 | ssthresh=10 > cnt=1\n";
    assert!(faults("reno", right).is_empty());
    for (expected, other) in [("returned=10", "returned=11"), ("cnt=1", "cnt=2"), (" > cnt=1", "")]
    {
        assert_eq!(faults("reno", &right.replace(expected, other)).len(), 1, "{other}");
    }
    let declared = right.replace("returned=10", "returned=14 ! returned=10");
    assert!(faults("reno", &declared).is_empty());
}
