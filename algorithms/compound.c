/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Compound TCP: the window of standard TCP, plus a second one that grows while the
 * queue is empty.
 *
 * The window win is the sum of two windows. The first, cwnd, is that of standard TCP:
 * it grows by a segment per round trip, and loss halves it. The second, dwnd, follows
 * the backlog, once per round trip:
 *
 *     diff = win (1 - base_rtt / rtt)
 *     dwnd = dwnd + max(alpha win^k - 1, 0)      if diff < gamma
 *     dwnd = max(dwnd - eta diff, 0)             else
 *
 * Here rtt is the smallest RTT of the round trip, and base_rtt the smallest ever. The
 * second window thus grows fast while the path is not full, and yields to a queue. On
 * loss
 *
 *     dwnd = max(win (1 - beta) - cwnd / 2, 0)
 *
 * After a loss, win is therefore 1 - beta of its former value, or half of cwnd if that
 * is more. A timeout sets dwnd to 0. In slow start, in recovery, and in round trips
 * with fewer than three RTT samples, dwnd stays as it is. The value of win^k is exact
 * to 1/10000.
 *
 * With gamma_tuning, gamma follows the backlog that standard TCP would have had in the
 * last round trip before a loss:
 *
 *     gamma = (1 - gamma_gain) gamma + gamma_gain gamma_share cwnd (1 - base_rtt / rtt)
 *
 * Its limits are gamma_low and gamma_high. A timeout resets it.
 *
 * The connection has only one window, which is win. The algorithm's state holds dwnd,
 * and cwnd is the rest. If the stack changes the window, it therefore changes cwnd
 * first.
 *
 * Interpretation: below low_window, win is the window of standard TCP. All of dwnd
 * then becomes part of cwnd. Setting dwnd to 0 without that would cut the window
 * twice.
 *
 * Interpretation: dwnd grows in one step per round trip, because its law is per round
 * trip. With spread_growth it grows with the ACKs of the next round trip, as in
 * Andrew's Linux module. Large windows then cause no bursts. In both cases dwnd
 * shrinks in one step.
 *
 * Interpretation: when the window falls because of delay, ssthresh falls with it, so
 * that slow start does not restore the window. Idle times and timeouts do not reset
 * the smallest RTT ever.
 *
 * Interpretation: gamma_tuning is off, because the paper has a fixed gamma. The gain
 * of the tuning differs between implementations; 1/4 is that of Andrew's module 1.3.
 *
 * Interpretation: Kumazoe et al. 2012 print another law, with four differences. It has
 * dwnd^k instead of win^k (literal_growth), which cannot grow from 0. Its backlog is
 * that of cwnd alone, from the smoothed RTT, and it is a rate (literal_diff), for
 * which we use segments per second. It has dwnd instead of win in the cut of dwnd
 * (literal_cut), and no cut of cwnd (literal_reno). We assume that the four are
 * misprints: the authors ran an existing implementation, and with dwnd^k their flows
 * would have been standard TCP. All four are therefore off, also in the preset.
 */
#include "cc_watch.h"

#define compound_parameters(P)                                                           \
	P(alpha, "1/1024", 128, CC_RANGE(0, 1024),                                       \
	  "growth of dwnd per round trip, as a share of win^k", "Tan et al. 2006: 1/8")  \
	P(k, "1/1024", 768, CC_RANGE(0, 1024), "exponent of that growth",                \
	  "Tan et al. 2006: 0.75")                                                       \
	P(beta, "1/1024", 512, CC_RANGE(1, 512), "share of the window cut by loss",      \
	  "Tan et al. 2006: 1/2")                                                        \
	P(eta, "1/1024", 1024, CC_RANGE(0, 16384),                                       \
	  "reduction of dwnd for each segment of backlog", "Tan et al. 2006: 1")         \
	P(gamma, "segments", 30, CC_RANGE(0, 1000000),                                   \
	  "backlog from which dwnd yields; with gamma_tuning its first value",           \
	  "Tan et al. 2006")                                                             \
	P(low_window, "segments", 41, CC_RANGE(0, 1000000),                              \
	  "window below which it is standard TCP", "Tan et al. 2006; Andrew: 38")        \
	P(gamma_tuning, "switch", 0, CC_SWITCH,                                          \
	  "let gamma follow the size of the queue",                                      \
	  "interpretation; draft-sridharan-tcpm-ctcp-02")                                \
	P(gamma_low, "segments", 5, CC_RANGE(0, 1000000), "least gamma of the tuning",   \
	  "draft-sridharan-tcpm-ctcp-02")                                                \
	P(gamma_high, "segments", 30, CC_RANGE(0, 1000000),                              \
	  "largest gamma of the tuning", "draft-sridharan-tcpm-ctcp-02")                 \
	P(gamma_share, "1/1024", 768, CC_RANGE(0, 1024),                                 \
	  "share of the backlog of standard TCP that gamma aims at",                     \
	  "draft-sridharan-tcpm-ctcp-02: 3/4")                                           \
	P(gamma_gain, "1/1024", 256, CC_RANGE(0, 1024),                                  \
	  "share of the distance that gamma moves with each loss",                       \
	  "interpretation; Andrew's Linux module 1.3: 1/4")                              \
	P(spread_growth, "switch", 0, CC_SWITCH,                                         \
	  "grow dwnd with the ACKs of a round trip, not at once",                        \
	  "interpretation; Andrew's Linux module")                                       \
	P(literal_growth, "switch", 0, CC_SWITCH, "dwnd^k instead of win^k",             \
	  "interpretation; Kumazoe et al. 2012, equation 4")                             \
	P(literal_diff, "switch", 0, CC_SWITCH,                                          \
	  "diff of cwnd alone, by the smoothed RTT, in segments per second",             \
	  "interpretation; Kumazoe et al. 2012, section III-C")                          \
	P(literal_cut, "switch", 0, CC_SWITCH, "loss leaves dwnd (1 - beta) - cwnd / 2", \
	  "interpretation; Kumazoe et al. 2012, equation 4")                             \
	P(literal_reno, "switch", 0, CC_SWITCH, "loss does not cut cwnd",                \
	  "interpretation; Kumazoe et al. 2012, equation 3")

#define compound_presets(S)                                                           \
	S("kumazoe2012",                                                              \
	  "Kumazoe et al. 2012 print the law with symbols only; values are those of " \
	  "the "                                                                      \
	  "open module for their kernel, Andrew's for Linux 2.6 (interpretation)",    \
	  CC_SET(compound, low_window, 38), CC_SET(compound, spread_growth, 1))

#define compound_hooks(H)       \
	H(compound, init)       \
	H(compound, ssthresh)   \
	H(compound, cong_avoid) \
	H(compound, pkts_acked) \
	H(compound, set_state)  \
	H(compound, undo_cwnd)  \
	H(compound, info)

/* Bits after the point of dwnd. */
#define COMPOUND_SHIFT 24
#define COMPOUND_SEGMENT (1ull << COMPOUND_SHIFT)
/* Bits after the point of powers, and of logarithms. */
#define COMPOUND_POWER_SHIFT 16
#define COMPOUND_LOG_SHIFT 16
/* Bits after the point of numbers from 1 to 2. */
#define COMPOUND_UNIT_SHIFT 31

CC_PARAMS(compound);

struct compound_state {
	u64 dwnd;      /* segments << COMPOUND_SHIFT */
	u64 undo_dwnd; /* before the last cut */
	u64 growth;    /* of dwnd in this round trip, by each segment acknowledged */
	struct cc_watch watch;
	u32 gamma;	  /* segments, 1 / 1024 */
	u32 reno_backlog; /* of cwnd in the last round trip, segments */
	u32 has_reno_backlog;
	u32 reserved;
};

/* 2^(2^-(i + 1)), rounded. */
static const u32 compound_roots[COMPOUND_LOG_SHIFT] = {
	3037000500u, 2553802834u, 2341847524u, 2242560872u, 2194507417u, 2170868212u,
	2159144272u, 2153306067u, 2150392887u, 2148937775u, 2148210589u, 2147847087u,
	2147665360u, 2147574502u, 2147529075u, 2147506361u,
};

/* Logarithm to base 2 of a value above 0, << COMPOUND_LOG_SHIFT, rounded down. */
CC_APART u32 compound_log(u32 value)
{
	u32 log = 0;
	u64 unit; /* from 1 to 2 */

	for (u32 bits = 16; bits; bits /= 2)
		if (value >> log >> bits)
			log += bits;
	unit = ((u64)value << COMPOUND_UNIT_SHIFT) >> log;
	/* Squaring doubles the logarithm, and the part beyond 1 is its next bit. */
	for (u32 i = 0; i < COMPOUND_LOG_SHIFT; i++) {
		u32 bit;

		unit = unit * unit >> COMPOUND_UNIT_SHIFT;
		bit = (u32)(unit >> (COMPOUND_UNIT_SHIFT + 1));
		unit >>= bit;
		log = 2 * log + bit;
	}
	return log;
}

/* value^(k / 1024) << COMPOUND_POWER_SHIFT; 0 of 0. */
CC_APART u64 compound_power(u32 value, u32 k)
{
	u64 log, unit = 1ull << COMPOUND_UNIT_SHIFT;
	u32 whole;

	if (!value)
		return 0;
	log = (u64)compound_log(value) * k / CC_ONE;
	whole = log >> COMPOUND_LOG_SHIFT;
	for (u32 i = 0; i < COMPOUND_LOG_SHIFT; i++)
		if (log >> (COMPOUND_LOG_SHIFT - 1 - i) & 1)
			unit = unit * compound_roots[i] >> COMPOUND_UNIT_SHIFT;
	return unit << COMPOUND_POWER_SHIFT >> (COMPOUND_UNIT_SHIFT - whole);
}

static void compound_reset_gamma(const struct compound_params *params,
				 struct compound_state *compound)
{
	compound->gamma = params->gamma * CC_ONE;
	compound->has_reno_backlog = 0;
}

static void compound_init(const struct compound_params *params,
			  struct compound_state *compound, struct cc_conn *conn)
{
	*compound = (struct compound_state){0};
	compound_reset_gamma(params, compound);
	cc_watch_start(&compound->watch, conn);
}

/* dwnd. The stack may have set the window to less. */
static u64 compound_held(const struct compound_state *compound,
			 const struct cc_conn *conn)
{
	u64 window = (u64)conn->cwnd_segs << COMPOUND_SHIFT;

	return compound->dwnd < window ? compound->dwnd : window;
}

/* Its whole segments. */
static u32 compound_dwnd(const struct compound_state *compound,
			 const struct cc_conn *conn)
{
	return (u32)(compound_held(compound, conn) >> COMPOUND_SHIFT);
}

/* Set dwnd, and move the window with it. */
static void compound_set_dwnd(struct compound_state *compound, struct cc_conn *conn,
			      u64 dwnd)
{
	u32 reno = conn->cwnd_segs - compound_dwnd(compound, conn);
	u32 room = conn->cwnd_clamp_segs - cc_min(reno, conn->cwnd_clamp_segs);

	if (dwnd >> COMPOUND_SHIFT > room)
		dwnd = (u64)room << COMPOUND_SHIFT;
	compound->dwnd = dwnd;
	conn->cwnd_segs = reno + (u32)(dwnd >> COMPOUND_SHIFT);
}

/* Segments, or segments per second as printed by Kumazoe et al. */
static u32 compound_diff(const struct compound_params *params,
			 const struct compound_state *compound,
			 const struct cc_conn *conn)
{
	u32 base_us = compound->watch.base_us;
	u32 reno = conn->cwnd_segs - compound_dwnd(compound, conn);

	if (!params->literal_diff)
		return cc_backlog(conn->cwnd_segs, base_us, compound->watch.round_us);
	return cc_scale(cc_backlog(reno, base_us, conn->srtt_us), CC_USEC_PER_SEC,
			base_us);
}

static u64 compound_growth(const struct compound_params *params,
			   const struct compound_state *compound,
			   const struct cc_conn *conn)
{
	u32 window =
		params->literal_growth ? compound_dwnd(compound, conn) : conn->cwnd_segs;
	u64 power = compound_power(window, params->k) * params->alpha / CC_ONE;
	u64 growth = power << (COMPOUND_SHIFT - COMPOUND_POWER_SHIFT);

	return growth > COMPOUND_SEGMENT ? growth - COMPOUND_SEGMENT : 0;
}

static void compound_shrink(const struct compound_params *params,
			    struct compound_state *compound, struct cc_conn *conn,
			    u32 diff)
{
	u64 loss = ((u64)diff * params->eta << COMPOUND_SHIFT) / CC_ONE;
	u64 dwnd = compound_held(compound, conn);

	compound_set_dwnd(compound, conn, dwnd > loss ? dwnd - loss : 0);
	cc_set_window(conn, cc_max(conn->cwnd_segs, CC_CWND_MIN));
}

static void compound_judge(const struct compound_params *params,
			   struct compound_state *compound, struct cc_conn *conn)
{
	u32 diff = compound_diff(params, compound, conn);
	u32 reno = conn->cwnd_segs - compound_dwnd(compound, conn);
	u64 growth;

	compound->growth = 0;
	compound->reno_backlog =
		cc_backlog(reno, compound->watch.base_us, compound->watch.round_us);
	compound->has_reno_backlog = 1;
	if (conn->cwnd_segs < params->low_window) {
		compound->dwnd = 0;
		return;
	}
	if ((u64)diff * CC_ONE >= compound->gamma) {
		compound_shrink(params, compound, conn, diff);
		return;
	}
	growth = compound_growth(params, compound, conn);
	if (params->spread_growth)
		compound->growth = growth / cc_max(conn->cwnd_segs, 1);
	else
		compound_set_dwnd(compound, conn, compound_held(compound, conn) + growth);
}

static void compound_avoid(struct compound_state *compound, struct cc_conn *conn,
			   u32 acked)
{
	u64 growth = compound->growth * cc_min(acked, conn->cwnd_segs);

	cc_additive_increase(conn, conn->cwnd_segs, acked);
	if (growth)
		compound_set_dwnd(compound, conn, compound_held(compound, conn) + growth);
}

static void compound_cong_avoid(const struct compound_params *params,
				struct compound_state *compound, struct cc_conn *conn,
				u32 acked)
{
	u8 slow_start = cc_in_slow_start(conn);

	if (!cc_may_grow(conn))
		return;
	if (cc_reaches_avoidance(conn, &acked))
		compound_avoid(compound, conn, acked);
	if (!compound->watch.is_on || !cc_watch_round_is_over(&compound->watch, conn))
		return;
	if (!slow_start && cc_watch_can_tell(&compound->watch))
		compound_judge(params, compound, conn);
	cc_watch_round(&compound->watch, conn);
}

static void compound_tune_gamma(const struct compound_params *params,
				struct compound_state *compound)
{
	u32 aim = cc_saturate((u64)compound->reno_backlog * params->gamma_share);
	u32 old = cc_scale(compound->gamma, CC_ONE - params->gamma_gain, CC_ONE);
	u64 gamma = (u64)old + cc_scale(aim, params->gamma_gain, CC_ONE);

	if (!params->gamma_tuning || !compound->has_reno_backlog)
		return;
	compound->gamma = cc_clamp(cc_saturate(gamma), params->gamma_low * CC_ONE,
				   params->gamma_high * CC_ONE);
	compound->has_reno_backlog = 0;
}

static u32 compound_ssthresh(const struct compound_params *params,
			     struct compound_state *compound, const struct cc_conn *conn)
{
	u32 dwnd = compound_dwnd(compound, conn);
	u32 reno = conn->cwnd_segs - dwnd;
	u32 kept = cc_scale(params->literal_cut ? dwnd : conn->cwnd_segs,
			    CC_ONE - params->beta, CC_ONE);

	compound_tune_gamma(params, compound);
	/* If cwnd is not cut, there is less room for dwnd than it would keep. */
	dwnd = cc_min(kept > reno / 2 ? kept - reno / 2 : 0,
		      params->literal_reno ? dwnd : conn->cwnd_segs);
	compound->undo_dwnd = compound->dwnd;
	compound->dwnd = (u64)dwnd << COMPOUND_SHIFT;
	compound->growth = 0;
	if (!params->literal_reno)
		reno /= 2;
	return cc_max(reno + dwnd, CC_CWND_MIN);
}

static void compound_pkts_acked(const struct compound_params *params,
				struct compound_state *compound, struct cc_conn *conn,
				const struct cc_ack_sample *sample)
{
	cc_watch_rtt(&compound->watch, sample);
}

static void compound_set_state(const struct compound_params *params,
			       struct compound_state *compound, struct cc_conn *conn,
			       u32 new_state)
{
	cc_watch_state(&compound->watch, conn, new_state);
	if (new_state != CC_LOSS)
		return;
	compound->dwnd = 0;
	compound_reset_gamma(params, compound);
}

static u32 compound_undo_cwnd(const struct compound_params *params,
			      struct compound_state *compound, const struct cc_conn *conn)
{
	compound->dwnd = compound->undo_dwnd;
	return cc_max(conn->cwnd_segs, conn->prior_cwnd_segs);
}

static void compound_info(const struct compound_params *params,
			  const struct compound_state *compound,
			  const struct cc_conn *conn, struct cc_info *info)
{
	u32 dwnd = compound_dwnd(compound, conn);

	info->values[0] = conn->cwnd_segs - dwnd;
	info->values[1] = dwnd;
	info->values[2] = compound->gamma;
	info->values[3] = cc_watch_base_us(&compound->watch);
}

/* In figures: Compound TCP, #7d6fd9, pentagon. */
CC_ALGORITHM(
	compound, .title = "Compound TCP", .family = CC_FAMILY_HYBRID, .year = 2006,
	.flags = CC_RENOS_BOUND,
	.source = "K. Tan, J. Song, Q. Zhang, M. Sridharan, A Compound TCP Approach for "
		  "High-Speed and Long Distance Networks, INFOCOM 2006",
	.summary = "Standard TCP, and a second window that grows fast until there is a "
		   "queue.",
	.info_names = {"cwnd_segs", "dwnd_segs", "gamma_x1024", "base_rtt_us"});
