/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * BBR: send at the rate at which the path delivers, with a window of twice what the
 * path holds.
 *
 * This is version 1 as in Linux. Two numbers model the path. The bandwidth bw is the
 * largest rate of delivery in the last bw_window round trips. The RTT rtt is the
 * smallest round-trip time in the last min_rtt_window. A flow is paced. Its window
 * limits it only where the model is wrong:
 *
 *     pacing rate = 0.99 * gain * bw
 *     window      = cwnd_gain * bw * rtt + extra + 3 chunks
 *
 * A chunk is the data that is sent in a millisecond at the pacing rate, but at least
 * two segments. The window is rounded up to an even number. The term extra is what
 * recent ACKs delivered beyond bw (aggregation). It is at most what bw delivers in 100
 * ms.
 *
 * Startup multiplies the rate by startup_gain per round trip until bw has not grown by
 * a quarter in three round trips. Drain then empties the queue, until at most bw * rtt
 * is in flight. After Drain the flow probes the bandwidth in a cycle of phases, each
 * as long as rtt. In one phase the flow sends above bw, and the phase lasts until a
 * loss or until up_gain * bw * rtt is in flight. In the next phase it sends below bw,
 * and the phase ends as soon as the queue is gone. In the others it sends at bw. A
 * flow enters the cycle in a random phase, but never in the one below bw. If no RTT
 * was as small as rtt for min_rtt_window, the window falls to min_cwnd for 200 ms and
 * a round trip. The queue of all flows then drains, and rtt becomes visible.
 *
 * Losses have little effect. Each lost segment shrinks the window by one. In the first
 * round trip of a recovery the window follows the data in flight, and at the end it
 * returns to its former size. A path may lose the share lt_loss or more in two
 * successive intervals of 4 to 16 round trips, and deliver at nearly the same rate in
 * both. BBR then assumes a policer. For the next lt_use_rounds round trips it uses the
 * mean of both rates as bw.
 *
 * The cycle and Drain do not use the amount that is in flight now. They use the amount
 * that will be in flight when pacing releases the next segment (edt_correction). That
 * amount is lower by bw times the wait until then, and higher by a chunk while the
 * flow sends above bw.
 *
 * As in Linux: the smallest RTT is a running minimum. A sample that equals it does not
 * restart its ten seconds. In Linux until 5.x it did (equal_rtt). A flow whose queue
 * is empty from time to time then never reduces its window.
 *
 * As in Linux: before the first RTT sample, the pacing rate is startup_gain windows
 * per millisecond. The first RTT corrects it.
 *
 * Unlike Linux: for rates below 1.2 Mbit/s, Linux's BBR requests chunks of less than
 * two segments. Here the stack alone decides the size of chunks. The sum in the window
 * is that of Linux.
 *
 * Unlike Linux: the time of the current ACK begins and ends phases, and the intervals
 * of the policer search. Linux uses the time of the last ACK that delivered something.
 *
 * Interpretation: until 4.19 Linux kept no margin below bw. However, its measured rate
 * did not count link headers, and its pacing did: 14 of 1514 bytes. The result is the
 * same one percent, so the presets of those kernels keep the margin.
 */
#include "cc_rates.h"

#define bbr_parameters(P)                                                                \
	P(startup_gain, "1/256", 739, CC_RANGE(256, 2047),                               \
	  "gain of rate and window in Startup", "Linux: 2 / ln 2")                       \
	P(drain_gain, "1/256", 88, CC_RANGE(1, 256), "gain of the rate in Drain",        \
	  "Linux: ln 2 / 2")                                                             \
	P(cwnd_gain, "1/256", 512, CC_RANGE(256, 2047),                                  \
	  "gain of the window while probing bandwidth", "Linux")                         \
	P(up_gain, "1/256", 320, CC_RANGE(256, 1023),                                    \
	  "gain of the rate in the phase above bw", "Linux")                             \
	P(down_gain, "1/256", 192, CC_RANGE(1, 256),                                     \
	  "gain of the rate in the phase below bw", "Linux")                             \
	P(cycle_phases, "phases", 8, CC_RANGE(3, 64), "phases of a cycle", "Linux")      \
	P(bw_window, "round trips", 10, CC_RANGE(1, 1000),                               \
	  "time for which a delivery rate counts", "Linux")                              \
	P(min_rtt_window, "ms", 10000, CC_RANGE(100, 600000),                            \
	  "time for which a smallest RTT counts", "Linux")                               \
	P(probe_rtt_time, "ms", 200, CC_RANGE(0, 10000),                                 \
	  "time with a small window, to measure the path's RTT; 0: none", "Linux")       \
	P(min_cwnd, "segments", 4, CC_RANGE(1, 1000),                                    \
	  "smallest window, also while the path's RTT is measured", "Linux")             \
	P(full_bw_growth, "1/256", 320, CC_RANGE(257, 2047),                             \
	  "growth of bw that proves that the pipe is not full", "Linux")                 \
	P(full_bw_rounds, "round trips", 3, CC_RANGE(1, 100),                            \
	  "round trips without that growth that end Startup", "Linux")                   \
	P(pacing_margin, "%", 1, CC_RANGE(0, 99), "distance of pacing below bw",         \
	  "Linux")                                                                       \
	P(lt_rounds, "round trips", 4, CC_RANGE(1, 63),                                  \
	  "shortest interval of policer detection; four times as long is the longest",   \
	  "Linux")                                                                       \
	P(lt_loss, "1/256", 50, CC_RANGE(1, 256),                                        \
	  "share lost in an interval that indicates a policer", "Linux")                 \
	P(lt_ratio, "1/256", 32, CC_RANGE(0, 256),                                       \
	  "largest difference between the rates of two such intervals", "Linux")         \
	P(lt_use_rounds, "round trips", 48, CC_RANGE(0, 127),                            \
	  "time for which a policer's rate is used; 0: no detection", "Linux")           \
	P(extra_gain, "1/256", 256, CC_RANGE(0, 1023),                                   \
	  "share of the aggregation of ACKs that is added to the window; 0: none",       \
	  "Linux 5.1")                                                                   \
	P(extra_window, "round trips", 5, CC_RANGE(1, 31),                               \
	  "half of the time for which an aggregation counts", "Linux 5.1")               \
	P(extra_max, "ms", 100, CC_RANGE(0, 1000), "largest aggregation, in time at bw", \
	  "Linux 5.1")                                                                   \
	P(edt_correction, "switch", 1, CC_SWITCH,                                        \
	  "compare the data in flight at the next departure, not now", "Linux 4.20")     \
	P(up_room, "switch", 1, CC_SWITCH,                                               \
	  "a window of two segments more in the phase above bw", "Linux 4.20")           \
	P(equal_rtt, "switch", 0, CC_SWITCH,                                             \
	  "an RTT equal to the smallest one restarts the time for which that counts",    \
	  "Linux until 5.x")                                                             \
	P(idle_care, "switch", 1, CC_SWITCH,                                             \
	  "RTTs of delayed ACKs do not replace an old RTT, and an idle time may "        \
	  "end the search for the RTT",                                                  \
	  "Linux 4.17")

/* Linux 4.14 did not have these features. */
#define BBR_LINUX_4_14                                              \
	CC_SET(bbr, extra_gain, 0), CC_SET(bbr, edt_correction, 0), \
		CC_SET(bbr, up_room, 0), CC_SET(bbr, equal_rtt, 1), \
		CC_SET(bbr, idle_care, 0)

#define bbr_presets(S)                                                        \
	S("linux-4.14", "Linux 4.14: no room for aggregation, no look ahead", \
	  BBR_LINUX_4_14)                                                     \
	S("brakmo2017", "Brakmo 2017: Linux 4.14-rc5 with its defaults", BBR_LINUX_4_14)

#define bbr_hooks(H)         \
	H(bbr, init)         \
	H(bbr, ssthresh)     \
	H(bbr, cong_control) \
	H(bbr, cwnd_event)   \
	H(bbr, set_state)    \
	H(bbr, undo_cwnd)    \
	H(bbr, info)

/* Window until the RTT is known (RFC 6928). */
#define BBR_INITIAL_SEGS 10u
/* Segmentation offload: chunks of a 1/1024 s, of two segments from this rate on. */
#define BBR_CHUNK_SHIFT 10
#define BBR_CHUNK_BYTES_MAX 65215u
#define BBR_CHUNK_SEGS_MAX 127u
#define BBR_CHUNK_OF_TWO 150000u
#define BBR_CHUNKS_OF_ROOM 3u
#define BBR_UP_ROOM_SEGS 2u
/* Intervals are equal if their rates differ by less, bytes per second. */
#define BBR_LT_DIFF 500u
#define BBR_LT_LONGEST 4u
/* The estimate keeps the best sample of the window, and later ones that replace it. */
#define BBR_SAMPLES 3

enum bbr_mode { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BW, BBR_PROBE_RTT };

CC_PARAMS(bbr);

struct bbr_sample {
	u32 round;
	u32 bw;
};

struct bbr_state {
	struct bbr_sample best[BBR_SAMPLES]; /* of the window, ever later ones */
	u32 round;			     /* round trips by now */
	u32 round_end;			     /* delivered, modulo 2^32 */
	u32 min_rtt_us;			     /* CC_NO_RTT: none */
	u32 min_rtt_ms;			     /* when it was seen */
	u32 probe_rtt_end_ms;
	u32 phase_us; /* when the phase began, modulo 2^32 */
	u32 full_bw;
	u32 prior_cwnd;	  /* window to restore, segments */
	u32 lt_bw;	  /* 0: no interval yet */
	u32 lt_ms;	  /* when the interval began */
	u32 lt_delivered; /* delivered by lt_ms, segments */
	u32 lt_lost;	  /* lost by lt_ms, segments */
	u32 epoch_us;	  /* when the current epoch of ACKs began */
	u32 epoch_segs;	  /* acknowledged in it */
	u32 extra_now;	  /* aggregation, segments */
	u32 extra_before; /* in the window before */
	u16 pacing_gain;
	u16 cwnd_gain;
	u8 mode;
	u8 phase;
	u8 last_state; /* congestion state at the last ACK */
	u8 full_bw_rounds;
	u8 lt_rounds;
	u8 extra_rounds;
	u8 is_full : 1;		/* the pipe was, once */
	u8 is_round_start : 1;	/* with this ACK */
	u8 is_conserving : 1;	/* the window follows the data in flight */
	u8 is_restarting : 1;	/* after idle time */
	u8 is_window_small : 1; /* in ProbeRTT: probe_rtt_end_ms is set */
	u8 was_round_small : 1; /* for a whole round trip */
	u8 has_rtt : 1;
	u8 lt_is_sampling : 1;
	u8 lt_is_used : 1;
};

static u32 bbr_now_us(const struct cc_conn *conn)
{
	return (u32)conn->now_us;
}

/* The model. */
static u32 bbr_max_bw(const struct bbr_state *bbr)
{
	return bbr->best[0].bw;
}

static u32 bbr_bw(const struct bbr_state *bbr)
{
	return bbr->lt_is_used ? bbr->lt_bw : bbr_max_bw(bbr);
}

static u32 bbr_chunk_segs(const struct cc_conn *conn)
{
	u64 rate = conn->pacing_rate_bytes_per_s;
	u32 bytes = cc_min(cc_saturate(rate >> BBR_CHUNK_SHIFT), BBR_CHUNK_BYTES_MAX);
	u32 least = rate < BBR_CHUNK_OF_TWO ? 1 : 2;

	return cc_clamp(bytes / cc_max(conn->mss_bytes, 1), least, BBR_CHUNK_SEGS_MAX);
}

static u32 bbr_bdp(const struct bbr_state *bbr, u32 bw, u32 gain)
{
	if (bbr->min_rtt_us == CC_NO_RTT)
		return BBR_INITIAL_SEGS;
	return cc_bw_product(bw, bbr->min_rtt_us, gain);
}

/* A window with room for chunks while they are sent, received and acknowledged. */
static u32 bbr_roomy(const struct bbr_params *params, const struct bbr_state *bbr,
		     const struct cc_conn *conn, u64 segs)
{
	segs = (segs + (u64)BBR_CHUNKS_OF_ROOM * bbr_chunk_segs(conn) + 1) & ~1ull;
	if (params->up_room && bbr->mode == BBR_PROBE_BW && !bbr->phase)
		segs += BBR_UP_ROOM_SEGS;
	return cc_saturate(segs);
}

static u32 bbr_inflight_at(const struct bbr_params *params, const struct bbr_state *bbr,
			   const struct cc_conn *conn, u32 gain)
{
	return bbr_roomy(params, bbr, conn, bbr_bdp(bbr, bbr_max_bw(bbr), gain));
}

/* Segments of `segs` that will be in flight when the next chunk may leave. */
static u32 bbr_inflight_then(const struct bbr_params *params, const struct bbr_state *bbr,
			     const struct cc_conn *conn, u32 segs)
{
	u32 chunk = bbr->pacing_gain > CC_GAIN_ONE ? bbr_chunk_segs(conn) : 0;

	return params->edt_correction ? cc_flight_then(conn, segs, bbr_bw(bbr), chunk)
				      : segs;
}

static void bbr_pace(const struct bbr_params *params, struct bbr_state *bbr,
		     struct cc_conn *conn, u32 gain)
{
	u32 percent = 100 - params->pacing_margin;

	cc_pace_at(conn, cc_bw_bytes_per_s(conn, bbr_bw(bbr), gain, percent),
		   bbr->is_full);
}

/* Pace before any rate is measured. */
static void bbr_pace_blindly(const struct bbr_params *params, struct bbr_state *bbr,
			     struct cc_conn *conn)
{
	bbr->has_rtt |= conn->srtt_us != CC_NO_RTT;
	cc_pace_blindly(conn, params->startup_gain, 100 - params->pacing_margin);
}

/*
 * Phases and modes.
 */
static void bbr_next_phase(const struct bbr_params *params, struct bbr_state *bbr,
			   const struct cc_conn *conn)
{
	bbr->phase = bbr->phase + 1u < params->cycle_phases ? bbr->phase + 1 : 0;
	bbr->phase_us = bbr_now_us(conn);
}

/* Begin with any phase except the second one, which is below bw. */
static void bbr_begin_cycle(const struct bbr_params *params, struct bbr_state *bbr,
			    const struct cc_conn *conn)
{
	u32 choices = params->cycle_phases - 1;

	bbr->mode = BBR_PROBE_BW;
	bbr->phase =
		params->cycle_phases - 1 - cc_scale(conn->random >> 1, choices, 1u << 31);
	bbr_next_phase(params, bbr, conn);
}

static void bbr_set_gains(const struct bbr_params *params, struct bbr_state *bbr)
{
	bbr->cwnd_gain = CC_GAIN_ONE;
	bbr->pacing_gain = CC_GAIN_ONE;
	if (bbr->mode == BBR_STARTUP || bbr->mode == BBR_DRAIN) {
		bbr->cwnd_gain = params->startup_gain;
		bbr->pacing_gain = bbr->mode == BBR_STARTUP ? params->startup_gain
							    : params->drain_gain;
	} else if (bbr->mode == BBR_PROBE_BW) {
		bbr->cwnd_gain = params->cwnd_gain;
		if (!bbr->lt_is_used && bbr->phase < 2)
			bbr->pacing_gain =
				bbr->phase ? params->down_gain : params->up_gain;
	}
}

static void bbr_save_cwnd(struct bbr_state *bbr, const struct cc_conn *conn)
{
	u8 undisturbed = bbr->last_state < CC_RECOVERY && bbr->mode != BBR_PROBE_RTT;

	bbr->prior_cwnd = cc_window_to_keep(conn, bbr->prior_cwnd, undisturbed);
}

/*
 * Policers.
 */
static void bbr_begin_interval(struct bbr_state *bbr, const struct cc_conn *conn)
{
	bbr->lt_ms = cc_now_ms(conn);
	bbr->lt_delivered = (u32)conn->delivered_segs;
	bbr->lt_lost = (u32)conn->lost_segs;
	bbr->lt_rounds = 0;
}

static void bbr_forget_policer(struct bbr_state *bbr, const struct cc_conn *conn)
{
	bbr->lt_bw = 0;
	bbr->lt_is_used = 0;
	bbr->lt_is_sampling = 0;
	bbr_begin_interval(bbr, conn);
}

/* End an interval of heavy loss. If the one before was as fast, assume a policer. */
static void bbr_end_interval(const struct bbr_params *params, struct bbr_state *bbr,
			     const struct cc_conn *conn, u32 bw)
{
	u32 difference = bw > bbr->lt_bw ? bw - bbr->lt_bw : bbr->lt_bw - bw;
	u8 is_equal =
		(u64)difference * CC_GAIN_ONE <= (u64)params->lt_ratio * bbr->lt_bw ||
		cc_bw_bytes_per_s(conn, difference, CC_GAIN_ONE,
				  100 - params->pacing_margin) <= BBR_LT_DIFF;

	if (bbr->lt_bw && is_equal) {
		bbr->lt_bw = (u32)(((u64)bw + bbr->lt_bw) / 2);
		bbr->lt_is_used = 1;
		bbr->lt_rounds = 0;
		bbr->pacing_gain = CC_GAIN_ONE;
		return;
	}
	bbr->lt_bw = bw;
	bbr_begin_interval(bbr, conn);
}

/* Return true if the interval continues, or a new one begins. */
static u8 bbr_interval_goes_on(const struct bbr_params *params, struct bbr_state *bbr,
			       const struct cc_conn *conn,
			       const struct cc_rate_sample *rate)
{
	if (!bbr->lt_is_sampling) {
		if (!rate->losses_segs)
			return 1;
		bbr_begin_interval(bbr, conn);
		bbr->lt_is_sampling = 1;
	}
	if (bbr->is_round_start && bbr->lt_rounds < 0xff)
		bbr->lt_rounds++;
	if (rate->is_app_limited || bbr->lt_rounds > BBR_LT_LONGEST * params->lt_rounds) {
		bbr_forget_policer(bbr, conn);
		return 1;
	}
	return bbr->lt_rounds < params->lt_rounds || !rate->losses_segs;
}

static void bbr_look_for_policer(const struct bbr_params *params, struct bbr_state *bbr,
				 const struct cc_conn *conn,
				 const struct cc_rate_sample *rate)
{
	u32 lost, delivered, ms;

	if (bbr->lt_is_used) {
		if (bbr->mode == BBR_PROBE_BW && bbr->is_round_start &&
		    ++bbr->lt_rounds >= params->lt_use_rounds) {
			bbr_forget_policer(bbr, conn);
			bbr_begin_cycle(params, bbr, conn);
		}
		return;
	}
	if (!params->lt_use_rounds || bbr_interval_goes_on(params, bbr, conn, rate))
		return;
	lost = (u32)conn->lost_segs - bbr->lt_lost;
	delivered = (u32)conn->delivered_segs - bbr->lt_delivered;
	ms = cc_now_ms(conn) - bbr->lt_ms;
	if (!delivered || (u64)lost * CC_GAIN_ONE < (u64)params->lt_loss * delivered ||
	    (s32)ms < 1)
		return;
	bbr_end_interval(params, bbr, conn,
			 cc_bw_of(delivered, (u64)ms * CC_USEC_PER_MSEC));
}

/* Measurements of an ACK. */

/* Add a sample. It replaces all that are not better. Old ones leave the window. */
static void bbr_keep_bw(struct bbr_state *bbr, u32 bw, u32 window)
{
	struct bbr_sample sample = {bbr->round, bw};
	struct bbr_sample *best = bbr->best;
	u32 age;

	if (bw >= best[0].bw || bbr->round - best[2].round > window) {
		best[0] = best[1] = best[2] = sample;
		return;
	}
	if (bw >= best[1].bw)
		best[1] = best[2] = sample;
	else if (bw >= best[2].bw)
		best[2] = sample;
	age = bbr->round - best[0].round;
	for (u32 i = 0; i < 2 && bbr->round - best[0].round > window; i++) {
		best[0] = best[1];
		best[1] = best[2];
		best[2] = sample;
	}
	/* If there was no better sample for long, the latest becomes the next best. */
	if (age > window)
		return;
	if (best[1].round == best[0].round && age > window / 4)
		best[1] = best[2] = sample;
	else if (best[2].round == best[1].round && age > window / 2)
		best[2] = sample;
}

static void bbr_learn_bw(const struct bbr_params *params, struct bbr_state *bbr,
			 const struct cc_conn *conn, const struct cc_rate_sample *rate)
{
	u32 bw;

	bbr->is_round_start = 0;
	if (!cc_rate_is_valid(rate))
		return;
	if (cc_rate_has_reached(rate, bbr->round_end)) {
		bbr->round_end = (u32)conn->delivered_segs;
		bbr->round++;
		bbr->is_round_start = 1;
		bbr->is_conserving = 0;
	}
	bbr_look_for_policer(params, bbr, conn, rate);
	bw = cc_bw_of(rate->delivered_segs, rate->interval_us);
	if (!rate->is_app_limited || bw >= bbr_max_bw(bbr))
		bbr_keep_bw(bbr, bw, params->bw_window);
}

/* Measure aggregation: segments that ACKs acknowledge beyond the delivery rate. */
static void bbr_learn_aggregation(const struct bbr_params *params, struct bbr_state *bbr,
				  const struct cc_conn *conn,
				  const struct cc_rate_sample *rate)
{
	struct cc_epoch epoch = {bbr->epoch_us, bbr->epoch_segs, 0};

	if (!params->extra_gain || !rate->acked_sacked_segs || !cc_rate_is_valid(rate))
		return;
	if (bbr->is_round_start && ++bbr->extra_rounds >= params->extra_window) {
		bbr->extra_rounds = 0;
		bbr->extra_before = bbr->extra_now;
		bbr->extra_now = 0;
	}
	epoch = cc_epoch_after(epoch, conn, bbr_bw(bbr), rate->acked_sacked_segs);
	bbr->epoch_us = epoch.start_us;
	bbr->epoch_segs = epoch.segs;
	bbr->extra_now = cc_max(bbr->extra_now, epoch.extra);
}

static u8 bbr_is_phase_over(const struct bbr_params *params, const struct bbr_state *bbr,
			    const struct cc_conn *conn, const struct cc_rate_sample *rate)
{
	u8 is_long = bbr_now_us(conn) - bbr->phase_us > bbr->min_rtt_us;
	u32 inflight;

	if (bbr->pacing_gain == CC_GAIN_ONE)
		return is_long;
	inflight = bbr_inflight_then(params, bbr, conn, rate->prior_in_flight_segs);
	if (bbr->pacing_gain > CC_GAIN_ONE)
		return is_long &&
		       (rate->losses_segs ||
			inflight >= bbr_inflight_at(params, bbr, conn, bbr->pacing_gain));
	return is_long || inflight <= bbr_inflight_at(params, bbr, conn, CC_GAIN_ONE);
}

static void bbr_look_for_full_pipe(const struct bbr_params *params, struct bbr_state *bbr,
				   const struct cc_rate_sample *rate)
{
	u64 grown = (u64)bbr->full_bw * params->full_bw_growth / CC_GAIN_ONE;

	if (bbr->is_full || !bbr->is_round_start || rate->is_app_limited)
		return;
	if (bbr_max_bw(bbr) >= grown) {
		bbr->full_bw = bbr_max_bw(bbr);
		bbr->full_bw_rounds = 0;
		return;
	}
	bbr->is_full = ++bbr->full_bw_rounds >= params->full_bw_rounds;
}

static void bbr_drain(const struct bbr_params *params, struct bbr_state *bbr,
		      struct cc_conn *conn)
{
	u32 pipe = bbr_inflight_at(params, bbr, conn, CC_GAIN_ONE);

	if (bbr->mode == BBR_STARTUP && bbr->is_full) {
		bbr->mode = BBR_DRAIN;
		/* Only other code reads it. */
		conn->ssthresh_segs = cc_min(pipe, CC_SSTHRESH_INFINITE);
	}
	if (bbr->mode == BBR_DRAIN &&
	    bbr_inflight_then(params, bbr, conn, conn->in_flight_segs) <= pipe)
		bbr_begin_cycle(params, bbr, conn);
}

/* ProbeRTT. */
static void bbr_end_probe_rtt(const struct bbr_params *params, struct bbr_state *bbr,
			      struct cc_conn *conn)
{
	if (!bbr->is_window_small || !cc_is_past(cc_now_ms(conn), bbr->probe_rtt_end_ms))
		return;
	bbr->min_rtt_ms = cc_now_ms(conn);
	conn->cwnd_segs = cc_max(conn->cwnd_segs, bbr->prior_cwnd);
	if (bbr->is_full)
		bbr_begin_cycle(params, bbr, conn);
	else
		bbr->mode = BBR_STARTUP;
}

static void bbr_probe_rtt(const struct bbr_params *params, struct bbr_state *bbr,
			  struct cc_conn *conn)
{
	cc_distrust_rates(conn);
	if (!bbr->is_window_small && conn->in_flight_segs <= params->min_cwnd) {
		bbr->is_window_small = 1;
		bbr->was_round_small = 0;
		bbr->probe_rtt_end_ms = cc_now_ms(conn) + params->probe_rtt_time;
		bbr->round_end = (u32)conn->delivered_segs;
	} else if (bbr->is_window_small) {
		if (bbr->is_round_start)
			bbr->was_round_small = 1;
		if (bbr->was_round_small)
			bbr_end_probe_rtt(params, bbr, conn);
	}
}

static u8 bbr_is_new_rtt(const struct bbr_params *params, const struct bbr_state *bbr,
			 const struct cc_rate_sample *rate, u8 is_old)
{
	u32 rtt_us = (u32)rate->rtt_us;

	if (rate->rtt_us < 0)
		return 0;
	if (rtt_us < bbr->min_rtt_us || (params->equal_rtt && rtt_us == bbr->min_rtt_us))
		return 1;
	return is_old && !(params->idle_care && rate->is_ack_delayed);
}

static void bbr_learn_rtt(const struct bbr_params *params, struct bbr_state *bbr,
			  struct cc_conn *conn, const struct cc_rate_sample *rate)
{
	u32 now = cc_now_ms(conn);
	u8 is_old = cc_is_past(now, bbr->min_rtt_ms + params->min_rtt_window);

	if (bbr_is_new_rtt(params, bbr, rate, is_old)) {
		bbr->min_rtt_us = (u32)rate->rtt_us;
		bbr->min_rtt_ms = now;
	}
	if (params->probe_rtt_time && is_old && !bbr->is_restarting &&
	    bbr->mode != BBR_PROBE_RTT) {
		bbr->mode = BBR_PROBE_RTT;
		bbr_save_cwnd(bbr, conn);
		bbr->is_window_small = 0;
	}
	if (bbr->mode == BBR_PROBE_RTT)
		bbr_probe_rtt(params, bbr, conn);
	if (rate->delivered_segs > 0)
		bbr->is_restarting = 0;
}

static void bbr_learn(const struct bbr_params *params, struct bbr_state *bbr,
		      struct cc_conn *conn, const struct cc_rate_sample *rate)
{
	bbr_learn_bw(params, bbr, conn, rate);
	bbr_learn_aggregation(params, bbr, conn, rate);
	if (bbr->mode == BBR_PROBE_BW && bbr_is_phase_over(params, bbr, conn, rate))
		bbr_next_phase(params, bbr, conn);
	bbr_look_for_full_pipe(params, bbr, rate);
	bbr_drain(params, bbr, conn);
	bbr_learn_rtt(params, bbr, conn, rate);
	bbr_set_gains(params, bbr);
}

/*
 * The window.
 */

/* Room for the segments that ACKs acknowledge in bursts. */
static u32 bbr_extra_segs(const struct bbr_params *params, const struct bbr_state *bbr)
{
	u32 most = cc_bw_segs(bbr_bw(bbr), params->extra_max * CC_USEC_PER_MSEC);
	u32 extra = cc_max(bbr->extra_now, bbr->extra_before);

	if (!bbr->is_full)
		return 0;
	return cc_min(cc_scale(extra, params->extra_gain, CC_GAIN_ONE), most);
}

/* Handle losses and recoveries; return true if that settles the window. */
static u8 bbr_recover(struct bbr_state *bbr, struct cc_conn *conn,
		      const struct cc_rate_sample *rate)
{
	u32 follows = cc_saturate((u64)conn->in_flight_segs + rate->acked_sacked_segs);
	u32 cwnd = conn->cwnd_segs;

	if (rate->losses_segs)
		cwnd = cwnd > rate->losses_segs ? cwnd - rate->losses_segs : 1;
	if (conn->state == CC_RECOVERY && bbr->last_state != CC_RECOVERY) {
		bbr->is_conserving = 1;
		bbr->round_end = (u32)conn->delivered_segs;
		cwnd = follows;
	} else if (bbr->last_state >= CC_RECOVERY && conn->state < CC_RECOVERY) {
		bbr->is_conserving = 0;
		cwnd = cc_max(cwnd, bbr->prior_cwnd);
	}
	bbr->last_state = conn->state;
	conn->cwnd_segs = bbr->is_conserving ? cc_max(cwnd, follows) : cwnd;
	return bbr->is_conserving;
}

static void bbr_set_cwnd(const struct bbr_params *params, struct bbr_state *bbr,
			 struct cc_conn *conn, const struct cc_rate_sample *rate)
{
	u64 segs = (u64)bbr_bdp(bbr, bbr_bw(bbr), bbr->cwnd_gain) +
		   bbr_extra_segs(params, bbr);
	u32 target = bbr_roomy(params, bbr, conn, segs);
	u32 acked = rate->acked_sacked_segs;

	if (acked && !bbr_recover(bbr, conn, rate)) {
		u32 grown = cc_saturate((u64)conn->cwnd_segs + acked);

		if (bbr->is_full)
			conn->cwnd_segs = cc_min(grown, target);
		else if (conn->cwnd_segs < target ||
			 conn->delivered_segs < BBR_INITIAL_SEGS)
			conn->cwnd_segs = grown;
		conn->cwnd_segs = cc_max(conn->cwnd_segs, params->min_cwnd);
	}
	if (bbr->mode == BBR_PROBE_RTT)
		conn->cwnd_segs = cc_min(conn->cwnd_segs, params->min_cwnd);
	conn->cwnd_segs = cc_clamp(conn->cwnd_segs, 1, cc_max(conn->cwnd_clamp_segs, 1));
}

/*
 * Hooks.
 */
static void bbr_init(const struct bbr_params *params, struct bbr_state *bbr,
		     struct cc_conn *conn)
{
	*bbr = (struct bbr_state){.min_rtt_us = conn->min_rtt_us,
				  .min_rtt_ms = cc_now_ms(conn),
				  .round_end = (u32)conn->delivered_segs,
				  .epoch_us = bbr_now_us(conn)};
	bbr_set_gains(params, bbr);
	bbr_forget_policer(bbr, conn);
	bbr_pace_blindly(params, bbr, conn);
}

static void bbr_cong_control(const struct bbr_params *params, struct bbr_state *bbr,
			     struct cc_conn *conn, const struct cc_rate_sample *rate)
{
	bbr_learn(params, bbr, conn, rate);
	if (!bbr->has_rtt && conn->srtt_us != CC_NO_RTT)
		bbr_pace_blindly(params, bbr, conn);
	bbr_pace(params, bbr, conn, bbr->pacing_gain);
	bbr_set_cwnd(params, bbr, conn, rate);
}

static u32 bbr_ssthresh(const struct bbr_params *params, struct bbr_state *bbr,
			const struct cc_conn *conn)
{
	bbr_save_cwnd(bbr, conn);
	return conn->ssthresh_segs;
}

/* The losses proved spurious. */
static u32 bbr_undo_cwnd(const struct bbr_params *params, struct bbr_state *bbr,
			 const struct cc_conn *conn)
{
	bbr->full_bw = 0;
	bbr->full_bw_rounds = 0;
	bbr_forget_policer(bbr, conn);
	return conn->cwnd_segs;
}

static void bbr_cwnd_event(const struct bbr_params *params, struct bbr_state *bbr,
			   struct cc_conn *conn, u32 event)
{
	if (event != CC_EVENT_TX_START || !conn->app_limited_segs)
		return;
	bbr->is_restarting = 1;
	bbr->epoch_us = bbr_now_us(conn);
	bbr->epoch_segs = 0;
	/* The queue is empty, so neither a burst nor a gap is necessary. */
	if (bbr->mode == BBR_PROBE_BW)
		bbr_pace(params, bbr, conn, CC_GAIN_ONE);
	else if (bbr->mode == BBR_PROBE_RTT && params->idle_care)
		bbr_end_probe_rtt(params, bbr, conn);
}

/* A timeout ends a round trip, and is a loss. */
static void bbr_set_state(const struct bbr_params *params, struct bbr_state *bbr,
			  struct cc_conn *conn, u32 new_state)
{
	struct cc_rate_sample loss = {.losses_segs = 1};

	if (new_state != CC_LOSS)
		return;
	bbr->last_state = CC_LOSS;
	bbr->full_bw = 0;
	bbr->is_round_start = 1;
	bbr_look_for_policer(params, bbr, conn, &loss);
}

static void bbr_info(const struct bbr_params *params, const struct bbr_state *bbr,
		     const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = cc_bw_kbit_per_s(conn, bbr_bw(bbr));
	info->values[1] = bbr->min_rtt_us == CC_NO_RTT ? 0 : bbr->min_rtt_us;
	info->values[2] = bbr->pacing_gain;
	info->values[3] = bbr->mode;
	info->values[4] = bbr->round;
	info->values[5] = bbr->phase;
	info->values[6] = bbr->cwnd_gain;
	info->values[7] = cc_bw_kbit_per_s(conn, bbr_max_bw(bbr));
	info->values[8] = bbr_bdp(bbr, bbr_bw(bbr), CC_GAIN_ONE);
	info->values[9] = bbr_extra_segs(params, bbr);
	info->values[10] = bbr->is_full;
	info->values[11] = cc_bw_kbit_per_s(conn, bbr->full_bw);
	info->values[12] = bbr->full_bw_rounds;
	info->values[13] = bbr->prior_cwnd;
	info->values[14] = bbr->lt_is_used;
	info->values[15] = cc_bw_kbit_per_s(conn, bbr->lt_bw);
}

/* In figures: BBR, #b2182b, square. */
CC_ALGORITHM(
	bbr, .title = "BBR", .family = CC_FAMILY_RATE, .year = 2016,
	.flags = CC_NEEDS_PACING | CC_NEEDS_RANDOM,
	.source = "N. Cardwell, Y. Cheng, C. S. Gunn, S. H. Yeganeh, V. Jacobson, BBR: "
		  "Congestion-Based Congestion Control, ACM Queue 14(5), 2016; Linux",
	.summary = "Sends at the path's rate of delivery, with twice its "
		   "bandwidth-delay product as the window, and probes both in turn.",
	.mode_names = {"startup", "drain", "probe_bw", "probe_rtt"},
	.info_names = {"bw_kbit_per_s", "min_rtt_us", "pacing_gain_x256", "mode", "round",
		       "phase", "cwnd_gain_x256", "max_bw_kbit_per_s", "bdp_segs",
		       "extra_segs", "is_full", "full_bw_kbit_per_s", "full_bw_rounds",
		       "prior_cwnd_segs", "is_policed", "policed_bw_kbit_per_s"});
