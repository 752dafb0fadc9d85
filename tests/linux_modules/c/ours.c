/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ours.c - one run of our file alone, without Linux. The outcome of each call is hashed
 * (FNV-1a), so one line covers millions of calls.
 */
#include <stdio.h>

#include "sender.h"

struct hashed {
	void *attached;
	uint64_t calls, digest;
};

static void add(struct hashed *hashed, uint64_t value)
{
	for (int i = 0; i < 8; i++) {
		hashed->digest ^= (value >> (8 * i)) & 0xff;
		hashed->digest *= 0x100000001b3ull;
	}
}

static int has(void *context, enum hook hook)
{
	(void)context;
	return our_side.has(hook);
}

static uint32_t call_hashed(void *context, struct connection *conn,
			    const struct call *call)
{
	struct hashed *hashed = context;
	uint32_t returned;

	if (!our_side.has(call->hook))
		return 0;
	returned = our_side.call(hashed->attached, conn, call);
	hashed->calls++;
	add(hashed, call->hook);
	add(hashed, returned);
	add(hashed, (uint64_t)conn->cwnd << 32 | conn->cwnd_cnt);
	add(hashed, (uint64_t)conn->ssthresh << 32 | conn->cwnd_clamp);
	add(hashed, conn->pacing_rate);
	add(hashed, conn->app_limited);
	return returned;
}

int main(int count, char **arguments)
{
	struct scenario scenario = scenario_of(count - 1, arguments + 1);
	struct hashed hashed = {our_side.attach(), 0, 0xcbf29ce484222325ull};
	struct algorithm algorithm = {has, call_hashed, &hashed};
	struct sender sender;

	sender_open(&sender, &scenario, algorithm);
	sender_run(&sender, (scenario.start_us + scenario.duration_us) * 1000);
	printf("{\"calls\": %llu, \"digest\": \"%016llx\"}\n",
	       (unsigned long long)hashed.calls, (unsigned long long)hashed.digest);
	sender_close(&sender);
	our_side.detach(hashed.attached);
	return 0;
}
