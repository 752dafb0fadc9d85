/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * sender.h - a small TCP sender that calls its algorithm at the same events and with the
 * same input as Linux 6.12: SACK, proportional rate reduction, timeouts with back-off,
 * restarts after idle, undo, rate samples, pacing. It is the same for both sides.
 */
#ifndef LINUX_MODULES_SENDER_H
#define LINUX_MODULES_SENDER_H

#include "path.h"
#include "side.h"

/* The functions that a sender calls: one side, or both in step. */
struct algorithm {
	int (*has)(void *context, enum hook hook);
	uint32_t (*call)(void *context, struct connection *conn, const struct call *call);
	void *context;
};

/* A transmission that is not acknowledged yet. */
struct segment {
	uint64_t sent_ns;
	uint64_t order; /* of all transmissions */
	/* As of the transmission, for rate samples. */
	uint64_t first_sent_us;
	uint64_t delivered_us;
	uint32_t delivered;
	uint8_t is_app_limited;

	uint8_t sacked;
	uint8_t lost;
	uint8_t resent;	 /* ever */
	uint8_t is_back; /* sent again since it was lost */
};

struct sender {
	struct connection conn;
	const struct scenario *scenario;
	struct algorithm algorithm;
	struct path path;
	struct chance random, spurious, application;
	uint64_t now_ns;

	/* Segments by number, and by order of transmission. */
	struct segment *segments;
	uint64_t *sent;
	uint64_t una, nxt, transmissions;
	uint64_t judged;	 /* transmissions before this are lost or delivered */
	uint64_t last_delivered; /* the latest transmission that was delivered */
	uint64_t *repairs;	 /* lost segments to send again, a ring */
	uint64_t first_repair, repairs_end;

	/* The current reduction. */
	uint64_t high, undo_from;
	uint32_t prior_ssthresh;
	uint32_t prr_delivered, prr_sent;
	uint8_t may_undo, is_needless, watches_timeout;
	uint8_t owes_cwr;

	/* Timers. */
	uint32_t rttvar_us, rto_us, backoff;
	uint64_t rto_at_ns, departs_ns, supply_at_ns;

	/* Use of the window. */
	uint64_t supplied, usage_round;
	uint32_t used;
	uint64_t used_at_us;
	uint64_t first_sent_us; /* of what was delivered last */

	uint64_t acks;
};

void sender_open(struct sender *sender, const struct scenario *scenario,
		 struct algorithm algorithm);
void sender_close(struct sender *sender);
/* Run until a time of the sender's clock. */
void sender_run(struct sender *sender, uint64_t until_ns);

/* The parts of a sender, a file each. */

#define SEGMENT(sender, number) (&(sender)->segments[(number) & (RING - 1)])

/* events.c */
uint32_t call_hook(struct sender *sender, enum hook hook, uint32_t argument);
uint32_t call_algorithm(struct sender *sender, const struct call *call);
int has_control(struct sender *sender);

/* scoreboard.c */
struct delivery {
	uint32_t acked;			   /* segments */
	uint32_t delivered;		   /* acknowledged or SACKed for the first time */
	int64_t first_rtt_us, last_rtt_us; /* of what was never sent again; -1: none */
	uint8_t original; /* something never sent again, of the window before a timeout */
	uint8_t advances, fills_hole, has_sack, ece;
	struct rate_input rate;
	uint64_t rate_from_us; /* 0: no sample */
	uint64_t rate_order;
};

void read_ack(struct sender *sender, const struct ack *ack, struct delivery *delivery);
void find_losses(struct sender *sender);
void lose_all(struct sender *sender);
void lose_nothing(struct sender *sender);
uint64_t next_repair(struct sender *sender);

/* state.c */
uint32_t ssthresh_to_keep(const struct connection *conn);
void enter_cwr(struct sender *sender);
void on_timeout(struct sender *sender);
void follow_state(struct sender *sender, const struct delivery *delivery);
void reduce(struct sender *sender, const struct delivery *delivery, uint32_t newly_lost);

/* transmit.c */
void transmit(struct sender *sender);
void arm_rto(struct sender *sender);

#endif
