/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * DCTCP: cut the window in proportion to the share of marked segments.
 *
 * Data Center TCP needs early congestion marks from the network: a queue that marks
 * all packets beyond K packets. It needs an exact echo of each mark from the receiver.
 * Once per window of data, the average alpha moves towards F, the share of delivered
 * segments with a mark. The first mark of a window cuts cwnd by half of alpha:
 *
 *     alpha = (1 - g) alpha + g F
 *     cwnd = cwnd (1 - alpha / 2)
 *
 * Growth is that of standard TCP. The reaction to loss is, too: it keeps half the
 * window. If N synchronised flows share a link of C packets per second, each with W =
 * (C RTT + K) / N, then
 *
 *     alpha = sqrt(2 / W)
 *     queue between K + N - sqrt(2 N (C RTT + K)) / 2 and K + N
 *
 * (Alizadeh et al. 2010, section 3.3). They keep the link busy if K exceeds C RTT / 7.
 *
 * Both ends of the connection must act as DCTCP requires. In the simulator, set the
 * stack's switch `ecn = "dctcp"`. On the testbed the algorithm requests it.
 *
 * As in Linux: alpha counts in 1/1024 and begins at 1, so the first mark halves the
 * window. In a window without marks, an alpha below 16/1024 falls to 0 at once. A
 * timeout does not change alpha. A loss during the reduction for a mark halves the
 * remaining window. Before 5.1, Linux reacted to a loss as to a mark
 * (`halve_on_loss`). An option of those versions set alpha to 1 on a timeout
 * (`reset_on_timeout`).
 *
 * Unlike Linux: Linux runs Reno where ECN was not negotiated. Here a connection that
 * never received a mark halves its window on any congestion, which is the same. One
 * case differs: ECN was negotiated, no mark came, and a tail loss probe repaired a
 * loss. Linux then cuts by alpha.
 */
#include "cc.h"

#define dctcp_parameters(P)                                                              \
	P(gain_shift, "bits", 4, CC_RANGE(1, 10),                                        \
	  "g = 1/2^gain_shift, the weight of the latest window in alpha",                \
	  "RFC 8257 section 4.2: 1/16; Linux dctcp_shift_g")                             \
	P(alpha_initial, "1/1024", 1024, CC_RANGE(0, 1024), "alpha of a new connection", \
	  "Linux dctcp_alpha_on_init; RFC 8257 section 4.2: 1")                          \
	P(halve_on_loss, "switch", 1, CC_SWITCH,                                         \
	  "keep half the window on loss; else cut it by alpha / 2, as for a mark",       \
	  "RFC 8257 section 3.5; Linux since 5.1")                                       \
	P(reset_on_timeout, "switch", 0, CC_SWITCH, "a timeout sets alpha to 1",         \
	  "Linux dctcp_clamp_alpha_on_loss, until 5.0")

#define dctcp_presets(S)                                                             \
	S("linux-4.14", "Linux until 5.0: loss is answered like a mark",             \
	  CC_SET(dctcp, halve_on_loss, 0))                                           \
	S("brakmo2017", "Brakmo 2017: Linux 4.14-rc5", CC_SET(dctcp, gain_shift, 4), \
	  CC_SET(dctcp, alpha_initial, 1024), CC_SET(dctcp, halve_on_loss, 0))

#define dctcp_hooks(H)         \
	H(dctcp, init)         \
	H(dctcp, ssthresh)     \
	H(dctcp, cong_avoid)   \
	H(dctcp, in_ack_event) \
	H(dctcp, cwnd_event)   \
	H(dctcp, set_state)    \
	H(dctcp, undo_cwnd)    \
	H(dctcp, info)

CC_PARAMS(dctcp);

struct dctcp_state {
	u64 window_delivered; /* segments, when this window of data began */
	u64 window_marked;
	u32 window_end_seq;
	u32 alpha;	 /* 1/1024 */
	u32 loss_cwnd;	 /* window before the last reduction */
	u32 marked_part; /* of the last window, 1/1024 */
};

static void dctcp_begin_window(struct dctcp_state *dctcp, const struct cc_conn *conn)
{
	dctcp->window_end_seq = conn->snd_nxt;
	dctcp->window_delivered = conn->delivered_segs;
	dctcp->window_marked = conn->delivered_ce_segs;
}

static void dctcp_init(const struct dctcp_params *params, struct dctcp_state *dctcp,
		       struct cc_conn *conn)
{
	*dctcp = (struct dctcp_state){.alpha = params->alpha_initial};
	dctcp_begin_window(dctcp, conn);
}

static u32 dctcp_ssthresh(const struct dctcp_params *params, struct dctcp_state *dctcp,
			  const struct cc_conn *conn)
{
	dctcp->loss_cwnd = conn->cwnd_segs;
	if (!conn->delivered_ce_segs)
		return cc_half_window(conn);
	return cc_max(conn->cwnd_segs -
			      cc_scale(conn->cwnd_segs, dctcp->alpha, 2 * CC_ONE),
		      CC_CWND_MIN);
}

static void dctcp_cong_avoid(const struct dctcp_params *params, struct dctcp_state *dctcp,
			     struct cc_conn *conn, u32 acked)
{
	if (!cc_may_grow(conn))
		return;
	if (cc_in_slow_start(conn)) {
		acked = cc_slow_start(conn, acked);
		if (!acked)
			return;
	}
	cc_additive_increase(conn, conn->cwnd_segs, acked);
}

static void dctcp_update_alpha(const struct dctcp_params *params,
			       struct dctcp_state *dctcp, const struct cc_conn *conn)
{
	u64 delivered = conn->delivered_segs - dctcp->window_delivered;
	u64 marked = conn->delivered_ce_segs - dctcp->window_marked;
	u32 decay = dctcp->alpha >> params->gain_shift;
	u32 rise = 0;

	/* If there are more marks than deliveries, a counter was reset. */
	if (marked > delivered)
		marked = delivered;
	if (delivered) {
		dctcp->marked_part = (u32)(marked * CC_ONE / delivered);
		rise = (u32)((marked * CC_ONE >> params->gain_shift) / delivered);
	}
	dctcp->alpha -= decay ? decay : dctcp->alpha;
	dctcp->alpha = cc_min(dctcp->alpha + rise, CC_ONE);
}

static void dctcp_in_ack_event(const struct dctcp_params *params,
			       struct dctcp_state *dctcp, struct cc_conn *conn, u32 flags)
{
	if (cc_seq_after(dctcp->window_end_seq, conn->snd_una))
		return;
	dctcp_update_alpha(params, dctcp, conn);
	dctcp_begin_window(dctcp, conn);
}

static void dctcp_halve(struct dctcp_state *dctcp, struct cc_conn *conn, u32 cwnd)
{
	dctcp->loss_cwnd = cwnd;
	conn->ssthresh_segs = cc_max(cwnd / 2, CC_CWND_MIN);
}

static void dctcp_cwnd_event(const struct dctcp_params *params, struct dctcp_state *dctcp,
			     struct cc_conn *conn, u32 event)
{
	if (event == CC_EVENT_LOSS && params->halve_on_loss)
		dctcp_halve(dctcp, conn, conn->cwnd_segs);
}

static void dctcp_set_state(const struct dctcp_params *params, struct dctcp_state *dctcp,
			    struct cc_conn *conn, u32 new_state)
{
	if (new_state == CC_RECOVERY && conn->state != CC_RECOVERY &&
	    params->halve_on_loss)
		dctcp_halve(dctcp, conn, conn->cwnd_segs);
	if (new_state == CC_LOSS && params->reset_on_timeout)
		dctcp->alpha = CC_ONE;
}

static u32 dctcp_undo_cwnd(const struct dctcp_params *params, struct dctcp_state *dctcp,
			   const struct cc_conn *conn)
{
	return cc_max(conn->cwnd_segs, dctcp->loss_cwnd);
}

static void dctcp_info(const struct dctcp_params *params, const struct dctcp_state *dctcp,
		       const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = dctcp->alpha;
	info->values[1] = dctcp->marked_part;
}

/* In figures: DCTCP, #00687a, circle. */
CC_ALGORITHM(
	dctcp, .title = "DCTCP", .family = CC_FAMILY_ECN, .year = 2010,
	.source = "M. Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010; RFC 8257",
	.summary = "Cuts its window in proportion to the share of its segments that the "
		   "network marked.",
	.flags = CC_NEEDS_ECN, .info_names = {"alpha_x1024", "marked_part_x1024"});
