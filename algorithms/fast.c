/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * FAST TCP: keep alpha own segments in the queues of the path.
 *
 * FAST assumes that the smallest RTT ever seen is that of the empty path. The rest of
 * the average RTT is queueing delay. Every second round trip the window w changes to
 *
 *     w <- min(2 w, (1 - gamma) w + gamma (rtt_base / rtt_average w + alpha))
 *
 * It rests where its backlog, its own segments in the queues, is alpha:
 *
 *     w (1 - rtt_base / rtt_average) = alpha
 *
 * N flows therefore need a queue of N alpha. There are three levels of alpha, and the
 * throughput decides which one applies. Loss halves the window. A flow that starts
 * later than others mistakes their queueing delay for a part of the path's RTT, and so
 * gets more than its share.
 *
 * Li, Leith and Shorten 2007 print the law and the levels (section V-E, Table II). The
 * Linux patch that they used is lost, so the following is our interpretation of the
 * texts.
 *
 * Interpretation: m0u to m2l are thresholds with hysteresis, in kB/s of payload. Level
 * 0 becomes 1 above m0u, and 1 becomes 0 again below m1l. In the same way, m1u and m2l
 * are the thresholds between levels 1 and 2. The throughput is measured between two
 * updates of the window.
 *
 * Interpretation: gamma = 50 is a percentage, the 0.5 of Jin et al. 2004.
 *
 * Interpretation: with "no queueing delay" alpha is a share of the window,
 *
 *     alpha(w) = a w
 * where a is mi_gain. "No queueing delay" means less than mi_threshold, 0.75 ms as in
 * ns-2's FAST.
 *
 * Interpretation: with each sample, the average RTT moves by min(3 / w, 1 / 4) of its
 * distance from the sample (Jin et al. 2004).
 *
 * Interpretation: slow start is that of the stack, up to ssthresh or the first loss,
 * without pacing, because their algorithms shared one stack. With slow_start_exit it
 * also ends when there is queueing. Without pacing, slow start fills a short queue
 * early and loses less. Without slow_start_exit it lasts longer, so that a new flow
 * has its share at once.
 *
 * Interpretation: the window is frozen for update_rtts - 1 round trips. The data
 * measured at an update was thus sent with the window that the update changes.
 *
 * Interpretation: an update changes the window in one step. Pacing at 1.2 times the
 * window per smoothed RTT, Linux's margin, spreads the segments that the step
 * releases.
 */
#include "cc.h"

#define fast_parameters(P)                                                        \
	P(gamma, "%", 50, CC_RANGE(1, 100),                                       \
	  "share of the distance to the target that each update covers",          \
	  "Li et al. 2007, Table II: 50; Jin et al. 2004: 0.5")                   \
	P(m0a, "segments", 8, CC_RANGE(1, 1000000), "alpha at level 0",           \
	  "Li et al. 2007, Table II")                                             \
	P(m1a, "segments", 20, CC_RANGE(1, 1000000), "alpha at level 1",          \
	  "Li et al. 2007, Table II")                                             \
	P(m2a, "segments", 200, CC_RANGE(1, 1000000), "alpha at level 2",         \
	  "Li et al. 2007, Table II")                                             \
	P(m0u, "kB/s", 1500, CC_RANGE(0, 0xffffffff),                             \
	  "throughput above which level 0 becomes 1", "Li et al. 2007, Table II") \
	P(m1l, "kB/s", 1250, CC_RANGE(0, 0xffffffff),                             \
	  "throughput below which level 1 becomes 0", "Li et al. 2007, Table II") \
	P(m1u, "kB/s", 15000, CC_RANGE(0, 0xffffffff),                            \
	  "throughput above which level 1 becomes 2", "Li et al. 2007, Table II") \
	P(m2l, "kB/s", 12500, CC_RANGE(0, 0xffffffff),                            \
	  "throughput below which level 2 becomes 1", "Li et al. 2007, Table II") \
	P(update_rtts, "round trips", 2, CC_RANGE(1, 8),                          \
	  "round trips from one update of the window to the next",                \
	  "Jin et al. 2004: every other one")                                     \
	P(mi_threshold, "us", 750, CC_RANGE(0, 1000000),                          \
	  "queueing delay below which alpha is a share of the window", "ns-2")    \
	P(mi_gain, "%", 100, CC_RANGE(1, 100),                                    \
	  "share of the window: a of alpha(w) = a w", "interpretation")           \
	P(slow_start_exit, "switch", 0, CC_SWITCH,                                \
	  "leave slow start when the queueing delay reaches mi_threshold",        \
	  "interpretation")                                                       \
	P(pacing, "%", 120, CC_RANGE(0, 400),                                     \
	  "pacing rate relative to the window per smoothed RTT; 0: not paced",    \
	  "interpretation; Linux's margin")                                       \
	P(pacing_slow_start, "%", 0, CC_RANGE(0, 400),                            \
	  "pacing rate in slow start, relative to the same; 0: not paced",        \
	  "interpretation; Linux's margin would be 200")

#define fast_presets(S)                                                             \
	S("li2007",                                                                 \
	  "Li, Leith, Shorten 2007, Table II: gamma 50, m0a 8, m1a 20, m2a 200, "   \
	  "m0u 1500, m1l 1250, m1u 15000, m2l 12500",                               \
	  CC_SET(fast, gamma, 50), CC_SET(fast, m0a, 8), CC_SET(fast, m1a, 20),     \
	  CC_SET(fast, m2a, 200), CC_SET(fast, m0u, 1500), CC_SET(fast, m1l, 1250), \
	  CC_SET(fast, m1u, 15000), CC_SET(fast, m2l, 12500))

#define fast_hooks(H)       \
	H(fast, init)       \
	H(fast, ssthresh)   \
	H(fast, cong_avoid) \
	H(fast, pkts_acked) \
	H(fast, set_state)  \
	H(fast, info)

/* Longer samples of the RTT (17 s) are cut, so that products fit 64 bits. */
#define FAST_RTT_MAX_US (1u << 24)
/* Windows for the pacing rate (34 GB) are cut, too. */
#define FAST_WINDOW_MAX_BYTES (1ull << 35)
/* Bits after the point: of the average RTT, and of RTTs and windows in the law. */
#define FAST_AVERAGE_SHIFT 16
#define FAST_SHIFT 8

CC_PARAMS(fast);

struct fast_state {
	u64 rtt_average;     /* us << FAST_AVERAGE_SHIFT; 0: none */
	u64 period_start_us; /* the period between two updates */
	u64 period_start_delivered;
	u32 rtt_base_us;
	u32 round_end_seq;
	u32 window_fraction; /* of cwnd, in 1 << FAST_SHIFT */
	u8 period_rounds;
	u8 level;
};

static void fast_begin_period(struct fast_state *fast, const struct cc_conn *conn)
{
	fast->period_start_us = conn->now_us;
	fast->period_start_delivered = conn->delivered_segs;
	fast->period_rounds = 0;
	fast->round_end_seq = conn->snd_nxt;
}

static void fast_init(const struct fast_params *params, struct fast_state *fast,
		      struct cc_conn *conn)
{
	*fast = (struct fast_state){0};
	fast_begin_period(fast, conn);
}

static u32 fast_ssthresh(const struct fast_params *params, struct fast_state *fast,
			 const struct cc_conn *conn)
{
	return cc_half_window(conn);
}

/* Average queueing delay, us << FAST_SHIFT. */
static u64 fast_queueing(const struct fast_state *fast)
{
	u64 average = fast->rtt_average >> (FAST_AVERAGE_SHIFT - FAST_SHIFT);
	u64 base = (u64)fast->rtt_base_us << FAST_SHIFT;

	return average > base ? average - base : 0;
}

static u8 fast_queue_is_empty(const struct fast_params *params,
			      const struct fast_state *fast)
{
	return fast_queueing(fast) < (u64)params->mi_threshold << FAST_SHIFT;
}

/* The flow's own segments in the queues: w - rtt_base / rtt_average w, << FAST_SHIFT. */
static u64 fast_backlog(const struct fast_state *fast, const struct cc_conn *conn)
{
	u64 average_us = fast->rtt_average >> FAST_AVERAGE_SHIFT;
	u64 window = (u64)conn->cwnd_segs << FAST_SHIFT;
	u64 backlog;

	if (!average_us)
		return 0;
	backlog = fast_queueing(fast) * conn->cwnd_segs / average_us;
	return backlog < window ? backlog : window;
}

static u32 fast_alpha(const struct fast_params *params, const struct fast_state *fast)
{
	if (fast->level == 0)
		return params->m0a;
	return fast->level == 1 ? params->m1a : params->m2a;
}

static void fast_choose_level(const struct fast_params *params, struct fast_state *fast,
			      const struct cc_conn *conn)
{
	u64 elapsed_us = conn->now_us - fast->period_start_us;
	u64 bytes =
		(conn->delivered_segs - fast->period_start_delivered) * conn->mss_bytes;
	u64 rate_kb_per_s;

	if (!elapsed_us)
		return;
	rate_kb_per_s = bytes * 1000 / elapsed_us;
	if (fast->level == 0 && rate_kb_per_s > params->m0u)
		fast->level = 1;
	if (fast->level == 1 && rate_kb_per_s > params->m1u)
		fast->level = 2;
	if (fast->level == 2 && rate_kb_per_s < params->m2l)
		fast->level = 1;
	if (fast->level == 1 && rate_kb_per_s < params->m1l)
		fast->level = 0;
}

static void fast_update_window(const struct fast_params *params, struct fast_state *fast,
			       struct cc_conn *conn)
{
	u64 whole = (u64)conn->cwnd_segs << FAST_SHIFT;
	u64 window = whole + fast->window_fraction;
	u64 backlog = fast_backlog(fast, conn);
	u64 target = (u64)fast_alpha(params, fast) << FAST_SHIFT;
	u64 limit = (u64)conn->cwnd_clamp_segs << FAST_SHIFT;

	if (fast_queue_is_empty(params, fast))
		target = whole * params->mi_gain / 100;
	if (target > backlog)
		window += (target - backlog) * params->gamma / 100;
	else
		window -= (backlog - target) * params->gamma / 100;
	if (limit > 2 * whole)
		limit = 2 * whole;
	if (window > limit)
		window = limit;
	if (window < (u64)CC_CWND_MIN << FAST_SHIFT)
		window = (u64)CC_CWND_MIN << FAST_SHIFT;
	conn->cwnd_segs = (u32)(window >> FAST_SHIFT);
	fast->window_fraction = window & ((1u << FAST_SHIFT) - 1);
	/*
	 * Slow start must not regain the part of the window that was given up for delay.
	 */
	conn->ssthresh_segs = cc_min(conn->ssthresh_segs, conn->cwnd_segs);
}

/* Return true if this ACK ends the last round trip of the period. */
static u8 fast_period_ends(const struct fast_params *params, struct fast_state *fast,
			   const struct cc_conn *conn)
{
	if (cc_seq_after(fast->round_end_seq, conn->snd_una))
		return 0;
	fast->round_end_seq = conn->snd_nxt;
	fast->period_rounds++;
	return fast->period_rounds >= params->update_rtts;
}

static void fast_cong_avoid(const struct fast_params *params, struct fast_state *fast,
			    struct cc_conn *conn, u32 acked)
{
	u8 slow_start = cc_in_slow_start(conn);

	if (slow_start && params->slow_start_exit && !fast_queue_is_empty(params, fast)) {
		conn->ssthresh_segs = conn->cwnd_segs;
		slow_start = 0;
	}
	if (slow_start && cc_may_grow(conn))
		cc_slow_start(conn, acked);
	if (!fast_period_ends(params, fast, conn))
		return;
	fast_choose_level(params, fast, conn);
	if (!slow_start && cc_may_grow(conn))
		fast_update_window(params, fast, conn);
	fast_begin_period(fast, conn);
}

static void fast_sample_rtt(struct fast_state *fast, const struct cc_conn *conn,
			    u32 rtt_us)
{
	u64 rtt = (u64)rtt_us << FAST_AVERAGE_SHIFT;
	/* 3 / w, at most 1 / 4 */
	u32 part = cc_max(conn->cwnd_segs, 12);

	if (!fast->rtt_base_us || rtt_us < fast->rtt_base_us)
		fast->rtt_base_us = rtt_us;
	if (!fast->rtt_average)
		fast->rtt_average = rtt;
	else if (rtt > fast->rtt_average)
		fast->rtt_average += (rtt - fast->rtt_average) * 3 / part;
	else
		fast->rtt_average -= (fast->rtt_average - rtt) * 3 / part;
}

static void fast_set_pacing(const struct fast_params *params, struct cc_conn *conn)
{
	u64 window_bytes = (u64)conn->cwnd_segs * conn->mss_bytes;
	u32 percent = cc_in_slow_start(conn) ? params->pacing_slow_start : params->pacing;

	if (!conn->srtt_us || conn->srtt_us == CC_NO_RTT)
		return;
	if (window_bytes > FAST_WINDOW_MAX_BYTES)
		window_bytes = FAST_WINDOW_MAX_BYTES;
	conn->pacing_rate_bytes_per_s =
		window_bytes * CC_USEC_PER_SEC / conn->srtt_us * percent / 100;
}

static void fast_pkts_acked(const struct fast_params *params, struct fast_state *fast,
			    struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	if (sample->rtt_us > 0)
		fast_sample_rtt(fast, conn, cc_min((u32)sample->rtt_us, FAST_RTT_MAX_US));
	fast_set_pacing(params, conn);
}

static void fast_set_state(const struct fast_params *params, struct fast_state *fast,
			   struct cc_conn *conn, u32 new_state)
{
	if (new_state == CC_OPEN && conn->state != CC_DISORDER)
		fast_begin_period(fast, conn);
	/*
	 * After a timeout the queue may be gone, and retransmissions give no RTT to show
	 * that.
	 */
	if (new_state == CC_LOSS)
		fast->rtt_average = 0;
}

static void fast_info(const struct fast_params *params, const struct fast_state *fast,
		      const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = fast_alpha(params, fast);
	info->values[1] = fast->rtt_base_us;
	info->values[2] = (u32)(fast->rtt_average >> FAST_AVERAGE_SHIFT);
	info->values[3] = cc_saturate(fast_backlog(fast, conn) >> FAST_SHIFT);
}

/* In figures: FAST-TCP, #cc79a7, cross. */
CC_ALGORITHM(
	fast, .title = "FAST TCP", .family = CC_FAMILY_DELAY, .year = 2004,
	.source = "C. Jin, D. Wei, S. Low, FAST TCP: Motivation, Architecture, "
		  "Algorithms, Performance, INFOCOM 2004",
	.summary = "Keeps a set number of own segments in the queue, measured by the "
		   "RTT.",
	.flags = CC_NEEDS_PACING,
	.info_names = {"alpha_segs", "rtt_base_us", "rtt_average_us", "backlog_segs"});
