/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * LEDBAT++: use the capacity that others leave, at a queueing delay of 60 ms at most.
 *
 * LEDBAT++ is for transfers that nobody waits for. The queueing delay is the smallest
 * of the last four RTTs minus the smallest RTT of the last ten minutes. Per round trip
 * the window W moves by
 *
 *     W += GAIN                                                      below the target
 *     W += max(GAIN - C W (delay / target - 1), -W / 2)              otherwise
 *     GAIN = 1 / min(16, ceil(2 target / smallest RTT))
 *
 * It thus grows more slowly than standard TCP, especially on short paths. The further
 * the delay is beyond the target, the more it yields. Loss halves the window. In slow
 * start each acknowledged segment adds GAIN. The first slow start also ends when the
 * delay reaches 3/4 of the target.
 *
 * Flows that start later would mistake the queueing delay of earlier ones for a part
 * of the path's RTT. Slowdowns therefore drain the queue of LEDBAT++ flows, so that
 * all flows measure the RTT of the empty path. Two round trips after the first slow
 * start the window falls to two segments for two round trips. Then it returns in slow
 * start to its former size. The next slowdown begins after 9 times the duration of the
 * last one, so that slowdowns take a tenth of the time at most.
 *
 * Interpretation: while the delay is below the target, growth is spread over the ACKs
 * of a round trip. Each ACK adds GAIN times the acknowledged segments, divided by W. A
 * decrease happens once, at the end of a round trip. The draft states both per round
 * trip. An ACK adds to growth only if the window limits sending.
 *
 * Interpretation: from the target on, the second line of the law replaces the first
 * one. Its GAIN is the growth that the round trip would have had.
 *
 * Interpretation: a slowdown lasts from the fall of the window until it is back at
 * ssthresh, or until a loss ends its return. A slowdown that is due during recovery
 * waits for the end of recovery.
 */
#include "cc.h"

#define ledbatpp_parameters(P)                                                        \
	P(target, "ms", 60, CC_RANGE(1, 1000), "queueing delay at rest",              \
	  "draft-irtf-iccrg-ledbat-plus-plus")                                        \
	P(gain_part_max, "segments", 16, CC_RANGE(1, 1000),                           \
	  "largest divisor of GAIN, which is one segment divided by it",              \
	  "draft-irtf-iccrg-ledbat-plus-plus")                                        \
	P(decrease, "%", 100, CC_RANGE(0, 1000),                                      \
	  "C, strength of the reduction beyond the target",                           \
	  "draft-irtf-iccrg-ledbat-plus-plus: 1")                                     \
	P(slow_start_exit, "%", 75, CC_RANGE(1, 1000),                                \
	  "delay that ends the first slow start, relative to the target",             \
	  "draft-irtf-iccrg-ledbat-plus-plus")                                        \
	P(slowdown, "switch", 1, CC_SWITCH,                                           \
	  "reduce the window to a small one periodically",                            \
	  "draft-irtf-iccrg-ledbat-plus-plus")                                        \
	P(slowdown_window, "segments", 2, CC_RANGE(2, 1000000),                       \
	  "window during a slowdown", "draft-irtf-iccrg-ledbat-plus-plus")            \
	P(slowdown_rtts, "round trips", 2, CC_RANGE(1, 100),                          \
	  "length of a slowdown, and time from the first slow start to the first "    \
	  "slowdown",                                                                 \
	  "draft-irtf-iccrg-ledbat-plus-plus")                                        \
	P(slowdown_interval, "slowdowns", 9, CC_RANGE(1, 1000),                       \
	  "time to the next slowdown, as a multiple of the last one's length",        \
	  "draft-irtf-iccrg-ledbat-plus-plus")                                        \
	P(base_minutes, "minutes", 10, CC_RANGE(1, 10),                               \
	  "period whose smallest RTT counts as the path's",                           \
	  "draft-irtf-iccrg-ledbat-plus-plus; RFC 6817")                              \
	P(initial_window, "segments", 2, CC_RANGE(1, 1000), "largest initial window", \
	  "draft-irtf-iccrg-ledbat-plus-plus")

#define ledbatpp_presets(S)                                       \
	S("no-slowdown", "without periodic slowdowns (ablation)", \
	  CC_SET(ledbatpp, slowdown, 0))

#define ledbatpp_hooks(H)       \
	H(ledbatpp, init)       \
	H(ledbatpp, ssthresh)   \
	H(ledbatpp, cong_avoid) \
	H(ledbatpp, pkts_acked) \
	H(ledbatpp, set_state)  \
	H(ledbatpp, info)

#define LEDBATPP_MINUTES 10u
#define LEDBATPP_SAMPLES 4u
#define LEDBATPP_US_PER_MINUTE (60ull * CC_USEC_PER_SEC)
/* Bits after the point of the window. */
#define LEDBATPP_SHIFT 28
#define LEDBATPP_ONE (1u << LEDBATPP_SHIFT)
/* Longer RTTs (17 s) are cut, so that products fit 64 bits. */
#define LEDBATPP_RTT_MAX_US (1u << 24)

enum ledbatpp_phase {
	LEDBATPP_BEGINNING, /* the first slow start */
	LEDBATPP_RUNNING,   /* a slowdown is due at until_us */
	LEDBATPP_HELD,	    /* at slowdown_window until then */
	LEDBATPP_RETURNING, /* in slow start to the former window */
};

CC_PARAMS(ledbatpp);

struct ledbatpp_state {
	u64 until_us;
	u64 slowdown_us;		   /* when the last slowdown began */
	u32 smallest_us[LEDBATPP_MINUTES]; /* RTT of each minute; 0: none */
	u32 latest_us[LEDBATPP_SAMPLES];   /* RTTs; 0: none */
	u32 minute;
	u32 round_end_seq;
	u32 fraction; /* of cwnd, << LEDBATPP_SHIFT */
	u8 sample;
	u8 phase;
};

static void ledbatpp_init(const struct ledbatpp_params *params,
			  struct ledbatpp_state *ledbatpp, struct cc_conn *conn)
{
	*ledbatpp = (struct ledbatpp_state){.round_end_seq = conn->snd_nxt};
	conn->cwnd_segs = cc_min(conn->cwnd_segs, params->initial_window);
}

static u32 ledbatpp_ssthresh(const struct ledbatpp_params *params,
			     struct ledbatpp_state *ledbatpp, const struct cc_conn *conn)
{
	return cc_half_window(conn);
}

/* The smallest RTT of the last `minutes`; 0: none. */
static u32 ledbatpp_base_us(const struct ledbatpp_params *params,
			    const struct ledbatpp_state *ledbatpp)
{
	u32 base_us = CC_NO_RTT;

	for (u32 age = 0; age < LEDBATPP_MINUTES; age++) {
		u32 slot = (ledbatpp->minute - age) % LEDBATPP_MINUTES;
		u32 us = ledbatpp->smallest_us[cc_index(slot, LEDBATPP_MINUTES)];

		if (us && age < params->base_minutes)
			base_us = cc_min(base_us, us);
	}
	return base_us == CC_NO_RTT ? 0 : base_us;
}

static u32 ledbatpp_delay_us(const struct ledbatpp_params *params,
			     const struct ledbatpp_state *ledbatpp)
{
	u32 base_us = ledbatpp_base_us(params, ledbatpp);
	u32 now_us = CC_NO_RTT;

	for (u32 i = 0; i < LEDBATPP_SAMPLES; i++)
		if (ledbatpp->latest_us[i])
			now_us = cc_min(now_us, ledbatpp->latest_us[i]);
	return now_us == CC_NO_RTT || now_us < base_us ? 0 : now_us - base_us;
}

/* 1 / GAIN */
static u32 ledbatpp_gain_part(const struct ledbatpp_params *params,
			      const struct ledbatpp_state *ledbatpp)
{
	u32 base_us = cc_max(ledbatpp_base_us(params, ledbatpp), 1);
	u32 twice_us = 2 * params->target * CC_USEC_PER_MSEC;

	return cc_clamp((twice_us + base_us - 1) / base_us, 1, params->gain_part_max);
}

static void ledbatpp_set_window(struct ledbatpp_state *ledbatpp, struct cc_conn *conn,
				u64 window)
{
	u64 least = (u64)CC_CWND_MIN << LEDBATPP_SHIFT;
	u64 most = (u64)conn->cwnd_clamp_segs << LEDBATPP_SHIFT;

	if (window < least)
		window = least;
	if (window > most)
		window = most;
	conn->cwnd_segs = cc_max((u32)(window >> LEDBATPP_SHIFT), 1);
	ledbatpp->fraction = window & (LEDBATPP_ONE - 1);
}

static u64 ledbatpp_window(const struct ledbatpp_state *ledbatpp,
			   const struct cc_conn *conn)
{
	return ((u64)conn->cwnd_segs << LEDBATPP_SHIFT) + ledbatpp->fraction;
}

static void ledbatpp_slow_start(const struct ledbatpp_params *params,
				struct ledbatpp_state *ledbatpp, struct cc_conn *conn,
				u32 acked)
{
	u64 most = (u64)conn->ssthresh_segs << LEDBATPP_SHIFT;
	u64 window = ledbatpp_window(ledbatpp, conn);

	if (conn->stack & CC_STACK_COUNT_ACKS)
		acked = 1;
	if (conn->stack & CC_STACK_SLOW_START_INCLUSIVE)
		most += LEDBATPP_ONE;
	window += ((u64)acked << LEDBATPP_SHIFT) / ledbatpp_gain_part(params, ledbatpp);
	ledbatpp_set_window(ledbatpp, conn, window < most ? window : most);
}

static void ledbatpp_increase(const struct ledbatpp_params *params,
			      struct ledbatpp_state *ledbatpp, struct cc_conn *conn,
			      u32 acked)
{
	u64 part = (u64)ledbatpp_gain_part(params, ledbatpp) * cc_max(conn->cwnd_segs, 1);

	if (conn->stack & CC_STACK_COUNT_ACKS)
		acked = 1;
	ledbatpp_set_window(ledbatpp, conn,
			    ledbatpp_window(ledbatpp, conn) +
				    ((u64)acked << LEDBATPP_SHIFT) / part);
}

/* GAIN - C W (delay / target - 1), at least -W / 2, at the end of a round trip. */
static void ledbatpp_decrease(const struct ledbatpp_params *params,
			      struct ledbatpp_state *ledbatpp, struct cc_conn *conn,
			      u32 delay_us)
{
	u32 target_us = params->target * CC_USEC_PER_MSEC;
	u64 window = ledbatpp_window(ledbatpp, conn);
	u64 gain = LEDBATPP_ONE / ledbatpp_gain_part(params, ledbatpp);
	/* C (delay / target - 1), in 1 / LEDBATPP_ONE */
	u64 excess = ((u64)(delay_us - target_us) * params->decrease << LEDBATPP_SHIFT) /
		     (100ull * target_us);
	u64 fall;

	/* At most half the window falls. A limit of one keeps the product in 64 bits. */
	if (excess > LEDBATPP_ONE)
		excess = LEDBATPP_ONE;
	fall = (window >> LEDBATPP_SHIFT) * excess +
	       (((u64)ledbatpp->fraction * excess) >> LEDBATPP_SHIFT);
	if (fall > window / 2 + gain)
		fall = window / 2 + gain;
	ledbatpp_set_window(ledbatpp, conn, window + gain - fall);
	cc_leave_slow_start(conn);
}

static u64 ledbatpp_rtts_us(const struct ledbatpp_params *params,
			    const struct cc_conn *conn)
{
	return conn->srtt_us == CC_NO_RTT ? 0
					  : (u64)conn->srtt_us * params->slowdown_rtts;
}

static void ledbatpp_fall(const struct ledbatpp_params *params,
			  struct ledbatpp_state *ledbatpp, struct cc_conn *conn)
{
	conn->ssthresh_segs = cc_max(conn->cwnd_segs, CC_CWND_MIN);
	conn->cwnd_segs = cc_min(conn->cwnd_segs, params->slowdown_window);
	ledbatpp->fraction = 0;
	ledbatpp->slowdown_us = conn->now_us;
	ledbatpp->until_us = conn->now_us + ledbatpp_rtts_us(params, conn);
	ledbatpp->phase = LEDBATPP_HELD;
}

/* Enter the next phase when it is due. */
static void ledbatpp_turn(const struct ledbatpp_params *params,
			  struct ledbatpp_state *ledbatpp, struct cc_conn *conn)
{
	u8 is_over = !cc_in_slow_start(conn);
	u8 is_due = conn->now_us >= ledbatpp->until_us;
	u64 lasted_us;

	switch (ledbatpp->phase) {
	case LEDBATPP_BEGINNING:
		if (!is_over)
			break;
		ledbatpp->until_us = conn->now_us + ledbatpp_rtts_us(params, conn);
		ledbatpp->phase = LEDBATPP_RUNNING;
		break;
	case LEDBATPP_RUNNING:
		if (params->slowdown && is_due && is_over)
			ledbatpp_fall(params, ledbatpp, conn);
		break;
	case LEDBATPP_HELD:
		if (is_due)
			ledbatpp->phase = LEDBATPP_RETURNING;
		break;
	case LEDBATPP_RETURNING:
		if (!is_over)
			break;
		lasted_us = conn->now_us > ledbatpp->slowdown_us
				    ? conn->now_us - ledbatpp->slowdown_us
				    : 0;
		ledbatpp->until_us = conn->now_us + lasted_us * params->slowdown_interval;
		ledbatpp->phase = LEDBATPP_RUNNING;
		break;
	}
}

static void ledbatpp_cong_avoid(const struct ledbatpp_params *params,
				struct ledbatpp_state *ledbatpp, struct cc_conn *conn,
				u32 acked)
{
	u32 delay_us = ledbatpp_delay_us(params, ledbatpp);
	u32 target_us = params->target * CC_USEC_PER_MSEC;
	u8 ends_round = !cc_seq_after(ledbatpp->round_end_seq, conn->snd_una);

	if (ends_round)
		ledbatpp->round_end_seq = conn->snd_nxt;
	if (ledbatpp->phase == LEDBATPP_BEGINNING &&
	    delay_us >= cc_scale(target_us, params->slow_start_exit, 100))
		cc_leave_slow_start(conn);
	ledbatpp_turn(params, ledbatpp, conn);
	if (ledbatpp->phase == LEDBATPP_HELD)
		return;
	if (cc_in_slow_start(conn)) {
		if (cc_may_grow(conn))
			ledbatpp_slow_start(params, ledbatpp, conn, acked);
	} else if (delay_us < target_us) {
		if (cc_may_grow(conn))
			ledbatpp_increase(params, ledbatpp, conn, acked);
	} else if (ends_round) {
		ledbatpp_decrease(params, ledbatpp, conn, delay_us);
	}
}

static void ledbatpp_pkts_acked(const struct ledbatpp_params *params,
				struct ledbatpp_state *ledbatpp, struct cc_conn *conn,
				const struct cc_ack_sample *sample)
{
	u32 minute = (u32)(conn->now_us / LEDBATPP_US_PER_MINUTE);
	u32 rtt_us = cc_min((u32)sample->rtt_us, LEDBATPP_RTT_MAX_US);
	u64 slot;

	if (sample->rtt_us <= 0)
		return;
	/*
	 * Minutes without a sample have none. If the clock was set back, a minute begins
	 * again.
	 */
	for (u32 i = 0; i < LEDBATPP_MINUTES; i++) {
		if (ledbatpp->minute == minute)
			break;
		ledbatpp->minute =
			i + 1 < LEDBATPP_MINUTES ? ledbatpp->minute + 1 : minute;
		slot = cc_index(ledbatpp->minute % LEDBATPP_MINUTES, LEDBATPP_MINUTES);
		ledbatpp->smallest_us[slot] = 0;
	}
	slot = cc_index(minute % LEDBATPP_MINUTES, LEDBATPP_MINUTES);
	if (!ledbatpp->smallest_us[slot] || rtt_us < ledbatpp->smallest_us[slot])
		ledbatpp->smallest_us[slot] = rtt_us;
	ledbatpp->sample = (ledbatpp->sample + 1) % LEDBATPP_SAMPLES;
	ledbatpp->latest_us[cc_index(ledbatpp->sample, LEDBATPP_SAMPLES)] = rtt_us;
}

static void ledbatpp_set_state(const struct ledbatpp_params *params,
			       struct ledbatpp_state *ledbatpp, struct cc_conn *conn,
			       u32 new_state)
{
	/* The stack sets whole windows. */
	if (new_state >= CC_CWR)
		ledbatpp->fraction = 0;
}

static void ledbatpp_info(const struct ledbatpp_params *params,
			  const struct ledbatpp_state *ledbatpp,
			  const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = ledbatpp_base_us(params, ledbatpp);
	info->values[1] = ledbatpp_delay_us(params, ledbatpp);
	info->values[2] = ledbatpp_gain_part(params, ledbatpp);
	info->values[3] = ledbatpp->phase;
}

/* In figures: LEDBAT++, #62a01c, flat. */
CC_ALGORITHM(
	ledbatpp, .title = "LEDBAT++", .family = CC_FAMILY_DELAY, .year = 2019,
	.source = "P. Balasubramanian, O. Ertugay, D. Havey, M. Bagnulo, LEDBAT++: "
		  "Congestion Control for Background Traffic, "
		  "draft-irtf-iccrg-ledbat-plus-plus; RFC 6817",
	.summary = "Yields to all others: keeps the queueing delay at 60 ms, and reduces "
		   "its window by up to half beyond.",
	.info_names = {"base_rtt_us", "delay_us", "gain_part", "phase"});
