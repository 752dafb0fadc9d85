/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Hybla: on a long path grow as fast as standard TCP does on a short one.
 *
 * The ratio rho compares the path's RTT with a reference:
 *
 *     rho = max(srtt / rtt0, 1)
 *
 * Each ACK widens the window by
 *
 *     2^rho - 1      in slow start
 *     rho^2 / cwnd   in congestion avoidance
 *
 * The throughput thus follows the same curve over time at any RTT. After t seconds
 * without loss, the window is rho times as large as that of standard TCP at rtt0. Loss
 * halves the window.
 *
 * As in Linux: rho counts in eighths. It is computed again when the smoothed RTT is
 * the smallest so far. In slow start its whole part is 16 at most, and 2^rho comes
 * from a table of
 *
 *     128 2^(k / 8), k = 0 ... 7
 * Outside the open state Hybla is standard TCP. The first window is rho segments
 * instead of the stack's. Growth counts ACKs, not acknowledged segments (count_acks).
 * For each ACK it is rounded down to 1/128 segment (fraction_bits). Rounding may
 * remove the share cwnd / (128 rho^2) of the growth. In a window beyond 128 rho^2
 * segments, nothing of the growth would be left. The window then grows by a segment
 * for each cwnd ACKs, as that of standard TCP. With fraction_bits 16 the law is valid
 * up to windows 512 times larger.
 *
 * Unlike Linux: the limit of 65535 segments (window_max) only stops growth, because
 * BPF cannot write the stack's clamp. If no RTT is known when the connection begins,
 * Linux stays at rho = 1. Here the first window is then the stack's, and the first ACK
 * sets rho.
 */
#include "cc.h"

#define hybla_parameters(P)                                                            \
	P(rtt0, "ms", 25, CC_RANGE(1, 10000), "reference RTT, at which rho is 1",      \
	  "Linux; Caini and Firrincieli 2004")                                         \
	P(initial_window, "switch", 1, CC_SWITCH,                                      \
	  "begin with a window of rho segments, not with the stack's", "Linux")        \
	P(window_max, "segments", 65535, CC_RANGE(2, 0x7fffffff),                      \
	  "window at which growth stops", "Linux")                                     \
	P(count_acks, "switch", 1, CC_SWITCH, "count ACKs, not acknowledged segments", \
	  "Linux, even today; Caini and Firrincieli 2004 count segments")              \
	P(fraction_bits, "bits", 7, CC_RANGE(7, 20), "bits after the point of growth", \
	  "Linux: 7")

#define hybla_presets(S)

#define hybla_hooks(H)       \
	H(hybla, init)       \
	H(hybla, ssthresh)   \
	H(hybla, cong_avoid) \
	H(hybla, set_state)  \
	H(hybla, info)

/* rho counts in eighths. */
#define HYBLA_EIGHTHS 8u
#define HYBLA_RHO_MAX_SLOW_START 16u
/* Bits after the point of the table of powers. */
#define HYBLA_POWER_SHIFT 7u
/* Larger than on any path or with any ACK, so that products fit 64 bits. */
#define HYBLA_EIGHTHS_MAX (1u << 20)
#define HYBLA_STEP_MAX (1ull << 40)
#define HYBLA_ACKED_MAX (1u << 20)

/* 128 2^(k / 8), rounded down. */
static const u32 hybla_powers[HYBLA_EIGHTHS] = {128, 139, 152, 165, 181, 197, 215, 234};

CC_PARAMS(hybla);

struct hybla_state {
	u32 rho_eighths;
	u32 rtt_min_us; /* smallest smoothed RTT; CC_NO_RTT: none */
	u32 fraction;	/* of the window, in 1 << fraction_bits */
	u8 standard;	/* outside the open state */
};

static void hybla_update_rho(const struct hybla_params *params, struct hybla_state *hybla,
			     const struct cc_conn *conn)
{
	u64 eighths;

	if (conn->srtt_us >= hybla->rtt_min_us)
		return;
	hybla->rtt_min_us = conn->srtt_us;
	eighths = (u64)conn->srtt_us * HYBLA_EIGHTHS / (params->rtt0 * CC_USEC_PER_MSEC);
	hybla->rho_eighths = cc_max(cc_saturate(eighths), HYBLA_EIGHTHS);
}

static void hybla_init(const struct hybla_params *params, struct hybla_state *hybla,
		       struct cc_conn *conn)
{
	*hybla = (struct hybla_state){.rho_eighths = HYBLA_EIGHTHS,
				      .rtt_min_us = CC_NO_RTT};
	if (conn->srtt_us == CC_NO_RTT)
		return;
	hybla_update_rho(params, hybla, conn);
	if (params->initial_window)
		conn->cwnd_segs =
			cc_clamp(hybla->rho_eighths / HYBLA_EIGHTHS, 1,
				 cc_min(params->window_max, conn->cwnd_clamp_segs));
}

static u32 hybla_ssthresh(const struct hybla_params *params, struct hybla_state *hybla,
			  const struct cc_conn *conn)
{
	return cc_half_window(conn);
}

/* Growth for one ACK, in 1 << fraction_bits: 2^rho - 1 segments. */
static u64 hybla_slow_start_step(const struct hybla_params *params,
				 const struct hybla_state *hybla)
{
	u32 whole = cc_min(hybla->rho_eighths / HYBLA_EIGHTHS, HYBLA_RHO_MAX_SLOW_START);
	u64 rest = cc_index(hybla->rho_eighths % HYBLA_EIGHTHS, HYBLA_EIGHTHS);
	u64 power = (u64)hybla_powers[rest] << whole;

	return (power - (1u << HYBLA_POWER_SHIFT))
	       << (params->fraction_bits - HYBLA_POWER_SHIFT);
}

/* The same in congestion avoidance: rho^2 / cwnd. */
static u64 hybla_avoidance_step(const struct hybla_params *params,
				const struct hybla_state *hybla,
				const struct cc_conn *conn)
{
	u64 eighths = cc_min(hybla->rho_eighths, HYBLA_EIGHTHS_MAX);
	u64 squared = (eighths * eighths) << params->fraction_bits;
	u64 step = squared / (HYBLA_EIGHTHS * HYBLA_EIGHTHS) / cc_max(conn->cwnd_segs, 1);

	return step < HYBLA_STEP_MAX ? step : HYBLA_STEP_MAX;
}

/* Widen the window by whole segments, and keep the fraction. */
static void hybla_grow(const struct hybla_params *params, struct hybla_state *hybla,
		       struct cc_conn *conn, u64 step)
{
	u64 sum = step + hybla->fraction;

	if (sum >> params->fraction_bits > step >> params->fraction_bits)
		conn->cwnd_cnt = 0;
	cc_grow(conn, cc_saturate(sum >> params->fraction_bits));
	hybla->fraction = (u32)(sum & ((1ull << params->fraction_bits) - 1));
}

static void hybla_slow_start(const struct hybla_params *params, struct hybla_state *hybla,
			     struct cc_conn *conn, u32 acked)
{
	u64 step = hybla_slow_start_step(params, hybla);

	hybla_grow(params, hybla, conn, step * acked);
	conn->cwnd_segs = cc_min(conn->cwnd_segs, conn->ssthresh_segs);
}

static void hybla_avoid(const struct hybla_params *params, struct hybla_state *hybla,
			struct cc_conn *conn, u32 acked)
{
	u64 step = hybla_avoidance_step(params, hybla, conn);

	if (step < 1ull << params->fraction_bits)
		conn->cwnd_cnt = cc_saturate((u64)conn->cwnd_cnt + acked);
	hybla_grow(params, hybla, conn, step * acked);
	if (!step && conn->cwnd_cnt >= conn->cwnd_segs) {
		conn->cwnd_cnt = 0;
		cc_grow(conn, 1);
	}
}

static void hybla_cong_avoid(const struct hybla_params *params, struct hybla_state *hybla,
			     struct cc_conn *conn, u32 acked)
{
	u32 before = conn->cwnd_segs;

	hybla_update_rho(params, hybla, conn);
	if (!cc_may_grow(conn))
		return;
	if (hybla->standard) {
		cc_standard_growth(conn, acked);
	} else {
		if (params->count_acks || conn->stack & CC_STACK_COUNT_ACKS)
			acked = 1;
		acked = cc_min(acked, HYBLA_ACKED_MAX);
		/*
		 * Linux: below ssthresh, even if the stack has another rule for slow
		 * start.
		 */
		if (conn->cwnd_segs < conn->ssthresh_segs)
			hybla_slow_start(params, hybla, conn, acked);
		else
			hybla_avoid(params, hybla, conn, acked);
	}
	conn->cwnd_segs = cc_min(conn->cwnd_segs, cc_max(params->window_max, before));
}

static void hybla_set_state(const struct hybla_params *params, struct hybla_state *hybla,
			    struct cc_conn *conn, u32 new_state)
{
	hybla->standard = new_state != CC_OPEN;
}

static void hybla_info(const struct hybla_params *params, const struct hybla_state *hybla,
		       const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = cc_scale(hybla->rho_eighths, 1000, HYBLA_EIGHTHS);
	info->values[1] = hybla->rtt_min_us == CC_NO_RTT ? 0 : hybla->rtt_min_us;
}

/* In figures: Hybla, #b58a5a, house. */
CC_ALGORITHM(hybla, .title = "TCP Hybla", .family = CC_FAMILY_LOSS, .year = 2004,
	     .flags = CC_RENOS_BOUND,
	     .source = "C. Caini, R. Firrincieli, TCP Hybla: a TCP Enhancement for "
		       "Heterogeneous Networks, International Journal of Satellite "
		       "Communications and Networking 22(5), 2004",
	     .summary = "Grows on long paths as standard TCP does on one of 25 ms, so "
			"that shares do not depend on the RTT.",
	     .info_names = {"rho_milli", "srtt_min_us"});
