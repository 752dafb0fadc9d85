/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Vegas: keep a few own segments in the queues, and no more.
 *
 * Once per round trip Vegas estimates how many of its segments wait in queues:
 *
 *     diff = cwnd (rtt - base_rtt) / base_rtt
 *
 * Here rtt is the smallest RTT of the round trip, and base_rtt the smallest ever. If
 * diff is below alpha, the window grows by a segment. If diff is above beta, it
 * shrinks by one. Between alpha and beta it does not change. Slow start ends when diff
 * exceeds gamma, with
 *
 *     cwnd = cwnd base_rtt / rtt + 1
 *
 * This window would just fill the path if rtt were the RTT of the whole window. But
 * the smallest RTT of the round trip is that of its first segments, when the window
 * was half as large. With a deep queue, slow start therefore ends with several times
 * the window that fills the path. The window then falls by one segment per round trip.
 * Loss halves the window.
 *
 * As in Linux: only the smallest RTT of a round trip counts. In a round trip with
 * fewer than three samples, Vegas grows as standard TCP. Vegas is standard TCP
 * wherever the connection is not in the state Open. It forgets the RTT of the path
 * when the connection was idle. Vegas grows even if the application limits sending.
 * All numbers are whole segments.
 *
 * Until 2.6.27 Linux used n instead of the window: the segments in flight when the
 * round trip began, counted in half segments (round_window):
 *
 *     diff = n - n base_rtt / rtt
 *
 * A diff above gamma then ends slow start with the window n base_rtt / rtt + 1, so
 * that a deep queue is left nearly empty. After each loss the same happens once more,
 * at any window. Otherwise the window moves by a segment towards a target. The target
 * is the window at the beginning of the round trip, plus one if diff is below alpha,
 * and minus one if diff is above beta. The ssthresh does not follow the window.
 *
 * Unlike the paper: slow start doubles the window every round trip, not every other
 * one. The stack finds and repairs losses.
 */
#include "cc_watch.h"

#define vegas_parameters(P)                                                            \
	P(alpha, "segments", 2, CC_RANGE(0, 1000000),                                  \
	  "backlog below which the window grows", "Linux; Brakmo and Peterson 1995")   \
	P(beta, "segments", 4, CC_RANGE(0, 1000000), "backlog above which it shrinks", \
	  "Linux; Brakmo and Peterson 1995")                                           \
	P(gamma, "segments", 1, CC_RANGE(0, 1000000), "backlog that ends slow start",  \
	  "Linux; Brakmo and Peterson 1995")                                           \
	P(round_window, "switch", 0, CC_SWITCH,                                        \
	  "estimate the backlog from what was sent in the round trip, not from the "   \
	  "window at its end",                                                         \
	  "Linux until 2.6.27")

#define vegas_presets(S)                                                              \
	S("linux-2.6.26",                                                             \
	  "Linux 2.6.26: estimates the backlog from what was sent in the round trip", \
	  CC_SET(vegas, round_window, 1))

#define vegas_hooks(H)       \
	H(vegas, init)       \
	H(vegas, ssthresh)   \
	H(vegas, cong_avoid) \
	H(vegas, pkts_acked) \
	H(vegas, cwnd_event) \
	H(vegas, set_state)  \
	H(vegas, info)

CC_PARAMS(vegas);

struct vegas_state {
	struct cc_watch watch;
	u32 diff;      /* segments, as of the last round trip */
	u32 begin_seq; /* of the segments sent in this round trip */
	u32 begin_cwnd;
};

static void vegas_init(const struct vegas_params *params, struct vegas_state *vegas,
		       struct cc_conn *conn)
{
	*vegas = (struct vegas_state){.begin_seq = conn->snd_una,
				      .begin_cwnd = conn->cwnd_segs};
	cc_watch_start(&vegas->watch, conn);
}

static u32 vegas_ssthresh(const struct vegas_params *params, struct vegas_state *vegas,
			  const struct cc_conn *conn)
{
	return cc_half_window(conn);
}

static void vegas_avoid(const struct vegas_params *params,
			const struct vegas_state *vegas, struct cc_conn *conn)
{
	if (vegas->diff > params->beta)
		cc_set_window(conn, cc_max(conn->cwnd_segs - 1, CC_CWND_MIN));
	else if (vegas->diff < params->alpha)
		cc_grow(conn, 1);
}

/* Act on the measurements of a round trip. */
static void vegas_judge(const struct vegas_params *params, struct vegas_state *vegas,
			struct cc_conn *conn, u32 acked)
{
	u32 cwnd = conn->cwnd_segs;
	u32 base_us = vegas->watch.base_us;
	u32 rtt_us = vegas->watch.round_us;
	u32 fitting = cc_scale(cwnd, base_us, rtt_us);

	vegas->diff = cc_scale(cwnd, rtt_us - base_us, base_us);
	if (!cc_in_slow_start(conn))
		vegas_avoid(params, vegas, conn);
	else if (vegas->diff > params->gamma)
		cc_set_window(conn, cc_max(cc_min(cwnd, fitting + 1), CC_CWND_MIN));
	else
		cc_slow_start(conn, acked);
	/*
	 * Slow start after an idle time may then regain at least three quarters of the
	 * window.
	 */
	conn->ssthresh_segs =
		cc_max(conn->ssthresh_segs, conn->cwnd_segs / 2 + conn->cwnd_segs / 4);
}

/* The same as in Linux until 2.6.27. At the beginning, `sent` segments were in flight. */
static void vegas_judge_round(const struct vegas_params *params,
			      struct vegas_state *vegas, struct cc_conn *conn, u32 acked,
			      u32 sent)
{
	u32 halves = cc_saturate(2ull * sent);
	u32 fitting = cc_scale(halves, vegas->watch.base_us, vegas->watch.round_us);
	u64 diff = halves - fitting;
	u32 aim = vegas->begin_cwnd;

	vegas->diff = (u32)(diff / 2);
	if (diff > 2ull * params->gamma && conn->ssthresh_segs > CC_CWND_MIN) {
		conn->ssthresh_segs = CC_CWND_MIN;
		conn->cwnd_segs = cc_min(conn->cwnd_segs, fitting / 2 + 1);
	} else if (cc_in_slow_start(conn)) {
		cc_slow_start(conn, acked);
	} else {
		aim = diff > 2ull * params->beta    ? aim - 1
		      : diff < 2ull * params->alpha ? aim + 1
						    : aim;
		if (conn->cwnd_segs > aim)
			conn->cwnd_segs--;
		else if (conn->cwnd_segs < aim)
			cc_grow(conn, 1);
	}
	conn->cwnd_segs = cc_max(conn->cwnd_segs, CC_CWND_MIN);
}

/* A round trip with enough samples is over. */
static void vegas_act(const struct vegas_params *params, struct vegas_state *vegas,
		      struct cc_conn *conn, u32 acked)
{
	u32 bytes = vegas->watch.round_end_seq - vegas->begin_seq;

	if (params->round_window)
		vegas_judge_round(params, vegas, conn, acked,
				  bytes / cc_max(conn->mss_bytes, 1));
	else
		vegas_judge(params, vegas, conn, acked);
}

static void vegas_cong_avoid(const struct vegas_params *params, struct vegas_state *vegas,
			     struct cc_conn *conn, u32 acked)
{
	u32 cwnd;

	if (!vegas->watch.is_on) {
		cc_standard_growth(conn, acked);
		return;
	}
	if (!cc_watch_round_is_over(&vegas->watch, conn)) {
		if (cc_in_slow_start(conn))
			cc_slow_start(conn, acked);
		return;
	}
	cwnd = conn->cwnd_segs;
	if (cc_watch_can_tell(&vegas->watch))
		vegas_act(params, vegas, conn, acked);
	else
		cc_standard_growth(conn, acked);
	vegas->begin_seq = vegas->watch.round_end_seq;
	vegas->begin_cwnd = cwnd;
	cc_watch_round(&vegas->watch, conn);
}

static void vegas_pkts_acked(const struct vegas_params *params, struct vegas_state *vegas,
			     struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	cc_watch_rtt(&vegas->watch, sample);
}

static void vegas_cwnd_event(const struct vegas_params *params, struct vegas_state *vegas,
			     struct cc_conn *conn, u32 event)
{
	cc_watch_event(&vegas->watch, conn, event);
}

static void vegas_set_state(const struct vegas_params *params, struct vegas_state *vegas,
			    struct cc_conn *conn, u32 new_state)
{
	cc_watch_state(&vegas->watch, conn, new_state);
}

static void vegas_info(const struct vegas_params *params, const struct vegas_state *vegas,
		       const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = vegas->diff;
	info->values[1] = cc_watch_base_us(&vegas->watch);
}

/* In figures: Vegas, #999933, dome. */
CC_ALGORITHM(vegas, .title = "TCP Vegas", .family = CC_FAMILY_DELAY, .year = 1994,
	     .flags = CC_RENOS_BOUND,
	     .source =
		     "L. Brakmo, L. Peterson, TCP Vegas: End to End Congestion Avoidance "
		     "on a Global Internet, IEEE JSAC 13(8), 1995",
	     .summary = "Keeps two to four own segments in the queue, measured by the "
			"RTT.",
	     .info_names = {"diff_segs", "base_rtt_us"});
