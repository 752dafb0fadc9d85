/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* our_side.c - an algorithm of algorithms/, with default parameters. */
#include <stdlib.h>

#define CC_VIEW /* filled in here */
#include "cc.h"
#include "linux_facts.h"
#include "side.h"

_Static_assert((int)CC_LOSS == LOSS && (int)CC_EVENT_LOSS == EVENT_LOSS &&
		       (int)CC_ACK_ECE == ACK_ECE && CC_NO_RTT == NONE &&
		       CC_SSTHRESH_INFINITE == SSTHRESH_INFINITE,
	       "cc.h has Linux's numbers");

/* The program is built for one algorithm: -DALGORITHM=dumbbell_algorithm_NAME. */
extern const struct cc_algorithm ALGORITHM;

struct attached {
	u32 params[CC_PARAMETERS_MAX];
	u64 state[CC_STATE_BYTES / 8];
};

struct linux_facts linux_facts;

void linux_enter_cwr(void)
{
	linux_facts.asks_for_cwr = 1;
}

static void *attach(void)
{
	struct attached *ours = calloc(1, sizeof(*ours));

	for (u32 i = 0; i < ALGORITHM.parameter_count; i++)
		ours->params[i] = ALGORITHM.parameters[i].initial;
	return ours;
}

static int has(enum hook hook)
{
	switch (hook) {
	case INIT:
		return ALGORITHM.init != NULL;
	case CONG_AVOID:
		return ALGORITHM.cong_avoid != NULL;
	case PKTS_ACKED:
		return ALGORITHM.pkts_acked != NULL;
	case CWND_EVENT:
		return ALGORITHM.cwnd_event != NULL;
	case SET_STATE:
		return ALGORITHM.set_state != NULL;
	case IN_ACK_EVENT:
		return ALGORITHM.in_ack_event != NULL;
	case CONG_CONTROL:
		return ALGORITHM.cong_control != NULL;
	default: /* without undo_cwnd the stack uses Reno's window */
		return 1;
	}
}

static struct cc_conn seen(const struct connection *conn)
{
	return (struct cc_conn){
		.cwnd_segs = conn->cwnd,
		.cwnd_cnt = conn->cwnd_cnt,
		.ssthresh_segs = conn->ssthresh,
		.cwnd_clamp_segs = conn->cwnd_clamp,
		.pacing_rate_bytes_per_s = ALGORITHM.cong_control ? conn->pacing_rate : 0,
		.app_limited_segs = conn->app_limited,
		.prior_cwnd_segs = conn->prior_cwnd,
		.now_us = conn->now_us,
		.delivered_segs = conn->delivered,
		.delivered_ce_segs = conn->delivered_ce,
		.lost_segs = conn->lost,
		.resent_segs = conn->resent,
		.in_flight_segs = in_flight(conn),
		.srtt_us = conn->srtt_8us ? conn->srtt_8us >> 3 : CC_NO_RTT,
		.min_rtt_us = conn->min_rtt_us,
		.mss_bytes = MSS,
		.snd_una = conn->una,
		.snd_nxt = conn->nxt,
		.random = conn->random,
		.state = (u8)conn->state,
		.cwnd_limited = (u8)is_cwnd_limited(conn),
		.pacing_wait_us = conn->pacing_wait_us,
		.stamp_ms = conn->stamp,
		.echo_ms = conn->stamp_echoed,
		.last_sent_ms = (u32)(conn->last_sent_us / CC_USEC_PER_MSEC),
	};
}

static u32 answer(struct attached *ours, struct cc_conn *conn, const struct call *call)
{
	const struct cc_algorithm *cc = &ALGORITHM;

	switch (call->hook) {
	case INIT:
		cc->init(ours->params, ours->state, conn);
		break;
	case SSTHRESH:
		return cc->ssthresh(ours->params, ours->state, conn);
	case CONG_AVOID:
		cc->cong_avoid(ours->params, ours->state, conn, call->argument);
		break;
	case PKTS_ACKED:
		cc->pkts_acked(ours->params, ours->state, conn,
			       &(struct cc_ack_sample){
				       .pkts_acked = call->ack.acked,
				       .rtt_us = call->ack.rtt_us,
				       .in_flight_bytes = call->ack.in_flight_bytes});
		break;
	case CWND_EVENT:
		cc->cwnd_event(ours->params, ours->state, conn, call->argument);
		break;
	case SET_STATE:
		cc->set_state(ours->params, ours->state, conn, call->argument);
		break;
	case IN_ACK_EVENT:
		cc->in_ack_event(ours->params, ours->state, conn, call->argument);
		break;
	case UNDO_CWND:
		if (!cc->undo_cwnd)
			return cc_max(conn->cwnd_segs, conn->prior_cwnd_segs);
		return cc->undo_cwnd(ours->params, ours->state, conn);
	case CONG_CONTROL:
		cc->cong_control(
			ours->params, ours->state, conn,
			&(struct cc_rate_sample){
				.prior_delivered_segs = call->rate.prior_delivered,
				.interval_us = call->rate.interval_us,
				.delivered_segs = call->rate.delivered,
				.rtt_us = call->rate.rtt_us,
				.losses_segs = call->rate.losses,
				.acked_sacked_segs = call->rate.acked_sacked,
				.prior_in_flight_segs = call->rate.prior_in_flight,
				.is_app_limited = (u8)call->rate.is_app_limited,
				.is_ack_delayed = (u8)call->rate.is_ack_delayed});
		break;
	default:
		abort();
	}
	return 0;
}

static uint32_t call_ours(void *attached, struct connection *conn,
			  const struct call *call)
{
	struct cc_conn view = seen(conn);
	u32 returned;

	linux_facts = (struct linux_facts){
		.sacked_out = conn->sacked_out,
		.delivered_us = conn->delivered_us,
		.pacing_rate = conn->pacing_rate,
	};
	returned = answer(attached, &view, call);
	conn->cwnd = view.cwnd_segs;
	conn->cwnd_cnt = view.cwnd_cnt;
	conn->ssthresh = view.ssthresh_segs;
	conn->cwnd_clamp = view.cwnd_clamp_segs;
	if (ALGORITHM.cong_control)
		conn->pacing_rate = view.pacing_rate_bytes_per_s;
	conn->app_limited = view.app_limited_segs;
	conn->asks_for_cwr = linux_facts.asks_for_cwr;
	return returned;
}

const struct side our_side = {attach, free, has, call_ours};
