/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * CCP: a proportional controller of what bottleneck and path store.
 *
 * Capacity and Congestion Probing computes the window again at every ACK, regardless
 * of its previous value:
 *
 *     cwnd = (Kp (B - x) - in flight) / 2
 *
 * B is the storage of the path, pipe and queue. Of it, the queue takes x. Both are in
 * segments. Slow start is that of any TCP, up to ssthresh or the first loss. Loss
 * needs no adjustment: the window is frozen until the loss is repaired. Kumazoe et al.
 * 2012 print the law as equation 5. We could not find the papers on the algorithm
 * itself (Cavendish et al. 2010 and 2011). The estimates of B, x and the capacity are
 * therefore our interpretation of the prose of the former and of the titles of the
 * others:
 *
 *     x = capacity (RTT - smallest RTT)
 *     B = capacity * largest RTT
 *
 * With these, one flow with a pipe of D segments and a queue of Q (B = D + Q) rests at
 *
 *     cwnd = Kp B / 3                           if that is less than D
 *     x = (Kp B - 3 D) / (3 + Kp)               otherwise
 *
 * CCP(1) thus fills the path where Q is 2 D or more, and CCP(2) where it is D / 2.
 * CCP(4) fills every path, but has permanent loss where Q is less than D / 3.
 *
 * Interpretation: `evaluation`. Taken literally, the law is computed once per ACK from
 * the data in flight. The resulting window releases a burst, after which the law would
 * give less. By default (transmission) the law is computed before each segment. The
 * segment may leave while less is in flight than the law gives. This rule has a closed
 * form, and we set the window to it:
 *
 *     in flight < (Kp (B - x) - in flight) / 2   is   in flight < Kp (B - x) / 3
 * No ACK lets more than `burst` segments exceed it. Where ACKs acknowledge many
 * segments, the limit is twice those, the growth of slow start. The fixed point is the
 * same. The literal window oscillates between ACKs, and CCPD's oscillates until
 * nothing but loss is left.
 *
 * With evaluation 2 the law is computed once per round trip, and its window stays
 * until the next. The halves in the law then give the "dampened oscillation".
 *
 * Interpretation: `beyond_flight`. The paper prints the result of the law as the
 * window. The authors come from a line of control (Cavendish, Gerla, Mascolo 2004) in
 * which a controller's output is the data that may still be sent. The data in flight
 * was sent already. With beyond_flight, that data is added to the result of the law.
 * Equation 5 then has a plus for its minus,
 *
 *     cwnd = (Kp (B - x) + in flight) / 2
 * and rests at Kp (B - x). For CCP(1) that is half of the queue, on any path.
 *
 * Interpretation: `storage`. B may be a "storage capacity of the path", which is pipe
 * and queue. It may also be the "virtual buffer size" of the same sentence, the queue
 * alone:
 *
 *     B = capacity (largest RTT - smallest RTT)
 *
 * Interpretation: `capacity`. The authors name capacity estimation. One of them is an
 * author of CapProbe, which uses the packet pair whose two delays together are the
 * smallest. By default (trains) we use trains of `train_segs` segments instead of
 * pairs, because an ACK acknowledges two segments and the clock counts microseconds.
 * Each segment of a train was sent while the one before still waited at the
 * bottleneck. Its ACKs therefore have the spacing of the bottleneck. An ACK that
 * waited for the receiver's timer ends a train. The estimate is of the link, not of
 * the flow's share of it.
 *
 * Interpretation: with capacity = rate, the estimate is the largest rate of ACKs over
 * as many segments. Bursts of ACKs raise it. It sinks to the flow's share where a
 * smaller window has smoothed the flow's bursts. Either estimate is replaced by the
 * best of the last `capacity_window` round trips, because the authors require that it
 * follows a change of route. At 10 Gbit/s eight segments take 10 us, so raise
 * `train_segs` there. Set `capacity_segs_per_s` if the capacity is known.
 *
 * Interpretation: `buffer_segs`. B is fixed, or it is the capacity times the largest
 * RTT that two samples in a row reached. (A single long RTT is a delayed ACK.) After
 * the loss that ends slow start, this is the RTT of a full queue. Before any loss, in
 * congestion avoidance, the largest RTT counts as at least `rtt_max_guess` of the
 * smallest RTT. This guess means a queue of one bandwidth-delay product.
 *
 * Interpretation: `filter`. The backlog x is smoothed over about a round trip:
 *
 *     x += (x now - x) acknowledged / in flight
 * The law's answer returns through x a round trip later with the factor -Kp / 3. For
 * CCP(4) it would oscillate forever. The authors see "dampened oscillation", hence the
 * default.
 *
 * Interpretation: `freeze`. The authors write that loss freezes the window. Where the
 * law already rules, it does. But slow start ends with about twice the storage of path
 * and queue in flight. A frozen window would lose half of all data sent, recovery
 * after recovery, and the law would never apply. At a loss the window therefore falls
 * to the law's fixed point, the closed form above, if that is less. It stays there
 * until the loss is repaired. With `freeze` it stays as it is.
 *
 * Interpretation: a timeout sets ssthresh to half the window and begins slow start, as
 * in any TCP. The law takes over at ssthresh. Until the capacity is known, growth is
 * standard TCP's.
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
