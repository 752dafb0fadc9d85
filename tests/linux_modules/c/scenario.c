/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "scenario.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY(name) {#name, offsetof(struct scenario, name)}

static const struct key {
	const char *name;
	size_t place;
} keys[] = {
	KEY(seed),	   KEY(duration_us), KEY(start_us),	KEY(start_seq),
	KEY(start_cwnd),   KEY(rtt_us),	     KEY(service_ns),	KEY(queue_packets),
	KEY(mark_packets), KEY(loss_ppm),    KEY(ack_every),	KEY(cross),
	KEY(jitter_us),	   KEY(outage_us),   KEY(outage_drops), KEY(burst_segs),
	KEY(stamp_offset), KEY(pause_us),    KEY(spurious),	KEY(exact_marks),
};

static void set(struct scenario *scenario, const char *setting)
{
	const char *value = strchr(setting, '=');
	size_t length = value ? (size_t)(value - setting) : 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!length || strlen(keys[i].name) != length ||
		    strncmp(keys[i].name, setting, length) != 0)
			continue;
		*(uint64_t *)((char *)scenario + keys[i].place) =
			strtoull(value + 1, NULL, 10);
		return;
	}
	fprintf(stderr, "no such setting: %s\n", setting);
	exit(2);
}

struct scenario scenario_of(int count, char **settings)
{
	struct scenario scenario = {.ack_every = 1, .cross = 1};

	for (int i = 0; i < count; i++)
		set(&scenario, settings[i]);
	if (!scenario.duration_us || !scenario.rtt_us || !scenario.service_ns ||
	    !scenario.queue_packets) {
		fprintf(stderr, "a run needs a duration, an RTT, a service time and a "
				"queue\n");
		exit(2);
	}
	return scenario;
}
