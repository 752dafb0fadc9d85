/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc_path.h - estimates of a path from ACKs: its RTTs, and the capacity of its
 * bottleneck.
 */
#ifndef DUMBBELL_CC_PATH_H
#define DUMBBELL_CC_PATH_H

#include "cc.h"

enum cc_path_estimator {
	/*
	 * Packet trains (CapProbe: Kapoor et al. 2004): the time between the ACKs of
	 * segments that waited one behind the other, where their delays are smallest.
	 */
	CC_PATH_TRAINS,
	CC_PATH_RATE, /* the largest rate of ACKs */
};

/* Longer RTTs (17 s) are cut, so that products fit 64 bits. */
#define CC_PATH_RTT_MAX_US (1u << 24)
/* Bits after the point of numbers of segments. */
#define CC_PATH_SHIFT 10
/* Largest error of the difference between two readings of a microsecond clock. */
#define CC_PATH_CLOCK_US 2u

struct cc_path_options {
	u32 estimator;
	u32 train_segs;	 /* segments that a train or a rate is measured over */
	u32 window_rtts; /* age at which a newer estimate replaces the best; 0: never */
	u32 segs_per_s;	 /* the capacity, if it is known; 0: it is estimated */
};

/* A train: `segs` segments in the time `us`. */
struct cc_path_train {
	u32 segs; /* 0: none */
	u32 us;
	u32 delay_us; /* sum of its first and last segment's RTT */
};

struct cc_path {
	struct cc_path_train best;	  /* the estimate in use */
	struct cc_path_train window_best; /* the best of this window */
	u32 rtt_us;			  /* latest sample; 0: none */
	u32 rtt_min_us;			  /* 0: none */
	u32 rtt_max_us;			  /* that two samples in a row reached */
	u32 sample_us;			  /* time of the latest sample */
	u32 train_start_us;
	u32 train_start_rtt_us;
	u32 train_segs;
	u32 acked_segs; /* by the latest ACK */
	u32 round_end_seq;
	u32 rounds; /* of this window */
};

/* Segments, << CC_PATH_SHIFT, that pass the bottleneck in a time; 0 if it is unknown. */
static inline u64 cc_path_segs(const struct cc_path *path, u32 us)
{
	return path->best.segs
		       ? ((u64)path->best.segs * us << CC_PATH_SHIFT) / path->best.us
		       : 0;
}

static inline u8 cc_path_is_better(const struct cc_path_options *options,
				   const struct cc_path_train *train,
				   const struct cc_path_train *than)
{
	if (!than->segs)
		return 1;
	if (options->estimator == CC_PATH_TRAINS)
		return train->delay_us < than->delay_us;
	return (u64)train->segs * than->us > (u64)than->segs * train->us;
}

/*
 * Return true if a segment was sent while the one before still waited at the bottleneck.
 */
static inline u8 cc_path_waited(const struct cc_path *path, u32 rtt_us, u32 ack_gap_us)
{
	u64 queueing_us =
		path->rtt_us > path->rtt_min_us ? path->rtt_us - path->rtt_min_us : 0;

	/* It was sent later by the time between the ACKs minus the growth of the RTT. */
	return (u64)ack_gap_us + path->rtt_us <= queueing_us + CC_PATH_CLOCK_US + rtt_us;
}

static inline void cc_path_end_train(struct cc_path *path,
				     const struct cc_path_options *options,
				     const struct cc_conn *conn, u32 rtt_us)
{
	u32 us = cc_max((u32)conn->now_us - path->train_start_us, 1);
	struct cc_path_train train = {path->train_segs, us,
				      path->train_start_rtt_us + rtt_us};

	if (cc_path_is_better(options, &train, &path->window_best))
		path->window_best = train;
	if (cc_path_is_better(options, &train, &path->best))
		path->best = train;
}

/* Count round trips. At a window's end, its best train replaces an older one. */
static inline void cc_path_turn(struct cc_path *path,
				const struct cc_path_options *options,
				const struct cc_conn *conn)
{
	if (cc_seq_after(path->round_end_seq, conn->snd_una))
		return;
	path->round_end_seq = conn->snd_nxt;
	path->rounds++;
	if (!options->window_rtts || path->rounds < options->window_rtts)
		return;
	path->rounds = 0;
	if (path->window_best.segs)
		path->best = path->window_best;
	path->window_best.segs = 0;
}

static inline void cc_path_measure(struct cc_path *path,
				   const struct cc_path_options *options,
				   const struct cc_conn *conn, u32 rtt_us)
{
	u32 gap_us = (u32)conn->now_us - path->sample_us;
	u8 is_cut = options->estimator == CC_PATH_TRAINS &&
		    !cc_path_waited(path, rtt_us, gap_us);

	if (path->rtt_us && !is_cut) {
		if (path->train_segs < options->train_segs)
			return;
		cc_path_end_train(path, options, conn, rtt_us);
	}
	path->train_start_us = (u32)conn->now_us;
	path->train_start_rtt_us = rtt_us;
	path->train_segs = 0;
}

/*
 * Return true if an ACK waited for the receiver's timer: it is for one segment, and the
 * one before was for more. Its RTT then looks like that of a segment that waited in a
 * queue.
 */
static inline u8 cc_path_was_delayed(struct cc_path *path, u32 acked_segs)
{
	u8 is_alone = acked_segs == 1 && path->acked_segs > 1;

	path->acked_segs = acked_segs;
	return is_alone;
}

/* Take the sample of an ACK. */
static inline void cc_path_sample(struct cc_path *path,
				  const struct cc_path_options *options,
				  const struct cc_conn *conn,
				  const struct cc_ack_sample *sample)
{
	u32 rtt_us = cc_clamp((u32)sample->rtt_us, 1, CC_PATH_RTT_MAX_US);

	cc_path_turn(path, options, conn);
	if (options->segs_per_s)
		path->best = (struct cc_path_train){.segs = options->segs_per_s,
						    .us = CC_USEC_PER_SEC};
	if (cc_path_was_delayed(path, sample->pkts_acked) || sample->rtt_us <= 0) {
		path->rtt_us = 0;
		return;
	}
	if (!path->rtt_min_us || rtt_us < path->rtt_min_us)
		path->rtt_min_us = rtt_us;
	path->train_segs = cc_saturate((u64)path->train_segs + sample->pkts_acked);
	if (!options->segs_per_s)
		cc_path_measure(path, options, conn, rtt_us);
	/* A single long sample is a delayed ACK. */
	path->rtt_max_us = cc_max(path->rtt_max_us, cc_min(rtt_us, path->rtt_us));
	path->rtt_us = rtt_us;
	path->sample_us = (u32)conn->now_us;
}

/* Segments, << CC_PATH_SHIFT, in the bottleneck's queue by the latest RTT. */
static inline u64 cc_path_backlog(const struct cc_path *path)
{
	u32 rtt_us = cc_max(path->rtt_us, path->rtt_min_us);
	u64 most = (u64)CC_SSTHRESH_INFINITE << CC_PATH_SHIFT;
	u64 segs = cc_path_segs(path, rtt_us - path->rtt_min_us);

	return segs < most ? segs : most;
}

/* One step of a mean over about a round trip, by the acknowledged part of the window. */
static inline u64 cc_path_smoothed(u64 mean, u64 now, u32 acked, u32 in_flight)
{
	/* in 1/2^20: backlogs have 41 bits */
	u64 part = ((u64)acked << 20) / cc_max(cc_max(in_flight, acked), 1);

	return now > mean ? mean + ((now - mean) * part >> 20)
			  : mean - ((mean - now) * part >> 20);
}

#endif
