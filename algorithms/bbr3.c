/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBRv3: BBR that also learns how much may be in flight without loss.
 *
 * As BBR does, BBRv3 sends at bw with a window of about twice bw * rtt. Here bw is the
 * largest rate of delivery of the last two probes. BBRv3 adds bounds. The long-term
 * bound inflight_hi is the largest amount in flight that did no harm. The short-term
 * bounds are inflight_lo and bw_lo. A round trip with losses lowers them, and the next
 * probe removes them.
 *
 *     bw     = min(bw_max, bw_lo)
 *     pacing = 0.99 * gain * bw
 *     window = cwnd_gain * bw * rtt + extra
 *            <= inflight_hi, less headroom while cruising, and inflight_lo
 *
 * The term extra is the recent excess of ACKs over bw (aggregation). Startup ends when
 * the rate has not grown by a quarter in three round trips. It also ends after a round
 * trip of recovery with full_loss_count ACKs that reported losses, if more than the
 * share loss_threshold was lost. Drain empties the queue. From then on the flow
 * repeats four phases.
 *
 * Down sends slower than bw until at most bw * rtt, and at most inflight_hi less
 * headroom, is in flight. Cruise sends at bw. Down and Cruise together last for
 * probe_wait and a random time of up to probe_wait_random. They end earlier after as
 * many round trips as there are segments in bw * rtt, because Reno's window would then
 * have doubled. They end after probe_rounds round trips at the latest. Refill sends at
 * bw for a round trip, without short-term bounds. Up sends faster than bw until the
 * rate no longer grows or there are too many losses. While inflight_hi limits the
 * window there, it rises by 1, 2, 4, 8 ... segments per round trip.
 *
 * Losses are too many when, in a flight of tx_in_flight segments,
 *
 *     lost / tx_in_flight > loss_threshold
 *
 * Then the phase is over. The new inflight_hi is the amount that was in flight when
 * that share was reached, but at least the share `keep` of bw * rtt. In Down and
 * Cruise, the first loss begins a round trip. At its end, the short-term bounds fall
 * to what it delivered, or to the share `keep` of their former values, whichever is
 * more. Random loss below the threshold therefore reduces the window in each round
 * trip until the next probe. At a loss of 1 % and 167 segments in flight, the cost is
 * a fifth of the throughput.
 *
 * If there is no new smallest RTT for probe_rtt_interval, the window falls to
 * probe_rtt_gain of bw * rtt. It stays there for probe_rtt_time and a round trip.
 *
 * Interpretation: Google's kernel stores with each segment how much was in flight, and
 * how much had been lost, when the segment was sent. Neither Linux nor this interface
 * does. However, the data that left the network while the sampled segment was in
 * flight had been in flight with it. Therefore
 *
 *     tx_in_flight = delivered since + lost since
 * The rate sample reports the delivered amount. The state knows how much had been
 * delivered and lost at the beginning of the current round trip, and of the one
 * before. The losses until the segment was sent are interpolated between these points.
 * If the segment itself is acknowledged late, more leaves the network than was in
 * flight with it. Then tx_in_flight is too large by the difference.
 *
 * Interpretation: losses that one ACK reveals are evaluated together, not one by one.
 *
 * Interpretation: a segment counts as marked if its acknowledgement carried ECN-Echo.
 * With classic ECN all ACKs of a round trip carry it after a mark. The switch `ecn` is
 * therefore off. As in Google's kernel, it has no effect on a path with an RTT of more
 * than 5 ms.
 *
 * Unlike Linux: the values that an undo restores are kept with only eleven significant
 * bits. The stack does not report a loss that a tail loss probe has repaired, so it
 * does not count.
 *
 * The preset `draft` has the values of draft-ietf-ccwg-bbr where they differ from
 * those of Google's kernel.
 */
#include "cc_rates.h"

#define bbr3_parameters(P)                                                               \
	P(startup_gain, "1/256", 710, CC_RANGE(256, CC_GAIN_MAX),                        \
	  "gain of the rate in Startup", "Google's kernel: 4 ln 2")                      \
	P(startup_cwnd_gain, "1/256", 512, CC_RANGE(256, CC_GAIN_MAX),                   \
	  "gain of the window in Startup and Drain", "Google's kernel")                  \
	P(drain_gain, "1/256", 88, CC_RANGE(1, 256), "gain of the rate in Drain",        \
	  "Google's kernel; draft: 0.5")                                                 \
	P(drain_rounds, "round trips", 0, CC_RANGE(0, 31),                               \
	  "longest Drain; 0: until it is done", "draft: 3")                              \
	P(cwnd_gain, "1/256", 512, CC_RANGE(256, CC_GAIN_MAX),                           \
	  "gain of the window otherwise", "Google's kernel")                             \
	P(up_gain, "1/256", 320, CC_RANGE(256, CC_GAIN_MAX), "gain of the rate in Up",   \
	  "Google's kernel")                                                             \
	P(up_cwnd_gain, "1/256", 576, CC_RANGE(256, CC_GAIN_MAX),                        \
	  "gain of the window in Up", "Google's kernel")                                 \
	P(down_gain, "1/256", 232, CC_RANGE(1, 256), "gain of the rate in Down",         \
	  "Google's kernel; draft: 0.90")                                                \
	P(probe_rtt_gain, "1/256", 128, CC_RANGE(0, 256),                                \
	  "gain of the window during the search for the RTT", "Google's kernel")         \
	P(probe_rtt_interval, "ms", 5000, CC_RANGE(100, 600000),                         \
	  "time without a smaller RTT after which BBR searches for it",                  \
	  "Google's kernel")                                                             \
	P(probe_rtt_time, "ms", 200, CC_RANGE(0, 10000),                                 \
	  "duration of that search; 0: never", "Google's kernel")                        \
	P(min_rtt_window, "ms", 10000, CC_RANGE(100, 600000),                            \
	  "time for which a smallest RTT counts", "Google's kernel")                     \
	P(keep, "1/256", 180, CC_RANGE(1, 256),                                          \
	  "share of the bounds kept on congestion", "Google's kernel: 1 - 0.3")          \
	P(loss_threshold, "1/256", 5, CC_RANGE(0, 256),                                  \
	  "share of a flight that may be lost", "Google's kernel: 2 %")                  \
	P(headroom, "1/256", 38, CC_RANGE(0, 255),                                       \
	  "share of inflight_hi left to others while cruising", "Google's kernel")       \
	P(full_loss_count, "ACKs", 6, CC_RANGE(1, 15),                                   \
	  "ACKs with losses in a round trip that may end Startup", "Google's kernel")    \
	P(probe_rounds, "round trips", 63, CC_RANGE(1, 255),                             \
	  "most round trips from one probe to the next", "Google's kernel")              \
	P(probe_wait, "ms", 2000, CC_RANGE(0, 600000),                                   \
	  "shortest time from one probe to the next", "Google's kernel")                 \
	P(probe_wait_random, "ms", 1000, CC_RANGE(0, 600000),                            \
	  "largest random addition to that time", "Google's kernel")                     \
	P(pacing_margin, "%", 1, CC_RANGE(0, 99), "distance of pacing below bw",         \
	  "Google's kernel")                                                             \
	P(full_bw_growth, "1/256", 320, CC_RANGE(257, CC_GAIN_MAX),                      \
	  "growth of the rate that proves that the pipe is not full", "Google's kernel") \
	P(full_bw_each_ack, "switch", 1, CC_SWITCH,                                      \
	  "look for that growth with each ACK, not once per round trip",                 \
	  "Google's kernel; draft: 0")                                                   \
	P(extra_window, "round trips", 5, CC_RANGE(1, 31),                               \
	  "half of the time for which an aggregation counts",                            \
	  "Google's kernel; draft: 10")                                                  \
	P(ecn, "switch", 0, CC_SWITCH, "react to ECN on paths of 5 ms and less",         \
	  "Google's kernel, on routes set up for it")

#define bbr3_presets(S)                                                          \
	S("draft",                                                               \
	  "draft-ietf-ccwg-bbr: its gains, a Drain with an end, longer windows", \
	  CC_SET(bbr3, drain_gain, 128), CC_SET(bbr3, drain_rounds, 3),          \
	  CC_SET(bbr3, down_gain, 230), CC_SET(bbr3, full_bw_each_ack, 0),       \
	  CC_SET(bbr3, extra_window, 10), CC_SET(bbr3, ecn, 0))

#define bbr3_hooks(H)         \
	H(bbr3, init)         \
	H(bbr3, ssthresh)     \
	H(bbr3, cong_control) \
	H(bbr3, cwnd_event)   \
	H(bbr3, set_state)    \
	H(bbr3, undo_cwnd)    \
	H(bbr3, info)

/* No bound, no rate. */
#define BBR3_INFINITE 0xffffffffu
#define BBR3_MIN_CWND 4u
#define BBR3_INITIAL_SEGS 10u
#define BBR3_FULL_BW_ROUNDS 3u
#define BBR3_ROUNDS_MAX 255u
#define BBR3_LOSSY_ACKS_MAX 15u
/* 2^30 segments per round trip are fast enough. */
#define BBR3_UP_ROUNDS_MAX 30u
/* Most round trips by which chance shortens the wait for a probe. */
#define BBR3_RANDOM_ROUNDS 2u
#define BBR3_MARKED_MASK 0xfffu
#define BBR3_EXTRA_MAX_US 100000u
#define BBR3_SMALL_MAX 0xffffu
/* Segmentation offload: chunks of 1/1024 s, and more on short paths. */
#define BBR3_CHUNK_SHIFT 10
#define BBR3_CHUNK_RTT_SHIFT 9
#define BBR3_CHUNK_BYTES_MAX 65215u
#define BBR3_CHUNKS_OF_ROOM 3u
#define BBR3_UP_ROOM_SEGS 2u
/* ECN: alpha moves by 1/16 of its distance, and a cut takes a third of alpha. */
#define BBR3_ECN_RTT_MAX_US 5000u
#define BBR3_ECN_GAIN_SHIFT 4
#define BBR3_ECN_CUT_OF 3u
#define BBR3_ECN_THRESHOLD (CC_GAIN_ONE / 2)
#define BBR3_ECN_STARTUP_ROUNDS 2u

enum bbr3_mode {
	BBR3_STARTUP,
	BBR3_DRAIN,
	BBR3_DOWN,
	BBR3_CRUISE,
	BBR3_REFILL,
	BBR3_UP,
	BBR3_PROBE_RTT
};

/* Part of a probe that the current ACKs report on. */
enum bbr3_effect {
	BBR3_NO_EFFECT,
	BBR3_REFILLING,
	BBR3_STARTING,
	BBR3_FEEDBACK,
	BBR3_STOPPING
};

CC_PARAMS(bbr3);

struct bbr3_state {
	u32 bw_before; /* largest rate in the cycle of the last probe */
	u32 bw_now;    /* and in the current cycle */
	u32 bw_lo;
	u32 bw_latest;	     /* largest rate of the last round trip */
	u32 inflight_latest; /* most delivered in one flight of it */
	u32 inflight_lo;
	u32 inflight_hi;
	u32 round_end;	    /* delivered, modulo 2^32 */
	u32 loss_round_end; /* delivered, modulo 2^32 */
	u32 min_rtt_us;	    /* CC_NO_RTT: none */
	u32 min_rtt_ms;	    /* when it was seen */
	u32 recent_rtt_us;  /* smallest since the last ProbeRTT */
	u32 recent_rtt_ms;
	u32 deadline_ms; /* of the wait for a probe, or of ProbeRTT */
	u32 full_bw;
	u32 prior_cwnd;		 /* window to restore, segments */
	u32 epoch_us;		 /* when the current epoch of ACKs began */
	u32 epoch_segs : 20;	 /* acknowledged in it */
	u32 marked_by_last : 12; /* as of the last ACK, modulo 2^12 */
	u32 up_acked;		 /* not yet added to inflight_hi */
	u32 lost;		 /* when the round trip began */
	/* The round trip before the current one. */
	u16 before_segs; /* delivered, as bbr3_pack */
	u16 before_lost;
	u16 extra_now;	  /* aggregation, segments */
	u16 extra_before; /* in the window before */
	/* Values that an undo restores, as bbr3_pack. */
	u16 undo_bw_lo;
	u16 undo_inflight_lo;
	u16 undo_inflight_hi;
	u16 ecn_alpha; /* 1/256 << BBR3_ECN_GAIN_SHIFT */
	u16 marked;    /* when the round trip began, modulo 2^16 */
	u16 rounds_since_probe : 8;
	u16 is_full : 1;	 /* the pipe was, once */
	u16 is_full_now : 1;	 /* the pipe is, at the moment */
	u16 is_restarting : 1;	 /* after idle time */
	u16 is_window_small : 1; /* deadline_ms is that of ProbeRTT */
	u16 was_round_small : 1; /* for a whole round trip */
	u16 has_rtt : 1;
	u16 may_judge : 1; /* current losses are those of a probe */
	u32 mode : 3;
	u32 effect : 3;
	u32 last_state : 3; /* congestion state at the last ACK */
	u32 full_rounds : 2;
	u32 rounds : 5; /* of Up, and of Drain */
	u32 extra_rounds : 5;
	u32 lossy_acks : 4; /* of a round trip in Startup */
	u32 marked_rounds : 2;
	u32 is_lossy : 1;  /* the round trip had losses */
	u32 is_marked : 1; /* the round trip had marks */
	u32 was_too_high : 1;
	u32 was_risky : 1;   /* the probe stopped at a level that was too high before */
	u32 ended_round : 1; /* with this ACK */
};

/* Measurements of an ACK beyond its rate sample. */
struct bbr3_ack {
	const struct cc_rate_sample *rate;
	u32 bw;
	u32 tx_in_flight; /* with the sampled segment */
	u32 lost;	  /* since it was sent */
	u8 is_loss_round_start;
};

/*
 * Small arithmetic.
 */
static u32 bbr3_share(u32 value, u32 part)
{
	return cc_scale(value, part, CC_GAIN_ONE);
}

/* Pack a number into 16 bits with eleven exact ones: mantissa << 5 | exponent. */
static u16 bbr3_pack(u32 value)
{
	u32 exponent = 0;

	while (exponent < 21 && value >> exponent > 0x7ff)
		exponent++;
	return (u16)(value >> exponent << 5 | exponent);
}

static u32 bbr3_unpack(u16 packed)
{
	/* Infinity remains infinity. */
	if (packed == (0x7ff << 5 | 21))
		return BBR3_INFINITE;
	return (u32)(packed >> 5) << (packed & 0x1f);
}

/* A uniform number below `count`. */
static u32 bbr3_random_below(u32 random, u32 count)
{
	return (u32)((u64)random * count >> 32);
}

/* The model. */
static u32 bbr3_max_bw(const struct bbr3_state *bbr)
{
	return cc_max(bbr->bw_before, bbr->bw_now);
}

static u32 bbr3_bw(const struct bbr3_state *bbr)
{
	return cc_min(bbr3_max_bw(bbr), bbr->bw_lo);
}

static u8 bbr3_is_probing(const struct bbr3_state *bbr)
{
	return bbr->mode == BBR3_STARTUP || bbr->mode == BBR3_REFILL ||
	       bbr->mode == BBR3_UP;
}

static u32 bbr3_pacing_gain(const struct bbr3_params *params,
			    const struct bbr3_state *bbr)
{
	switch (bbr->mode) {
	case BBR3_STARTUP:
		return params->startup_gain;
	case BBR3_DRAIN:
		return params->drain_gain;
	case BBR3_UP:
		return params->up_gain;
	case BBR3_DOWN:
		return params->down_gain;
	default:
		return CC_GAIN_ONE;
	}
}

static u32 bbr3_cwnd_gain(const struct bbr3_params *params, const struct bbr3_state *bbr)
{
	switch (bbr->mode) {
	case BBR3_STARTUP:
	case BBR3_DRAIN:
		return params->startup_cwnd_gain;
	case BBR3_UP:
		return params->up_cwnd_gain;
	case BBR3_PROBE_RTT:
		return CC_GAIN_ONE;
	default:
		return params->cwnd_gain;
	}
}

static u32 bbr3_bdp(const struct bbr3_state *bbr, u32 bw, u32 gain)
{
	if (bbr->min_rtt_us == CC_NO_RTT)
		return BBR3_INITIAL_SEGS;
	return cc_bw_product(bw, bbr->min_rtt_us, gain);
}

static u32 bbr3_chunk_segs(const struct bbr3_state *bbr, const struct cc_conn *conn)
{
	u32 shift = bbr->min_rtt_us >> BBR3_CHUNK_RTT_SHIFT;
	u64 bytes = conn->pacing_rate_bytes_per_s >> BBR3_CHUNK_SHIFT;

	if (shift < 16)
		bytes += 65536u >> shift;
	return cc_max(cc_min(cc_saturate(bytes), BBR3_CHUNK_BYTES_MAX) /
			      cc_max(conn->mss_bytes, 1),
		      2);
}

/* A window with room for chunks while they are sent, received and acknowledged. */
static u32 bbr3_roomy(const struct bbr3_state *bbr, const struct cc_conn *conn, u32 segs)
{
	segs = cc_max(segs, BBR3_CHUNKS_OF_ROOM * bbr3_chunk_segs(bbr, conn));
	segs = cc_max(segs, BBR3_MIN_CWND);
	if (bbr->mode == BBR3_UP)
		segs = cc_saturate((u64)segs + BBR3_UP_ROOM_SEGS);
	return segs;
}

static u32 bbr3_pipe(const struct bbr3_state *bbr, const struct cc_conn *conn, u32 bw)
{
	return bbr3_roomy(bbr, conn, bbr3_bdp(bbr, bw, CC_GAIN_ONE));
}

static u32 bbr3_target_inflight(const struct bbr3_state *bbr, const struct cc_conn *conn)
{
	return cc_min(bbr3_pipe(bbr, conn, bbr3_bw(bbr)), conn->cwnd_segs);
}

/* inflight_hi, less the headroom for other flows. */
static u32 bbr3_with_headroom(const struct bbr3_params *params,
			      const struct bbr3_state *bbr)
{
	u32 headroom = cc_max(bbr3_share(bbr->inflight_hi, params->headroom), 1);

	if (bbr->inflight_hi == BBR3_INFINITE)
		return BBR3_INFINITE;
	if (headroom >= bbr->inflight_hi)
		return BBR3_MIN_CWND;
	return cc_max(bbr->inflight_hi - headroom, BBR3_MIN_CWND);
}

/* Segments of `segs` that will be in flight when the next chunk may leave. */
static u32 bbr3_inflight_then(const struct bbr3_params *params,
			      const struct bbr3_state *bbr, const struct cc_conn *conn,
			      u32 segs)
{
	u8 is_fast = bbr3_pacing_gain(params, bbr) > CC_GAIN_ONE;
	u32 chunk = is_fast ? bbr3_chunk_segs(bbr, conn) : 0;

	return cc_flight_then(conn, segs, bbr3_bw(bbr), chunk);
}

static void bbr3_pace(const struct bbr3_params *params, const struct bbr3_state *bbr,
		      struct cc_conn *conn, u32 gain)
{
	u32 percent = 100 - params->pacing_margin;

	cc_pace_at(conn, cc_bw_bytes_per_s(conn, bbr3_bw(bbr), gain, percent),
		   bbr->is_full);
}

/* Pace before any rate is measured. */
static void bbr3_pace_blindly(const struct bbr3_params *params, struct bbr3_state *bbr,
			      struct cc_conn *conn)
{
	bbr->has_rtt |= conn->srtt_us != CC_NO_RTT;
	cc_pace_blindly(conn, params->startup_gain, 100 - params->pacing_margin);
}

/*
 * The phases.
 */
static void bbr3_forget_full_bw(struct bbr3_state *bbr, u32 bw)
{
	bbr->full_bw = bw;
	bbr->full_rounds = 0;
	bbr->is_full_now = 0;
}

static void bbr3_forget_signals(struct bbr3_state *bbr)
{
	bbr->is_lossy = 0;
	bbr->is_marked = 0;
	bbr->bw_latest = 0;
	bbr->inflight_latest = 0;
}

static void bbr3_lift_lower_bounds(struct bbr3_state *bbr)
{
	bbr->bw_lo = BBR3_INFINITE;
	bbr->inflight_lo = BBR3_INFINITE;
}

/* Begin a round trip, which lasts until the segments sent now are acknowledged. */
static void bbr3_mark_round(struct bbr3_state *bbr, const struct cc_conn *conn)
{
	bbr->lost = (u32)conn->lost_segs;
	bbr->marked = (u16)conn->delivered_ce_segs;
	bbr->round_end = (u32)conn->delivered_segs;
}

/* Begin a round trip before the current one is over, which joins the one before. */
static void bbr3_begin_round(struct bbr3_state *bbr, const struct cc_conn *conn)
{
	u32 segs = (u32)conn->delivered_segs - bbr->round_end;
	u32 lost = (u32)conn->lost_segs - bbr->lost;

	bbr->before_segs =
		bbr3_pack(cc_saturate((u64)bbr3_unpack(bbr->before_segs) + segs));
	bbr->before_lost =
		cc_min(cc_saturate((u64)bbr->before_lost + lost), BBR3_SMALL_MAX);
	bbr3_mark_round(bbr, conn);
}

static void bbr3_go_down(const struct bbr3_params *params, struct bbr3_state *bbr,
			 const struct cc_conn *conn)
{
	u32 random = conn->random;

	bbr3_forget_signals(bbr);
	/* One random number serves for rounds (lowest bit) and time (high bits). */
	bbr->rounds_since_probe = random % BBR3_RANDOM_ROUNDS;
	bbr->deadline_ms = cc_now_ms(conn) + params->probe_wait +
			   bbr3_random_below(random, params->probe_wait_random);
	bbr->effect = BBR3_STOPPING;
	bbr3_begin_round(bbr, conn);
	bbr->mode = BBR3_DOWN;
}

static void bbr3_cruise(struct bbr3_state *bbr)
{
	if (bbr->inflight_lo != BBR3_INFINITE)
		bbr->inflight_lo = cc_min(bbr->inflight_lo, bbr->inflight_hi);
	bbr->mode = BBR3_CRUISE;
}

static void bbr3_refill(struct bbr3_state *bbr, const struct cc_conn *conn)
{
	bbr3_lift_lower_bounds(bbr);
	bbr->rounds = 0;
	bbr->up_acked = 0;
	bbr->was_risky = 0;
	bbr->effect = BBR3_REFILLING;
	bbr3_begin_round(bbr, conn);
	bbr->mode = BBR3_REFILL;
}

static void bbr3_go_up(struct bbr3_state *bbr, const struct cc_conn *conn, u32 bw)
{
	bbr->may_judge = 1;
	bbr->effect = BBR3_STARTING;
	bbr3_begin_round(bbr, conn);
	bbr3_forget_full_bw(bbr, bw);
	bbr->mode = BBR3_UP;
}

/*
 * Losses and marks.
 */

/* Segments lost until the point where `ago_segs` fewer segments were delivered. */
static u32 bbr3_lost_by(const struct bbr3_state *bbr, const struct cc_conn *conn,
			u32 ago_segs)
{
	u32 now_segs = (u32)conn->delivered_segs - bbr->round_end;
	u32 lost_now = (u32)conn->lost_segs - bbr->lost;
	u32 before_segs = bbr3_unpack(bbr->before_segs);
	u32 into;

	/* In the current round trip, or in the one before? */
	if (ago_segs <= now_segs)
		return (u32)conn->lost_segs -
		       (now_segs ? cc_scale(lost_now, ago_segs, now_segs) : 0);
	into = ago_segs - now_segs;
	if (into >= before_segs)
		return bbr->lost - bbr->before_lost;
	return bbr->lost - cc_scale(bbr->before_lost, into, before_segs);
}

/* Find the flight of the sampled segment. */
static void bbr3_look_back(const struct bbr3_state *bbr, const struct cc_conn *conn,
			   struct bbr3_ack *ack)
{
	u32 segs = (u32)cc_max(ack->rate->delivered_segs, 0);

	ack->lost = (u32)conn->lost_segs - bbr3_lost_by(bbr, conn, segs);
	ack->tx_in_flight = cc_saturate((u64)segs + ack->lost);
}

static u8 bbr3_heeds_ecn(const struct bbr3_params *params, const struct bbr3_state *bbr)
{
	return params->ecn && bbr->min_rtt_us <= BBR3_ECN_RTT_MAX_US;
}

/* Share of marked segments in the current round trip, of 256. */
static u32 bbr3_marked_share(const struct bbr3_state *bbr, const struct cc_conn *conn)
{
	u32 segs = (u32)conn->delivered_segs - bbr->round_end;
	u32 marked = (u16)((u16)conn->delivered_ce_segs - bbr->marked);

	return segs ? cc_min(cc_scale(marked, CC_GAIN_ONE, segs), CC_GAIN_ONE) : 0;
}

static u8 bbr3_is_too_high(const struct bbr3_params *params, const struct bbr3_state *bbr,
			   const struct cc_conn *conn, const struct bbr3_ack *ack)
{
	if (ack->lost > bbr3_share(ack->tx_in_flight, params->loss_threshold))
		return 1;
	return bbr3_heeds_ecn(params, bbr) &&
	       bbr3_marked_share(bbr, conn) > BBR3_ECN_THRESHOLD;
}

/*
 * Data in flight when the losses of this ACK made the lost share too large. If they did
 * not, all data in flight.
 */
static u32 bbr3_harmless(const struct bbr3_params *params, const struct bbr3_ack *ack)
{
	u32 losses = cc_min(ack->rate->losses_segs, ack->lost);
	u32 before = ack->tx_in_flight - losses;
	u32 lost_before = ack->lost - losses;
	u64 allowed = (u64)before * params->loss_threshold;
	u64 used = (u64)lost_before * CC_GAIN_ONE;
	u32 left = CC_GAIN_ONE - params->loss_threshold;

	if (!losses || used >= allowed || !left)
		return ack->tx_in_flight;
	return cc_min(cc_saturate(before + (allowed - used) / left), ack->tx_in_flight);
}

static void bbr3_on_too_high(const struct bbr3_params *params, struct bbr3_state *bbr,
			     const struct cc_conn *conn, const struct bbr3_ack *ack)
{
	u32 least = bbr3_share(bbr3_target_inflight(bbr, conn), params->keep);

	bbr->was_too_high = 1;
	bbr->may_judge = 0;
	if (!ack->rate->is_app_limited)
		bbr->inflight_hi = cc_max(bbr3_harmless(params, ack), least);
	if (bbr->mode == BBR3_UP)
		bbr3_go_down(params, bbr, conn);
}

/* Lower the short-term bounds after a round trip with congestion. */
static void bbr3_lower(const struct bbr3_params *params, struct bbr3_state *bbr,
		       const struct cc_conn *conn)
{
	u32 by_ecn = BBR3_INFINITE;

	if (bbr3_is_probing(bbr) || !(bbr->is_lossy || bbr->is_marked))
		return;
	if (bbr->inflight_lo == BBR3_INFINITE)
		bbr->inflight_lo = conn->cwnd_segs;
	if (bbr->is_marked) {
		u32 cut = (bbr->ecn_alpha >> BBR3_ECN_GAIN_SHIFT) / BBR3_ECN_CUT_OF;

		by_ecn = bbr3_share(bbr->inflight_lo, CC_GAIN_ONE - cut);
	}
	if (bbr->is_lossy) {
		if (bbr->bw_lo == BBR3_INFINITE)
			bbr->bw_lo = bbr3_max_bw(bbr);
		bbr->bw_lo = cc_max(bbr3_share(bbr->bw_lo, params->keep), bbr->bw_latest);
		bbr->bw_lo = cc_max(bbr->bw_lo, 1);
		bbr->inflight_lo = cc_max(bbr3_share(bbr->inflight_lo, params->keep),
					  bbr->inflight_latest);
	}
	bbr->inflight_lo = cc_min(bbr->inflight_lo, by_ecn);
}

/* Move alpha by the marks of a round trip, and count round trips with many marks. */
static void bbr3_learn_marks(const struct bbr3_params *params, struct bbr3_state *bbr,
			     const struct cc_conn *conn)
{
	u32 share = bbr3_marked_share(bbr, conn);
	u32 alpha = bbr->ecn_alpha;

	if (!bbr3_heeds_ecn(params, bbr))
		return;
	bbr->ecn_alpha = (u16)(alpha - (alpha >> BBR3_ECN_GAIN_SHIFT) + share);
	if (share <= BBR3_ECN_THRESHOLD)
		bbr->marked_rounds = 0;
	else if (bbr->marked_rounds < BBR3_ECN_STARTUP_ROUNDS)
		bbr->marked_rounds++;
}

/* Measurements of an ACK. */
static void bbr3_end_round(const struct bbr3_params *params, struct bbr3_state *bbr,
			   const struct cc_conn *conn)
{
	u32 segs = (u32)conn->delivered_segs - bbr->round_end;

	bbr3_learn_marks(params, bbr, conn);
	bbr->before_segs = bbr3_pack(segs);
	bbr->before_lost = cc_min((u32)conn->lost_segs - bbr->lost, BBR3_SMALL_MAX);
	bbr3_mark_round(bbr, conn);
	bbr->ended_round = 1;
	if (bbr->rounds_since_probe < BBR3_ROUNDS_MAX)
		bbr->rounds_since_probe++;
}

/*
 * The first loss of a round trip begins a new one. The deliveries counted in it are then
 * those of a whole round trip with losses.
 */
static void bbr3_note_loss(struct bbr3_state *bbr, const struct cc_conn *conn)
{
	if (!bbr->is_lossy)
		bbr->loss_round_end = (u32)conn->delivered_segs;
	bbr->is_lossy = 1;
}

static void bbr3_learn_bw(const struct bbr3_params *params, struct bbr3_state *bbr,
			  const struct cc_conn *conn, struct bbr3_ack *ack)
{
	const struct cc_rate_sample *rate = ack->rate;

	bbr->ended_round = 0;
	if (rate->losses_segs)
		bbr3_note_loss(bbr, conn);
	if (!cc_rate_is_valid(rate))
		return;
	ack->bw = cc_bw_of(rate->delivered_segs, rate->interval_us);
	bbr3_look_back(bbr, conn, ack);
	if (cc_rate_has_reached(rate, bbr->round_end))
		bbr3_end_round(params, bbr, conn);
	bbr->bw_latest = cc_max(bbr->bw_latest, ack->bw);
	bbr->inflight_latest = cc_max(bbr->inflight_latest, rate->delivered_segs);
	if (cc_rate_has_reached(rate, bbr->loss_round_end)) {
		bbr->loss_round_end = (u32)conn->delivered_segs;
		ack->is_loss_round_start = 1;
	}
	if (!rate->is_app_limited || ack->bw >= bbr3_max_bw(bbr))
		bbr->bw_now = cc_max(bbr->bw_now, ack->bw);
}

/* Lower the bounds after a round trip with losses or marks. */
static void bbr3_learn_congestion(const struct bbr3_params *params,
				  struct bbr3_state *bbr, const struct cc_conn *conn,
				  const struct bbr3_ack *ack)
{
	u32 marked = conn->delivered_ce_segs & BBR3_MARKED_MASK;
	u8 is_marked = bbr3_heeds_ecn(params, bbr) && marked != bbr->marked_by_last;

	bbr->marked_by_last = marked;
	bbr->is_marked |= is_marked;
	if (!ack->is_loss_round_start)
		return;
	bbr3_lower(params, bbr, conn);
	bbr->is_lossy = 0;
	bbr->is_marked = 0;
}

/* Measure aggregation: segments that ACKs acknowledge beyond the delivery rate. */
static void bbr3_learn_aggregation(const struct bbr3_params *params,
				   struct bbr3_state *bbr, const struct cc_conn *conn,
				   const struct bbr3_ack *ack)
{
	struct cc_epoch epoch = {bbr->epoch_us, bbr->epoch_segs, 0};
	u32 window = bbr->is_full ? params->extra_window : 1;
	u32 acked = ack->rate->acked_sacked_segs;

	if (!acked || !ack->bw)
		return;
	if (bbr->ended_round && ++bbr->extra_rounds >= window) {
		bbr->extra_rounds = 0;
		bbr->extra_before = bbr->extra_now;
		bbr->extra_now = 0;
	}
	epoch = cc_epoch_after(epoch, conn, bbr3_bw(bbr), acked);
	bbr->epoch_us = epoch.start_us;
	bbr->epoch_segs = epoch.segs;
	bbr->extra_now = (u16)cc_max(bbr->extra_now, cc_min(epoch.extra, BBR3_SMALL_MAX));
}

/* The pipe is full if the queue overflows or is marked. */
static void bbr3_look_for_startup_loss(const struct bbr3_params *params,
				       struct bbr3_state *bbr, const struct cc_conn *conn,
				       const struct bbr3_ack *ack)
{
	u8 is_over;

	if (bbr->is_full)
		return;
	if (ack->rate->losses_segs && bbr->lossy_acks < BBR3_LOSSY_ACKS_MAX)
		bbr->lossy_acks++;
	is_over = bbr->marked_rounds >= BBR3_ECN_STARTUP_ROUNDS;
	if (ack->is_loss_round_start) {
		is_over |= conn->state == CC_RECOVERY &&
			   bbr->lossy_acks >= params->full_loss_count &&
			   bbr3_is_too_high(params, bbr, conn, ack);
		bbr->lossy_acks = 0;
	}
	if (!is_over)
		return;
	bbr->is_full = 1;
	bbr->inflight_hi =
		cc_max(bbr3_pipe(bbr, conn, bbr3_max_bw(bbr)), bbr->inflight_latest);
}

static void bbr3_look_for_full_pipe(const struct bbr3_params *params,
				    struct bbr3_state *bbr, const struct bbr3_ack *ack)
{
	u64 grown = (u64)bbr->full_bw * params->full_bw_growth / CC_GAIN_ONE;
	u8 is_time = params->full_bw_each_ack || bbr->ended_round;

	if (bbr->is_full_now || ack->rate->is_app_limited || !ack->bw || !is_time)
		return;
	if (ack->bw >= grown) {
		bbr3_forget_full_bw(bbr, ack->bw);
		return;
	}
	if (!bbr->ended_round)
		return;
	bbr->full_rounds++;
	if (bbr->full_rounds < BBR3_FULL_BW_ROUNDS)
		return;
	bbr->is_full_now = 1;
	bbr->is_full = 1;
}

static void bbr3_drain(const struct bbr3_params *params, struct bbr3_state *bbr,
		       struct cc_conn *conn)
{
	u32 pipe = bbr3_pipe(bbr, conn, bbr3_max_bw(bbr));

	if (bbr->mode == BBR3_DRAIN && bbr->ended_round &&
	    bbr->rounds < BBR3_UP_ROUNDS_MAX)
		bbr->rounds++;
	if (bbr->mode == BBR3_STARTUP && bbr->is_full) {
		bbr->mode = BBR3_DRAIN;
		bbr->rounds = 0;
		/* Only other code reads it. */
		conn->ssthresh_segs = cc_min(pipe, CC_SSTHRESH_INFINITE);
		bbr3_forget_signals(bbr);
	}
	if (bbr->mode != BBR3_DRAIN)
		return;
	if (bbr3_inflight_then(params, bbr, conn, conn->in_flight_segs) <= pipe ||
	    (params->drain_rounds && bbr->rounds > params->drain_rounds))
		bbr3_go_down(params, bbr, conn);
}

/*
 * The cycle of probes.
 */

/* Raise inflight_hi while it limits the window: by 1, 2, 4 ... per round trip. */
static void bbr3_raise(struct bbr3_state *bbr, const struct cc_conn *conn,
		       const struct bbr3_ack *ack)
{
	u32 per = cc_max(conn->cwnd_segs >> bbr->rounds, 1);

	if (!conn->cwnd_limited || conn->cwnd_segs < bbr->inflight_hi)
		return;
	bbr->up_acked = cc_saturate((u64)bbr->up_acked + ack->rate->acked_sacked_segs);
	if (bbr->up_acked >= per) {
		u32 segs = bbr->up_acked / per;

		bbr->up_acked -= segs * per;
		bbr->inflight_hi = cc_saturate((u64)bbr->inflight_hi + segs);
	}
	if (bbr->ended_round && bbr->rounds < BBR3_UP_ROUNDS_MAX)
		bbr->rounds++;
}

/* End a probe's feedback; return true if the next probe begins at once. */
static u8 bbr3_end_feedback(struct bbr3_state *bbr, const struct cc_conn *conn,
			    const struct bbr3_ack *ack)
{
	u8 is_in_cycle = bbr->mode >= BBR3_DOWN && bbr->mode <= BBR3_UP;

	bbr->may_judge = 0;
	bbr->effect = BBR3_NO_EFFECT;
	if (!is_in_cycle)
		return 0;
	if (!ack->rate->is_app_limited && bbr->bw_now) {
		bbr->bw_before = bbr->bw_now;
		bbr->bw_now = 0;
	}
	/* The probe reached a level that was too high before, without harm this time. */
	if (!bbr->was_risky || bbr->was_too_high)
		return 0;
	bbr3_refill(bbr, conn);
	return 1;
}

/* Adapt the upper bound; return true if that has ended the phase. */
static u8 bbr3_adapt_upper_bound(const struct bbr3_params *params, struct bbr3_state *bbr,
				 const struct cc_conn *conn, const struct bbr3_ack *ack)
{
	if (bbr->effect == BBR3_STARTING && bbr->ended_round)
		bbr->effect = BBR3_FEEDBACK;
	if (bbr->effect == BBR3_STOPPING && bbr->ended_round &&
	    bbr3_end_feedback(bbr, conn, ack))
		return 1;
	if (bbr3_is_too_high(params, bbr, conn, ack)) {
		if (bbr->may_judge)
			bbr3_on_too_high(params, bbr, conn, ack);
		return 0;
	}
	if (bbr->inflight_hi == BBR3_INFINITE)
		return 0;
	bbr->inflight_hi = cc_max(bbr->inflight_hi, ack->tx_in_flight);
	if (bbr->mode == BBR3_UP)
		bbr3_raise(bbr, conn, ack);
	return 0;
}

/* Return true if a probe is due: after its wait, or if Reno would have grown as much. */
static u8 bbr3_is_probe_due(const struct bbr3_params *params,
			    const struct bbr3_state *bbr, const struct cc_conn *conn)
{
	u32 rounds = cc_min(params->probe_rounds, bbr3_target_inflight(bbr, conn));

	return cc_is_past(cc_now_ms(conn), bbr->deadline_ms) ||
	       bbr->rounds_since_probe >= rounds;
}

static void bbr3_go_on_up(const struct bbr3_params *params, struct bbr3_state *bbr,
			  const struct cc_conn *conn, const struct bbr3_ack *ack)
{
	u32 inflight =
		bbr3_inflight_then(params, bbr, conn, ack->rate->prior_in_flight_segs);

	if (bbr->was_too_high && inflight >= bbr->inflight_hi) {
		bbr->was_risky = 1;
	} else {
		if (conn->cwnd_limited && conn->cwnd_segs >= bbr->inflight_hi)
			bbr3_forget_full_bw(bbr, ack->bw);
		if (!bbr->is_full_now)
			return;
	}
	bbr->was_too_high = 0;
	bbr3_go_down(params, bbr, conn);
}

static void bbr3_go_through_cycle(const struct bbr3_params *params,
				  struct bbr3_state *bbr, const struct cc_conn *conn,
				  const struct bbr3_ack *ack)
{
	u32 inflight;

	if (!bbr->is_full || bbr3_adapt_upper_bound(params, bbr, conn, ack))
		return;
	if (bbr->mode == BBR3_REFILL) {
		if (bbr->ended_round)
			bbr3_go_up(bbr, conn, ack->bw);
		return;
	}
	if (bbr->mode == BBR3_UP) {
		bbr3_go_on_up(params, bbr, conn, ack);
		return;
	}
	if (bbr->mode != BBR3_DOWN && bbr->mode != BBR3_CRUISE)
		return;
	if (bbr3_is_probe_due(params, bbr, conn)) {
		bbr3_refill(bbr, conn);
		return;
	}
	inflight = bbr3_inflight_then(params, bbr, conn, ack->rate->prior_in_flight_segs);
	if (bbr->mode == BBR3_DOWN && inflight <= bbr3_with_headroom(params, bbr) &&
	    inflight <= bbr3_pipe(bbr, conn, bbr3_max_bw(bbr)))
		bbr3_cruise(bbr);
}

/* ProbeRTT. */
static u32 bbr3_small_window(const struct bbr3_params *params,
			     const struct bbr3_state *bbr)
{
	return cc_max(bbr3_bdp(bbr, bbr3_bw(bbr), params->probe_rtt_gain), BBR3_MIN_CWND);
}

static void bbr3_end_probe_rtt(const struct bbr3_params *params, struct bbr3_state *bbr,
			       struct cc_conn *conn)
{
	if (!bbr->is_window_small || !cc_is_past(cc_now_ms(conn), bbr->deadline_ms))
		return;
	bbr->recent_rtt_ms = cc_now_ms(conn);
	conn->cwnd_segs = cc_max(conn->cwnd_segs, bbr->prior_cwnd);
	bbr3_lift_lower_bounds(bbr);
	if (bbr->is_full) {
		bbr3_go_down(params, bbr, conn);
		bbr3_cruise(bbr);
	} else {
		bbr->mode = BBR3_STARTUP;
	}
}

static void bbr3_probe_rtt(const struct bbr3_params *params, struct bbr3_state *bbr,
			   struct cc_conn *conn)
{
	cc_distrust_rates(conn);
	if (!bbr->is_window_small &&
	    conn->in_flight_segs <= bbr3_small_window(params, bbr)) {
		bbr->is_window_small = 1;
		bbr->was_round_small = 0;
		bbr->deadline_ms = cc_now_ms(conn) + params->probe_rtt_time;
		bbr3_begin_round(bbr, conn);
	} else if (bbr->is_window_small) {
		if (bbr->ended_round)
			bbr->was_round_small = 1;
		if (bbr->was_round_small)
			bbr3_end_probe_rtt(params, bbr, conn);
	}
}

static void bbr3_save_cwnd(struct bbr3_state *bbr, const struct cc_conn *conn)
{
	u8 undisturbed = bbr->last_state < CC_RECOVERY && bbr->mode != BBR3_PROBE_RTT;

	bbr->prior_cwnd = cc_window_to_keep(conn, bbr->prior_cwnd, undisturbed);
}

static void bbr3_learn_rtt(const struct bbr3_params *params, struct bbr3_state *bbr,
			   struct cc_conn *conn, const struct bbr3_ack *ack)
{
	const struct cc_rate_sample *rate = ack->rate;
	u32 now = cc_now_ms(conn);
	u8 is_old = cc_is_past(now, bbr->recent_rtt_ms + params->probe_rtt_interval);
	u8 is_stale = cc_is_past(now, bbr->min_rtt_ms + params->min_rtt_window);

	if (rate->rtt_us >= 0 && ((u32)rate->rtt_us < bbr->recent_rtt_us ||
				  (is_old && !rate->is_ack_delayed))) {
		bbr->recent_rtt_us = (u32)rate->rtt_us;
		bbr->recent_rtt_ms = now;
	}
	if (bbr->recent_rtt_us <= bbr->min_rtt_us || is_stale) {
		bbr->min_rtt_us = bbr->recent_rtt_us;
		bbr->min_rtt_ms = bbr->recent_rtt_ms;
	}
	if (params->probe_rtt_time && is_old && !bbr->is_restarting &&
	    bbr->mode != BBR3_PROBE_RTT) {
		bbr3_save_cwnd(bbr, conn);
		bbr->mode = BBR3_PROBE_RTT;
		bbr->is_window_small = 0;
		bbr->effect = BBR3_STOPPING;
		bbr3_begin_round(bbr, conn);
	}
	if (bbr->mode == BBR3_PROBE_RTT)
		bbr3_probe_rtt(params, bbr, conn);
	if (rate->delivered_segs > 0)
		bbr->is_restarting = 0;
}

/* Begin the next loss round with the measurements of this ACK. */
static void bbr3_renew_latest(struct bbr3_state *bbr, const struct bbr3_ack *ack)
{
	if (!ack->is_loss_round_start)
		return;
	bbr->bw_latest = ack->bw;
	bbr->inflight_latest = cc_max(ack->rate->delivered_segs, 0);
}

/*
 * The window.
 */

/* Room for the segments that ACKs acknowledge in bursts. */
static u32 bbr3_extra_segs(const struct bbr3_state *bbr)
{
	return cc_min(cc_max(bbr->extra_now, bbr->extra_before),
		      cc_bw_segs(bbr3_bw(bbr), BBR3_EXTRA_MAX_US));
}

/* Most segments that the bounds allow in flight. */
static u32 bbr3_bound(const struct bbr3_params *params, const struct bbr3_state *bbr)
{
	u32 bound = BBR3_INFINITE;

	if (!bbr->is_full)
		return bound;
	if (bbr->mode == BBR3_CRUISE || bbr->mode == BBR3_PROBE_RTT)
		bound = bbr3_with_headroom(params, bbr);
	else if (bbr->mode != BBR3_DRAIN)
		bound = bbr->inflight_hi;
	return cc_max(cc_min(bound, bbr->inflight_lo), BBR3_MIN_CWND);
}

static void bbr3_set_cwnd(const struct bbr3_params *params, struct bbr3_state *bbr,
			  struct cc_conn *conn, u32 acked)
{
	u32 bdp = bbr3_bdp(bbr, bbr3_bw(bbr), bbr3_cwnd_gain(params, bbr));
	u32 target = cc_saturate((u64)bdp + bbr3_extra_segs(bbr));
	u32 grown = cc_saturate((u64)conn->cwnd_segs + acked);

	target = bbr3_roomy(bbr, conn, target);
	if (acked) {
		if (bbr->is_full)
			conn->cwnd_segs = cc_min(grown, target);
		else if (conn->cwnd_segs < target ||
			 conn->cwnd_segs < 2 * BBR3_INITIAL_SEGS)
			conn->cwnd_segs = grown;
		conn->cwnd_segs = cc_max(conn->cwnd_segs, BBR3_MIN_CWND);
	}
	if (bbr->mode == BBR3_PROBE_RTT)
		conn->cwnd_segs = cc_min(conn->cwnd_segs, bbr3_small_window(params, bbr));
	conn->cwnd_segs = cc_min(conn->cwnd_segs, bbr3_bound(params, bbr));
	conn->cwnd_segs = cc_clamp(conn->cwnd_segs, 1, cc_max(conn->cwnd_clamp_segs, 1));
}

/*
 * Hooks.
 */
static void bbr3_init(const struct bbr3_params *params, struct bbr3_state *bbr,
		      struct cc_conn *conn)
{
	u32 now = cc_now_ms(conn);

	*bbr = (struct bbr3_state){
		.bw_lo = BBR3_INFINITE,
		.inflight_lo = BBR3_INFINITE,
		.inflight_hi = BBR3_INFINITE,
		.min_rtt_us = conn->min_rtt_us,
		.min_rtt_ms = now,
		.recent_rtt_us = conn->min_rtt_us,
		.recent_rtt_ms = now,
		.loss_round_end = (u32)conn->delivered_segs,
		.epoch_us = (u32)conn->now_us,
		.ecn_alpha = CC_GAIN_ONE << BBR3_ECN_GAIN_SHIFT,
		.marked_by_last = conn->delivered_ce_segs & BBR3_MARKED_MASK,
	};
	bbr3_mark_round(bbr, conn);
	bbr3_pace_blindly(params, bbr, conn);
}

static void bbr3_cong_control(const struct bbr3_params *params, struct bbr3_state *bbr,
			      struct cc_conn *conn, const struct cc_rate_sample *rate)
{
	struct bbr3_ack ack = {.rate = rate};

	bbr3_learn_bw(params, bbr, conn, &ack);
	bbr3_learn_congestion(params, bbr, conn, &ack);
	bbr3_learn_aggregation(params, bbr, conn, &ack);
	bbr3_look_for_startup_loss(params, bbr, conn, &ack);
	bbr3_look_for_full_pipe(params, bbr, &ack);
	bbr3_drain(params, bbr, conn);
	bbr3_go_through_cycle(params, bbr, conn, &ack);
	bbr3_learn_rtt(params, bbr, conn, &ack);
	if (!bbr->has_rtt && conn->srtt_us != CC_NO_RTT)
		bbr3_pace_blindly(params, bbr, conn);
	bbr3_pace(params, bbr, conn, bbr3_pacing_gain(params, bbr));
	bbr3_set_cwnd(params, bbr, conn, rate->acked_sacked_segs);
	bbr3_renew_latest(bbr, &ack);
	bbr->last_state = conn->state;
}

static u32 bbr3_ssthresh(const struct bbr3_params *params, struct bbr3_state *bbr,
			 const struct cc_conn *conn)
{
	bbr3_save_cwnd(bbr, conn);
	bbr->undo_bw_lo = bbr3_pack(bbr->bw_lo);
	bbr->undo_inflight_lo = bbr3_pack(bbr->inflight_lo);
	bbr->undo_inflight_hi = bbr3_pack(bbr->inflight_hi);
	return conn->ssthresh_segs;
}

/* The losses proved spurious. */
static u32 bbr3_undo_cwnd(const struct bbr3_params *params, struct bbr3_state *bbr,
			  const struct cc_conn *conn)
{
	bbr3_forget_full_bw(bbr, 0);
	bbr->is_lossy = 0;
	bbr->bw_lo = cc_max(bbr->bw_lo, bbr3_unpack(bbr->undo_bw_lo));
	bbr->inflight_lo = cc_max(bbr->inflight_lo, bbr3_unpack(bbr->undo_inflight_lo));
	bbr->inflight_hi = cc_max(bbr->inflight_hi, bbr3_unpack(bbr->undo_inflight_hi));
	return cc_max(conn->cwnd_segs, bbr->prior_cwnd);
}

static void bbr3_cwnd_event(const struct bbr3_params *params, struct bbr3_state *bbr,
			    struct cc_conn *conn, u32 event)
{
	if (event != CC_EVENT_TX_START || !conn->app_limited_segs)
		return;
	bbr->is_restarting = 1;
	bbr->epoch_us = (u32)conn->now_us;
	bbr->epoch_segs = 0;
	/* The queue is empty, so neither a burst nor a gap is necessary. */
	if (bbr->mode == BBR3_PROBE_RTT)
		bbr3_end_probe_rtt(params, bbr, conn);
	else if (bbr->mode >= BBR3_DOWN)
		bbr3_pace(params, bbr, conn, CC_GAIN_ONE);
}

static void bbr3_set_state(const struct bbr3_params *params, struct bbr3_state *bbr,
			   struct cc_conn *conn, u32 new_state)
{
	if (new_state == CC_LOSS) {
		bbr3_note_loss(bbr, conn);
		bbr3_forget_full_bw(bbr, 0);
		/* The current window is that of the timeout. */
		if (!bbr3_is_probing(bbr) && bbr->inflight_lo == BBR3_INFINITE)
			bbr->inflight_lo = cc_max(conn->cwnd_segs, bbr->prior_cwnd);
		bbr->last_state = CC_LOSS;
	} else if (conn->state == CC_LOSS) {
		conn->cwnd_segs = cc_max(conn->cwnd_segs, bbr->prior_cwnd);
	}
}

/* A bound as it is reported; 0: none. */
static u32 bbr3_told(u32 bound)
{
	return bound == BBR3_INFINITE ? 0 : bound;
}

static void bbr3_info(const struct bbr3_params *params, const struct bbr3_state *bbr,
		      const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = cc_bw_kbit_per_s(conn, bbr3_bw(bbr));
	info->values[1] = bbr->min_rtt_us == CC_NO_RTT ? 0 : bbr->min_rtt_us;
	info->values[2] = bbr3_told(bbr->inflight_hi);
	info->values[3] = bbr->mode;
	info->values[4] = bbr->rounds_since_probe;
	info->values[5] = bbr3_pacing_gain(params, bbr);
	info->values[6] = bbr3_cwnd_gain(params, bbr);
	info->values[7] = cc_bw_kbit_per_s(conn, bbr3_max_bw(bbr));
	info->values[8] = cc_bw_kbit_per_s(conn, bbr3_told(bbr->bw_lo));
	info->values[9] = bbr3_told(bbr->inflight_lo);
	info->values[10] = cc_bw_kbit_per_s(conn, bbr->bw_latest);
	info->values[11] = bbr->inflight_latest;
	info->values[12] = bbr3_extra_segs(bbr);
	info->values[13] = bbr->is_full;
	info->values[14] = cc_bw_kbit_per_s(conn, bbr->full_bw);
	info->values[15] = bbr->prior_cwnd;
}

/* In figures: BBRv3, #e0606b, diamond. */
CC_ALGORITHM(bbr3, .title = "BBRv3", .family = CC_FAMILY_RATE, .year = 2023,
	     .flags = CC_NEEDS_PACING | CC_NEEDS_RANDOM,
	     .source = "N. Cardwell and others, BBR Congestion Control, "
		       "draft-ietf-ccwg-bbr; Google's kernel, branch v3",
	     .summary = "BBR that limits the data in flight to what did no harm before, "
			"and reacts to loss above two percent.",
	     .mode_names = {"startup", "drain", "down", "cruise", "refill", "up",
			    "probe_rtt"},
	     .info_names = {"bw_kbit_per_s", "min_rtt_us", "inflight_hi_segs", "mode",
			    "rounds_since_probe", "pacing_gain_x256", "cwnd_gain_x256",
			    "max_bw_kbit_per_s", "bw_lo_kbit_per_s", "inflight_lo_segs",
			    "bw_latest_kbit_per_s", "inflight_latest_segs", "extra_segs",
			    "is_full", "full_bw_kbit_per_s", "prior_cwnd_segs"});
