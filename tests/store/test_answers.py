"""A repeated comparison prints its kept table, as long as nothing of it has changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Command, Output
from dumbbell.reports import site
from dumbbell.results.campaign import Campaign

PATH = ["--rate", "5mbit", "--rtt", "20ms", "--duration", "2s", "--runs", "2"]
COMPARE = ["compare", "reno", "vegas", *PATH]
ANSWERS = Path("results/answers")


def answers() -> list[Path]:
    return sorted(ANSWERS.glob("*.json"))


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Campaign]:
    """Return the campaigns that were run: none where a kept table is printed."""
    campaigns: list[Campaign] = []
    run = Campaign.run

    def noted(campaign: Campaign, **options: object) -> object:
        campaigns.append(campaign)
        return run(campaign, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Campaign, "run", noted)
    return campaigns


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Output]]:
    """Return a folder for a first comparison, and its output once there is one."""
    return tmp_path_factory.mktemp("compared"), []


@pytest.fixture
def first(
    dumbbell: Command,
    planned: list[Campaign],
    compared: tuple[Path, list[Output]],
    monkeypatch: pytest.MonkeyPatch,
) -> Output:
    """Compare for the first time, or restore what that left: answers belong to their folder."""
    folder, outputs = compared
    work, kept = folder / "work", folder / "kept"
    shutil.rmtree(work, ignore_errors=True)
    if outputs:
        shutil.copytree(kept, work)
    else:
        work.mkdir()
    monkeypatch.chdir(work)
    if not outputs:
        outputs.append(dumbbell(*COMPARE))
        shutil.copytree(work, kept)
    assert outputs[0].code == 0
    assert len(answers()) == 1
    planned.clear()
    return outputs[0]


def counted(output: Output) -> str:
    """Return how many runs there were, without the time, which depends on the machine."""
    return next(line for line in output.err.splitlines() if " reused, " in line).partition(" in ")[
        0
    ]


@pytest.mark.parametrize("form", [[], ["--csv"], ["--json"]])
def test_each_form_is_what_a_full_comparison_prints(
    dumbbell: Command, first: Output, planned: list[Campaign], form: list[str]
) -> None:
    assert first.out
    kept = dumbbell(*COMPARE, *form)
    assert planned == []
    for file in answers():
        file.unlink()
    full = dumbbell(*COMPARE, *form)
    assert len(planned) == 1
    assert (kept.code, kept.out) == (full.code, full.out)
    assert counted(kept).startswith("0 run, 4 reused, 0 failed")
    assert counted(kept) == counted(full)
    assert kept.err.splitlines()[-1] == full.err.splitlines()[-1]


@pytest.mark.parametrize(
    "other",
    [
        ["compare", "vegas", "reno", *PATH],
        [*COMPARE, "--seed", "1"],
        [*COMPARE, "--slow-start", "standard"],
        [*COMPARE, "--jobs", "1"],
        [*COMPARE, "--report", "site"],
    ],
)
def test_other_commands_run(
    dumbbell: Command,
    first: Output,
    planned: list[Campaign],
    monkeypatch: pytest.MonkeyPatch,
    other: list[str],
) -> None:
    assert first.code == 0
    monkeypatch.setattr(site, "write", lambda *_, **__: Path("site/index.html"))
    assert dumbbell(*other).code == 0
    assert len(planned) == 1


def test_another_folder_has_another_study(
    dumbbell: Command, first: Output, planned: list[Campaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first.code == 0
    results = Path("results").absolute()
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert dumbbell(*COMPARE, "--results", results).code == 0
    assert len(planned) == 1


def flip(file: Path) -> None:
    """Change one bit in the middle of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def forge(file: Path) -> None:
    """Change a number of the table, and leave the digest."""
    content = json.loads(file.read_text())
    content["shown"]["table"]["rows"][0][1][0] = "99.9"
    file.write_text(json.dumps(content))


CHANGES: dict[str, Callable[[], object]] = {
    "a damaged table": lambda: flip(next(Path("results/runs").glob("*/*/flows.parquet"))),
    "a damaged description": lambda: flip(next(Path("results/runs").glob("*/*/run.json"))),
    "a run is missing": lambda: next(Path("results/runs").glob("*/*/run.json")).unlink(),
    "another study": lambda: flip_comment(next(Path("results/experiments").glob("*/study.toml"))),
    "no study": lambda: next(Path("results/experiments").glob("*/study.toml")).unlink(),
    "no plan": lambda: next(Path("results/studies").glob("*.json")).unlink(),
    "another number": lambda: forge(answers()[0]),
    "no JSON": lambda: answers()[0].write_text("{"),
    "another shape": lambda: answers()[0].write_text('{"study": 1, "runs": 2, "shown": 3}'),
    "a path for a study": lambda: answers()[0].write_text(
        '{"study": "../..", "runs": [], "shown": {}, "sha256": ""}'
    ),
}


def flip_comment(file: Path) -> None:
    """Add a comment to a study."""
    file.write_text(file.read_text() + "# changed\n")


@pytest.mark.parametrize("change", CHANGES)
def test_a_table_of_what_has_changed_does_not_count(
    dumbbell: Command, first: Output, planned: list[Campaign], change: str
) -> None:
    CHANGES[change]()
    output = dumbbell(*COMPARE)
    assert (output.code, output.out) == (0, first.out)
    assert len(planned) == 1
    planned.clear()
    assert dumbbell(*COMPARE).out == first.out
    assert planned == [], "the new table is kept"


def test_own_files_are_read_each_time(dumbbell: Command, planned: list[Campaign]) -> None:
    """They may have changed, and so may what they include."""
    assert dumbbell("new", "mine").code == 0
    for _ in range(2):
        assert dumbbell("compare", "reno", "./mine.c", *PATH).code == 0
    assert len(planned) == 2
    assert answers() == []


def test_packed_results_have_no_kept_table(
    dumbbell: Command, first: Output, planned: list[Campaign]
) -> None:
    assert dumbbell("store", "pack").code == 0
    for _ in range(2):
        assert dumbbell(*COMPARE).out == first.out
    assert len(planned) == 2


def test_pruning_removes_kept_tables(dumbbell: Command, first: Output) -> None:
    assert first.code == 0
    flip(next(Path("results/runs").glob("*/*/run.json")))
    assert dumbbell("store", "prune", "--yes").code == 0
    assert answers() == []


def test_a_link_in_place_of_the_folder_is_refused(
    dumbbell: Command, first: Output, tmp_path: Path
) -> None:
    assert first.code == 0
    ANSWERS.rename(tmp_path / "away")
    ANSWERS.symlink_to(tmp_path / "away")
    output = dumbbell(*COMPARE)
    assert output.code == 2
    assert str(ANSWERS) in output.err
