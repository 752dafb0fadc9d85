/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reno: one segment more per round trip, half the window on congestion.
 *
 * RFC 5681 as Linux does it: the stack decides whether acknowledged segments
 * (RFC 3465, Linux since 4.0) or ACKs (until 3.18) are counted.
 */
#include "cc.h"

#define reno_parameters(P)
#define reno_presets(S)                                                        \
	S("li2007", "Li, Leith, Shorten 2007, Table II: standard TCP; counts " \
		    "acknowledged segments as their kernel did (RFC 3465)")
#define reno_hooks(H) H(reno, ssthresh) H(reno, cong_avoid)

CC_PARAMS(reno);

struct reno_state {
};

static u32 reno_ssthresh(const struct reno_params *params, struct reno_state *state,
			 const struct cc_conn *conn)
{
	return cc_half_window(conn);
}

static void reno_cong_avoid(const struct reno_params *params, struct reno_state *state,
			    struct cc_conn *conn, u32 acked)
{
	cc_standard_growth(conn, acked);
}

CC_ALGORITHM(
	reno, .title = "Standard TCP (NewReno)", .family = CC_FAMILY_LOSS, .year = 1990,
	.source = "V. Jacobson, Congestion Avoidance and Control, SIGCOMM 1988; RFC 5681",
	.summary =
		"Adds one segment per round trip and halves the window on congestion.");
