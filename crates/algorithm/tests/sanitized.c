/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Plays random calls on every algorithm. Built with the address and undefined
 * behaviour sanitizers, it ends with a report where a file leaves C's rules.
 * ALGORITHMS is X(NAME) for each of them.
 */
#include "cc.h"
#include <stdio.h>
#include <string.h>

#define X(NAME) extern const struct cc_algorithm dumbbell_algorithm_##NAME;
ALGORITHMS
#undef X
#define X(NAME) &dumbbell_algorithm_##NAME,
static const struct cc_algorithm *const algorithms[] = {ALGORITHMS};

#define RUNS 400
#define CALLS 2000

/* xorshift64 */
static u64 random_state = 0x9e3779b97f4a7c15ull;

static u32 next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32)(random_state >> 16);
}

/* Small numbers, any numbers, and those where signs and sums turn over. */
static u32 any_number(void)
{
	static const u32 edges[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff};

	switch (next_random() % 4) {
	case 0:
		return next_random() % 20;
	case 1:
		return next_random() % 200000;
	case 2:
		return edges[next_random() % (sizeof(edges) / sizeof(edges[0]))];
	default:
		return next_random();
	}
}

static void choose_params(const struct cc_algorithm *algorithm, u32 *params)
{
	u8 initial = next_random() % 2;

	for (u32 i = 0; i < algorithm->parameter_count; i++) {
		const struct cc_parameter *row = &algorithm->parameters[i];
		u64 choices = (u64)(row->high - row->low) / row->step + 1;

		params[i] =
			initial ? row->initial
				: row->low + (u32)(any_number() % choices) * row->step;
	}
}

static void choose_conn(struct cc_conn *conn)
{
	conn->now_us += any_number() % 2000000;
	conn->delivered_segs += any_number() % 1000;
	conn->delivered_ce_segs += any_number() % 1000;
	conn->in_flight_segs = any_number();
	conn->prior_cwnd_segs = any_number();
	conn->cwnd_limited = next_random() % 8 != 0;
	conn->snd_una += any_number();
	conn->snd_nxt = conn->snd_una + any_number();
	conn->srtt_us = any_number();
	conn->random = next_random();
	conn->lost_segs += any_number() % 100;
	conn->delivered_ce_segs += any_number() % 100;
	conn->in_flight_segs = any_number();
	conn->pacing_wait_us = any_number();
	conn->min_rtt_us = any_number();
	conn->one_way_ticks = any_number();
	conn->resent_segs = any_number();
	if (next_random() % 16 == 0) {
		conn->cwnd_segs = any_number();
		conn->cwnd_cnt = any_number();
		conn->ssthresh_segs = any_number();
		conn->cwnd_clamp_segs = any_number();
		conn->mss_bytes = any_number();
		conn->now_us = any_number();
	}
}

static void call(const struct cc_algorithm *algorithm, const u32 *params, u64 *state,
		 struct cc_conn *conn)
{
	struct cc_ack_sample sample = {any_number(), (s32)any_number(), any_number()};
	struct cc_rate_sample rate = {.prior_delivered_segs = any_number(),
				      .interval_us = (s32)any_number(),
				      .delivered_segs = (s32)any_number(),
				      .rtt_us = (s32)any_number(),
				      .losses_segs = any_number(),
				      .acked_sacked_segs = any_number(),
				      .prior_in_flight_segs = any_number(),
				      .is_app_limited = next_random() % 2,
				      .is_ack_delayed = next_random() % 2};
	struct cc_info info = {{0}};

	if (algorithm->pkts_acked)
		algorithm->pkts_acked(params, state, conn, &sample);
	if (algorithm->cong_avoid)
		algorithm->cong_avoid(params, state, conn, any_number());
	if (algorithm->cong_control)
		algorithm->cong_control(params, state, conn, &rate);
	if (algorithm->in_ack_event)
		algorithm->in_ack_event(params, state, conn, next_random());
	if (algorithm->info)
		algorithm->info(params, state, conn, &info);
	switch (next_random() % 8) {
	case 0:
		conn->ssthresh_segs = algorithm->ssthresh(params, state, conn);
		break;
	case 1:
		if (algorithm->undo_cwnd)
			conn->cwnd_segs = algorithm->undo_cwnd(params, state, conn);
		break;
	case 2:
		if (algorithm->cwnd_event)
			algorithm->cwnd_event(params, state, conn, next_random() % 6);
		break;
	case 3:
		if (algorithm->set_state)
			algorithm->set_state(params, state, conn, next_random() % 5);
		conn->state = next_random() % 5;
		break;
	}
}

int main(void)
{
	u32 count = sizeof(algorithms) / sizeof(algorithms[0]);

	for (u32 run = 0; run < RUNS * count; run++) {
		const struct cc_algorithm *algorithm = algorithms[run % count];
		u32 params[CC_PARAMETERS_MAX];
		u64 state[CC_STATE_BYTES / sizeof(u64)];
		struct cc_conn conn;

		memset(params, 0, sizeof(params));
		memset(state, 0, sizeof(state));
		memset(&conn, 0, sizeof(conn));
		choose_params(algorithm, params);
		conn.cwnd_segs = 10;
		conn.ssthresh_segs = CC_SSTHRESH_INFINITE;
		conn.cwnd_clamp_segs = 0xffffffffu;
		conn.mss_bytes = 1448;
		conn.stack = next_random() % 4;
		if (algorithm->init)
			algorithm->init(params, state, &conn);
		for (u32 i = 0; i < CALLS; i++) {
			choose_conn(&conn);
			call(algorithm, params, state, &conn);
		}
	}
	printf("%u algorithms\n", count);
	return 0;
}
