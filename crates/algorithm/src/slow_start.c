/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The slow starts of cc_start.h as functions that slow_start.rs calls.
 */
#include "cc_start.h"

extern const u32 dumbbell_start_layout[2];
const u32 dumbbell_start_layout[2] = {sizeof(struct cc_start_params), CC_START_BYTES};

u8 dumbbell_start_rules(const struct cc_start_params *params, const void *start,
			const struct cc_conn *conn);
u8 dumbbell_start_holds(const struct cc_start_params *params, const void *start);
u32 dumbbell_start_part_of(const struct cc_start_params *params, void *start,
			   struct cc_conn *conn, u32 acked, u32 rtt_us);
void dumbbell_start_grown(const struct cc_start_params *params, void *start,
			  struct cc_conn *conn, u32 rtt_us);
u32 dumbbell_start_cut(const struct cc_start_params *params, void *start,
		       const struct cc_conn *conn, u32 ssthresh);
void dumbbell_start_repaired(const struct cc_start_params *params, void *start,
			     struct cc_conn *conn);

u8 dumbbell_start_rules(const struct cc_start_params *params, const void *start,
			const struct cc_conn *conn)
{
	return cc_start_rules(params, start, conn);
}

u8 dumbbell_start_holds(const struct cc_start_params *params, const void *start)
{
	return cc_start_holds(params, start);
}

u32 dumbbell_start_part_of(const struct cc_start_params *params, void *start,
			   struct cc_conn *conn, u32 acked, u32 rtt_us)
{
	return cc_start_part_of(params, start, conn, acked, rtt_us);
}

void dumbbell_start_grown(const struct cc_start_params *params, void *start,
			  struct cc_conn *conn, u32 rtt_us)
{
	cc_start_grown(params, start, conn, rtt_us);
}

u32 dumbbell_start_cut(const struct cc_start_params *params, void *start,
		       const struct cc_conn *conn, u32 ssthresh)
{
	return cc_start_cut(params, start, conn, ssthresh);
}

void dumbbell_start_repaired(const struct cc_start_params *params, void *start,
			     struct cc_conn *conn)
{
	cc_start_repaired(params, start, conn);
}
