/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* trace.c - a call with its input, and the outcome on each side. */
#include <stdio.h>

#include "compare.h"

const char *const hook_names[HOOKS] = {"init",	       "ssthresh",   "cong_avoid",
				       "pkts_acked",   "cwnd_event", "set_state",
				       "in_ack_event", "undo_cwnd",  "cong_control"};
const char *const field_names[FIELDS] = {"cwnd", "cnt",		"ssthresh", "clamp",
					 "rate", "app_limited", "cwr",	    "returned"};

struct outcome outcome_of(const struct connection *conn, uint32_t returned)
{
	return (struct outcome){{conn->cwnd, conn->cwnd_cnt, conn->ssthresh,
				 conn->cwnd_clamp, conn->pacing_rate, conn->app_limited,
				 conn->asks_for_cwr, returned}};
}

static void write_outcome(const char *name, const struct outcome *outcome)
{
	printf(", \"%s\": {", name);
	for (int i = 0; i < FIELDS; i++)
		printf("%s\"%s\": %llu", i ? ", " : "", field_names[i],
		       (unsigned long long)outcome->fields[i]);
	printf("}");
}

static void write_arguments(const struct call *call)
{
	const struct rate_input *rate = &call->rate;

	if (call->hook == PKTS_ACKED)
		printf(", \"arguments\": [%u, %d, %u]", call->ack.acked, call->ack.rtt_us,
		       call->ack.in_flight_bytes);
	else if (call->hook == CONG_CONTROL)
		printf(", \"arguments\": [%u, %lld, %d, %d, %u, %u, %u, %u, %u]",
		       rate->prior_delivered, (long long)rate->interval_us,
		       rate->delivered, rate->rtt_us, rate->losses, rate->acked_sacked,
		       rate->prior_in_flight, rate->is_app_limited, rate->is_ack_delayed);
	else
		printf(", \"arguments\": [%u]", call->argument);
}

static void write_seen(const struct connection *conn)
{
	printf(", \"seen\": {\"prior_cwnd\": %u, \"now\": %llu, \"delivered\": %u, "
	       "\"delivered_ce\": %u, \"lost\": %u, \"resent\": %u, \"in_flight\": %u, "
	       "\"srtt\": %u, \"min_rtt\": %u, \"una\": %u, \"nxt\": %u, "
	       "\"random\": %u, \"state\": %u, \"limited\": %d, \"pacing_wait\": %u, "
	       "\"stamp\": %u, \"echo\": %u, \"last_sent\": %llu}",
	       conn->prior_cwnd, (unsigned long long)conn->now_us, conn->delivered,
	       conn->delivered_ce, conn->lost, conn->resent, in_flight(conn),
	       conn->srtt_8us >> 3, conn->min_rtt_us, conn->una, conn->nxt, conn->random,
	       conn->state, is_cwnd_limited(conn), conn->pacing_wait_us, conn->stamp,
	       conn->stamp_echoed, (unsigned long long)conn->last_sent_us / 1000);
}

void write_call(const struct answered *answered)
{
	const struct outcome before = outcome_of(answered->before, 0);
	enum hook hook = answered->call->hook;

	printf("{\"hook\": \"%s\", \"is_ours\": %s", hook_names[hook],
	       our_side.has(hook) ? "true" : "false");
	write_arguments(answered->call);
	write_seen(answered->before);
	write_outcome("before", &before);
	write_outcome("linux", answered->linux_outcome);
	write_outcome("ours", answered->our_outcome);
	printf("}\n");
}
