/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * CUBIC: the window is a cubic function of the time since the last cut.
 *
 * This is RFC 9438 as in Linux. A cut from last_max leaves the share `kept` of the
 * window. From there the window aims for the value of this curve a round trip later:
 *
 *     W(t) = last_max + C (t - K)^3
 *     K    = cbrt((last_max - w) / C)
 *
 * The time t counts from when growth resumed. K makes the curve start at the window w
 * that the cut left. The curve returns fast to last_max and is flat around it. Beyond
 * last_max it grows ever faster. The window grows at most by half per round trip. If a
 * cut comes before the window reaches last_max again, the new last_max is only (1 +
 * kept) / 2 of the window at that cut. Other flows then get room (fast_convergence).
 *
 * Where standard TCP would have the larger window, CUBIC follows standard TCP
 * (tcp_friendliness). For this comparison, standard TCP makes the same cuts, and grows
 * per round trip by
 *
 *     3 (1 - kept) / (1 + kept)
 *
 * segments. Where CUBIC is faster than that, its mean window at a loss probability p
 * is
 *
 *     w = (C (3 + kept) / (4 (1 - kept)))^(1/4) (RTT / p)^(3/4)
 *
 * CUBIC has five modes. The first is slow start. The second is waiting, from a cut
 * until growth resumes. The third is TCP-friendly, while the window of standard TCP is
 * not below the value of the curve a round trip later. Otherwise the mode is concave
 * until t + RTT reaches K, and convex from then on.
 *
 * With ABE (RFC 8511, the preset `abe`) a cut keeps more of the window where
 * congestion marks are its only cause. Such marks come from short queues, which a
 * deeper cut would leave empty. Growth in the TCP-friendly mode still uses `kept`.
 *
 * HyStart leaves slow start before the queue overflows. It does so when a train of
 * ACKs lasts about half of the path's RTT, or the whole RTT if the flow is paced. It
 * also does so when the RTT has risen by an eighth, but by at least 4 and at most 16
 * ms. The parameter `hystart` chooses among Linux's versions. They differ in
 * thresholds, in the clock, and in the start of a round. In the versions that count in
 * milliseconds, the smallest RTT of a round ignores all samples after the eighth.
 *
 * As in Linux: the curve counts time in 1/1024 s, and RTTs in whole milliseconds,
 * rounded up. Its clock stops while nothing is sent. Growth is computed again after 31
 * ms, or when the window has changed. RTT samples in the first second of a curve do
 * not count. Before the first cut, growth is at least 5 % per round trip. The window
 * of standard TCP grows at the same rate beyond last_max, where RFC 9438 lets it grow
 * by a segment per round trip.
 *
 * Unlike Linux: K is the cube root rounded down. Linux uses a table and one step of
 * Newton's method, with an error of up to 0.2 %.
 *
 * Unlike Linux: HyStart lets a train of ACKs last longer by the time that 4 bursts of
 * offload take at the pacing rate. Here this rate is computed from the window. Linux
 * computes it from the outstanding data if that is more.
 */
#include "cc_hystart.h"

#define cubic_parameters(P)                                                             \
	P(kept, "1/1024", 717, CC_RANGE(512, 1000),                                     \
	  "fraction of the window kept on congestion",                                  \
	  "Linux 0.7; RFC 9438 section 4.6")                                            \
	P(kept_ecn, "1/1024", 0, CC_RANGE(0, 1000),                                     \
	  "fraction kept where congestion marks are the only sign of congestion, "      \
	  "0.85 with ABE; 0: as for losses",                                            \
	  "RFC 8511 section 3.1")                                                       \
	P(scale, "1/102.4", 41, CC_RANGE(1, 1000),                                      \
	  "C, in segments per cubic second: how steep the cubic is",                    \
	  "Linux bic_scale, about 0.4; RFC 9438 section 5.1")                           \
	P(fast_convergence, "switch", 1, CC_SWITCH,                                     \
	  "yield when cut below the previous maximum", "RFC 9438 section 4.7")          \
	P(tcp_friendliness, "switch", 1, CC_SWITCH,                                     \
	  "be at least as fast as standard TCP", "RFC 9438 section 4.3")                \
	P(initial_ssthresh, "segments", 0, CC_RANGE(0, 0x7fffffff),                     \
	  "slow-start threshold of a new connection without HyStart; 0: none", "Linux") \
	P(ack_ratio_correction, "switch", 0, CC_SWITCH,                                 \
	  "divide the ACKs that earn a segment by the measured segments per ACK; "      \
	  "for stacks that count ACKs",                                                 \
	  "Linux until 3.18")                                                           \
	P(recompute, "ms", 31, CC_RANGE(0, 1000),                                       \
	  "compute growth again after more than this time with the same window",        \
	  "Linux HZ / 32")                                                              \
	P(hystart, "version", 1, CC_RANGE(0, 3),                                        \
	  "leave slow start early: 0 never, 1 in microseconds (Linux 5.6), "            \
	  "2 in milliseconds (until 5.4), 3 the same at 1/16 of the RTT (3.16)",        \
	  "Linux; Ha and Rhee 2008")                                                    \
	P(hystart_detect, "mask", 3, CC_RANGE(1, 3),                                    \
	  "what HyStart looks at: 1 ACK trains, 2 delay, 3 both", "Linux")              \
	P(hystart_low_window, "segments", 16, CC_RANGE(2, 0x7fffffff),                  \
	  "window from which HyStart is active", "Linux")                               \
	P(hystart_ack_delta, "us", 2000, CC_RANGE(1, 1000000),                          \
	  "longest gap between two ACKs of a train", "Linux")

#define cubic_presets(S)                                                            \
	S("linux-2.6.26",                                                           \
	  "Linux 2.6.26 (CUBIC 2.2): kept 0.8, no HyStart, ACKs counted",           \
	  CC_SET(cubic, kept, 819), CC_SET(cubic, hystart, CC_HYSTART_OFF),         \
	  CC_SET(cubic, ack_ratio_correction, 1))                                   \
	S("linux-3.16", "Linux 3.16: HyStart in milliseconds, ACKs counted",        \
	  CC_SET(cubic, hystart, CC_HYSTART_MS_SIXTEENTH),                          \
	  CC_SET(cubic, ack_ratio_correction, 1))                                   \
	S("linux-4.14", "Linux 4.14: HyStart in milliseconds",                      \
	  CC_SET(cubic, hystart, CC_HYSTART_MS))                                    \
	S("lukaseder2016",                                                          \
	  "Lukaseder et al. 2016, Table I: beta 717/1024, standard TCP where "      \
	  "it is faster; Linux 3.16",                                               \
	  CC_SET(cubic, kept, 717), CC_SET(cubic, tcp_friendliness, 1),             \
	  CC_SET(cubic, hystart, CC_HYSTART_MS_SIXTEENTH),                          \
	  CC_SET(cubic, ack_ratio_correction, 1))                                   \
	S("brakmo2017",                                                             \
	  "Brakmo 2017: cut by 30 %, standard TCP where it is faster; Linux 4.14",  \
	  CC_SET(cubic, kept, 717), CC_SET(cubic, tcp_friendliness, 1),             \
	  CC_SET(cubic, hystart, CC_HYSTART_MS))                                    \
	S("kumazoe2012",                                                            \
	  "Kumazoe et al. 2012: Linux 2.6.26, kept 0.8, no HyStart, ACKs counted; " \
	  "C and beta by their symbols only",                                       \
	  CC_SET(cubic, kept, 819), CC_SET(cubic, hystart, CC_HYSTART_OFF),         \
	  CC_SET(cubic, ack_ratio_correction, 1))                                   \
	S("mani2012",                                                               \
	  "Mani and Mbarek 2012: C and beta by their symbols only, thus Linux's")   \
	S("abe", "RFC 8511 (ABE): 0.85 of the window kept on congestion marks",     \
	  CC_SET(cubic, kept_ecn, 870))

#define cubic_hooks(H)       \
	H(cubic, init)       \
	H(cubic, ssthresh)   \
	H(cubic, cong_avoid) \
	H(cubic, pkts_acked) \
	H(cubic, cwnd_event) \
	H(cubic, set_state)  \
	H(cubic, info)

/* Bits after the point of the ratio of segments to ACKs. */
#define CUBIC_RATIO_SHIFT 4
#define CUBIC_RATIO_MAX (32u << CUBIC_RATIO_SHIFT)
/* 64 bits suffice up to 17 minutes from the plateau, or 67 million segments below it. */
#define CUBIC_OFFSET_MAX (1u << 20)
#define CUBIC_DEPTH_MAX (1u << 26)
/* Growth divisor while no maximum is known: 5 % per round trip. */
#define CUBIC_DIVISOR_UNKNOWN_MAX 20u

enum cubic_mode {
	CUBIC_SLOW_START,
	CUBIC_WAITING,
	CUBIC_TCP_FRIENDLY,
	CUBIC_CONCAVE,
	CUBIC_CONVEX
};

CC_PARAMS(cubic);

struct cubic_state {
	u32 divisor;  /* acknowledged segments per segment of growth */
	u32 last_max; /* window before the last cut, segments; 0: never cut */
	u32 last_cwnd;
	u32 last_time;	 /* jiffies, of the last computation */
	u32 origin;	 /* plateau of the curve, segments */
	u32 k;		 /* time from epoch_start to the plateau, 1/1024 s */
	u32 rtt_min_us;	 /* 0: none */
	u32 epoch_start; /* jiffies, valid if in_epoch */
	u32 acked;	 /* since tcp_cwnd last grew */
	u32 tcp_cwnd;	 /* window of standard TCP, segments */
	u32 ack_ratio;	 /* segments per ACK << CUBIC_RATIO_SHIFT */

	struct cc_hystart hystart;
	u8 in_epoch;
};

#define CUBIC_HYSTART(params)                                                    \
	((struct cc_hystart_options){.version = (params)->hystart,               \
				     .detect = (params)->hystart_detect,         \
				     .low_window = (params)->hystart_low_window, \
				     .ack_delta_us = (params)->hystart_ack_delta})

static void cubic_reset(const struct cubic_params *params, struct cubic_state *cubic,
			const struct cc_conn *conn)
{
	struct cc_hystart_options options = CUBIC_HYSTART(params);

	*cubic = (struct cubic_state){.ack_ratio = 2 << CUBIC_RATIO_SHIFT};
	cc_hystart_new_round(&options, &cubic->hystart, conn);
}

static void cubic_init(const struct cubic_params *params, struct cubic_state *cubic,
		       struct cc_conn *conn)
{
	cubic_reset(params, cubic, conn);
	if (params->initial_ssthresh && params->hystart == CC_HYSTART_OFF)
		conn->ssthresh_segs = params->initial_ssthresh;
}

static u32 cubic_ssthresh(const struct cubic_params *params, struct cubic_state *cubic,
			  const struct cc_conn *conn)
{
	u32 cwnd = conn->cwnd_segs;
	u32 kept = cc_kept(conn, params->kept, params->kept_ecn);

	cubic->in_epoch = 0;
	if (cwnd < cubic->last_max && params->fast_convergence)
		cubic->last_max = cc_scale(cwnd, CC_ONE + kept, 2 * CC_ONE);
	else
		cubic->last_max = cwnd;
	return cc_max(cc_scale(cwnd, kept, CC_ONE), CC_CWND_MIN);
}

static void cubic_begin_epoch(const struct cubic_params *params,
			      struct cubic_state *cubic, const struct cc_conn *conn,
			      u32 acked)
{
	u32 cwnd = conn->cwnd_segs;

	cubic->in_epoch = 1;
	cubic->epoch_start = cc_jiffies(conn);
	cubic->acked = acked;
	cubic->tcp_cwnd = cwnd;
	cubic->origin = cc_max(cubic->last_max, cwnd);
	/* K = cbrt((last_max - cwnd) / C); 2^40 makes it 1/1024 s. */
	cubic->k = cc_cube_root((1ull << 40) / (params->scale * 10) *
				cc_min(cubic->origin - cwnd, CUBIC_DEPTH_MAX));
}

/* The smallest RTT, jiffies. If it is kept in milliseconds, it was rounded down. */
static u32 cubic_rtt(const struct cubic_params *params, const struct cubic_state *cubic)
{
	u8 is_in_ms = params->hystart > CC_HYSTART_US;
	u32 rest_us = is_in_ms ? cubic->rtt_min_us % CC_USEC_PER_MSEC : 0;

	return cc_us_to_jiffies(cubic->rtt_min_us - rest_us);
}

/* Time on the curve one RTT ahead, 1/1024 s. */
static u64 cubic_time(const struct cubic_params *params, const struct cubic_state *cubic,
		      u32 now)
{
	u64 elapsed = (u64)(now - cubic->epoch_start) + cubic_rtt(params, cubic);

	return (elapsed << 10) / CC_HZ;
}

/* The curve at that time (RFC 9438, equation 1), segments. */
static u32 cubic_target(const struct cubic_params *params,
			const struct cubic_state *cubic, u32 now)
{
	u64 t = cubic_time(params, cubic, now);
	u64 offset = t < cubic->k ? cubic->k - t : t - cubic->k;
	u32 delta;

	if (offset > CUBIC_OFFSET_MAX)
		offset = CUBIC_OFFSET_MAX;
	/* C * offset^3, whose scale is the same 2^40 */
	delta = cc_saturate((offset * offset * offset >> 10) * (params->scale * 10) >>
			    30);
	if (t < cubic->k)
		return cubic->origin > delta ? cubic->origin - delta : 0;
	return cc_saturate((u64)cubic->origin + delta);
}

/* Growth of standard TCP with the same cut: 3 (1 - kept) / (1 + kept) per RTT. */
static void cubic_follow_tcp(const struct cubic_params *params, struct cubic_state *cubic,
			     u32 cwnd)
{
	u32 eighths = 8 * (CC_ONE + params->kept) / 3 / (CC_ONE - params->kept);
	u32 per = cc_max(cc_scale(cwnd, eighths, 8), 1);

	if (cubic->acked > per) {
		u32 segs = (cubic->acked - 1) / per;

		cubic->acked -= segs * per;
		cubic->tcp_cwnd = cc_saturate((u64)cubic->tcp_cwnd + segs);
	}
	if (cubic->tcp_cwnd > cwnd)
		cubic->divisor = cc_min(cubic->divisor, cwnd / (cubic->tcp_cwnd - cwnd));
}

/* Update the divisor: acknowledged segments per segment of growth. */
static void cubic_update(const struct cubic_params *params, struct cubic_state *cubic,
			 const struct cc_conn *conn, u32 acked)
{
	u32 cwnd = conn->cwnd_segs;
	u32 now = cc_jiffies(conn);

	cubic->acked = cc_saturate((u64)cubic->acked + acked);
	if (cubic->last_cwnd == cwnd &&
	    now - cubic->last_time <= params->recompute * (CC_HZ / 1000))
		return;
	/* Within one tick the curve does not change. Legacy stacks still computed it. */
	if (!cubic->in_epoch || now != cubic->last_time || params->ack_ratio_correction) {
		u32 target;

		cubic->last_cwnd = cwnd;
		cubic->last_time = now;
		if (!cubic->in_epoch)
			cubic_begin_epoch(params, cubic, conn, acked);
		target = cubic_target(params, cubic, now);
		cubic->divisor = target > cwnd ? cwnd / (target - cwnd)
					       : cc_saturate(100ull * cwnd);
		if (!cubic->last_max)
			cubic->divisor =
				cc_min(cubic->divisor, CUBIC_DIVISOR_UNKNOWN_MAX);
	}
	if (params->tcp_friendliness)
		cubic_follow_tcp(params, cubic, cwnd);
	if (params->ack_ratio_correction)
		cubic->divisor = cc_max(cc_scale(cubic->divisor, 1 << CUBIC_RATIO_SHIFT,
						 cubic->ack_ratio),
					1);
	else
		cubic->divisor = cc_max(cubic->divisor, 2); /* at most 1.5 x per RTT */
}

static void cubic_cong_avoid(const struct cubic_params *params, struct cubic_state *cubic,
			     struct cc_conn *conn, u32 acked)
{
	if (!cc_may_grow(conn))
		return;
	if (cc_in_slow_start(conn)) {
		struct cc_hystart_options options = CUBIC_HYSTART(params);

		if (params->hystart > CC_HYSTART_US &&
		    cc_seq_after(conn->snd_una, cubic->hystart.round_end_seq))
			cc_hystart_new_round(&options, &cubic->hystart, conn);
		acked = cc_slow_start(conn, acked);
		if (!acked)
			return;
	}
	cubic_update(params, cubic, conn, conn->stack & CC_STACK_COUNT_ACKS ? 1 : acked);
	cc_additive_increase(conn, cubic->divisor, acked);
}

static void cubic_pkts_acked(const struct cubic_params *params, struct cubic_state *cubic,
			     struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	u32 rtt_us;

	if (conn->state == CC_OPEN) {
		u32 ratio = cubic->ack_ratio - (cubic->ack_ratio >> CUBIC_RATIO_SHIFT);

		cubic->ack_ratio = cc_clamp(cc_saturate((u64)ratio + sample->pkts_acked),
					    1, CUBIC_RATIO_MAX);
	}
	if (sample->rtt_us < 0)
		return;
	/* For a while after a cut, RTTs still contain the wait in a queue. */
	if (cubic->in_epoch && cc_jiffies(conn) - cubic->epoch_start < CC_HZ)
		return;
	rtt_us = cc_max((u32)sample->rtt_us, 1);
	if (params->hystart > CC_HYSTART_US) /* kept in 1/8 ms */
		rtt_us = cc_max(rtt_us / 125, 1) * 125;
	if (!cubic->rtt_min_us || rtt_us < cubic->rtt_min_us)
		cubic->rtt_min_us = rtt_us;
	if (params->hystart != CC_HYSTART_OFF && !cubic->hystart.ended_by &&
	    cc_in_slow_start(conn) && !cc_stack_ends_slow_start(conn)) {
		struct cc_hystart_options options = CUBIC_HYSTART(params);

		cc_hystart_sample(&options, &cubic->hystart, conn, cubic->rtt_min_us,
				  rtt_us);
	}
}

static void cubic_cwnd_event(const struct cubic_params *params, struct cubic_state *cubic,
			     struct cc_conn *conn, u32 event)
{
	u32 now = cc_jiffies(conn);
	u32 idle = (cc_now_ms(conn) - conn->last_sent_ms) * (CC_HZ / 1000);

	if (event != CC_EVENT_TX_START || !cubic->in_epoch)
		return;
	cubic->epoch_start += idle;
	if ((s32)(now - cubic->epoch_start) < 0)
		cubic->epoch_start = now;
}

static void cubic_set_state(const struct cubic_params *params, struct cubic_state *cubic,
			    struct cc_conn *conn, u32 new_state)
{
	if (new_state == CC_LOSS)
		cubic_reset(params, cubic, conn);
}

/* Mode of the window when its growth was last computed. */
static u8 cubic_mode(const struct cubic_params *params, const struct cubic_state *cubic,
		     const struct cc_conn *conn)
{
	if (cc_shows_slow_start(conn))
		return CUBIC_SLOW_START;
	if (!cubic->in_epoch)
		return CUBIC_WAITING;
	if (params->tcp_friendliness &&
	    cubic->tcp_cwnd >= cubic_target(params, cubic, cubic->last_time))
		return CUBIC_TCP_FRIENDLY;
	return cubic_time(params, cubic, cubic->last_time) < cubic->k ? CUBIC_CONCAVE
								      : CUBIC_CONVEX;
}

static void cubic_info(const struct cubic_params *params, const struct cubic_state *cubic,
		       const struct cc_conn *conn, struct cc_info *info)
{
	u32 epoch = cc_jiffies(conn) - cubic->epoch_start;

	info->values[0] = cubic->last_max;
	info->values[1] = cc_scale(cubic->k, 1000, 1024);
	info->values[2] = cubic->divisor;
	info->values[3] = cubic->rtt_min_us;
	info->values[4] = cubic_mode(params, cubic, conn);
	if (!cubic->in_epoch)
		return;
	info->values[5] = cubic->origin;
	info->values[6] = cubic->tcp_cwnd;
	info->values[7] = cubic_target(params, cubic, cubic->last_time);
	info->values[8] = cc_scale(epoch, 1000, CC_HZ);
}

/* In figures: CUBIC, #2f8fc7, triangle-right. */
CC_ALGORITHM(cubic, .title = "CUBIC", .family = CC_FAMILY_LOSS, .year = 2008,
	     .flags = CC_NEEDS_MARKED,
	     .source = "S. Ha, I. Rhee, L. Xu, CUBIC: A New TCP-Friendly High-Speed TCP "
		       "Variant, SIGOPS OSR 42(5), 2008; RFC 9438",
	     .summary = "Grows as a cubic function of the time since the last cut, with "
			"the plateau at the window before that cut.",
	     .mode_names = {"slow_start", "waiting", "tcp_friendly", "concave", "convex"},
	     .info_names = {"last_max_segs", "k_ms", "divisor", "rtt_min_us", "mode",
			    "origin_segs", "tcp_cwnd_segs", "target_segs", "epoch_ms"});
