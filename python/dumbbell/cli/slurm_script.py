"""The script that runs a study as an array of jobs on SLURM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dumbbell.base.shell import joined, quoted

if TYPE_CHECKING:
    from dumbbell.results.campaign import Campaign

_SCRIPT: Final = """\
#!/bin/bash
# {study}: {runs} runs in {parts} parts, each with separate results; the last job merges them.
# Start it with `bash THIS_FILE`: it submits itself. Submit it again to run what is missing.
#SBATCH --job-name=dumbbell-{study}
#SBATCH --requeue
#SBATCH --output=dumbbell-{study}-%A-%a.log
set -euo pipefail
results={results}

if [ "${{1:-}}" = merge ]; then
  exec dumbbell merge "$results"-part-* --results "$results"
fi
if [ -n "${{SLURM_ARRAY_TASK_ID:-}}" ]; then
  exec {command} --shard "$SLURM_ARRAY_TASK_ID/{parts}" \\
    --results "$results-part-$SLURM_ARRAY_TASK_ID"
fi
array=$(sbatch --parsable --array=1-{parts} "$0")
sbatch --dependency="afterok:${{array%%;*}}" "$0" merge
"""
_SET_BY_SCRIPT: Final = ("--slurm", "--results")
"""Options with values that the script sets itself."""


def script(parts: int, results: Path, campaign: Campaign, arguments: Sequence[str]) -> str:
    """Return the script; `arguments` are those of the command that asks for it."""
    return _SCRIPT.format(
        study=campaign.study.name,
        runs=len(campaign.ordered),
        parts=parts,
        results=quoted(f"{results}-of-{campaign.study.name}"),
        command=joined(["dumbbell", *_without_own(arguments)]),
    )


def _without_own(arguments: Sequence[str]) -> list[str]:
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument in _SET_BY_SCRIPT:
            next(rest, None)
        elif not argument.startswith(tuple(f"{name}=" for name in _SET_BY_SCRIPT)):
            kept.append(argument)
    return kept
