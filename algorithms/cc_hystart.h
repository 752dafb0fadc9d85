/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc_hystart.h - HyStart (Ha and Rhee 2011) as in Linux. It ends slow start when a train
 * of ACKs lasts about half of the RTT, or when the RTT has risen. CUBIC uses it, and so
 * does the stack's slow start for any algorithm (cc_start.h).
 */
#ifndef DUMBBELL_CC_HYSTART_H
#define DUMBBELL_CC_HYSTART_H

#include "cc.h"

enum cc_hystart_version {
	CC_HYSTART_OFF,
	CC_HYSTART_US,		 /* in microseconds (Linux 5.6) */
	CC_HYSTART_MS,		 /* in milliseconds (until 5.4) */
	CC_HYSTART_MS_SIXTEENTH, /* the same at 1/16 of the RTT (3.16) */
};

/* Signals of HyStart. */
#define CC_HYSTART_TRAIN 1u
#define CC_HYSTART_DELAY 2u

/* Linux's values. */
#define CC_HYSTART_LOW_WINDOW 16u
#define CC_HYSTART_ACK_DELTA_US 2000u
/* RTT samples that a round needs before its delay is judged. */
#define CC_HYSTART_SAMPLES 8
#define CC_HYSTART_DELAY_LOW_US 4000u
#define CC_HYSTART_DELAY_HIGH_US 16000u
/* Largest burst that segmentation offload sends as one. */
#define CC_HYSTART_GSO_BYTES_MAX 65536u

struct cc_hystart_options {
	u32 version;
	u32 detect;
	u32 low_window;
	u32 ack_delta_us;
};

struct cc_hystart {
	u32 round_start_us;
	u32 round_end_seq;
	u32 train_end_us; /* last ACK of the train */
	u32 round_rtt_us; /* smallest of the round; 0: none */
	u8 round_samples;
	u8 ended_by; /* what ended slow start, bits of detect */
};

/* Time of this version of HyStart, modulo 2^32. */
static inline u32 cc_hystart_clock(const struct cc_hystart_options *options,
				   const struct cc_conn *conn)
{
	if (options->version == CC_HYSTART_US)
		return (u32)conn->now_us;
	return (u32)(conn->now_us / CC_USEC_PER_MSEC * CC_USEC_PER_MSEC);
}

static inline void cc_hystart_new_round(const struct cc_hystart_options *options,
					struct cc_hystart *hystart,
					const struct cc_conn *conn)
{
	hystart->round_start_us = cc_hystart_clock(options, conn);
	hystart->train_end_us = hystart->round_start_us;
	hystart->round_end_seq = conn->snd_nxt;
	hystart->round_rtt_us = 0;
	hystart->round_samples = 0;
}

/* Longest train of ACKs that is possible without a queue, us. */
static inline u32 cc_hystart_train_max(const struct cc_hystart_options *options,
				       const struct cc_conn *conn, u32 rtt_min_us)
{
	u64 rate = conn->pacing_rate_bytes_per_s;
	u32 percent = conn->cwnd_segs < conn->ssthresh_segs / 2 ? 200 : 120;
	u32 slack = 0;

	if (options->version != CC_HYSTART_US)
		return rtt_min_us / 2;
	/* The rate at which Linux would pace. */
	if (!rate && conn->srtt_us && conn->srtt_us != CC_NO_RTT)
		rate = (u64)conn->mss_bytes * conn->cwnd_segs * CC_USEC_PER_SEC / 100 *
		       percent / conn->srtt_us;
	if (rate)
		slack = cc_min(CC_USEC_PER_MSEC,
			       cc_saturate(4ull * CC_HYSTART_GSO_BYTES_MAX *
					   CC_USEC_PER_SEC / rate));
	slack = cc_saturate((u64)rtt_min_us + slack);
	return conn->pacing_rate_bytes_per_s ? slack : slack / 2;
}

/* Detect a train of ACKs that is longer than possible without a queue. */
static inline u8 cc_hystart_train(const struct cc_hystart_options *options,
				  struct cc_hystart *hystart, const struct cc_conn *conn,
				  u32 rtt_min_us)
{
	u32 now = cc_hystart_clock(options, conn);

	if (now - hystart->train_end_us > options->ack_delta_us)
		return 0;
	hystart->train_end_us = now;
	return now - hystart->round_start_us >
	       cc_hystart_train_max(options, conn, rtt_min_us);
}

/* Detect a smallest RTT of this round that is well above the path's. */
static inline u8 cc_hystart_delay(const struct cc_hystart_options *options,
				  struct cc_hystart *hystart, u32 rtt_min_us, u32 rtt_us)
{
	u32 part = options->version == CC_HYSTART_MS_SIXTEENTH ? 16 : 8;
	u32 rise = cc_clamp(rtt_min_us / part, CC_HYSTART_DELAY_LOW_US,
			    CC_HYSTART_DELAY_HIGH_US);
	u8 judged = hystart->round_samples >= CC_HYSTART_SAMPLES;

	if (!judged || options->version == CC_HYSTART_US)
		hystart->round_rtt_us = hystart->round_rtt_us
						? cc_min(hystart->round_rtt_us, rtt_us)
						: rtt_us;
	if (!judged) {
		hystart->round_samples++;
		return 0;
	}
	return hystart->round_rtt_us > cc_saturate((u64)rtt_min_us + rise);
}

/* Take an RTT sample in slow start; `rtt_min_us` is the smallest so far. */
static inline void cc_hystart_sample(const struct cc_hystart_options *options,
				     struct cc_hystart *hystart, struct cc_conn *conn,
				     u32 rtt_min_us, u32 rtt_us)
{
	/* Since 5.16, rounds also begin while the window is too small for a decision. */
	if (options->version == CC_HYSTART_US &&
	    cc_seq_after(conn->snd_una, hystart->round_end_seq))
		cc_hystart_new_round(options, hystart, conn);
	if (conn->cwnd_segs < options->low_window)
		return;
	if (options->detect & CC_HYSTART_TRAIN &&
	    cc_hystart_train(options, hystart, conn, rtt_min_us))
		hystart->ended_by |= CC_HYSTART_TRAIN;
	if (options->detect & CC_HYSTART_DELAY &&
	    cc_hystart_delay(options, hystart, rtt_min_us, rtt_us))
		hystart->ended_by |= CC_HYSTART_DELAY;
	if (hystart->ended_by)
		conn->ssthresh_segs = conn->cwnd_segs;
}

#endif
