"""Commands that are shown can be pasted, whatever the names in them are."""

from __future__ import annotations

import html
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import dumbbell
from command_line import Command
from dumbbell.base import kinds
from dumbbell.base.shell import quoted
from dumbbell.plan.tests import Test
from dumbbell.reports import run_pages
from dumbbell.serve.site import Site
from dumbbell.store.store import Store
from dumbbell.study.model import Study

ROOT = Path(dumbbell.__file__).parent
NAMES = ["a b", "it's", 'say "x"', "$(touch ran)", "`touch ran`", "x;touch ran", "a\nb", "-n", "*"]

STUDY = """
[study]
name = "small"
title = "Small"
authors = ["A"]
year = 2026
[[test]]
name = "t"
title = "T"
axes = { algorithm = ["reno"] }
[test.scenario]
duration = "1s"
network = { rate = "1mbit", rtt = "20ms", queue = "1bdp" }
flow = [{ algorithm = "{algorithm}" }]
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_shell_takes_a_quoted_word_as_it_is(tmp_path: Path, name: str) -> None:
    script = f"printf %s {quoted(name)}"
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.decode() in (name, f"./{name}")
    assert not list(tmp_path.iterdir())


def test_nothing_else_quotes() -> None:
    """Not even scripts of pages: what they show of a command comes quoted."""
    quoting = {"py": r"shlex\.(quote|join)", "js": r"""'"'"'|function quoted"""}
    files = {
        file.name
        for kind, words in quoting.items()
        for file in ROOT.rglob(f"*.{kind}")
        if re.search(words, file.read_text())
    }
    assert files == {"shell.py"}


@pytest.mark.parametrize("value", NAMES)
def test_the_page_of_a_run_names_its_grid_point_as_a_shell_takes_it(value: str) -> None:
    test = Test.model_construct(name="t", title="T", axes={"one": ("1",), "of": (value, "2")})
    (_, one), (_, of) = run_pages.options_of(test)
    assert [option for _, option in one] == [""]
    assert [shlex.split(option) for _, option in of] == [
        ["--where", f"of={value}"],
        ["--where", "of=2"],
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", [".c", ".toml", ".pcap"])
def test_the_command_for_a_file_names_it(dumbbell: Command, name: str, suffix: str) -> None:
    del dumbbell  # it has changed the folder
    path = Path(name + suffix)
    path.write_text(STUDY)
    kind = kinds.of_path(path)
    assert kind is not None
    assert shlex.split(kind.command)[1] in (str(path), f"./{path}")


def test_commands_on_pages_and_in_messages_name_what_they_are_about(
    dumbbell: Command, tmp_path: Path
) -> None:
    name = "$(touch ran) `touch ran` it's; touch ran"
    Path(f"{name}.toml").write_text(STUDY)
    study = f"{name}.toml"
    missing = dumbbell("claims", study, "--results", f"{name} results")
    assert shown(missing.err + missing.out, "dumbbell run ")[2] == study
    output = dumbbell("run", study, "--results", f"{name} results")
    next_one = shown(output.out + output.err, "dumbbell report ")
    assert next_one[2:5] == [study, "--results", f"{name} results"]
    assert dumbbell("report", study, "--results", f"{name} results", "--output", "pages").code == 0
    for page in Path("pages").rglob("*.html"):
        for pasted in re.findall(r"dumbbell (?:run|report|open) [^<\\\n]*", page.read_text()):
            assert shlex.split(html.unescape(pasted))[2] in (study, "small")
    assert Study.load(study).called == quoted(study)
    site = html.unescape(Site(Store(f"{name} results")).overview())
    assert f"--results {quoted(f'{name} results')}</code>" in site
    assert not (tmp_path / "ran").exists()


def shown(text: str, command: str) -> list[str]:
    """Return the words of a command in a text."""
    line = " ".join(text.split("\n"))
    return shlex.split(line[line.index(command) :].split(", or ")[0].rstrip("."))
