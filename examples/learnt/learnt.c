/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * learnt: a policy that dumbbell.learning wrote; change the policy, not this file.
 *
 * Once in a round trip it multiplies its window by a factor of 0.5 to 2. A
 * network of 10 x 16 x 16 x 1 numbers chooses the factor. Its inputs are the last 2 steps of
 *
 *     delivery_mbit_per_s
 *     loss_share
 *     rtt_min_ms
 *     rtt_mean_ms
 *     cwnd_segs
 *
 * as dumbbell.gym normalises them: rates in units of the best rate of delivery so far, times in
 * units of the smallest RTT, amounts in products of both. All numbers count in 1/65536.
 *
 * Interpretation: a step of dumbbell.gym ends with its time. Here it ends with the first ACK after
 * that, because nothing else calls an algorithm.
 */
#include "cc.h"

#define learnt_parameters(P)
#define learnt_presets(S)
#define learnt_hooks(H) \
	H(learnt, init) \
	H(learnt, ssthresh) \
	H(learnt, pkts_acked) \
	H(learnt, undo_cwnd) \
	H(learnt, cong_control) \
	H(learnt, info)

CC_PARAMS(learnt);

#define LEARNT_SHIFT 16
#define LEARNT_ONE (1 << LEARNT_SHIFT)
/* No input is larger. */
#define LEARNT_MOST 524288u
#define LEARNT_FIELDS 5
#define LEARNT_INPUTS 10
#define LEARNT_WINDOW_MIN 2u
#define LEARNT_WINDOW_MAX 10000u
/* The payload in which dumbbell.gym counts the product of rate and RTT. */
#define LEARNT_SEGMENT_BYTES 1448u
#define LEARNT_STEP_MIN_US 100u

/* Unrolled, it would need more of BPF's stack than is left. */
#ifdef __bpf__
#define LEARNT_LOOP _Pragma("clang loop unroll(disable)")
#else
#define LEARNT_LOOP
#endif

struct learnt_state {
	u64 rtt_sum_us; /* of this step, as the next three */
	u32 rtt_count;
	u32 rtt_min_us;
	u32 delivered_segs; /* counted before it */
	u32 lost_segs;
	u32 marked_segs;
	u32 begun_us; /* modulo 2^32 */
	u32 ends_us;
	u32 rtt_us;	 /* the latest */
	u32 path_rtt_us; /* the smallest */
	u32 best_bytes_per_s;
	u32 window; /* segments / 65536 */
	u32 factor; /* the last one */
	u32 steps;
	u32 seen[LEARNT_INPUTS]; /* the oldest step first */
};

static const s32 learnt_weights_1[16][10] = {
	{32047, 22145, -19227, 12783, 5722, 37951, 107317, -12794, -44590, 13013},
	{41078, -193124, 81389, 33508, -24380, 19014, 210023, 33009, -26070, -4343},
	{12803, -260934, 21509, 9335, 32420, -66247, -970095, -4154, -26835, -38114},
	{-63478, -81157, 35439, -32932, -4476, -64365, 196288, -6116, 25619, 36709},
	{33907, 285142, -20453, 51175, -80823, 43394, -496409, -66747, 2542, 39739},
	{25654, -196991, -76543, -26521, 30127, 34830, 657628, 19197, 17528, -2196},
	{-41949, 367151, 6672, 40027, 17254, -51607, -105134, -52685, -6495, 74807},
	{24277, 464509, 10951, -45722, 7413, 4595, 439565, 40158, -22417, 4840},
	{22718, -1393077, -39980, 50417, -11750, 21811, 803635, 85264, 2744, -23013},
	{3041, -1316206, -38258, 3806, 60202, 11718, 255249, -54472, -30343, -75440},
	{25351, 149038, -25979, -59202, 35775, 46304, -592086, -135413, -36438, 3983},
	{33256, -178308, -44302, -11463, 27726, 13256, -910228, 21442, -53568, 114819},
	{-34294, -126765, -12935, -12207, -176, -1513, 889214, 105250, -62824, -68620},
	{-1711, -44122, -911, 8784, -57537, 1466, -192645, -56459, 50874, -4688},
	{-21210, 1055437, -23755, -56033, 11412, 57340, -849045, -98347, -31498, -92245},
	{18516, -886934, -12468, -33682, -20887, -110406, -61937, 26918, -6647, -17551},
};

static const s32 learnt_biases_1[16] = {
	-39182, -178104, 89831, 72763, 6559, -31656, 19906, -42862, -114023, 153304,
	 158246, -71453, 80687, 67380, 260612, 186269};

static const s32 learnt_weights_2[16][16] = {
	{6000, -7331, 23318, -20508, -29747, 31750, -30953, -44821, -14295, 22911, 29508,
	 -609, 28146, -11775, -8008, -36129},
	{-626, -17829, -37225, 15694, -19134, 137, 7288, 65733, 964, -2912, -45830,
	 53509, 12360, 27891, -11717, 9515},
	{-21147, 8026, 928, 1434, -23257, -4044, 12029, -17224, -29944, 40356, 498,
	 -63041, 13491, 44289, 4008, -18293},
	{-6655, 29639, -41477, 93, 12691, -26253, -146, -16271, 25223, -13632, -26022,
	 19133, -9674, -42915, 26657, 47400},
	{26787, 13009, 14408, -4296, -35351, 45887, -23798, 15481, 5385, 470, -2443,
	 -40869, 18896, -17175, 8843, -50529},
	{7818, 5694, 4834, -30651, -34347, -12794, -1858, -5047, 29027, 50626, 14211,
	 -9006, -26558, 8566, -5823, 3258},
	{31424, -12840, 21126, -2432, 28897, -36229, -49633, -42537, 14526, 21869, 18743,
	 -30158, 20141, -32395, 34270, 24387},
	{3541, 58192, -38829, -29885, 3669, 19657, -26351, 11223, 1939, 22511, -6893,
	 -15557, -14522, -34157, 20347, -7933},
	{-10677, 16319, 44344, -20007, -5119, -12882, 2937, 21550, -23629, 2596, 27587,
	 -13808, 10470, 8769, 5571, 22802},
	{-10263, -28627, 48599, -29824, -39479, -3000, -38887, -17833, 6961, -2029,
	 39761, 5545, 10421, 2573, 12059, -30973},
	{-917, -5739, -27887, -5842, 7799, -10346, -6518, -10440, 45222, -14073, 19879,
	 1308, -15832, -8826, -8666, -54249},
	{-8986, -9558, 4631, -25357, 17596, -3023, -26735, 13678, -9914, 19172, 12894,
	 -27808, -10747, -5427, -19639, 8457},
	{16444, -38867, 1725, 10841, -45785, 18270, 18554, -19293, 5871, -23658, -3179,
	 18088, 4721, 8238, -9911, -5651},
	{4932, -4930, -1868, 3454, 16752, -18317, -33236, 6564, -9571, 12758, -31459,
	 13729, 19828, 34919, 1639, -8208},
	{-45590, -24709, 2976, -17039, -16001, 16671, -5416, 9882, -25295, -33930, 5030,
	 20943, 17455, -8980, -5186, -49786},
	{25337, 27819, 47488, -8105, -12323, -18726, 10864, -14239, -19020, 60810, 41438,
	 -52238, -27244, 20212, 23272, 21328},
};

static const s32 learnt_biases_2[16] = {
	5516, 18365, 3193, 10103, -14164, -6408, 10776, -18775, 5936, 6196, -3087, -526,
	 12503, 5124, 19073, 8843};

static const s32 learnt_weights_3[1][16] = {
	{11669, -2614, 2996, -2774, -4254, 3795, 9337, -572, 2544, 8956, 5142, 8059,
	 -2467, -2062, 13041, 6946},
};

static const s32 learnt_biases_3[1] = {
	-7798};

/* Factors for actions from -1 to 1, in equal steps. */
static const u32 learnt_factors[65] = {
	32768, 33486, 34219, 34968, 35734, 36516, 37316, 38133, 38968, 39821, 40693,
	 41584, 42495, 43425, 44376, 45348, 46341, 47356, 48393, 49452, 50535, 51642,
	 52773, 53928, 55109, 56316, 57549, 58809, 60097, 61413, 62757, 64132, 65536,
	 66971, 68438, 69936, 71468, 73032, 74632, 76266, 77936, 79642, 81386, 83169,
	 84990, 86851, 88752, 90696, 92682, 94711, 96785, 98905, 101070, 103283,
	 105545, 107856, 110218, 112631, 115098, 117618, 120194, 122825, 125515,
	 128263, 131072};

/* part / whole, at most LEARNT_MOST; 0 as long as the whole is not known. */
static inline u32 learnt_of(u64 part, u64 whole)
{
	return whole ? cc_min(cc_saturate((part << LEARNT_SHIFT) / whole), LEARNT_MOST) : 0;
}

/*
 * max(0, sum), which fits for any inputs. Without a branch: the verifier would follow each
 * way through all of them.
 */
static inline s32 learnt_positive(s64 sum)
{
	s64 negative = sum >> 63;

#ifdef __bpf__
	asm volatile("" : "+r"(negative));
#endif
	return (s32)(sum & ~negative);
}

/* The network: from what was seen to an action, -1 to 1. */
static inline s32 learnt_action(const struct learnt_state *state)
{
	s32 hidden[16];
	s64 action = (s64)learnt_biases_3[0] * LEARNT_ONE;

	for (int out = 0; out < 16; out++) {
		s64 sum = (s64)learnt_biases_1[out] * LEARNT_ONE;

		LEARNT_LOOP
		for (int in = 0; in < 10; in++)
			sum += (s64)learnt_weights_1[out][in] * state->seen[in];
		hidden[out] = learnt_positive(sum >> LEARNT_SHIFT);
	}
	for (int out = 0; out < 16; out++) {
		s64 sum = (s64)learnt_biases_2[out] * LEARNT_ONE;

		LEARNT_LOOP
		for (int in = 0; in < 16; in++)
			sum += (s64)learnt_weights_2[out][in] * hidden[in];
		action += (s64)learnt_weights_3[0][out] *
			  learnt_positive(sum >> LEARNT_SHIFT);
	}
	action >>= LEARNT_SHIFT;
	if (action > LEARNT_ONE)
		return LEARNT_ONE;
	return action < -LEARNT_ONE ? -LEARNT_ONE : (s32)action;
}

/* low (high / low) ^ ((action + 1) / 2), between two of the table. */
static inline u32 learnt_factor(s32 action)
{
	u32 place = (u32)(action + LEARNT_ONE);
	u32 part = place & 2047;
	u32 low = learnt_factors[cc_index(place >> 11, 65)];
	u32 high = learnt_factors[cc_index((place >> 11) + 1, 65)];

	return low + ((high - low) * part >> 11);
}

static inline u32 learnt_window(const struct learnt_state *state,
				const struct cc_conn *conn)
{
	u32 segs = (state->window + LEARNT_ONE / 2) >> LEARNT_SHIFT;

	return cc_max(cc_min(segs, conn->cwnd_clamp_segs), 1);
}

/* The smallest RTT, or as long as data has none that of the handshake. */
static inline u32 learnt_path_us(const struct learnt_state *state)
{
	return state->path_rtt_us == CC_NO_RTT ? state->rtt_us : state->path_rtt_us;
}

/* So many segments, in products of the best rate and the smallest RTT. */
static inline u32 learnt_of_path(const struct learnt_state *state, u32 segs)
{
	return learnt_of((u64)segs * LEARNT_SEGMENT_BYTES * CC_USEC_PER_SEC,
			 (u64)state->best_bytes_per_s * learnt_path_us(state));
}

/* Look at the step that ends. */
static inline void learnt_see(struct learnt_state *state, const struct cc_conn *conn,
			     u32 interval_us, u32 in_flight_segs)
{
	u32 *seen = &state->seen[LEARNT_INPUTS - LEARNT_FIELDS];
	u32 delivered = (u32)conn->delivered_segs - state->delivered_segs;
	u32 rate = 0;

	if (interval_us)
		rate = cc_saturate((u64)delivered * conn->mss_bytes * CC_USEC_PER_SEC /
				   interval_us);
	state->best_bytes_per_s = cc_max(state->best_bytes_per_s, rate);
	for (int at = 0; at < LEARNT_INPUTS - LEARNT_FIELDS; at++)
		state->seen[at] = state->seen[at + LEARNT_FIELDS];
	seen[0] = learnt_of(rate, state->best_bytes_per_s);
	seen[1] = learnt_of((u32)conn->lost_segs - state->lost_segs,
			  (u64)((u32)conn->lost_segs - state->lost_segs) + delivered);
	seen[2] = learnt_of(state->rtt_count ? state->rtt_min_us : state->rtt_us,
			  learnt_path_us(state));
	seen[3] = learnt_of(state->rtt_count ? state->rtt_sum_us / state->rtt_count :
					     state->rtt_us,
			  learnt_path_us(state));
	seen[4] = learnt_of_path(state, conn->cwnd_segs);
}

static inline void learnt_begin(struct learnt_state *state, const struct cc_conn *conn)
{
	u32 srtt_us = conn->srtt_us == CC_NO_RTT ? 0 : conn->srtt_us;
	u32 lasts_us = cc_max(cc_scale(srtt_us, 1024, CC_ONE),
			      LEARNT_STEP_MIN_US);
	u32 now_us = (u32)conn->now_us;

	state->rtt_sum_us = 0;
	state->rtt_count = 0;
	state->rtt_min_us = CC_NO_RTT;
	state->delivered_segs = (u32)conn->delivered_segs;
	state->lost_segs = (u32)conn->lost_segs;
	state->marked_segs = (u32)conn->delivered_ce_segs;
	state->begun_us = now_us;
	/* As a clock's, so that steps are as long as they should be in the mean. */
	if (now_us - state->ends_us >= lasts_us)
		state->ends_us = now_us;
	state->ends_us += lasts_us;
}

/* A step ends and the next one begins. */
static inline void learnt_act(struct learnt_state *state, struct cc_conn *conn,
			     u32 interval_us, u32 in_flight_segs)
{
	u64 window;

	learnt_see(state, conn, interval_us, in_flight_segs);
	state->factor = learnt_factor(learnt_action(state));
	window = (u64)state->window * state->factor >> LEARNT_SHIFT;
	state->window = cc_clamp(cc_saturate(window), LEARNT_WINDOW_MIN << LEARNT_SHIFT,
				 LEARNT_WINDOW_MAX << LEARNT_SHIFT);
	state->steps++;
	learnt_begin(state, conn);
}

static void learnt_init(const struct learnt_params *params, struct learnt_state *state,
			struct cc_conn *conn)
{
	state->window = cc_clamp(conn->cwnd_segs, LEARNT_WINDOW_MIN, LEARNT_WINDOW_MAX)
			<< LEARNT_SHIFT;
	state->rtt_us = conn->srtt_us == CC_NO_RTT ? 0 : conn->srtt_us;
	state->path_rtt_us = CC_NO_RTT;
	state->ends_us = (u32)conn->now_us;
	learnt_begin(state, conn);
	state->ends_us = (u32)conn->now_us;
	learnt_act(state, conn, 0, 0);
	conn->cwnd_segs = learnt_window(state, conn);
}

static u32 learnt_ssthresh(const struct learnt_params *params, struct learnt_state *state,
			   const struct cc_conn *conn)
{
	return learnt_window(state, conn);
}

static void learnt_pkts_acked(const struct learnt_params *params,
			      struct learnt_state *state, struct cc_conn *conn,
			      const struct cc_ack_sample *sample)
{
	if (sample->rtt_us < 0)
		return;
	state->rtt_us = (u32)sample->rtt_us;
	state->rtt_sum_us += state->rtt_us;
	state->rtt_count++;
	state->rtt_min_us = cc_min(state->rtt_min_us, state->rtt_us);
	state->path_rtt_us = cc_min(state->path_rtt_us, state->rtt_us);
}

static u32 learnt_undo_cwnd(const struct learnt_params *params, struct learnt_state *state,
			    const struct cc_conn *conn)
{
	return learnt_window(state, conn);
}

/* Between two steps the window stays, also while losses are repaired. */
static void learnt_cong_control(const struct learnt_params *params,
				struct learnt_state *state, struct cc_conn *conn,
				const struct cc_rate_sample *sample)
{
	u32 now_us = (u32)conn->now_us;

	if (!cc_seq_after(state->ends_us, now_us))
		learnt_act(state, conn, now_us - state->begun_us,
			   sample->prior_in_flight_segs);
	conn->cwnd_segs = learnt_window(state, conn);
}

static void learnt_info(const struct learnt_params *params, const struct learnt_state *state,
			const struct cc_conn *conn, struct cc_info *info)
{
	info->values[0] = state->steps;
	info->values[1] = state->factor;
	info->values[2] = state->seen[LEARNT_INPUTS - LEARNT_FIELDS + 0];
	info->values[3] = state->seen[LEARNT_INPUTS - LEARNT_FIELDS + 1];
	info->values[4] = state->seen[LEARNT_INPUTS - LEARNT_FIELDS + 2];
	info->values[5] = state->seen[LEARNT_INPUTS - LEARNT_FIELDS + 3];
	info->values[6] = state->seen[LEARNT_INPUTS - LEARNT_FIELDS + 4];
}

CC_ALGORITHM(learnt, .title = "Learnt", .family = CC_FAMILY_RATE, .year = 2026,
	     .flags = CC_NEEDS_PACING, .source = "dumbbell.learning",
	     .summary = "A policy that was learnt on dumbbell.gym.",
	     .info_names = {"steps", "factor", "delivery", "loss", "rtt_min", "rtt_mean", "cwnd"});
