"""Run scenarios drawn at random until the time is over, and check what no run may break.

Each scenario runs alone and then again next to the one before it, in two threads at once, and must
leave the same bytes. A failing scenario is made as small as it can be and written as a scenario
file.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import statistics
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tomli_w
from hypothesis import HealthCheck, Phase, given, seed, settings

import drawn_scenarios
from dumbbell import _core
from dumbbell.base.errors import InputError
from dumbbell.engines.engine import unpacked
from dumbbell.engines.result import Run
from dumbbell.execution.bounds import RUN_BYTES_MAX
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from run_invariants import assert_possible

FAILURES: Final = Path("soak-failures")
FAILURES_MAX: Final = 10

BATCH: Final = 40
"""Scenarios that are drawn from one seed; the more of them, the more similar they become."""

SECONDS_MAX: Final = 60
"""Of processor time, for a run and the one next to it."""

MEMORY_MAX_BYTES: Final = round(RUN_BYTES_MAX)
"""That one scenario may take, run twice at once: 20 million events are 1.6 GB each time."""

GROWTH_MAX: Final = 1.25
"""Of memory, from the second quarter of the batches to the last."""

BATCHES_LEAST: Final = 40
"""Fewer say nothing of growth."""

MB: Final = 10**6


class SoakError(AssertionError):
    """A fault that no scenario may cause."""


@dataclass
class Soak:
    """Progress of a soak.

    Attributes
    ----------
    folder
        Folder for scenarios that fail.
    runs, refused, packets
        Scenarios that ran and that were refused, and the packets that arrived in the former.
    failures
        Faults, each with its file.
    memory_bytes
        Memory of this process after each batch.
    """

    folder: Path = FAILURES
    runs: int = 0
    refused: int = 0
    packets: int = 0
    failures: list[str] = field(default_factory=list)
    memory_bytes: list[int] = field(default_factory=list)
    _before: tuple[ResolvedScenario, str] | None = None

    def batch(self, number: int, count: int = BATCH) -> None:
        """Draw scenarios from the seed `number`; keep the first that fails, made small."""
        file = self.folder / f"{number}.toml"

        @seed(number)
        @settings(
            database=None,
            deadline=None,
            derandomize=False,
            max_examples=count,
            phases=[Phase.generate, Phase.shrink],
            print_blob=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        )
        @given(drawn_scenarios.files())
        def check(data: dict[str, Any]) -> None:
            try:
                self.check(data)
            except Exception as error:
                self._write(file, data, error)
                raise

        try:
            check()
        except Exception as error:
            self.failures.append(f"{file}: {_reason(error)}")
        self.memory_bytes.append(_memory_bytes("VmRSS"))

    def check(self, data: dict[str, Any]) -> None:
        """Run one scenario and check all laws."""
        _forget_peak()
        before = _memory_bytes("VmRSS")
        try:
            scenario = Scenario.parse(data).resolve()
        except InputError:
            self.refused += 1
            return
        output = simulated(scenario)
        run = Run.of(scenario, unpacked(output))
        self.runs += 1
        self.packets += run.summary.packets
        assert_possible(run)
        self._check_beside(scenario, digest(output))
        if (taken := _memory_bytes("VmHWM") - before) > MEMORY_MAX_BYTES:
            raise SoakError(f"took {taken // MB} MB of memory")

    def growth(self) -> float | None:
        """Return the growth of memory since it was warm; None: too early."""
        quarter = len(self.memory_bytes) // 4
        if len(self.memory_bytes) < BATCHES_LEAST:
            return None
        early, late = self.memory_bytes[quarter : 2 * quarter], self.memory_bytes[-quarter:]
        return statistics.median(late) / statistics.median(early)

    def _check_beside(self, scenario: ResolvedScenario, left: str) -> None:
        """Run a scenario again, at the same time as the one before it; both as they were."""
        before, self._before = self._before, (scenario, left)
        both = [(scenario, left), *([before] if before else [])]
        with ThreadPoolExecutor(len(both)) as pool:
            again = list(pool.map(lambda one: digest(simulated(one[0])), both))
        for one, (_, known) in zip(again, both, strict=True):
            if one != known:
                self._before = None
                raise SoakError(
                    "it, or the one before it, leaves other bytes when both run at once"
                )

    def _write(self, file: Path, data: dict[str, Any], error: Exception) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        reason = _reason(error).replace("\n", " ")
        file.write_text(f"# dumbbell simulate {file.name}\n# {reason}\n{tomli_w.dumps(data)}")


def simulated(scenario: ResolvedScenario) -> _core.RunOutput:
    """Run a scenario; a panic of the engine is an error, and so is a run without end."""
    token, done = _core.CancelToken(), threading.Event()
    watch = threading.Thread(target=_cancel_in_time, args=(token, done))
    watch.start()
    try:
        return _core.simulate(scenario.json, token)
    except _core.Cancelled:
        raise SoakError(f"takes more than {SECONDS_MAX} s") from None
    except _core.ScenarioError as error:
        raise SoakError(f"the engine refuses it: {error}") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise SoakError(f"panic: {error}") from None
    finally:
        done.set()
        watch.join()


def _cancel_in_time(token: _core.CancelToken, done: threading.Event) -> None:
    """Cancel a run that takes too much of the processor, however busy the machine is."""
    began_s = time.process_time()
    while not done.wait(1):
        if time.process_time() > began_s + SECONDS_MAX:
            token.cancel()
            return


def digest(output: _core.RunOutput) -> str:
    """Return the hash of all that a run leaves behind."""
    digest = hashlib.sha256(output.summary.encode())
    for name, columns in output.tables.items():
        for column, _, content in columns:
            digest.update(f"{name}.{column}".encode())
            digest.update(content)
    return digest.hexdigest()


def _reason(error: Exception) -> str:
    """Return an error in one line that is not too long."""
    return f"{type(error).__name__}: {error}".split("\n", 1)[0][:400]


def _memory_bytes(key: str) -> int:
    """Return what the kernel counts of this process; 0 where there is no such kernel."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{key}:"))


def _forget_peak() -> None:
    """Let the kernel count the most memory from now on."""
    file = Path("/proc/self/clear_refs")
    if file.exists():
        file.write_text("5")


def main() -> int:
    """Soak for some minutes and say what was found; 1 if anything was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, help="of the first batch, told when one ends")
    wanted = parser.parse_args()
    first = random.SystemRandom().getrandbits(32) if wanted.seed is None else wanted.seed
    soak = Soak()
    began_s = time.monotonic()
    number = first
    try:
        while time.monotonic() < began_s + 60 * wanted.minutes:
            soak.batch(number)
            number += 1
            if len(soak.failures) >= FAILURES_MAX:
                break
    except KeyboardInterrupt:
        print("stopped by Ctrl-C")
    growth = soak.growth()
    if growth is not None and growth > GROWTH_MAX:
        soak.failures.append(f"memory has grown to {growth:.2f} times what it was")
    minutes = (time.monotonic() - began_s) / 60
    print(
        f"{soak.runs} scenarios ran and {soak.refused} were refused, "
        f"{soak.packets / 1e6:.1f} million packets in {minutes:.1f} minutes; "
        f"seeds {first} to {number - 1}; memory {max(soak.memory_bytes, default=0) // MB} MB"
        + (f", growth {growth:.2f}" if growth is not None else "")
    )
    for failure in soak.failures:
        print(f"failed: {failure}")
    return int(bool(soak.failures))


if __name__ == "__main__":
    sys.exit(main())
