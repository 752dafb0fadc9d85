/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP-LP: a low-priority TCP that yields as soon as the queue on the forward path
 * grows.
 *
 * The timestamps in an ACK give the one-way time d of the data: the receiver's
 * timestamp minus the sender's timestamp that the ACK echoes. The sender keeps an
 * average of d,
 *
 *     average = 7/8 average + 1/8 d
 *
 * and assumes that congestion is near unless
 *
 *     average < d_min + threshold (d_max - d_min)
 *
 * An ACK that fails this condition is an indication, and halves the window. During the
 * next `inference` RTTs the window does not grow, and another indication reduces it to
 * one segment. Otherwise the window grows as that of standard TCP, and a loss halves
 * it.
 *
 * As in Linux: all times are in whole milliseconds. The maximum d_max is the second
 * largest time, so that a single outlier does not count. After an indication, d_min
 * becomes the average, and d_max becomes twice the average; the paper never resets
 * them. An average equal to the threshold is an indication, too. The first time of a
 * connection therefore is one. If one-way times are below 7 ms, 15 % of them is
 * rounded down to 0, so that each time is an indication. An indication does not change
 * ssthresh. Slow start therefore leads back to the former window, unless a loss has
 * set ssthresh. The RTT that counts for `inference` is that of the latest echo.
 *
 * As in Linux: the receiver's timestamp is multiplied by 1000 / rate, rounded down,
 * where rate is that of the receiver's clock. Each ACK changes the estimate of this
 * rate, in whole ticks per second. If the estimate exceeds 1000, the factor is 0, so
 * that d depends on the sender's clock alone. If it is 500 or less, the factor is 2 or
 * more. After such a jump, a time is an indication or the new d_max. If the receiver
 * delays an ACK until a second segment arrives, this wait is a part of d.
 *
 * Interpretation: Linux adds a random number to the clock of each connection, and so
 * to the module's d. After an indication, d_max is twice that average, which is beyond
 * any value that a queue could cause. Here, as with net.ipv4.tcp_timestamps = 2, there
 * is no random number.
 */
#include "cc.h"

#define lp_parameters(P)                                                          \
	P(threshold, "%", 15, CC_RANGE(0, 100),                                   \
	  "share of the range of one-way times from which on congestion is near", \
	  "Linux; Kuzmanovic and Knightly 2003: 0.15")                            \
	P(inference, "RTTs", 3, CC_RANGE(0, 100),                                 \
	  "time after an indication without growth; another indication in it "    \
	  "leaves one segment",                                                   \
	  "Linux; Kuzmanovic and Knightly 2003")

#define lp_presets(S)

#define lp_hooks(H)       \
	H(lp, init)       \
	H(lp, ssthresh)   \
	H(lp, cong_avoid) \
	H(lp, pkts_acked) \
	H(lp, info)

/* The average counts in 1/8 ms. */
#define LP_AVERAGE_SHIFT 3
/* The rate of the receiver's clock moves by 1/64 of its difference from an ACK's rate. */
#define LP_RATE_SHIFT 6
#define LP_TICKS_PER_SECOND 1000u

CC_PARAMS(lp);

/* One-way delays wrap as the clocks do. */
struct lp_state {
	u32 average; /* 0: none */
	u32 min_ms;
	u32 max_ms;
	u32 largest_ms; /* max_ms is the second largest; 0: none */
	u32 rate;	/* of the receiver's clock, ticks per second; 0: not known */
	u32 stamp_ms;	/* of the ACK before */
	u32 echo_ms;
	u32 indicated_ms; /* 0: never */
	u32 inference_ms;
	u32 indications;
	u8 in_inference;
};

static void lp_init(const struct lp_params *params, struct lp_state *lp,
		    struct cc_conn *conn)
{
	*lp = (struct lp_state){.min_ms = 0xffffffffu};
}

static u32 lp_ssthresh(const struct lp_params *params, struct lp_state *lp,
		       const struct cc_conn *conn)
{
	return cc_half_window(conn);
}

static void lp_cong_avoid(const struct lp_params *params, struct lp_state *lp,
			  struct cc_conn *conn, u32 acked)
{
	if (!lp->in_inference)
		cc_standard_growth(conn, acked);
}

/* Measure the receiver's clock with two consecutive ACKs. */
static void lp_learn_rate(struct lp_state *lp, const struct cc_conn *conn)
{
	u32 there_ms = conn->stamp_ms - lp->stamp_ms;
	u32 here_ms = conn->echo_ms - lp->echo_ms;
	u8 is_first = !lp->stamp_ms || !lp->echo_ms;
	s64 scaled = (u32)(lp->rate << LP_RATE_SHIFT);

	lp->stamp_ms = conn->stamp_ms;
	lp->echo_ms = conn->echo_ms;
	if (!is_first && there_ms && here_ms) {
		s64 rate = (u32)(LP_TICKS_PER_SECOND * there_ms) / here_ms;

		if (scaled > 0)
			scaled += rate - (scaled >> LP_RATE_SHIFT);
		else
			scaled = rate << LP_RATE_SHIFT;
	}
	lp->rate = (u32)(scaled >> LP_RATE_SHIFT);
}

static void lp_add_time(struct lp_state *lp, u32 time_ms)
{
	lp->min_ms = cc_min(lp->min_ms, time_ms);
	if (time_ms > lp->largest_ms && time_ms > lp->max_ms) {
		lp->max_ms = lp->largest_ms ? lp->largest_ms : time_ms;
		lp->largest_ms = time_ms;
	} else {
		lp->max_ms = cc_max(lp->max_ms, time_ms);
	}
	if (lp->average)
		lp->average += time_ms - (lp->average >> LP_AVERAGE_SHIFT);
	else
		lp->average = time_ms << LP_AVERAGE_SHIFT;
}

static void lp_hear(struct lp_state *lp, const struct cc_conn *conn)
{
	u32 time_ms;

	lp_learn_rate(lp, conn);
	if (!lp->rate)
		return;
	time_ms = conn->stamp_ms * (LP_TICKS_PER_SECOND / lp->rate) - conn->echo_ms;
	if (time_ms)
		lp_add_time(lp, time_ms);
}

/* Excess over the smallest delay from which on congestion is near. */
static u32 lp_threshold(const struct lp_params *params, const struct lp_state *lp)
{
	return params->threshold * (lp->max_ms - lp->min_ms) / 100;
}

static u8 lp_is_near(const struct lp_params *params, const struct lp_state *lp)
{
	u32 end_ms = lp->min_ms + lp_threshold(params, lp);

	return lp->average >> LP_AVERAGE_SHIFT >= end_ms;
}

static void lp_give_way(struct lp_state *lp, struct cc_conn *conn)
{
	lp->min_ms = lp->average >> LP_AVERAGE_SHIFT;
	lp->max_ms = lp->average >> (LP_AVERAGE_SHIFT - 1);
	lp->largest_ms = lp->max_ms;
	conn->cwnd_segs = lp->in_inference ? 1 : cc_max(conn->cwnd_segs / 2, 1);
	lp->indicated_ms = cc_now_ms(conn);
	lp->indications++;
}

static void lp_pkts_acked(const struct lp_params *params, struct lp_state *lp,
			  struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	u32 now_ms = cc_now_ms(conn);
	u32 rtt_ms = now_ms - conn->echo_ms;

	if (sample->rtt_us > 0)
		lp_hear(lp, conn);
	if ((s32)rtt_ms > 0)
		lp->inference_ms = params->inference * rtt_ms;
	lp->in_inference =
		lp->indicated_ms && now_ms - lp->indicated_ms < lp->inference_ms;
	if (lp_is_near(params, lp))
		lp_give_way(lp, conn);
}

static void lp_info(const struct lp_params *params, const struct lp_state *lp,
		    const struct cc_conn *conn, struct cc_info *info)
{
	u32 average_ms = lp->average >> LP_AVERAGE_SHIFT;

	info->values[0] = average_ms > lp->min_ms ? average_ms - lp->min_ms : 0;
	info->values[1] = lp_threshold(params, lp);
	info->values[2] = lp->indications;
	info->values[3] = lp->rate;
}

/* In figures: TCP-LP, #6b6b10, bowl. */
CC_ALGORITHM(
	lp, .title = "TCP-LP", .family = CC_FAMILY_DELAY, .year = 2003,
	.source = "A. Kuzmanovic, E. Knightly, TCP-LP: A Distributed Algorithm for Low "
		  "Priority Data Transfer, INFOCOM 2003",
	.summary = "Takes only the capacity that others leave: the window falls as soon "
		   "as one-way times show a queue.",
	.flags = CC_NEEDS_ONE_WAY | CC_RENOS_BOUND,
	.info_names = {"delay_above_min_ms", "threshold_ms", "indications",
		       "remote_ticks_per_s"});
