/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * path.h - the forward path, the receiver and the return path: one drop-tail bottleneck,
 * SACK, delayed or aggregated ACKs, and no reordering. Times are in ns, data in segments.
 */
#ifndef LINUX_MODULES_PATH_H
#define LINUX_MODULES_PATH_H

#include <stdint.h>

#include "chance.h"
#include "scenario.h"

#define NEVER UINT64_MAX
/* More than is ever in flight, or beyond a hole. A power of two. */
#define RING (1u << 17)

struct packet {
	uint64_t arrives_ns;
	uint64_t segment;
	uint32_t stamp; /* ms */
	uint8_t marked;
	uint8_t says_cwr;
};

struct ack {
	uint64_t arrives_ns;
	uint64_t next;	 /* all below has arrived */
	uint64_t sacked; /* segments beyond that which have just arrived, up to sacked_end
			  */
	uint64_t sacked_end;
	uint32_t stamp;
	uint32_t stamp_echoed;
	uint8_t ece;
};

struct receiver {
	uint64_t next;
	uint64_t waiting;	     /* segments beyond the first hole */
	uint8_t *has;		     /* ring: a segment beyond `next` has arrived */
	uint32_t unacked;	     /* in order */
	uint32_t echo;		     /* timestamp of the first of these */
	uint64_t sacked, sacked_end; /* not reported yet, beyond the first hole */
	uint64_t delayed_until_ns;
	uint8_t saw_mark;
};

struct path {
	const struct scenario *scenario;
	struct chance loss, cross, jitter, outage;
	struct packet *packets; /* in flight, a ring */
	struct ack *acks;
	uint64_t first_packet, packets_end, first_ack, acks_end;
	uint64_t *departures; /* of packets in the bottleneck's queue, a ring */
	uint64_t first_departure, departures_end;
	uint64_t last_arrival_ns;
	uint64_t out_from_ns, out_until_ns;
	struct receiver receiver;
};

void path_open(struct path *path, const struct scenario *scenario);
void path_close(struct path *path);
void path_send(struct path *path, uint64_t now_ns, uint64_t segment, int can_be_marked,
	       int says_cwr);
/* Time when the receiver acts, or an ACK arrives at the sender. */
uint64_t path_receiver_ns(const struct path *path);
uint64_t path_ack_ns(const struct path *path);
void path_receive(struct path *path);
struct ack path_take_ack(struct path *path);

#endif
