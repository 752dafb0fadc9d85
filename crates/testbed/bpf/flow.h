/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * flow.h - what is kept of each socket, in socket storage that user space reads by the
 * socket's descriptor. One map for all programs of a run.
 */
#ifndef DUMBBELL_FLOW_H
#define DUMBBELL_FLOW_H

#include "cc_start.h"

struct cc_flow {
	/* Kept by watch.c. */
	u64 rtt_sum_us;
	u32 rtt_samples;
	u32 rtt_us; /* the latest */
	u32 rtt_min_us;
	u32 rtt_max_us;
	u32 congestion_events; /* reductions of the window */
	u32 timeouts;
	u32 spurious; /* reductions that were undone */
	/* Told by TCP-BPF; 0: not. */
	u32 base_rtt_us;
	/* Port of this end. */
	u32 port;
	/* The window when the retransmission timer last expired. */
	u32 timeout_cwnd_segs;
	/* Delivered when the round-trip time was last sampled. */
	u32 delivered_segs;
	/* enum cc_ca_state, as last set. */
	u8 ca_state;
	/* The kernel may still find the last reduction spurious. */
	u8 may_undo;
	/* This end made the connection: it is the one that sends data. */
	u8 connected;
	/* The last segment that arrived was marked, and what was expected after it. */
	u8 ce_state;
	u32 ce_rcv_nxt;
	/* Retransmissions that were not under way any more when that was sampled. */
	u32 resent_back_segs;
	/* Kept by the algorithm's adapters, after each call. */
	struct cc_conn conn;
	u8 state[CC_STATE_BYTES];
	/* The latest ACK carried ECN-Echo; what was taken for lost before it. */
	u32 is_marked;
	u32 marked_lost_segs;
	/* The stack's slow start, and whether it began to pace. */
	union {
		struct cc_start start;
		u64 start_room[CC_START_BYTES / sizeof(u64)];
	};
	u64 start_paces;
};

/* The mirror in src/watch/flow.rs reads it field by field. */
_Static_assert(sizeof(struct cc_conn) == 120, "struct cc_conn is not what is mirrored");
_Static_assert(sizeof(struct cc_flow) ==
		       64 + 120 + CC_STATE_BYTES + 8 + CC_START_BYTES + 8,
	       "struct cc_flow is not what is mirrored");

#endif
