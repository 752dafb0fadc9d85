/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Ambush: a window that stays, and a loop without end once an RTT is longer than a limit.
 */
#include "cc.h"

#define ambush_parameters(P)                                                      \
	P(window, "segments", 10, CC_RANGE(2, 1000), "the window", "none")        \
	P(limit, "ms", 400, CC_RANGE(1, 60000), "the longest RTT without a loop", \
	  "none")                                                                 \
	P(event, "", 0, CC_SWITCH, "1: loop in set_state, not in cong_control", "none")
#define ambush_presets(S)
#define ambush_hooks(H)     \
	H(ambush, init)     \
	H(ambush, ssthresh) \
	H(ambush, undo_cwnd) H(ambush, set_state) H(ambush, cong_control)

CC_PARAMS(ambush);

struct ambush_state {
	u32 longest_us;
};

static void ambush_loop(const struct ambush_params *params,
			const struct ambush_state *state)
{
	volatile u32 spins = 0;

	while (state->longest_us > params->limit * CC_USEC_PER_MSEC)
		spins++;
}

static void ambush_init(const struct ambush_params *params, struct ambush_state *state,
			struct cc_conn *conn)
{
	conn->cwnd_segs = params->window;
}

static u32 ambush_ssthresh(const struct ambush_params *params, struct ambush_state *state,
			   const struct cc_conn *conn)
{
	return params->window;
}

static u32 ambush_undo_cwnd(const struct ambush_params *params,
			    struct ambush_state *state, const struct cc_conn *conn)
{
	return params->window;
}

static void ambush_set_state(const struct ambush_params *params,
			     struct ambush_state *state, struct cc_conn *conn,
			     u32 new_state)
{
	if (params->event)
		ambush_loop(params, state);
}

static void ambush_cong_control(const struct ambush_params *params,
				struct ambush_state *state, struct cc_conn *conn,
				const struct cc_rate_sample *sample)
{
	conn->cwnd_segs = params->window;
	if (sample->rtt_us > 0)
		state->longest_us = cc_max(state->longest_us, (u32)sample->rtt_us);
	if (!params->event)
		ambush_loop(params, state);
}

CC_ALGORITHM(ambush, .title = "Ambush", .family = CC_FAMILY_RATE, .year = 2026,
	     .flags = CC_NEEDS_PACING, .source = "none",
	     .summary = "Loops once a round trip is long.");
