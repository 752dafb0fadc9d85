/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* compare.h - ways to compare the sides over one path. The results are JSON. */
#ifndef LINUX_MODULES_COMPARE_H
#define LINUX_MODULES_COMPARE_H

#include "sender.h"

/*
 * locked.c: Linux's module drives, and our file gets the same calls. Windows, thresholds
 * and rates after each call are compared, and written if `is_traced`.
 */
void run_locked(const struct scenario *scenario, int is_traced);

/* alone.c: each side alone on the same path; compared once per round trip. */
void run_alone(const struct scenario *scenario);

/* Fields that a call may change, and its returned value. */
enum field {
	CWND,
	COUNT,
	THRESHOLD,
	CLAMP,
	RATE,
	APP_LIMITED,
	ASKS_FOR_CWR,
	ANSWER,
	FIELDS
};

extern const char *const hook_names[HOOKS];
extern const char *const field_names[FIELDS];

struct outcome {
	uint64_t fields[FIELDS];
};

/* trace.c: a call and the outcomes of both sides. */
struct answered {
	const struct call *call;
	const struct connection *before;
	const struct outcome *linux_outcome, *our_outcome;
};

void write_call(const struct answered *answered);
struct outcome outcome_of(const struct connection *conn, uint32_t returned);

#endif
