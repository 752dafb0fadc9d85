/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* compare.h - the ways to compare the sides over one path; what came of it is JSON. */
#ifndef LINUX_MODULES_COMPARE_H
#define LINUX_MODULES_COMPARE_H

#include "sender.h"

/*
 * locked.c: Linux's module drives, our file is called beside it with the same; what each
 * call made of windows, thresholds and rates is compared, and written if `is_traced`.
 */
void run_locked(const struct scenario *scenario, int is_traced);

/* alone.c: each side alone on the same path; compared once per round trip. */
void run_alone(const struct scenario *scenario);

/* What a call may change, and what it returns. */
enum field {
	CWND,
	COUNT,
	THRESHOLD,
	CLAMP,
	RATE,
	APP_LIMITED,
	ASKS_FOR_CWR,
	TOLD,
	FIELDS
};

extern const char *const hook_names[HOOKS];
extern const char *const field_names[FIELDS];

struct outcome {
	uint64_t fields[FIELDS];
};

/* trace.c: a call as both sides answered it. */
struct answered {
	const struct call *call;
	const struct connection *before;
	const struct outcome *linux_outcome, *our_outcome;
};

void write_call(const struct answered *answered);
struct outcome outcome_of(const struct connection *conn, uint32_t told);

#endif
