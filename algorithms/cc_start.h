/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc_start.h - slow starts that a stack can give to any algorithm whose window grows by
 * cong_avoid. The stack calls them around the algorithm's hooks: the simulator natively,
 * the kernel's adapters as BPF.
 *
 *   standard  RFC 5681: a segment for each one acknowledged
 *   limited   RFC 3742: beyond a given window, half of that per round trip at most
 *   hystart   Ha and Rhee 2011, as in Linux (cc_hystart.h)
 *   hystart++ RFC 9406
 *   search    draft-chung-ccwg-search-09
 *   resume    Careful Resume, RFC 9959
 *
 * All except the limited one apply to the initial slow start only, which ends at the
 * first loss or mark. After a timeout, slow start is standard.
 */
#ifndef DUMBBELL_CC_START_H
#define DUMBBELL_CC_START_H

#include "cc_hystart.h"

enum cc_start_kind {
	CC_START_OWN, /* as the algorithm has it */
	CC_START_STANDARD,
	CC_START_LIMITED,
	CC_START_HYSTART,
	CC_START_HYSTART_PP,
	CC_START_SEARCH,
	CC_START_RESUME,
};

struct cc_start_params {
	u32 kind;
	u32 limited_segs; /* max_ssthresh */
	u32 saved_segs;	  /* saved_cwnd */
	u32 saved_rtt_us; /* saved_rtt */
};

/* HyStart, and the smallest RTT of the path for it. */
struct cc_start_hystart {
	struct cc_hystart rounds;
	u32 rtt_min_us; /* 0: none */
};

struct cc_hystart_pp {
	u32 last_us;	/* smallest RTT of the last round; CC_NO_RTT: none */
	u32 current_us; /* of this round */
	u32 samples;
	u32 window_end; /* sequence number */
	u32 baseline_us;
	u8 is_conservative;
	u8 rounds; /* of conservative slow start */
};

/* Bins of a window (W), and further bins to look back if the RTT rises. */
#define CC_SEARCH_WINDOW_BINS 10u
#define CC_SEARCH_EXTRA_BINS 15u
#define CC_SEARCH_ACKED_BINS (CC_SEARCH_WINDOW_BINS + 1)
#define CC_SEARCH_SENT_BINS (CC_SEARCH_ACKED_BINS + CC_SEARCH_EXTRA_BINS)

struct cc_search {
	u64 bin_end_us;
	u32 bin_us; /* length of a bin; 0: no RTT yet */
	u32 index;  /* of the latest bin */
	/* Delivered and sent until the end of each bin, segments modulo 2^32. */
	u32 acked[CC_SEARCH_ACKED_BINS];
	u32 sent[CC_SEARCH_SENT_BINS];
};

enum cc_resume_phase {
	CC_RESUME_RECONNAISSANCE,
	CC_RESUME_UNVALIDATED,
	CC_RESUME_VALIDATING,
	CC_RESUME_RETREAT,
};

struct cc_resume {
	u64 entered_us;	 /* when the unvalidated phase began */
	u64 pipe_origin; /* delivered when PipeSize was 0, modulo 2^64 */
	u64 rate_before; /* pacing before the jump */
	u32 first_seq;	 /* first sent in the unvalidated phase */
	u32 last_seq;	 /* end of the last sent in it */
	u32 initial_end_seq;
	u32 initial_segs; /* IW */
	u8 phase;
	u8 has_initial_end;
};

struct cc_start {
	u32 carry; /* acknowledged segments not yet counted */
	u8 has_begun;
	u8 is_over; /* the initial slow start is */
	union {
		struct cc_start_hystart hystart;
		struct cc_hystart_pp pp;
		struct cc_search search;
		struct cc_resume resume;
	};
};

/* Memory that stacks reserve for it. */
#define CC_START_BYTES 184
_Static_assert(sizeof(struct cc_start) <= CC_START_BYTES, "not what stacks keep");

/* Acknowledged segments divided by `divisor`. The remainder counts at the next ACK. */
static inline u32 cc_start_part(struct cc_start *start, u32 acked, u32 divisor)
{
	u32 segs = cc_saturate((u64)start->carry + acked);

	start->carry = segs % divisor;
	return segs / divisor;
}

/* K = int(cwnd / (0.5 max_ssthresh)), which is 2 at least here (RFC 3742). */
static inline u32 cc_limited_part(const struct cc_start_params *params,
				  struct cc_start *start, const struct cc_conn *conn,
				  u32 acked)
{
	if (conn->cwnd_segs <= params->limited_segs)
		return acked;
	return cc_start_part(start, acked,
			     conn->cwnd_segs / cc_max(params->limited_segs / 2, 1));
}

static inline void cc_start_hystart(struct cc_start *start, struct cc_conn *conn,
				    u32 rtt_us)
{
	struct cc_start_hystart *hystart = &start->hystart;
	struct cc_hystart_options options = {
		.version = CC_HYSTART_US,
		.detect = CC_HYSTART_TRAIN | CC_HYSTART_DELAY,
		.low_window = CC_HYSTART_LOW_WINDOW,
		.ack_delta_us = CC_HYSTART_ACK_DELTA_US,
	};

	if (rtt_us == CC_NO_RTT)
		return;
	rtt_us = cc_max(rtt_us, 1);
	hystart->rtt_min_us =
		hystart->rtt_min_us ? cc_min(hystart->rtt_min_us, rtt_us) : rtt_us;
	cc_hystart_sample(&options, &hystart->rounds, conn, hystart->rtt_min_us, rtt_us);
	start->is_over = hystart->rounds.ended_by != 0;
}

/* Constants of RFC 9406, section 4.3; an ACK counts for L segments unless paced. */
#define CC_HYSTART_PP_L 8u
#define CC_HYSTART_PP_SAMPLES 8u
#define CC_HYSTART_PP_RISE_LOW_US 4000u
#define CC_HYSTART_PP_RISE_HIGH_US 16000u
#define CC_HYSTART_PP_RISE_DIVISOR 8u
#define CC_HYSTART_PP_GROWTH_DIVISOR 4u
#define CC_HYSTART_PP_ROUNDS 5u

static inline u32 cc_hystart_pp_part(struct cc_start *start, const struct cc_conn *conn,
				     u32 acked)
{
	if (!conn->pacing_rate_bytes_per_s)
		acked = cc_min(acked, CC_HYSTART_PP_L);
	if (!start->pp.is_conservative)
		return acked;
	return cc_start_part(start, acked, CC_HYSTART_PP_GROWTH_DIVISOR);
}

/* Begin a round; return true if conservative slow start has lasted long enough. */
static inline u8 cc_hystart_pp_end_round(struct cc_hystart_pp *pp,
					 const struct cc_conn *conn)
{
	if (pp->current_us != CC_NO_RTT)
		pp->last_us = pp->current_us;
	pp->current_us = CC_NO_RTT;
	pp->samples = 0;
	pp->window_end = conn->snd_nxt;
	if (!pp->is_conservative)
		return 0;
	pp->rounds++;
	return pp->rounds >= CC_HYSTART_PP_ROUNDS;
}

/* Slow down if the RTT has risen. Return to full growth if the RTT falls again. */
static inline void cc_hystart_pp_judge(struct cc_start *start)
{
	struct cc_hystart_pp *pp = &start->pp;
	u32 rise = cc_clamp(pp->last_us / CC_HYSTART_PP_RISE_DIVISOR,
			    CC_HYSTART_PP_RISE_LOW_US, CC_HYSTART_PP_RISE_HIGH_US);

	if (pp->last_us == CC_NO_RTT || pp->samples < CC_HYSTART_PP_SAMPLES)
		return;
	if (!pp->is_conservative) {
		if (pp->current_us < cc_saturate((u64)pp->last_us + rise))
			return;
		pp->is_conservative = 1;
		pp->baseline_us = pp->current_us;
		pp->rounds = 0;
	} else if (pp->current_us < pp->baseline_us) {
		pp->is_conservative = 0;
		start->carry = 0;
	}
}

/* RFC 9406, section 4.2, after the window has grown. */
static inline void cc_hystart_pp_ack(struct cc_start *start, struct cc_conn *conn,
				     u32 rtt_us)
{
	struct cc_hystart_pp *pp = &start->pp;

	if (!cc_seq_after(pp->window_end, conn->snd_una) &&
	    cc_hystart_pp_end_round(pp, conn)) {
		conn->ssthresh_segs = conn->cwnd_segs;
		start->is_over = 1;
		return;
	}
	if (rtt_us == CC_NO_RTT)
		return;
	pp->current_us = cc_min(pp->current_us, rtt_us);
	pp->samples++;
	cc_hystart_pp_judge(start);
}

/*
 * SEARCH. A window of WINDOW_SIZE_FACTOR = 3.5 initial RTTs has W = 10 bins. THRESH is 26
 * % of the data that was sent in the window one RTT ago. Slow start ends when the current
 * window delivers less than that data by at least THRESH.
 */
#define CC_SEARCH_BIN_RTT_PERCENT 35u
#define CC_SEARCH_THRESHOLD_PERCENT 26u

static inline u32 cc_search_acked_at(const struct cc_search *search, u32 index)
{
	return search
		->acked[cc_index(index % CC_SEARCH_ACKED_BINS, CC_SEARCH_ACKED_BINS)];
}

static inline u32 cc_search_sent_at(const struct cc_search *search, u32 index)
{
	return search->sent[cc_index(index % CC_SEARCH_SENT_BINS, CC_SEARCH_SENT_BINS)];
}

static inline void cc_search_note(struct cc_search *search, u32 index, u32 acked,
				  u32 sent)
{
	search->acked[cc_index(index % CC_SEARCH_ACKED_BINS, CC_SEARCH_ACKED_BINS)] =
		acked;
	search->sent[cc_index(index % CC_SEARCH_SENT_BINS, CC_SEARCH_SENT_BINS)] = sent;
}

static inline void cc_search_begin(struct cc_search *search, const struct cc_conn *conn,
				   u32 rtt_us)
{
	u32 acked = (u32)conn->delivered_segs;

	search->bin_us = cc_max(cc_scale(rtt_us, CC_SEARCH_BIN_RTT_PERCENT, 100), 1);
	search->bin_end_us = conn->now_us + search->bin_us;
	search->index = 0;
	cc_search_note(search, 0, acked, acked + conn->in_flight_segs);
}

/* End the bins that are over. After a pause longer than a window, none remains valid. */
static inline u8 cc_search_end_bins(struct cc_search *search, const struct cc_conn *conn)
{
	u64 passed = (conn->now_us - search->bin_end_us) / search->bin_us + 1;
	u32 acked = (u32)conn->delivered_segs;
	u32 sent = acked + conn->in_flight_segs;
	u32 acked_before = cc_search_acked_at(search, search->index);
	u32 sent_before = cc_search_sent_at(search, search->index);

	if (passed > CC_SEARCH_WINDOW_BINS) {
		search->bin_us = 0;
		return 0;
	}
	for (u32 skipped = 1; skipped < CC_SEARCH_WINDOW_BINS; skipped++) {
		if (skipped < passed)
			cc_search_note(search, search->index + skipped, acked_before,
				       sent_before);
	}
	search->index += (u32)passed;
	search->bin_end_us += passed * search->bin_us;
	cc_search_note(search, search->index, acked, sent);
	return 1;
}

/* Segments sent in the window that ended an RTT ago, interpolated between two bins. */
static inline u64 cc_search_sent(const struct cc_search *search, u32 end, u32 fraction_us)
{
	u32 begin = end - CC_SEARCH_WINDOW_BINS;
	u32 late = cc_search_sent_at(search, end) - cc_search_sent_at(search, begin);
	u32 early =
		cc_search_sent_at(search, end - 1) - cc_search_sent_at(search, begin - 1);

	return ((u64)late * (search->bin_us - fraction_us) + (u64)early * fraction_us) /
	       search->bin_us;
}

static inline u8 cc_search_is_full(const struct cc_search *search, u32 rtt_us)
{
	u32 index = search->index;
	u32 back = rtt_us / search->bin_us;
	u64 sent, delivered;

	if (back >= CC_SEARCH_EXTRA_BINS || index <= back + CC_SEARCH_WINDOW_BINS)
		return 0;
	delivered = cc_search_acked_at(search, index) -
		    cc_search_acked_at(search, index - CC_SEARCH_WINDOW_BINS);
	sent = cc_search_sent(search, index - back, rtt_us % search->bin_us);
	return sent > delivered &&
	       (sent - delivered) * 100 >= sent * CC_SEARCH_THRESHOLD_PERCENT;
}

static inline void cc_search_ack(struct cc_start *start, struct cc_conn *conn, u32 rtt_us)
{
	struct cc_search *search = &start->search;

	if (rtt_us == CC_NO_RTT)
		return;
	if (!search->bin_us) {
		cc_search_begin(search, conn, rtt_us);
		return;
	}
	if (conn->now_us <= search->bin_end_us || !cc_search_end_bins(search, conn) ||
	    !cc_search_is_full(search, rtt_us))
		return;
	conn->ssthresh_segs = conn->cwnd_segs;
	start->is_over = 1;
}

/*
 * Careful Resume. The jump is to half of the saved window. An RTT of at most half of the
 * saved one, or above ten times that, belongs to another path.
 */
#define CC_RESUME_JUMP_DIVISOR 2u
#define CC_RESUME_RTT_DIVISOR 2u
#define CC_RESUME_RTT_FACTOR 10u
#define CC_RESUME_RETREAT_DIVISOR 2u

static inline u32 cc_resume_pipe(const struct cc_resume *resume,
				 const struct cc_conn *conn)
{
	return cc_saturate(conn->delivered_segs - resume->pipe_origin);
}

static inline void cc_resume_end(struct cc_start *start)
{
	start->is_over = 1;
}

static inline u8 cc_resume_is_other_path(const struct cc_start_params *params,
					 const struct cc_conn *conn)
{
	return conn->min_rtt_us <= params->saved_rtt_us / CC_RESUME_RTT_DIVISOR ||
	       conn->srtt_us > (u64)params->saved_rtt_us * CC_RESUME_RTT_FACTOR;
}

/* Once the first round trip's data is acknowledged, jump now or never. */
static inline void cc_resume_jump(const struct cc_start_params *params,
				  struct cc_start *start, struct cc_conn *conn)
{
	struct cc_resume *resume = &start->resume;
	u32 jump = params->saved_segs / CC_RESUME_JUMP_DIVISOR;

	if (cc_resume_is_other_path(params, conn) || jump <= conn->cwnd_segs) {
		cc_resume_end(start);
		return;
	}
	conn->cwnd_segs = cc_max(cc_min(jump, conn->cwnd_clamp_segs), 1);
	resume->phase = CC_RESUME_UNVALIDATED;
	resume->entered_us = conn->now_us;
	resume->pipe_origin = conn->delivered_segs - conn->in_flight_segs;
	resume->first_seq = conn->snd_nxt;
	resume->rate_before = conn->pacing_rate_bytes_per_s;
}

/* Pace new data: the window in one RTT (RFC 9959, section 3.3). */
static inline void cc_resume_pace(struct cc_conn *conn)
{
	conn->pacing_rate_bytes_per_s = (u64)conn->cwnd_segs * conn->mss_bytes *
					CC_USEC_PER_SEC / cc_max(conn->srtt_us, 1);
}

static inline void cc_resume_validate(struct cc_start *start, struct cc_conn *conn)
{
	struct cc_resume *resume = &start->resume;
	u32 flight = conn->in_flight_segs;
	u32 pipe = cc_resume_pipe(resume, conn);

	conn->pacing_rate_bytes_per_s = resume->rate_before;
	resume->last_seq = conn->snd_nxt;
	if (flight < resume->initial_segs || flight <= pipe) {
		conn->cwnd_segs = cc_max(pipe, resume->initial_segs);
		cc_resume_end(start);
		return;
	}
	conn->cwnd_segs = flight;
	resume->phase = CC_RESUME_VALIDATING;
}

static inline u32 cc_resume_part(const struct cc_start_params *params,
				 struct cc_start *start, struct cc_conn *conn, u32 acked)
{
	struct cc_resume *resume = &start->resume;

	switch (resume->phase) {
	case CC_RESUME_RECONNAISSANCE:
		if (!resume->has_initial_end) {
			resume->has_initial_end = 1;
			resume->initial_end_seq = conn->snd_nxt;
		}
		if (cc_seq_after(resume->initial_end_seq, conn->snd_una) ||
		    !conn->cwnd_limited)
			return acked;
		cc_resume_jump(params, start, conn);
		if (start->is_over)
			return acked;
		cc_resume_pace(conn);
		return 0;
	case CC_RESUME_UNVALIDATED:
		if (cc_seq_after(conn->snd_una, resume->first_seq) ||
		    conn->in_flight_segs >= conn->cwnd_segs ||
		    conn->now_us - resume->entered_us > conn->srtt_us) {
			cc_resume_validate(start, conn);
			return acked;
		}
		cc_resume_pace(conn);
		return 0;
	case CC_RESUME_VALIDATING:
		if (!cc_seq_after(resume->last_seq, conn->snd_una))
			cc_resume_end(start);
		return acked;
	default:
		return acked;
	}
}

/* Safe Retreat: cut the window to half of the capacity that the path has shown. */
static inline u32 cc_resume_cut(struct cc_start *start, const struct cc_conn *conn,
				u32 ssthresh)
{
	struct cc_resume *resume = &start->resume;
	u32 half = cc_resume_pipe(resume, conn) / CC_RESUME_RETREAT_DIVISOR;

	if (resume->phase == CC_RESUME_UNVALIDATED)
		resume->last_seq = conn->snd_nxt;
	else if (resume->phase != CC_RESUME_VALIDATING ||
		 !cc_seq_after(resume->last_seq, conn->snd_una)) {
		cc_resume_end(start);
		return ssthresh;
	}
	resume->phase = CC_RESUME_RETREAT;
	return cc_max(cc_min(ssthresh, half), CC_CWND_MIN);
}

/* Begin at the first ACK. All memory was zero before. */
static inline void cc_start_begin(const struct cc_start_params *params,
				  struct cc_start *start, const struct cc_conn *conn)
{
	start->has_begun = 1;
	switch (params->kind) {
	case CC_START_HYSTART:
		start->hystart.rounds.round_start_us = (u32)conn->now_us;
		start->hystart.rounds.train_end_us = (u32)conn->now_us;
		start->hystart.rounds.round_end_seq = conn->snd_nxt;
		break;
	case CC_START_HYSTART_PP:
		start->pp.last_us = CC_NO_RTT;
		start->pp.current_us = CC_NO_RTT;
		start->pp.window_end = conn->snd_una;
		break;
	case CC_START_RESUME:
		start->resume.initial_segs = conn->cwnd_segs;
		break;
	default:
		break;
	}
}

/* Functions for the stack. The memory of a new connection is zero. */

/* Return true if it sets the window, as after a jump. */
static inline u8 cc_start_holds(const struct cc_start_params *params,
				const struct cc_start *start)
{
	return params->kind == CC_START_RESUME && !start->is_over &&
	       start->resume.phase == CC_RESUME_UNVALIDATED;
}

/* Return true if it must see an ACK that may raise the window. */
static inline u8 cc_start_rules(const struct cc_start_params *params,
				const struct cc_start *start, const struct cc_conn *conn)
{
	if (params->kind == CC_START_LIMITED)
		return cc_in_slow_start(conn);
	return params->kind > CC_START_LIMITED && !start->is_over &&
	       (cc_in_slow_start(conn) || cc_start_holds(params, start));
}

/*
 * Take an ACK that may raise the window. Return the number of acknowledged segments to
 * pass to the algorithm; 0: do not pass the ACK. `rtt_us` is CC_NO_RTT without a sample.
 */
static inline u32 cc_start_part_of(const struct cc_start_params *params,
				   struct cc_start *start, struct cc_conn *conn,
				   u32 acked, u32 rtt_us)
{
	if (!start->has_begun)
		cc_start_begin(params, start, conn);
	switch (params->kind) {
	case CC_START_LIMITED:
		return cc_limited_part(params, start, conn, acked);
	case CC_START_HYSTART:
		cc_start_hystart(start, conn, rtt_us);
		return acked;
	case CC_START_HYSTART_PP:
		return cc_hystart_pp_part(start, conn, acked);
	case CC_START_SEARCH:
		cc_search_ack(start, conn, rtt_us);
		return acked;
	case CC_START_RESUME:
		return cc_resume_part(params, start, conn, acked);
	default:
		return acked;
	}
}

/* Continue after the algorithm has seen the same ACK and the window has grown. */
static inline void cc_start_grown(const struct cc_start_params *params,
				  struct cc_start *start, struct cc_conn *conn,
				  u32 rtt_us)
{
	if (params->kind == CC_START_HYSTART_PP)
		cc_hystart_pp_ack(start, conn, rtt_us);
}

/* Return the slow-start threshold after congestion; `ssthresh` is the algorithm's. */
static inline u32 cc_start_cut(const struct cc_start_params *params,
			       struct cc_start *start, const struct cc_conn *conn,
			       u32 ssthresh)
{
	if (params->kind != CC_START_RESUME) {
		start->is_over = 1;
		return ssthresh;
	}
	return start->is_over ? ssthresh : cc_resume_cut(start, conn, ssthresh);
}

/*
 * Note that a reduction is complete. After a retreat, slow start continues to the amount
 * that was delivered.
 */
static inline void cc_start_repaired(const struct cc_start_params *params,
				     struct cc_start *start, struct cc_conn *conn)
{
	u32 half;

	if (params->kind != CC_START_RESUME || start->is_over ||
	    start->resume.phase != CC_RESUME_RETREAT)
		return;
	half = cc_resume_pipe(&start->resume, conn) / CC_RESUME_RETREAT_DIVISOR;
	conn->ssthresh_segs = cc_max(conn->ssthresh_segs, half);
	cc_resume_end(start);
}

#endif
