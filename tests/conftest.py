"""Fixtures that are expensive enough to share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

import small_study
from dumbbell.results import Results


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the finished runs of the small study."""
    folder = tmp_path_factory.mktemp("small")
    study = small_study.write(folder / "study")
    return Results(study, small_study.run(study, folder / "results"))


@pytest.fixture(scope="session")
def small_folder(small: Results) -> Path:
    """Return the folder that holds ``study`` and ``results`` of the small study."""
    return small.store.root.parent


def pytest_configure() -> None:
    """Let Ctrl-C be heard: a shell ignores it for what it starts in the background."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
