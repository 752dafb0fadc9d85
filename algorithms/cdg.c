/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * CDG: back off, by chance, when round-trip times keep rising.
 *
 * CDG keeps the smallest and the largest RTT of each round trip. Their changes since
 * the round trip before are its gradients. CDG adds up the last `window` gradients:
 *
 *     g = sum of the gradients of the smallest RTT, if that is positive,
 *         else sum of those of the largest
 *
 * A rising RTT reduces the window with a probability P that grows with g:
 *
 *     P = 1 - exp(-backoff_factor g)
 *     cwnd = kept cwnd
 *
 * The paper divides the mean gradient by a scale G, 3 ms. Therefore backoff_factor = 1
 * / (G window), here 42 per second. Without a backoff, the window grows as that of
 * standard TCP.
 *
 * Loss-based flows do not yield to delay. Two rules let CDG share a path with them.
 * The first is a shadow window: the window that the flow would have without backing
 * off. A loss cuts the window to half of the shadow window or to half of the window,
 * whichever is more, but never raises it. The second rule counts backoffs in a row
 * that did not make the RTT fall. After `ineffective` of them, CDG skips the next ones
 * until the RTT falls. With both rules off, CDG is a scavenger.
 *
 * With tolerance, a loss leaves the window as it is while the queue does not seem
 * full. That is so if the largest RTT rises with the smallest, or falls. Slow start
 * ends early by rules like HyStart's. By the first rule, it ends when ACKs have
 * followed each other within 3 ms for half of the smallest RTT. By the second, it ends
 * when the smallest RTT of a round trip is an eighth above that of the path.
 *
 * As in Linux: gradients are not averaged but added up. While fewer than `window`
 * gradients are known, their mean replaces the missing ones. An ACK that looks delayed
 * counts for the smallest RTT alone. A restart after an idle time resets all state.
 * The end of a reduction begins a new round trip, and the one before adds no gradient.
 * The gradient of the new one is relative to it.
 *
 * Unlike Linux: the state has room for at most 8 gradients. That is Linux's default,
 * but Linux allows 256. Products do not wrap at 32 bits. The error of exp(-x) is
 * 1.1e-5.
 *
 * Interpretation: Linux enters the CWR state to back off, and an algorithm here
 * cannot. Instead it cuts the window and ssthresh at once. As in CWR, nothing grows
 * until the data sent before is acknowledged, and a loss meanwhile belongs to the same
 * reduction. There is one difference. Here sending stops until the cut amount has left
 * the network. CWR would spread the reduction over the round trip (PRR).
 *
 * Interpretation: Linux's filter of delayed ACKs asks whether a segment is SACKed.
 * Here that is unknown, so the filter uses the congestion state before the ACK.
 */
#include "cc.h"

#define CDG_WINDOW_MAX 8

#define cdg_parameters(P)                                                             \
	P(window, "round trips", 8, CC_RANGE(1, CDG_WINDOW_MAX),                      \
	  "gradients that are added up", "Linux; Hayes and Armitage 2011")            \
	P(kept, "1/1024", 724, CC_RANGE(1, 1024),                                     \
	  "fraction of the window that a backoff keeps",                              \
	  "Linux backoff_beta: 0.7071; Hayes and Armitage 2011: 0.7")                 \
	P(backoff_factor, "1/s", 42, CC_RANGE(1, 1000000),                            \
	  "growth of the back-off probability with the gradient",                     \
	  "Linux; Hayes and Armitage 2011: 1 / (G window) with G = 3 ms")             \
	P(ineffective, "backoffs", 5, CC_RANGE(0, 254),                               \
	  "backoffs in a row without a fall of the RTT, after which CDG skips the "   \
	  "next; 0: never",                                                           \
	  "Linux use_ineff; Hayes and Armitage 2011")                                 \
	P(shadow, "switch", 1, CC_SWITCH, "a loss cuts to half of the shadow window", \
	  "Linux use_shadow; Hayes and Armitage 2011")                                \
	P(tolerance, "switch", 0, CC_SWITCH,                                          \
	  "a loss while the queue does not seem full cuts nothing",                   \
	  "Linux use_tolerance; Hayes and Armitage 2011")                             \
	P(hystart_detect, "mask", 3, CC_RANGE(0, 3),                                  \
	  "what ends slow start early: 1 ACK trains, 2 delay, 3 both, 0 nothing",     \
	  "Linux")

#define cdg_presets(S)

#define cdg_hooks(H)       \
	H(cdg, init)       \
	H(cdg, ssthresh)   \
	H(cdg, cong_avoid) \
	H(cdg, pkts_acked) \
	H(cdg, cwnd_event) \
	H(cdg, info)

/* Sums of gradients within this are noise. */
#define CDG_NOISE_US 32
#define CDG_BACKOFFS_MAX 255
#define CDG_HYSTART_SAMPLES 8
#define CDG_HYSTART_GAP_US 3000u
#define CDG_HYSTART_LEAST_US 125u
/* Bits after the point of exponents, and of log2(e) / 1e6 beyond those. */
#define CDG_EXPONENT_SHIFT 16
#define CDG_LOG2_E_SHIFT 24
#define CDG_LOG2_E 1586260ull

enum cdg_queue { CDG_UNKNOWN, CDG_NOT_FULL, CDG_FULL, CDG_BACKING_OFF };

/* 2^(-1/2), 2^(-1/4) ... 2^(-1/65536), times 2^32. */
static const u32 cdg_roots[CDG_EXPONENT_SHIFT] = {
	3037000500u, 3611622603u, 3938502376u, 4112874773u, 4202935003u, 4248701965u,
	4271771996u, 4283353945u, 4289156690u, 4292061010u, 4293513907u, 4294240540u,
	4294603903u, 4294785595u, 4294876445u, 4294921870u};

CC_PARAMS(cdg);

struct cdg_state {
	/* The latest gradient comes first. */
	s32 gradients_min_us[CDG_WINDOW_MAX];
	s32 gradients_max_us[CDG_WINDOW_MAX];
	u32 rtt_min_us; /* of this round trip; 0: none */
	u32 rtt_max_us;
	u32 previous_min_us; /* of the round trip before */
	u32 previous_max_us;
	u32 round_end_seq;
	u32 shadow_segs;
	u32 path_rtt_us; /* smallest in slow start; 0: none */
	u32 train_start_us;
	u32 train_end_us;
	u8 backoffs;	  /* in a row */
	u8 samples : 4;	  /* HyStart's, of this round trip */
	u8 gradients : 4; /* number of known ones */
	u8 delayed : 3;
	u8 in_train : 1;
	u8 queue : 2;
};

static void cdg_reset(struct cdg_state *cdg, const struct cc_conn *conn)
{
	*cdg = (struct cdg_state){.round_end_seq = conn->snd_nxt,
				  .shadow_segs = conn->cwnd_segs};
}

static void cdg_init(const struct cdg_params *params, struct cdg_state *cdg,
		     struct cc_conn *conn)
{
	cdg_reset(cdg, conn);
}

static u32 cdg_ssthresh(const struct cdg_params *params, struct cdg_state *cdg,
			const struct cc_conn *conn)
{
	u32 kept = cc_half_window(conn);

	if (cdg->queue == CDG_BACKING_OFF ||
	    (params->tolerance && cdg->queue == CDG_NOT_FULL))
		return cc_max(conn->cwnd_segs, CC_CWND_MIN);
	cdg->shadow_segs = cc_min(cdg->shadow_segs / 2, conn->cwnd_segs);
	return params->shadow ? cc_max(kept, cdg->shadow_segs) : kept;
}

/* A new round trip begins. */
static void cdg_begin_round(struct cdg_state *cdg, const struct cc_conn *conn)
{
	cdg->round_end_seq = conn->snd_nxt;
	cdg->previous_min_us = cdg->rtt_min_us;
	cdg->previous_max_us = cdg->rtt_max_us;
	cdg->rtt_min_us = 0;
	cdg->rtt_max_us = 0;
}

static void cdg_end_reduction(struct cdg_state *cdg, const struct cc_conn *conn)
{
	cdg->queue = CDG_UNKNOWN;
	cdg_begin_round(cdg, conn);
}

static void cdg_add_gradients(struct cdg_state *cdg)
{
	CC_IN_MEMORY(cdg);
	for (u32 i = CDG_WINDOW_MAX - 1; i > 0; i--) {
		cdg->gradients_min_us[i] = cdg->gradients_min_us[i - 1];
		cdg->gradients_max_us[i] = cdg->gradients_max_us[i - 1];
	}
	cdg->gradients_min_us[0] = (s32)(cdg->rtt_min_us - cdg->previous_min_us);
	cdg->gradients_max_us[0] = (s32)(cdg->rtt_max_us - cdg->previous_max_us);
	if (cdg->gradients < CDG_WINDOW_MAX)
		cdg->gradients++;
}

static s64 cdg_sum(const struct cdg_params *params, const s32 *gradients)
{
	s64 sum = 0;

	CC_IN_MEMORY(gradients);
	for (u32 i = 0; i < CDG_WINDOW_MAX; i++)
		if (i < params->window)
			sum += gradients[i];
	return sum;
}

static void cdg_judge_queue(struct cdg_state *cdg, s64 sum_min, s64 sum_max)
{
	u8 rises = sum_min >= CDG_NOISE_US;

	if (rises && sum_max < CDG_NOISE_US)
		cdg->queue = CDG_FULL;
	else if (rises || sum_max <= -CDG_NOISE_US)
		cdg->queue = CDG_NOT_FULL;
}

/* The gradient of the round trip that ends, us; 0: the RTT does not rise. */
static u64 cdg_gradient(const struct cdg_params *params, struct cdg_state *cdg)
{
	s64 sum_min, sum_max, sum;

	cdg_add_gradients(cdg);
	sum_min = cdg_sum(params, cdg->gradients_min_us);
	sum_max = cdg_sum(params, cdg->gradients_max_us);
	sum = sum_min > 0 ? sum_min : sum_max;
	if (sum_min <= -CDG_NOISE_US || sum_max <= -CDG_NOISE_US)
		cdg->backoffs = 0;
	if (params->tolerance)
		cdg_judge_queue(cdg, sum_min, sum_max);
	if (sum <= 0)
		return 0;
	if (cdg->gradients >= params->window)
		return (u64)sum;
	return (u64)sum * params->window / cc_max(cdg->gradients, 1);
}

/* exp(-millionths / 1e6), times 2^32. */
CC_APART u32 cdg_exp(u32 millionths)
{
	/* As a power of two: whole bits shift, the others multiply. */
	u64 exponent = millionths * CDG_LOG2_E >> CDG_LOG2_E_SHIFT;
	u64 shift = exponent >> CDG_EXPONENT_SHIFT;
	u64 result = 0xffffffffu;

	if (shift >= 32)
		return 0;
	for (u32 i = 0; i < CDG_EXPONENT_SHIFT; i++)
		if (exponent >> (CDG_EXPONENT_SHIFT - 1 - i) & 1)
			result = result * cdg_roots[i] >> 32;
	return (u32)(result >> shift);
}

/* Chance decides on a backoff. After too many without effect, backoffs pause. */
static u8 cdg_wants_backoff(const struct cdg_params *params, struct cdg_state *cdg,
			    const struct cc_conn *conn, u64 gradient)
{
	u64 millionths = (u64)cc_saturate(gradient) * params->backoff_factor;

	if (conn->random <= cdg_exp(cc_saturate(millionths)))
		return 0;
	if (!params->ineffective)
		return 1;
	if (cdg->backoffs < CDG_BACKOFFS_MAX)
		cdg->backoffs++;
	return cdg->backoffs <= params->ineffective;
}

static void cdg_back_off(const struct cdg_params *params, struct cdg_state *cdg,
			 struct cc_conn *conn)
{
	u32 kept = cc_max(cc_scale(conn->cwnd_segs, params->kept, CC_ONE), CC_CWND_MIN);

	cdg->shadow_segs = cc_max(cdg->shadow_segs, conn->cwnd_segs);
	cdg->queue = CDG_BACKING_OFF;
	conn->cwnd_segs = cc_min(conn->cwnd_segs, kept);
	conn->ssthresh_segs = kept;
	conn->cwnd_cnt = 0;
}

/* End a round trip; return true if its RTTs reduced the window. */
static u8 cdg_end_round(const struct cdg_params *params, struct cdg_state *cdg,
			struct cc_conn *conn)
{
	u64 gradient = cdg->previous_max_us ? cdg_gradient(params, cdg) : 0;

	cdg_begin_round(cdg, conn);
	cdg->in_train = 0;
	cdg->samples = 0;
	if (!gradient || !cdg_wants_backoff(params, cdg, conn, gradient))
		return 0;
	cdg_back_off(params, cdg, conn);
	return 1;
}

/* Detect a train of ACKs that lasts for half of the path's RTT. */
static u8 cdg_hystart_train(struct cdg_state *cdg, const struct cc_conn *conn)
{
	u32 now = (u32)conn->now_us;
	u32 longest = cc_max(cdg->path_rtt_us / 2, CDG_HYSTART_LEAST_US);

	if (!cdg->in_train || !conn->cwnd_limited) {
		cdg->in_train = 1;
		cdg->train_start_us = now;
		cdg->train_end_us = now;
		return 0;
	}
	if (now - cdg->train_end_us >= CDG_HYSTART_GAP_US)
		return 0;
	cdg->train_end_us = now;
	return now - cdg->train_start_us > longest;
}

/* Detect a smallest RTT of this round trip that is well above the path's. */
static u8 cdg_hystart_delay(struct cdg_state *cdg)
{
	u64 longest = (u64)cdg->path_rtt_us + cdg->path_rtt_us / 8;

	if (cdg->samples < CDG_HYSTART_SAMPLES) {
		cdg->samples++;
		return 0;
	}
	return cdg->rtt_min_us > longest && cdg->rtt_min_us > CDG_HYSTART_LEAST_US;
}

static void cdg_hystart(const struct cdg_params *params, struct cdg_state *cdg,
			struct cc_conn *conn)
{
	if (!cdg->path_rtt_us || (cdg->rtt_min_us && cdg->rtt_min_us < cdg->path_rtt_us))
		cdg->path_rtt_us = cdg->rtt_min_us;
	if (!cdg->path_rtt_us)
		return;
	if ((params->hystart_detect & 1 && cdg_hystart_train(cdg, conn)) ||
	    (params->hystart_detect & 2 && cdg_hystart_delay(cdg)))
		conn->ssthresh_segs = conn->cwnd_segs;
}

static void cdg_grow(struct cdg_state *cdg, struct cc_conn *conn, u32 acked)
{
	u32 before = conn->cwnd_segs;

	cc_standard_growth(conn, acked);
	if (conn->cwnd_segs > before)
		cdg->shadow_segs =
			cc_saturate((u64)cdg->shadow_segs + conn->cwnd_segs - before);
}

static void cdg_cong_avoid(const struct cdg_params *params, struct cdg_state *cdg,
			   struct cc_conn *conn, u32 acked)
{
	u8 round_over = cc_seq_after(conn->snd_una, cdg->round_end_seq);

	if (cdg->queue == CDG_BACKING_OFF) {
		if (!round_over)
			return;
		cdg_end_reduction(cdg, conn);
		round_over = 0;
	}
	if (cc_in_slow_start(conn) && !cc_stack_ends_slow_start(conn))
		cdg_hystart(params, cdg, conn);
	if (round_over && cdg->rtt_max_us && cdg_end_round(params, cdg, conn))
		return;
	if (cc_may_grow(conn))
		cdg_grow(cdg, conn, acked);
	else
		cdg->shadow_segs = cc_min(cdg->shadow_segs, conn->cwnd_segs);
}

/* Return true if an ACK looks delayed. In state Open nothing is SACKed. */
static u8 cdg_is_delayed(struct cdg_state *cdg, const struct cc_conn *conn, u32 acked)
{
	u8 before = cdg->delayed;

	if (conn->state != CC_OPEN)
		return 0;
	cdg->delayed = cc_count_delayed(before, acked);
	return cdg->delayed < before;
}

static void cdg_pkts_acked(const struct cdg_params *params, struct cdg_state *cdg,
			   struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	u32 rtt_us = (u32)sample->rtt_us;

	if (sample->rtt_us <= 0)
		return;
	if (cdg_is_delayed(cdg, conn, sample->pkts_acked)) {
		cdg->rtt_min_us = cc_min(cdg->rtt_min_us, rtt_us);
		return;
	}
	cdg->rtt_min_us = cdg->rtt_min_us ? cc_min(cdg->rtt_min_us, rtt_us) : rtt_us;
	cdg->rtt_max_us = cc_max(cdg->rtt_max_us, rtt_us);
}

static void cdg_cwnd_event(const struct cdg_params *params, struct cdg_state *cdg,
			   struct cc_conn *conn, u32 event)
{
	if (event == CC_EVENT_CWND_RESTART)
		cdg_reset(cdg, conn);
	if (event == CC_EVENT_COMPLETE_CWR)
		cdg_end_reduction(cdg, conn);
}

static void cdg_info(const struct cdg_params *params, const struct cdg_state *cdg,
		     const struct cc_conn *conn, struct cc_info *info)
{
	s64 sum = cdg_sum(params, cdg->gradients_min_us);

	info->values[0] = cdg->shadow_segs;
	info->values[1] = cdg->backoffs;
	info->values[2] = cdg->previous_min_us;
	info->values[3] = sum > 0 ? cc_saturate((u64)sum) : 0;
}

/* In figures: CDG, #5e1675, hourglass. */
CC_ALGORITHM(cdg, .title = "CAIA Delay-Gradient (CDG)", .family = CC_FAMILY_HYBRID,
	     .year = 2011,
	     .source = "D. Hayes, G. Armitage, Revisiting TCP Congestion Control Using "
		       "Delay Gradients, IFIP Networking 2011",
	     .summary = "Backs off with a probability that grows with the rise of the "
			"RTT, and bases the cut for a loss on the window that it would "
			"otherwise have had.",
	     .flags = CC_NEEDS_RANDOM,
	     .info_names = {"shadow_segs", "backoffs_in_row", "rtt_min_us",
			    "gradient_min_us"});
