/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP-LP: a low-priority TCP that gives way as soon as the queue on the way there grows.
 *
 * The one-way time d of each ACK comes from timestamps: the receiver's clock less the one
 * that it echoes. An average is kept of it,
 *
 *     average = 7/8 average + 1/8 d
 *
 * and congestion is near as soon as
 *
 *     average > d_min + threshold (d_max - d_min)
 *
 * Then the window is halved; if that was already the case within the last inference RTTs,
 * it falls to one segment. During those RTTs it does not grow, otherwise it does as that
 * of standard TCP, which a loss halves.
 *
 * As in Linux: d_max is the second largest time, so that a single outlier does not count;
 * an early indication leaves ssthresh alone, so that slow start leads back to the window
 * of before unless a loss has set ssthresh (parameter cut_ssthresh). After an indication
 * d_min is the average and d_max twice that (parameter restart_range); the paper keeps
 * both for good, and so never adapts to a longer path or to a queue that others keep
 * filled.
 *
 * Unlike Linux: the rate of the remote clock is not estimated. Both the simulator's hosts
 * and Linux have clocks of about a millisecond, the same at both ends.
 *
 * Interpretation: what is between the two clocks is unknown, and on today's Linux random,
 * so that twice the average means nothing. In its place d_max is the average and half the
 * smoothed RTT, which is the same where both ways are alike.
 *
 * Interpretation: the clocks' ticks make times of one path differ by a tick. With Linux's
 * comparison, which takes what is equal for too much, the first ACK would be an
 * indication, and all would be on paths of less than 7 ms. Here what is equal is within,
 * and the threshold is `margin` ticks beyond d_min at least.
 *
 * Interpretation: the receiver's wait for a second segment is no sign of a queue
 * (skip_delayed). It would be part of the times of all ACKs while the window is odd and
 * small, an indication would follow the other, and the window would stay at a segment or
 * two for good, as Linux's must where ACKs are delayed. The timestamp that is echoed is
 * that of the first segment acknowledged, and the smoothed RTT has just moved by 1/8 of
 * the distance to its RTT, so that
 *
 *     wait = srtt before + 8 (srtt - srtt before) - RTT of the last segment acknowledged
 *
 * which is taken off. An ACK for one segment may have waited for the receiver's timer:
 * its time does not count if nothing else is in flight, or if other ACKs are for more.
 *
 * HSTCP-LP, which is this with the growth and cut of HighSpeed TCP, is left out: that is
 * a table of highspeed.c's, and no description of the combination was found.
 */
#include "cc.h"

#define lp_parameters(P)                                                                \
	P(threshold, "%", 15, CC_RANGE(0, 100),                                         \
	  "share of the range of one-way times beyond which congestion is near",        \
	  "Linux; Kuzmanovic and Knightly 2003: 0.15")                                  \
	P(inference, "RTTs", 3, CC_RANGE(0, 100),                                       \
	  "time after an indication without growth, in which another one leaves one "   \
	  "segment",                                                                    \
	  "Linux; Kuzmanovic and Knightly 2003")                                        \
	P(restart_range, "switch", 1, CC_SWITCH,                                        \
	  "an indication begins a new range of one-way times", "Linux")                 \
	P(cut_ssthresh, "switch", 0, CC_SWITCH,                                         \
	  "an indication also lowers ssthresh to the window: no slow start follows",    \
	  "interpretation; the paper knows congestion avoidance alone, Linux does not") \
	P(skip_delayed, "switch", 1, CC_SWITCH,                                         \
	  "leave out the time for which the receiver delayed an ACK",                   \
	  "interpretation; Linux counts all")                                           \
	P(margin, "ticks", 1, CC_RANGE(0, 1000),                                        \
	  "least distance of the threshold from the smallest time", "interpretation")

#define lp_presets(S)

#define lp_hooks(H)       \
	H(lp, init)       \
	H(lp, ssthresh)   \
	H(lp, cong_avoid) \
	H(lp, pkts_acked) \
	H(lp, info)

/* One-way times count in ticks beyond the first one's, the average in 1/8 ticks. */
#define LP_AVERAGE_SHIFT 3

CC_PARAMS(lp);

struct lp_state {
	s64 average; /* 1/8 ticks */
	s64 min;
	s64 max;
	s64 largest; /* max is the largest below */
	u64 indicated_us;
	u64 inference_us;
	u32 first_ticks;
	u32 srtt_us; /* as of the ACK before */
	u32 indications;
	u8 has_times;
	u8 indicated; /* ever */
	u8 in_inference;
	u8 delayed; /* see cc_count_delayed */
};

static void lp_init(const struct lp_params *params, struct lp_state *lp,
		    struct cc_conn *conn)
{
	*lp = (struct lp_state){.srtt_us = conn->srtt_us};
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

static void lp_add_time(struct lp_state *lp, u32 ticks)
{
	s64 time;

	if (!lp->has_times) {
		lp->has_times = 1;
		lp->first_ticks = ticks;
		return;
	}
	time = (s32)(ticks - lp->first_ticks);
	if (time < lp->min)
		lp->min = time;
	if (time > lp->largest) {
		lp->max = lp->largest;
		lp->largest = time;
	} else if (time > lp->max) {
		lp->max = time;
	}
	lp->average += time - (lp->average >> LP_AVERAGE_SHIFT);
}

/* How far beyond the smallest time the average is, and how far it may be; ticks. */
static s64 lp_above(const struct lp_state *lp)
{
	return (lp->average >> LP_AVERAGE_SHIFT) - lp->min;
}

static s64 lp_threshold(const struct lp_params *params, const struct lp_state *lp)
{
	u64 share = (u64)(lp->max - lp->min) * params->threshold / 100;

	return (s64)(share > params->margin ? share : params->margin);
}

static void lp_restart_range(struct lp_state *lp, const struct cc_conn *conn)
{
	u32 srtt_us = conn->srtt_us == CC_NO_RTT ? 0 : conn->srtt_us;

	lp->min = lp->average >> LP_AVERAGE_SHIFT;
	lp->max = lp->min + srtt_us / CC_USEC_PER_MSEC / 2;
	lp->largest = lp->max;
}

static void lp_give_way(const struct lp_params *params, struct lp_state *lp,
			struct cc_conn *conn)
{
	conn->cwnd_segs = lp->in_inference ? 1 : cc_max(conn->cwnd_segs / 2, 1);
	if (params->cut_ssthresh)
		conn->ssthresh_segs =
			cc_min(conn->ssthresh_segs, cc_max(conn->cwnd_segs, CC_CWND_MIN));
	if (params->restart_range)
		lp_restart_range(lp, conn);
	lp->indicated = 1;
	lp->indicated_us = conn->now_us;
	lp->indications++;
}

/* How long the receiver waited for a second segment, us. */
static u32 lp_wait_us(const struct lp_state *lp, const struct cc_conn *conn,
		      const struct cc_ack_sample *sample)
{
	s64 before = lp->srtt_us;
	s64 first = before + 8 * ((s64)conn->srtt_us - before);

	if (sample->pkts_acked < 2 || first <= sample->rtt_us)
		return 0;
	if (lp->srtt_us == CC_NO_RTT || conn->srtt_us == CC_NO_RTT)
		return 0;
	return cc_saturate((u64)(first - sample->rtt_us));
}

/* An ACK for one segment that may have waited for the receiver's timer. */
static u8 lp_may_have_waited(struct lp_state *lp, const struct cc_conn *conn, u32 acked)
{
	u8 before = lp->delayed;

	lp->delayed = cc_count_delayed(before, acked);
	return lp->delayed < before || (acked == 1 && !conn->in_flight_segs);
}

/* Takes the time that an ACK tells; whether it tells one. */
static u8 lp_take_time(const struct lp_params *params, struct lp_state *lp,
		       const struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	u32 wait_us = 0;

	if (!conn->one_way_ticks)
		return 0;
	if (params->skip_delayed) {
		if (lp_may_have_waited(lp, conn, sample->pkts_acked))
			return 0;
		wait_us = lp_wait_us(lp, conn, sample);
	}
	lp_add_time(lp, conn->one_way_ticks - wait_us / CC_USEC_PER_MSEC);
	return 1;
}

static void lp_pkts_acked(const struct lp_params *params, struct lp_state *lp,
			  struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	u8 is_new = 0;

	if (sample->rtt_us > 0) {
		lp->inference_us = (u64)sample->rtt_us * params->inference;
		is_new = lp_take_time(params, lp, conn, sample);
	}
	lp->srtt_us = conn->srtt_us;
	lp->in_inference =
		lp->indicated && conn->now_us - lp->indicated_us < lp->inference_us;
	if (is_new && lp_above(lp) > lp_threshold(params, lp))
		lp_give_way(params, lp, conn);
}

static void lp_info(const struct lp_params *params, const struct lp_state *lp,
		    const struct cc_conn *conn, struct cc_info *info)
{
	s64 above = lp_above(lp);

	info->values[0] = above > 0 ? cc_saturate((u64)above) : 0;
	info->values[1] = cc_saturate((u64)lp_threshold(params, lp));
	info->values[2] = lp->indications;
}

CC_ALGORITHM(
	lp, .title = "TCP-LP", .family = CC_FAMILY_DELAY, .year = 2003,
	.source = "A. Kuzmanovic, E. Knightly, TCP-LP: A Distributed Algorithm for Low "
		  "Priority Data Transfer, INFOCOM 2003",
	.summary = "Takes what others leave: the window falls as soon as one-way times "
		   "tell of a queue.",
	.flags = CC_NEEDS_ONE_WAY,
	.info_names = {"delay_above_min_ticks", "threshold_ticks", "indications"});
