/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* locked.c - both sides in step. */
#include <stdio.h>

#include "compare.h"

struct pair {
	void *theirs, *ours;
	int is_traced;
	uint64_t calls[HOOKS], differing[HOOKS], fields[HOOKS][FIELDS];
	uint32_t smallest_cwnd, largest_cwnd;
};

static void count(struct pair *pair, enum hook hook, const struct outcome *theirs,
		  const struct outcome *ours)
{
	int differs = 0;

	pair->calls[hook]++;
	for (int i = 0; i < FIELDS; i++) {
		if (theirs->fields[i] == ours->fields[i])
			continue;
		differs = 1;
		pair->fields[hook][i]++;
	}
	pair->differing[hook] += (uint64_t)differs;
	if (theirs->fields[CWND] > pair->largest_cwnd)
		pair->largest_cwnd = (uint32_t)theirs->fields[CWND];
	if (theirs->fields[CWND] < pair->smallest_cwnd)
		pair->smallest_cwnd = (uint32_t)theirs->fields[CWND];
}

static uint32_t call_both(void *context, struct connection *conn, const struct call *call)
{
	struct pair *pair = context;
	struct connection before = *conn, other = *conn;
	int has_theirs = linux_side.has(call->hook), has_ours = our_side.has(call->hook);
	uint32_t returned = 0, other_returned = 0;
	struct outcome theirs, ours;

	if (!has_theirs && !has_ours)
		return 0;
	if (has_theirs)
		returned = linux_side.call(pair->theirs, conn, call);
	if (has_ours)
		other_returned = our_side.call(pair->ours, &other, call);
	theirs = outcome_of(conn, returned);
	ours = outcome_of(&other, other_returned);
	count(pair, call->hook, &theirs, &ours);
	if (pair->is_traced)
		write_call(&(struct answered){call, &before, &theirs, &ours});
	return returned;
}

static int linux_has(void *context, enum hook hook)
{
	return linux_side.has(hook);
}

static void write_hook(const struct pair *pair, enum hook hook)
{
	const char *comma = "";

	printf("\"%s\": {\"calls\": %llu, \"differing\": %llu, \"fields\": {",
	       hook_names[hook], (unsigned long long)pair->calls[hook],
	       (unsigned long long)pair->differing[hook]);
	for (int i = 0; i < FIELDS; i++) {
		if (!pair->fields[hook][i])
			continue;
		printf("%s\"%s\": %llu", comma, field_names[i],
		       (unsigned long long)pair->fields[hook][i]);
		comma = ", ";
	}
	printf("}}");
}

static void write_pair(const struct pair *pair)
{
	const char *comma = "";

	printf("{\"cwnd\": [%u, %u], \"hooks\": {", pair->smallest_cwnd,
	       pair->largest_cwnd);
	for (int hook = 0; hook < HOOKS; hook++) {
		if (!pair->calls[hook])
			continue;
		printf("%s", comma);
		write_hook(pair, (enum hook)hook);
		comma = ", ";
	}
	printf("}}\n");
}

void run_locked(const struct scenario *scenario, int is_traced)
{
	struct pair pair = {.theirs = linux_side.attach(),
			    .ours = our_side.attach(),
			    .is_traced = is_traced,
			    .smallest_cwnd = UINT32_MAX};
	struct algorithm both = {linux_has, call_both, &pair};
	struct sender sender;

	sender_open(&sender, scenario, both);
	sender_run(&sender, (scenario->start_us + scenario->duration_us) * 1000);
	sender_close(&sender);
	write_pair(&pair);
	linux_side.detach(pair.theirs);
	our_side.detach(pair.ours);
}
