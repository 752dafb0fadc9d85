/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* scoreboard.c - the segments that an ACK delivers, and those that are lost. */
#include "sender.h"

/* A transmission is lost once one this much later has arrived. */
#define REORDERING 3

/* The latest transmission that an ACK delivers makes its rate sample. */
static void note_rate(struct sender *sender, const struct segment *segment,
		      struct delivery *delivery)
{
	if (delivery->rate_from_us && segment->order < delivery->rate_order)
		return;
	delivery->rate_order = segment->order;
	delivery->rate_from_us = segment->delivered_us;
	delivery->rate.prior_delivered = segment->delivered;
	delivery->rate.is_app_limited = segment->is_app_limited;
	sender->first_sent_us = segment->sent_ns / 1000;
	delivery->rate.interval_us =
		(int64_t)(sender->first_sent_us - segment->first_sent_us);
}

static void note_rtt(struct sender *sender, const struct segment *segment,
		     struct delivery *delivery)
{
	int64_t rtt_us = (int64_t)(sender->now_ns / 1000 - segment->sent_ns / 1000);

	if (delivery->first_rtt_us < 0)
		delivery->first_rtt_us = rtt_us;
	delivery->last_rtt_us = rtt_us;
}

static void deliver(struct sender *sender, const struct segment *segment,
		    struct delivery *delivery)
{
	struct connection *conn = &sender->conn;
	uint64_t rtt_us = (sender->now_ns - segment->sent_ns) / 1000;

	conn->delivered++;
	delivery->delivered++;
	if (delivery->ece)
		conn->delivered_ce++;
	/* A segment that is back too early was delivered by its first transmission. */
	if (segment->order > sender->last_delivered &&
	    (!segment->resent || rtt_us >= conn->min_rtt_us))
		sender->last_delivered = segment->order;
	note_rate(sender, segment, delivery);
}

static void acknowledge(struct sender *sender, uint64_t number, struct delivery *delivery,
			int *any_resent)
{
	struct connection *conn = &sender->conn;
	struct segment *segment = SEGMENT(sender, number);

	if (segment->resent) {
		conn->retrans_out -= segment->is_back;
		*any_resent = 1;
	} else if (!segment->sacked) {
		note_rtt(sender, segment, delivery);
		if (number < sender->high)
			delivery->original = 1;
	}
	if (segment->sacked)
		conn->sacked_out--;
	else
		deliver(sender, segment, delivery);
	conn->lost_out -= segment->lost;
	conn->packets_out--;
	delivery->acked++;
}

static void take_sack(struct sender *sender, uint64_t number, struct delivery *delivery)
{
	struct connection *conn = &sender->conn;
	struct segment *segment = SEGMENT(sender, number);

	if (number < sender->una || segment->sacked)
		return;
	conn->retrans_out -= segment->is_back;
	conn->lost_out -= segment->lost;
	segment->is_back = 0;
	segment->lost = 0;
	segment->sacked = 1;
	conn->sacked_out++;
	deliver(sender, segment, delivery);
	if (segment->resent)
		return;
	note_rtt(sender, segment, delivery);
	if (number < sender->high)
		delivery->original = 1;
}

void read_ack(struct sender *sender, const struct ack *ack, struct delivery *delivery)
{
	struct connection *conn = &sender->conn;
	uint32_t prior_sacked = conn->sacked_out;
	int any_resent = 0;

	*delivery = (struct delivery){
		.first_rtt_us = -1,
		.last_rtt_us = -1,
		.advances = ack->next > sender->una,
		.has_sack = ack->sacked < ack->sacked_end,
		.ece = ack->ece,
		.rate = {.prior_in_flight = in_flight(conn)},
	};
	for (uint64_t number = ack->sacked; number < ack->sacked_end; number++)
		take_sack(sender, number, delivery);
	for (; sender->una < ack->next; sender->una++)
		acknowledge(sender, sender->una, delivery, &any_resent);
	if (any_resent && !delivery->has_sack)
		delivery->first_rtt_us = delivery->last_rtt_us = -1;
	conn->una += delivery->acked * MSS;
	delivery->fills_hole = delivery->acked > delivery->delivered;
	delivery->rate.is_ack_delayed =
		delivery->acked == 1 && !prior_sacked && delivery->last_rtt_us >= 0 &&
		delivery->rate.prior_delivered + 1 == conn->delivered &&
		!delivery->has_sack && !delivery->ece;
}

static void lose(struct sender *sender, uint64_t number)
{
	struct connection *conn = &sender->conn;
	struct segment *segment = SEGMENT(sender, number);

	conn->lost += !segment->lost || segment->is_back;
	conn->retrans_out -= segment->is_back;
	segment->is_back = 0;
	conn->lost_out += !segment->lost;
	segment->lost = 1;
	sender->repairs[sender->repairs_end++ & (RING - 1)] = number;
}

/*
 * Return true if a transmission is the last of its segment, and nothing is known of it.
 */
static int is_open(const struct sender *sender, uint64_t order, uint64_t number)
{
	const struct segment *segment = SEGMENT(sender, number);

	return number >= sender->una && number < sender->nxt && segment->order == order &&
	       !segment->sacked && (!segment->lost || segment->is_back);
}

void find_losses(struct sender *sender)
{
	for (; sender->judged + REORDERING <= sender->last_delivered; sender->judged++) {
		uint64_t number = sender->sent[sender->judged & (RING - 1)];

		if (is_open(sender, sender->judged, number))
			lose(sender, number);
	}
}

void lose_all(struct sender *sender)
{
	sender->first_repair = sender->repairs_end;
	for (uint64_t number = sender->una; number < sender->nxt; number++)
		if (!SEGMENT(sender, number)->sacked)
			lose(sender, number);
}

void lose_nothing(struct sender *sender)
{
	for (uint64_t number = sender->una; number < sender->nxt; number++) {
		sender->conn.lost_out -= SEGMENT(sender, number)->lost;
		SEGMENT(sender, number)->lost = 0;
	}
	sender->first_repair = sender->repairs_end;
	sender->judged = sender->transmissions > RING ? sender->transmissions - RING : 0;
}

uint64_t next_repair(struct sender *sender)
{
	for (; sender->first_repair < sender->repairs_end; sender->first_repair++) {
		uint64_t number = sender->repairs[sender->first_repair & (RING - 1)];
		const struct segment *segment = SEGMENT(sender, number);

		if (number >= sender->una && segment->lost && !segment->is_back)
			return number;
	}
	return NEVER;
}
