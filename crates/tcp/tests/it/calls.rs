//! The calls of an algorithm and their order, which are those of Linux.

use crate::wire::{Segment, Wire, WireOutcome, ms, stack, steady};
use dumbbell_algorithm::user_defined;
use dumbbell_network::{Span, Time};
use dumbbell_tcp::{Ecn, ProbeRule, Stack};

const DELAY: Span = ms(50);
const RTT: Span = ms(100);

/// An algorithm that records its last 32 calls, as the letters of [`calls`].
const WITNESS: &str = r#"#include "cc.h"
#define witness_parameters(P) P(unused, "1", 0, CC_SWITCH, "unused", "none")
#define witness_presets(S)
#define witness_hooks(H) H(witness, ssthresh) H(witness, cong_avoid) H(witness, pkts_acked) \
	H(witness, cwnd_event) H(witness, set_state) H(witness, in_ack_event) H(witness, info)
CC_PARAMS(witness);
struct witness_state { u64 older; u64 newer; };
#define ARGUMENTS const struct witness_params *params, struct witness_state *state
static void note(struct witness_state *state, u32 letter)
{
	state->older = state->older << 4 | state->newer >> 60;
	state->newer = state->newer << 4 | letter;
}
static u32 witness_ssthresh(ARGUMENTS, const struct cc_conn *conn)
{
	note(state, 1);
	return cc_half_window(conn);
}
static void witness_cong_avoid(ARGUMENTS, struct cc_conn *conn, u32 acked)
{
	note(state, 2);
	cc_standard_growth(conn, acked);
}
static void witness_pkts_acked(ARGUMENTS, struct cc_conn *conn,
	const struct cc_ack_sample *sample)
{
	note(state, 3);
}
static void witness_in_ack_event(ARGUMENTS, struct cc_conn *conn, u32 flags)
{
	note(state, 4);
}
static void witness_cwnd_event(ARGUMENTS, struct cc_conn *conn, u32 event)
{
	if (event == CC_EVENT_COMPLETE_CWR || event == CC_EVENT_LOSS)
		note(state, event == CC_EVENT_LOSS ? 5 : 6);
}
static void witness_set_state(ARGUMENTS, struct cc_conn *conn, u32 new_state)
{
	note(state, 7 + new_state);
}
static void witness_info(const struct witness_params *params,
	const struct witness_state *state, const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = (u32)(state->older >> 32);
	info->values[1] = (u32)state->older;
	info->values[2] = (u32)(state->newer >> 32);
	info->values[3] = (u32)state->newer;
}
CC_ALGORITHM(witness, .title = "Witness", .family = CC_FAMILY_LOSS, .year = 2026,
	.source = "here", .summary = "Keeps what it was called with.",
	.info_names = {"calls_1", "calls_2", "calls_3", "calls_4"});
"#;

/// Return the last calls, a letter each: Ssthresh, Grow, Rtt, Ack; Lost, Cut over; and the states
/// open, disorder, cwr, recovery and timeout.
fn calls<D, A>(wire: &Wire<D, A>) -> String {
    let letters = wire.sender.algorithm_info().map(|word| format!("{word:08x}")).concat();
    let name = |letter: char| {
        letter.to_digit(16).map(|number| ".SGRALCodcrt....".as_bytes()[number as usize])
    };
    letters.chars().filter_map(name).map(char::from).filter(|&letter| letter != '.').collect()
}

fn transfer<D: FnMut(Time, Segment) -> WireOutcome>(
    stack: &Stack,
    segs: u64,
    data: D,
) -> Wire<D, impl FnMut(Time) -> WireOutcome + use<D>> {
    let witness = user_defined::load("witness", WITNESS, "witness.c").expect("an algorithm");
    let mut wire = Wire::of(stack, witness, Some(segs), RTT, data, steady(DELAY));
    wire.finish();
    wire
}

fn plain(name: &str) -> Stack {
    Stack { tail_probe: ProbeRule::Off, ..stack(name) }
}

#[test]
fn in_ack_event_comes_before_pkts_acked_on_old_kernels_and_after_it_on_new_ones() {
    for (profile, expected) in [("linux-4.14", "ARGARG"), ("linux-6", "RAGRAG")] {
        let wire = transfer(&stack(profile), 2, |_, _| WireOutcome::after(DELAY));
        assert_eq!(calls(&wire), expected, "{profile}");
        // The order is the same if an ACK carries more.
        let data = |_: Time, segment: Segment| {
            let is_lost = segment.number == 0 && !segment.is_retransmission;
            if is_lost { WireOutcome::lost() } else { WireOutcome::after(DELAY) }
        };
        let wire = transfer(&plain(profile), 5, data);
        let first = if profile == "linux-6" { "RAd" } else { "ARd" };
        assert!(calls(&wire).starts_with(first), "{profile}: {}", calls(&wire));
    }
}

#[test]
fn a_recovery_is_over_before_the_reduction_is_and_a_reduction_for_a_mark_after_it() {
    let data = |_: Time, segment: Segment| {
        let is_lost = segment.number == 5 && !segment.is_retransmission;
        if is_lost { WireOutcome::lost() } else { WireOutcome::after(DELAY) }
    };
    let wire = transfer(&plain("linux-6"), 10, data);
    assert!(calls(&wire).ends_with("RAoCG"), "{}", calls(&wire));
    let marking = Stack { ecn: Ecn::Classic, ..plain("linux-6") };
    let data = |_: Time, segment: Segment| {
        if segment.number == 5 { WireOutcome::marked(DELAY) } else { WireOutcome::after(DELAY) }
    };
    let wire = transfer(&marking, 24, data);
    assert!(calls(&wire).contains("RACoG"), "{}", calls(&wire));
}

#[test]
fn each_timeout_of_a_series_is_reported_as_a_separate_state() {
    let mut transmissions = 0;
    let data = move |_: Time, segment: Segment| {
        transmissions += u32::from(segment.number == 9);
        let is_lost = segment.number == 9 && transmissions <= 3;
        if is_lost { WireOutcome::lost() } else { WireOutcome::after(DELAY) }
    };
    let wire = transfer(&plain("linux-6"), 10, data);
    assert_eq!(wire.sender.counters().timeouts, 3);
    assert!(calls(&wire).contains("GSLtttRA"), "one reduction: {}", calls(&wire));
}

/// An algorithm that records the idle time before its last start, in ms.
const IDLER: &str = r#"#include "cc.h"
#define idler_parameters(P) P(unused, "1", 0, CC_SWITCH, "unused", "none")
#define idler_presets(S)
#define idler_hooks(H) H(idler, ssthresh) H(idler, cong_avoid) H(idler, cwnd_event) H(idler, info)
CC_PARAMS(idler);
struct idler_state { u32 idle_ms; };
static u32 idler_ssthresh(const struct idler_params *params, struct idler_state *idler,
	const struct cc_conn *conn)
{
	return cc_half_window(conn);
}
static void idler_cong_avoid(const struct idler_params *params, struct idler_state *idler,
	struct cc_conn *conn, u32 acked)
{
}
static void idler_cwnd_event(const struct idler_params *params, struct idler_state *idler,
	struct cc_conn *conn, u32 event)
{
	if (event == CC_EVENT_TX_START)
		idler->idle_ms = cc_now_ms(conn) - conn->last_sent_ms;
}
static void idler_info(const struct idler_params *params, const struct idler_state *idler,
	const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = idler->idle_ms;
}
CC_ALGORITHM(idler, .title = "Idler", .family = CC_FAMILY_LOSS, .year = 2026,
	.source = "here", .summary = "Keeps how long it was idle.", .info_names = {"idle_ms"});
"#;

#[test]
fn a_start_after_idle_time_reports_when_data_was_last_sent() {
    let idler = user_defined::load("idler", IDLER, "idler.c").expect("an algorithm");
    for slow_start_after_idle in [false, true] {
        let stack = Stack { slow_start_after_idle, ..plain("linux-6") };
        let data = |_: Time, _: Segment| WireOutcome::after(DELAY);
        let mut wire = Wire::of(&stack, idler, Some(5), RTT, data, steady(DELAY));
        wire.finish();
        assert_eq!(wire.sender.algorithm_info()[0], 0);
        wire.now = Time::ZERO + ms(1_030);
        wire.supply(10);
        wire.transmit();
        assert_eq!(wire.sender.algorithm_info()[0], 1_030, "five segments left at once");
    }
    // Retransmissions count, too.
    let data = |_: Time, segment: Segment| {
        let is_lost = segment.number == 4 && !segment.is_retransmission;
        if is_lost { WireOutcome::lost() } else { WireOutcome::after(DELAY) }
    };
    let mut wire = Wire::of(&plain("linux-6"), idler, Some(5), RTT, data, steady(DELAY));
    wire.finish();
    let resent = wire.sent.last().expect("the fifth again").0;
    assert!(resent > Time::ZERO + ms(200));
    wire.now = Time::ZERO + ms(3_000);
    wire.supply(10);
    wire.transmit();
    let idle_ms = (wire.now.0 - resent.0) / 1_000_000;
    assert_eq!(u64::from(wire.sender.algorithm_info()[0]), idle_ms);
}
