/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* chance.h - streams of random numbers, the same for both sides (SplitMix64). */
#ifndef LINUX_MODULES_CHANCE_H
#define LINUX_MODULES_CHANCE_H

#include <stdint.h>

struct chance {
	uint64_t state;
};

static inline uint32_t draw(struct chance *chance)
{
	uint64_t word = chance->state += 0x9e3779b97f4a7c15ull;

	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ull;
	word = (word ^ (word >> 27)) * 0x94d049bb133111ebull;
	return (uint32_t)((word ^ (word >> 31)) >> 32);
}

/* A separate stream for each use. */
static inline struct chance chance_for(uint64_t seed, uint64_t use)
{
	struct chance chance = {seed * 0x100 + use};

	return (struct chance){(uint64_t)draw(&chance) << 32 | draw(&chance)};
}

static inline double draw_share(struct chance *chance)
{
	return draw(chance) / 4294967296.0;
}

/* From low to high, both included. */
static inline uint64_t draw_between(struct chance *chance, uint64_t low, uint64_t high)
{
	return low + (uint64_t)(draw_share(chance) * (double)(high - low + 1));
}

#endif
