"""Fixtures that many tests use, or that are expensive enough to share."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

import browser
import held_up
import small_study
from command_line import Command, caller
from dumbbell.base import lazy
from dumbbell.figures import drawing
from dumbbell.reports import site
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study.model import Study

settings.register_profile("fixed", deadline=None, derandomize=True, print_blob=True)
"""The same examples every time, on however slow a machine."""
settings.register_profile("fuzz", deadline=None, max_examples=1_000, print_blob=True)
"""Others every time (`make fuzz`)."""
settings.load_profile("fixed")

lazy.check_charts_once()

_TESTS: Final = Path(__file__).parent

gc.set_threshold(100_000, 20, 20)
"""A worker keeps a gigabyte of what it has read, so that each look at all of it takes long."""


_FIRST: Final = ("docs", "tools")
"""Folders with the files that take longest. If they came last, one worker would end them alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest files come first; `--no-loadscope-reorder` keeps this order."""
    folders = {item: item.path.relative_to(_TESTS).parts[0] for item in items}
    items.sort(key=lambda item: folders[item] not in _FIRST)


def pytest_collection_finish() -> None:
    """Let collections of garbage pass over all that was imported, which stays."""
    gc.freeze()


@pytest.fixture
def dumbbell(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Run the command in an empty folder, which is `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


@pytest.fixture
def unconverted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no figures as PNG and PDF, which other tests look at; each takes a tenth of a second."""
    monkeypatch.setattr("dumbbell.figures.drawing.converted", lambda *_: b"nothing")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch, unconverted: None) -> None:
    """Have no figures as SVG either, only their definitions."""
    del unconverted
    rendered = drawing.rendered

    def drawn(spec: Mapping[str, Any], suffix: str) -> bytes:
        return b'<svg width="9" height="9"></svg>' if suffix == ".svg" else rendered(spec, suffix)

    monkeypatch.setattr(drawing, "rendered", drawn)


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    with browser.browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a temporary folder that all workers share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def first_small(shared: Path) -> Results:
    """Return the finished runs of the small study, which no test changes: one for all workers."""
    with made_once(shared / "small") as (folder, is_first):
        if is_first:
            small_study.run(small_study.write(folder / "study"), folder / "results")
    return Results(Study.load(folder / "study"), Store(folder / "results"))


@pytest.fixture(scope="session")
def small(first_small: Results, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return a copy of the finished runs of the small study."""
    folder = tmp_path_factory.mktemp("small")
    shutil.copytree(first_small.store.root.parent, folder, dirs_exist_ok=True)
    return Results(Study.load(folder / "study"), Store(folder / "results"))


@pytest.fixture(scope="session")
def small_folder(small: Results) -> Path:
    """Return the folder that holds ``study`` and ``results`` of the small study."""
    return small.store.root.parent


@pytest.fixture(scope="session")
def small_report(first_small: Results, shared: Path) -> Path:
    """Return the folder of the small study's report, which no test changes: one for all workers."""
    with made_once(shared / "report") as (folder, is_first):
        if is_first:
            assert site.write(first_small, folder) == folder / "index.html"
    return folder


@contextmanager
def made_once(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield a folder and whether it is to be made; other workers wait meanwhile."""
    done = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder, not done.exists()
        done.touch()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail if a quiet machine left too many tests without a judgement."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not held_up.summary(_skipped(reporter))[1]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    # pytest collects garbage five times at the end, and workers keep a gigabyte.
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report in one line which tests were not judged, as the machine was held up."""
    if line := held_up.summary(_skipped(terminalreporter))[0]:
        terminalreporter.write_line(line)


def _skipped(reporter: pytest.TerminalReporter) -> list[str]:
    reports = reporter.stats.get("skipped", [])
    return [str(report.longrepr[2]) for report in reports if isinstance(report.longrepr, tuple)]


def pytest_configure(config: pytest.Config) -> None:
    """Let Ctrl-C be heard, and let properties draw the same in every worker."""
    # A shell ignores it for what it starts in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--hypothesis-profile") is None:
        # Hypothesis also draws constants of the modules that the process has loaded, so of the
        # tests before. It has no setting for that.
        vars(providers)["_get_local_constants"] = Constants


@pytest.fixture(scope="session", autouse=True)
def _cache(shared: Path) -> Iterator[None]:
    """Have all workers share a cache folder that is not the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared / "cache"))
        yield


@pytest.fixture(autouse=True)
def _no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables be as wide as in a pipe: workers of pytest-xdist have the width of a terminal."""
    monkeypatch.delenv("COLUMNS", raising=False)
