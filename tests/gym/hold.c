/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Hold: a window that stays, also while losses are repaired.
 */
#include "cc.h"

#define hold_parameters(P) \
	P(window, "segments", 50, CC_RANGE(1, 100000), "the window", "none")
#define hold_presets(S)
#define hold_hooks(H) \
	H(hold, init) H(hold, ssthresh) H(hold, undo_cwnd) H(hold, cong_control)

CC_PARAMS(hold);

struct hold_state {
};

static void hold_init(const struct hold_params *params, struct hold_state *state,
		      struct cc_conn *conn)
{
	conn->cwnd_segs = params->window;
}

static u32 hold_ssthresh(const struct hold_params *params, struct hold_state *state,
			 const struct cc_conn *conn)
{
	return params->window;
}

static u32 hold_undo_cwnd(const struct hold_params *params, struct hold_state *state,
			  const struct cc_conn *conn)
{
	return params->window;
}

static void hold_cong_control(const struct hold_params *params, struct hold_state *state,
			      struct cc_conn *conn, const struct cc_rate_sample *sample)
{
	conn->cwnd_segs = params->window;
}

CC_ALGORITHM(hold, .title = "Hold", .family = CC_FAMILY_RATE, .year = 2026,
	     .flags = CC_NEEDS_PACING, .source = "none", .summary = "Holds its window.");
