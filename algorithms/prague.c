/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP Prague: DCTCP for the Internet, at the same pace whatever the RTT.
 *
 * As in DCTCP the share F of what was delivered with a congestion mark moves an average,
 * and a mark cuts the window by half of it, at most once per round trip:
 *
 *     alpha = (1 - g) alpha + g F
 *     cwnd = cwnd (1 - alpha / 2)
 *
 * Unlike DCTCP the window is a fraction, it also grows during the reduction by what comes
 * without a mark, and growth is paced. From `transition_rounds` round trips on, a flow
 * whose RTT T is below T' = `rtt_virtual` does per T' what others do per RTT: alpha is
 * averaged and the window cut once per T', and each segment delivered without a mark adds
 *
 *     (T / T')^2 / cwnd
 *
 * which is a segment per T' in each T', so that flows of different RTTs gain their rates
 * alike and share a marking queue nearly evenly. Loss halves the window. Pacing is at the
 * window per smoothed RTT, in slow start at twice that.
 *
 * Interpretation: L4S gives Prague a codepoint of its own, ECT(1), and counts of marked
 * bytes in each ACK (AccECN), and a queue beside the classic one (DualPI2). Neither the
 * simulator's TCP nor BPF in the kernel offers the first two to an algorithm. So Prague
 * runs as DCTCP does: ECT(0), the exact echo of DCTCP, an ACK with ECN-Echo being one of
 * marked segments only. Its queue must be its own, or shared with DCTCP: a step, here at
 * about a millisecond.
 *
 * Interpretation: the reference implementation keeps alpha in 1/2^20, as here. It also
 * limits bursts to 250 us of the pacing rate; how many segments leave together is the
 * stack's to say in both our worlds.
 *
 * Interpretation: a window halved for loss takes effect at once, as there is no
 * proportional reduction where an algorithm sets the window at each ACK: nothing is sent
 * until as much has left the network. Nothing grows until the loss is repaired.
 */
#include "cc.h"

#define prague_parameters(P)                                                             \
	P(gain_shift, "bits", 4, CC_RANGE(1, 10),                                        \
	  "g = 1/2^gain_shift, the weight of the latest round in alpha",                 \
	  "draft-briscoe-iccrg-prague-congestion-control: 1/16")                         \
	P(alpha_initial, "1/1024", 1024, CC_RANGE(0, 1024), "alpha of a new connection", \
	  "TCP Prague; as DCTCP")                                                        \
	P(rtt_virtual, "us", 25000, CC_RANGE(0, 1000000),                                \
	  "RTT whose growth flows of shorter RTTs have; 0: each its own",                \
	  "TCP Prague: 25 ms")                                                           \
	P(transition_rounds, "round trips", 500, CC_RANGE(0, 1000000),                   \
	  "after so many that begins", "TCP Prague")                                     \
	P(pacing, "%", 100, CC_RANGE(50, 400),                                           \
	  "pacing rate relative to the window per smoothed RTT", "TCP Prague")           \
	P(pacing_slow_start, "%", 200, CC_RANGE(50, 400), "the same in slow start",      \
	  "TCP Prague")

#define prague_presets(S)                                                        \
	S("own-rtt", "each flow grows by its own RTT, as DCTCP's do (ablation)", \
	  CC_SET(prague, rtt_virtual, 0))

#define prague_hooks(H)         \
	H(prague, init)         \
	H(prague, ssthresh)     \
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
	u64 round_start_us;
	u64 reduced_us; /* time of the last reduction for a mark */
	u64 round_delivered;
	u64 round_marked;
	u64 seen_marked; /* delivered_ce_segs as of the last ACK */
	u32 round_end_seq;
	u32 trip_end_seq;    /* end of this round trip */
	u32 reduced_end_seq; /* what was sent at the last reduction */
	u32 trips;
	u32 alpha;    /* << PRAGUE_ALPHA_SHIFT */
	u32 fraction; /* of cwnd, << PRAGUE_SHIFT */
	u32 loss_cwnd;
	u8 has_reduced;
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
	*prague = (struct prague_state){.alpha = params->alpha_initial
						 << (PRAGUE_ALPHA_SHIFT - 10),
					.trip_end_seq = conn->snd_nxt,
					.seen_marked = conn->delivered_ce_segs};
	prague_begin_round(prague, conn);
}

/* How long a round is at least; 0: a round trip. */
static u32 prague_round_us(const struct prague_params *params,
			   const struct prague_state *prague, const struct cc_conn *conn)
{
	u8 is_short = conn->srtt_us < params->rtt_virtual;

	return is_short && prague->trips >= params->transition_rounds
		       ? params->rtt_virtual
		       : 0;
}

static void prague_update_alpha(const struct prague_params *params,
				struct prague_state *prague, const struct cc_conn *conn)
{
	u64 delivered = conn->delivered_segs - prague->round_delivered;
	u64 marked = conn->delivered_ce_segs - prague->round_marked;
	u32 decay = prague->alpha >> params->gain_shift;
	u32 part = 0;

	if (!delivered)
		return;
	if (marked < delivered)
		part = (u32)((marked << PRAGUE_ALPHA_SHIFT) / delivered);
	else
		part = PRAGUE_ALPHA_ONE;
	prague->alpha = prague->alpha - decay + (part >> params->gain_shift);
}

/* The part of a segment that a round trip of growth adds, << PRAGUE_SHIFT. */
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

/* Sets whole window and fraction. */
static void prague_set_window(struct prague_state *prague, struct cc_conn *conn,
			      u64 window)
{
	u64 least = (u64)CC_CWND_MIN << PRAGUE_SHIFT;
	u64 most = (u64)conn->cwnd_clamp_segs << PRAGUE_SHIFT;

	if (window < least)
		window = least;
	if (window > most)
		window = most;
	conn->cwnd_segs = cc_max((u32)(window >> PRAGUE_SHIFT), 1);
	prague->fraction = window & (PRAGUE_ONE - 1);
}

static u64 prague_window(const struct prague_state *prague, const struct cc_conn *conn)
{
	return ((u64)conn->cwnd_segs << PRAGUE_SHIFT) + prague->fraction;
}

static void prague_grow(const struct prague_params *params, struct prague_state *prague,
			struct cc_conn *conn, u32 acked)
{
	u32 left = acked;

	if (!cc_may_grow(conn) || conn->state == CC_RECOVERY)
		return;
	if (cc_in_slow_start(conn))
		left = cc_slow_start(conn, acked);
	if (!left)
		return;
	prague_set_window(prague, conn,
			  prague_window(prague, conn) +
				  (u64)left * prague_increase(params, prague, conn) /
					  cc_max(conn->cwnd_segs, 1));
}

/* Cuts by alpha / 2, unless this round has been answered already. */
static void prague_reduce(const struct prague_params *params, struct prague_state *prague,
			  struct cc_conn *conn)
{
	u64 window = prague_window(prague, conn);
	u32 round_us = prague_round_us(params, prague, conn);
	/* half of window * alpha, whose product has 82 bits */
	u64 cut = ((u64)conn->cwnd_segs * prague->alpha
		   << (PRAGUE_SHIFT - PRAGUE_ALPHA_SHIFT - 1)) +
		  ((u64)prague->fraction * prague->alpha >> (PRAGUE_ALPHA_SHIFT + 1));

	if (conn->state == CC_RECOVERY || conn->state == CC_LOSS)
		return;
	if (prague->has_reduced &&
	    (cc_seq_after(prague->reduced_end_seq, conn->snd_una) ||
	     conn->now_us - prague->reduced_us < round_us))
		return;
	prague->has_reduced = 1;
	prague->reduced_us = conn->now_us;
	prague->reduced_end_seq = conn->snd_nxt;
	prague->loss_cwnd = conn->cwnd_segs;
	prague_set_window(prague, conn, window - cut);
	conn->ssthresh_segs = conn->cwnd_segs;
}

static void prague_pace(const struct prague_params *params, struct cc_conn *conn)
{
	u32 percent = cc_in_slow_start(conn) ? params->pacing_slow_start : params->pacing;
	u64 bytes = (u64)cc_max(conn->cwnd_segs, conn->in_flight_segs) * conn->mss_bytes;

	if (!conn->srtt_us || conn->srtt_us == CC_NO_RTT)
		return;
	/* beyond 16 GB the rate is not told apart */
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
	if (!cc_seq_after(prague->trip_end_seq, conn->snd_una)) {
		prague->trip_end_seq = conn->snd_nxt;
		prague->trips = cc_saturate((u64)prague->trips + 1);
	}
	if (!cc_seq_after(prague->round_end_seq, conn->snd_una) &&
	    conn->now_us - prague->round_start_us >=
		    prague_round_us(params, prague, conn)) {
		prague_update_alpha(params, prague, conn);
		prague_begin_round(prague, conn);
	}
	prague_grow(params, prague, conn, sample->acked_sacked_segs - marked);
	if (marked)
		prague_reduce(params, prague, conn);
	prague_pace(params, conn);
}

/* Ends slow start; what is cut is set_state's to do, or cong_control's for a mark. */
static u32 prague_ssthresh(const struct prague_params *params,
			   struct prague_state *prague, const struct cc_conn *conn)
{
	return cc_max(conn->cwnd_segs, CC_CWND_MIN);
}

static void prague_set_state(const struct prague_params *params,
			     struct prague_state *prague, struct cc_conn *conn,
			     u32 new_state)
{
	u8 is_marked = conn->delivered_ce_segs != prague->seen_marked;

	if (new_state == CC_LOSS) {
		/* The stack has set the window, which grows anew from it. */
		prague->fraction = 0;
		prague->loss_cwnd = conn->prior_cwnd_segs;
		conn->ssthresh_segs = cc_max(conn->prior_cwnd_segs / 2, CC_CWND_MIN);
	}
	/* CWR without a mark is a loss that a tail loss probe repaired. */
	if ((new_state == CC_RECOVERY && conn->state != CC_RECOVERY) ||
	    (new_state == CC_CWR && !is_marked)) {
		prague->loss_cwnd = conn->cwnd_segs;
		prague_set_window(prague, conn, prague_window(prague, conn) / 2);
		conn->ssthresh_segs = conn->cwnd_segs;
	}
}

static u32 prague_undo_cwnd(const struct prague_params *params,
			    struct prague_state *prague, const struct cc_conn *conn)
{
	return cc_max(conn->cwnd_segs, prague->loss_cwnd);
}

static void prague_info(const struct prague_params *params,
			const struct prague_state *prague, const struct cc_conn *conn,
			struct cc_info *info)
{
	info->values[0] = prague->alpha >> (PRAGUE_ALPHA_SHIFT - 10);
	info->values[1] = prague_round_us(params, prague, conn);
	info->values[2] = prague->fraction >> (PRAGUE_SHIFT - 10);
}

CC_ALGORITHM(
	prague, .title = "TCP Prague", .family = CC_FAMILY_ECN, .year = 2019,
	.source = "K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, Prague Congestion "
		  "Control, draft-briscoe-iccrg-prague-congestion-control; RFC 9330 to "
		  "9332",
	.summary =
		"DCTCP with a fractional window, pacing and growth that does not depend "
		"on the RTT.",
	.flags = CC_NEEDS_ECN | CC_NEEDS_PACING,
	.info_names = {"alpha_x1024", "round_us", "fraction_x1024"});
