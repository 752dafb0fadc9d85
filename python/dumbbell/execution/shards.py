"""Parts of a campaign for machines that share nothing: each takes its shard, results are merged."""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dumbbell.base.errors import InputError
from dumbbell.engines.sizes import expected_work
from dumbbell.scenario.resolve import ResolvedScenario

_SHARD: Final = re.compile(r"(?P<number>\d{1,6})/(?P<count>\d{1,6})", re.ASCII)


@dataclass(frozen=True)
class Shard:
    """One of some parts of about equal size, counted from 1."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``3/64``."""
        match = _SHARD.fullmatch(text.strip())
        number, count = (int(match["number"]), int(match["count"])) if match else (0, 0)
        if not 1 <= number <= count:
            raise InputError("not a shard", key="shard", value=text, valid="1/64 to 64/64")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def of(self, runs: Sequence[ResolvedScenario]) -> list[ResolvedScenario]:
        """Return the runs of this shard, in their order.

        Largest first, each run goes to the shard that has least. The result depends only on the
        runs, so machines with different shards need not communicate.
        """
        size = {run.key: expected_work(run.scenario) for run in runs}
        # Longest processing time first (Graham 1969). The key breaks ties, so that machines agree.
        largest_first = sorted(size, key=lambda key: (-size[key], key))
        loads = [(0.0, number) for number in range(1, self.count + 1)]
        mine = set()
        for key in largest_first:
            load, number = heapq.heappop(loads)
            heapq.heappush(loads, (load + size[key], number))
            if number == self.number:
                mine.add(key)
        return [run for run in runs if run.key in mine]
