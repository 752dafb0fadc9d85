"""Studies with something wrong in them: refused when they are read, or as good as any other.

Mutations are drawn from fixed seeds: letters of names, values of another kind, lines that are left
out or twice. `make fuzz` draws many more.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

from dumbbell.base.errors import InputError
from dumbbell.results.results import Results
from dumbbell.store.store import Store
from dumbbell.study.files import find
from dumbbell.study.model import Study

EXAMPLES = sorted((Path(__file__).parents[2] / "docs/examples/studies").glob("*.toml"))
SHIPPED = ("brakmo2017", "kumazoe2012", "li2007", "lukaseder2016", "mani2012")
VALUES = ('"x"', "-1", "0", "1e400", "true", "[]", "{}", '[["a"]]', '"0"', "99999999999999999999")
_TEXT = re.compile(r'"[^"\n]+"')
_VALUE = re.compile(r"(?<== )[^\n]+")


def misspelt(text: str, draw: random.Random) -> str:
    """Change a letter of a text in quotes: of a name or of a quantity."""
    places = [match for match in _TEXT.finditer(text) if match.end() - match.start() > 3]
    place = draw.choice(places)
    at = draw.randrange(place.start() + 1, place.end() - 1)
    return text[:at] + draw.choice("aeiou0_@[]") + text[at + 1 :]


def of_another_kind(text: str, draw: random.Random) -> str:
    """Replace a value."""
    place = draw.choice(list(_VALUE.finditer(text)))
    return text[: place.start()] + draw.choice(VALUES) + text[place.end() :]


def without_a_line(text: str, draw: random.Random) -> str:
    """Leave a line out."""
    lines = text.splitlines()
    del lines[draw.randrange(len(lines))]
    return "\n".join(lines) + "\n"


def with_a_line_twice(text: str, draw: random.Random) -> str:
    """Repeat a line, with a letter changed."""
    lines = text.splitlines()
    line = draw.choice([line for line in lines if "=" in line])
    lines.insert(lines.index(line), line.replace("e", "a", 1))
    return "\n".join(lines) + "\n"


pytestmark = pytest.mark.hypothesis  # so that `make fuzz` runs them

WAYS = (misspelt, misspelt, of_another_kind, without_a_line, with_a_line_twice)


def mutated(file: Path, seed: int) -> str:
    """Return the content of a file with one thing wrong."""
    draw = random.Random(f"{file.name} {seed}")
    return draw.choice(WAYS)(file.read_text(), draw)


def loaded(path: Path) -> Study | None:
    """Read a study; None if it is refused, as it must be: with the file, and in a line."""
    try:
        return Study.load(path)
    except InputError as error:
        named(path, error)
        return None


def named(path: Path, error: InputError) -> None:
    """Hold an error to naming a file of the study in each of its lines."""
    assert error.exit_code == 2
    for line in str(error).splitlines():
        assert str(path) in line, line


def seeds(count: int) -> Sequence[int]:
    """Return the seeds of some mutations: the same ones, or in `make fuzz` others, and more."""
    if settings.get_current_profile_name() == "fuzz":
        return random.sample(range(10**9), 50 * count)
    return range(count)


def copies(folder: Path, source: Path, count: int) -> Iterator[Path]:
    """Yield copies of a study, each with one thing wrong in one of its files."""
    for seed in seeds(count):
        target = folder / f"{source.stem}-{seed}"
        if source.is_dir():
            shutil.copytree(source, target)
            file = random.Random(seed).choice(sorted(target.glob("*.toml")))
        else:
            target.mkdir()
            file = target / source.name
            shutil.copy(source, file)
        file.write_text(mutated(file, seed))
        yield target
        shutil.rmtree(target)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_a_wrong_example_is_refused_or_can_be_reported(tmp_path: Path, example: Path) -> None:
    refused = 0
    for study in copies(tmp_path, example, 20):
        parsed = loaded(study)
        refused += parsed is None
        if parsed is None:
            continue
        try:
            results = Results(parsed, Store(tmp_path / "results"))
            results.claims()
        except InputError as error:
            named(study, error)
            continue
        for figure in parsed.figures:
            assert figure.section in {test.name for test in parsed.tests}
            assert figure.draw(results).notes
    assert refused > 9


@pytest.mark.parametrize("name", SHIPPED)
def test_a_wrong_study_is_refused_or_expands(tmp_path: Path, name: str) -> None:
    read = [loaded(study) for study in copies(tmp_path, find(name), 6)]
    assert sum(study is None for study in read) > 1


def test_a_wrong_study_never_fails_once_it_has_run(small: Results, tmp_path: Path) -> None:
    source = small.store.root.parent / "study"
    drawn = 0
    for study in copies(tmp_path, source, 10):
        parsed = loaded(study)
        if parsed is None:
            continue
        try:
            results = Results(parsed, small.store)
            results.claims()
            drawn += sum(bool(figure.draw(results).notes) for figure in parsed.figures)
        except InputError as error:
            named(study, error)
    assert drawn > 2
