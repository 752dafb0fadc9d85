"""Improve my_cc.c by random edits of its parameter and its laws, one score after the other."""

import random
import sys
from pathlib import Path

import dumbbell

HALF = "return cc_half_window(conn);"
LINEAR = "cc_additive_increase(conn, conn->cwnd_segs / params->increase, acked);"

# The laws that an edit may choose from; N is a number that it may change.
CUTS = [HALF, "return cc_max(cc_scale(conn->cwnd_segs, N, 100), CC_CWND_MIN);"]
GROWTHS = [
    LINEAR,
    f"if (conn->srtt_us < cc_scale(state->min_rtt_us, 100 + N, 100))\n\t\t{LINEAR}",
    "cc_additive_increase(conn, conn->cwnd_segs / (params->increase + conn->cwnd_segs / N),\n"
    "\t\t\t     acked);",
]


def edited(genes: dict[str, int], draw: random.Random) -> dict[str, int]:
    """Return genes of which one is drawn again."""
    name = draw.choice(sorted(genes))
    choices = {"cut": len(CUTS), "growth": len(GROWTHS)}
    value = draw.randrange(choices[name]) if name in choices else draw.randint(1, 100)
    return {**genes, name: value}


def text(genes: dict[str, int]) -> str:
    """Return the C file of some genes."""
    cut = CUTS[genes["cut"]].replace("N", str(genes["cut_by"]), 1)
    growth = GROWTHS[genes["growth"]].replace("N", str(genes["grow_by"]), 1)
    source = Path("my_cc.c").read_text().replace(HALF, cut).replace(LINEAR, growth)
    return source.replace('"segments per RTT", 1,', f'"segments per RTT", {genes["increase"]},')


def evolve(tries: int, seed: int) -> None:
    """Keep each edit that scores more than the best so far, and judge the last on other paths."""
    draw = random.Random(seed)
    genes = {"cut": 0, "cut_by": 70, "growth": 0, "grow_by": 50, "increase": 1}
    best = dumbbell.score("my_cc.c")
    print(f"my_cc.c: {best.value:.1f}")
    folder = Path("tries")
    folder.mkdir(exist_ok=True)
    file = folder / "my_cc.c"
    for number in range(1, tries + 1):
        candidate = edited(genes, draw)
        file.write_text(text(candidate))
        found = dumbbell.score(file, beat=best)
        words = ", ".join(problem.code for problem in found.problems) or found.status
        print(f"{number}: {candidate} {found.value or 0:.1f} {words}")
        if found.passed and found.gain is not None and found.gain.value > 1:
            genes, best = candidate, found
            (folder / "best.c").write_text(text(genes))
    file.write_text(text(genes))
    before, after = (dumbbell.score(each, paths="validation") for each in ("my_cc.c", file))
    print(f"on other paths: {before.value:.1f} before, {after.value:.1f} after")


if __name__ == "__main__":
    evolve(tries=int(sys.argv[1]) if len(sys.argv) > 1 else 2, seed=1)
