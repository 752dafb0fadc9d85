"""The documentation of algorithms is complete; `make lint` sees that its files are current."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reference import algorithm_figure, algorithm_page

from dumbbell.algorithms import catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.algorithms.head_comments import Kind

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

STUDIED = {
    "li2007": ("reno", "scalable", "highspeed", "htcp", "bic", "fast"),
    "lukaseder2016": ("reno", "scalable", "highspeed", "htcp", "bic", "cubic"),
    "brakmo2017": (
        *("reno", "cubic", "dctcp", "nv", "bbr", "bic", "highspeed", "htcp", "scalable"),
        *("westwood", "yeah"),
    ),
    "kumazoe2012": ("reno", "cubic", "compound", "ccp", "ccpd"),
    "mani2012": ("highspeed", "scalable", "bic", "cubic", "htcp", "illinois", "yeah"),
}
"""Algorithms in each study, by its paper."""

each_algorithm = pytest.mark.parametrize(
    "algorithm", catalogue.algorithms().values(), ids=lambda algorithm: algorithm.name
)


def test_comments_of_a_file_leave_its_figure_current_but_code_and_looks_do_not() -> None:
    reno = catalogue.algorithm("reno")

    def digest(old: str, new: str) -> str:
        assert old in reno.code
        changed = reno.model_copy(update={"code": reno.code.replace(old, new)})
        return algorithm_figure.digest(changed)

    current = algorithm_figure.digest(reno)
    assert digest("CC_ALGORITHM(", "/* More\n * words. */\nCC_ALGORITHM(") == current
    assert digest("In figures: Standard TCP", "In figures: Reno") != current
    assert digest("CC_ALGORITHM(", "CC_ALGORITHM((") != current


def test_links_of_pages_lead_somewhere() -> None:
    for page in (DOCS / algorithm_page.FOLDER).glob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


@each_algorithm
def test_figures_are_small(algorithm: Algorithm) -> None:
    path = DOCS / algorithm_figure.FOLDER / f"{algorithm.name}.svg"
    assert path.stat().st_size < algorithm_figure.BYTES_MAX


@pytest.mark.parametrize("name", ["reno", "cubic"])
def test_a_figure_is_the_same_every_time(name: str) -> None:
    algorithm = catalogue.algorithm(name)
    drawn = algorithm_figure.draw(algorithm)
    assert drawn == algorithm_figure.draw(algorithm)


def test_a_changed_figure_is_drawn_again_and_others_are_not(tmp_path: Path) -> None:
    figures = tmp_path / algorithm_figure.FOLDER
    figures.mkdir(parents=True)
    for path in (DOCS / algorithm_figure.FOLDER).iterdir():
        (figures / path.name).write_text(path.read_text())
    stale = figures / "reno.svg"
    current = stale.read_text()
    stale.write_text(current.replace(algorithm_figure.digest_of(current) or "", "0" * 64))
    (figures / "gone.svg").write_text("")
    assert list(algorithm_figure.write(tmp_path)) == ["reno"]
    assert stale.read_text().splitlines()[0] == current.splitlines()[0]
    assert not (figures / "gone.svg").exists()


@each_algorithm
def test_every_head_comment_has_its_equations(algorithm: Algorithm) -> None:
    comment = algorithm.comment
    assert comment.title
    assert comment.sentence.endswith(".")
    assert comment.of(Kind.LAW)
    assert comment.says_its_equations


@each_algorithm
def test_every_parameter_and_preset_is_explained(algorithm: Algorithm) -> None:
    for parameter in algorithm.parameters:
        assert all((parameter.unit, parameter.what, parameter.source)), parameter.name
    for preset in algorithm.presets:
        assert preset.source, preset.name


@each_algorithm
def test_a_choice_among_readings_is_argued_for(algorithm: Algorithm) -> None:
    read = any(parameter.source.startswith("interpretation") for parameter in algorithm.parameters)
    assert not read or algorithm.comment.of(Kind.INTERPRETATION)


@pytest.mark.parametrize(
    ("study", "name"), [(study, name) for study, names in STUDIED.items() for name in names]
)
def test_every_algorithm_of_a_study_has_its_parameters(study: str, name: str) -> None:
    assert study in catalogue.algorithm(name).preset_names


@each_algorithm
def test_presets_of_studies_are_of_those_that_ran_it(algorithm: Algorithm) -> None:
    for study in set(STUDIED) & set(algorithm.preset_names):
        assert algorithm.name in STUDIED[study]


@each_algorithm
def test_hooks_are_read_from_the_file(algorithm: Algorithm) -> None:
    assert {"ssthresh"} < algorithm.hooks
    assert algorithm.hooks & {"cong_avoid", "cong_control"}


def test_the_kernel_has_an_adapter_for_each_hook_that_is_said_to_have_one() -> None:
    adapter = (ROOT / "crates" / "testbed" / "bpf" / "adapter.h").read_text()
    assert set(re.findall(r"#define CC_MEMBER_(\w+)", adapter)) == catalogue.KERNEL_HOOKS


def test_a_hook_without_an_adapter_keeps_an_algorithm_out_of_the_kernel() -> None:
    reno = catalogue.algorithm("reno")
    assert reno.engines == ("simulator", "kernel")
    other = reno.model_copy(update={"code": f"{reno.code}\nH(reno, min_tso_segs)"})
    assert other.engines == ("simulator",)
