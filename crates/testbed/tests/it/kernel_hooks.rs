//! The adapters of hooks that control window and rate, tested by an algorithm with known behaviour.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use dumbbell_algorithm::RateSample;
use dumbbell_testbed::kernel::{Argument, Hook, Keep, OfStack, Record, Registered, compile_file};

use crate::alone::undisturbed;
use crate::kernel::flows::{Flows, is_root};
use crate::kernel::path::Path;
use crate::kernel::transfer::{RECEIVER_PORT, send};

const CWND_SEGS: u32 = 40;
const RATE_KB_PER_S: u32 = 2_000;

const FIXED: &str = r#"#include "cc.h"
#define fixed_parameters(P)                                           \
	P(cwnd, "segments", 4, CC_RANGE(1, 100), "window", "none")    \
	P(rate, "kB/s", 100, CC_RANGE(1, 100000), "rate", "none")
#define fixed_presets(S)
#define fixed_hooks(H)                                                \
	H(fixed, ssthresh) H(fixed, cong_control) H(fixed, in_ack_event) H(fixed, undo_cwnd)
CC_PARAMS(fixed);
struct fixed_state {
	u64 acks;
	u8 last_flags;
};
static u32 fixed_ssthresh(const struct fixed_params *params, struct fixed_state *fixed,
			  const struct cc_conn *conn)
{
	return params->cwnd;
}
static u32 fixed_undo_cwnd(const struct fixed_params *params, struct fixed_state *fixed,
			   const struct cc_conn *conn)
{
	return params->cwnd;
}
static void fixed_in_ack_event(const struct fixed_params *params, struct fixed_state *fixed,
			       struct cc_conn *conn, u32 flags)
{
	fixed->acks++;
	fixed->last_flags = flags;
}
static void fixed_cong_control(const struct fixed_params *params, struct fixed_state *fixed,
			       struct cc_conn *conn, const struct cc_rate_sample *sample)
{
	conn->cwnd_segs = params->cwnd;
	conn->pacing_rate_bytes_per_s = params->rate * 1000ull;
}
CC_ALGORITHM(fixed, .title = "Fixed", .family = CC_FAMILY_RATE, .year = 2026,
	     .flags = CC_NEEDS_PACING | CC_NEEDS_RANDOM | CC_NEEDS_ECN, .source = "here",
	     .summary = "A fixed window at a fixed rate.");
"#;

/// The sender's callbacks in a transfer of a second.
fn records() -> Vec<Record> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("fixed.c");
    fs::write(&source, FIXED).unwrap();
    let object = compile_file(&source).unwrap();
    let (flows, keep) = (Flows::new(), Keep { state: false, callbacks: true });
    let values = [CWND_SEGS, RATE_KB_PER_S];
    let registered =
        Registered::new(&object, &values, OfStack::default(), flows.map(), keep).unwrap();
    let sent = send(&Path::new(), registered.kernel_name(), &flows, Duration::from_secs(1));
    assert!(sent.ecn, "what needs congestion marks asks for them");
    assert!(sent.flow.iter().rev().take(104).all(|byte| *byte == 0), "no state is kept");
    let records = registered.records().unwrap();
    assert_eq!(records.lost, 0);
    records.records.into_iter().filter(|record| record.port != RECEIVER_PORT).collect()
}

#[test]
fn a_fixed_window_is_sent_at_a_fixed_rate() {
    if !is_root() {
        return;
    }
    undisturbed(|| {
        let records = records();
        let mut calls = BTreeMap::new();
        for record in &records {
            *calls.entry(record.hook).or_insert(0_u64) += 1;
        }
        assert!(calls[&Hook::CongControl] > 100 && calls[&Hook::InAckEvent] > 100, "{calls:?}");
        assert!(!calls.contains_key(&Hook::CongAvoid), "{calls:?}");

        let controls: Vec<&Record> =
            records.iter().filter(|record| record.hook == Hook::CongControl).collect();
        let rate = u64::from(RATE_KB_PER_S) * 1_000;
        let rates = controls[1..].iter().map(|record| record.before.conn.pacing_rate_bytes_per_s);
        assert!(rates.eq(std::iter::repeat_n(rate, controls.len() - 1)));
        // The kernel itself changes the window after a timeout.
        let kept =
            controls.iter().filter(|record| record.before.conn.cwnd_segs == CWND_SEGS).count();
        assert!(kept * 10 > controls.len() * 9, "{kept} of {}", controls.len());
        let samples: Vec<RateSample> = controls
            .iter()
            .filter_map(|record| match record.argument {
                Argument::Rate(sample) if sample.interval_us > 0 => Some(sample),
                _ => None,
            })
            .collect();
        assert!(samples.len() * 10 > controls.len() * 9, "{} valid samples", samples.len());
        assert!(samples.iter().all(|sample| (1..=500).contains(&sample.delivered_segs)));
        assert!(samples.iter().all(|sample| sample.rtt_us == -1 || sample.rtt_us >= 4_000));
        let randoms: BTreeSet<u32> =
            controls.iter().map(|record| record.before.conn.random).collect();
        assert!(randoms.len() > controls.len() / 2, "each call has a number of its own");
        assert_rate(&controls, rate);
    });
}

/// Deliveries per second while nothing disturbed the path. This is the pacing rate without headers,
/// which pacing counts, too.
fn assert_rate(controls: &[&Record], rate: u64) {
    let (first, last) = (&controls[20].before.conn, &controls[controls.len() / 2].before.conn);
    let bytes = (last.delivered_segs - first.delivered_segs) * u64::from(first.mss_bytes);
    let per_s = bytes * 1_000_000 / (last.now_us - first.now_us);
    assert!((rate * 8 / 10..=rate * 11 / 10).contains(&per_s), "{per_s} B/s");
}
