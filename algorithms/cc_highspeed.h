/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc_highspeed.h - increase and cut of HighSpeed TCP (RFC 3649, appendix B), for low
 * windows of 31 and of 38 segments. An algorithm that uses them keeps the row of its
 * window.
 */
#ifndef DUMBBELL_CC_HIGHSPEED_H
#define DUMBBELL_CC_HIGHSPEED_H

#include "cc.h"

/* The cut of a row counts in 1/256. */
#define CC_HIGHSPEED_CUT_ONE 256u
#define CC_HIGHSPEED_ROWS 72u

struct cc_highspeed_row {
	u32 window_max; /* the row is for windows up to this, segments */
	u32 cut;
};

/* The increase of a row, segments per round trip, is its index plus one. */
static const struct cc_highspeed_row cc_highspeed_rows_38[CC_HIGHSPEED_ROWS] = {
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
static const struct cc_highspeed_row cc_highspeed_rows_31[CC_HIGHSPEED_ROWS] = {
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

static inline const struct cc_highspeed_row *cc_highspeed_rows(u32 low_window)
{
	return low_window == 31 ? cc_highspeed_rows_31 : cc_highspeed_rows_38;
}

/*
 * The first row that contains the window, or the last row. The search begins at `before`,
 * the row of the former window.
 */
static inline u32 cc_highspeed_find(u32 low_window, u32 before, u32 cwnd)
{
	const struct cc_highspeed_row *rows = cc_highspeed_rows(low_window);
	u64 row = cc_index(before, CC_HIGHSPEED_ROWS);

	while (row < CC_HIGHSPEED_ROWS - 1 &&
	       cwnd > rows[cc_index(row, CC_HIGHSPEED_ROWS)].window_max)
		row++;
	while (row > 0 && cwnd <= rows[cc_index(row - 1, CC_HIGHSPEED_ROWS)].window_max)
		row--;
	return (u32)row;
}

/* Segments by which a row's cut reduces a window. */
static inline u32 cc_highspeed_cut(u32 low_window, u32 row, u32 cwnd)
{
	const struct cc_highspeed_row *rows = cc_highspeed_rows(low_window);
	u32 cut = rows[cc_index(row, CC_HIGHSPEED_ROWS)].cut;

	return cc_scale(cwnd, cut, CC_HIGHSPEED_CUT_ONE);
}

/* Growth of a row for one ACK, counting ACKs or acknowledged segments. */
static inline void cc_highspeed_grow(struct cc_conn *conn, u32 row, u8 count_acks,
				     u32 acked)
{
	u32 cwnd = conn->cwnd_segs;
	u32 increase = row + 1;

	if (!count_acks && !(conn->stack & CC_STACK_COUNT_ACKS)) {
		cc_additive_increase(conn, cwnd, cc_saturate((u64)increase * acked));
		return;
	}
	conn->cwnd_cnt = cc_saturate((u64)conn->cwnd_cnt + increase);
	if (conn->cwnd_cnt >= cwnd) {
		conn->cwnd_cnt -= cwnd;
		cc_grow(conn, 1);
	}
}

/* Linux: so that window times cut stays within 32 bits. */
static inline void cc_highspeed_clamp(struct cc_conn *conn)
{
	conn->cwnd_clamp_segs = cc_min(conn->cwnd_clamp_segs, 0xffffffffu / 128);
}

#endif
