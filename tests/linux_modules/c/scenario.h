/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* scenario.h - one run, as on the command line (key=value; scenarios.py draws them). */
#ifndef LINUX_MODULES_SCENARIO_H
#define LINUX_MODULES_SCENARIO_H

#include <stdint.h>

struct scenario {
	uint64_t seed;
	uint64_t duration_us;
	uint64_t start_us;     /* the clock at the beginning */
	uint64_t start_seq;    /* the first sequence number */
	uint64_t stamp_offset; /* of the receiver's clock from the sender's, ms */
	uint64_t start_cwnd;   /* window and threshold of the beginning; 0: Linux's */
	uint64_t rtt_us;       /* of the empty path */
	uint64_t service_ns;   /* of a packet at the bottleneck */
	uint64_t queue_packets;
	uint64_t mark_packets; /* a queue this long marks; 0: never */
	uint64_t loss_ppm;
	uint64_t ack_every;    /* segments per ACK: 1, 2 if delayed, more if aggregated */
	uint64_t cross;	       /* up to so many times slower for other flows' packets */
	uint64_t jitter_us;    /* in order */
	uint64_t outage_us;    /* time without any packet, now and then; 0: never */
	uint64_t outage_drops; /* packets in an outage are lost, not late */
	uint64_t burst_segs; /* segments that the application writes at once; 0: no end */
	uint64_t pause_us;   /* up to so long after a burst was acknowledged */
	uint64_t spurious;   /* percent of recoveries that prove needless */
	uint64_t exact_marks; /* ACKs echo marks as in RFC 8257, not as in RFC 3168 */
};

/* Ends the program if a key is unknown or none. */
struct scenario scenario_of(int count, char **settings);

#endif
