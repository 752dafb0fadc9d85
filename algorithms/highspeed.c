/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * HighSpeed TCP: a standard TCP whose increase and cut depend on the window.
 *
 * A window w grows by a(w) segments per round trip, and congestion takes b(w) of
 * it (RFC 3649, section 5):
 *
 *     w <- w + a(w) / w     for each acknowledged segment
 *     w <- (1 - b(w)) w     on congestion
 *
 * Up to low_window W it is standard TCP, with a = 1 and b = 1/2. From there the
 * response function runs straight, in logarithms, to 83000 segments at a loss
 * probability of 1e-7, and the cut falls to 0.1:
 *
 *     b(w) = 0.5 - 0.4 ln(w / W) / ln(83000 / W)
 *     a(w) = 2 w^2 p(w) b(w) / (2 - b(w))
 *     p(w) = 1 / (12.8 w^1.2)     for W = 38, the RFC's rounding
 *
 * which makes the mean window 0.12 / p^0.835. Windows take the rows of a table,
 * as in the RFC's appendix B: the first row is W with a = 1, and a new row begins
 * at each w where a(w) exceeds that of the row before by more than 1. Two flows
 * whose windows lie in different rows may stay unequal.
 *
 * As in Linux: the table has 72 rows. A segment of a(w) is earned by each ACK, not
 * by each acknowledged segment (count_acks), so that with delayed ACKs growth is
 * half of what the RFC has.
 *
 * Interpretation: Li et al. give low_window 31, high_window 83000 and high_p
 * 1e-7, but not the loss probability at low_window. It is taken to be 1.5e-3,
 * thus w = 0.15 / p^0.82 as in the drafts before the RFC, from which their patch
 * must stem. The parameter low_window chooses between the two tables.
 */
#include "cc.h"

#define highspeed_parameters(P)                                                        \
	P(low_window, "segments", 38, CC_EITHER(31, 38),                               \
	  "window up to which it is standard TCP; there is a table for 31 and for 38", \
	  "RFC 3649 section 5: 38")                                                    \
	P(count_acks, "switch", 1, CC_SWITCH, "count ACKs, not acknowledged segments", \
	  "Linux, even today")

#define highspeed_presets(S)                                                            \
	S("li2007",                                                                     \
	  "Li, Leith, Shorten 2007, Table II: High_P 1e-7, Low_Window 31, High_Window " \
	  "83000; counts acknowledged segments (RFC 3465)",                             \
	  CC_SET(highspeed, low_window, 31), CC_SET(highspeed, count_acks, 0))          \
	S("lukaseder2016",                                                              \
	  "Lukaseder et al. 2016, Table I: Low_Window 38, High_Window 83000, High_P "   \
	  "1e-7, High_Decrease 0.1; Linux 3.16, which counts ACKs",                     \
	  CC_SET(highspeed, low_window, 38), CC_SET(highspeed, count_acks, 1))          \
	S("brakmo2017", "Brakmo 2017: Linux 4.14, which counts ACKs",                   \
	  CC_SET(highspeed, low_window, 38), CC_SET(highspeed, count_acks, 1))          \
	S("mani2012",                                                                   \
	  "Mani and Mbarek 2012: low_window 38, a 1 to 72, b 0.5 to 0.1; the b = 1 at " \
	  "High_Window is a misprint",                                                  \
	  CC_SET(highspeed, low_window, 38))

#define highspeed_hooks(H)       \
	H(highspeed, init)       \
	H(highspeed, ssthresh)   \
	H(highspeed, cong_avoid) \
	H(highspeed, info)

/* The cut of a row counts in 1/256. */
#define HIGHSPEED_CUT_ONE 256u
#define HIGHSPEED_ROWS 72u

struct highspeed_row {
	u32 window_max; /* the row is for windows up to this, segments */
	u32 cut;
};

/* The increase of a row, segments per round trip, is its index plus one. */
static const struct highspeed_row highspeed_rows_38[HIGHSPEED_ROWS] = {
	{38, 128},   {118, 112},  {221, 104},  {347, 98},   {495, 93},	 {663, 89},
	{851, 86},   {1058, 83},  {1284, 81},  {1529, 78},  {1793, 76},	 {2076, 74},
	{2378, 72},  {2699, 71},  {3039, 69},  {3399, 68},  {3778, 66},	 {4177, 65},
	{4596, 64},  {5036, 62},  {5497, 61},  {5979, 60},  {6483, 59},	 {7009, 58},
	{7558, 57},  {8130, 56},  {8726, 55},  {9346, 54},  {9991, 53},	 {10661, 52},
	{11358, 52}, {12082, 51}, {12834, 50}, {13614, 49}, {14424, 48}, {15265, 48},
	{16137, 47}, {17042, 46}, {17981, 45}, {18955, 45}, {19965, 44}, {21013, 43},
	{22101, 43}, {23230, 42}, {24402, 41}, {25618, 41}, {26881, 40}, {28193, 39},
	{29557, 39}, {30975, 38}, {32450, 38}, {33986, 37}, {35586, 36}, {37253, 36},
	{38992, 35}, {40808, 35}, {42707, 34}, {44694, 33}, {46776, 33}, {48961, 32},
	{51258, 32}, {53677, 31}, {56230, 30}, {58932, 30}, {61799, 29}, {64851, 28},
	{68113, 28}, {71617, 27}, {75401, 26}, {79517, 26}, {84035, 25}, {89053, 24}};
static const struct highspeed_row highspeed_rows_31[HIGHSPEED_ROWS] = {
	{31, 128},   {98, 113},	  {187, 104},  {297, 98},   {426, 94},	 {574, 90},
	{740, 86},   {924, 83},	  {1126, 81},  {1346, 79},  {1584, 76},	 {1839, 75},
	{2112, 73},  {2403, 71},  {2712, 69},  {3040, 68},  {3386, 67},	 {3751, 65},
	{4135, 64},  {4539, 63},  {4963, 62},  {5407, 61},  {5872, 59},	 {6358, 58},
	{6865, 57},  {7394, 56},  {7946, 56},  {8521, 55},  {9120, 54},	 {9743, 53},
	{10391, 52}, {11065, 51}, {11765, 50}, {12493, 50}, {13249, 49}, {14034, 48},
	{14849, 47}, {15695, 47}, {16573, 46}, {17484, 45}, {18429, 45}, {19410, 44},
	{20428, 43}, {21484, 43}, {22580, 42}, {23718, 41}, {24900, 41}, {26128, 40},
	{27404, 39}, {28730, 39}, {30108, 38}, {31542, 38}, {33035, 37}, {34589, 36},
	{36209, 36}, {37899, 35}, {39663, 35}, {41506, 34}, {43433, 34}, {45451, 33},
	{47567, 32}, {49789, 32}, {52127, 31}, {54591, 31}, {57194, 30}, {59950, 29},
	{62877, 29}, {65996, 28}, {69333, 27}, {72921, 27}, {76801, 26}, {81027, 25}};

CC_PARAMS(highspeed);

struct highspeed_state {
	u32 row;
};

static const struct highspeed_row *highspeed_rows(const struct highspeed_params *params)
{
	return params->low_window == 31 ? highspeed_rows_31 : highspeed_rows_38;
}

static u32 highspeed_cut(const struct highspeed_params *params,
			 const struct highspeed_state *highspeed)
{
	return highspeed_rows(params)[cc_index(highspeed->row, HIGHSPEED_ROWS)].cut;
}

static void highspeed_init(const struct highspeed_params *params,
			   struct highspeed_state *highspeed, struct cc_conn *conn)
{
	highspeed->row = 0;
	/* Linux: so that window times cut stays within 32 bits. */
	conn->cwnd_clamp_segs = cc_min(conn->cwnd_clamp_segs, 0xffffffffu / 128);
}

static u32 highspeed_ssthresh(const struct highspeed_params *params,
			      struct highspeed_state *highspeed,
			      const struct cc_conn *conn)
{
	u32 cut = highspeed_cut(params, highspeed);

	return cc_max(conn->cwnd_segs - cc_scale(conn->cwnd_segs, cut, HIGHSPEED_CUT_ONE),
		      CC_CWND_MIN);
}

/* Move to the first row that holds the window, or to the last. */
static void highspeed_find_row(const struct highspeed_params *params,
			       struct highspeed_state *highspeed, u32 cwnd)
{
	const struct highspeed_row *rows = highspeed_rows(params);
	u64 row = cc_index(highspeed->row, HIGHSPEED_ROWS);

	while (row < HIGHSPEED_ROWS - 1 &&
	       cwnd > rows[cc_index(row, HIGHSPEED_ROWS)].window_max)
		row++;
	while (row > 0 && cwnd <= rows[cc_index(row - 1, HIGHSPEED_ROWS)].window_max)
		row--;
	highspeed->row = (u32)row;
}

static void highspeed_cong_avoid(const struct highspeed_params *params,
				 struct highspeed_state *highspeed, struct cc_conn *conn,
				 u32 acked)
{
	u32 cwnd = conn->cwnd_segs;
	u32 increase;

	if (!cc_may_grow(conn))
		return;
	if (cc_in_slow_start(conn)) {
		cc_slow_start(conn, acked);
		return;
	}
	highspeed_find_row(params, highspeed, cwnd);
	increase = highspeed->row + 1;
	if (!params->count_acks && !(conn->stack & CC_STACK_COUNT_ACKS)) {
		cc_additive_increase(conn, cwnd, cc_saturate((u64)increase * acked));
		return;
	}
	conn->cwnd_cnt = cc_saturate((u64)conn->cwnd_cnt + increase);
	if (conn->cwnd_cnt >= cwnd) {
		conn->cwnd_cnt -= cwnd;
		cc_grow(conn, 1);
	}
}

static void highspeed_info(const struct highspeed_params *params,
			   const struct highspeed_state *highspeed,
			   const struct cc_conn *conn, struct cc_info *info)
{
	u32 kept = HIGHSPEED_CUT_ONE - highspeed_cut(params, highspeed);

	info->values[0] = (highspeed->row + 1) * 1000;
	info->values[1] = cc_scale(kept, 1000, HIGHSPEED_CUT_ONE);
}

CC_ALGORITHM(
	highspeed, .title = "HighSpeed TCP", .family = CC_FAMILY_LOSS, .year = 2003,
	.source = "S. Floyd, HighSpeed TCP for Large Congestion Windows, RFC 3649, 2003",
	.summary = "Adds more segments per round trip and cuts less, the larger the "
		   "window is.",
	.info_names = {"alpha_milli", "kept_milli"});
