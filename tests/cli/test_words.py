"""Typing errors: each is answered with the right word, in one line, at exit code 2."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command, assert_refused, line
from dumbbell.base import extras
from dumbbell.base.errors import InputError, listed
from dumbbell.base.synonyms import near_key
from dumbbell.base.toml_lines import line_of
from dumbbell.cli.doctor_command import _wrapped
from dumbbell.engines import engines
from dumbbell.study.model import Study

SCENARIO: Final = """duration = "5s"

[network]
rate = "10mbit"
rtt = "40ms"
queue = "1bdp"

[[flow]]
algorithm = "cubic"
"""
STUDY: Final = """[study]
name = "mine"
title = "Mine"
authors = ["me"]
year = 2026
"""
PRESET: Final = 'algorithm = "cubic"\n\n[parameters]\nkept = 0.7\n'


@pytest.fixture
def dumbbell(dumbbell: Command, tmp_path: Path) -> Command:
    """Run the command in a folder with a file of each kind."""
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "claims.toml").write_text('[[claim]]\nid = "E01"\n')
    (tmp_path / "p.toml").write_text(PRESET)
    (tmp_path / "own.c").write_text("")
    (tmp_path / "other.json").write_text('{"a": 1}')
    (tmp_path / "old.json").write_text('{"worths": {}, "suite": "old"}')
    return dumbbell


def simulate(dumbbell: Command, change: str) -> str:
    output = dumbbell("simulate", "s.toml", "--set", change)
    assert_refused(output)
    return output.err


PATH: Final = ["--rate", "10mbit", "--rtt", "20ms"]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("network.queue=fq-codel", '{ discipline = "fq-codel" }'),
        ("network.queue=fq_codel", '{ discipline = "fq-codel" }'),
        ("network.queue=CoDel", "a discipline, not the size of a queue"),
        ("network.queue=cakes", "a word, not the size of a queue"),
        ("duration=10min", 'did you mean "10m"'),
        ("network.rate=10MB/s", 'did you mean "80mbit"'),
        ("flow.1.cc=cubic", 'flow.1.cc = "cubic": unknown key (did you mean "algorithm"?)'),
        ("flow.1.congestion_control=x", 'did you mean "algorithm"'),
        ("flow.1.delay=9ms", 'did you mean "rtt"'),
        ("network.bandwidth=1mbit", 'did you mean "rate"'),
        ("network.buffer=9p", 'did you mean "queue"'),
        ("flow.1.start=-1s", 'flow.1.start = "-1s": must not be negative'),
        ("flow.1.parameters={ beta = 0.7 }", 'unknown parameter of cubic (did you mean "kept"?)'),
        ("flow.1.parameters={ betta = 700 }", "betta = 700: unknown parameter of cubic"),
        ("flow.1.parameters={ kept = 0.7 }", "512 to 1000 (1/1024); 0.7 is 717"),
        ("flow.1.algorithm=cubik", "and 16 more: dumbbell list algorithms"),
        ("flow.1.quue=1", "and 17 more: docs/scenario.md"),
    ],
)
def test_a_wrong_value_is_told_with_the_right_one(
    dumbbell: Command, change: str, wanted: str
) -> None:
    assert wanted in simulate(dumbbell, change)


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["run", "s.toml"], "this is a scenario, not a study; valid: dumbbell simulate s.toml"),
        (["claims", "s.toml"], "dumbbell simulate s.toml"),
        (["report", "s.toml"], "dumbbell simulate s.toml"),
        (["import", "s.toml"], "dumbbell simulate s.toml"),
        (["check", "s.toml"], "dumbbell simulate s.toml"),
        (["open", "s.toml"], "dumbbell simulate s.toml"),
        (["compare", "s.toml", *PATH], "s.toml: this is a scenario, not an algorithm"),
        (["tune", "s.toml", *PATH], "s.toml: this is a scenario, not an algorithm"),
        (["simulate", "study.toml"], "this is a study, not a scenario; valid: dumbbell run"),
        (["simulate", "claims.toml"], "this is a part of a study, not a scenario"),
        (["run", "claims.toml"], "this is a part of a study, not a study"),
        (["simulate", "p.toml"], "this is a preset, not a scenario; valid: dumbbell compare"),
        (["simulate", "own.c"], "this is an algorithm, not a scenario; valid: dumbbell check"),
        (["run", "own.c"], "valid: dumbbell check ./own.c"),
        (["compare", "cubic@p.toml", *PATH], "p.toml:4: parameters.kept = 0.7: not a whole"),
    ],
)
def test_a_file_of_another_kind_is_told_by_the_command_that_takes_it(
    dumbbell: Command, arguments: list[str], wanted: str
) -> None:
    output = dumbbell(*arguments)
    assert_refused(output)
    assert wanted in output.err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["list", "algos"], 'dumbbell list: "algos": unknown (did you mean "algorithms"?)'),
        (["list"], "dumbbell list: WHAT is missing; valid: studies, algorithms"),
        (["algorithms", "list"], 'did you mean "dumbbell list algorithms"'),
        (["algorithms", "cubic"], 'did you mean "dumbbell algorithms show"'),
        (["rnu", "li2007"], 'did you mean "dumbbell run"'),
        (["sweep"], 'did you mean "dumbbell compare"'),
        (["compare", "reno", *PATH, "--runs", "two"], '--runs: "two": not a whole number'),
        (["compare", "reno", *PATH, "--jobs", "0"], '--jobs: "0": must be at least 1'),
        (["compare", "reno", "--bandwidth", "9mbit"], 'did you mean "--rate"'),
        (["compare", "reno", "--rate", "9mbit", "--delay", "1s"], 'did you mean "--rtt"'),
        (["compare", "reno", "--rate", "9mbit"], "--rtt: is missing"),
        (["compare", "reno", "--rate"], "--rate: needs a value"),
        (["hunt", "--distinguish", "reno"], "needs 2 values; valid: dumbbell hunt --help"),
        (["score", "nosuch"], 'error: dumbbell score: "nosuch": unknown algorithm; valid: bbr,'),
        (["score", "reno@nosuch"], 'error: dumbbell score: "reno@nosuch": unknown preset'),
        (["score", "reno", "--beat", "other.json"], "other.json: not a score; valid: what"),
        (["score", "reno", "--beat", "p.toml"], "error: p.toml: not JSON"),
        (["score", "reno", "--beat", "none.json"], '"none.json": cannot read it'),
        (["score", "reno", "--beat", "old.json"], 'old.json: suite = "old": not a score of these'),
        (["compete", "reno", "bic", "--on", "coexist"], "--on: is an option of dumbbell compare"),
        (["compare", "reno", *PATH, "--engine", "kernel"], "valid: simulator, testbed"),
        (["simulate", "s.toml", "--set", "network.rtt", "80ms"], '"network.rtt=80ms"'),
        (["simulate", "s.toml", "--set", "seed=5", "--seed", "7"], "--set: seed = 7: is set twice"),
        (["simulate", "s.toml", "p.toml"], '"p.toml": one argument too many'),
        (["tune", "cubic", "--rate", "9mbit,9mbit", "--rtt", "9ms"], "the same value twice: 9mbit"),
        (["advise", "--rate", "9mbit", "--rtt", "0ms"], '--rtt: "0ms": must be more than 0'),
        (["compare", "rno", "--rate", "9mbit", "--rtt", "1ms,2ms"], 'did you mean "reno"'),
        (["tune", "cubic", *PATH, "--objective", "godput"], "more: dumbbell list quantities"),
    ],
)
def test_a_wrong_command_line_is_told_with_the_right_one(
    dumbbell: Command, arguments: list[str], wanted: str
) -> None:
    output = dumbbell(*arguments)
    assert_refused(output)
    assert wanted in output.err


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('rtt = "40ms"', 'rtt = "40"', 's.toml:5: network.rtt = "40": a time needs a unit'),
        ('rtt = "40ms"', "rtt = 40ms", 's.toml:5: "rtt = 40ms": not valid TOML'),
        ('rtt = "40ms"', "rtt = 40ms", 'valid: rtt = "40ms", as texts are in quotes'),
        ('queue = "1bdp"\n', "", "s.toml:3: network.queue: is missing"),
        ('algorithm = "cubic"', "", "s.toml:8: flow.1.algorithm: is missing"),
        ('"cubic"\n', '"cubic"\nsampled = True\n', "valid: sampled = true"),
    ],
)
def test_an_error_in_a_file_has_its_line(
    dumbbell: Command, tmp_path: Path, old: str, new: str, wanted: str
) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO.replace(old, new))
    output = dumbbell("simulate", "s.toml")
    assert_refused(output)
    assert wanted in output.err


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"--flows": "4,4"}, "for a mix: reno:4,cubic:4"),
        ({"--flows": "reno:4,reno:4"}, "twice in the mix; valid: each algorithm once"),
        ({"--flows": "1,1"}, "for a mix: reno:1,cubic:1"),
        ({"--flows": "1..4"}, "not a range; valid: 1..64*2"),
        ({"--flows": "1,0"}, '--flows: "0": no flows'),
        ({"--rate": "10mbit,10mbit"}, '--rate: "10mbit,10mbit": the same value twice'),
        ({"--rate": "10mbit,0.01gbit"}, "the same value twice: 0.01gbit"),
        ({"--rate": "-100mbit"}, '--rate: "-100mbit": must not be negative'),
        ({"--rate": "10mbit..1gbit"}, "not a range; valid: 10mbit..1gbit*10"),
        ({"--rate": "1gbit..1mbit*2"}, "ends before it begins; valid: 10mbit..1gbit*10"),
        ({"--rate": "1mbit..9mbit*1"}, "a range without an end; valid: 10mbit..1gbit*10"),
        ({"--rate": "0mbit"}, '--rate: "0mbit": must be more than 0'),
        ({"--rtt": "0ms"}, '--rtt: "0ms": must be more than 0'),
        ({"--rtt": "0ms,10ms"}, '--rtt: "0ms": must be more than 0'),
        ({"--rtt": "10ms,20mss"}, '--rtt: "20mss": unknown unit of a time (did you mean "20ms"?)'),
        ({"--rtt": "10ms,"}, '--rtt: "10ms,": one value only; valid: 10ms'),
        ({"--rtt": "48h"}, '--rtt: "48h": too long for the way of a packet'),
        ({"--duration": "0s"}, '--duration: "0s": must be more than 0'),
        ({"--duration": "10min"}, 'did you mean "10m"'),
        ({"--loss": "2"}, '--loss: "2": a probability'),
        ({"--buffer": "fq_codel"}, '--buffer: "fq_codel": not the size of a queue'),
        ({"--stack": "linux-7"}, '--stack: "linux-7": unknown stack profile'),
        ({"--runs": "0"}, "--runs: 0: impossible number of repetitions"),
    ],
)
def test_a_wrong_option_of_compare_is_named_as_it_was_typed(
    dumbbell: Command, tmp_path: Path, options: dict[str, str], wanted: str
) -> None:
    """Never the file of an experiment, which nobody wrote."""
    path = {"--rate": "10mbit", "--rtt": "20ms", **options}
    output = dumbbell("compare", "reno", "cubic", *(word for pair in path.items() for word in pair))
    assert_refused(output)
    assert wanted in output.err
    assert not list(tmp_path.glob("results/experiments/*"))


def test_an_algorithm_that_is_named_twice_runs_once_and_that_is_said(dumbbell: Command) -> None:
    path = ["--rate", "10mbit", "--rtt", "20ms", "--duration", "1s", "--runs", "1"]
    output = dumbbell("compare", "reno", "reno", *path)
    assert output.code == 0
    assert line(output.err, "named") == snapshot("reno is named 2 times and runs once.")


LINES: Final = '''# the first line
text = """
duration = 3
"""
duration = "5s"

[network]
loss = [
  { place = "receiver" },
]
reverse.rate = 3
[[flow]]
algorithm = "cubic"
[[flow]]
[flow.parameters]
beta = 1
"a.b" = 2
'''


@pytest.mark.parametrize(
    ("key", "line"),
    [
        *(("text", 2), ("duration", 5), ("network", 7), ("network.rtt", 7)),
        *(("network.loss.1.place", 8), ("network.reverse.rate", 11), ("flow.1.algorithm", 13)),
        *(("flow.2", 14), ("flow.2.count", 14), ("flow.2.parameters.beta", 16)),
        *(("flow.2.parameters.a.b", 15), ("flow.10.count", 12), ("nothing.of.it", None)),
    ],
)
def test_a_key_is_found_in_its_line(key: str, line: int | None) -> None:
    assert line_of(LINES, key) == line
    assert line_of(LINES.replace("\n", "\r\n"), key) == line


def test_the_line_of_a_key_is_not_looked_for_too_long() -> None:
    assert line_of("a = [\n" + "1,\n" * 5000 + "]\nb = 1\n", "b") is None
    assert line_of("b = 1\n" + "# long\n" * 100_000, "b") is None


def test_ten_names_are_shown_and_where_all_are() -> None:
    names = [str(number) for number in range(40)]
    assert listed(names, "dumbbell list numbers") == snapshot(
        "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 30 more: dumbbell list numbers"
    )
    assert listed(names[:11]).endswith("9, 10")
    assert listed([]) == "none exist"


def test_what_others_call_a_key_is_known_unless_one_is_spelt_like_it() -> None:
    assert near_key("cc", ["algorithm", "count"]) == "algorithm"
    assert near_key("delay", ["rate", "rtt"]) == "rtt"
    assert near_key("flows", ["flow", "count"]) == "flow"
    assert near_key("slow_start", ["start", "switches"]) == "switches"
    assert near_key("xyz", ["rate", "rtt"]) is None


def test_the_key_of_another_toml_file_stays_whole() -> None:
    error = InputError("wrong", source="preset.toml", key="parameters.kept").at(key="flow.1")
    assert error.key == "parameters.kept"


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ('"cubic"', '"dctcp"', "dctcp 1 needs congestion marks, and no queue on the way marks"),
        ('"cubic"', '"prague"', "prague 1 needs congestion marks"),
        ('"1s"', '"30ms"', "the run of 30ms is shorter than one round trip of cubic 1, 40ms"),
        ('"cubic"', '"reno"', None),
        ('"1bdp"', '{ discipline = "codel", ecn = true }', None),
    ],
)
def test_a_doubt_that_the_scenario_casts_is_said(
    dumbbell: Command, tmp_path: Path, old: str, new: str, wanted: str | None
) -> None:
    text = SCENARIO.replace('"5s"', '"1s"')
    if "codel" in new:
        text = text.replace('"cubic"', '"dctcp"')
    (tmp_path / "s.toml").write_text(text.replace(old, new))
    output = dumbbell("simulate", "s.toml")
    doubts = dumbbell("simulate", "s.toml", "--json").json["doubts"]
    assert [wanted in doubt["text"] for doubt in doubts] == ([] if wanted is None else [True])
    assert output.code == 0
    if wanted is not None:
        assert wanted in output.err
        assert wanted.split(",")[0] in output.out


def test_a_report_of_nothing_overwrites_nothing(dumbbell: Command, tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    (tmp_path / "report/index.html").write_text("mine")
    output = dumbbell("report", "li2007", "--results", "nowhere")
    assert output.code == 2
    assert output.err.startswith("error: nowhere: ")
    assert "valid: dumbbell run li2007" in output.err
    assert (tmp_path / "report/index.html").read_text() == "mine"


def test_the_command_of_a_study_from_a_file_names_the_file(tmp_path: Path) -> None:
    small_study.write(tmp_path / "my studies")
    assert Study.load(tmp_path / "my studies").called == f"'{tmp_path}/my studies'"
    assert Study.load("li2007").called == "li2007"


def test_what_an_extra_needs_is_named_by_itself() -> None:
    """Dumbbell is on no index: pip finds no dumbbell[serve]."""
    for extra, package in (("serve", "starlette"), ("cluster", "distributed")):
        assert extras.install(extra).startswith(f"pip install '{package}>=")
    root = Path(__file__).parents[2]
    pages = [*root.glob("docs/**/*.md"), *root.glob("*.md"), *root.glob("python/**/*.py")]
    assert [page for page in pages if "install dumbbell[" in page.read_text()] == []


def test_claims_have_a_line_each(dumbbell: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    small_study.write(Path("small"))
    lines = dumbbell("claims", "small", "--brief").out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["A01", "A02", "A03"]
    assert lines[0] == snapshot("A01    ? undecided  The link is used by at least half.")
    assert max(map(len, lines[:3])) <= 80
    assert dumbbell("claims", "small", "--brief", "--json").err == snapshot(
        "error: --brief: it does not go with --json; valid: one of both\n"
    )


def test_a_narrow_terminal_has_a_line_for_each_claim(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    small_study.write(Path("small"))
    *rows, hint = dumbbell("claims", "small").out.splitlines()[:4]
    assert [row.split()[0] for row in rows] == ["A01", "A02", "A03"]
    assert max(map(len, rows)) <= 60
    assert hint == snapshot("Evidence of one: dumbbell claims small CLAIM")
    elsewhere = dumbbell("claims", "small", "--results", "else where")
    assert [elsewhere.err.strip().rpartition("; ")[2], elsewhere.out.splitlines()[3]] == snapshot(
        [
            "dumbbell run small --results 'else where'",
            "Evidence of one: dumbbell claims small CLAIM --results 'else where'",
        ]
    )
    whole = dumbbell("claims", "small", "A02")
    assert "A03" not in whole.out
    assert "… " not in whole.out
    assert whole.out.splitlines()[0] == snapshot("A02, Section 9: The link is used twice over.")
    engine = engines.named("simulator").identity
    assert dumbbell("claims", "small", "A2").err.replace(engine, "ENGINE") == snapshot("""\
results holds no run of small by this engine (ENGINE); dumbbell run small
error: "A2": unknown claim of the study (did you mean "A02"?); valid: A02, A01, A03
""")
    assert dumbbell("claims", "small", "A02", "--brief").err == snapshot(
        "error: --brief: named claims are shown whole; valid: one of both\n"
    )


def test_a_pasted_table_names_its_path_and_its_windows(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = ("--rate", "5mbit", "--rtt", "10ms", "--duration", "2s", "--runs", "2")
    for again in range(2):
        lines = dumbbell("compare", "reno", "cubic", *path).out.splitlines()
        assert lines[0] == snapshot("5mbit, RTT 10ms, buffer 1bdp, 2s, linux-6; 2 runs each."), (
            again
        )
        assert "2 s" in lines[-1]
    swept = dumbbell("compare", "reno", "cubic", *path, "--loss", "0,0.01").out
    assert swept.splitlines()[0] == snapshot(
        "rate 5mbit, rtt 10ms, buffer 1bdp, loss 0 to 0.01 (2 values), flows 2, 2s, "
    )
    assert max(map(len, swept.splitlines())) <= 80
    Path("s.toml").write_text(SCENARIO)
    assert dumbbell("simulate", "s.toml").out.splitlines()[0] == snapshot(
        "s.toml: 10 Mbit/s, RTT 40 ms, 5 s, linux-6; seed 1."
    )
    changes = dumbbell("simulate", "low-and-up", "--duration", "5s").out
    assert changes.splitlines()[0] == snapshot(
        "low-and-up.toml with duration = 5s: 5 to 10 Mbit/s, RTT 100 ms, 5 s, linux-6; "
    )
    traced = dumbbell("simulate", "lte-cell", "--duration", "5s").out
    assert traced.splitlines()[0] == snapshot(
        "lte-cell.toml with duration = 5s: 9.705 Mbit/s in the mean, RTT 40 ms, 5 s, "
    )


def test_a_sweep_marks_only_what_is_decided(dumbbell: Command) -> None:
    path = ("--rate", "5mbit", "--duration", "3s", "--rtt", "10ms,20ms")
    alone = dumbbell("compare", "reno", *path, "--runs", "3").out
    assert "*" not in alone
    two = dumbbell("compare", "reno", "reno@abe", *path, "--runs", "1").out
    assert "*" not in two


@pytest.mark.usefixtures("undrawn")
def test_runs_are_a_line_each_with_what_came_out(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    dumbbell("simulate", "s.toml")
    output = dumbbell("list", "runs")
    (run,) = dumbbell("list", "runs", "--json").json
    _, _, line, *others = output.out.splitlines()
    assert line.startswith(run["run"][:8])
    assert f"{run['goodput (Mbit/s)']:g}" in line
    assert (max(map(len, output.out.splitlines())) <= 80, len(others) <= 1) == (True, True)
    assert dumbbell("open", run["run"][:8], "--print").code == 0


def test_names_of_parameters_and_remedies_are_never_cut(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    output = dumbbell("algorithms", "show", "cubic")
    lines = output.out.splitlines()
    for name in ("fast_convergence", "ack_ratio_correction", "hystart_low_window"):
        assert any(line.startswith(name) for line in lines)
    assert "…" not in output.out
    folded = _wrapped(
        "limit: write net.core.skb_defer_max_of_all = 0 into /etc/sysctl.d/a.conf " * 2
    )
    assert max(map(len, folded.splitlines())) <= 80
    assert folded.count("net.core.skb_defer_max_of_all") == 2


def test_a_preset_beyond_the_range_of_its_parameter_does_not_run(
    dumbbell: Command, tmp_path: Path
) -> None:
    dumbbell("new", "pre")
    text = (tmp_path / "pre.c").read_text()
    assert "increase, 4))" in text
    (tmp_path / "pre.c").write_text(text.replace("increase, 4))", "increase, 400))"))
    output = dumbbell("compare", "./pre.c@quick", *PATH)
    assert_refused(output)
    assert output.err == snapshot(
        'error: dumbbell compare: "./pre.c@quick": sets increase = 400, outside the limits of pre\'s parameter increase; valid: 1 to 100 (segments per RTT)\n'
    )
    assert "valid: 1 to 100" in output.err


def test_a_name_of_blanks_is_seen() -> None:
    """`--results " "` found by `make fuzz`, seed 38."""
    assert str(InputError("holds no runs", source=" ")) == snapshot("' ': holds no runs")
