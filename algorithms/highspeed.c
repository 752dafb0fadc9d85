/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * HighSpeed TCP: a standard TCP whose increase and cut depend on the window.
 *
 * A window w grows by a(w) segments per round trip, and congestion reduces it by the
 * share b(w) (RFC 3649, section 5):
 *
 *     w <- w + a(w) / w     for each acknowledged segment
 *     w <- (1 - b(w)) w     on congestion
 *
 * Up to low_window W it is standard TCP, with a = 1 and b = 1/2. From there on the
 * response function is a straight line on logarithmic axes. It ends at 83000 segments
 * and a loss probability of 1e-7, where the cut b is 0.1:
 *
 *     b(w) = 0.5 - 0.4 ln(w / W) / ln(83000 / W)
 *     a(w) = 2 w^2 p(w) b(w) / (2 - b(w))
 *     p(w) = 1 / (12.8 w^1.2)     for W = 38, the RFC's rounding
 *
 * The mean window is then 0.12 / p^0.835. The values of a and b are in the rows of a
 * table, as in the RFC's appendix B. The first row is that of W with a = 1. A new row
 * begins at each w where a(w) exceeds that of the row before by more than 1. Two flows
 * whose windows are in different rows may stay unequal.
 *
 * As in Linux: the table has 72 rows. Each ACK adds a(w) / w, however many segments it
 * acknowledges (count_acks). With delayed ACKs, growth is thus half of the RFC's.
 *
 * Interpretation: Li et al. give low_window 31, high_window 83000 and high_p 1e-7, but
 * not the loss probability at low_window. We take it to be 1.5e-3. Then w = 0.15 /
 * p^0.82, as in the drafts before the RFC. Their patch must be based on these drafts.
 * The parameter low_window chooses between the two tables.
 */
#include "cc_highspeed.h"

#define highspeed_parameters(P)                                                        \
	P(low_window, "segments", 38, CC_EITHER(31, 38),                               \
	  "window up to which it is standard TCP; there is a table for 31 and for 38", \
	  "RFC 3649 section 5: 38")                                                    \
	P(count_acks, "switch", 1, CC_SWITCH, "count ACKs, not acknowledged segments", \
	  "Linux, even today")

#define highspeed_presets(S)                                                            \
	S("li2007",                                                                     \
	  "Li, Leith, Shorten 2007, Table II: High_P 1e-7, Low_Window 31, High_Window " \
	  "83000; counts acknowledged segments (RFC 3465)",                             \
	  CC_SET(highspeed, low_window, 31), CC_SET(highspeed, count_acks, 0))          \
	S("lukaseder2016",                                                              \
	  "Lukaseder et al. 2016, Table I: Low_Window 38, High_Window 83000, High_P "   \
	  "1e-7, High_Decrease 0.1; Linux 3.16, which counts ACKs",                     \
	  CC_SET(highspeed, low_window, 38), CC_SET(highspeed, count_acks, 1))          \
	S("brakmo2017", "Brakmo 2017: Linux 4.14, which counts ACKs",                   \
	  CC_SET(highspeed, low_window, 38), CC_SET(highspeed, count_acks, 1))          \
	S("mani2012",                                                                   \
	  "Mani and Mbarek 2012: low_window 38, a 1 to 72, b 0.5 to 0.1; the b = 1 at " \
	  "High_Window is a misprint",                                                  \
	  CC_SET(highspeed, low_window, 38))

#define highspeed_hooks(H)       \
	H(highspeed, init)       \
	H(highspeed, ssthresh)   \
	H(highspeed, cong_avoid) \
	H(highspeed, info)

CC_PARAMS(highspeed);

struct highspeed_state {
	u32 row;
};

static void highspeed_init(const struct highspeed_params *params,
			   struct highspeed_state *highspeed, struct cc_conn *conn)
{
	highspeed->row = 0;
	cc_highspeed_clamp(conn);
}

static u32 highspeed_ssthresh(const struct highspeed_params *params,
			      struct highspeed_state *highspeed,
			      const struct cc_conn *conn)
{
	u32 cwnd = conn->cwnd_segs;
	u32 cut = cc_highspeed_cut(params->low_window, highspeed->row, cwnd);

	return cc_max(cwnd - cut, CC_CWND_MIN);
}

static void highspeed_cong_avoid(const struct highspeed_params *params,
				 struct highspeed_state *highspeed, struct cc_conn *conn,
				 u32 acked)
{
	if (!cc_may_grow(conn))
		return;
	if (cc_in_slow_start(conn)) {
		cc_slow_start(conn, acked);
		return;
	}
	highspeed->row =
		cc_highspeed_find(params->low_window, highspeed->row, conn->cwnd_segs);
	cc_highspeed_grow(conn, highspeed->row, params->count_acks, acked);
}

static void highspeed_info(const struct highspeed_params *params,
			   const struct highspeed_state *highspeed,
			   const struct cc_conn *conn, struct cc_info *info)
{
	u32 cut = cc_highspeed_cut(params->low_window, highspeed->row,
				   CC_HIGHSPEED_CUT_ONE);

	info->values[0] = (highspeed->row + 1) * 1000;
	info->values[1] =
		cc_scale(CC_HIGHSPEED_CUT_ONE - cut, 1000, CC_HIGHSPEED_CUT_ONE);
}

/* In figures: HS-TCP, #c48700, square. */
CC_ALGORITHM(
	highspeed, .title = "HighSpeed TCP", .family = CC_FAMILY_LOSS, .year = 2003,
	.flags = CC_RENOS_BOUND,
	.source = "S. Floyd, HighSpeed TCP for Large Congestion Windows, RFC 3649, 2003",
	.summary = "Adds more segments per round trip and cuts less, the larger the "
		   "window is.",
	.info_names = {"alpha_milli", "kept_milli"});
