/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc.h - the one interface of every congestion-control algorithm.
 *
 * An algorithm is one C file of pure functions over three plain structs:
 *
 *   params  its parameters, constant while it runs        (struct NAME_params)
 *   state   its own memory for one connection, 104 bytes  (struct NAME_state)
 *   conn    the connection as it may see and steer it     (struct cc_conn)
 *
 * The same file is compiled natively for the simulator and with
 * `clang -target bpf` for the kernel. Therefore: integers only, no globals, no
 * allocation, no library call, bounded loops, at most four arguments. Time and
 * randomness are fields of cc_conn. The hooks and the moments at which they are
 * called are those of Linux's tcp_congestion_ops.
 */
#ifndef DUMBBELL_CC_H
#define DUMBBELL_CC_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

/* Version of this interface; a file built against another one is refused. */
#define CC_ABI 1

#define CC_STATE_BYTES 104
#define CC_SSTHRESH_INFINITE 0x7fffffffu
#define CC_NO_RTT 0xffffffffu
#define CC_USEC_PER_SEC 1000000u
/* Ticks per second of the clock that Linux's jiffy-based algorithms read. */
#define CC_HZ 1000u

enum cc_ca_state { CC_OPEN, CC_DISORDER, CC_CWR, CC_RECOVERY, CC_LOSS };

enum cc_event {
	CC_EVENT_TX_START,     /* first segment sent while nothing was in flight */
	CC_EVENT_CWND_RESTART, /* window restarted after idle */
	CC_EVENT_COMPLETE_CWR, /* end of CWR or Recovery */
	CC_EVENT_LOSS,         /* retransmission timeout */
	CC_EVENT_ECN_NO_CE,    /* receiver: segment without CE */
	CC_EVENT_ECN_IS_CE,    /* receiver: segment with CE */
};

/* How the stack at hand differs from today's Linux (bits of cc_conn.stack). */
enum cc_stack {
	/* Slow start while cwnd <= ssthresh (until 3.18), not cwnd < ssthresh. */
	CC_STACK_SLOW_START_INCLUSIVE = 1,
	/* Growth counts ACKs, not acknowledged segments (until 3.18). */
	CC_STACK_COUNT_ACKS = 2,
};

/* The connection. The first block is the algorithm's to write. */
struct cc_conn {
	u32 cwnd_segs;
	u32 cwnd_cnt; /* acknowledged segments not yet turned into growth */
	u32 ssthresh_segs;
	u32 cwnd_clamp_segs;
	u64 pacing_rate_bytes_per_s; /* 0: the algorithm does not pace */

	u64 now_us;
	u64 delivered_segs;
	u32 prior_cwnd_segs; /* cwnd before the current or last reduction */
	u32 in_flight_segs;
	u32 srtt_us;    /* CC_NO_RTT until the first sample */
	u32 min_rtt_us; /* CC_NO_RTT until the first sample */
	u32 mss_bytes;  /* payload of a full segment */
	u32 snd_una;    /* sequence numbers, bytes modulo 2^32 */
	u32 snd_nxt;
	u32 random;      /* fresh and uniform for each call, where CC_NEEDS_RANDOM */
	u8 state;        /* enum cc_ca_state */
	u8 cwnd_limited; /* the window, not the application, held sending back */
	u8 stack;        /* enum cc_stack */
	u8 reserved[5];
};

/* What one ACK told (pkts_acked). */
struct cc_ack_sample {
	u32 pkts_acked;      /* segments newly acknowledged or SACKed */
	s32 rtt_us;          /* of the latest sent, never retransmitted one; -1: none */
	u32 in_flight_bytes; /* delivered while that segment was in flight */
};

/* Delivery rate as of one ACK (cong_control). */
struct cc_rate_sample {
	u64 prior_delivered_segs;
	s64 interval_us; /* negative: no valid sample */
	s32 delivered_segs;
	s32 rtt_us; /* -1: none */
	u32 losses_segs;
	u32 acked_sacked_segs;
	u32 prior_in_flight_segs;
	u8 is_app_limited;
	u8 is_ack_delayed;
	u8 reserved[2];
};
