/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * CCP: a proportional controller of the data that path and bottleneck store.
 *
 * Capacity and Congestion Probing computes the window again at every ACK, regardless
 * of its previous value:
 *
 *     cwnd = (Kp (B - x) - in flight) / 2
 *
 * B is the number of segments that the path can store, in pipe and queue together. The
 * backlog x is the number of segments in the queue. Slow start is that of any TCP, up
 * to ssthresh or the first loss. Loss needs no adjustment: the window is frozen until
 * the loss is repaired. Kumazoe et al. 2012 print the law as equation 5. We could not
 * find the papers on the algorithm itself (Cavendish et al. 2010 and 2011). The
 * estimates of B, x and the capacity are therefore our interpretation of the text of
 * Kumazoe et al., and of the titles of those papers:
 *
 *     x = capacity (RTT - smallest RTT)
 *     B = capacity * largest RTT
 *
 * With these, one flow with a pipe of D segments and a queue of Q (B = D + Q) rests at
 *
 *     cwnd = Kp B / 3                           if that is less than D
 *     x = (Kp B - 3 D) / (3 + Kp)               otherwise
 *
 * CCP(Kp) is CCP with that gain. CCP(1) thus fills the path if Q is 2 D or more, and
 * CCP(2) if Q is D / 2 or more. CCP(4) fills every path, but has permanent loss if Q
 * is less than D / 3.
 *
 * Interpretation: `evaluation`. Taken literally, the law is computed once per ACK from
 * the data in flight. The resulting window releases a burst. After the burst more is
 * in flight, so the law would result in a smaller window. By default (transmission)
 * the law is computed before each segment. The segment may leave if less is in flight
 * than the law allows. This rule has a closed form, and we set the window to it:
 *
 *     in flight < (Kp (B - x) - in flight) / 2   is   in flight < Kp (B - x) / 3
 * An ACK releases at most `burst` segments, or twice those that it acknowledges if
 * that is more, as in slow start. The fixed point is that of the literal law. The
 * literal window oscillates from ACK to ACK, and that of CCPD oscillates until nothing
 * but loss is left.
 *
 * With evaluation 2 the law is computed once per round trip, and its window stays
 * until the next one. The division by 2 in the law then results in the paper's
 * "dampened oscillation".
 *
 * Interpretation: `beyond_flight`. The paper prints the result of the law as the
 * window. In earlier work of its authors (Cavendish, Gerla, Mascolo 2004), the output
 * of a controller is the data that may be sent in addition to the data in flight. With
 * beyond_flight, the data in flight is therefore added to the result of the law. The
 * minus of equation 5 then becomes a plus,
 *
 *     cwnd = (Kp (B - x) + in flight) / 2
 * and the window rests at Kp (B - x). CCP(1) then fills half of the queue, on any
 * path.
 *
 * Interpretation: `storage`. The paper's sentence on B mentions a "storage capacity of
 * the path", which is pipe and queue. It also mentions a "virtual buffer size", which
 * is the queue alone. With storage 1, B is the latter:
 *
 *     B = capacity (largest RTT - smallest RTT)
 *
 * Interpretation: `capacity`. The authors mention capacity estimation. One of them is
 * an author of CapProbe, which uses the packet pair with the smallest sum of its two
 * delays. By default (trains) we use trains of `train_segs` segments instead of pairs,
 * because an ACK acknowledges two segments and the clock counts microseconds. Each
 * segment of a train was sent while the one before still waited at the bottleneck. The
 * ACKs of a train therefore have the spacing that the bottleneck gave to the segments.
 * An ACK that waited for the receiver's timer ends a train. The estimate is the
 * capacity of the link, not the flow's share of it.
 *
 * Interpretation: with capacity 1 (rate), the estimate is the largest rate of ACKs
 * over `train_segs` segments. Bursts of ACKs raise it. If a smaller window has
 * smoothed the flow's bursts, it falls to the flow's share of the link. Either
 * estimate is replaced by the best of the last `capacity_window` round trips, because
 * the authors require that the estimate follows a change of route. At 10 Gbit/s eight
 * segments take 10 us, so raise `train_segs` there. Set `capacity_segs_per_s` if the
 * capacity is known.
 *
 * Interpretation: `buffer_segs`. If this parameter is set, B has its value. Otherwise
 * B is the capacity times the largest RTT that two consecutive samples reached. (A
 * single long RTT is a delayed ACK.) After the loss that ends slow start, this is the
 * RTT of a full queue. Before any loss, in congestion avoidance, the largest RTT is
 * assumed to be at least `rtt_max_guess` of the smallest RTT. The default of 200 %
 * means a queue of one bandwidth-delay product.
 *
 * Interpretation: `filter`. The backlog x is smoothed over about a round trip:
 *
 *     x += (x now - x) acknowledged / in flight
 * A change of the window changes x a round trip later, and the law answers with the
 * factor -Kp / 3. Without the filter, the window of CCP(4) would therefore oscillate
 * forever. The authors see "dampened oscillation", so the filter is on by default.
 *
 * Interpretation: `freeze`. The authors write that loss freezes the window. While the
 * law sets the window, loss does so here, too. However, at the end of slow start about
 * twice the storage of path and queue is in flight. A window frozen there would lose
 * half of all data sent, in one recovery after another, and the law would never apply.
 * At a loss the window therefore falls to the law's fixed point, the closed form
 * above, if that is less. It stays there until the loss is repaired. With `freeze` the
 * window never falls.
 *
 * Interpretation: a timeout sets ssthresh to half the window and begins slow start, as
 * in any TCP. The law takes over at ssthresh. Until the capacity is known, the window
 * grows as that of standard TCP.
 */
#include "cc_storage.h"

#define ccp_parameters(P)                                              \
	P(kp, "gain", 4, CC_RANGE(0, 64), "Kp, the proportional gain", \
	  "Kumazoe et al. 2012, section IV: 1, 2 and 4")               \
	cc_storage_parameters(P, "5", 1)

#define ccp_presets(S)                                                               \
	S("kumazoe2012", "Kumazoe et al. 2012: CCP(4), best of the three at 200 ms", \
	  CC_SET(ccp, kp, 4))                                                        \
	S("kumazoe2012-kp1", "Kumazoe et al. 2012: CCP(1)", CC_SET(ccp, kp, 1))      \
	S("kumazoe2012-kp2", "Kumazoe et al. 2012: CCP(2)", CC_SET(ccp, kp, 2))      \
	S("kumazoe2012-kp4", "Kumazoe et al. 2012: CCP(4)", CC_SET(ccp, kp, 4))

#define ccp_hooks(H)       \
	H(ccp, init)       \
	H(ccp, ssthresh)   \
	H(ccp, cong_avoid) \
	H(ccp, pkts_acked) \
	H(ccp, set_state)  \
	H(ccp, info)

CC_PARAMS(ccp);

struct ccp_state {
	struct cc_storage storage;
};

static void ccp_init(const struct ccp_params *params, struct ccp_state *ccp,
		     struct cc_conn *conn)
{
	*ccp = (struct ccp_state){0};
}

/* Kp (B - x), segments. */
static u64 ccp_target(const struct ccp_params *params, const struct ccp_state *ccp,
		      const struct cc_storage_options *options)
{
	return params->kp * cc_storage_free(&ccp->storage, options) >> CC_PATH_SHIFT;
}

/* Window at which the law equals the data in flight, segments. */
static u64 ccp_rest(const struct ccp_params *params, const struct ccp_state *ccp,
		    const struct cc_storage_options *options)
{
	return ccp_target(params, ccp, options) / (options->beyond_flight ? 1 : 3);
}

/* Result of the law, segments. */
static u64 ccp_law(const struct ccp_params *params, const struct ccp_state *ccp,
		   const struct cc_storage_options *options, u32 in_flight_segs)
{
	u64 target = ccp_target(params, ccp, options);

	if (cc_storage_at_transmission(options))
		return ccp_rest(params, ccp, options);
	if (options->beyond_flight)
		return (target + in_flight_segs) / 2;
	return target > in_flight_segs ? (target - in_flight_segs) / 2 : 0;
}

static u32 ccp_ssthresh(const struct ccp_params *params, struct ccp_state *ccp,
			const struct cc_conn *conn)
{
	struct cc_storage_options options = CC_STORAGE_OPTIONS(params);

	ccp->storage.was_congested = 1;
	return cc_storage_after_loss(&ccp->storage, &options, conn,
				     ccp_rest(params, ccp, &options));
}

static void ccp_cong_avoid(const struct ccp_params *params, struct ccp_state *ccp,
			   struct cc_conn *conn, u32 acked)
{
	struct cc_storage_options options = CC_STORAGE_OPTIONS(params);
	u64 window;

	if (!cc_storage_rules(&ccp->storage, &options, conn, acked))
		return;
	window = ccp_law(params, ccp, &options, conn->in_flight_segs);
	cc_storage_set_window(&options, conn, cc_saturate(window), acked);
}

static void ccp_pkts_acked(const struct ccp_params *params, struct ccp_state *ccp,
			   struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	struct cc_path_options options = CC_STORAGE_PATH(params);

	cc_storage_sample(&ccp->storage, &options, params->filter, conn, sample);
}

static void ccp_set_state(const struct ccp_params *params, struct ccp_state *ccp,
			  struct cc_conn *conn, u32 new_state)
{
	cc_storage_state(&ccp->storage, conn, new_state);
}

static void ccp_info(const struct ccp_params *params, const struct ccp_state *ccp,
		     const struct cc_conn *conn, struct cc_info *info)
{
	struct cc_storage_options options = CC_STORAGE_OPTIONS(params);

	cc_storage_info(&ccp->storage, &options, info);
}

/* In figures: CCP, #3f5d2a, arrowhead. */
CC_ALGORITHM(ccp, .title = "CCP", .family = CC_FAMILY_DELAY, .year = 2010,
	     .source =
		     "D. Cavendish, K. Kumazoe, M. Tsuru, Y. Oie, M. Gerla, Capacity and "
		     "Congestion Probing, INTERNET 2010; Kumazoe et al. 2012, equation 5",
	     .summary = "Sets the window in proportion to the free part of the path's "
			"storage, which it estimates.",
	     .info_names = CC_STORAGE_INFO);
