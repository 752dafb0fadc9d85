/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* compare.c - the command: one run, in one of the ways of compare.h. */
#include <stdio.h>
#include <string.h>

#include "compare.h"

int main(int count, char **arguments)
{
	const char *way = count > 1 ? arguments[1] : "";
	struct scenario scenario;

	if (strcmp(way, "locked") != 0 && strcmp(way, "traced") != 0 &&
	    strcmp(way, "alone") != 0) {
		fprintf(stderr, "usage: %s locked|traced|alone KEY=VALUE ...\n",
			arguments[0]);
		return 2;
	}
	scenario = scenario_of(count - 2, arguments + 2);
	if (!strcmp(way, "alone"))
		run_alone(&scenario);
	else
		run_locked(&scenario, !strcmp(way, "traced"));
	return 0;
}
