/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* linux_side.c - one of Linux's modules, on a socket of sock_stub.h. */
#include "kernel_stub.h"

#include "side.h"

_Static_assert((int)TCP_CA_Loss == LOSS && (int)CA_EVENT_LOSS == EVENT_LOSS &&
		       (int)CA_ACK_ECE == ACK_ECE &&
		       TCP_INFINITE_SSTHRESH == SSTHRESH_INFINITE,
	       "side.h has Linux's numbers");

/* The program is built for one module: -DMODULE="name". */
static const struct tcp_congestion_ops *module;

u64 kernel_now_us;
u32 kernel_random;
static u32 cwr_requested;

int tcp_register_congestion_control(struct tcp_congestion_ops *ops)
{
	if (!strcmp(ops->name, MODULE))
		module = ops;
	return 0;
}

void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops)
{
}

/* Do nothing: the driver enters CWR after the module has returned. */
void tcp_enter_cwr(struct sock *sk)
{
	cwr_requested = 1;
}

extern struct tcp_congestion_ops tcp_reno;

static void __attribute__((constructor)) start_reno(void)
{
	tcp_register_congestion_control(&tcp_reno);
}

static void *attach(void)
{
	struct tcp_sock *tp = calloc(1, sizeof(*tp));
	struct inet_connection_sock *icsk = &tp->inet_conn;

	icsk->icsk_ca_ops = module;
	icsk->sock.sk_max_pacing_rate = ~0ul;
	icsk->sock.sk_pacing_shift = 10;
	icsk->sock.sk_gso_max_size = GSO_LEGACY_MAX_SIZE;
	tp->mss_cache = MSS;
	tp->ecn_flags = TCP_ECN_OK;
	return tp;
}

static void detach(void *attached)
{
	struct inet_connection_sock *icsk = attached;

	if (icsk->icsk_ca_ops->release)
		icsk->icsk_ca_ops->release(&icsk->sock);
	free(attached);
}

static int has(enum hook hook)
{
	switch (hook) {
	case INIT:
		return module->init != NULL;
	case CONG_AVOID:
		return module->cong_avoid != NULL;
	case PKTS_ACKED:
		return module->pkts_acked != NULL;
	case CWND_EVENT:
		return module->cwnd_event != NULL;
	case SET_STATE:
		return module->set_state != NULL;
	case IN_ACK_EVENT:
		return module->in_ack_event != NULL;
	case CONG_CONTROL:
		return module->cong_control != NULL;
	default:
		return 1;
	}
}

static void show(struct tcp_sock *tp, const struct connection *conn)
{
	struct sock *sk = &tp->inet_conn.sock;

	kernel_now_us = conn->now_us;
	kernel_random = conn->random;
	cwr_requested = 0;
	tp->snd_cwnd = conn->cwnd;
	tp->snd_cwnd_cnt = conn->cwnd_cnt;
	tp->snd_ssthresh = conn->ssthresh;
	tp->snd_cwnd_clamp = conn->cwnd_clamp;
	sk->sk_pacing_rate = conn->pacing_rate;
	tp->app_limited = conn->app_limited;
	tp->tcp_mstamp = conn->now_us;
	tp->tcp_clock_cache = conn->now_us * NSEC_PER_USEC;
	tp->tcp_wstamp_ns = (conn->now_us + conn->pacing_wait_us) * NSEC_PER_USEC;
	tp->snd_una = conn->una;
	tp->snd_nxt = conn->nxt;
	tp->inet_conn.icsk_ca_state = (u8)conn->state;
	tp->prior_cwnd = conn->prior_cwnd;
	tp->delivered = conn->delivered;
	tp->delivered_ce = conn->delivered_ce;
	tp->delivered_mstamp = conn->delivered_us;
	tp->lost = conn->lost;
	tp->packets_out = conn->packets_out;
	tp->sacked_out = conn->sacked_out;
	tp->lost_out = conn->lost_out;
	tp->retrans_out = conn->retrans_out;
	tp->srtt_us = conn->srtt_8us;
	minmax_reset(&tp->rtt_min, 0, conn->min_rtt_us);
	tp->is_cwnd_limited = (u8)conn->is_cwnd_limited;
	tp->max_packets_out = conn->max_packets_out;
	tp->lsndtime = (u32)(conn->last_sent_us / USEC_PER_MSEC);
	tp->rx_opt.rcv_tsval = conn->stamp;
	tp->rx_opt.rcv_tsecr = conn->stamp_echoed;
}

static u32 answer(struct sock *sk, u32 una, const struct call *call)
{
	const struct tcp_congestion_ops *ops = inet_csk(sk)->icsk_ca_ops;

	switch (call->hook) {
	case INIT:
		ops->init(sk);
		break;
	case SSTHRESH:
		return ops->ssthresh(sk);
	case CONG_AVOID:
		ops->cong_avoid(sk, una, call->argument);
		break;
	case PKTS_ACKED:
		ops->pkts_acked(
			sk, &(struct ack_sample){.pkts_acked = call->ack.acked,
						 .rtt_us = call->ack.rtt_us,
						 .in_flight = call->ack.in_flight_bytes});
		break;
	case CWND_EVENT:
		ops->cwnd_event(sk, (enum tcp_ca_event)call->argument);
		break;
	case SET_STATE:
		ops->set_state(sk, (u8)call->argument);
		break;
	case IN_ACK_EVENT:
		ops->in_ack_event(sk, call->argument);
		break;
	case UNDO_CWND:
		return ops->undo_cwnd(sk);
	case CONG_CONTROL:
		ops->cong_control(sk, una, 0,
				  &(struct rate_sample){
					  .prior_delivered = call->rate.prior_delivered,
					  .interval_us = (long)call->rate.interval_us,
					  .delivered = call->rate.delivered,
					  .rtt_us = call->rate.rtt_us,
					  .losses = (int)call->rate.losses,
					  .acked_sacked = call->rate.acked_sacked,
					  .prior_in_flight = call->rate.prior_in_flight,
					  .is_app_limited = call->rate.is_app_limited,
					  .is_ack_delayed = call->rate.is_ack_delayed});
		break;
	default:
		abort();
	}
	return 0;
}

static uint32_t call_linux(void *attached, struct connection *conn,
			   const struct call *call)
{
	struct tcp_sock *tp = attached;
	u32 returned;

	show(tp, conn);
	returned = answer(&tp->inet_conn.sock, conn->una, call);
	conn->cwnd = tp->snd_cwnd;
	conn->cwnd_cnt = tp->snd_cwnd_cnt;
	conn->ssthresh = tp->snd_ssthresh;
	conn->cwnd_clamp = tp->snd_cwnd_clamp;
	conn->pacing_rate = tp->inet_conn.sock.sk_pacing_rate;
	conn->app_limited = tp->app_limited;
	conn->asks_for_cwr = cwr_requested;
	return returned;
}

const struct side linux_side = {attach, detach, has, call_linux};
