/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * YeAH: Scalable TCP while the queue is short; while it is long, standard TCP that
 * empties it.
 *
 * Once per round trip YeAH estimates its backlog and the queueing delay from the
 * smallest RTT of the round trip and the smallest ever:
 *
 *     delay = rtt - base_rtt
 *     queue = cwnd delay / rtt
 *
 * With a queue up to queue_max and a delay up to base_rtt / phy, YeAH is in fast mode
 * and grows as Scalable TCP. Otherwise it is in slow mode and grows as standard TCP.
 * If the queue is beyond queue_max, YeAH also empties it, before there is loss:
 *
 *     cwnd = cwnd - min(queue / gamma, cwnd / 2^epsilon)
 *
 * This never lowers the window below reno_count, an estimate of the window of standard
 * TCP. Slow mode sets reno_count to half the window, unless it has a value. Each
 * further round trip of slow mode adds a segment. Loss halves reno_count. After zeta
 * round trips of fast mode it is reset.
 *
 * A loss reduces the window by the queue that was last estimated, but by at least cwnd
 * / 2^delta and at most half the window. After rho round trips of slow mode in a row,
 * a loss halves the window, because YeAH then assumes that the other flows are greedy.
 *
 * As in Linux: slow start is that of the stack, but YeAH also empties the queue during
 * slow start, which ends it. A round trip with fewer than three samples of the RTT is
 * not evaluated. Others are evaluated in all states. YeAH forgets the RTT of the path
 * when the connection was idle.
 */
#include "cc_watch.h"

#define yeah_parameters(P)                                                             \
	P(segs_per_increase, "segments", 100, CC_RANGE(1, 1000000),                    \
	  "fast mode: acknowledged segments that earn one segment of window",          \
	  "Linux; Kelly 2003")                                                         \
	P(queue_max, "segments", 80, CC_RANGE(0, 1000000),                             \
	  "backlog beyond which the queue is given up: alpha", "Linux")                \
	P(gamma, "1", 1, CC_RANGE(1, 1000), "1/gamma of the backlog is given up",      \
	  "Linux")                                                                     \
	P(delta, "bits", 3, CC_RANGE(1, 31), "a loss takes at least cwnd / 2^delta",   \
	  "Linux")                                                                     \
	P(epsilon, "bits", 1, CC_RANGE(1, 31), "at most cwnd / 2^epsilon is given up", \
	  "Linux")                                                                     \
	P(phy, "1", 8, CC_RANGE(1, 1000000),                                           \
	  "queueing delay of fast mode: at most the path's RTT / phy", "Linux")        \
	P(rho, "round trips", 16, CC_RANGE(0, 0xffffff),                               \
	  "round trips of slow mode after which other flows count as greedy, and a "   \
	  "loss halves the window",                                                    \
	  "Linux")                                                                     \
	P(zeta, "round trips", 50, CC_RANGE(1, 1000000),                               \
	  "round trips of fast mode after which reno_count is forgotten", "Linux")     \
	P(one_per_ack, "switch", 0, CC_SWITCH,                                         \
	  "an ACK earns at most a segment in fast mode, and counts once in slow mode", \
	  "Linux until 5.6")

#define yeah_presets(S)                                                               \
	S("linux-4.14", "Linux 4.14: an ACK earns one segment at most",               \
	  CC_SET(yeah, one_per_ack, 1))                                               \
	S("brakmo2017", "Brakmo 2017: Linux 4.14 as it is",                           \
	  CC_SET(yeah, one_per_ack, 1))                                               \
	S("mani2012", "Mani and Mbarek 2012 print the law with symbols only; values " \
		      "are those of Linux")

#define yeah_hooks(H)       \
	H(yeah, init)       \
	H(yeah, ssthresh)   \
	H(yeah, cong_avoid) \
	H(yeah, pkts_acked) \
	H(yeah, cwnd_event) \
	H(yeah, set_state)  \
	H(yeah, info)

/* Largest count of round trips in slow mode. */
#define YEAH_SLOW_ROUNDS_MAX 0xffffffu

CC_PARAMS(yeah);

struct yeah_state {
	struct cc_watch watch;
	u32 queue;	 /* segments, as of the last round trip */
	u32 slow_rounds; /* in a row; 0: fast mode */
	u32 fast_rounds; /* since reno_count was last forgotten or a loss */
	u32 reno_count;	 /* segments; CC_CWND_MIN: none */
	u32 acked;	 /* segments of the last ACK */
};

static void yeah_init(const struct yeah_params *params, struct yeah_state *yeah,
		      struct cc_conn *conn)
{
	*yeah = (struct yeah_state){.reno_count = CC_CWND_MIN};
	cc_watch_start(&yeah->watch, conn);
	/* Linux: so that products of the window stay within 32 bits. */
	conn->cwnd_clamp_segs = cc_min(conn->cwnd_clamp_segs, 0xffffffffu / 128);
}

static u32 yeah_ssthresh(const struct yeah_params *params, struct yeah_state *yeah,
			 const struct cc_conn *conn)
{
	u32 cwnd = conn->cwnd_segs;
	u32 cut = cc_half_window(conn);

	if (yeah->slow_rounds < params->rho)
		cut = cc_max(cc_min(yeah->queue, cut), cwnd >> params->delta);
	yeah->fast_rounds = 0;
	yeah->reno_count = cc_max(yeah->reno_count / 2, CC_CWND_MIN);
	return cwnd > cut ? cc_max(cwnd - cut, CC_CWND_MIN) : CC_CWND_MIN;
}

/* Empty the queue, but not below the window of standard TCP. */
static void yeah_give_up(const struct yeah_params *params, const struct yeah_state *yeah,
			 struct cc_conn *conn)
{
	u32 cwnd = conn->cwnd_segs;
	u32 given_up = cc_min(yeah->queue / params->gamma, cwnd >> params->epsilon);

	if (cwnd <= yeah->reno_count)
		return;
	conn->cwnd_segs = cc_max(cwnd - given_up, yeah->reno_count);
	conn->ssthresh_segs = conn->cwnd_segs;
}

static void yeah_judge(const struct yeah_params *params, struct yeah_state *yeah,
		       struct cc_conn *conn)
{
	u32 base_us = yeah->watch.base_us;
	u32 rtt_us = yeah->watch.round_us;

	yeah->queue = cc_backlog(conn->cwnd_segs, base_us, rtt_us);
	if (yeah->queue <= params->queue_max &&
	    rtt_us - base_us <= base_us / params->phy) {
		yeah->slow_rounds = 0;
		yeah->fast_rounds++;
		if (yeah->fast_rounds > params->zeta) {
			yeah->fast_rounds = 0;
			yeah->reno_count = CC_CWND_MIN;
		}
		return;
	}
	if (yeah->queue > params->queue_max)
		yeah_give_up(params, yeah, conn);
	if (yeah->reno_count <= CC_CWND_MIN)
		yeah->reno_count = cc_half_window(conn);
	else
		yeah->reno_count = cc_saturate(yeah->reno_count + 1ull);
	yeah->slow_rounds = cc_min(yeah->slow_rounds + 1, YEAH_SLOW_ROUNDS_MAX);
}

/* Fast mode of older kernels: the excess over a segment is dropped. */
static void yeah_grow_by_one(const struct yeah_params *params, struct yeah_state *yeah,
			     struct cc_conn *conn)
{
	conn->cwnd_cnt = cc_saturate((u64)conn->cwnd_cnt + yeah->acked);
	yeah->acked = 1;
	if (conn->cwnd_cnt > cc_min(conn->cwnd_segs, params->segs_per_increase)) {
		conn->cwnd_cnt = 0;
		cc_grow(conn, 1);
	}
}

static void yeah_grow(const struct yeah_params *params, struct yeah_state *yeah,
		      struct cc_conn *conn, u32 acked)
{
	u32 cwnd = conn->cwnd_segs;

	if (yeah->slow_rounds)
		cc_additive_increase(conn, cwnd, params->one_per_ack ? 1 : acked);
	else if (params->one_per_ack)
		yeah_grow_by_one(params, yeah, conn);
	else
		cc_additive_increase(conn, cc_min(cwnd, params->segs_per_increase),
				     acked);
}

static void yeah_cong_avoid(const struct yeah_params *params, struct yeah_state *yeah,
			    struct cc_conn *conn, u32 acked)
{
	if (!cc_may_grow(conn))
		return;
	if (cc_reaches_avoidance(conn, &acked))
		yeah_grow(params, yeah, conn, acked);
	if (!cc_watch_round_is_over(&yeah->watch, conn))
		return;
	if (cc_watch_can_tell(&yeah->watch))
		yeah_judge(params, yeah, conn);
	cc_watch_round(&yeah->watch, conn);
}

static void yeah_pkts_acked(const struct yeah_params *params, struct yeah_state *yeah,
			    struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	yeah->acked = sample->pkts_acked;
	cc_watch_rtt(&yeah->watch, sample);
}

static void yeah_cwnd_event(const struct yeah_params *params, struct yeah_state *yeah,
			    struct cc_conn *conn, u32 event)
{
	cc_watch_event(&yeah->watch, conn, event);
}

static void yeah_set_state(const struct yeah_params *params, struct yeah_state *yeah,
			   struct cc_conn *conn, u32 new_state)
{
	cc_watch_state(&yeah->watch, conn, new_state);
}

static void yeah_info(const struct yeah_params *params, const struct yeah_state *yeah,
		      const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = yeah->queue;
	info->values[1] = yeah->slow_rounds;
	info->values[2] = yeah->reno_count;
	info->values[3] = cc_watch_base_us(&yeah->watch);
}

/* In figures: YeAH, #332288, hexagon. */
CC_ALGORITHM(yeah, .title = "YeAH-TCP", .family = CC_FAMILY_HYBRID, .year = 2007,
	     .flags = CC_RENOS_BOUND,
	     .source = "A. Baiocchi, A. P. Castellani, F. Vacirca, YeAH-TCP: Yet Another "
		       "Highspeed TCP, PFLDnet 2007",
	     .summary = "Scalable TCP while its queue is short; otherwise standard TCP "
			"that empties the queue.",
	     .info_names = {"queue_segs", "slow_rounds", "reno_count_segs",
			    "base_rtt_us"});
