/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * linux_facts.h - facts for Linux's modules that files in algorithms/ do not have.
 * Declared differences (differences.toml) use them to describe Linux's behaviour.
 */
#ifndef LINUX_MODULES_FACTS_H
#define LINUX_MODULES_FACTS_H

#include <stdint.h>

/* Facts about the connection. */
struct linux_facts {
	uint32_t sacked_out;
	uint64_t delivered_us; /* time of the last delivery */
	uint64_t pacing_rate;  /* of the stack, bytes per second, used or not */
	uint32_t asks_for_cwr;
};

extern struct linux_facts linux_facts;

/* Request CWR from the stack, as tcp_enter_cwr does. */
void linux_enter_cwr(void);

/* Functions of the modules themselves. */
uint32_t linux_cube_root(uint64_t value);
uint32_t linux_exp(uint32_t millionths);

#endif
