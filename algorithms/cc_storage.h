/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc_storage.h - windows that depend on the storage B of the path and on its backlog x
 * (CCP and CCPD). B is the data that the path can hold, and x is the data in its queue.
 * The authors leave choices open; ccp.c gives the reasons for ours. Numbers of segments
 * of type u64 are << CC_PATH_SHIFT.
 */
#ifndef DUMBBELL_CC_STORAGE_H
#define DUMBBELL_CC_STORAGE_H

#include "cc_path.h"

enum cc_storage_evaluation {
	CC_STORAGE_AT_TRANSMISSION, /* the law is computed before each segment */
	CC_STORAGE_AT_ACK,	    /* once for each ACK, as written */
	CC_STORAGE_AT_ROUND,	    /* once for each round trip */
};

enum cc_storage_extent {
	CC_STORAGE_OF_PATH,
	CC_STORAGE_OF_QUEUE,
};

/* Parameters of both; `equation` is the number of the law in Kumazoe et al. 2012. */
#define cc_storage_parameters(P, equation, filter_initial)                           \
	P(evaluation, "form", CC_STORAGE_AT_TRANSMISSION, CC_RANGE(0, 2),            \
	  "when the law is computed: 0 before each segment sent, 1 once for each "   \
	  "ACK, 2 once for each round trip",                                         \
	  "interpretation; 1 is Kumazoe et al. 2012, equation " equation             \
	  ", to the letter")                                                         \
	P(beyond_flight, "switch", 0, CC_SWITCH,                                     \
	  "the law gives the segments to add to those in flight, not the window",    \
	  "interpretation")                                                          \
	P(storage, "form", CC_STORAGE_OF_PATH, CC_RANGE(0, 1),                       \
	  "content of B: 0 storage of path and queue, 1 storage of the queue alone", \
	  "interpretation")                                                          \
	P(freeze, "switch", 0, CC_SWITCH,                                            \
	  "loss does not change the window, not even in slow start",                 \
	  "interpretation; 1 is Kumazoe et al. 2012, section III, to the letter")    \
	P(burst, "segments", 8, CC_RANGE(1, 1000000),                                \
	  "most segments that an ACK releases (evaluation 0), or twice those it "    \
	  "acknowledges",                                                            \
	  "interpretation")                                                          \
	P(filter, "switch", filter_initial, CC_SWITCH,                               \
	  "smooth the backlog x over a round trip", "interpretation")                \
	P(capacity, "estimator", CC_PATH_TRAINS, CC_RANGE(0, 1),                     \
	  "how capacity is estimated: 0 by packet trains, 1 by the largest rate of " \
	  "ACKs",                                                                    \
	  "interpretation; Kapoor et al. 2004 (CapProbe)")                           \
	P(train_segs, "segments", 8, CC_RANGE(1, 10000),                             \
	  "segments over which the capacity is measured; 1 is a pair of ACKs",       \
	  "interpretation")                                                          \
	P(capacity_window, "round trips", 10, CC_RANGE(0, 1000000),                  \
	  "age at which a newer estimate replaces an older one; 0: never",           \
	  "interpretation")                                                          \
	P(capacity_segs_per_s, "segments/s", 0, CC_RANGE(0, 1000000000),             \
	  "the capacity, if it is known; 0: estimated", "interpretation")            \
	P(buffer_segs, "segments", 0, CC_RANGE(0, 100000000),                        \
	  "B, the storage of path and queue, if it is known; 0: estimated",          \
	  "interpretation")                                                          \
	P(rtt_max_guess, "%", 200, CC_RANGE(100, 10000),                             \
	  "lower limit of the largest RTT before the first loss, relative to the "   \
	  "smallest RTT",                                                            \
	  "interpretation")                                                          \
	P(window_min, "segments", 2, CC_RANGE(2, 1000000), "the smallest window",    \
	  "interpretation; RFC 5681")

/* Options of both algorithms that are needed after the path was sampled. */
struct cc_storage_options {
	u32 evaluation;
	u32 beyond_flight;
	u32 extent;
	u32 freeze;
	u32 burst;
	u32 buffer_segs;
	u32 rtt_max_guess;
	u32 window_min;
};

#define CC_STORAGE_OPTIONS(params)                                             \
	((struct cc_storage_options){.evaluation = (params)->evaluation,       \
				     .beyond_flight = (params)->beyond_flight, \
				     .extent = (params)->storage,              \
				     .freeze = (params)->freeze,               \
				     .burst = (params)->burst,                 \
				     .buffer_segs = (params)->buffer_segs,     \
				     .rtt_max_guess = (params)->rtt_max_guess, \
				     .window_min = (params)->window_min})

#define CC_STORAGE_PATH(params)                                             \
	((struct cc_path_options){.estimator = (params)->capacity,          \
				  .train_segs = (params)->train_segs,       \
				  .window_rtts = (params)->capacity_window, \
				  .segs_per_s = (params)->capacity_segs_per_s})

struct cc_storage {
	u64 backlog; /* x */
	struct cc_path path;
	u32 round_end_seq;
	u8 has_ruled; /* round_end_seq is set */
	u8 was_congested;
};

static inline u8 cc_storage_at_transmission(const struct cc_storage_options *options)
{
	return options->evaluation == CC_STORAGE_AT_TRANSMISSION;
}

/* B */
static inline u64 cc_storage_size(const struct cc_storage *storage,
				  const struct cc_storage_options *options)
{
	u32 rtt_us = storage->path.rtt_max_us;

	if (options->buffer_segs)
		return (u64)options->buffer_segs << CC_PATH_SHIFT;
	if (!storage->was_congested)
		rtt_us = cc_max(rtt_us, cc_scale(storage->path.rtt_min_us,
						 options->rtt_max_guess, 100));
	if (options->extent == CC_STORAGE_OF_QUEUE)
		rtt_us -= storage->path.rtt_min_us;
	return cc_path_segs(&storage->path, cc_min(rtt_us, CC_PATH_RTT_MAX_US));
}

/* B - x */
static inline u64 cc_storage_free(const struct cc_storage *storage,
				  const struct cc_storage_options *options)
{
	u64 size = cc_storage_size(storage, options);

	return size > storage->backlog ? size - storage->backlog : 0;
}

/*
 * Window after a loss. It stays frozen if the law had set it. The window of slow start is
 * larger than path and queue can store, so it falls to `rest_segs`, the law's equilibrium
 * with the current B and x.
 */
static inline u32 cc_storage_after_loss(const struct cc_storage *storage,
					const struct cc_storage_options *options,
					const struct cc_conn *conn, u64 rest_segs)
{
	u32 window = cc_max(conn->cwnd_segs, CC_CWND_MIN);

	if (options->freeze)
		return window;
	if (!storage->path.best.segs)
		return cc_half_window(conn);
	return cc_clamp(cc_saturate(rest_segs), cc_min(options->window_min, window),
			window);
}

/* Return true if the law is due: at the first ACK of each round trip, or at any. */
static inline u8 cc_storage_is_due(struct cc_storage *storage,
				   const struct cc_storage_options *options,
				   const struct cc_conn *conn)
{
	if (options->evaluation != CC_STORAGE_AT_ROUND)
		return 1;
	if (storage->has_ruled && cc_seq_after(storage->round_end_seq, conn->snd_una))
		return 0;
	storage->has_ruled = 1;
	storage->round_end_seq = conn->snd_nxt;
	return 1;
}

/*
 * Return true if the law sets the window at this ACK. Until the law applies, the window
 * grows as that of standard TCP.
 */
static inline u8 cc_storage_rules(struct cc_storage *storage,
				  const struct cc_storage_options *options,
				  struct cc_conn *conn, u32 acked)
{
	u8 is_slow_start = cc_in_slow_start(conn);

	if (!is_slow_start && storage->path.best.segs)
		return cc_storage_is_due(storage, options, conn);
	if (!cc_may_grow(conn))
		return 0;
	if (is_slow_start)
		cc_slow_start(conn, acked);
	else
		cc_additive_increase(conn, conn->cwnd_segs, acked);
	return 0;
}

/*
 * Cut a window so that this ACK releases at most `burst` segments, or twice those that it
 * acknowledges.
 */
static inline u32 cc_storage_without_burst(const struct cc_conn *conn, u32 window,
					   u32 burst, u32 acked)
{
	u64 most = 2ull * acked > burst ? 2ull * acked : burst;

	return cc_min(window, cc_saturate(conn->in_flight_segs + most));
}

static inline void cc_storage_set_window(const struct cc_storage_options *options,
					 struct cc_conn *conn, u32 window, u32 acked)
{
	if (cc_storage_at_transmission(options))
		window = cc_storage_without_burst(conn, window, options->burst, acked);
	cc_set_window(conn, cc_max(window, options->window_min));
}

/* For pkts_acked. */
static inline void cc_storage_sample(struct cc_storage *storage,
				     const struct cc_path_options *options, u32 smooths,
				     const struct cc_conn *conn,
				     const struct cc_ack_sample *sample)
{
	u64 backlog;

	cc_path_sample(&storage->path, options, conn, sample);
	if (!storage->path.rtt_us)
		return;
	backlog = cc_path_backlog(&storage->path);
	if (smooths)
		backlog = cc_path_smoothed(storage->backlog, backlog, sample->pkts_acked,
					   conn->in_flight_segs);
	storage->backlog = backlog;
}

/* For set_state. */
static inline void cc_storage_state(struct cc_storage *storage, struct cc_conn *conn,
				    u32 new_state)
{
	if (new_state >= CC_CWR)
		storage->was_congested = 1;
	if (new_state == CC_LOSS)
		conn->ssthresh_segs = cc_max(conn->prior_cwnd_segs / 2, CC_CWND_MIN);
}

#define CC_STORAGE_INFO \
	{"capacity_segs_per_s", "storage_segs", "backlog_segs", "rtt_max_us"}

/* For info. */
static inline void cc_storage_info(const struct cc_storage *storage,
				   const struct cc_storage_options *options,
				   struct cc_info *info)
{
	u64 per_s = cc_path_segs(&storage->path, CC_USEC_PER_SEC);

	info->values[0] = cc_saturate(per_s >> CC_PATH_SHIFT);
	info->values[1] = cc_saturate(cc_storage_size(storage, options) >> CC_PATH_SHIFT);
	info->values[2] = cc_saturate(storage->backlog >> CC_PATH_SHIFT);
	info->values[3] = storage->path.rtt_max_us;
}

#endif
