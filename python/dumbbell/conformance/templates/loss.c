/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * my_cc: describe it here in one sentence.
 *
 * It begins as Reno with one parameter: per round trip the window grows by `increase`
 * segments, and congestion halves it.
 *
 *     dumbbell check ./my_cc.c                   check it, also in the kernel
 *     dumbbell compare ./my_cc.c cubic --rate 100mbit --rtt 40ms
 *     dumbbell compare ./my_cc.c cubic --rate 100mbit --rtt 40ms --engine testbed
 *
 * The rules: integers only, no globals, no calls of other files' functions, and loops
 * whose end the verifier can see. cc.h is the interface (algorithms/cc.h in Dumbbell's
 * sources). It has all fields and hooks, and helpers that begin with cc_.
 */
#include "cc.h"

/*
 * Parameters: name, unit, initial value, valid values, meaning, source. Valid values are
 * CC_RANGE(low, high), CC_EITHER(one, other) or CC_SWITCH. Another parameter is another
 * P(...), with a backslash at the end of the line before.
 */
#define my_cc_parameters(P)                                  \
	P(increase, "segments per RTT", 1, CC_RANGE(1, 100), \
	  "growth of the window in a round trip", "RFC 5681: 1")

/* Named settings, used as my_cc.c@quick. */
#define my_cc_presets(S) S("quick", "an example", CC_SET(my_cc, increase, 4))

/* The hooks below, for Dumbbell and the kernel to call. */
#define my_cc_hooks(H)       \
	H(my_cc, init)       \
	H(my_cc, ssthresh)   \
	H(my_cc, cong_avoid) \
	H(my_cc, pkts_acked) \
	H(my_cc, info)

CC_PARAMS(my_cc);

/* State of one connection: at most 104 bytes, all zero at first. */
struct my_cc_state {
	u32 min_rtt_us; /* the smallest RTT so far */
	u32 reductions; /* number of reductions of the window */
};

/* The connection begins. */
static void my_cc_init(const struct my_cc_params *params, struct my_cc_state *state,
		       struct cc_conn *conn)
{
	state->min_rtt_us = CC_NO_RTT;
}

/*
 * Congestion: return the new slow-start threshold. conn must not change here. To keep
 * more than half: cc_scale(conn->cwnd_segs, 7, 10), but never less than CC_CWND_MIN.
 */
static u32 my_cc_ssthresh(const struct my_cc_params *params, struct my_cc_state *state,
			  const struct cc_conn *conn)
{
	state->reductions++;
	return cc_half_window(conn);
}

/*
 * An ACK of `acked` segments without congestion: the place to grow. Each acknowledged
 * segment of a window of W adds a W-th part of the growth, and cwnd_cnt keeps the rest.
 */
static void my_cc_cong_avoid(const struct my_cc_params *params, struct my_cc_state *state,
			     struct cc_conn *conn, u32 acked)
{
	/*
	 * A slow application leaves the window unused, which does not prove that the path
	 * has room.
	 */
	if (!cc_may_grow(conn))
		return;
	if (cc_in_slow_start(conn)) {
		acked = cc_slow_start(conn, acked);
		if (!acked)
			return;
	}
	cc_additive_increase(conn, conn->cwnd_segs / params->increase, acked);
}

/* Every ACK in any state, with its RTT: the place to watch the path. */
static void my_cc_pkts_acked(const struct my_cc_params *params, struct my_cc_state *state,
			     struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	if (sample->rtt_us > 0)
		state->min_rtt_us = cc_min(state->min_rtt_us, (u32)sample->rtt_us);
}

/* Up to four numbers to record over time (record.algorithm_state in a scenario). */
static void my_cc_info(const struct my_cc_params *params, const struct my_cc_state *state,
		       const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = state->min_rtt_us;
	info->values[1] = state->reductions;
}

/*
 * The registration. The name is the file's. An algorithm that sets a pacing rate has
 * .flags = CC_NEEDS_PACING; enum cc_flag lists other needs.
 */
CC_ALGORITHM(my_cc, .title = "my_cc", .family = CC_FAMILY_LOSS, .year = 2026,
	     .source = "unpublished",
	     .summary = "Adds `increase` segments per round trip.",
	     .info_names = {"min_rtt_us", "reductions"});
