/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * side.h - the data that a stack and an algorithm share, and the calls of an algorithm on
 * either side: Linux's module or our file.
 */
#ifndef LINUX_MODULES_SIDE_H
#define LINUX_MODULES_SIDE_H

#include <stdint.h>

#define NONE UINT32_MAX
#define SSTHRESH_INFINITE 0x7fffffffu
#define MSS 1448u

/* Numbered as in Linux, which cc.h follows; both sides assert it. */
enum state { OPEN, DISORDER, CWR, RECOVERY, LOSS };
enum event { TX_START, CWND_RESTART, COMPLETE_CWR, EVENT_LOSS };
enum ack_flag { ACK_SLOWPATH = 1, ACK_WIN_UPDATE = 2, ACK_ECE = 4 };

/* A connection as its algorithm sees it. Windows and counts are in segments. */
struct connection {
	/* The algorithm may write these. */
	uint32_t cwnd;
	uint32_t cwnd_cnt;
	uint32_t ssthresh;
	uint32_t cwnd_clamp;
	uint64_t pacing_rate; /* bytes per second */
	uint32_t app_limited;
	uint32_t asks_for_cwr; /* requests that the stack reduces the window as after a
				  mark */

	uint64_t now_us;
	uint32_t una; /* sequence numbers, bytes */
	uint32_t nxt;
	uint32_t state;
	uint32_t prior_cwnd;
	uint32_t delivered;
	uint32_t delivered_ce;
	uint64_t delivered_us; /* time of the last delivery */
	uint32_t lost;
	uint32_t resent;
	uint32_t packets_out;
	uint32_t sacked_out;
	uint32_t lost_out;
	uint32_t retrans_out;
	uint32_t srtt_8us; /* in 1/8 us; 0: none yet */
	uint32_t min_rtt_us;
	uint32_t is_cwnd_limited; /* as of what was sent last */
	uint32_t max_packets_out;
	uint64_t last_sent_us;
	uint32_t pacing_wait_us;
	uint32_t stamp; /* timestamp of the last ACK, and the one that it echoes, ms */
	uint32_t stamp_echoed;
	uint32_t random;
};

static inline uint32_t in_flight(const struct connection *conn)
{
	return conn->packets_out - conn->sacked_out - conn->lost_out + conn->retrans_out;
}

/* Slow start may grow the window to twice the part in use. */
static inline int is_cwnd_limited(const struct connection *conn)
{
	return conn->is_cwnd_limited ||
	       (conn->cwnd < conn->ssthresh && conn->cwnd < 2 * conn->max_packets_out);
}

enum hook {
	INIT,
	SSTHRESH,
	CONG_AVOID,
	PKTS_ACKED,
	CWND_EVENT,
	SET_STATE,
	IN_ACK_EVENT,
	UNDO_CWND,
	CONG_CONTROL,
	HOOKS
};

struct ack_input {
	uint32_t acked;
	int32_t rtt_us; /* -1: none */
	uint32_t in_flight_bytes;
};

struct rate_input {
	uint32_t prior_delivered;
	int64_t interval_us; /* negative: no valid sample */
	int32_t delivered;
	int32_t rtt_us;
	uint32_t losses;
	uint32_t acked_sacked;
	uint32_t prior_in_flight;
	uint32_t is_app_limited;
	uint32_t is_ack_delayed;
};

struct call {
	enum hook hook;
	uint32_t argument; /* segments acknowledged, event, state or flags */
	struct ack_input ack;
	struct rate_input rate;
};

struct side {
	/* An algorithm for a new connection; init is not called yet. */
	void *(*attach)(void);
	void (*detach)(void *attached);
	int (*has)(enum hook hook);
	/* Return the window of ssthresh and undo_cwnd, otherwise 0. */
	uint32_t (*call)(void *attached, struct connection *conn,
			 const struct call *call);
};

extern const struct side linux_side, our_side;

#endif
