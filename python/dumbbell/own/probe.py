"""Simulations in a process of their own, which an algorithm may bring down.

``python -m dumbbell.own.probe`` reads a JSON list of resolved scenarios, and prints for each, as
soon as it is finished, a line with its summary and a digest of all that it recorded.
"""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

from dumbbell import _core
from dumbbell.scenario.resolve import ResolvedScenario, canonical_json

PATIENCE_S: Final = 300


class BroughtDown(Exception):  # noqa: N818 - what happened, not what to do
    """The process ended before its simulations did; the message says how."""


def outcomes(scenarios: Sequence[ResolvedScenario]) -> list[dict[str, Any]]:
    """Run scenarios and return summary and digest of each; BroughtDown if one does not end."""
    asked = canonical_json([scenario.data for scenario in scenarios])
    command = [sys.executable, "-m", "dumbbell.own.probe"]
    try:
        run = subprocess.run(
            command, input=asked, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise BroughtDown(f"a simulation has not ended after {PATIENCE_S} s") from None
    if run.returncode:
        raise BroughtDown(_how(run.returncode, run.stderr))
    return [json.loads(line) for line in run.stdout.splitlines()]


def _how(code: int, said: str) -> str:
    if code < 0:
        return f"the process is stopped by: {signal.strsignal(-code) or -code}"
    return said.strip().splitlines()[-1] if said.strip() else f"the process ends with {code}"


def _main() -> None:
    for scenario in json.load(sys.stdin):
        output = _core.simulate(canonical_json(scenario))
        digest = hashlib.sha256(output.summary.encode())
        for name, columns in sorted(output.tables.items()):
            for column, dtype, content in columns:
                digest.update(f"{name} {column} {dtype}".encode())
                digest.update(content)
        found = {"summary": json.loads(output.summary), "digest": digest.hexdigest()}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    _main()
