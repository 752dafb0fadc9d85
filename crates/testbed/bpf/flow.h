/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * flow.h - data on each socket, in socket storage that user space reads by the socket's
 * descriptor. All programs of a run share one map.
 */
#ifndef DUMBBELL_FLOW_H
#define DUMBBELL_FLOW_H

#include "cc_start.h"

struct cc_flow {
	/* watch.c writes these. */
	u64 rtt_sum_us;
	u32 rtt_samples;
	u32 rtt_us; /* the latest */
	u32 rtt_min_us;
	u32 rtt_max_us;
	u32 congestion_events; /* reductions of the window */
	u32 timeouts;
	u32 spurious; /* reductions that were undone */
	/* As TCP-BPF set it; 0: not set. */
	u32 base_rtt_us;
	/* Local port. */
	u32 port;
	/* Window at the last retransmission timeout. */
	u32 timeout_cwnd_segs;
	/* Segments delivered at the last round-trip sample. */
	u32 delivered_segs;
	/* enum cc_ca_state, as set last. */
	u8 ca_state;
	/* True while the kernel may still find the last reduction spurious. */
	u8 may_undo;
	/* True for the end that opened the connection, which sends the data. */
	u8 connected;
	/*
	 * True if the last segment was marked; and the sequence number expected after it.
	 */
	u8 ce_state;
	u32 ce_rcv_nxt;
	/* Retransmissions that had left the network at the last round-trip sample. */
	u32 resent_back_segs;
	/* The algorithm's adapters write these after each call. */
	struct cc_conn conn;
	u8 state[CC_STATE_BYTES];
	/* True if the latest ACK carried ECN-Echo; and the segments lost before it. */
	u32 is_marked;
	u32 marked_lost_segs;
	/* The stack's slow start; and true if it began to pace. */
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
