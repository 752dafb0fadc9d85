/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "path.h"

#include <stdlib.h>

#define AT(ring, number) ((ring)[(number) & (RING - 1)])
#define DELAYED_ACK_NS 40000000ull
#define COMPRESSED_NS 1000000ull
#define SECOND_NS 1000000000ull

void path_open(struct path *path, const struct scenario *scenario)
{
	uint64_t seed = scenario->seed;

	*path = (struct path){
		.scenario = scenario,
		.loss = chance_for(seed, 'l'),
		.cross = chance_for(seed, 'x'),
		.jitter = chance_for(seed, 'j'),
		.outage = chance_for(seed, 'o'),
		.packets = calloc(RING, sizeof(struct packet)),
		.acks = calloc(RING, sizeof(struct ack)),
		.departures = calloc(RING, sizeof(uint64_t)),
		.receiver = {.has = calloc(RING, 1), .delayed_until_ns = NEVER},
	};
}

void path_close(struct path *path)
{
	free(path->packets);
	free(path->acks);
	free(path->departures);
	free(path->receiver.has);
}

/*
 * The bottleneck.
 */

/* Outages begin 3 to 15 s after the last one, and last for a tenth to all of outage_us.
 */
static int is_out(struct path *path, uint64_t now_ns)
{
	const struct scenario *scenario = path->scenario;

	if (!scenario->outage_us)
		return 0;
	while (path->out_until_ns <= now_ns) {
		path->out_from_ns =
			path->out_until_ns +
			draw_between(&path->outage, 3 * SECOND_NS, 15 * SECOND_NS);
		path->out_until_ns =
			path->out_from_ns + draw_between(&path->outage,
							 scenario->outage_us * 100,
							 scenario->outage_us * 1000);
	}
	return now_ns >= path->out_from_ns;
}

static uint32_t waiting(struct path *path, uint64_t now_ns)
{
	while (path->first_departure < path->departures_end &&
	       AT(path->departures, path->first_departure) <= now_ns)
		path->first_departure++;
	return (uint32_t)(path->departures_end - path->first_departure);
}

/* Departure time of a packet that joins the queue. */
static uint64_t departure(struct path *path, uint64_t now_ns, int out)
{
	const struct scenario *scenario = path->scenario;
	uint64_t idle_from = path->departures_end > path->first_departure
				     ? AT(path->departures, path->departures_end - 1)
				     : now_ns;
	uint64_t service =
		scenario->service_ns * draw_between(&path->cross, 1, scenario->cross);

	if (out && idle_from < path->out_until_ns)
		idle_from = path->out_until_ns;
	return idle_from + service;
}

void path_send(struct path *path, uint64_t now_ns, uint64_t segment, int can_be_marked,
	       int says_cwr)
{
	const struct scenario *scenario = path->scenario;
	uint32_t queue = waiting(path, now_ns);
	int out = is_out(path, now_ns);
	int is_lost = draw_share(&path->loss) * 1e6 < (double)scenario->loss_ppm;
	uint64_t left_ns, arrives_ns;

	if (is_lost || queue > scenario->queue_packets || (out && scenario->outage_drops))
		return;
	left_ns = departure(path, now_ns, out);
	AT(path->departures, path->departures_end++) = left_ns;
	arrives_ns = left_ns + scenario->rtt_us * 500 +
		     draw_between(&path->jitter, 0, scenario->jitter_us * 1000);
	if (arrives_ns < path->last_arrival_ns)
		arrives_ns = path->last_arrival_ns;
	path->last_arrival_ns = arrives_ns;
	AT(path->packets, path->packets_end++) = (struct packet){
		.arrives_ns = arrives_ns,
		.segment = segment,
		.stamp = (uint32_t)(now_ns / 1000000),
		.marked = can_be_marked && scenario->mark_packets &&
			  queue >= scenario->mark_packets,
		.says_cwr = (uint8_t)says_cwr,
	};
}

/*
 * The receiver.
 */

static void acknowledge(struct path *path, uint64_t now_ns)
{
	struct receiver *receiver = &path->receiver;

	AT(path->acks, path->acks_end++) = (struct ack){
		.arrives_ns = now_ns + path->scenario->rtt_us * 500,
		.next = receiver->next,
		.sacked = receiver->sacked,
		.sacked_end = receiver->sacked_end,
		.stamp = (uint32_t)(now_ns / 1000000 + path->scenario->stamp_offset),
		.stamp_echoed = receiver->echo,
		.ece = receiver->saw_mark,
	};
	receiver->unacked = 0;
	receiver->sacked = receiver->sacked_end;
	receiver->delayed_until_ns = NEVER;
}

/* RFC 3168 echoes a mark until the sender sets CWR. RFC 8257 echoes each one. */
static void note_mark(struct path *path, const struct packet *packet)
{
	struct receiver *receiver = &path->receiver;

	if (!path->scenario->exact_marks) {
		receiver->saw_mark =
			packet->marked || (receiver->saw_mark && !packet->says_cwr);
		return;
	}
	/* The segments that wait for an ACK differ from this one in their mark. */
	if (receiver->saw_mark != packet->marked && receiver->unacked)
		acknowledge(path, packet->arrives_ns);
	receiver->saw_mark = packet->marked;
}

/* Advance past segments that arrived beyond a closed hole. */
static void advance(struct receiver *receiver)
{
	receiver->next++;
	while (receiver->waiting && AT(receiver->has, receiver->next)) {
		AT(receiver->has, receiver->next++) = 0;
		receiver->waiting--;
	}
}

/* If more than two segments share an ACK, SACKs and fills of holes share it, too. */
static int aggregates(const struct path *path)
{
	return path->scenario->ack_every > 2;
}

/* SACK a segment at once, unless ACKs are aggregated. */
static void keep_for_later(struct path *path, const struct packet *packet)
{
	struct receiver *receiver = &path->receiver;
	uint64_t aggregated = aggregates(path) ? path->scenario->ack_every : 1;

	if (!AT(receiver->has, packet->segment)) {
		AT(receiver->has, packet->segment) = 1;
		receiver->waiting++;
	}
	if (receiver->sacked < receiver->sacked_end &&
	    receiver->sacked_end != packet->segment)
		acknowledge(path, packet->arrives_ns);
	if (receiver->sacked == receiver->sacked_end)
		receiver->sacked = packet->segment;
	receiver->sacked_end = packet->segment + 1;
	if (receiver->sacked_end - receiver->sacked >= aggregated)
		acknowledge(path, packet->arrives_ns);
	else if (receiver->delayed_until_ns == NEVER)
		receiver->delayed_until_ns = packet->arrives_ns + COMPRESSED_NS;
}

static void take_packet(struct path *path, const struct packet *packet)
{
	struct receiver *receiver = &path->receiver;
	int had_hole = receiver->waiting > 0;

	note_mark(path, packet);
	if (packet->segment > receiver->next) {
		keep_for_later(path, packet);
		return;
	}
	if (packet->segment < receiver->next) {
		acknowledge(path, packet->arrives_ns);
		return;
	}
	if (!receiver->unacked++)
		receiver->echo = packet->stamp;
	advance(receiver);
	if (receiver->sacked < receiver->next)
		receiver->sacked = receiver->sacked_end;
	if ((had_hole && !aggregates(path)) ||
	    receiver->unacked >= path->scenario->ack_every)
		acknowledge(path, packet->arrives_ns);
	else if (receiver->unacked == 1)
		receiver->delayed_until_ns =
			packet->arrives_ns + (had_hole ? COMPRESSED_NS : DELAYED_ACK_NS);
}

uint64_t path_receiver_ns(const struct path *path)
{
	uint64_t timer_ns = path->receiver.delayed_until_ns;
	uint64_t packet_ns = path->first_packet < path->packets_end
				     ? AT(path->packets, path->first_packet).arrives_ns
				     : NEVER;

	return packet_ns < timer_ns ? packet_ns : timer_ns;
}

void path_receive(struct path *path)
{
	uint64_t now_ns = path_receiver_ns(path);

	if (path->receiver.delayed_until_ns == now_ns) {
		acknowledge(path, now_ns);
		return;
	}
	take_packet(path, &AT(path->packets, path->first_packet));
	path->first_packet++;
}

uint64_t path_ack_ns(const struct path *path)
{
	return path->first_ack < path->acks_end
		       ? AT(path->acks, path->first_ack).arrives_ns
		       : NEVER;
}

struct ack path_take_ack(struct path *path)
{
	return AT(path->acks, path->first_ack++);
}
