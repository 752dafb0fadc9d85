/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reno: one segment more per round trip, half the window on congestion.
 *
 * In congestion avoidance each acknowledged segment widens the window w by a part of a
 * segment (RFC 5681, equation 3). A round trip adds one segment:
 *
 *     w <- w + 1 / w
 *
 * In slow start each acknowledged segment widens the window by a whole segment, up to
 * ssthresh. Loss and ECN marks cut the window, once per window of data (equation 4),
 * to
 *
 *     ssthresh = max(w / 2, 2)
 *
 * If segments are lost with probability p, independently, the mean window is about
 *
 *     w = sqrt(3 / (2 p))
 *
 * With ABE (RFC 8511, the preset `abe`) a cut keeps a larger part b of the window
 * where congestion marks are its only cause: 0.8 rather than 0.5. If segments are
 * marked with probability p, the mean window then is about
 *
 *     w = sqrt((1 + b) / (2 (1 - b) p))
 *
 * As in Linux: windows are whole numbers. Acknowledged segments add up until they earn
 * a segment of window. The stack decides whether acknowledged segments count (RFC
 * 3465, Linux since 4.0) or ACKs (until 3.18). If ACKs count, delayed ACKs halve the
 * growth.
 */
#include "cc.h"

#define reno_parameters(P)                                                             \
	P(kept_ecn, "1/1024", 0, CC_RANGE(0, 1000),                                    \
	  "fraction of the window kept where congestion marks are the only sign, 0.8 " \
	  "with ABE; 0: half, as for losses",                                          \
	  "RFC 8511 section 3.1")
#define reno_presets(S)                                                                \
	S("li2007", "Li, Leith, Shorten 2007, Table II: standard TCP; counts "         \
		    "acknowledged segments as their kernel did (RFC 3465)")            \
	S("lukaseder2016",                                                             \
	  "Lukaseder et al. 2016: Reno of Linux 3.16, whose stack counts ACKs")        \
	S("brakmo2017",                                                                \
	  "Brakmo 2017: Reno of Linux 4.14, whose stack counts acknowledged segments") \
	S("kumazoe2012",                                                               \
	  "Kumazoe et al. 2012: Reno of Linux 2.6.26, whose stack counts ACKs")        \
	S("abe", "RFC 8511 (ABE): 0.8 of the window kept on congestion marks",         \
	  CC_SET(reno, kept_ecn, 819))
#define reno_hooks(H) H(reno, ssthresh) H(reno, cong_avoid)

CC_PARAMS(reno);

struct reno_state {
};

static u32 reno_ssthresh(const struct reno_params *params, struct reno_state *state,
			 const struct cc_conn *conn)
{
	return cc_max(cc_scale(conn->cwnd_segs,
			       cc_kept(conn, CC_ONE / 2, params->kept_ecn), CC_ONE),
		      CC_CWND_MIN);
}

static void reno_cong_avoid(const struct reno_params *params, struct reno_state *state,
			    struct cc_conn *conn, u32 acked)
{
	cc_standard_growth(conn, acked);
}

/* In figures: Standard TCP, #1a1a1a, circle. */
CC_ALGORITHM(
	reno, .title = "Standard TCP (NewReno)", .family = CC_FAMILY_LOSS, .year = 1990,
	.flags = CC_RENOS_BOUND | CC_NEEDS_MARKED,
	.source = "V. Jacobson, Congestion Avoidance and Control, SIGCOMM 1988; RFC 5681",
	.summary =
		"Adds one segment per round trip and halves the window on congestion.");
