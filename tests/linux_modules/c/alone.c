/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* alone.c - each side alone, with random numbers of the same streams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

struct alone {
	const struct side *side;
	void *attached;
};

static uint32_t call_one(void *context, struct connection *conn, const struct call *call)
{
	struct alone *alone = context;

	if (!alone->side->has(call->hook))
		return 0;
	return alone->side->call(alone->attached, conn, call);
}

static int one_has(void *context, enum hook hook)
{
	return ((struct alone *)context)->side->has(hook);
}

struct sample {
	uint32_t cwnd, ssthresh;
};

/* Once per round trip of the empty path. */
struct course {
	struct sample *samples;
	uint64_t count;
	uint32_t delivered;
};

static struct course course_of(const struct scenario *scenario, const struct side *side)
{
	struct alone alone = {side, side->attach()};
	struct algorithm algorithm = {one_has, call_one, &alone};
	struct course course = {.count = scenario->duration_us / scenario->rtt_us};
	struct sender sender;

	course.samples = calloc(course.count, sizeof(struct sample));
	sender_open(&sender, scenario, algorithm);
	for (uint64_t i = 0; i < course.count; i++) {
		sender_run(&sender,
			   (scenario->start_us + (i + 1) * scenario->rtt_us) * 1000);
		course.samples[i] =
			(struct sample){sender.conn.cwnd, sender.conn.ssthresh};
	}
	course.delivered = sender.conn.delivered;
	sender_close(&sender);
	side->detach(alone.attached);
	return course;
}

void run_alone(const struct scenario *scenario)
{
	struct course theirs = course_of(scenario, &linux_side);
	struct course ours = course_of(scenario, &our_side);
	uint64_t same = 0;

	while (same < ours.count &&
	       !memcmp(&theirs.samples[same], &ours.samples[same], sizeof(struct sample)))
		same++;
	printf("{\"samples\": %llu, \"same\": %llu, \"delivered\": [%u, %u]}\n",
	       (unsigned long long)ours.count, (unsigned long long)same, theirs.delivered,
	       ours.delivered);
	free(theirs.samples);
	free(ours.samples);
}
