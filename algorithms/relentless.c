/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Relentless: each lost segment reduces the window by one.
 *
 * Growth is that of standard TCP. A recovery that retransmitted n segments ends with
 *
 *     cwnd = ssthresh = cwnd before - n
 *
 * In each round trip the window w gains one segment, and w p segments are lost. It
 * therefore settles where one segment is lost in each round trip:
 *
 *     w = 1 / p
 *
 * Other flows in the same queue get what Relentless flows leave. The author therefore
 * demands fair queueing in the network. After a timeout, slow start leads back to the
 * former window.
 *
 * As in Mathis's module for Linux: the algorithm counts retransmissions since the last
 * growth, those of a tail loss probe included. There is no growth in recovery. At w =
 * 1 / p recoveries follow each other, so the window stays below that. If losses come
 * at regular intervals and each costs a round trip of recovery, w = 1 / (2 p).
 *
 * Unlike the module, the end of recovery also sets cwnd. The stack of the module's
 * time left the window below ssthresh, and slow start then raised it to ssthresh.
 * Today's stack ends recovery with the ssthresh from before the losses, so the window
 * would never shrink.
 *
 * Interpretation: before growth, the module raises the window to the data in flight.
 * This undoes a reduction by the stack of its time. Today's stack makes no such
 * reduction. After a recovery, more is in flight than the reduced window allows, and
 * the excess has yet to leave the network. If the window were raised, it would regain
 * most of what it gave up, and a full queue would lose dozens of segments in each
 * round trip. So raise_to_flight is off. This has a cost if half of a window is lost
 * at the end of slow start. During recovery the window still has its former size, so
 * as much is lost again. Without the raise, the window falls by both losses.
 *
 * Interpretation: the law does not mention recoveries. With grow_in_recovery, segments
 * delivered in a recovery therefore count towards growth when it ends. The switch is
 * off, as in the module.
 *
 * Interpretation: a reduction because of congestion marks (ECN), without a
 * retransmission, lowers the window by mark_cost segments. The default is 1, because
 * RFC 3168 treats a mark as a loss, and each lost segment costs one. The module
 * ignored marks. A later module of the same author subtracts 1/16 segment for each
 * marked segment.
 */
#include "cc.h"

#define relentless_parameters(P)                                              \
	P(mark_cost, "segments", 1, CC_RANGE(0, 1000),                        \
	  "reduction of the window for a congestion mark", "interpretation")  \
	P(grow_in_recovery, "switch", 0, CC_SWITCH,                           \
	  "segments delivered in recovery count towards growth when it ends", \
	  "interpretation")                                                   \
	P(raise_to_flight, "switch", 0, CC_SWITCH,                            \
	  "before growth the window is raised to what is in flight",          \
	  "interpretation; Mathis's module does so")

#define relentless_presets(S)

#define relentless_hooks(H)       \
	H(relentless, init)       \
	H(relentless, ssthresh)   \
	H(relentless, cong_avoid) \
	H(relentless, cwnd_event) \
	H(relentless, info)

CC_PARAMS(relentless);

struct relentless_state {
	u64 delivered_segs; /* all fields but the last: as of the last growth */
	u32 cwnd_segs;	    /* 0: none yet */
	u32 resent_segs;
	u32 given_up_segs; /* by the last reduction */
};

static void relentless_init(const struct relentless_params *params,
			    struct relentless_state *relentless, struct cc_conn *conn)
{
	*relentless = (struct relentless_state){0};
}

static u32 relentless_ssthresh(const struct relentless_params *params,
			       struct relentless_state *relentless,
			       const struct cc_conn *conn)
{
	return cc_max(conn->cwnd_segs, CC_CWND_MIN);
}

static void relentless_cong_avoid(const struct relentless_params *params,
				  struct relentless_state *relentless,
				  struct cc_conn *conn, u32 acked)
{
	u32 in_flight = cc_min(conn->in_flight_segs, conn->cwnd_clamp_segs);

	if (params->raise_to_flight)
		conn->cwnd_segs = cc_max(conn->cwnd_segs, in_flight);
	cc_standard_growth(conn, acked);
	relentless->cwnd_segs = conn->cwnd_segs;
	relentless->resent_segs = conn->resent_segs;
	relentless->delivered_segs = conn->delivered_segs;
}

/* Segments by which the ending reduction lowers the window. */
static u32 relentless_cost(const struct relentless_params *params,
			   const struct relentless_state *relentless,
			   const struct cc_conn *conn)
{
	u32 resent = conn->resent_segs - relentless->resent_segs;

	if (!resent && conn->state == CC_CWR)
		return params->mark_cost;
	return resent;
}

static void relentless_cwnd_event(const struct relentless_params *params,
				  struct relentless_state *relentless,
				  struct cc_conn *conn, u32 event)
{
	u32 before = relentless->cwnd_segs ? relentless->cwnd_segs : conn->cwnd_segs;
	u64 delivered = conn->delivered_segs - relentless->delivered_segs;
	u32 cost;

	if (event != CC_EVENT_COMPLETE_CWR)
		return;
	cost = relentless_cost(params, relentless, conn);
	relentless->given_up_segs = cost;
	conn->cwnd_segs = cc_max(before > cost ? before - cost : 0, CC_CWND_MIN);
	if (params->grow_in_recovery)
		cc_additive_increase(conn, conn->cwnd_segs, cc_saturate(delivered));
	conn->cwnd_segs = cc_min(conn->cwnd_segs, conn->cwnd_clamp_segs);
	conn->ssthresh_segs =
		cc_clamp(conn->cwnd_segs, CC_CWND_MIN, CC_SSTHRESH_INFINITE);
	/* The next reduction may begin before the window grows. */
	relentless->cwnd_segs = conn->cwnd_segs;
	relentless->resent_segs = conn->resent_segs;
	relentless->delivered_segs = conn->delivered_segs;
}

static void relentless_info(const struct relentless_params *params,
			    const struct relentless_state *relentless,
			    const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = relentless->given_up_segs;
}

/* In figures: Relentless TCP, #7a3b12, x. */
CC_ALGORITHM(relentless, .title = "Relentless TCP", .family = CC_FAMILY_LOSS,
	     .year = 2009,
	     .source = "M. Mathis, Relentless Congestion Control, PFLDNeT 2009; "
		       "draft-mathis-iccrg-relentless-tcp",
	     .summary = "Gives up one segment for each lost one, and nothing else.",
	     .info_names = {"given_up_segs"});
