/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* events.c - ACKs and timers, one after the other. */
#include "sender.h"

#include <stdlib.h>

#define RTO_MIN_US 200000u
#define INITIAL_CWND 10u

uint32_t call_algorithm(struct sender *sender, const struct call *call)
{
	struct connection *conn = &sender->conn;
	uint64_t now_ns = sender->now_ns;
	uint32_t returned;

	conn->random = draw(&sender->random);
	conn->pacing_wait_us = sender->departs_ns > now_ns
				       ? (uint32_t)((sender->departs_ns - now_ns) / 1000)
				       : 0;
	returned = sender->algorithm.call(sender->algorithm.context, conn, call);
	if (conn->asks_for_cwr) {
		conn->asks_for_cwr = 0;
		enter_cwr(sender);
	}
	return returned;
}

uint32_t call_hook(struct sender *sender, enum hook hook, uint32_t argument)
{
	return call_algorithm(sender, &(struct call){.hook = hook, .argument = argument});
}

int has_control(struct sender *sender)
{
	return sender->algorithm.has(sender->algorithm.context, CONG_CONTROL);
}

/* RFC 6298, with Linux's smallest timeout. */
static void take_rtt(struct sender *sender, int64_t rtt_us)
{
	struct connection *conn = &sender->conn;
	int64_t error = rtt_us - (conn->srtt_8us >> 3);
	uint32_t deviation = (uint32_t)(error < 0 ? -error : error);

	if (conn->srtt_8us) {
		conn->srtt_8us = (uint32_t)(conn->srtt_8us + error);
		sender->rttvar_us += (deviation >> 2) - (sender->rttvar_us >> 2);
	} else {
		conn->srtt_8us = (uint32_t)(rtt_us > 0 ? rtt_us : 1) << 3;
		sender->rttvar_us = (uint32_t)rtt_us / 2;
	}
	sender->rto_us = (conn->srtt_8us >> 3) + 4 * sender->rttvar_us;
	if (sender->rto_us < (conn->srtt_8us >> 3) + RTO_MIN_US)
		sender->rto_us = (conn->srtt_8us >> 3) + RTO_MIN_US;
}

/* If a retransmission makes RTTs ambiguous, use the timestamp that came back. */
static void take_rtts(struct sender *sender, const struct ack *ack,
		      struct delivery *delivery)
{
	struct connection *conn = &sender->conn;
	uint32_t since_ms = (uint32_t)(sender->now_ns / 1000000) - ack->stamp_echoed;

	if (delivery->first_rtt_us < 0 && delivery->acked)
		delivery->first_rtt_us = delivery->last_rtt_us =
			1000 * (int64_t)(since_ms ? since_ms : 1);
	if (delivery->first_rtt_us >= 0)
		take_rtt(sender, delivery->first_rtt_us);
	if (delivery->last_rtt_us >= 0 && delivery->last_rtt_us < conn->min_rtt_us)
		conn->min_rtt_us = (uint32_t)delivery->last_rtt_us;
}

/* The stack's pacing rate, which some modules read. */
static void set_pacing_rate(struct sender *sender)
{
	struct connection *conn = &sender->conn;
	uint64_t percent = conn->cwnd < conn->ssthresh / 2 ? 200 : 120;
	uint32_t window = conn->cwnd > conn->packets_out ? conn->cwnd : conn->packets_out;
	uint64_t rate = (uint64_t)MSS * (1000000 / 100 << 3) * percent * window;

	conn->pacing_rate = conn->srtt_8us ? rate / conn->srtt_8us : rate;
}

static void finish_rate(struct sender *sender, struct delivery *delivery,
			uint32_t newly_lost)
{
	struct connection *conn = &sender->conn;
	struct rate_input *rate = &delivery->rate;
	int64_t ack_us = (int64_t)(conn->now_us - delivery->rate_from_us);

	if (conn->app_limited && (int32_t)(conn->app_limited - conn->delivered) < 0)
		conn->app_limited = 0;
	if (delivery->delivered)
		conn->delivered_us = conn->now_us;
	rate->acked_sacked = delivery->delivered;
	rate->losses = newly_lost;
	rate->rtt_us = (int32_t)delivery->last_rtt_us;
	if (!delivery->rate_from_us) {
		rate->delivered = -1;
		rate->interval_us = -1;
		return;
	}
	rate->delivered = (int32_t)(conn->delivered - rate->prior_delivered);
	if (rate->interval_us < ack_us)
		rate->interval_us = ack_us;
	if (rate->interval_us < conn->min_rtt_us)
		rate->interval_us = -1;
}

static void control(struct sender *sender, struct delivery *delivery, uint32_t newly_lost)
{
	const struct connection *conn = &sender->conn;

	finish_rate(sender, delivery, newly_lost);
	if (has_control(sender)) {
		call_algorithm(sender, &(struct call){.hook = CONG_CONTROL,
						      .rate = delivery->rate});
		return;
	}
	if (conn->state == CWR || conn->state == RECOVERY)
		reduce(sender, delivery, newly_lost);
	else if (delivery->acked)
		call_hook(sender, CONG_AVOID, delivery->delivered);
	set_pacing_rate(sender);
}

static void report_ack(struct sender *sender, const struct delivery *delivery)
{
	struct connection *conn = &sender->conn;
	uint32_t rated = delivery->rate_from_us ? delivery->rate.prior_delivered : 0;
	uint32_t flags = ACK_SLOWPATH;

	call_algorithm(sender, &(struct call){.hook = PKTS_ACKED,
					      .ack = {delivery->acked,
						      (int32_t)delivery->last_rtt_us,
						      (conn->delivered - rated) * MSS}});
	if (delivery->ece)
		flags |= ACK_ECE;
	else if (delivery->advances && !delivery->has_sack && !delivery->fills_hole)
		flags = ACK_WIN_UPDATE;
	call_hook(sender, IN_ACK_EVENT, flags);
}

static void on_ack(struct sender *sender, const struct ack *ack)
{
	struct connection *conn = &sender->conn;
	uint32_t lost = conn->lost;
	struct delivery delivery;

	sender->acks++;
	conn->stamp = ack->stamp;
	conn->stamp_echoed = ack->stamp_echoed;
	read_ack(sender, ack, &delivery);
	if (delivery.advances)
		sender->backoff = 0;
	take_rtts(sender, ack, &delivery);
	report_ack(sender, &delivery);
	if (delivery.has_sack || !delivery.advances || delivery.ece ||
	    conn->state != OPEN)
		follow_state(sender, &delivery);
	if (delivery.acked)
		arm_rto(sender);
	control(sender, &delivery, conn->lost - lost);
}

static void on_rto(struct sender *sender)
{
	on_timeout(sender);
	sender->backoff++;
	sender->departs_ns = 0;
	arm_rto(sender);
}

/* Let the application write, once all is acknowledged and its pause is over. */
static void supply(struct sender *sender)
{
	const struct scenario *scenario = sender->scenario;

	sender->supply_at_ns = NEVER;
	if (!scenario->burst_segs)
		sender->supplied = NEVER;
	else
		sender->supplied +=
			draw_between(&sender->application, 1, 2 * scenario->burst_segs);
}

static void plan_supply(struct sender *sender)
{
	if (sender->una == sender->supplied && sender->supply_at_ns == NEVER)
		sender->supply_at_ns =
			sender->now_ns + 1000 * draw_between(&sender->application, 0,
							     sender->scenario->pause_us);
}

void sender_open(struct sender *sender, const struct scenario *scenario,
		 struct algorithm algorithm)
{
	uint64_t start_ns = scenario->start_us * 1000;

	*sender = (struct sender){
		.scenario = scenario,
		.algorithm = algorithm,
		.random = chance_for(scenario->seed, 'r'),
		.spurious = chance_for(scenario->seed, 's'),
		.application = chance_for(scenario->seed, 'a'),
		.now_ns = start_ns,
		.segments = calloc(RING, sizeof(struct segment)),
		.sent = calloc(RING, sizeof(uint64_t)),
		.repairs = calloc(RING, sizeof(uint64_t)),
		.rto_at_ns = NEVER,
		.conn = {.cwnd = INITIAL_CWND,
			 .cwnd_clamp = UINT32_MAX,
			 .ssthresh = SSTHRESH_INFINITE,
			 .una = (uint32_t)scenario->start_seq,
			 .nxt = (uint32_t)scenario->start_seq,
			 .min_rtt_us = NONE,
			 .now_us = scenario->start_us,
			 .last_sent_us = scenario->start_us,
			 .delivered_us = scenario->start_us},
	};
	path_open(&sender->path, scenario);
	/* The handshake has measured the RTT. */
	take_rtt(sender, (int64_t)scenario->rtt_us);
	sender->conn.min_rtt_us = (uint32_t)scenario->rtt_us;
	sender->used_at_us = scenario->start_us;
	set_pacing_rate(sender);
	call_hook(sender, INIT, 0);
	if (scenario->start_cwnd) {
		sender->conn.cwnd = (uint32_t)scenario->start_cwnd;
		sender->conn.ssthresh = (uint32_t)scenario->start_cwnd;
	}
	supply(sender);
	transmit(sender);
}

void sender_close(struct sender *sender)
{
	path_close(&sender->path);
	free(sender->segments);
	free(sender->sent);
	free(sender->repairs);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Time when pacing releases the next segment, if the sender waits for that. */
static uint64_t departure_ns(const struct sender *sender)
{
	return sender->departs_ns > sender->now_ns ? sender->departs_ns : NEVER;
}

static uint64_t next_event_ns(const struct sender *sender)
{
	uint64_t next_ns = sooner(path_ack_ns(&sender->path), sender->rto_at_ns);

	next_ns = sooner(next_ns, departure_ns(sender));
	return sooner(next_ns, sender->supply_at_ns);
}

static void take_event(struct sender *sender)
{
	uint64_t next_ns = next_event_ns(sender);

	sender->now_ns = next_ns;
	sender->conn.now_us = next_ns / 1000;
	if (path_ack_ns(&sender->path) == next_ns) {
		struct ack ack = path_take_ack(&sender->path);

		on_ack(sender, &ack);
	} else if (sender->rto_at_ns == next_ns) {
		on_rto(sender);
	} else if (sender->supply_at_ns == next_ns) {
		supply(sender);
	}
	transmit(sender);
	plan_supply(sender);
}

void sender_run(struct sender *sender, uint64_t until_ns)
{
	for (;;) {
		uint64_t receiver_ns = path_receiver_ns(&sender->path);
		uint64_t sender_ns = next_event_ns(sender);

		if (sooner(receiver_ns, sender_ns) > until_ns)
			break;
		if (receiver_ns <= sender_ns)
			path_receive(&sender->path);
		else
			take_event(sender);
	}
}
