/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BIC: binary search for the window at which the last loss happened.
 *
 * Up to low_window BIC is standard TCP. Above it, the window w grows per round trip by
 * a share of its distance to m, the value of last_max, within two bounds. Beyond m,
 * growth is the mirror image: slow at first, then faster.
 *
 *     (m - w) / b             while w < m, at most smax
 *     b / smooth_part         while |w - m| is less than b or so
 *     (w - m) / (b - 1)       up to w = m + smax (b - 1)
 *     smax                    beyond, or while m is far away
 *
 * Congestion leaves w <- kept w. The new m is the window of that moment. If the cut
 * came before w reached m, the new m is less (fast_convergence), so that others get
 * room:
 *
 *     m = w (1 + kept) / 2     where w < m, else  m = w
 *
 * If the time between two cuts is long, almost all growth is by smax. BIC is then
 * additive increase and multiplicative decrease, with the mean window
 *
 *     w = sqrt(smax (1 + kept) / (2 (1 - kept) p))
 *
 * As in Linux: the step to m is a whole number. Before the first congestion, growth is
 * at least 5 % per round trip. A timeout resets all state. The number of ACKs that
 * earn a segment is divided by the measured number of segments per ACK
 * (ack_ratio_correction). The division was exact while BIC counted ACKs (count_acks),
 * in Linux until 5.6. Linux 5.7 counts segments and still divides. With delayed ACKs
 * it therefore grows about twice as fast as the law. The division does not apply up to
 * low_window.
 *
 * Interpretation: the authors' patch, used by Li et al., also detects low utilisation
 * (Low_Util, Util_Check) and then grows faster. Its rules were not published, so they
 * are left out here.
 */
#include "cc.h"

#define bic_parameters(P)                                                               \
	P(smax, "segments", 16, CC_RANGE(1, 65535),                                     \
	  "largest growth per round trip: max_increment", "Linux; Xu et al. 2004: 32")  \
	P(b, "1", 4, CC_RANGE(2, 64),                                                   \
	  "the search takes 1 / b of the distance to last_max per round trip", "Linux") \
	P(smooth_part, "round trips", 20, CC_RANGE(1, 1000),                            \
	  "time for the last b segments before last_max: sigma", "Linux")               \
	P(low_window, "segments", 14, CC_RANGE(0, 65535),                               \
	  "window up to which it is standard TCP", "Linux; Xu et al. 2004")             \
	P(kept, "1/1024", 819, CC_RANGE(512, 1023),                                     \
	  "fraction of the window kept on congestion", "Linux; Xu et al. 2004: 0.8")    \
	P(fast_convergence, "switch", 1, CC_SWITCH,                                     \
	  "yield when cut below the previous maximum", "Xu et al. 2004")                \
	P(initial_ssthresh, "segments", 0, CC_RANGE(0, 0x7fffffff),                     \
	  "slow-start threshold of a new connection; 0: none", "Linux")                 \
	P(ack_ratio_correction, "switch", 1, CC_SWITCH,                                 \
	  "divide the ACKs that earn a segment by the measured segments per ACK",       \
	  "Linux")                                                                      \
	P(count_acks, "switch", 0, CC_SWITCH, "count ACKs, not acknowledged segments",  \
	  "Linux: 1 until 5.6")

#define bic_presets(S)                                                                  \
	S("li2007",                                                                     \
	  "Li, Leith, Shorten 2007, Table II: Smax 32, B 4, sigma 20, beta 0.8, "       \
	  "Low_Window 14; counts acknowledged segments (RFC 3465)",                     \
	  CC_SET(bic, smax, 32), CC_SET(bic, b, 4), CC_SET(bic, smooth_part, 20),       \
	  CC_SET(bic, kept, 819), CC_SET(bic, low_window, 14),                          \
	  CC_SET(bic, ack_ratio_correction, 0))                                         \
	S("lukaseder2016",                                                              \
	  "Lukaseder et al. 2016, Table I: Smax 16, B 4, beta 819/1024 (2014 is a "     \
	  "misprint), Low_Window 14",                                                   \
	  CC_SET(bic, smax, 16), CC_SET(bic, b, 4), CC_SET(bic, kept, 819),             \
	  CC_SET(bic, low_window, 14), CC_SET(bic, ack_ratio_correction, 1))            \
	S("brakmo2017", "Brakmo 2017: Linux 4.14 with its defaults, which counts ACKs", \
	  CC_SET(bic, smax, 16), CC_SET(bic, b, 4), CC_SET(bic, smooth_part, 20),       \
	  CC_SET(bic, kept, 819), CC_SET(bic, low_window, 14),                          \
	  CC_SET(bic, ack_ratio_correction, 1), CC_SET(bic, count_acks, 1))             \
	S("mani2012",                                                                   \
	  "Mani and Mbarek 2012: 0.875 kept (printed as B, while their equations "      \
	  "have beta in the place of B); they print the other values as symbols "       \
	  "only",                                                                       \
	  CC_SET(bic, kept, 896))

#define bic_hooks(H)       \
	H(bic, init)       \
	H(bic, ssthresh)   \
	H(bic, cong_avoid) \
	H(bic, pkts_acked) \
	H(bic, set_state)  \
	H(bic, info)

/* Bits after the point of the ratio of segments to ACKs. */
#define BIC_RATIO_SHIFT 4
/* Growth divisor while no maximum is known: 5 % per round trip. */
#define BIC_DIVISOR_UNKNOWN_MAX 20u

CC_PARAMS(bic);

struct bic_state {
	u32 divisor;  /* acknowledged segments per segment of growth */
	u32 last_max; /* window that the search aims at, segments; 0: never cut */
	u32 last_cwnd;
	u32 last_time; /* jiffies, of the last computation */
	u32 ack_ratio; /* segments per ACK << BIC_RATIO_SHIFT */
};

static void bic_reset(struct bic_state *bic)
{
	*bic = (struct bic_state){.ack_ratio = 2 << BIC_RATIO_SHIFT};
}

static void bic_init(const struct bic_params *params, struct bic_state *bic,
		     struct cc_conn *conn)
{
	bic_reset(bic);
	if (params->initial_ssthresh)
		conn->ssthresh_segs = params->initial_ssthresh;
}

static u32 bic_ssthresh(const struct bic_params *params, struct bic_state *bic,
			const struct cc_conn *conn)
{
	u32 cwnd = conn->cwnd_segs;

	if (cwnd < bic->last_max && params->fast_convergence)
		bic->last_max = cc_scale(cwnd, CC_ONE + params->kept, 2 * CC_ONE);
	else
		bic->last_max = cwnd;
	if (cwnd <= params->low_window)
		return cc_half_window(conn);
	return cc_max(cc_scale(cwnd, params->kept, CC_ONE), CC_CWND_MIN);
}

/* Segments to be acknowledged per segment of growth, by the law above low_window. */
static u32 bic_divisor(const struct bic_params *params, const struct bic_state *bic,
		       u32 cwnd)
{
	u32 fastest = cwnd / params->smax;
	u32 slowest = cc_scale(cwnd, params->smooth_part, params->b);

	if (cwnd < bic->last_max) {
		u32 step = (bic->last_max - cwnd) / params->b;

		if (step > params->smax)
			return fastest;
		return step <= 1 ? slowest : cwnd / step;
	}
	if (cwnd - bic->last_max < params->b)
		return slowest;
	if (cwnd - bic->last_max < params->smax * (params->b - 1))
		return cc_scale(cwnd, params->b - 1, cwnd - bic->last_max);
	return fastest;
}

static void bic_update(const struct bic_params *params, struct bic_state *bic,
		       const struct cc_conn *conn)
{
	u32 cwnd = conn->cwnd_segs;
	u32 now = cc_jiffies(conn);

	if (bic->last_cwnd == cwnd && now - bic->last_time <= CC_HZ / 32)
		return;
	bic->last_cwnd = cwnd;
	bic->last_time = now;
	if (cwnd <= params->low_window) {
		bic->divisor = cwnd;
		return;
	}
	bic->divisor = bic_divisor(params, bic, cwnd);
	if (!bic->last_max)
		bic->divisor = cc_min(bic->divisor, BIC_DIVISOR_UNKNOWN_MAX);
	if (params->ack_ratio_correction)
		bic->divisor =
			cc_scale(bic->divisor, 1 << BIC_RATIO_SHIFT, bic->ack_ratio);
	bic->divisor = cc_max(bic->divisor, 1);
}

static void bic_cong_avoid(const struct bic_params *params, struct bic_state *bic,
			   struct cc_conn *conn, u32 acked)
{
	if (!cc_reaches_avoidance(conn, &acked))
		return;
	bic_update(params, bic, conn);
	cc_additive_increase(conn, bic->divisor, params->count_acks ? 1 : acked);
}

static void bic_pkts_acked(const struct bic_params *params, struct bic_state *bic,
			   struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	u32 ratio = bic->ack_ratio - (bic->ack_ratio >> BIC_RATIO_SHIFT);

	if (conn->state == CC_OPEN)
		bic->ack_ratio = cc_max(cc_saturate((u64)ratio + sample->pkts_acked), 1);
}

static void bic_set_state(const struct bic_params *params, struct bic_state *bic,
			  struct cc_conn *conn, u32 new_state)
{
	if (new_state == CC_LOSS)
		bic_reset(bic);
}

static void bic_info(const struct bic_params *params, const struct bic_state *bic,
		     const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = bic->last_max;
	info->values[1] = bic->divisor;
}

/* In figures: BIC-TCP, #009e73, triangle-down. */
CC_ALGORITHM(
	bic, .title = "BIC-TCP", .family = CC_FAMILY_LOSS, .year = 2004,
	.source = "L. Xu, K. Harfoush, I. Rhee, Binary Increase Congestion Control for "
		  "Fast Long-Distance Networks, INFOCOM 2004",
	.summary = "Searches the window of the last loss by bisection, then probes "
		   "beyond it, ever faster.",
	.info_names = {"last_max_segs", "divisor"});
