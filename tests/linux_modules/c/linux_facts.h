/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * linux_facts.h - what Linux's modules have and files in algorithms/ do not. A difference
 * that is declared (differences.toml) says by these how Linux does it.
 */
#ifndef LINUX_MODULES_FACTS_H
#define LINUX_MODULES_FACTS_H

#include <stdint.h>

/* Of the connection at hand. */
struct linux_facts {
	uint32_t sacked_out;
	uint64_t delivered_us; /* when something was delivered last */
	uint64_t pacing_rate;  /* of the stack, bytes per second, used or not */
	uint32_t asks_for_cwr;
};

extern struct linux_facts linux_facts;

/* Asks the stack to enter CWR, as tcp_enter_cwr does. */
void linux_enter_cwr(void);

/* Functions of the modules themselves. */
uint32_t linux_cube_root(uint64_t value);
uint32_t linux_exp(uint32_t millionths);

#endif
