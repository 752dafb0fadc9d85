/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * CCPD: a proportional and derivative controller of what bottleneck and path store.
 *
 * Capacity and Congestion Probing plus Derivative is CCP (ccp.c) with another law,
 * computed anew at every ACK, whatever the window was before:
 *
 *     cwnd = Kp (B - x - in flight) + D
 *     D = Kd ((x + in flight) before - (x + in flight) now) / (time between the two ACKs)
 *
 * B is what the path stores, pipe and queue, x what of it is taken by the queue, both in
 * segments. Slow start is that of any TCP, up to ssthresh or the first loss. Loss calls
 * for no adjustment: the window is frozen until it is repaired. The law is printed by
 * Kumazoe et al. 2012, equation 6; the papers on the algorithm itself (Cavendish et al.
 * 2010 and 2011) could not be found. How B, x and the capacity are estimated is our
 * reading, as for CCP:
 *
 *     x = capacity (RTT - smallest RTT)
 *     B = capacity * largest RTT
 *
 * With these, one flow with a pipe of P segments and a queue of Q (B = P + Q) rests, D
 * being 0 there, at
 *
 *     cwnd = Kp B / (1 + Kp)                    if that is less than P
 *     x = (Kp B - (1 + Kp) P) / (1 + 2 Kp)      otherwise
 *
 * so that CCPD(2, Kd) fills the path where Q is P / 2 or more, CCPD(4, Kd) where it is P
 * / 4.
 *
 * Interpretation: `evaluation`. Taken literally, the law is computed once per ACK from
 * what is in flight, and the window that results lets a burst go. From one ACK to the
 * next that answers with the factor -Kp: for Kp above 1 it swings between nothing and
 * everything. By default (transmission) the law is asked before each segment, which may
 * leave while less is in flight than the law gives. That has a closed form, which is the
 * window that we set:
 *
 *     in flight < Kp (B - x - in flight) + D   is   in flight < (Kp (B - x) + D) / (1 +
 * Kp)
 *
 * and no ACK lets more than `burst` segments go beyond it, or twice those that it
 * acknowledges, the growth of slow start, where ACKs stand for many segments. The fixed
 * point is the same.
 *
 * Interpretation: `kd_unit`. Kd is a time, printed without a unit. Of the round ones only
 * microseconds make the two terms comparable: at 1 Gbit/s ACKs are 24 us apart, and a
 * change of two segments gives a D of 333 segments for Kd = 4000; in milliseconds it were
 * 333,000.
 *
 * Interpretation: `d_limit`. D is kept within what is in flight, as the time between two
 * ACKs may be next to nothing. x in it is the latest, not smoothed. The two ACKs are
 * those at which the law is computed, before anything is sent.
 *
 * Interpretation: `capacity`. The authors name capacity estimation, and one of them is an
 * author of CapProbe, the packet pair whose two delays together are the smallest. By
 * default (trains) we look at trains of `train_segs` segments instead of pairs, because
 * an ACK stands for two segments and the clock counts microseconds; each of a train was
 * sent while the one before still waited at the bottleneck, so its ACKs are as far apart
 * as the bottleneck puts them. The estimate is of the link, not of the flow's share of
 * it. With rate, it is the largest rate of ACKs over as many segments, which bursts of
 * ACKs raise, and which sinks to the flow's share where a smaller window has smoothed its
 * bursts. Either is replaced by the best of the last `capacity_window` round trips, for
 * the authors say that it must follow a change of route. At 10 Gbit/s eight segments take
 * 10 us: raise `train_segs` there. `capacity_segs_per_s` is for those who know.
 *
 * Interpretation: `buffer_segs`. B is fixed, or the capacity times the largest RTT that
 * two samples in a row reached (a single long one is a delayed ACK), which after the loss
 * that ends slow start is that of a full queue. Before any loss, in congestion avoidance,
 * it counts at least `rtt_max_guess` of the smallest RTT: a queue of one bandwidth-delay
 * product.
 *
 * Interpretation: `filter`. CCP smooths x over about a round trip, because its answer to
 * x would otherwise swing. Here what comes back through x has the factor -Kp / (1 + Kp),
 * which is damped by itself, and the authors see a "much faster period" than CCP's: off
 * by default.
 *
 * Interpretation: `freeze`. Loss freezes the window, we are told, and where the law
 * already rules, it does. But slow start ends with about twice what path and queue store
 * in flight: frozen, that loses half of all that is sent, recovery after recovery, and
 * the law has never a turn. So at a loss the window falls to what the law gives with
 * nothing else than x and B in it (its fixed point, the closed form above), if that is
 * less, and stays there until the loss is repaired. With `freeze` it stays as it is.
 *
 * Interpretation: a timeout sets ssthresh to half the window and begins slow start, as in
 * any TCP; the law takes over at ssthresh. Until the capacity is known growth is standard
 * TCP's.
 */
#include "cc.h"

#define CCPD_EVALUATION_TRANSMISSION 0
#define CCPD_EVALUATION_ACK 1

#define ccpd_parameters(P)                                                             \
	P(kp, "gain", 4, CC_RANGE(0, 64), "Kp, the proportional gain",                 \
	  "Kumazoe et al. 2012, section IV: 1, 2 and 4")                               \
	P(kd, "kd_unit", 4000, CC_RANGE(0, 100000), "Kd, the derivative gain",         \
	  "Kumazoe et al. 2012, section IV: 1000, 2000 and 4000")                      \
	P(kd_unit, "us", 1, CC_RANGE(1, 1000000), "the time that Kd counts in",        \
	  "interpretation")                                                            \
	P(d_limit, "%", 100, CC_RANGE(0, 10000),                                       \
	  "of what is in flight: the largest derivative term", "interpretation")       \
	P(evaluation, "form", CCPD_EVALUATION_TRANSMISSION, CC_RANGE(0, 1),            \
	  "when the law is computed: 0 before each segment sent, 1 once for each ACK", \
	  "interpretation; 1 is Kumazoe et al. 2012, equation 6, to the letter")       \
	P(freeze, "switch", 0, CC_SWITCH,                                              \
	  "loss leaves the window as it is, in slow start too",                        \
	  "interpretation; 1 is Kumazoe et al. 2012, section III, to the letter")      \
	P(burst, "segments", 8, CC_RANGE(1, 1000000),                                  \
	  "segments that an ACK may let go (evaluation 0), or twice those that it "    \
	  "acknowledges",                                                              \
	  "interpretation")                                                            \
	P(filter, "switch", 0, CC_SWITCH, "smooth the backlog x over a round trip",    \
	  "interpretation")                                                            \
	P(capacity, "estimator", CC_PATH_TRAINS, CC_RANGE(0, 1),                       \
	  "how capacity is estimated: 0 by packet trains, 1 by the largest rate of "   \
	  "ACKs",                                                                      \
	  "interpretation; Kapoor et al. 2004 (CapProbe)")                             \
	P(train_segs, "segments", 8, CC_RANGE(1, 10000),                               \
	  "segments that it is measured over; 1 is a pair of ACKs", "interpretation")  \
	P(capacity_window, "round trips", 10, CC_RANGE(0, 1000000),                    \
	  "after so many an estimate gives way to a newer one; 0: never",              \
	  "interpretation")                                                            \
	P(capacity_segs_per_s, "segments/s", 0, CC_RANGE(0, 1000000000),               \
	  "the capacity, if it is known; 0: estimated", "interpretation")              \
	P(buffer_segs, "segments", 0, CC_RANGE(0, 100000000),                          \
	  "B, what path and queue store, if it is known; 0: estimated",                \
	  "interpretation")                                                            \
	P(rtt_max_guess, "%", 200, CC_RANGE(100, 10000),                               \
	  "of the smallest RTT: what the largest is at least, before the first loss",  \
	  "interpretation")                                                            \
	P(window_min, "segments", 2, CC_RANGE(2, 1000000), "the smallest window",      \
	  "interpretation; RFC 5681")

#define ccpd_presets(S)                                                              \
	S("kumazoe2012",                                                             \
	  "Kumazoe et al. 2012: CCPD(4,4000), best or close to it at 20 and 600 ms", \
	  CC_SET(ccpd, kp, 4), CC_SET(ccpd, kd, 4000))                               \
	S("kumazoe2012-kp1-kd1000", "Kumazoe et al. 2012: CCPD(1,1000)",             \
	  CC_SET(ccpd, kp, 1), CC_SET(ccpd, kd, 1000))                               \
	S("kumazoe2012-kp1-kd2000", "Kumazoe et al. 2012: CCPD(1,2000)",             \
	  CC_SET(ccpd, kp, 1), CC_SET(ccpd, kd, 2000))                               \
	S("kumazoe2012-kp1-kd4000", "Kumazoe et al. 2012: CCPD(1,4000)",             \
	  CC_SET(ccpd, kp, 1), CC_SET(ccpd, kd, 4000))                               \
	S("kumazoe2012-kp2-kd1000", "Kumazoe et al. 2012: CCPD(2,1000)",             \
	  CC_SET(ccpd, kp, 2), CC_SET(ccpd, kd, 1000))                               \
	S("kumazoe2012-kp2-kd2000", "Kumazoe et al. 2012: CCPD(2,2000)",             \
	  CC_SET(ccpd, kp, 2), CC_SET(ccpd, kd, 2000))                               \
	S("kumazoe2012-kp2-kd4000", "Kumazoe et al. 2012: CCPD(2,4000)",             \
	  CC_SET(ccpd, kp, 2), CC_SET(ccpd, kd, 4000))                               \
	S("kumazoe2012-kp4-kd1000", "Kumazoe et al. 2012: CCPD(4,1000)",             \
	  CC_SET(ccpd, kp, 4), CC_SET(ccpd, kd, 1000))                               \
	S("kumazoe2012-kp4-kd2000", "Kumazoe et al. 2012: CCPD(4,2000)",             \
	  CC_SET(ccpd, kp, 4), CC_SET(ccpd, kd, 2000))                               \
	S("kumazoe2012-kp4-kd4000", "Kumazoe et al. 2012: CCPD(4,4000)",             \
	  CC_SET(ccpd, kp, 4), CC_SET(ccpd, kd, 4000))

#define ccpd_hooks(H)       \
	H(ccpd, init)       \
	H(ccpd, ssthresh)   \
	H(ccpd, cong_avoid) \
	H(ccpd, pkts_acked) \
	H(ccpd, set_state)  \
	H(ccpd, info)

CC_PARAMS(ccpd);

struct ccpd_state {
	u64 backlog;  /* x, segments << CC_PATH_SHIFT */
	u64 occupied; /* x and what was in flight when the law was computed last, likewise
		       */
	struct cc_path path;
	u32 law_us; /* when that was */
	u8 was_congested;
};

static void ccpd_init(const struct ccpd_params *params, struct ccpd_state *ccpd,
		      struct cc_conn *conn)
{
	*ccpd = (struct ccpd_state){0};
}

/* B, segments << CC_PATH_SHIFT. */
static u64 ccpd_storage(const struct ccpd_params *params, const struct ccpd_state *ccpd)
{
	u32 rtt_us = ccpd->path.rtt_max_us;

	if (params->buffer_segs)
		return (u64)params->buffer_segs << CC_PATH_SHIFT;
	if (!ccpd->was_congested)
		rtt_us = cc_max(rtt_us, cc_scale(ccpd->path.rtt_min_us,
						 params->rtt_max_guess, 100));
	return cc_path_segs(&ccpd->path, cc_min(rtt_us, CC_PATH_RTT_MAX_US));
}

/* A signed number of segments, << CC_PATH_SHIFT. */
struct ccpd_term {
	u64 size;
	u8 is_negative;
};

/* D, and what the next one starts from. */
static struct ccpd_term ccpd_derivative(const struct ccpd_params *params,
					struct ccpd_state *ccpd,
					const struct cc_conn *conn)
{
	u64 in_flight = (u64)conn->in_flight_segs << CC_PATH_SHIFT;
	u64 most = in_flight * params->d_limit / 100;
	u64 occupied = cc_path_backlog(&ccpd->path) + in_flight;
	u8 grows = occupied > ccpd->occupied;
	u32 change = cc_saturate(grows ? occupied - ccpd->occupied
				       : ccpd->occupied - occupied);
	u64 gain_us = (u64)params->kd * params->kd_unit;
	u32 elapsed_us = cc_max((u32)conn->now_us - ccpd->law_us, 1);
	u32 gain = cc_saturate((gain_us << CC_PATH_SHIFT) / elapsed_us);
	u64 size = (u64)change * gain >> CC_PATH_SHIFT;

	ccpd->occupied = occupied;
	ccpd->law_us = (u32)conn->now_us;
	return (struct ccpd_term){size < most ? size : most, grows};
}

/* What the law says, segments. */
static u32 ccpd_law(const struct ccpd_params *params, struct ccpd_state *ccpd,
		    const struct cc_conn *conn)
{
	struct ccpd_term derivative = ccpd_derivative(params, ccpd, conn);
	u64 storage = ccpd_storage(params, ccpd);
	u64 taken = ccpd->backlog;
	u64 wanted;

	if (params->evaluation == CCPD_EVALUATION_ACK)
		taken += (u64)conn->in_flight_segs << CC_PATH_SHIFT;
	if (derivative.is_negative) {
		wanted = storage > taken ? params->kp * (storage - taken) : 0;
		wanted = wanted > derivative.size ? wanted - derivative.size : 0;
	} else {
		/* The derivative may make up for a negative proportional term. */
		wanted = params->kp * storage + derivative.size;
		wanted = wanted > params->kp * taken ? wanted - params->kp * taken : 0;
	}
	if (params->evaluation == CCPD_EVALUATION_TRANSMISSION)
		wanted /= 1 + params->kp;
	return cc_saturate(wanted >> CC_PATH_SHIFT);
}

/* Frozen where the law rules; slow start's is more than path and queue store. */
static u32 ccpd_ssthresh(const struct ccpd_params *params, struct ccpd_state *ccpd,
			 const struct cc_conn *conn)
{
	u32 window = cc_max(conn->cwnd_segs, CC_CWND_MIN);
	u64 storage, free;

	if (params->freeze)
		return window;
	if (!ccpd->path.best.segs)
		return cc_half_window(conn);
	ccpd->was_congested = 1;
	storage = ccpd_storage(params, ccpd);
	free = storage > ccpd->backlog ? storage - ccpd->backlog : 0;
	free = params->kp * free / (1 + params->kp) >> CC_PATH_SHIFT;
	return cc_clamp(cc_saturate(free), cc_min(params->window_min, window), window);
}

static void ccpd_cong_avoid(const struct ccpd_params *params, struct ccpd_state *ccpd,
			    struct cc_conn *conn, u32 acked)
{
	u32 window;

	if (cc_in_slow_start(conn)) {
		if (cc_may_grow(conn))
			cc_slow_start(conn, acked);
		return;
	}
	if (!ccpd->path.best.segs) {
		if (cc_may_grow(conn))
			cc_additive_increase(conn, conn->cwnd_segs, acked);
		return;
	}
	window = ccpd_law(params, ccpd, conn);
	if (params->evaluation == CCPD_EVALUATION_TRANSMISSION)
		window = cc_without_burst(conn, window, params->burst, acked);
	cc_set_window(conn, cc_max(window, params->window_min));
}

static void ccpd_pkts_acked(const struct ccpd_params *params, struct ccpd_state *ccpd,
			    struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	struct cc_path_options options = {
		.estimator = params->capacity,
		.train_segs = params->train_segs,
		.window_rtts = params->capacity_window,
		.segs_per_s = params->capacity_segs_per_s,
	};

	u64 backlog;

	cc_path_sample(&ccpd->path, &options, conn, sample);
	if (!ccpd->path.rtt_us)
		return;
	backlog = cc_path_backlog(&ccpd->path);
	if (params->filter)
		backlog = cc_path_smoothed(ccpd->backlog, backlog, sample->pkts_acked,
					   conn->in_flight_segs);
	ccpd->backlog = backlog;
}

static void ccpd_set_state(const struct ccpd_params *params, struct ccpd_state *ccpd,
			   struct cc_conn *conn, u32 new_state)
{
	if (new_state >= CC_CWR)
		ccpd->was_congested = 1;
	if (new_state == CC_LOSS)
		conn->ssthresh_segs = cc_max(conn->prior_cwnd_segs / 2, CC_CWND_MIN);
}

static void ccpd_info(const struct ccpd_params *params, const struct ccpd_state *ccpd,
		      const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] =
		cc_saturate(cc_path_segs(&ccpd->path, CC_USEC_PER_SEC) >> CC_PATH_SHIFT);
	info->values[1] = cc_saturate(ccpd_storage(params, ccpd) >> CC_PATH_SHIFT);
	info->values[2] = cc_saturate(ccpd->backlog >> CC_PATH_SHIFT);
	info->values[3] = ccpd->path.rtt_max_us;
}

CC_ALGORITHM(
	ccpd, .title = "CCPD", .family = CC_FAMILY_DELAY, .year = 2011,
	.source =
		"D. Cavendish, H. Kuwahara, K. Kumazoe, M. Tsuru, Y. Oie, TCP Congestion "
		"Avoidance using Proportional plus Derivative Control, INTERNET 2011; "
		"Kumazoe et al. 2012, equation 6",
	.summary = "As CCP, and damps what it does by how fast the path's storage fills.",
	.info_names = {"capacity_segs_per_s", "storage_segs", "backlog_segs",
		       "rtt_max_us"});
