/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * HSTCP-LP: HighSpeed TCP that yields as soon as the queue on the forward path grows.
 *
 * The window w grows by a(w) segments per round trip, and a loss reduces it by the
 * share b(w), as in HighSpeed TCP (RFC 3649). HSTCP-LP also has the early indications
 * of TCP-LP. The timestamps in an ACK give the one-way time d of the data: the
 * receiver's timestamp minus the sender's timestamp that the ACK echoes. The sender
 * keeps an average of d,
 *
 *     average = 7/8 average + 1/8 d
 *
 * and assumes that congestion is near as soon as
 *
 *     average > d_min + threshold (d_max - d_min)
 *
 * An ACK that meets this condition is an indication, and reduces the window by the
 * share b(w). During the next `inference` RTTs the window does not grow, and another
 * indication reduces it to one segment.
 *
 * Interpretation: Linux has no such algorithm, and we did not find the paper's own
 * code. The part from TCP-LP follows the paper, adapted to real clocks; Linux's TCP-LP
 * (lp) has other rules. The maximum d_max is the second largest time, so that a single
 * outlier does not count. An early indication does not change ssthresh. Slow start
 * therefore leads back to the former window, unless a loss has set ssthresh (parameter
 * cut_ssthresh). After an indication, d_min becomes the average, and d_max becomes the
 * average plus half the smoothed RTT (parameter restart_range). The paper never resets
 * them. It therefore never adapts to a longer path, or to a queue that others keep
 * filled.
 *
 * Interpretation: the offset between the two clocks is unknown, and on Linux it is
 * random, so only differences of times count. Both clocks have ticks of a millisecond,
 * so times of one path differ by a tick. The threshold is therefore at least `margin`
 * ticks beyond d_min, and a time equal to the threshold is no indication.
 *
 * Interpretation: a receiver may delay an ACK until a second segment arrives. This
 * wait is no sign of a queue, so it does not count (skip_delayed). While the window is
 * odd and small, the times of all ACKs would contain it. One indication would follow
 * another, and the window would stay at a segment or two for good. An ACK echoes the
 * timestamp of the first segment that it acknowledges. The RTT of this segment has
 * just moved the smoothed RTT by 1/8 of its distance. The wait to subtract is
 * therefore
 *
 *     wait = srtt before + 8 (srtt - srtt before) - RTT of the last segment acknowledged
 * An ACK for one segment may have waited for the receiver's timer. Its time does not
 * count if nothing else is in flight, or if other ACKs are for more segments.
 */
#include "cc_highspeed.h"

#define hstcplp_parameters(P)                                                           \
	P(threshold, "%", 15, CC_RANGE(0, 100),                                         \
	  "share of the range of one-way times beyond which congestion is near",        \
	  "Kuzmanovic and Knightly 2003: 0.15")                                         \
	P(inference, "RTTs", 3, CC_RANGE(0, 100),                                       \
	  "time after an indication without growth; another indication in it "          \
	  "leaves one segment",                                                         \
	  "Kuzmanovic and Knightly 2003")                                               \
	P(restart_range, "switch", 1, CC_SWITCH,                                        \
	  "an indication begins a new range of one-way times",                          \
	  "interpretation; so does Linux's TCP-LP")                                     \
	P(cut_ssthresh, "switch", 0, CC_SWITCH,                                         \
	  "an indication also lowers ssthresh to the window: no slow start follows",    \
	  "interpretation; the paper describes congestion avoidance alone")             \
	P(skip_delayed, "switch", 1, CC_SWITCH,                                         \
	  "leave out the time for which the receiver delayed an ACK", "interpretation") \
	P(margin, "ticks", 1, CC_RANGE(0, 1000),                                        \
	  "smallest distance of the threshold from the smallest one-way time",          \
	  "interpretation")

#define hstcplp_presets(S)

#define hstcplp_hooks(H)       \
	H(hstcplp, init)       \
	H(hstcplp, ssthresh)   \
	H(hstcplp, cong_avoid) \
	H(hstcplp, pkts_acked) \
	H(hstcplp, info)

/* One-way delays count in ticks beyond the first one, the average in 1/8 ticks. */
#define HSTCPLP_AVERAGE_SHIFT 3

/* Segments, up to which increase and cut are those of standard TCP (RFC 3649). */
#define HSTCPLP_LOW_WINDOW 38u

CC_PARAMS(hstcplp);

struct hstcplp_state {
	s64 average; /* 1/8 ticks */
	s64 min;
	s64 max;
	s64 largest; /* max is the second largest */
	u64 indicated_us;
	u64 inference_us;
	u32 first_ticks;
	u32 srtt_us; /* as of the ACK before */
	u32 indications;
	u32 row; /* of the window, see cc_highspeed.h */
	u8 has_times;
	u8 indicated; /* ever */
	u8 in_inference;
	u8 delayed; /* see cc_count_delayed */
};

static void hstcplp_init(const struct hstcplp_params *params,
			 struct hstcplp_state *hstcplp, struct cc_conn *conn)
{
	*hstcplp = (struct hstcplp_state){.srtt_us = conn->srtt_us};
	cc_highspeed_clamp(conn);
}

static u32 hstcplp_after_cut(const struct hstcplp_state *hstcplp,
			     const struct cc_conn *conn)
{
	u32 cwnd = conn->cwnd_segs;

	return cwnd - cc_highspeed_cut(HSTCPLP_LOW_WINDOW, hstcplp->row, cwnd);
}

static u32 hstcplp_ssthresh(const struct hstcplp_params *params,
			    struct hstcplp_state *hstcplp, const struct cc_conn *conn)
{
	return cc_max(hstcplp_after_cut(hstcplp, conn), CC_CWND_MIN);
}

static void hstcplp_cong_avoid(const struct hstcplp_params *params,
			       struct hstcplp_state *hstcplp, struct cc_conn *conn,
			       u32 acked)
{
	if (hstcplp->in_inference || !cc_reaches_avoidance(conn, &acked))
		return;
	hstcplp->row =
		cc_highspeed_find(HSTCPLP_LOW_WINDOW, hstcplp->row, conn->cwnd_segs);
	cc_highspeed_grow(conn, hstcplp->row, 0, acked);
}

static void hstcplp_add_time(struct hstcplp_state *hstcplp, u32 ticks)
{
	s64 time;

	if (!hstcplp->has_times) {
		hstcplp->has_times = 1;
		hstcplp->first_ticks = ticks;
		return;
	}
	time = (s32)(ticks - hstcplp->first_ticks);
	if (time < hstcplp->min)
		hstcplp->min = time;
	if (time > hstcplp->largest) {
		hstcplp->max = hstcplp->largest;
		hstcplp->largest = time;
	} else if (time > hstcplp->max) {
		hstcplp->max = time;
	}
	hstcplp->average += time - (hstcplp->average >> HSTCPLP_AVERAGE_SHIFT);
}

/* Excess of the average over the smallest delay, ticks. The threshold limits it. */
static s64 hstcplp_above(const struct hstcplp_state *hstcplp)
{
	return (hstcplp->average >> HSTCPLP_AVERAGE_SHIFT) - hstcplp->min;
}

static s64 hstcplp_threshold(const struct hstcplp_params *params,
			     const struct hstcplp_state *hstcplp)
{
	u64 share = (u64)(hstcplp->max - hstcplp->min) * params->threshold / 100;

	return (s64)(share > params->margin ? share : params->margin);
}

static void hstcplp_restart_range(struct hstcplp_state *hstcplp,
				  const struct cc_conn *conn)
{
	u32 srtt_us = conn->srtt_us == CC_NO_RTT ? 0 : conn->srtt_us;

	hstcplp->min = hstcplp->average >> HSTCPLP_AVERAGE_SHIFT;
	hstcplp->max = hstcplp->min + srtt_us / CC_USEC_PER_MSEC / 2;
	hstcplp->largest = hstcplp->max;
}

static void hstcplp_give_way(const struct hstcplp_params *params,
			     struct hstcplp_state *hstcplp, struct cc_conn *conn)
{
	u32 cut = hstcplp_after_cut(hstcplp, conn);

	conn->cwnd_segs = hstcplp->in_inference ? 1 : cc_max(cut, 1);
	if (params->cut_ssthresh)
		conn->ssthresh_segs =
			cc_min(conn->ssthresh_segs, cc_max(conn->cwnd_segs, CC_CWND_MIN));
	if (params->restart_range)
		hstcplp_restart_range(hstcplp, conn);
	hstcplp->indicated = 1;
	hstcplp->indicated_us = conn->now_us;
	hstcplp->indications++;
}

/* Time that the receiver waited for a second segment, us. */
static u32 hstcplp_wait_us(const struct hstcplp_state *hstcplp,
			   const struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	s64 before = hstcplp->srtt_us;
	s64 first = before + 8 * ((s64)conn->srtt_us - before);

	if (sample->pkts_acked < 2 || first <= sample->rtt_us)
		return 0;
	if (hstcplp->srtt_us == CC_NO_RTT || conn->srtt_us == CC_NO_RTT)
		return 0;
	return cc_saturate((u64)(first - sample->rtt_us));
}

/* Detect an ACK for one segment that may have waited for the receiver's timer. */
static u8 hstcplp_may_have_waited(struct hstcplp_state *hstcplp,
				  const struct cc_conn *conn, u32 acked)
{
	u8 before = hstcplp->delayed;

	hstcplp->delayed = cc_count_delayed(before, acked);
	return hstcplp->delayed < before || (acked == 1 && !conn->in_flight_segs);
}

/* Take the one-way delay of an ACK; return true if it has one. */
static u8 hstcplp_take_time(const struct hstcplp_params *params,
			    struct hstcplp_state *hstcplp, const struct cc_conn *conn,
			    const struct cc_ack_sample *sample)
{
	u32 wait_us = 0;

	if (!conn->stamp_ms)
		return 0;
	if (params->skip_delayed) {
		if (hstcplp_may_have_waited(hstcplp, conn, sample->pkts_acked))
			return 0;
		wait_us = hstcplp_wait_us(hstcplp, conn, sample);
	}
	hstcplp_add_time(hstcplp,
			 conn->stamp_ms - conn->echo_ms - wait_us / CC_USEC_PER_MSEC);
	return 1;
}

static void hstcplp_pkts_acked(const struct hstcplp_params *params,
			       struct hstcplp_state *hstcplp, struct cc_conn *conn,
			       const struct cc_ack_sample *sample)
{
	u8 is_new = 0;

	if (sample->rtt_us > 0) {
		hstcplp->inference_us = (u64)sample->rtt_us * params->inference;
		is_new = hstcplp_take_time(params, hstcplp, conn, sample);
	}
	hstcplp->srtt_us = conn->srtt_us;
	hstcplp->in_inference =
		hstcplp->indicated &&
		conn->now_us - hstcplp->indicated_us < hstcplp->inference_us;
	if (is_new && hstcplp_above(hstcplp) > hstcplp_threshold(params, hstcplp))
		hstcplp_give_way(params, hstcplp, conn);
}

static void hstcplp_info(const struct hstcplp_params *params,
			 const struct hstcplp_state *hstcplp, const struct cc_conn *conn,
			 struct cc_info *info)
{
	s64 above = hstcplp_above(hstcplp);

	info->values[0] = above > 0 ? cc_saturate((u64)above) : 0;
	info->values[1] = cc_saturate((u64)hstcplp_threshold(params, hstcplp));
	info->values[2] = hstcplp->indications;
}

/* In figures: HSTCP-LP, #a39119, arch. */
CC_ALGORITHM(hstcplp, .title = "HSTCP-LP", .family = CC_FAMILY_HYBRID, .year = 2004,
	     .source = "A. Kuzmanovic, E. Knightly, R. L. Cottrell, HSTCP-LP: A Protocol "
		       "for Low-Priority Bulk Data Transfer in High-Speed High-RTT "
		       "Networks, PFLDnet 2004",
	     .summary = "HighSpeed TCP that takes only the capacity that others leave: "
			"the window falls as soon as one-way times show a queue.",
	     .flags = CC_NEEDS_ONE_WAY,
	     .info_names = {"delay_above_min_ticks", "threshold_ticks", "indications"});
