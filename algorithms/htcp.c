/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * H-TCP: the longer since the last congestion, the faster the growth.
 *
 * Each acknowledged segment widens the window w by alpha / w, so a round trip widens
 * it by alpha. The value of alpha depends on the time D since the last congestion, in
 * seconds:
 *
 *     alpha = 2 (1 - kept) f(D)
 *     f(D)  = 1                                            for D <= delta_l
 *     f(D)  = 1 + 10 (D - delta_l) + (D - delta_l)^2 / 4   beyond
 *
 * Its modes are slow start, low speed until delta_l, and high speed from then on.
 *
 * The window that congestion leaves just fills the path with an empty queue. There is
 * one exception. B is the throughput before this congestion, and B_last is that before
 * the last one. If they differ by more than the share delta_b of B_last, half of the
 * window is kept:
 *
 *     kept = RTT_min / RTT_max, within 0.5 and 0.8
 *     kept = 0.5                if |B - B_last| > delta_b B_last
 *
 * As in Linux: times are in jiffies. H-TCP computes alpha again only when the window
 * has grown, which is by one segment per ACK at most. The first congestion of a
 * connection halves the window. So does the one that follows a change of B, and every
 * one on a path of 10 ms or less. The time D counts from the end of recovery. At each
 * congestion, the excess of the largest RTT over the smallest is reduced by 5 %. A
 * sample that exceeds the largest RTT by more than 20 ms counts as an outlier. No
 * throughput is sampled while alpha is above the window.
 *
 * Unlike Linux: f does not wrap after 131 s without congestion.
 *
 * Interpretation: the papers replace f by max(f T_min, 1), where T_min is the smallest
 * RTT. Growth per second is then the same at any RTT. However, f becomes a time. As in
 * Linux, T_min counts in units of 100 ms, and is limited to 1/10 to 2 of them
 * (rtt_scaling). On a path of 100 ms, f is as printed.
 */
#include "cc.h"

#define htcp_parameters(P)                                                               \
	P(delta_l, "ms", 1000, CC_RANGE(0, 3600000),                                     \
	  "time after a congestion in which growth is that of standard TCP",             \
	  "Leith and Shorten 2004")                                                      \
	P(delta_b, "%", 20, CC_RANGE(0, 100),                                            \
	  "change of throughput from which congestion halves the window",                \
	  "Leith and Shorten 2004: 0.2")                                                 \
	P(rtt_scaling, "switch", 1, CC_SWITCH,                                           \
	  "make growth per second the same at any RTT", "Linux; Leith and Shorten 2004") \
	P(bandwidth_switch, "switch", 1, CC_SWITCH,                                      \
	  "watch the throughput to choose what is kept (delta_b)", "Linux")

#define htcp_presets(S)                                                                \
	S("li2007", "Li, Leith, Shorten 2007, Table II: Delta_L 1 s, Delta_B 0.2",     \
	  CC_SET(htcp, delta_l, 1000), CC_SET(htcp, delta_b, 20),                      \
	  CC_SET(htcp, rtt_scaling, 1), CC_SET(htcp, bandwidth_switch, 1))             \
	S("lukaseder2016", "Lukaseder et al. 2016, Table I: Delta_L 1 s, Delta_B 0.2", \
	  CC_SET(htcp, delta_l, 1000), CC_SET(htcp, delta_b, 20),                      \
	  CC_SET(htcp, rtt_scaling, 1), CC_SET(htcp, bandwidth_switch, 1))             \
	S("brakmo2017", "Brakmo 2017: Linux 4.14 with its defaults",                   \
	  CC_SET(htcp, delta_l, 1000), CC_SET(htcp, delta_b, 20),                      \
	  CC_SET(htcp, rtt_scaling, 1), CC_SET(htcp, bandwidth_switch, 1))             \
	S("mani2012",                                                                  \
	  "Mani and Mbarek 2012: the law with its scaling by T_min and its switch "    \
	  "by B, the thresholds by their symbols only",                                \
	  CC_SET(htcp, rtt_scaling, 1), CC_SET(htcp, bandwidth_switch, 1))

#define htcp_hooks(H)       \
	H(htcp, init)       \
	H(htcp, ssthresh)   \
	H(htcp, cong_avoid) \
	H(htcp, pkts_acked) \
	H(htcp, set_state)  \
	H(htcp, undo_cwnd)  \
	H(htcp, info)

/* alpha and kept count in 1/128. */
#define HTCP_SHIFT 7
#define HTCP_ONE (1u << HTCP_SHIFT)
#define HTCP_KEPT_MIN 64u  /* 0.5 */
#define HTCP_KEPT_MAX 102u /* 0.8 */
/* Paths shorter than this always keep half. */
#define HTCP_ADAPTIVE_RTT_JIFFIES (CC_HZ / 100)
/* A sample that exceeds the largest RTT by more is taken for an outlier. */
#define HTCP_OUTLIER_JIFFIES (CC_HZ / 50)
/* RTT scaling in 1/8: the reference RTT, and the limits of the inverse scale. */
#define HTCP_REFERENCE_EIGHTHS (8 * CC_HZ / 10)
#define HTCP_SCALE_MIN 4u
#define HTCP_SCALE_MAX 80u

enum htcp_mode { HTCP_SLOW_START, HTCP_LOW_SPEED, HTCP_HIGH_SPEED };

CC_PARAMS(htcp);

struct htcp_state {
	u32 alpha;
	u32 kept;
	u32 acked;	     /* segments of the last ACK that came in state Open */
	u32 rtt_min;	     /* jiffies; 0: none */
	u32 rtt_max;	     /* jiffies; its excess decays */
	u32 last_congestion; /* jiffies */
	u32 rate;	     /* smoothed, segments per second */
	u32 rate_max;	     /* since the last congestion */
	u32 rate_max_before; /* in the epoch before */
	u32 rate_acked;	     /* segments of the rate's current sample */
	u32 rate_start;	     /* jiffies, its beginning */
	u32 undo_last_congestion;
	u32 undo_rtt_max;
	u32 undo_rate_max_before;
	u8 adaptive; /* the next congestion may keep more than half */
	u8 can_undo;
};

static void htcp_init(const struct htcp_params *params, struct htcp_state *htcp,
		      struct cc_conn *conn)
{
	u32 now = cc_jiffies(conn);

	*htcp = (struct htcp_state){.alpha = HTCP_ONE,
				    .kept = HTCP_KEPT_MIN,
				    .acked = 1,
				    .last_congestion = now,
				    .rate_start = now};
}

/* Time with growth of standard TCP, jiffies. */
static u32 htcp_delta_l(const struct htcp_params *params)
{
	return params->delta_l * (CC_HZ / 1000);
}

/* f: growth as a multiple of that of standard TCP, before scaling. */
static u64 htcp_factor(const struct htcp_params *params, u32 since_congestion)
{
	u32 delta_l = htcp_delta_l(params);
	u64 d, half;

	if (since_congestion <= delta_l)
		return 1;
	d = since_congestion - delta_l;
	half = d / 2;
	return 1 + (10 * d + half * half / CC_HZ) / CC_HZ;
}

static void htcp_update_alpha(const struct htcp_params *params, struct htcp_state *htcp,
			      u32 now)
{
	u64 factor = htcp_factor(params, now - htcp->last_congestion);

	if (params->rtt_scaling && htcp->rtt_min) {
		u32 scale = cc_clamp(HTCP_REFERENCE_EIGHTHS / htcp->rtt_min,
				     HTCP_SCALE_MIN, HTCP_SCALE_MAX);

		factor = 8 * factor / scale;
		if (!factor)
			factor = 1;
	}
	htcp->alpha = cc_saturate(2 * factor * (HTCP_ONE - htcp->kept));
}

/* Return true if the throughput changed between this congestion and the last one. */
static u8 htcp_rate_changed(const struct htcp_params *params, struct htcp_state *htcp)
{
	u64 before = htcp->rate_max_before;
	u64 now = 100ull * htcp->rate_max;

	htcp->rate_max_before = htcp->rate_max;
	return now < before * (100 - params->delta_b) ||
	       now > before * (100 + params->delta_b);
}

static void htcp_update_kept(const struct htcp_params *params, struct htcp_state *htcp)
{
	u8 changed = params->bandwidth_switch && htcp_rate_changed(params, htcp);

	if (!changed && htcp->adaptive && htcp->rtt_min > HTCP_ADAPTIVE_RTT_JIFFIES &&
	    htcp->rtt_max)
		htcp->kept = cc_clamp(cc_scale(htcp->rtt_min, HTCP_ONE, htcp->rtt_max),
				      HTCP_KEPT_MIN, HTCP_KEPT_MAX);
	else
		htcp->kept = HTCP_KEPT_MIN;
	htcp->adaptive = !changed;
}

static u32 htcp_ssthresh(const struct htcp_params *params, struct htcp_state *htcp,
			 const struct cc_conn *conn)
{
	htcp_update_kept(params, htcp);
	htcp_update_alpha(params, htcp, cc_jiffies(conn));
	/* Forget the largest RTT slowly, in case the path has changed. */
	if (htcp->rtt_min && htcp->rtt_max > htcp->rtt_min)
		htcp->rtt_max =
			htcp->rtt_min + cc_scale(htcp->rtt_max - htcp->rtt_min, 95, 100);
	return cc_max(cc_scale(conn->cwnd_segs, htcp->kept, HTCP_ONE), CC_CWND_MIN);
}

static void htcp_cong_avoid(const struct htcp_params *params, struct htcp_state *htcp,
			    struct cc_conn *conn, u32 acked)
{
	if (!cc_may_grow(conn))
		return;
	if (cc_in_slow_start(conn)) {
		cc_slow_start(conn, acked);
		return;
	}
	if ((u64)conn->cwnd_cnt * htcp->alpha >> HTCP_SHIFT >= conn->cwnd_segs) {
		conn->cwnd_cnt = 0;
		cc_grow(conn, 1);
		htcp_update_alpha(params, htcp, cc_jiffies(conn));
	} else {
		conn->cwnd_cnt = cc_saturate((u64)conn->cwnd_cnt + htcp->acked);
	}
	htcp->acked = 1;
}

static void htcp_sample_rtt(struct htcp_state *htcp, const struct cc_conn *conn, u32 rtt)
{
	if (!htcp->rtt_min || rtt < htcp->rtt_min)
		htcp->rtt_min = rtt;
	if (conn->state != CC_OPEN)
		return;
	htcp->rtt_max = cc_max(htcp->rtt_max, htcp->rtt_min);
	if (rtt > htcp->rtt_max && rtt <= htcp->rtt_max + HTCP_OUTLIER_JIFFIES)
		htcp->rtt_max = rtt;
}

/* One sample of the throughput per window, the first three RTTs unsmoothed. */
static void htcp_sample_rate(struct htcp_state *htcp, const struct cc_conn *conn,
			     u32 acked)
{
	u32 now = cc_jiffies(conn);
	u32 elapsed = now - htcp->rate_start;
	u32 growth = cc_max(htcp->alpha >> HTCP_SHIFT, 1);
	u32 window = conn->cwnd_segs - growth; /* beyond 2^31: never reached */
	u32 rate;

	if (conn->state != CC_OPEN && conn->state != CC_DISORDER) {
		htcp->rate_acked = 0;
		htcp->rate_start = now;
		return;
	}
	htcp->rate_acked = cc_saturate((u64)htcp->rate_acked + acked);
	if (htcp->rate_acked < window || !htcp->rtt_min || elapsed < htcp->rtt_min)
		return;
	rate = cc_scale(htcp->rate_acked, CC_HZ, elapsed);
	if ((now - htcp->last_congestion) / htcp->rtt_min <= 3) {
		htcp->rate = rate;
		htcp->rate_max = rate;
	} else {
		htcp->rate = cc_saturate((3ull * htcp->rate + rate) / 4);
		htcp->rate_max = cc_max(htcp->rate_max, htcp->rate);
	}
	htcp->rate_acked = 0;
	htcp->rate_start = now;
}

static void htcp_pkts_acked(const struct htcp_params *params, struct htcp_state *htcp,
			    struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	if (conn->state == CC_OPEN)
		htcp->acked = sample->pkts_acked;
	if (sample->rtt_us > 0)
		htcp_sample_rtt(htcp, conn, cc_us_to_jiffies((u32)sample->rtt_us));
	if (params->bandwidth_switch)
		htcp_sample_rate(htcp, conn, sample->pkts_acked);
}

static void htcp_set_state(const struct htcp_params *params, struct htcp_state *htcp,
			   struct cc_conn *conn, u32 new_state)
{
	switch (new_state) {
	case CC_OPEN:
		if (htcp->can_undo)
			htcp->last_congestion = cc_jiffies(conn);
		htcp->can_undo = 0;
		break;
	case CC_CWR:
	case CC_RECOVERY:
	case CC_LOSS:
		htcp->undo_last_congestion = htcp->last_congestion;
		htcp->undo_rtt_max = htcp->rtt_max;
		htcp->undo_rate_max_before = htcp->rate_max_before;
		htcp->can_undo = 1;
		htcp->last_congestion = cc_jiffies(conn);
		break;
	}
}

static u32 htcp_undo_cwnd(const struct htcp_params *params, struct htcp_state *htcp,
			  const struct cc_conn *conn)
{
	if (htcp->can_undo) {
		htcp->last_congestion = htcp->undo_last_congestion;
		htcp->rtt_max = htcp->undo_rtt_max;
		htcp->rate_max_before = htcp->undo_rate_max_before;
		htcp->can_undo = 0;
	}
	return cc_max(conn->cwnd_segs, conn->prior_cwnd_segs);
}

static u8 htcp_mode(const struct htcp_params *params, const struct cc_conn *conn,
		    u32 since_congestion)
{
	if (cc_shows_slow_start(conn))
		return HTCP_SLOW_START;
	return since_congestion <= htcp_delta_l(params) ? HTCP_LOW_SPEED
							: HTCP_HIGH_SPEED;
}

static void htcp_info(const struct htcp_params *params, const struct htcp_state *htcp,
		      const struct cc_conn *conn, struct cc_info *info)
{
	u32 since_congestion = cc_jiffies(conn) - htcp->last_congestion;

	info->values[0] = cc_scale(htcp->alpha, 1000, HTCP_ONE);
	info->values[1] = cc_scale(htcp->kept, 1000, HTCP_ONE);
	info->values[2] = htcp->rtt_min;
	info->values[3] = htcp->rtt_max;
	info->values[4] = htcp_mode(params, conn, since_congestion);
	info->values[5] = cc_scale(since_congestion, 1000, CC_HZ);
	info->values[6] = htcp->rate;
	info->values[7] = htcp->rate_max;
	info->values[8] = htcp->adaptive;
}

/* In figures: H-TCP, #0072b2, diamond. */
CC_ALGORITHM(htcp, .title = "H-TCP", .family = CC_FAMILY_LOSS, .year = 2004,
	     .source =
		     "D. Leith, R. Shorten, H-TCP: TCP for High-Speed and Long-Distance "
		     "Networks, PFLDnet 2004; draft-leith-tcp-htcp",
	     .summary = "Grows faster the longer ago the last congestion is. After "
			"congestion it keeps the window that just fills the path.",
	     .mode_names = {"slow_start", "low_speed", "high_speed"},
	     .info_names = {"alpha_milli", "kept_milli", "rtt_min_ms", "rtt_max_ms",
			    "mode", "since_congestion_ms", "rate_segs_per_s",
			    "rate_max_segs_per_s", "is_adaptive"});
