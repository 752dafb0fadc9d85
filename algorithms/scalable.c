/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Scalable TCP: growth and cut are both a share of the window, so that recovery takes
 * the same number of round trips at any rate.
 *
 * From low_window on, each acknowledged segment widens the window w by a fixed part of
 * a segment. Congestion leaves a fixed part of the window:
 *
 *     w <- w + 1 / segs_per_increase
 *     w <- kept w
 *
 * With Kelly's values, 1/100 and 7/8, a window is regained in ln(8/7) / 0.01 = 13.4
 * round trips, however large it is. The response function is
 *
 *     w = 0.08 / p
 *
 * for a loss probability p. Flows that lose together keep the ratio of their windows:
 * nothing makes them equal. Below low_window growth is that of standard TCP. Below
 * halve_below the cut is, too (Kelly's mode switch, as used by Li et al.). Above
 * low_window, 100 acknowledged segments earn one, even where they would earn more in
 * standard TCP.
 *
 * As in Linux: growth is scalable from low_window = 100 segments on. The cut is 1/8 at
 * any window, so halve_below is 0. Until 4.14, Linux counted ACKs (count_acks). From
 * 50 segments on, 50 ACKs earned a segment. With delayed ACKs this growth is the same,
 * and without them it is twice as fast.
 */
#include "cc.h"

#define scalable_parameters(P)                                                         \
	P(segs_per_increase, "segments", 100, CC_RANGE(1, 1000000),                    \
	  "acknowledged segments that earn one segment of window: 1 / alpha",          \
	  "Kelly 2003; Linux since 4.15")                                              \
	P(low_window, "segments", 100, CC_RANGE(0, 1000000),                           \
	  "window below which growth is that of standard TCP", "Linux since 4.15")     \
	P(halve_below, "segments", 0, CC_RANGE(0, 1000000),                            \
	  "window below which congestion halves it, as in standard TCP",               \
	  "Kelly 2003; Linux does not")                                                \
	P(kept, "1/1024", 896, CC_RANGE(512, 1023),                                    \
	  "fraction of the window kept on congestion", "Kelly 2003: 0.875")            \
	P(count_acks, "switch", 0, CC_SWITCH, "count ACKs, not acknowledged segments", \
	  "Linux until 4.14")

#define scalable_presets(S)                                                              \
	S("li2007",                                                                      \
	  "Li, Leith, Shorten 2007, Table II: alpha 0.01, beta 0.875, Low_Window 16",    \
	  CC_SET(scalable, segs_per_increase, 100), CC_SET(scalable, low_window, 16),    \
	  CC_SET(scalable, halve_below, 16), CC_SET(scalable, kept, 896))                \
	S("linux-3.16", "Linux 3.16: one segment per 50 ACKs",                           \
	  CC_SET(scalable, segs_per_increase, 50), CC_SET(scalable, low_window, 50),     \
	  CC_SET(scalable, count_acks, 1))                                               \
	S("linux-4.14", "Linux 4.14: one segment per 50 ACKs",                           \
	  CC_SET(scalable, segs_per_increase, 50), CC_SET(scalable, low_window, 50),     \
	  CC_SET(scalable, count_acks, 1))                                               \
	S("lukaseder2016",                                                               \
	  "Lukaseder et al. 2016, Table I: alpha 0.02 (for each ACK, as Linux 3.16 "     \
	  "counts), beta 0.875, Low_Window 50; the 0.01 of their text is per segment",   \
	  CC_SET(scalable, segs_per_increase, 50), CC_SET(scalable, low_window, 50),     \
	  CC_SET(scalable, kept, 896), CC_SET(scalable, count_acks, 1))                  \
	S("brakmo2017", "Brakmo 2017: Linux 4.14, one segment per 50 ACKs",              \
	  CC_SET(scalable, segs_per_increase, 50), CC_SET(scalable, low_window, 50),     \
	  CC_SET(scalable, kept, 896), CC_SET(scalable, count_acks, 1))                  \
	S("mani2012",                                                                    \
	  "Mani and Mbarek 2012: 0.01 of the window per round trip (0.001 in one place " \
	  "is a misprint), cut by 12.5 %",                                               \
	  CC_SET(scalable, segs_per_increase, 100), CC_SET(scalable, kept, 896))

#define scalable_hooks(H) H(scalable, ssthresh) H(scalable, cong_avoid)

CC_PARAMS(scalable);

struct scalable_state {
};

static u32 scalable_ssthresh(const struct scalable_params *params,
			     struct scalable_state *state, const struct cc_conn *conn)
{
	if (conn->cwnd_segs < params->halve_below)
		return cc_half_window(conn);
	return cc_max(conn->cwnd_segs -
			      cc_scale(conn->cwnd_segs, CC_ONE - params->kept, CC_ONE),
		      CC_CWND_MIN);
}

static void scalable_cong_avoid(const struct scalable_params *params,
				struct scalable_state *state, struct cc_conn *conn,
				u32 acked)
{
	u32 per = params->segs_per_increase;

	if (!cc_reaches_avoidance(conn, &acked))
		return;
	if (conn->cwnd_segs < params->low_window)
		per = conn->cwnd_segs;
	cc_additive_increase(conn, per, params->count_acks ? 1 : acked);
}

/* In figures: Scalable-TCP, #b84a00, triangle-up. */
CC_ALGORITHM(scalable, .title = "Scalable TCP", .family = CC_FAMILY_LOSS, .year = 2003,
	     .flags = CC_RENOS_BOUND,
	     .source = "T. Kelly, Scalable TCP: Improving Performance in Highspeed Wide "
		       "Area Networks, CCR 33(2), 2003",
	     .summary =
		     "Adds one segment per 100 acknowledged ones and cuts by an eighth, "
		     "at any window.");
