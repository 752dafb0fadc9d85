/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP Prague: DCTCP for the Internet, which grows at the same pace at any RTT.
 *
 * As in DCTCP, the average alpha moves towards F, the share of delivered segments with
 * a congestion mark. A mark cuts the window by half of alpha, at most once per round
 * trip:
 *
 *     alpha = (1 - g) alpha + g F
 *     cwnd = cwnd (1 - alpha / 2)
 *
 * Unlike DCTCP, Prague counts fractions of a segment in its window, and paces. The
 * window also grows during a reduction, for each segment delivered without a mark.
 * After `transition_rounds` round trips, the rules change for a flow whose RTT T is
 * below T' = `rtt_virtual`. It then does per T' what others do per RTT. It updates
 * alpha once per T', and cuts the window at most once per T'. Each segment delivered
 * without a mark adds
 *
 *     (T / T')^2 / cwnd
 *
 * In each T' the rate thus grows by one segment per T'. The rates of flows of
 * different RTTs therefore grow equally, and such flows share a marking queue nearly
 * evenly. Loss halves the window. The pacing rate is the window divided by the
 * smoothed RTT, and twice that while the window is below half of ssthresh.
 *
 * Interpretation: L4S gives Prague a separate codepoint, ECT(1), and a queue next to
 * the classic one (DualPI2). A flow sends ECT(1) with the switch `ecn = "l4s"` of its
 * stack. By default Prague sends ECT(0) as DCTCP does. It must then have a separate
 * queue, or share one with DCTCP. Such a queue marks from a step on, here at about a
 * millisecond. In L4S, ACKs also count marks (Accurate ECN), here with the switch
 * `accecn = true`. By default Prague has the exact echo of DCTCP: an ACK with ECN-Echo
 * acknowledges only marked segments.
 *
 * Interpretation: the reference implementation keeps alpha in 1/2^20, as here. It also
 * limits bursts to 250 us of the pacing rate. In both our engines the stack decides
 * how many segments leave together.
 *
 * As in the reference (version 0.6): alpha is 1 until the first mark shows that a
 * queue on the path marks. A cut lowers the fractional window at once. The stack's
 * window follows it, rounded up, by a segment per ACK. The pacing rate depends on the
 * fractional window. After a timeout the fractional window is half of its former size,
 * and the stack's window returns to it in the same way. A loss that a tail loss probe
 * repaired cuts as a mark does. Nothing grows until a loss is repaired.
 *
 * Unlike the reference: the window counts in 1/2^30 of a segment and the RTT in
 * microseconds, not in 1/2^20 and 128 us. Growth on the shortest paths then follows
 * the law above. A timeout sets ssthresh to half of the window, and the first cut sets
 * the ssthresh of slow start. The reference uses the window alone. Pacing counts
 * payload, not packets.
 */
#include "cc.h"

#define prague_parameters(P)                                                             \
	P(gain_shift, "bits", 4, CC_RANGE(1, 10),                                        \
	  "g = 1/2^gain_shift, the weight of the latest round in alpha",                 \
	  "draft-briscoe-iccrg-prague-congestion-control: 1/16")                         \
	P(alpha_initial, "1/1024", 1024, CC_RANGE(0, 1024), "alpha of a new connection", \
	  "TCP Prague; as DCTCP")                                                        \
	P(rtt_virtual, "us", 25000, CC_RANGE(0, 1000000),                                \
	  "flows of shorter RTTs grow as if they had this RTT; 0: each grows by "        \
	  "its own RTT",                                                                 \
	  "TCP Prague: 25 ms")                                                           \
	P(transition_rounds, "round trips", 500, CC_RANGE(0, 1000000),                   \
	  "round trips after which rtt_virtual applies", "TCP Prague")                   \
	P(pacing, "%", 100, CC_RANGE(50, 400),                                           \
	  "pacing rate relative to the window per smoothed RTT", "TCP Prague")           \
	P(pacing_slow_start, "%", 200, CC_RANGE(50, 400),                                \
	  "pacing rate while the window is below half of ssthresh, relative to the "     \
	  "same",                                                                        \
	  "TCP Prague")

#define prague_presets(S)                                                        \
	S("own-rtt", "each flow grows by its own RTT, as DCTCP's do (ablation)", \
	  CC_SET(prague, rtt_virtual, 0))

#define prague_hooks(H)         \
	H(prague, init)         \
	H(prague, ssthresh)     \
	H(prague, cwnd_event)   \
	H(prague, set_state)    \
	H(prague, undo_cwnd)    \
	H(prague, cong_control) \
	H(prague, info)

/* Bits after the point, of alpha and of the window: at 20 us growth is tiny. */
#define PRAGUE_ALPHA_SHIFT 20
#define PRAGUE_ALPHA_ONE (1u << PRAGUE_ALPHA_SHIFT)
#define PRAGUE_SHIFT 30
#define PRAGUE_ONE (1u << PRAGUE_SHIFT)

CC_PARAMS(prague);

struct prague_state {
	u64 window;	 /* segments << PRAGUE_SHIFT */
	u64 loss_window; /* before the last loss, << PRAGUE_SHIFT */
	u64 round_start_us;
	u64 cut_us; /* time of the last cut for a mark */
	u64 round_delivered;
	u64 round_marked;
	u64 seen_marked; /* delivered_ce_segs as of the last ACK */
	u32 round_end_seq;
	u32 rounds; /* of congestion avoidance */
	u32 alpha;  /* << PRAGUE_ALPHA_SHIFT + gain_shift */
	u32 loss_cwnd;
	u8 has_seen_mark;
};

static void prague_begin_round(struct prague_state *prague, const struct cc_conn *conn)
{
	prague->round_start_us = conn->now_us;
	prague->round_end_seq = conn->snd_nxt;
	prague->round_delivered = conn->delivered_segs;
	prague->round_marked = conn->delivered_ce_segs;
}

static void prague_init(const struct prague_params *params, struct prague_state *prague,
			struct cc_conn *conn)
{
	*prague = (struct prague_state){
		.window = (u64)conn->cwnd_segs << PRAGUE_SHIFT,
		.alpha = params->alpha_initial
			 << (PRAGUE_ALPHA_SHIFT - 10 + params->gain_shift),
		.seen_marked = conn->delivered_ce_segs,
		.has_seen_mark = conn->delivered_ce_segs > 0};
	prague_begin_round(prague, conn);
}

/* Shortest round; 0: a round trip. */
static u32 prague_round_us(const struct prague_params *params,
			   const struct prague_state *prague, const struct cc_conn *conn)
{
	u8 is_short = conn->srtt_us < params->rtt_virtual;

	return is_short && !cc_in_slow_start(conn) &&
			       prague->rounds >= params->transition_rounds
		       ? params->rtt_virtual
		       : 0;
}

static u32 prague_alpha(const struct prague_params *params,
			const struct prague_state *prague)
{
	return prague->alpha >> params->gain_shift;
}

static void prague_update_alpha(const struct prague_params *params,
				struct prague_state *prague, const struct cc_conn *conn)
{
	u64 delivered = conn->delivered_segs - prague->round_delivered;
	u64 marked = conn->delivered_ce_segs - prague->round_marked;
	u32 part = PRAGUE_ALPHA_ONE;

	if (!delivered || !prague->has_seen_mark)
		return;
	if (marked < delivered)
		part = (u32)((marked << PRAGUE_ALPHA_SHIFT) / delivered);
	prague->alpha = prague->alpha - prague_alpha(params, prague) + part;
}

static void prague_end_round(const struct prague_params *params,
			     struct prague_state *prague, const struct cc_conn *conn)
{
	u64 lasted_us = conn->now_us - prague->round_start_us;

	if (cc_seq_after(prague->round_end_seq, conn->snd_una) ||
	    lasted_us < prague_round_us(params, prague, conn))
		return;
	prague_update_alpha(params, prague, conn);
	prague_begin_round(prague, conn);
	if (!cc_in_slow_start(conn))
		prague->rounds = cc_saturate((u64)prague->rounds + 1);
}

/* Growth of the window in a round trip, segments << PRAGUE_SHIFT. */
static u32 prague_increase(const struct prague_params *params,
			   const struct prague_state *prague, const struct cc_conn *conn)
{
	u32 virtual_us = prague_round_us(params, prague, conn);
	u64 ratio;

	if (!virtual_us)
		return PRAGUE_ONE;
	ratio = ((u64)conn->srtt_us << PRAGUE_ALPHA_SHIFT) / virtual_us;
	return (u32)(ratio * ratio >> (2 * PRAGUE_ALPHA_SHIFT - PRAGUE_SHIFT));
}

/* The fractional window rounded up, segments. */
static u32 prague_whole(const struct prague_state *prague)
{
	return cc_max((u32)((prague->window + PRAGUE_ONE - 1) >> PRAGUE_SHIFT), 1);
}

static u8 prague_is_repairing(const struct cc_conn *conn)
{
	return conn->state == CC_RECOVERY || conn->state == CC_LOSS;
}

static void prague_grow(const struct prague_params *params, struct prague_state *prague,
			struct cc_conn *conn, u32 acked)
{
	u64 most = (u64)conn->cwnd_clamp_segs << PRAGUE_SHIFT;

	if (!acked || !cc_may_grow(conn) || prague_is_repairing(conn))
		return;
	if (cc_in_slow_start(conn)) {
		acked = cc_slow_start(conn, acked);
		prague->window = (u64)conn->cwnd_segs << PRAGUE_SHIFT;
	}
	prague->window +=
		(u64)acked * prague_increase(params, prague, conn) / prague_whole(prague);
	if (prague->window > most)
		prague->window = most;
}

/* Set the window from the fractional one. */
static void prague_follow(const struct prague_state *prague, struct cc_conn *conn)
{
	u32 whole = prague_whole(prague);

	if (conn->cwnd_segs > cc_max(whole, CC_CWND_MIN)) {
		conn->cwnd_segs--;
		conn->ssthresh_segs = conn->cwnd_segs;
	} else if (conn->cwnd_segs < whole) {
		cc_grow(conn, 1);
	}
}

/* Cut the window by alpha / 2, unless this round has had a cut already. */
static void prague_cut(const struct prague_params *params, struct prague_state *prague,
		       const struct cc_conn *conn)
{
	u32 alpha = prague_alpha(params, prague);
	u64 whole = prague->window >> PRAGUE_SHIFT;
	u64 fraction = prague->window & (PRAGUE_ONE - 1);
	u32 round_us = prague_round_us(params, prague, conn);

	if (conn->now_us - prague->cut_us < round_us)
		return;
	prague->cut_us = conn->now_us;
	/* half of window * alpha, whose product has 82 bits */
	prague->window -= (whole * alpha << (PRAGUE_SHIFT - PRAGUE_ALPHA_SHIFT - 1)) +
			  (fraction * alpha >> (PRAGUE_ALPHA_SHIFT + 1));
}

static void prague_halve(struct prague_state *prague, const struct cc_conn *conn)
{
	prague->loss_cwnd = conn->cwnd_segs;
	prague->loss_window = prague->window;
	prague->window -= prague->window / 2;
}

static void prague_pace(const struct prague_params *params,
			const struct prague_state *prague, struct cc_conn *conn)
{
	u8 is_far_below = conn->cwnd_segs < conn->ssthresh_segs / 2;
	u32 percent = is_far_below ? params->pacing_slow_start : params->pacing;
	u64 whole = prague->window >> PRAGUE_SHIFT;
	u64 fraction = prague->window & (PRAGUE_ONE - 1);
	u64 bytes =
		whole * conn->mss_bytes + (fraction * conn->mss_bytes >> PRAGUE_SHIFT);

	if (!conn->srtt_us || conn->srtt_us == CC_NO_RTT)
		return;
	/* Larger windows have the rate of 16 GB. */
	if (bytes > 1ull << 34)
		bytes = 1ull << 34;
	conn->pacing_rate_bytes_per_s =
		bytes * CC_USEC_PER_SEC / conn->srtt_us * percent / 100;
}

static void prague_cong_control(const struct prague_params *params,
				struct prague_state *prague, struct cc_conn *conn,
				const struct cc_rate_sample *sample)
{
	u64 new_marked = conn->delivered_ce_segs - prague->seen_marked;
	u32 marked = cc_min(cc_saturate(new_marked), sample->acked_sacked_segs);

	prague->seen_marked = conn->delivered_ce_segs;
	if (marked)
		prague->has_seen_mark = 1;
	prague_grow(params, prague, conn, sample->acked_sacked_segs - marked);
	prague_follow(prague, conn);
	prague_end_round(params, prague, conn);
	prague_pace(params, prague, conn);
}

/* End slow start. The code that follows cuts the window. */
static u32 prague_ssthresh(const struct prague_params *params,
			   struct prague_state *prague, const struct cc_conn *conn)
{
	return cc_max(conn->cwnd_segs, CC_CWND_MIN);
}

static void prague_cwnd_event(const struct prague_params *params,
			      struct prague_state *prague, struct cc_conn *conn,
			      u32 event)
{
	if (event != CC_EVENT_LOSS)
		return;
	prague_halve(prague, conn);
	conn->ssthresh_segs = cc_half_window(conn);
}

static void prague_set_state(const struct prague_params *params,
			     struct prague_state *prague, struct cc_conn *conn,
			     u32 new_state)
{
	if (new_state == conn->state)
		return;
	if (new_state == CC_CWR)
		prague_cut(params, prague, conn);
	if (new_state == CC_RECOVERY)
		prague_halve(prague, conn);
}

static u32 prague_undo_cwnd(const struct prague_params *params,
			    struct prague_state *prague, const struct cc_conn *conn)
{
	if (prague->window < prague->loss_window)
		prague->window = prague->loss_window;
	return cc_max(conn->cwnd_segs, prague->loss_cwnd);
}

static void prague_info(const struct prague_params *params,
			const struct prague_state *prague, const struct cc_conn *conn,
			struct cc_info *info)
{
	info->values[0] = prague_alpha(params, prague) >> (PRAGUE_ALPHA_SHIFT - 10);
	info->values[1] = prague_round_us(params, prague, conn);
	info->values[2] = cc_saturate(prague->window >> (PRAGUE_SHIFT - 10));
}

/* In figures: TCP Prague, #2aa198, lozenge. */
CC_ALGORITHM(
	prague, .title = "TCP Prague", .family = CC_FAMILY_ECN, .year = 2019,
	.source = "K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, Prague Congestion "
		  "Control, draft-briscoe-iccrg-prague-congestion-control; RFC 9330 to "
		  "9332",
	.summary =
		"DCTCP with a fractional window, pacing and growth that does not depend "
		"on the RTT.",
	.flags = CC_NEEDS_ECN | CC_NEEDS_PACING,
	.info_names = {"alpha_x1024", "round_us", "window_x1024"});
