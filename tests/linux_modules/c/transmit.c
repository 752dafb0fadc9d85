/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* transmit.c - sending, and the use of the window. */
#include "sender.h"

#define INITIAL_CWND 10u
/* The receiver's window: the capacity of the rings. */
#define WINDOW (RING / 2)

void arm_rto(struct sender *sender)
{
	uint64_t rto_us = (uint64_t)sender->rto_us << sender->backoff;

	if (rto_us > 120000000)
		rto_us = 120000000;
	sender->rto_at_ns =
		sender->conn.packets_out ? sender->now_ns + rto_us * 1000 : NEVER;
}

/*
 * Forget the part of the window that was not used for the time of a timeout (RFC 7661).
 */
static void forget_unused(struct sender *sender)
{
	struct connection *conn = &sender->conn;
	uint32_t used = sender->used > INITIAL_CWND ? sender->used : INITIAL_CWND;

	if (conn->state == OPEN && used < conn->cwnd) {
		conn->ssthresh = ssthresh_to_keep(conn);
		conn->cwnd = (conn->cwnd + used) >> 1;
	}
	sender->used = 0;
	sender->used_at_us = conn->now_us;
}

static void note_use(struct sender *sender, int is_full)
{
	struct connection *conn = &sender->conn;

	if (sender->una >= sender->usage_round || is_full ||
	    (!conn->is_cwnd_limited && conn->packets_out > conn->max_packets_out)) {
		conn->is_cwnd_limited = (uint32_t)is_full;
		conn->max_packets_out = conn->packets_out;
		sender->usage_round = sender->nxt;
	}
	if (is_cwnd_limited(conn)) {
		sender->used = 0;
		sender->used_at_us = conn->now_us;
		return;
	}
	if (conn->packets_out > sender->used)
		sender->used = conn->packets_out;
	if (conn->now_us - sender->used_at_us >= sender->rto_us && !has_control(sender))
		forget_unused(sender);
}

/* RFC 2861: halve the window for each timeout without sending. */
static void restart_if_idle(struct sender *sender)
{
	struct connection *conn = &sender->conn;
	int64_t idle_us = (int64_t)(conn->now_us - conn->last_sent_us);
	uint32_t cwnd = conn->cwnd;
	uint32_t least = cwnd < INITIAL_CWND ? cwnd : INITIAL_CWND;

	if (conn->packets_out || has_control(sender) || idle_us <= sender->rto_us)
		return;
	call_hook(sender, CWND_EVENT, CWND_RESTART);
	conn->ssthresh = ssthresh_to_keep(conn);
	while ((idle_us -= sender->rto_us) > 0 && cwnd > least)
		cwnd >>= 1;
	conn->cwnd = cwnd > least ? cwnd : least;
	sender->used_at_us = conn->now_us;
	sender->used = 0;
}

/* Note the values at which a segment's rate sample will begin. */
static void note_departure(struct sender *sender, struct segment *segment)
{
	struct connection *conn = &sender->conn;

	if (!conn->packets_out) {
		sender->first_sent_us = conn->now_us;
		conn->delivered_us = conn->now_us;
	}
	segment->first_sent_us = sender->first_sent_us;
	segment->delivered_us = conn->delivered_us;
	segment->delivered = conn->delivered;
	segment->is_app_limited = conn->app_limited != 0;
}

static void pace(struct sender *sender)
{
	uint64_t rate = sender->conn.pacing_rate;

	if (!has_control(sender) || !rate)
		return;
	if (sender->departs_ns < sender->now_ns)
		sender->departs_ns = sender->now_ns;
	sender->departs_ns += MSS * 1000000000ull / rate;
}

static void put_on_wire(struct sender *sender, uint64_t number, int is_new)
{
	struct connection *conn = &sender->conn;
	struct segment *segment = SEGMENT(sender, number);

	if (!in_flight(conn))
		call_hook(sender, CWND_EVENT, TX_START);
	note_departure(sender, segment);
	conn->last_sent_us = conn->now_us;
	segment->sent_ns = sender->now_ns;
	segment->order = sender->transmissions;
	sender->sent[sender->transmissions++ & (RING - 1)] = number;
	path_send(&sender->path, sender->now_ns, number, is_new,
		  is_new && sender->owes_cwr);
	sender->owes_cwr = is_new ? 0 : sender->owes_cwr;
	sender->prr_sent++;
	pace(sender);
}

static void send_again(struct sender *sender, uint64_t number)
{
	struct segment *segment = SEGMENT(sender, number);

	put_on_wire(sender, number, 0);
	segment->resent = 1;
	segment->is_back = 1;
	sender->conn.retrans_out++;
	sender->conn.resent++;
	if (sender->rto_at_ns == NEVER)
		arm_rto(sender);
}

static void send_new(struct sender *sender)
{
	uint64_t number = sender->nxt;

	*SEGMENT(sender, number) = (struct segment){0};
	put_on_wire(sender, number, 1);
	sender->nxt++;
	sender->conn.nxt += MSS;
	if (!sender->conn.packets_out++)
		arm_rto(sender);
}

/* Note that the application, not the network, limits the next rate samples. */
static void note_nothing_to_send(struct sender *sender)
{
	struct connection *conn = &sender->conn;

	if (sender->nxt < sender->supplied || in_flight(conn) >= conn->cwnd ||
	    conn->lost_out > conn->retrans_out)
		return;
	conn->app_limited = conn->delivered + in_flight(conn);
	if (!conn->app_limited)
		conn->app_limited = 1;
}

static int may_send_new(const struct sender *sender)
{
	return sender->nxt < sender->supplied && sender->nxt < sender->una + WINDOW;
}

void transmit(struct sender *sender)
{
	struct connection *conn = &sender->conn;
	uint32_t sent = 0;
	int is_full;

	while (in_flight(conn) < conn->cwnd && sender->departs_ns <= sender->now_ns) {
		uint64_t lost = next_repair(sender);

		if (lost == NEVER && !may_send_new(sender))
			break;
		if (lost == NEVER) {
			restart_if_idle(sender);
			send_new(sender);
		} else {
			send_again(sender, lost);
		}
		sent++;
	}
	note_nothing_to_send(sender);
	is_full = in_flight(conn) >= conn->cwnd;
	if (sent || is_full)
		note_use(sender, is_full);
}
