"""Scores: one number that does not change, a race, and problems instead of accidents."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import process_table
from command_line import Command
from dumbbell import InputError, score
from dumbbell.algorithms import apart
from dumbbell.conformance import fuzzing, interface, kernel, starting
from dumbbell.conformance.verdicts import failed, not_checked
from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.quantities.kept import Values
from dumbbell.scoring import candidate, scoring, suites
from dumbbell.scoring.problems import CHECKS, MEANINGS, Code, Problem, Refused

REDUCES = "	state->reductions++;"
GROWS = "conn->cwnd_segs / params->increase"
INIT = "	state->min_rtt_us = CC_NO_RTT;"
SYSCALL = '	long r; asm volatile("syscall" : "=a"(r) : "a"({}) : "rcx", "r11", "memory");'

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits are Linux's")
x86 = pytest.mark.skipif(os.uname().machine != "x86_64", reason="its system calls are x86's")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder, with a suite of few short paths and limits that are soon reached."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    whole = suites.load("internet-1")
    distribution = {**whole.distribution, "duration": "4s", "rate_mbit": [5, 20]}
    few = whole.model_copy(update={"rounds": (8, 12), "distribution": distribution})
    monkeypatch.setattr(suites, "load", lambda name: {"internet-1": few}[name])
    for module in (candidate, scoring):
        monkeypatch.setattr(module, "LIMITS", apart.Limits(cpu_s=1))
    return tmp_path


def write(old: str = "", new: str = "", name: str = "my_cc") -> Path:
    """Write the template with a part of it replaced."""
    text = starting.text(name)
    assert old in text
    file = Path(f"{name}.c")
    file.write_text(text.replace(old, new) if old else text)
    return file


def test_the_reference_has_exactly_100() -> None:
    scored = score("cubic")
    assert scored.value == pytest.approx(100, abs=1e-9)
    assert scored.interval == (scored.value, scored.value)
    assert scored.passed
    assert set(scored.worths.values()) == {0.0}


def test_the_score_is_the_product_of_its_parts_and_their_weights() -> None:
    scored = score("reno")
    assert scored.status == "scored"
    assert scored.value == pytest.approx(
        100 * math.exp(sum(scored.worths.values()) / len(scored.worths))
    )
    logarithm = sum(
        math.log(part.ratio.value) * part.paths for part in scored.details.parts if part.ratio
    )
    assert sum(scored.worths.values()) == pytest.approx(logarithm)
    assert scored.to_frame()["part"].to_list() == ["goodput", "delay", "others", "fairness"]


def test_a_file_scores_the_same_twice_and_as_the_command_prints_it(dumbbell: Command) -> None:
    file = write()
    one, other = (score(file, jobs=jobs).to_dict() for jobs in (1, 2))
    assert one == other
    assert one["runs"] == 12
    printed = dumbbell("score", "./my_cc.c", "--json")
    assert printed.code == (0 if one["passed"] else 1), printed.err
    assert {**json.loads(printed.out), "algorithm": "my_cc.c"} == one


def test_the_reference_runs_once_for_all_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    score("reno")

    def never(*arguments: object) -> Values:
        raise AssertionError(arguments)

    # The gauge makes the runs of the reference by this function, and candidates by their own.
    monkeypatch.setattr(scoring, "measured", lambda _: never)
    assert score("vegas").status == "scored"


def test_what_is_bad_runs_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(candidate.Candidate, "check_calls", lambda self: calls.append(self.shown))
    file = write(
        "	if (!cc_may_grow(conn))\n		return;", "	conn->cwnd_segs = 2;\n	return;"
    )
    scored = score(file)
    assert (scored.status, len(scored.worths), calls) == ("dropped", 8, [])
    assert scored.value is not None
    assert scored.value < 50
    assert not scored.passed
    assert not scored.problems


def test_no_run_begins_after_one_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def measure(_: candidate.Candidate, __: str, path: NetworkPath, ___: object) -> Values:
        calls.append(path.name)
        raise Refused(Problem(Code.TIME, f"a run on {path.name}", "reno"))

    monkeypatch.setattr(candidate.Candidate, "measure", measure)
    (problem,) = score("reno", jobs=1).problems
    assert calls == ["internet-1/train/0"]
    assert problem.message == f"a run on {calls[0]}"


def test_a_race_against_another_drops_what_is_worse_and_keeps_what_is_equal() -> None:
    best = score("cubic")
    same = score("cubic", beat=best)
    assert (same.status, same.gain.value if same.gain else None) == ("scored", 1.0)
    slow = write("CC_RANGE(1, 100)", "CC_RANGE(1, 100)")
    slow.write_text(slow.read_text().replace("cc_half_window(conn)", "CC_CWND_MIN"))
    against = score(slow, beat=best.to_dict())
    assert against.gain is not None
    assert against.gain.value < 1
    assert against.details.suite.drop_below == 50


@pytest.mark.parametrize(
    ("edit", "code", "line", "message"),
    [
        ((REDUCES, "	state->reductions +;"), Code.COMPILE, 60, "expected"),
        (("CC_ALGORITHM(my_cc", "CC_ALGORITHM(other"), Code.COMPILE, 105, "registers 'other'"),
        (("u32 min_rtt_us;", "u32 many[40], min_rtt_us;"), Code.COMPILE, 105, "kernel grants"),
        ((REDUCES, "	state->reductions += 1.5;"), Code.INTEGERS, 60, "1.5"),
        ((REDUCES, "	extern int fork(void); fork();"), Code.CALLS, 60, "fork"),
        ((REDUCES, "	extern void *malloc(unsigned long); state->reductions += !malloc(1UL << 40);"),
         Code.CALLS, 60, "malloc"),
        (('"RFC 5681: 1"', '""'), Code.PARAMETERS, None, "increase: no source"),
        (("increase, 4)", "increase, 400)"), Code.PRESETS, None, "quick sets increase to 400"),
        ((REDUCES, "	for (;;) state->reductions++;"), Code.TIME, None, "more than 1 s of processor time"),
        ((GROWS, "conn->cwnd_segs / (acked - acked * params->increase)"),
         Code.CRASH, None, "SIGFPE"),
        ((REDUCES, "	__builtin_trap();"), Code.CRASH, None, "SIG"),
        ((INIT, "	static u32 all;\n	state->reductions = all++;"), Code.REPEAT, None, "static"),
        # It fails late, so the fuzzer needs hundreds of processes to shorten the calls.
        ((REDUCES, "	static u32 all;\n	state->reductions += ++all % 600 == 0;"),
         Code.REPEAT, None, "static"),
    ],
)  # fmt: skip
@linux
def test_what_is_wrong_has_a_code_a_place_and_a_remedy(
    place: Path, edit: tuple[str, str], code: Code, line: int | None, message: str
) -> None:
    # In two processes at once, a loop would take the time of its limit twice.
    scored = score(write(*edit), jobs=1)
    assert (scored.status, scored.value) == ("refused", None)
    problem = scored.problems[0]
    assert problem.code == code, scored.problems
    assert (problem.file, problem.line) == ("my_cc.c", line)
    assert message in problem.message
    assert problem.remedy or code is Code.COMPILE
    assert "all of it is in" not in problem.message
    assert "/work-" not in f"{problem.message} {problem.details}"
    assert_nothing_is_left(place)


def constructor(body: str) -> Callable[[], Path]:
    """Return what writes a file with a function that runs as soon as it is loaded."""
    text = f"__attribute__((constructor)) static void early(void)\n{{\n{body}\n}}\n\nCC_ALGORITHM("
    return lambda: write("CC_ALGORITHM(", text)


LOOP = '	for (;;) asm volatile("");'
FORKS = "	for (;;) {\n" + SYSCALL.format(57) + "\n	}"
EXITS = '	asm volatile("syscall" : : "a"(231L), "D"(3L));'
DAEMON = (  # a child of a child that leaves its session and never ends
    '	long r; asm volatile("syscall" : "=a"(r) : "a"(57L) : "rcx", "r11", "memory");\n'
    "	if (!r) {\n" + SYSCALL.format(112) + "\n" + LOOP + "\n	}"
)
MACROS = "\n".join(
    ["#define X0 1, 1, 1, 1, 1, 1, 1, 1", *(
        f"#define X{n} X{n - 1}, X{n - 1}, X{n - 1}, X{n - 1}, X{n - 1}, X{n - 1}, X{n - 1}, X{n - 1}"
        for n in range(1, 11)
    ), "static const int all[] = {X10};"]
)  # fmt: skip


@linux
@x86
@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        (constructor(LOOP), (Code.TIME, Code.CLOCK), "loading it "),
        (constructor(FORKS), Code.PROCESSES, "more than 200 processes"),
        (constructor(EXITS), Code.EXIT, "exit code 3"),
        (constructor("	__builtin_trap();"), Code.CRASH, "SIGILL"),
        (lambda: write("CC_PARAMS(my_cc);", MACROS + "\nCC_PARAMS(my_cc);"), Code.COMPILE, "the compiler "),
        (lambda: write("CC_PARAMS(my_cc);", "static char big[1UL << 40];\nCC_PARAMS(my_cc);"),
         Code.COMPILE, ""),
        (lambda: write(REDUCES, EXITS), Code.EXIT, "a run on internet-1/train/"),
        (lambda: write(REDUCES, FORKS), Code.PROCESSES, "more than 200 processes"),
    ],
    ids=["loops", "forks", "exits", "crashes", "macros", "bss", "exits in a run", "forks in a run"],
)  # fmt: skip
def test_what_escapes_the_checks_is_bounded(
    place: Path, make: Callable[[], Path], code: Code | tuple[Code, ...], message: str
) -> None:
    began_s = time.monotonic()
    scored = score(make())
    assert scored.status == "refused"
    codes = (code,) if isinstance(code, Code) else code
    assert scored.problems[0].code in codes, scored.problems
    assert message in scored.problems[0].message
    assert time.monotonic() - began_s < 600
    assert_nothing_is_left(place)


@linux
@x86
def test_a_daemon_ends_with_its_candidate(place: Path) -> None:
    scored = score(constructor(DAEMON)())
    assert scored.status != "refused", scored.problems
    assert_nothing_is_left(place)


def assert_nothing_is_left(folder: Path) -> None:
    """Look for files, and for processes that know of the temporary folder."""
    assert not list((folder / "scratch").iterdir())
    assert not list((folder / "cache").rglob("algorithms/*"))
    assert not process_table.with_temporary_folder(folder / "scratch")


def test_a_preset_file_is_a_candidate(place: Path) -> None:
    write()
    text = 'algorithm = "my_cc"\n\n[parameters]\nincrease = {}\n'
    (place / "mine.toml").write_text(text.format(4))
    assert score("./my_cc.c@./mine.toml").status == "scored"
    (place / "mine.toml").write_text(text.format(4000))
    (problem,) = score("./my_cc.c@./mine.toml").problems
    assert (problem.code, "increase" in problem.message) == (Code.FILE, True)


def test_harm_is_a_problem_of_a_score() -> None:
    scored = score(write("cc_half_window(conn)", "conn->cwnd_segs"))
    codes = [problem.code for problem in scored.problems]
    others = next(part for part in scored.details.parts if part.part.name == "others")
    assert others.ratio is not None
    assert (codes == [Code.HARM]) == (others.ratio.high < 0.8)
    assert scored.value is not None


@pytest.mark.parametrize(
    ("row", "codes"),
    [
        (failed(kernel.PART, kernel.VERIFIER, "my_cc.c:60: a loop", "bounded loops"), [Code.VERIFIER]),
        (failed(kernel.PART, kernel.PARITY, "3 of 9 differ", "?"), [Code.PARITY]),
        (failed(kernel.PART, kernel.COMPILES, "my_cc.c:60: no", "?"), [Code.BPF]),
        (not_checked(kernel.PART, kernel.PARITY, "not ready"), [Code.UNAVAILABLE]),
    ],
)  # fmt: skip
def test_the_kernel_is_asked_on_request(
    row: object, codes: list[Code], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "rows", lambda _: iter([row]))
    monkeypatch.setattr(candidate.Candidate, "check_calls", lambda _: None)
    write()
    assert score("./my_cc.c").problems == ()
    scored = score("./my_cc.c", kernel=True)
    assert [problem.code for problem in scored.problems] == codes
    assert scored.passed == (codes == [Code.UNAVAILABLE])


def test_every_check_has_a_code_and_every_code_a_meaning() -> None:
    assert set(MEANINGS) == set(Code)
    assert {part for part, _ in CHECKS} == {interface.PART, fuzzing.PART, kernel.PART}
    assert {check for part, check in CHECKS if part == fuzzing.PART} == set(fuzzing.NAMES)


GUIDE = Path(__file__).parents[2] / "docs/guides/score.md"


def test_the_guide_has_all_codes_and_the_example() -> None:
    guide = GUIDE.read_text()
    for code, meaning in MEANINGS.items():
        assert f"| `{code}` | {meaning} |" in guide
    example = (GUIDE.parents[2] / "examples/evolve.py").read_text()
    assert f"```python file=evolve.py\n{example}```\n" in guide


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "cubik"}, 'algorithm = "cubik": unknown algorithm (did you mean'),
        ({"algorithm": "./none.c"}, "cannot read it"),
        ({"algorithm": "cubic", "paths": "tset"}, "set of paths"),
        ({"algorithm": "cubic", "beat": {"a": 1}}, "beat = { a = 1 }: not a score"),
        ({"algorithm": 3}, "not an algorithm"),
        ({"algorithm": "cubic", "suite": 3}, "suite = 3: not a text"),
        ({"algorithm": "cubic", "paths": None}, "not a text"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        score(**arguments)  # type: ignore[arg-type]
    assert message in str(caught.value)
