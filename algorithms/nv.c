/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * TCP-NV: stop growing where a larger window would add to the queue, not to the
 * throughput.
 *
 * As Vegas does, New Vegas compares the window with that which would fill the path
 * without a queue. It computes the latter from the largest throughput of a round trip.
 * Offloads and bursty ACKs distort this throughput less than single RTTs. A sample of
 * the throughput is the data that was delivered while a segment was in flight, divided
 * by the smoothed RTT. NV decides only when it has enough samples. The largest sample
 * of the round trip is the rate. With the smallest recent smoothed RTT, it gives the
 * window without a queue (slope) and the largest useful one (most):
 *
 *     slope = rate * smallest RTT / MSS
 *     most = slope + pad
 *
 * NV decides once per round trip. If the window is above `most`, a decision needs at
 * least `dec_samples` samples over at least `dec_rounds` round trips. Growth then
 * stops, ssthresh becomes `most`, and the window falls by the share `dec_share` of the
 * excess. If the window is at least `pad_buffer` below `most`, a decision needs
 * `inc_samples` samples, and growth continues. Growth is that of standard TCP times
 * 2^f, where timeouts make f negative. One flow rests with about pad segments in the
 * queue.
 *
 * The smallest RTT is replaced about every 5 s (`reset_period`, times 3/4 to 5/4 at
 * random). It then becomes the smallest RTT since the last replacement. If TCP-BPF
 * sets the RTT of the path, the smallest RTT is limited to between 4/5 of that RTT and
 * that RTT. NV then always notices a queue that raises RTTs above it. The MSS counts
 * the payload alone.
 *
 * Without this limit, a flow alone on a path never lets its queue run empty. The
 * smallest RTT, and with it the queue, then rises by about the pad in each period.
 *
 * NV is for data centres, where an ACK is for few segments. It needs 60 samples to
 * find congestion. If a window causes fewer than 60 ACKs, NV can find it only every
 * few round trips.
 *
 * As in Linux: samples count only in the states Open and Disorder. The smoothed RTT is
 * the mean of the new sample and its former value. The first sample of a connection,
 * and the first one after a reduction, replaces the smallest RTT. A round trip may
 * have a single sample for many segments, because one ACK was for all data that
 * offload sent at once. The smallest useful window then rises by 2 segments, up to 81.
 * The next round trip lasts longer by that window. A timeout halves further growth,
 * down to 2^-8. Each 8 round trips without congestion double it again.
 *
 * Unlike Linux: Linux has a switch that would end growth after a catching-up phase. It
 * is left out here, because nothing in Linux ever sets it.
 */
#include "cc.h"

#define nv_parameters(P)                                                               \
	P(pad, "segments", 10, CC_RANGE(0, 1000000),                                   \
	  "segments by which the window may exceed what the path holds without "       \
	  "congestion",                                                                \
	  "Linux nv_pad")                                                              \
	P(pad_buffer, "segments", 2, CC_RANGE(0, 1000000),                             \
	  "distance below that limit from which on the window may grow again",         \
	  "Linux nv_pad_buffer")                                                       \
	P(reset_period, "s", 5, CC_RANGE(1, 3600),                                     \
	  "mean time after which the smallest RTT is measured again",                  \
	  "Linux nv_reset_period")                                                     \
	P(window_min, "segments", 2, CC_RANGE(2, 1000000),                             \
	  "smallest window after congestion", "Linux nv_min_cwnd")                     \
	P(dec_share, "1/128", 38, CC_RANGE(0, 128),                                    \
	  "part of the excess by which congestion reduces the window",                 \
	  "Linux nv_cong_dec_mult: 30 %")                                              \
	P(ssthresh_factor, "1/8", 8, CC_RANGE(1, 64),                                  \
	  "ssthresh on congestion, relative to the largest window without congestion", \
	  "Linux nv_ssthresh_factor")                                                  \
	P(rtt_weight, "1/256", 128, CC_RANGE(1, 256), "weight of the latest RTT",      \
	  "Linux nv_rtt_factor")                                                       \
	P(kept, "1/1024", 819, CC_RANGE(512, 1024), "part of the window kept on loss", \
	  "Linux nv_loss_dec_factor since 4.15: 0.8")                                  \
	P(growth_losses, "round trips", 8, CC_RANGE(0, 255),                           \
	  "round trips without congestion after which growth slowed by a timeout "     \
	  "doubles; 0: timeouts do not slow it",                                       \
	  "Linux nv_cwnd_growth_rate_neg")                                             \
	P(growth_gains, "round trips", 0, CC_RANGE(0, 255),                            \
	  "round trips without congestion after which growth exceeds standard TCP's "  \
	  "and doubles; 0: never",                                                     \
	  "Linux nv_cwnd_growth_rate_pos")                                             \
	P(dec_samples, "samples", 60, CC_RANGE(1, 255),                                \
	  "samples needed to find congestion", "Linux nv_dec_eval_min_calls")          \
	P(inc_samples, "samples", 20, CC_RANGE(1, 255),                                \
	  "samples needed to find that there is none", "Linux nv_inc_eval_min_calls")  \
	P(ssthresh_samples, "samples", 30, CC_RANGE(1, 255),                           \
	  "samples needed to end the first slow start",                                \
	  "Linux nv_ssthresh_eval_min_calls")                                          \
	P(stop_rounds, "round trips", 10, CC_RANGE(0, 255),                            \
	  "round trips above the largest window without congestion, without enough "   \
	  "samples, after which growth stops",                                         \
	  "Linux nv_stop_rtt_cnt")                                                     \
	P(dec_rounds, "round trips", 2, CC_RANGE(0, 255),                              \
	  "round trips needed to find congestion", "Linux nv_rtt_min_cnt")             \
	P(base_rtt, "us", 0, CC_RANGE(0, 10000000),                                    \
	  "RTT of the path, which limits the smallest RTT; 0: the one that TCP-BPF "   \
	  "sets, if any",                                                              \
	  "Brakmo 2017: 80 us; Linux since 4.15")

#define nv_presets(S)                                                               \
	S("linux-4.14", "Linux 4.8 to 4.14: loss halves", CC_SET(nv, kept, 512))    \
	S("brakmo2017",                                                             \
	  "Brakmo 2017: base RTT of 80 us, set by TCP-BPF; the Linux version that " \
	  "added this keeps 0.8",                                                   \
	  CC_SET(nv, base_rtt, 80), CC_SET(nv, kept, 819))

#define nv_hooks(H)       \
	H(nv, init)       \
	H(nv, ssthresh)   \
	H(nv, cong_avoid) \
	H(nv, pkts_acked) \
	H(nv, set_state)  \
	H(nv, info)

#define NV_RESET_FIRST_MS 2000u
/* The smallest RTT is at least so much of the base RTT. */
#define NV_BASE_LOW 205u
#define NV_BASE_ONE 256u
/* The smallest window in use, and how it grows if offload merges ACKs. */
#define NV_FLOOR_LOW 4u
#define NV_FLOOR_HIGH 81u
#define NV_FLOOR_STEP 2u
#define NV_GROWTH_LOW (-8)
#define NV_GROWTH_HIGH 8
#define NV_SAMPLES_MAX 255u
/* Rates count in 100 bit/s. */
#define NV_RATE_PER_BYTE_PER_US 80000u
/* Longer RTTs (17 s) are cut, so that products fit 64 bits. */
#define NV_RTT_MAX_US (1u << 24)

CC_PARAMS(nv);

struct nv_state {
	u64 rate_max; /* of this evaluation, 100 bit/s */
	u32 rtt_us;   /* smoothed; 0: none */
	u32 rtt_min_us;
	u32 rtt_min_next_us; /* since the last reset; CC_NO_RTT: none */
	u32 reset_ms;	     /* when it is due, modulo 2^32 */
	u32 round_end_seq;
	u32 last_una;
	u32 floor_segs;
	u8 samples;
	u8 rounds;
	u8 may_grow;
	u8 calm_rounds;	    /* decisions in a row without congestion */
	u8 is_stale;	    /* measurements are from before a reduction */
	signed char growth; /* f: growth is 2^f times that of standard TCP */
};

static void nv_restart(struct nv_state *nv, const struct cc_conn *conn)
{
	nv->is_stale = 0;
	nv->rate_max = 0;
	nv->round_end_seq = conn->snd_una;
	nv->last_una = conn->snd_una;
	nv->samples = 0;
	nv->rounds = 0;
	nv->calm_rounds = 0;
	nv->rtt_us = 0;
}

static void nv_init(const struct nv_params *params, struct nv_state *nv,
		    struct cc_conn *conn)
{
	*nv = (struct nv_state){.rtt_min_us = CC_NO_RTT,
				.rtt_min_next_us = CC_NO_RTT,
				.reset_ms = cc_now_ms(conn) + NV_RESET_FIRST_MS,
				.floor_segs = NV_FLOOR_LOW,
				.may_grow = 1};
	nv_restart(nv, conn);
}

static u32 nv_ssthresh(const struct nv_params *params, struct nv_state *nv,
		       const struct cc_conn *conn)
{
	return cc_max(cc_scale(conn->cwnd_segs, params->kept, CC_ONE), CC_CWND_MIN);
}

static void nv_cong_avoid(const struct nv_params *params, struct nv_state *nv,
			  struct cc_conn *conn, u32 acked)
{
	u32 per;

	if (!cc_may_grow(conn) || !nv->may_grow)
		return;
	if (cc_in_slow_start(conn)) {
		acked = cc_slow_start(conn, acked);
		if (!acked)
			return;
	}
	if (nv->growth < 0)
		per = cc_saturate((u64)conn->cwnd_segs << -nv->growth);
	else
		per = cc_max(conn->cwnd_segs >> nv->growth, NV_FLOOR_LOW);
	cc_additive_increase(conn, per, acked);
}

/* The smoothed RTT, bounded, as a sample for the smallest one. */
static u32 nv_bounded_rtt(const struct nv_params *params, const struct cc_conn *conn,
			  u32 rtt_us)
{
	u32 base_us = params->base_rtt ? params->base_rtt : conn->base_rtt_us;

	if (!base_us)
		return rtt_us;
	return cc_clamp(rtt_us, cc_scale(base_us, NV_BASE_LOW, NV_BASE_ONE), base_us);
}

static void nv_track_rtt_min(const struct nv_params *params, struct nv_state *nv,
			     const struct cc_conn *conn)
{
	u32 rtt_us = nv_bounded_rtt(params, conn, nv->rtt_us);
	u32 part = 384 + (conn->random & 0xff);

	nv->rtt_min_us = cc_min(nv->rtt_min_us, rtt_us);
	nv->rtt_min_next_us = cc_min(nv->rtt_min_next_us, rtt_us);
	if ((s32)(cc_now_ms(conn) - nv->reset_ms) < 0)
		return;
	nv->rtt_min_us = nv->rtt_min_next_us;
	nv->rtt_min_next_us = CC_NO_RTT;
	nv->reset_ms = cc_now_ms(conn) + params->reset_period * 1000 * part / 512;
	nv->floor_segs = cc_max(nv->floor_segs / 2, NV_FLOOR_LOW);
}

static void nv_sample_rate(const struct nv_params *params, struct nv_state *nv,
			   const struct cc_ack_sample *sample)
{
	u32 rtt_us = cc_clamp((u32)sample->rtt_us, 1, NV_RTT_MAX_US);
	u64 rate;

	if (nv->rtt_us) {
		nv->rtt_us = (rtt_us * (u64)params->rtt_weight +
			      nv->rtt_us * (u64)(256 - params->rtt_weight)) >>
			     8;
		nv->rtt_us = cc_max(nv->rtt_us, 1);
	} else {
		nv->rtt_us = rtt_us;
		nv->rtt_min_us = 2 * rtt_us;
	}
	rate = (u64)sample->in_flight_bytes * NV_RATE_PER_BYTE_PER_US / nv->rtt_us;
	if (rate > nv->rate_max)
		nv->rate_max = rate;
	if (nv->samples < NV_SAMPLES_MAX)
		nv->samples++;
}

/* Offload merged a window's ACKs, so samples need a larger window. */
static u8 nv_is_merged(const struct nv_state *nv, const struct cc_conn *conn,
		       u32 acked_bytes)
{
	return nv->samples == 1 && nv->floor_segs < NV_FLOOR_HIGH &&
	       acked_bytes >= (u64)(nv->floor_segs - 1) * conn->mss_bytes;
}

/* The largest window that is no congestion. */
static u32 nv_most(const struct nv_params *params, const struct nv_state *nv,
		   const struct cc_conn *conn)
{
	u64 per_seg = (u64)NV_RATE_PER_BYTE_PER_US * cc_max(conn->mss_bytes, 1);

	/* at most 2^48 (a window of 2^32 bytes per us) times 2^25 us */
	if (nv->rate_max > ~0ull / (2 * NV_RTT_MAX_US))
		return CC_SSTHRESH_INFINITE;
	return cc_saturate(nv->rate_max * cc_min(nv->rtt_min_us, 2 * NV_RTT_MAX_US) /
				   per_seg +
			   params->pad);
}

/* Act on congestion; return true if there were enough samples. */
static u8 nv_congested(const struct nv_params *params, struct nv_state *nv,
		       struct cc_conn *conn, u32 most)
{
	u32 excess = conn->cwnd_segs - most;
	u32 fall = cc_max(cc_scale(excess, params->dec_share, 128), 2);

	if (nv->rounds < params->dec_rounds)
		return 0;
	if (conn->ssthresh_segs >= CC_SSTHRESH_INFINITE) {
		if (nv->samples < params->ssthresh_samples)
			return 0;
	} else if (nv->samples < params->dec_samples) {
		if (nv->rounds > params->stop_rounds)
			nv->may_grow = 0;
		return 0;
	}
	nv->may_grow = 0;
	conn->ssthresh_segs =
		cc_min(cc_scale(most, params->ssthresh_factor, 8), CC_SSTHRESH_INFINITE);
	conn->cwnd_segs -= cc_min(fall, excess);
	if (nv->growth > 0)
		nv->growth = 0;
	nv->calm_rounds = 0;
	return 1;
}

/* Act on the absence of congestion; return true if there were enough samples. */
static u8 nv_calm(const struct nv_params *params, struct nv_state *nv)
{
	u32 needed = nv->growth < 0 ? params->growth_losses : params->growth_gains;

	if (nv->samples < params->inc_samples)
		return 0;
	nv->may_grow = 1;
	if (nv->calm_rounds < 255)
		nv->calm_rounds++;
	if (needed && nv->calm_rounds > needed && nv->growth < NV_GROWTH_HIGH) {
		nv->growth++;
		nv->calm_rounds = 0;
	}
	return 1;
}

static void nv_decide(const struct nv_params *params, struct nv_state *nv,
		      struct cc_conn *conn)
{
	u32 most = nv_most(params, nv, conn);
	u8 decided = 0;

	if (conn->cwnd_segs > most)
		decided = nv_congested(params, nv, conn, most);
	else if ((u64)conn->cwnd_segs + params->pad_buffer <= most)
		decided = nv_calm(params, nv);
	if (!decided)
		return;
	nv->samples = 0;
	nv->rounds = 0;
	nv->rate_max = 0;
	conn->cwnd_segs = cc_max(conn->cwnd_segs,
				 cc_min(params->window_min, conn->cwnd_clamp_segs));
}

static void nv_end_round(const struct nv_params *params, struct nv_state *nv,
			 struct cc_conn *conn, u32 acked_bytes)
{
	nv->round_end_seq = conn->snd_nxt;
	if (nv->rounds < 255)
		nv->rounds++;
	if (nv_is_merged(nv, conn, acked_bytes)) {
		nv->floor_segs = cc_min(nv->floor_segs + NV_FLOOR_STEP, NV_FLOOR_HIGH);
		nv->round_end_seq = conn->snd_nxt + nv->floor_segs * conn->mss_bytes;
		nv->samples = 0;
		nv->may_grow = 1;
		return;
	}
	nv_decide(params, nv, conn);
}

static void nv_pkts_acked(const struct nv_params *params, struct nv_state *nv,
			  struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	u32 acked_bytes = conn->snd_una - nv->last_una;

	if (sample->rtt_us < 0 || (conn->state != CC_OPEN && conn->state != CC_DISORDER))
		return;
	nv->last_una = conn->snd_una;
	if (!sample->in_flight_bytes)
		return;
	nv_sample_rate(params, nv, sample);
	nv_track_rtt_min(params, nv, conn);
	if (cc_seq_after(conn->snd_una, nv->round_end_seq))
		nv_end_round(params, nv, conn, acked_bytes);
}

static void nv_set_state(const struct nv_params *params, struct nv_state *nv,
			 struct cc_conn *conn, u32 new_state)
{
	if (new_state == CC_OPEN && nv->is_stale)
		nv_restart(nv, conn);
	if (new_state != CC_LOSS && new_state != CC_CWR && new_state != CC_RECOVERY)
		return;
	nv->is_stale = 1;
	nv->may_grow = 0;
	if (new_state == CC_LOSS) {
		if (nv->growth > 0)
			nv->growth = 0;
		if (params->growth_losses && nv->growth > NV_GROWTH_LOW)
			nv->growth--;
	}
}

static void nv_info(const struct nv_params *params, const struct nv_state *nv,
		    const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = nv->rtt_min_us;
	info->values[1] = nv->rtt_us;
	info->values[2] = nv->samples;
	info->values[3] = nv->may_grow;
}

/* In figures: TCP-NV, #117733, tall. */
CC_ALGORITHM(nv, .title = "TCP-NV", .family = CC_FAMILY_DELAY, .year = 2010,
	     .source = "L. Brakmo, TCP-NV: Congestion Avoidance for Data Centers, Linux "
		       "Plumbers Conference 2010; Linux 4.8",
	     .summary = "Stops growing where the largest throughput of a round trip "
			"shows that a larger window only adds to the queue.",
	     .flags = CC_NEEDS_RATES | CC_NEEDS_RANDOM,
	     .info_names = {"rtt_min_us", "rtt_us", "samples", "may_grow"});
