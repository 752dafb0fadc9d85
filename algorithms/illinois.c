/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP-Illinois: loss decides when to cut the window, delay by how much and how fast it
 * grows.
 *
 * Per round trip the window grows by alpha segments, and congestion reduces it by the
 * share beta:
 *
 *     cwnd = cwnd + alpha
 *     cwnd = cwnd (1 - beta)
 *
 * Both depend on the queueing delay d, the mean RTT of the last round trip minus the
 * smallest RTT ever. Its scale is d_max, the largest RTT ever minus the smallest:
 *
 *     alpha = alpha_max                               if d <= d1
 *     alpha = e alpha_max / (e + (d - d1) (alpha_max - alpha_min) / alpha_min)
 *     beta  = beta_min                                if d <= d2
 *     beta  = beta_max                                if d >= d3
 *     beta  = beta_min + (beta_max - beta_min) (d - d2) / (d3 - d2)
 *
 * Here e = d_max - d1, and d1, d2 and d3 are shares of d_max: 1/100, 1/10 and 8/10. So
 * alpha falls from alpha_max with an empty queue to alpha_min with a full one. Once d
 * was above d1, alpha is alpha_max again only after theta round trips with d below d1.
 * Below win_thresh, Illinois is standard TCP.
 *
 * As in Linux: alpha counts in 1/128, beta in 1/64, delays in whole microseconds.
 * Illinois counts acknowledged segments, also where the stack counts ACKs. When the
 * window grows, it does not keep fractions of a segment for later. After a timeout it
 * is standard TCP until the next round trip. The theta round trips need not be
 * consecutive: a round trip above d1 does not restart the count. In the paper they
 * must be. The smallest and the largest RTT are never forgotten. An RTT beyond
 * rtt_limit counts as rtt_limit.
 *
 * Unlike Linux: one ACK at most doubles the window. The samples of a round trip are
 * counted beyond 65,535.
 */
#include "cc.h"

#define illinois_parameters(P)                                                          \
	P(alpha_min, "1/128", 38, CC_RANGE(1, 128),                                     \
	  "growth per round trip with a full queue", "Linux; Liu et al. 2006: 0.3")     \
	P(alpha_max, "1/128", 1280, CC_RANGE(128, 12800),                               \
	  "growth per round trip with an empty queue", "Linux; Liu et al. 2006: 10")    \
	P(beta_min, "1/64", 8, CC_RANGE(1, 32), "share cut with an empty queue",        \
	  "Linux; Liu et al. 2006: 1/8")                                                \
	P(beta_max, "1/64", 32, CC_RANGE(1, 32),                                        \
	  "share cut with a full queue; beta_min if that is more",                      \
	  "Linux; Liu et al. 2006: 1/2")                                                \
	P(d1, "%", 1, CC_RANGE(0, 100),                                                 \
	  "share of the largest queueing delay up to which growth is alpha_max",        \
	  "Linux; Liu et al. 2006")                                                     \
	P(d2, "%", 10, CC_RANGE(0, 100),                                                \
	  "share of that delay up to which the cut is beta_min",                        \
	  "Linux; Liu et al. 2006")                                                     \
	P(d3, "%", 80, CC_RANGE(0, 100),                                                \
	  "share of that delay from which on the cut is beta_max",                      \
	  "Linux; Liu et al. 2006")                                                     \
	P(theta, "round trips", 5, CC_RANGE(1, 1000),                                   \
	  "round trips below d1 after which growth is alpha_max again",                 \
	  "Linux; Liu et al. 2006")                                                     \
	P(win_thresh, "segments", 15, CC_RANGE(0, 1000000),                             \
	  "window below which it is standard TCP", "Linux; Liu et al. 2006")            \
	P(rtt_limit, "us", 3355443, CC_RANGE(1, 0x7fffffff), "longest RTT that counts", \
	  "Linux")

#define illinois_presets(S)                                                           \
	S("mani2012", "Mani and Mbarek 2012 print the law with symbols only; values " \
		      "are those of its paper, Liu et al. 2006")

#define illinois_hooks(H)       \
	H(illinois, init)       \
	H(illinois, ssthresh)   \
	H(illinois, cong_avoid) \
	H(illinois, pkts_acked) \
	H(illinois, set_state)  \
	H(illinois, info)

#define ILLINOIS_ALPHA_SHIFT 7
#define ILLINOIS_BETA_SHIFT 6
/* Gains of standard TCP. */
#define ILLINOIS_ALPHA_STANDARD (1u << ILLINOIS_ALPHA_SHIFT)
#define ILLINOIS_BETA_STANDARD (1u << (ILLINOIS_BETA_SHIFT - 1))

CC_PARAMS(illinois);

struct illinois_state {
	u64 rtt_sum_us; /* of this round trip */
	u32 rtt_count;
	u32 rtt_min_us; /* CC_NO_RTT: none */
	u32 rtt_max_us;
	u32 round_end_seq;
	u32 alpha;	/* 1 / 128 */
	u32 beta;	/* 1 / 64 */
	u32 acked;	/* segments of the last ACK */
	u32 was_above;	/* the delay has been above d1 since alpha was alpha_max */
	u32 low_rounds; /* round trips below d1 since then */
};

static void illinois_begin_round(struct illinois_state *illinois,
				 const struct cc_conn *conn)
{
	illinois->rtt_sum_us = 0;
	illinois->rtt_count = 0;
	illinois->round_end_seq = conn->snd_nxt;
}

static void illinois_init(const struct illinois_params *params,
			  struct illinois_state *illinois, struct cc_conn *conn)
{
	*illinois = (struct illinois_state){
		.rtt_min_us = CC_NO_RTT,
		.alpha = params->alpha_max,
		.beta = ILLINOIS_BETA_STANDARD,
	};
	illinois_begin_round(illinois, conn);
}

static u32 illinois_ssthresh(const struct illinois_params *params,
			     struct illinois_state *illinois, const struct cc_conn *conn)
{
	u32 cut = cc_scale(conn->cwnd_segs, illinois->beta, 1u << ILLINOIS_BETA_SHIFT);

	return cc_max(conn->cwnd_segs - cut, CC_CWND_MIN);
}

/* Take the queueing delay of the round trip, and the largest one, in microseconds. */
static u32 illinois_alpha(const struct illinois_params *params,
			  struct illinois_state *illinois, u32 delay, u32 delay_max)
{
	u32 d1 = cc_scale(delay_max, params->d1, 100);
	u64 slope;

	if (delay <= d1) {
		if (illinois->was_above && ++illinois->low_rounds < params->theta)
			return illinois->alpha;
		illinois->was_above = 0;
		illinois->low_rounds = 0;
		return params->alpha_max;
	}
	illinois->was_above = 1;
	slope = (u64)(delay - d1) * (params->alpha_max - params->alpha_min) /
		params->alpha_min;
	return (u32)((u64)(delay_max - d1) * params->alpha_max /
		     (delay_max - d1 + slope));
}

static u32 illinois_beta(const struct illinois_params *params, u32 delay, u32 delay_max)
{
	u32 d2 = cc_scale(delay_max, params->d2, 100);
	u32 d3 = cc_scale(delay_max, params->d3, 100);
	u32 most = cc_max(params->beta_max, params->beta_min);

	if (delay <= d2)
		return params->beta_min;
	if (delay >= d3)
		return most;
	return params->beta_min + cc_scale(most - params->beta_min, delay - d2, d3 - d2);
}

static void illinois_judge(const struct illinois_params *params,
			   struct illinois_state *illinois, const struct cc_conn *conn)
{
	u32 delay, delay_max;

	if (conn->cwnd_segs < params->win_thresh) {
		illinois->alpha = ILLINOIS_ALPHA_STANDARD;
		illinois->beta = ILLINOIS_BETA_STANDARD;
	} else if (illinois->rtt_count) {
		delay = (u32)(illinois->rtt_sum_us / illinois->rtt_count) -
			illinois->rtt_min_us;
		delay_max = illinois->rtt_max_us - illinois->rtt_min_us;
		illinois->alpha = illinois_alpha(params, illinois, delay, delay_max);
		illinois->beta = illinois_beta(params, delay, delay_max);
	}
	illinois_begin_round(illinois, conn);
}

static void illinois_cong_avoid(const struct illinois_params *params,
				struct illinois_state *illinois, struct cc_conn *conn,
				u32 acked)
{
	u32 cwnd = cc_max(conn->cwnd_segs, 1);
	u64 earned;

	if (cc_seq_after(conn->snd_una, illinois->round_end_seq))
		illinois_judge(params, illinois, conn);
	if (!cc_may_grow(conn))
		return;
	if (cc_in_slow_start(conn)) {
		cc_slow_start(conn, acked);
		return;
	}
	conn->cwnd_cnt = cc_saturate((u64)conn->cwnd_cnt + illinois->acked);
	illinois->acked = 1;
	earned = (u64)conn->cwnd_cnt * illinois->alpha >> ILLINOIS_ALPHA_SHIFT;
	if (earned >= cwnd) {
		cc_grow(conn, cc_min(cc_saturate(earned / cwnd), cwnd));
		conn->cwnd_cnt = 0;
	}
}

static void illinois_pkts_acked(const struct illinois_params *params,
				struct illinois_state *illinois, struct cc_conn *conn,
				const struct cc_ack_sample *sample)
{
	u32 rtt_us = cc_min((u32)sample->rtt_us, params->rtt_limit);

	illinois->acked = sample->pkts_acked;
	if (sample->rtt_us < 0)
		return;
	illinois->rtt_min_us = cc_min(illinois->rtt_min_us, rtt_us);
	illinois->rtt_max_us = cc_max(illinois->rtt_max_us, rtt_us);
	illinois->rtt_sum_us += rtt_us;
	illinois->rtt_count++;
}

static void illinois_set_state(const struct illinois_params *params,
			       struct illinois_state *illinois, struct cc_conn *conn,
			       u32 new_state)
{
	if (new_state != CC_LOSS)
		return;
	illinois->alpha = ILLINOIS_ALPHA_STANDARD;
	illinois->beta = ILLINOIS_BETA_STANDARD;
	illinois->was_above = 0;
	illinois->low_rounds = 0;
	illinois_begin_round(illinois, conn);
}

static void illinois_info(const struct illinois_params *params,
			  const struct illinois_state *illinois,
			  const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = illinois->alpha << (10 - ILLINOIS_ALPHA_SHIFT);
	info->values[1] = illinois->beta << (10 - ILLINOIS_BETA_SHIFT);
	info->values[2] = illinois->rtt_max_us ? illinois->rtt_min_us : 0;
	info->values[3] = illinois->rtt_max_us;
}

/* In figures: Illinois, #a0206f, star. */
CC_ALGORITHM(
	illinois, .title = "TCP-Illinois", .family = CC_FAMILY_HYBRID, .year = 2006,
	.flags = CC_RENOS_BOUND,
	.source = "S. Liu, T. Basar, R. Srikant, TCP-Illinois: A Loss- and Delay-Based "
		  "Congestion Control Algorithm for High-Speed Networks, VALUETOOLS 2006",
	.summary = "Reacts to loss alone, but grows faster and cuts less the shorter the "
		   "queue is.",
	.info_names = {"alpha_x1024", "beta_x1024", "rtt_min_us", "rtt_max_us"});
