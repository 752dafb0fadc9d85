"""Output of a campaign in progress: in a log and on a terminal."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from rich.console import Console

from dumbbell.base.labels import amount, duration, hours
from dumbbell.base.units import NS_PER_S
from dumbbell.cli import progress
from dumbbell.cli.progress import Tracker
from dumbbell.engines.cancelling import CancelToken
from dumbbell.engines.engine import Output
from dumbbell.execution.executor import Fate, Progress, execute
from dumbbell.execution.pools import Running
from dumbbell.plan.places import Place
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.store.extent import Extent
from dumbbell.store.store import Store
from sample_runs import QuickEngine, resolved, seeds


def state(latest: ResolvedScenario, **changes: object) -> Progress:
    given = {
        "total": 2, "done": 1, "reused": 0, "invalid": 0, "failed": 0, "ran": Extent(), **changes
    }  # fmt: skip
    return Progress(latest=latest, **given)  # type: ignore[arg-type]


def test_time_left_follows_the_size_of_runs() -> None:
    small, large = (resolved({"duration": text}) for text in ("60s", "240s"))
    tracker = Tracker([small, large], clock_s=100)
    assert tracker.text(110) == ""
    tracker.update(state(small, seconds=10.0, ran=Extent(packets=5_000_000)))
    assert tracker.text(110) == "0.5 M packets/s, about 35 s left"
    (going,) = tracker.going([Running(large, 110)])
    assert (going.words, going.taken(115)) == snapshot(("reno, seed 1", "5 s of about 35 s"))
    assert tracker.text(115, [Running(large, 110)]) == "0.3 M packets/s, about 30 s left"
    tracker.update(state(large, fate=Fate.FAILED, failed=1, ran=Extent(packets=5_000_000)))
    assert tracker.text(120) == "1 failed, 0.2 M packets/s"


def test_what_is_reused_teaches_nothing_and_takes_no_time() -> None:
    runs = seeds(3)
    tracker = Tracker(runs, 0, stored={runs[0].key})
    tracker.update(state(runs[0], total=3, done=0, reused=1, fate=Fate.REUSED))
    assert tracker.text(1) == "1 reused"
    tracker.update(state(runs[1], total=3, reused=1, seconds=8.0))
    assert tracker.text(9) == "1 reused, about 8 s left"


def test_in_real_time_the_scenarios_tell() -> None:
    runs = seeds(4)
    tracker = Tracker(runs, 0, jobs=2, real_time=True)
    assert tracker.text(0) == "about 2 min 0 s left"
    assert tracker.text(15, [Running(run, 0) for run in runs[:2]]) == "about 1 min 45 s left"


class At(CancelToken):
    """That of a run that has come so far."""

    def __init__(self, reached_ns: int) -> None:
        super().__init__()
        self._reached_ns = reached_ns

    @property
    def reached_ns(self) -> int:
        return self._reached_ns


@pytest.mark.parametrize(
    ("reached_s", "text"), [(0, "4 s"), (2, "2 % in 4 s"), (40, "40 % in 4 s of about 10 s")]
)
def test_a_run_is_followed_from_within(reached_s: int, text: str) -> None:
    run = resolved({"duration": "100s"})
    going = Tracker([run], 0).going([Running(run, 0, At(reached_s * NS_PER_S))])
    assert going[0].taken(4) == text


PATIENCE_S = 60
"""After this a test gives up that waits for what never comes, in s."""


class SlowEngine(QuickEngine):
    """Waits for the event `go_on`."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()

    def run(self, scenario: ResolvedScenario, cancel: CancelToken | None = None) -> Output:
        assert self.go_on.wait(2 * PATIENCE_S)
        return super().run(scenario, cancel)


def shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, console: Console, *until: str
) -> tuple[list[str], list[str]]:
    """Run a quick run, and two slow ones until the output has all patterns.

    Return the lines until then, and those of the whole output. How many there are, and for which
    seconds, depends on the machine: it may stop the process at any time.
    """
    monkeypatch.setattr(progress._Lines, "every_s", 0.3)
    engine, store = SlowEngine(), Store(tmp_path)
    runs = seeds(3)
    execute(runs[:1], store, QuickEngine())
    places = {runs[1].key: Place("fairness", {"algorithm": "reno", "rtt": "42ms"}, 2)}
    tracker = Tracker(runs, time.monotonic(), 2, places, {runs[0].key})
    end = time.monotonic() + PATIENCE_S
    before: list[str] = []
    with progress.shown(tracker, 3, console) as display:

        def on_wait(running: object) -> None:
            display.on_wait(running)  # type: ignore[arg-type]
            if engine.go_on.is_set():
                return
            before[:] = lines(printed(console))
            if time.monotonic() > end or not missing(until, before):
                engine.go_on.set()

        execute(runs, store, engine, 2, display.on_progress, places=places, on_wait=on_wait)
    assert not missing(until, before), before
    return before, lines(printed(console))


def missing(patterns: Sequence[str], seen: Sequence[str]) -> list[str]:
    """Return the patterns that no line has."""
    return [pattern for pattern in patterns if not any(re.search(pattern, line) for line in seen)]


def lines(text: str) -> list[str]:
    """Return the lines of an output, without the codes that move the cursor of a terminal."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "\n")
    return [line.rstrip() for line in plain.splitlines()]


PLACE = re.escape("fairness (algorithm = reno, rtt = 42ms), repetition 2")


def test_a_log_says_every_now_and_then_what_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(file=io.StringIO(), width=80)
    before, (*_, last) = shown(
        tmp_path,
        monkeypatch,
        console,
        r"^1/3 runs: 1 reused; running: ",
        rf"{PLACE} for [1-9]\d* s, reno, seed 2 for \d+ s$",
    )
    assert all(re.match(r"[01]/3 runs: (1 reused; )?running: ", line) for line in before)
    assert last.startswith("3/3 runs: 1 reused, ")
    assert "running" not in last
    assert "\x1b" not in printed(console)


def test_a_terminal_has_a_line_for_each_run_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    console = Console(file=io.StringIO(), width=90, force_terminal=True, color_system=None)
    _, after = shown(
        tmp_path,
        monkeypatch,
        console,
        r"^runs ━.* 1/3 elapsed 0:[0-9:]{5}",
        r"^1 reused$",
        rf"^  {PLACE} +[1-9]\d* s$",
        r"^  reno, seed 2  ",
    )
    assert max(map(len, after)) <= 90


def printed(console: Console) -> str:
    out = console.file
    assert isinstance(out, io.StringIO)
    return out.getvalue()


def wait_for(text: str, console: Console) -> None:
    end = time.monotonic() + 60
    while text not in printed(console) and time.monotonic() < end:
        time.sleep(0.01)


def test_a_log_says_every_now_and_then_which_step_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress._StepLog, "every_s", 0.2)
    console = Console(file=io.StringIO(), width=20)
    began_s = time.monotonic()
    with progress.steps("reading [results]", console) as step:
        wait_for("reading", console)
        for number in range(1000):
            step(f"drawing fig{number}")
        wait_for("fig999", console)
    took_s = time.monotonic() - began_s
    first, *_, last = printed(console).splitlines()
    assert re.fullmatch(r"after .+: reading \[results\]", first)
    assert re.fullmatch(r"after .+: drawing fig999", last)
    assert 2 <= len(printed(console).splitlines()) <= took_s / 0.2
    assert "\x1b" not in printed(console)
    assert "steps" not in {thread.name for thread in threading.enumerate()}


def test_what_is_done_at_once_says_nothing_in_a_log() -> None:
    console = Console(file=io.StringIO())
    with progress.steps("reading results", console) as step:
        step("drawing")
    assert printed(console) == ""


def test_an_error_ends_the_log_of_steps() -> None:
    console = Console(file=io.StringIO())
    with pytest.raises(ValueError, match="no"), progress.steps("reading", console):
        raise ValueError("no")
    assert "steps" not in {thread.name for thread in threading.enumerate()}


def test_a_terminal_shows_the_step_that_goes_on() -> None:
    console = Console(file=io.StringIO(), width=60, force_terminal=True, color_system=None)
    with progress.steps("reading results", console) as step:
        wait_for("reading results", console)
        step("drawing fig1")
        wait_for("drawing fig1", console)
    assert "drawing fig1" in printed(console)
    assert "after" not in printed(console)


def test_many_runs_at_once_are_counted() -> None:
    runs = seeds(20)
    console = Console(file=io.StringIO(), width=400)
    tracker = Tracker(runs, 0, 20)
    with progress.shown(tracker, 20, console) as display:
        going = tracker.going([Running(run, 0) for run in runs])
        display.show(3, "", going)
    out = console.file
    assert isinstance(out, io.StringIO)
    assert out.getvalue().startswith("0/20 runs; running: reno, seed 0 for 3 s, reno, seed 1 for")
    assert out.getvalue().endswith("reno, seed 7 for 3 s, 12 more\n")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (3900, "1 h 5 min")],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (999.6, "1.00 kB"), (12345, "12.3 kB"), (9.996e8, "1.00 GB"),
     (9.994e8, "999 MB"), (4.567e9, "4.57 GB"), (1.2e15, "1200 TB")],
)  # fmt: skip
def test_amounts_have_three_digits(count: float, text: str) -> None:
    assert amount(count, "B") == text
    assert not amount(count).endswith(" ")


@pytest.mark.parametrize(
    ("seconds", "text"), [(90, "0.03 h"), (7200, "2.0 h"), (1280 * 900, "320 h"), (9e6, "2,500 h")]
)
def test_hours_read_well(seconds: float, text: str) -> None:
    assert hours(seconds) == text
