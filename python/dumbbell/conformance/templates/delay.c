/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * my_cc: describe it here in one sentence.
 *
 * It begins as a delay-based algorithm. Once per round trip it estimates the number of
 * its segments in queues,
 *
 *     queued = cwnd (rtt - min_rtt) / rtt
 *
 * and grows by one segment if there are fewer than `target`, or shrinks by one if there
 * are more than twice as many. Loss halves the window.
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
#define my_cc_parameters(P)                         \
	P(target, "segments", 4, CC_RANGE(1, 1000), \
	  "segments to keep in queues along the path", "an example")

/* Named settings, used as my_cc.c@patient. */
#define my_cc_presets(S) S("patient", "an example", CC_SET(my_cc, target, 20))

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
	u32 min_rtt_us;	  /* the smallest RTT so far */
	u32 round_rtt_us; /* the smallest one of this round trip */
	u32 round_end;	  /* sequence number whose ACK ends this round trip */
	u32 queued_segs;  /* of the last round trip */
};

static void my_cc_begin_round(struct my_cc_state *state, const struct cc_conn *conn)
{
	state->round_rtt_us = CC_NO_RTT;
	state->round_end = conn->snd_nxt;
}

/* The connection begins. */
static void my_cc_init(const struct my_cc_params *params, struct my_cc_state *state,
		       struct cc_conn *conn)
{
	state->min_rtt_us = CC_NO_RTT;
	my_cc_begin_round(state, conn);
}

/* Congestion: return the new slow-start threshold. conn must not change here. */
static u32 my_cc_ssthresh(const struct my_cc_params *params, struct my_cc_state *state,
			  const struct cc_conn *conn)
{
	return cc_half_window(conn);
}

/* Every ACK in any state, with its RTT: the place to watch the path. */
static void my_cc_pkts_acked(const struct my_cc_params *params, struct my_cc_state *state,
			     struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	if (sample->rtt_us <= 0)
		return;
	state->min_rtt_us = cc_min(state->min_rtt_us, (u32)sample->rtt_us);
	state->round_rtt_us = cc_min(state->round_rtt_us, (u32)sample->rtt_us);
}

/* Take one step after a round trip with an RTT sample. */
static void my_cc_step(const struct my_cc_params *params, struct my_cc_state *state,
		       struct cc_conn *conn)
{
	u32 waited_us = state->round_rtt_us - state->min_rtt_us;

	state->queued_segs = cc_scale(conn->cwnd_segs, waited_us, state->round_rtt_us);
	if (state->queued_segs < params->target)
		cc_grow(conn, 1);
	else if (state->queued_segs > 2 * params->target && conn->cwnd_segs > CC_CWND_MIN)
		conn->cwnd_segs--;
	/* Slow start has found the path's capacity once there is a queue. */
	if (state->queued_segs >= params->target)
		conn->ssthresh_segs = cc_min(conn->ssthresh_segs, conn->cwnd_segs);
}

/* An ACK of `acked` segments without congestion: the place to grow. */
static void my_cc_cong_avoid(const struct my_cc_params *params, struct my_cc_state *state,
			     struct cc_conn *conn, u32 acked)
{
	/*
	 * A slow application leaves the window unused, which does not prove that the path
	 * has room.
	 */
	if (!cc_may_grow(conn))
		return;
	if (cc_in_slow_start(conn))
		cc_slow_start(conn, acked);
	if (cc_seq_after(state->round_end, conn->snd_una))
		return;
	if (state->round_rtt_us != CC_NO_RTT)
		my_cc_step(params, state, conn);
	my_cc_begin_round(state, conn);
}

/* Up to four numbers to record over time (record.algorithm_state in a scenario). */
static void my_cc_info(const struct my_cc_params *params, const struct my_cc_state *state,
		       const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = state->min_rtt_us;
	info->values[1] = state->queued_segs;
}

/*
 * The registration. The name is the file's. An algorithm that sets a pacing rate has
 * .flags = CC_NEEDS_PACING; enum cc_flag lists other needs.
 */
CC_ALGORITHM(my_cc, .title = "my_cc", .family = CC_FAMILY_DELAY, .year = 2026,
	     .source = "unpublished", .summary = "Keeps `target` segments in queues.",
	     .info_names = {"min_rtt_us", "queued_segs"});
