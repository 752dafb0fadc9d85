"""With --json an error is an object on standard output, too, so a program reads one document."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Command


@pytest.mark.parametrize(
    ("arguments", "source", "problem"),
    [
        (("score", "reno", "--suite", "internt-1"), "--suite", "unknown suite"),
        (
            ("score", "reno", "--beat", "none.json"),
            None,
            "cannot read it: No such file or directory",
        ),
        (("hunt", "vegas", "--goal", "shre"), "--goal", "unknown goal"),
        (("hunt", "vegas", "--points", "0"), "--points", "must be at least 2"),
        (("compare", "reno", "--runs", "few"), "--runs", "not a whole number"),
        (("simulate", "nowhere.toml"), None, None),
    ],
)
def test_wrong_input_is_an_object(
    arguments: tuple[str, ...], source: str | None, problem: str | None, dumbbell: Command
) -> None:
    plain, output = dumbbell(*arguments), dumbbell(*arguments, "--json")
    assert (plain.code, output.code, plain.out) == (2, 2, "")
    assert output.err == plain.err
    error = output.json["error"]
    assert output.err == f"error: {error['message']}\n"
    assert error["exit_code"] == 2
    assert source in (None, error["source"])
    assert problem in (None, error["problem"])


def test_a_failure_after_the_results_adds_no_second_object(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_cc.c").write_text("no algorithm")
    output = dumbbell("score", "./my_cc.c", "--json")
    assert output.code == 1
    assert output.json["status"] == "refused"
