/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Veno: standard TCP that infers from the queue whether congestion caused a loss.
 *
 * Veno estimates its backlog as Vegas does, from the smallest RTT of the path:
 *
 *     n = cwnd - cwnd base_rtt / rtt
 *
 * If n is below beta segments, Veno assumes that the path is not congested. The window
 * then grows as that of standard TCP. A loss counts as a transmission error, and
 * leaves 4/5 of the window. From beta on, the window grows by a segment only in every
 * second window of ACKs, and a loss halves it.
 *
 * As in Linux: n counts in half segments, rounded up. Veno is standard TCP until it
 * has sampled three RTTs, and wherever the connection is not in the state Open. It
 * forgets the RTT of the path when the connection was idle. The cut after a timeout
 * depends on n, too. The first congested window of ACKs earns a segment at once. An
 * ACK without an RTT sample, such as that which ends a recovery, counts as one of a
 * congested path. A loss before the next sample then halves the window.
 *
 * Unlike Linux: the number of samples does not begin again after 65,536 of them.
 *
 * Interpretation: in Linux rtt is that of a single ACK, because Linux forgets its
 * smallest RTT at each ACK. In the Vegas that the paper builds upon, it is the
 * smallest of a round trip. The parameter round_minimum chooses. The default is
 * Linux's, because that is the implementation in use. With round_minimum a round trip
 * without a sample does not change n.
 */
#include "cc_watch.h"

#define veno_parameters(P)                                                       \
	P(beta, "segments", 3, CC_RANGE(0, 1000000),                             \
	  "backlog from which the path is congested", "Linux; Fu and Liew 2003") \
	P(kept, "%", 80, CC_RANGE(50, 99),                                       \
	  "share of the window kept where the path is not congested",            \
	  "Linux; Fu and Liew 2003: 4/5")                                        \
	P(congested_windows, "windows", 2, CC_RANGE(1, 1000),                    \
	  "windows of ACKs that earn one segment where the path is congested",   \
	  "Linux; Fu and Liew 2003")                                             \
	P(round_minimum, "switch", 0, CC_SWITCH,                                 \
	  "estimate the backlog once per round trip, from its smallest RTT; "    \
	  "otherwise at each ACK, from its RTT",                                 \
	  "interpretation; Linux: each ACK")

#define veno_presets(S)

#define veno_hooks(H)       \
	H(veno, init)       \
	H(veno, ssthresh)   \
	H(veno, cong_avoid) \
	H(veno, pkts_acked) \
	H(veno, cwnd_event) \
	H(veno, set_state)  \
	H(veno, info)

CC_PARAMS(veno);

struct veno_state {
	struct cc_watch watch;
	u32 backlog;   /* half segments */
	u32 samples;   /* of the RTT, ever; up to CC_WATCH_SAMPLES */
	u32 to_forego; /* congested windows of ACKs that earn nothing */
};

static void veno_init(const struct veno_params *params, struct veno_state *veno,
		      struct cc_conn *conn)
{
	*veno = (struct veno_state){0};
	cc_watch_start(&veno->watch, conn);
}

static u8 veno_can_tell(const struct veno_state *veno)
{
	return veno->samples >= CC_WATCH_SAMPLES;
}

static u8 veno_is_congested(const struct veno_params *params,
			    const struct veno_state *veno)
{
	return veno->backlog >= 2 * params->beta;
}

static u32 veno_ssthresh(const struct veno_params *params, struct veno_state *veno,
			 const struct cc_conn *conn)
{
	if (veno_is_congested(params, veno))
		return cc_half_window(conn);
	return cc_max(cc_scale(conn->cwnd_segs, params->kept, 100), CC_CWND_MIN);
}

static void veno_measure(const struct veno_params *params, struct veno_state *veno,
			 const struct cc_conn *conn)
{
	struct cc_watch *watch = &veno->watch;
	u32 halves = cc_saturate(2ull * conn->cwnd_segs);

	if (params->round_minimum &&
	    (watch->round_us == CC_NO_RTT || !cc_watch_round_is_over(watch, conn)))
		return;
	if (veno_can_tell(veno))
		veno->backlog =
			halves - cc_scale(halves, watch->base_us, watch->round_us);
	watch->round_us = CC_NO_RTT;
	watch->round_end_seq = conn->snd_nxt;
}

/* Grow by one segment for every congested_windows of ACKs, the first at once. */
static void veno_grow_congested(const struct veno_params *params, struct veno_state *veno,
				struct cc_conn *conn, u32 acked)
{
	if (conn->cwnd_cnt < conn->cwnd_segs) {
		if (conn->stack & CC_STACK_COUNT_ACKS)
			acked = 1;
		conn->cwnd_cnt = cc_saturate((u64)conn->cwnd_cnt + acked);
		return;
	}
	conn->cwnd_cnt = 0;
	if (veno->to_forego) {
		veno->to_forego--;
		return;
	}
	cc_grow(conn, 1);
	veno->to_forego = params->congested_windows - 1;
}

static void veno_cong_avoid(const struct veno_params *params, struct veno_state *veno,
			    struct cc_conn *conn, u32 acked)
{
	u8 can_tell = veno->watch.is_on && veno_can_tell(veno);

	if (!cc_may_grow(conn))
		return;
	if (veno->watch.is_on)
		veno_measure(params, veno, conn);
	if (!cc_reaches_avoidance(conn, &acked))
		return;
	if (can_tell && veno_is_congested(params, veno))
		veno_grow_congested(params, veno, conn, acked);
	else
		cc_additive_increase(conn, conn->cwnd_segs, acked);
}

static void veno_pkts_acked(const struct veno_params *params, struct veno_state *veno,
			    struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	cc_watch_rtt(&veno->watch, sample);
	if (sample->rtt_us >= 0)
		veno->samples = cc_min(veno->samples + 1, CC_WATCH_SAMPLES);
}

static void veno_cwnd_event(const struct veno_params *params, struct veno_state *veno,
			    struct cc_conn *conn, u32 event)
{
	cc_watch_event(&veno->watch, conn, event);
	if (event == CC_EVENT_TX_START || event == CC_EVENT_CWND_RESTART)
		veno->to_forego = 0;
}

static void veno_set_state(const struct veno_params *params, struct veno_state *veno,
			   struct cc_conn *conn, u32 new_state)
{
	cc_watch_state(&veno->watch, conn, new_state);
}

static void veno_info(const struct veno_params *params, const struct veno_state *veno,
		      const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = veno->backlog;
	info->values[1] = cc_watch_base_us(&veno->watch);
}

/* In figures: Veno, #b573d4, bowtie. */
CC_ALGORITHM(
	veno, .title = "TCP Veno", .family = CC_FAMILY_HYBRID, .year = 2003,
	.flags = CC_RENOS_BOUND,
	.source = "C. P. Fu, S. C. Liew, TCP Veno: TCP Enhancement for Transmission "
		  "over Wireless Access Networks, IEEE JSAC 21(2), 2003",
	.summary =
		"Standard TCP that cuts by only a fifth if the RTT shows no congestion.",
	.info_names = {"backlog_half_segs", "base_rtt_us"});
