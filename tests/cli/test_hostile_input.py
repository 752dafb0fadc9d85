"""Wrong input of any kind ends in one line that names it, and exit code 2."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command, assert_refused, line
from dumbbell.algorithms import catalogue
from dumbbell.base import documents
from dumbbell.base.errors import InputError, placed, printable, shown
from dumbbell.study import files
from dumbbell.study.model import Study

LONG = "x" * 300
VERY_LONG = "a" * 100_000
DIGITS = "9" * 5000

SCENARIO = """
title = "{title}"
duration = "5s"
{top}
[network]
rate = {rate}
rtt = "20ms"
queue = "1bdp"
[[flow]]
algorithm = {algorithm}
count = {count}
"""


def scenario(
    path: Path,
    *,
    title: str = "Two flows",
    top: str = "",
    rate: str = '"10mbit"',
    algorithm: str = '"reno"',
    count: str = "2",
) -> Path:
    path.write_text(
        SCENARIO.format(title=title, top=top, rate=rate, algorithm=algorithm, count=count)
    )
    return path


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ({"top": f"x = {'[' * 3000}{']' * 3000}"}, "nested too deeply"),
        ({"top": f"x = {'[' * 100}{']' * 100}"}, "nested too deeply"),
        ({"top": f"{'.'.join('a' * 3000)} = 1"}, "nested too deeply"),
        ({"top": f"seed = {DIGITS}"}, "a number of too many digits"),
        ({"top": f"seed = 0x{'f' * 6000}"}, "seed = 0xffff"),
        ({"count": f"0x{'f' * 6000}"}, "flow.1.count = 0xffff"),
        ({"top": f"sed = [{{ a = 0x{'f' * 6000} }}]"}, "sed.1.a = 0xffff"),
        ({"rate": f'"{DIGITS}mbit"'}, "network.rate"),
        ({"algorithm": f'"{VERY_LONG}"'}, "flow.1.algorithm"),
        ({"algorithm": f'"reno@{VERY_LONG}"'}, "flow.1.algorithm"),
        ({"algorithm": f'"./{LONG}.c"'}, "File name too long"),
        ({"algorithm": '"./a\\u0000b.c"'}, "no file can have this name"),
        ({"rate": f'{{ trace = "{LONG}" }}'}, "File name too long"),
        ({"rate": '{ trace = "a\\u0000b" }'}, "no file can have this name"),
        ({"rate": '{ trace = "/dev/zero" }'}, "not a regular file"),
        ({"rate": '{ trace = "queue" }'}, "not a regular file"),
        ({"rate": '{ trace = "digits" }'}, "not a time in line 2"),
        ({"algorithm": '"./zero.c"'}, "not a regular file"),
        ({"title": "x" * 1_000_000}, 'title = "xxx'),
        ({"title": "x" * 301}, "longer than 300 characters"),
        ({"algorithm": f'"reno"\nlabel = "{"x" * 101}"'}, "longer than 100 characters"),
        ({"algorithm": f'"reno"\nhost = "{"x" * 101}"'}, "longer than 100 characters"),
        ({"top": '"a\\nb\\u001b[31m" = 1'}, "a\\nb\\x1b[31m = 1: unknown key"),
    ],
)
def test_a_hostile_scenario_is_refused(
    dumbbell: Command, tmp_path: Path, parts: dict[str, str], wanted: str
) -> None:
    (tmp_path / "digits").write_text(f"1\n{DIGITS}\n")
    (tmp_path / "zero.c").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "queue")
    scenario(tmp_path / "a.toml", **parts)
    output = dumbbell("simulate", "a.toml")
    assert_refused(output)
    assert re.match(r"error: a\.toml(:\d+)?: ", output.err)
    assert wanted in output.err
    assert len(output.err) < 1500


def test_of_many_errors_the_first_are_shown(dumbbell: Command, tmp_path: Path) -> None:
    wrong = '[[flow]]\nalgorithm = "reno"\ncolour = "red"\n' * 60
    (tmp_path / "a.toml").write_text(f'duration = "5s"\n{wrong}')
    lines = dumbbell("simulate", "a.toml").err.splitlines()
    assert len(lines) == 11
    assert "a.toml: network: is missing" in lines[0]
    assert "a.toml:28: flow.9.colour" in lines[9]
    assert lines[10] == "and 51 more"


def test_a_scenario_that_does_not_fit_as_an_experiment_is_named(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size_bytes = scenario(tmp_path / "a.toml").stat().st_size
    monkeypatch.setattr(documents, "TOML_BYTES_MAX", size_bytes)
    output = dumbbell("simulate", "a.toml")
    assert_refused(output)
    assert output.err.startswith("error: a.toml: too large; valid: at most")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", LONG],
        ["run", f"{LONG}.toml"],
        ["run", f"{LONG}/{LONG}"],
        ["claims", LONG],
        ["simulate", LONG],
        ["check", VERY_LONG],
        ["check", f"./{LONG}.c"],
        ["new", LONG],
        ["new", "a\nb"],
        ["algorithms", "show", VERY_LONG],
        ["algorithms", "show", f"reno@{VERY_LONG}"],
        ["compare", VERY_LONG, "--rate", "1mbit", "--rtt", "9ms"],
        ["compare", "reno", "--rate", "1mbit", "--rtt", "9ms", "--flows", DIGITS],
        ["compare", "reno", "--rate", "1mbit", "--rtt", "9ms", "--flows", f"reno:{DIGITS}"],
        ["compare", "reno", "--rate", f"{DIGITS}mbit", "--rtt", "9ms"],
        ["simulate", "/dev/zero"],
        ["simulate", "a\nb.toml"],
    ],
)
def test_hostile_arguments_are_refused(dumbbell: Command, arguments: list[str]) -> None:
    assert_refused(dumbbell(*arguments))


@pytest.mark.parametrize("command", ["new", "check", "run", "list", "simulate", "algorithms"])
def test_arguments_that_are_no_text_are_refused(dumbbell: Command, command: str) -> None:
    output = dumbbell(command, "my\udcff")
    assert_refused(output)
    assert output.err == snapshot('error: command line: "my\\udcff": not UTF-8 text\n')


@pytest.mark.skipif(sys.platform != "linux", reason="how others read a queue")
def test_a_scenario_may_come_out_of_a_pipe(dumbbell: Command, tmp_path: Path) -> None:
    """As with ``dumbbell simulate <(sed ... a.toml)``."""
    content = scenario(tmp_path / "a.toml", top='duration_ = "1s"').read_bytes()
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    output = dumbbell("simulate", f"/dev/fd/{reading}")
    os.close(reading)
    assert_refused(output)
    assert 'did you mean "duration"' in output.err


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("", "study: is missing; valid: a [study] table"),
        ("study = 3", "study = 3: not a table"),
        ('study = { name = "a", year = 2000 }', "study.title: is missing"),
        ('study = { name = "a", title = [1], year = 2 }', "study.title = [1]: neither a text"),
        (f"study = {'[' * 3000}", "nested too deeply"),
    ],
)
def test_a_study_that_cannot_be_listed_is_named(
    dumbbell: Command, tmp_path: Path, content: str, wanted: str
) -> None:
    (tmp_path / "studies/mine").mkdir(parents=True)
    (tmp_path / "studies/mine/study.toml").write_text(f"{content}\n")
    output = dumbbell("list", "studies")
    assert_refused(output)
    assert wanted in output.err
    assert "studies/mine" in output.err


def test_lists_show_names_on_one_line_and_without_colours(
    dumbbell: Command, tmp_path: Path
) -> None:
    study = small_study.STUDY.replace("A small study", "A [red]small\\nstudy\\u001b[31m")
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/small.toml").write_text(study)
    lines = dumbbell("list", "studies").out.splitlines()
    (line,) = (line for line in lines if line.startswith("small"))
    assert "A [red]small\\nstudy\\x1b[31m of <b>two</b> algorithms" in line
    assert line.endswith("2024")


def test_listing_a_study_reads_no_algorithm_that_it_names(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small_study.STUDY.replace('"highspeed"]', '"./evil.c"]')
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies/small.toml").write_text(study + small_study.FIGURES)
    (tmp_path / "studies/evil.c").write_text("nonsense")
    monkeypatch.delattr(catalogue, "read")
    assert "small" in dumbbell("list", "studies").out
    assert "Ratio of throughputs" in dumbbell("list", "figures").out


def test_what_is_listed_is_what_a_study_says() -> None:
    for name in files.names():
        study = Study.load(name)
        header = {"name": study.name, "title": study.header.title, "year": study.header.year}
        assert files.header(name) == header
        figures = [{"name": figure.name, "title": figure.title} for figure in study.figures]
        assert files.figures(name) == figures


def test_nesting_as_deep_as_is_allowed_can_be_shown_and_copied(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f"x = {'[' * 64}1{']' * 64}")
    value: Any = documents.read_toml(tmp_path / "a.toml")
    assert shown(value).startswith("{ x = [[[")
    (tmp_path / "a.toml").write_text(f"x = {'[' * 65}1{']' * 65}")
    with pytest.raises(InputError) as refused:
        documents.read_toml(tmp_path / "a.toml")
    assert refused.value.problem == snapshot("nested too deeply")


def test_texts_are_shown_on_one_line() -> None:
    assert printable("a b\u202fc é") == "a b\u202fc é"
    assert printable("a\nb\x1b[31m\udcff\u202e") == "a\\nb\\x1b[31m\\udcff\\u202e"
    assert shown(-(16**5000)).startswith("-0x1000")
    error = InputError("not a file", source="a\nb", key="c\nd", value="e\n\x7f")
    assert str(error) == snapshot('a\\nb: c\\nd = "e\\n\\x7f": not a file')


def test_the_place_of_an_error_is_filled_in_for_all_it_holds() -> None:
    other = InputError("worse", key="b", value=2)
    with pytest.raises(InputError) as caught, placed(source="f.toml", key="x.0"):
        raise InputError("bad", key="a", value=1, valid="3", near="4", others=[other])
    assert str(caught.value) == (
        snapshot('f.toml: x.0.a = 1: bad (did you mean "4"?); valid: 3\nf.toml: x.0.b = 2: worse')
    )
    assert caught.value.args == ("bad",)


@pytest.mark.usefixtures("undrawn")
def test_results_that_cannot_be_read_stop_no_command(dumbbell: Command, tmp_path: Path) -> None:
    small_study.write(tmp_path / "study")
    only = ["--where", "test=lossy"]
    assert dumbbell("run", "study", *only).code == 0
    nested, replaced = sorted(tmp_path.glob("results/runs/??/*"))
    (nested / "run.json").write_text("[" * 5000)
    (replaced / "flows.parquet").unlink()
    (replaced / "flows.parquet").mkdir()
    output = dumbbell("report", "study")
    assert output.code == 0
    assert output.err.count("damaged result") == 2
    assert dumbbell("claims", "study", "--json").code == 0
    output = dumbbell("run", "study", *only)
    assert output.code == 0
    assert "2 run, 0 reused, 0 failed" in output.err
    assert "2 run, 0 reused" not in dumbbell("run", "study", *only).err


def test_what_is_said_of_a_folder_names_it_as_it_is(dumbbell: Command, tmp_path: Path) -> None:
    small_study.write(tmp_path / "study")
    only = ["--where", "test=lossy", "--results", "[red]results"]
    assert line(dumbbell("run", "study", *only).err, "red]results") == snapshot(
        "Results are in [red]results. Next: dumbbell report study --results '[red]results'"
    )
