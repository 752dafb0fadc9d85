/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * CCPD: a proportional and derivative controller of the data that path and bottleneck
 * store.
 *
 * Capacity and Congestion Probing plus Derivative is CCP (ccp.c) with another law. It
 * computes the window again at every ACK, regardless of its previous value:
 *
 *     cwnd = Kp (B - x - in flight) + D
 *     D = Kd ((x + in flight) before - (x + in flight) now) / (time between the two ACKs)
 *
 * B is the number of segments that the path can store, in pipe and queue together. The
 * backlog x is the number of segments in the queue. Slow start is that of any TCP, up
 * to ssthresh or the first loss. Loss needs no adjustment: the window is frozen until
 * the loss is repaired. Kumazoe et al. 2012 print the law as equation 6. We could not
 * find the papers on the algorithm itself (Cavendish et al. 2010 and 2011). The
 * estimates of B, x and the capacity are our interpretation, as for CCP:
 *
 *     x = capacity (RTT - smallest RTT)
 *     B = capacity * largest RTT
 *
 * One flow with a pipe of P segments and a queue of Q (B = P + Q) rests where D is 0,
 * at
 *
 *     cwnd = Kp B / (1 + Kp)                    if that is less than P
 *     x = (Kp B - (1 + Kp) P) / (1 + 2 Kp)      otherwise
 *
 * CCPD(2, Kd) thus fills the path if Q is P / 2 or more, and CCPD(4, Kd) if Q is P / 4
 * or more.
 *
 * Interpretation: `evaluation`. Taken literally, the law is computed once per ACK from
 * the data in flight, and the resulting window releases a burst. At the next ACK the
 * law answers this burst with the factor -Kp. For Kp above 1 the window therefore
 * swings between nothing and everything. By default (transmission) the law is computed
 * before each segment. The segment may leave if less is in flight than the law allows.
 * This rule, the first line below, is equivalent to the second line. We set the window
 * to the closed form in it:
 *
 *     in flight < Kp (B - x - in flight) + D
 *     in flight < (Kp (B - x) + D) / (1 + Kp)
 * An ACK releases at most `burst` segments, or twice those that it acknowledges if
 * that is more, as in slow start. The fixed point is that of the literal law.
 *
 * Interpretation: `kd_unit`. Kd is a time, and the paper prints it without a unit. The
 * default is microseconds (1000 ns). Among round units, only microseconds make the two
 * terms comparable. At 1 Gbit/s ACKs are 24 us apart, so a change of two segments
 * gives a D of 333 segments for Kd = 4000. In milliseconds it would be 333,000.
 *
 * Interpretation: `kd_opposite`. As printed, the derivative term makes the window
 * smaller while the path fills. This switch gives it the opposite sign, to show that
 * the sign matters.
 *
 * Interpretation: `d_limit`. The absolute value of D is at most the data in flight,
 * because the time between two ACKs may be close to zero. The x in D is the latest
 * sample, not smoothed. D compares the two latest ACKs at which the law was computed,
 * each before anything is sent.
 *
 * Interpretation: `filter`. CCP smooths x over about a round trip, because its window
 * would otherwise oscillate. CCPD answers a change of x with the factor -Kp / (1 +
 * Kp). Its size is below 1, so oscillations are damped without a filter. The authors
 * also see a "much faster period" than CCP's. The filter is therefore off by default.
 *
 * Interpretation: `beyond_flight`. With this switch the data in flight is added to the
 * result of the law, as in CCP. Before each segment the law is then
 *
 *     in flight < B - x + D / Kp
 * and the flow rests with half of the queue filled, for any Kp.
 *
 * Interpretation: `storage`, `capacity`, `buffer_segs`, `freeze` and `burst` are as in
 * CCP, which gives the reasons. So are the answer to a timeout, and growth until the
 * capacity is known.
 */
#include "cc_storage.h"

#define ccpd_parameters(P)                                                     \
	P(kp, "gain", 4, CC_RANGE(0, 64), "Kp, the proportional gain",         \
	  "Kumazoe et al. 2012, section IV: 1, 2 and 4")                       \
	P(kd, "kd_unit", 4000, CC_RANGE(0, 100000), "Kd, the derivative gain", \
	  "Kumazoe et al. 2012, section IV: 1000, 2000 and 4000")              \
	P(kd_unit, "ns", 1000, CC_RANGE(1, 1000000000), "unit of time of Kd",  \
	  "interpretation")                                                    \
	P(kd_opposite, "switch", 0, CC_SWITCH,                                 \
	  "the derivative term has the opposite sign", "interpretation")       \
	P(d_limit, "%", 100, CC_RANGE(0, 10000),                               \
	  "largest derivative term, relative to the segments in flight",       \
	  "interpretation")                                                    \
	cc_storage_parameters(P, "6", 0)

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
	struct cc_storage storage;
	u64 occupied; /* x and the data in flight when the law was last computed */
	u32 law_us;   /* when that was */
};

static void ccpd_init(const struct ccpd_params *params, struct ccpd_state *ccpd,
		      struct cc_conn *conn)
{
	*ccpd = (struct ccpd_state){0};
}

/* A signed number of segments, << CC_PATH_SHIFT. */
struct ccpd_term {
	u64 size;
	u8 is_negative;
};

/* D, and the values from which the next one is computed. */
static struct ccpd_term ccpd_derivative(const struct ccpd_params *params,
					struct ccpd_state *ccpd,
					const struct cc_conn *conn)
{
	u64 in_flight = (u64)conn->in_flight_segs << CC_PATH_SHIFT;
	u64 most = in_flight * params->d_limit / 100;
	u64 occupied = cc_path_backlog(&ccpd->storage.path) + in_flight;
	u8 grows = occupied > ccpd->occupied;
	u32 change = cc_saturate(grows ? occupied - ccpd->occupied
				       : ccpd->occupied - occupied);
	u64 gain_ns = (u64)params->kd * params->kd_unit;
	u64 elapsed_ns = 1000ull * cc_max((u32)conn->now_us - ccpd->law_us, 1);
	u32 gain = cc_saturate((gain_ns << CC_PATH_SHIFT) / elapsed_ns);
	u64 size = (u64)change * gain >> CC_PATH_SHIFT;

	ccpd->occupied = occupied;
	ccpd->law_us = (u32)conn->now_us;
	return (struct ccpd_term){size < most ? size : most,
				  grows != params->kd_opposite};
}

/* Factor of the window where the law equals the data in flight. */
static u32 ccpd_divisor(const struct ccpd_params *params)
{
	return params->beyond_flight ? cc_max(params->kp, 1) : 1 + params->kp;
}

/* `given` less `taken`, divided by `divisor`, segments. */
static u32 ccpd_left(u64 given, u64 taken, u32 divisor)
{
	u64 left = given > taken ? given - taken : 0;

	return cc_saturate(left / divisor >> CC_PATH_SHIFT);
}

/* Result of the law, segments. */
static u32 ccpd_law(const struct ccpd_params *params, struct ccpd_state *ccpd,
		    const struct cc_storage_options *options, const struct cc_conn *conn)
{
	struct ccpd_term derivative = ccpd_derivative(params, ccpd, conn);
	u64 size = cc_storage_size(&ccpd->storage, options);
	u64 in_flight = (u64)conn->in_flight_segs << CC_PATH_SHIFT;
	u64 given = params->kp * size;
	u64 taken = params->kp * ccpd->storage.backlog;

	if (derivative.is_negative)
		taken += derivative.size;
	else
		given += derivative.size;
	if (cc_storage_at_transmission(options))
		return ccpd_left(given, taken, ccpd_divisor(params));
	taken += params->kp * in_flight;
	if (options->beyond_flight)
		given += in_flight;
	return ccpd_left(given, taken, 1);
}

static u32 ccpd_ssthresh(const struct ccpd_params *params, struct ccpd_state *ccpd,
			 const struct cc_conn *conn)
{
	struct cc_storage_options options = CC_STORAGE_OPTIONS(params);
	u64 rest;

	ccpd->storage.was_congested = 1;
	rest = params->kp * cc_storage_free(&ccpd->storage, &options) /
	       ccpd_divisor(params);
	return cc_storage_after_loss(&ccpd->storage, &options, conn,
				     rest >> CC_PATH_SHIFT);
}

static void ccpd_cong_avoid(const struct ccpd_params *params, struct ccpd_state *ccpd,
			    struct cc_conn *conn, u32 acked)
{
	struct cc_storage_options options = CC_STORAGE_OPTIONS(params);
	u32 window;

	if (!cc_storage_rules(&ccpd->storage, &options, conn, acked))
		return;
	window = ccpd_law(params, ccpd, &options, conn);
	cc_storage_set_window(&options, conn, window, acked);
}

static void ccpd_pkts_acked(const struct ccpd_params *params, struct ccpd_state *ccpd,
			    struct cc_conn *conn, const struct cc_ack_sample *sample)
{
	struct cc_path_options options = CC_STORAGE_PATH(params);

	cc_storage_sample(&ccpd->storage, &options, params->filter, conn, sample);
}

static void ccpd_set_state(const struct ccpd_params *params, struct ccpd_state *ccpd,
			   struct cc_conn *conn, u32 new_state)
{
	cc_storage_state(&ccpd->storage, conn, new_state);
}

static void ccpd_info(const struct ccpd_params *params, const struct ccpd_state *ccpd,
		      const struct cc_conn *conn, struct cc_info *info)
{
	struct cc_storage_options options = CC_STORAGE_OPTIONS(params);

	cc_storage_info(&ccpd->storage, &options, info);
}

/* In figures: CCPD, #7b9a6a, chevron. */
CC_ALGORITHM(
	ccpd, .title = "CCPD", .family = CC_FAMILY_DELAY, .year = 2011,
	.source =
		"D. Cavendish, H. Kuwahara, K. Kumazoe, M. Tsuru, Y. Oie, TCP Congestion "
		"Avoidance using Proportional plus Derivative Control, INTERNET 2011; "
		"Kumazoe et al. 2012, equation 6",
	.summary = "CCP, damped by the rate at which the path's storage fills.",
	.info_names = CC_STORAGE_INFO);
