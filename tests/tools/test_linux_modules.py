"""Our algorithms and Linux's modules, as far as it goes without Linux's sources."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from linux_modules import (
    __main__ as command,
)
from linux_modules import compiling, differences, digests, package, page
from linux_modules.differences import DeclarationError, Difference, Edit
from linux_modules.judge import Verdict, judged
from linux_modules.places import ALGORITHMS
from linux_modules.runs import Tally

SOURCE = """\
/*
 * Reno: an example.
 *
 * Unlike Linux: it adds two; it halves twice.
 *
 * Unlike Linux: it does not overflow.
 */
add(2);
halve(2);
"""
ADDS = Difference("reno", "it adds two", (Edit("add(2)", "add(1)"),))
HALVES = Difference("reno", "it halves twice", (Edit("halve(2)", "halve(1)"),))


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return compiling.driver(("ours",), tmp_path_factory.mktemp("driver"))


@pytest.mark.parametrize("name", package.MODULES)
def test_our_files_do_what_they_did_when_they_were_compared(
    name: str, driver: list[Path], tmp_path: Path
) -> None:
    assert digests.digest(name, driver, tmp_path) == digests.read()[name], (
        f"algorithms/{name}.c does otherwise than when it was compared with Linux's module: "
        "see what `make linux-modules` says, and check in what it writes"
    )


@pytest.mark.parametrize("name", package.MODULES)
def test_each_difference_is_said_and_can_be_undone(name: str) -> None:
    source = (ALGORITHMS / f"{name}.c").read_text()
    declared = differences.of(name, differences.load())
    stated = differences.statements(name, source, declared)
    assert all(stated.reasons)
    for difference in declared:
        assert differences.as_linux(source, [difference]) != differences.as_linux(source, [])


def judge(code: str, *declared: Difference) -> Verdict:
    """Judge a source, of which Linux's is the one that adds and halves once."""

    def program(_name: str, source: str, _variant: str) -> Path:
        return Path(source)

    def tally(program: Path) -> Tally:
        same = "add(1);\nhalve(1);" in str(program)
        return Tally(
            calls=10,
            differing=0 if same else 3,
            windows=(1, 9),
            own_runs=2,
            identical=2 if same else 1,
            delivered=(100, 103),
        )

    return judged("reno", code, declared, tally, program)


def test_what_is_declared_is_allowed_and_nothing_else() -> None:
    assert list(judge(SOURCE, ADDS, HALVES).problems()) == []
    (problem,) = judge(SOURCE, ADDS).problems()
    assert problem == snapshot(
        "reno differs beyond what differences.toml declares: 3 of 10 calls; alone 1 of 2 runs"
    )
    (problem,) = judge(SOURCE).problems()
    assert problem == snapshot("reno differs from Linux: 3 of 10 calls; alone 1 of 2 runs")


def test_what_makes_nothing_differ_any_more_must_go() -> None:
    needless = Difference("reno", "it does not overflow", (Edit("Reno:", "Reno :"),))
    (problem,) = judge(SOURCE, ADDS, HALVES, needless).problems()
    assert problem == snapshot(
        "reno: 'it does not overflow' makes nothing differ any more: take it out of differences.toml, and the sentence out of the head comment"
    )


def test_reasons_are_those_of_the_head_comment() -> None:
    stated = differences.statements("reno", SOURCE, [ADDS, HALVES])
    assert stated.reasons == ("It adds two", "It halves twice.")
    assert stated.others == snapshot(("It does not overflow.",))


@pytest.mark.parametrize(
    ("difference", "problem"),
    [
        (Difference("reno", "it sleeps", ()), "'it sleeps' is in 0 paragraphs"),
        (Difference("reno", "it adds two", (Edit("add(3)", ""),)), "0 times in algorithms/reno.c"),
    ],
)
def test_declarations_that_do_not_fit_are_refused(difference: Difference, problem: str) -> None:
    with pytest.raises(DeclarationError, match=r"differences\.toml") as refused:
        judge(SOURCE, difference)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[[difference]]\nalgorithm = "reno"\nwords = "x"', "reno, 'x': a difference has"),
        (
            '[[difference]]\nalgorithm = "tahoe"\nwords = "x"\n'
            '[[difference.edit]]\nfind = "a"\nreplace = "b"',
            "'tahoe' is none of bbr, bic",
        ),
    ],
)
def test_declarations_that_are_not_complete_are_refused(text: str, problem: str) -> None:
    with pytest.raises(DeclarationError) as refused:
        differences.load(text)
    assert problem in str(refused.value)


def test_the_page_has_reasons_and_what_is_not_as_declared() -> None:
    fitting, other = judge(SOURCE, ADDS, HALVES), judge(SOURCE, ADDS)
    text = page.text([fitting], "6.12.1")
    assert "`linux-source-6.12` 6.12.1." in text
    assert "| as declared |" in text
    assert "| reno | It adds two | 3 of 10 calls | 1 of 2 |" in text
    assert "Not as declared" not in text
    written = page.text([other], "6.12.1")
    assert "**differs**" in written
    assert "Not as declared" in written


def test_without_the_package_it_says_so_and_ends_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> str:
        raise package.MissingError("linux-source-6.12 is not to be had")

    monkeypatch.setattr(package, "installed", missing)
    monkeypatch.setattr("sys.argv", ["linux_modules"])
    assert command.main() == 0
    assert capsys.readouterr().out == snapshot(
        "linux-source-6.12 is not to be had: nothing is compared; `make test` still holds our files to the vectors\n"
    )


def test_functions_are_cut_out_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "u32 other(void);\n\n/* first() */\n"
    body = "static u32 first(u32 a,\n\t\t u32 b)\n{\n\treturn a;\n}\n"
    text = head + body
    (tmp_path / "file.c").write_text(f"{text}\nstruct ops table = {{\n\t.a = first,\n}};\n")
    monkeypatch.setattr(package, "SOURCE", tmp_path)
    assert package.function("file.c", "first") == body
    assert package.function("file.c", "table").endswith("};\n")
    with pytest.raises(package.SourceError, match="has no second"):
        package.function("file.c", "second")
