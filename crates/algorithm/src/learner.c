/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The algorithm of a flow with a learner (learner.rs), which sets window and rate step by
 * step. Between two steps the window keeps its value, even during loss recovery and after
 * timeouts.
 */
#include "cc.h"

#define learner_parameters(P)
#define learner_presets(S)
#define learner_hooks(H)       \
	H(learner, init)       \
	H(learner, ssthresh)   \
	H(learner, pkts_acked) \
	H(learner, undo_cwnd) H(learner, cong_control) H(learner, info)

CC_PARAMS(learner);

struct learner_state {
	u32 window_segs;
	u32 min_rtt_us; /* of the step */
};

/* Begin a step, and keep the window of this moment. */
static void learner_init(const struct learner_params *params, struct learner_state *state,
			 struct cc_conn *conn)
{
	state->window_segs = conn->cwnd_segs;
	state->min_rtt_us = CC_NO_RTT;
}

static u32 learner_ssthresh(const struct learner_params *params,
			    struct learner_state *state, const struct cc_conn *conn)
{
	return state->window_segs;
}

static void learner_pkts_acked(const struct learner_params *params,
			       struct learner_state *state, struct cc_conn *conn,
			       const struct cc_ack_sample *sample)
{
	if (sample->rtt_us >= 0)
		state->min_rtt_us = cc_min(state->min_rtt_us, (u32)sample->rtt_us);
}

static u32 learner_undo_cwnd(const struct learner_params *params,
			     struct learner_state *state, const struct cc_conn *conn)
{
	return state->window_segs;
}

static void learner_cong_control(const struct learner_params *params,
				 struct learner_state *state, struct cc_conn *conn,
				 const struct cc_rate_sample *sample)
{
	conn->cwnd_segs = state->window_segs;
}

static void learner_info(const struct learner_params *params,
			 const struct learner_state *state, const struct cc_conn *conn,
			 struct cc_info *info)
{
	info->values[0] = state->min_rtt_us;
}

CC_ALGORITHM(learner, .title = "Learner", .family = CC_FAMILY_RATE, .year = 2026,
	     .flags = CC_NEEDS_PACING, .source = "Dumbbell",
	     .summary = "Keeps the window and the rate that a learner has set.",
	     .info_names = {"min_rtt_us"});
