"""The command: what scripts rely on (exit codes, JSON, one-line errors), and resuming."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from inline_snapshot import snapshot

import small_study
from command_line import Command, assert_refused, line
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import EngineError
from dumbbell.engines.engine import Output, SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.plan.expanding import scenarios
from dumbbell.quantities import view
from dumbbell.scenario.facts import algorithms
from dumbbell.store.failures import failures
from dumbbell.store.store import Store
from dumbbell.study.model import Study

SCENARIO = """
title = "Two flows"
duration = "5s"
[network]
rate = "10mbit"
rtt = "20ms"
queue = "1bdp"
[[flow]]
algorithm = "htcp@li2007"
count = 2
"""


@pytest.mark.parametrize("what", ["studies", "algorithms", "figures", "stacks"])
def test_lists_are_for_people_and_for_scripts(dumbbell: Command, what: str) -> None:
    entries = dumbbell("list", what, "--json").json
    output = dumbbell("list", what)
    assert output.code == 0
    for entry in entries:
        assert entry["name"] in output.out


def test_lists_name_what_there_is(dumbbell: Command) -> None:
    assert "li2007" in [study["name"] for study in dumbbell("list", "studies", "--json").json]
    figures = dumbbell("list", "figures", "--json").json
    assert {f"fig{n}" for n in (1, *range(4, 19))} == {
        figure["name"] for figure in figures if figure["study"] == "li2007"
    }


def test_algorithms_are_listed_with_family_source_and_engines(dumbbell: Command) -> None:
    listed = {entry["name"]: entry for entry in dumbbell("list", "algorithms", "--json").json}
    assert set(listed) == set(catalogue.algorithms())
    fast = listed["fast"]
    assert (fast["family"], fast["year"], fast["engines"]) == ("delay", 2004, "simulator, kernel")
    assert "INFOCOM 2004" in fast["source"]
    output = dumbbell("list", "algorithms")
    assert "family" in output.out
    assert "dumbbell doctor" in output.err


def test_an_algorithm_is_shown_with_its_law_and_its_interpretations(dumbbell: Command) -> None:
    text = dumbbell("algorithms", "show", "highspeed").out
    assert "    b(w) = 0.5 - 0.4 ln(w / W) / ln(83000 / W)" in text
    assert "As in Linux:\nThe table has 72 rows." in text
    assert "Interpretation:\nLi et al. give low_window 31" in text
    shown = dumbbell("algorithms", "show", "highspeed", "--json").json
    assert [note["kind"] for note in shown["notes"]] == snapshot(["As in Linux", "Interpretation"])
    assert shown["engines"] == ["simulator", "kernel"]
    assert "code" not in shown


def test_an_algorithm_is_shown_with_the_values_of_a_preset(dumbbell: Command) -> None:
    shown = dumbbell("algorithms", "show", "bic@li2007", "--json").json
    assert shown["values"]["smax"] == 32
    assert shown["preset"] == "li2007"
    text = dumbbell("algorithms", "show", "bic").out
    for parameter in shown["parameters"]:
        assert parameter["name"] in text
        assert parameter["source"] in text


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["run", "li2008"], 'did you mean "li2007"'),
        (["run", "li2007", "--where", "algorithm=hctp"], "algorithm = "),
        (["run", "li2007", "--where", "algorithm"], "not a condition"),
        (["run", "li2007", "--where", "colour=red"], "colour"),
        (["report", "nothing"], "unknown study"),
        (["report"], "dumbbell report --all"),
        (["report", "li2007", "--all"], "dumbbell report --all"),
        (["claims", "nothing"], "unknown study"),
        (["simulate", "nothing.toml"], "nothing.toml"),
        (["simulate", "nothing.toml", "--tables", "a.txt"], "--tables"),
        (["simulate", "nothing.toml", "--pcap", "a.pcapng"], "nothing.toml"),
        (["algorithms", "show", "hctp"], 'did you mean "htcp"'),
        (["algorithms", "show", "htcp@li2008"], "htcp@li2007"),
        (["compare", "reno", "--rate", "10mbi", "--rtt", "10ms"], "10mbit"),
        (["compare", "reno", "--rate", "10mbit", "--rtt", "10"], "needs a unit"),
        (["compare", "reno", "--rate", "10mbit", "--rtt", "10ms", "--loss", "1"], "loss"),
        (["compare", "--rate", "10mbit", "--rtt", "10ms"], "nothing to compare"),
        (["compare", "rno", "--rate", "10mbit", "--rtt", "10ms"], 'did you mean "reno"'),
        (["compare", "reno", "--rate", "9mbit", "--rtt", "9ms", "--figure", "a.bmp"], ".svg"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    dumbbell: Command, arguments: Sequence[str], wanted: str
) -> None:
    output = dumbbell(*arguments)
    assert_refused(output)
    assert wanted in output.err


@pytest.mark.parametrize("arguments", [["rnu"], ["list", "things"], ["run"], ["run", "a", "--jbs"]])
def test_wrong_usage_is_exit_code_2(dumbbell: Command, arguments: Sequence[str]) -> None:
    output = dumbbell(*arguments)
    assert output.code == 2
    assert output.out == ""


@pytest.mark.usefixtures("undrawn")
def test_a_study_runs_resumes_and_reports(dumbbell: Command, tmp_path: Path) -> None:
    study = tmp_path / "study"
    small_study.write(study)
    part = dumbbell("run", study, "--where", "test=fairness", "--where", "rtt=20ms", "--jobs", "2")
    assert part.code == 0
    assert part.out == ""
    assert "8 run, 0 reused, 0 failed" in part.err
    assert "8 run, 8 reused, 0 failed" in dumbbell("run", study, "--where", "test=fairness").err
    output = dumbbell("report", study)
    assert output.out == "report/index.html\n"
    assert (tmp_path / "report/index.html").is_file()
    judged = dumbbell("claims", study, "--json").json
    assert judged["verdicts"] == {"holds": 1, "contradicted": 1, "undecided": 1}
    assert [claim["id"] for claim in judged["claims"]] == ["A01", "A02", "A03"]
    assert line(dumbbell("claims", study).out, "claims") == snapshot(
        "3 claims judged by runs: 1 holds, 1 contradicted, 1 undecided"
    )


def test_claims_are_written_as_markdown(dumbbell: Command, tmp_path: Path) -> None:
    study = tmp_path / "study"
    small_study.write(study)
    dumbbell("run", study, "--where", "test=fairness", "--runs", "2", "--seed", "3")
    assert dumbbell("claims", study, "--markdown", "small.md").code == 0
    page = (tmp_path / "small.md").read_text()
    assert "# A small study of \\<b>two\\</b> algorithms\n\nA. One and B. Two. *Journal" in page
    assert line(page, "`✓") == snapshot("`✓ ✗ ?`")
    assert line(page, "✓ 1") == snapshot("✓ 1 holds · ✗ 1 contradicted · ? 1 open")
    assert line(page, "[A01]") == snapshot(
        "| ✓ [A01](small-checks.md#a01) | The link is used by at least half. | utilisation: 8 of 8 grid points; 91.1 % (90.9 to 91.3, 2 runs) (Standard TCP, rate 5 Mbit/s, rtt 20 ms) |"
    )
    assert line(page, "- [A03]") == snapshot("- [A03](small-checks.md#a03): not run yet.")
    assert re.search(r"`dumbbell run \S*study --where test=fairness --runs 2 --seed 3`", page)
    behind = re.findall(r"\]\((small-[^)#]*)", page)
    assert set(behind) == {"small-checks.md", "small-claims.csv", "small-claims.json"}
    assert all((tmp_path / name).is_file() for name in behind)
    checks = (tmp_path / "small-checks.md").read_text()
    assert f"- Engine: `{catalogue.ENGINE_VERSION}`" in checks
    assert line(checks, "16 of 16") == snapshot(
        "- Runs (test=fairness): 16 of 16, 2 of each grid point, seed 3"
    )
    assert "| one command | 16 | 0.05 h |" in checks
    assert line(checks, "3 claims ") == snapshot(
        "3 claims judged by runs: 1 holds, 1 contradicted, 1 undecided."
    )
    assert line(checks, "A09") == snapshot(
        "**Reason:** A link cannot be used \\<twice> over (A01, test `fairness`, not A09 or `nowhere`)."
    )
    refused = dumbbell("claims", study, "--markdown", "no/such/place.md")
    assert (refused.code, "no/such/place.md: cannot write it" in refused.err) == (2, True)


@pytest.fixture
def own_study(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of the small study in ./studies; it is the only study there is."""
    monkeypatch.setattr("dumbbell.study.files._PACKAGE", tmp_path / "package")
    small_study.write(tmp_path / "studies/small")
    return tmp_path / "studies/small"


@pytest.mark.usefixtures("undrawn")
def test_a_site_has_the_studies_here_and_names_others(
    dumbbell: Command, own_study: Path, tmp_path: Path
) -> None:
    small_study.write(tmp_path / "elsewhere")
    file = tmp_path / "elsewhere/study.toml"
    file.write_text(file.read_text().replace('name = "small"', 'name = "strange"'))
    quick = ["--quick", "--where", "test=fairness"]
    dumbbell("run", own_study, *quick)
    dumbbell("run", tmp_path / "elsewhere", *quick)
    small_study.write(tmp_path / "studies/unrun")
    file = tmp_path / "studies/unrun/study.toml"
    file.write_text(file.read_text().replace('name = "small"', 'name = "unrun"'))
    output = dumbbell("report", "--all", "--output", "site")
    assert (output.code, output.out) == (0, "site/index.html\n")
    assert line(output.err, "strange") == snapshot(
        "results also holds runs of strange, which is not among the studies: dumbbell report PATH writes its report"
    )
    assert line(output.err, "unrun") == snapshot("not run, so left out: dumbbell run unrun")
    page = (tmp_path / "site/index.html").read_text()
    assert "also holds runs of strange" in page
    assert ">dumbbell run unrun</code>" in page
    assert [folder.name for folder in (tmp_path / "site/studies").iterdir()] == ["small"]
    assert "4 of 6" in page
    assert (tmp_path / "site/studies/small/run.html").is_file()


@pytest.mark.usefixtures("undrawn")
def test_a_site_without_results_says_so(dumbbell: Command, own_study: Path, tmp_path: Path) -> None:
    del own_study
    for engine in ("simulator", "testbed"):
        output = dumbbell("report", "--all", "--engine", engine)
        assert (output.code, output.out) == (0, "report/index.html\n")
        assert f"({engine} " in line(output.err, "results ")
        command = "dumbbell run small" + " --engine testbed" * (engine == "testbed")
        assert line(output.err, command)
        assert f">{command}</code>" in (tmp_path / "report/index.html").read_text()
    assert not (tmp_path / "report/studies").exists()
    assert not (tmp_path / "results").exists()


@pytest.mark.usefixtures("undrawn")
def test_runs_without_a_plan_are_in_the_site(dumbbell: Command, own_study: Path) -> None:
    """A folder may have lost its plans, or share runs of a study that was never run in it."""
    study = Study.load(own_study)
    planned = study.runs(quick=True, where={"test": ["lossy"]})
    assert not execute(scenarios(planned), Store("results"), SimulatorEngine()).failed
    output = dumbbell("report", "--all")
    assert output.code == 0
    assert "left out" not in output.err
    assert Path("report/studies/small/index.html").is_file()


def test_a_site_refuses_what_it_cannot_tell_apart_or_read(
    dumbbell: Command, own_study: Path
) -> None:
    small_study.write(own_study.parent / "twin")
    output = dumbbell("report", "--all")
    assert output.code == 2
    assert output.err == snapshot(
        'error: --all: "small": two studies have this name; valid: another name in the [study] table of one of them\n'
    )
    (own_study.parent / "twin/study.toml").write_text("[study]\nname = 1\n")
    output = dumbbell("report", "--all")
    assert output.code == 0
    assert line(output.err, "cannot") == snapshot(
        'left out: twin, as it cannot be read: studies/twin/study.toml:2: study.name = 1: not a text; valid: for example "li2007"'
    )


def test_values_of_a_condition_add_up(dumbbell: Command, tmp_path: Path) -> None:
    study = tmp_path / "study"
    small_study.write(study)
    where = ["--where", "test=fairness", "--where", "rtt=20ms,40ms", "--where", "algorithm=reno"]
    output = dumbbell("run", study, *where, "--runs", "1", "--results", "elsewhere", "--seed", "3")
    assert "4 run" in output.err
    assert "4/4 runs" in output.err
    assert (tmp_path / "elsewhere/format.json").is_file()
    assert not (tmp_path / "results").exists()
    plans = json.loads((tmp_path / "elsewhere/studies/small.json").read_text())
    meant = [["algorithm", ["reno"]], ["rtt", ["20ms", "40ms"]], ["test", ["fairness"]]]
    assert plans == [{"quick": False, "runs": 1, "seed": 3, "where": meant, "more": []}]


@pytest.mark.usefixtures("undrawn")
def test_a_report_finds_runs_of_other_seeds(dumbbell: Command, tmp_path: Path) -> None:
    study = tmp_path / "study"
    small_study.write(study)
    dumbbell("run", study, "--quick", "--seed", "7")
    dumbbell("report", study)
    page = (tmp_path / "report/checks.html").read_text()
    assert re.search(r"dumbbell run \S*study --quick --seed 7", page)
    assert "5 of 5" in page or "6 of 6" in page


def test_a_failed_run_is_exit_code_1_and_the_others_stay(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate = SimulatorEngine.run

    def fail_for_reno(self: SimulatorEngine, scenario: Any, cancel: Any = None) -> Output:
        if algorithms(scenario.scenario) == ["reno"]:
            raise EngineError("out of luck")
        return simulate(self, scenario, cancel)

    monkeypatch.setattr(SimulatorEngine, "run", fail_for_reno)
    study = tmp_path / "study"
    small_study.write(study)
    output = dumbbell("run", study, "--quick", "--where", "test=fairness")
    assert output.code == 1
    assert "2 run, 0 reused, 2 failed" in output.err
    point = "fairness (algorithm = reno, rate = 5mbit, rtt = 20ms), repetition 1"
    assert f"failed: {point}: out of luck\n" in output.err
    assert line(output.err, "results/failures") == snapshot(
        "Failed runs are recorded in results/failures; the same command tries them again."
    )
    loaded = Study.load(study)
    keys = [run.resolved.key for run in loaded.runs(quick=True)]
    failed = failures(Store("results"), keys)
    assert len(failed) == 2
    assert {failure.error for failure in failed.values()} == {"EngineError"}
    monkeypatch.setattr(SimulatorEngine, "run", simulate)
    output = dumbbell("run", study, "--quick", "--where", "test=fairness")
    assert output.code == 0
    assert "2 run, 2 reused, 0 failed" in output.err
    assert failures(Store("results"), keys) == {}


def test_the_cost_of_a_campaign_is_told(dumbbell: Command, tmp_path: Path) -> None:
    small_study.write(tmp_path / "study")
    first = dumbbell("run", "study", "--where", "test=lossy").err.splitlines()
    table = [line.split() for line in first if line.startswith(("this", "all", "results"))]
    assert [row[:3] for row in table] == [["this", "command", "2"], ["results", "2", "0.01"]]
    assert table[0][-1] in ("MB", "GB")
    assert table[1][-1] == "kB"
    output = dumbbell("run", "study", "--where", "rtt=20ms")
    assert output.out == ""
    table = [line.split() for line in output.err.splitlines() if line.startswith(("this", "all"))]
    assert [row[:4] for row in table] == [
        ["this", "command", "8", "0.03"], ["all", "2", "commands", "10"]
    ]  # fmt: skip
    output = dumbbell("run", "study", "--where", "rtt=20ms")
    assert "this command" not in output.err
    assert "all 2 commands" in output.err


def test_results_of_another_engine_do_not_count(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = tmp_path / "study"
    small_study.write(study)
    dumbbell("run", study, "--quick")
    monkeypatch.setattr(catalogue, "ENGINE_VERSION", "another")
    output = dumbbell("claims", study, "--json")
    assert output.json["verdicts"]["undecided"] == 3
    assert "(another)" in output.err


def test_a_foreign_folder_is_refused(dumbbell: Command, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/thesis.doc").write_text("")
    output = dumbbell("run", "li2007", "--quick")
    assert output.code == 2
    assert "thesis.doc" in output.err


def test_a_damaged_plan_is_an_input_error(dumbbell: Command, tmp_path: Path) -> None:
    study = tmp_path / "study"
    small_study.write(study)
    dumbbell("run", study, "--quick", "--where", "test=lossy")
    (tmp_path / "results/studies/small.json").write_text("[{")
    output = dumbbell("report", study)
    assert output.code == 2
    assert "small.json" in output.err


def test_ctrl_c_stops_cleanly_and_the_same_command_resumes(
    dumbbell: Command, tmp_path: Path
) -> None:
    small_study.write(tmp_path / "study")
    text = (tmp_path / "study/study.toml").read_text()
    (tmp_path / "study/study.toml").write_text(text.replace('"12s"', '"1000s"'))
    command = [sys.executable, "-m", "dumbbell.cli", "run", "study", "--jobs", "1"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    wait_for((tmp_path / "results/studies/small.json").is_file, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert "the same command continues" in err
    finished = len(list((tmp_path / "results").glob("runs/??/*/run.json")))
    assert 1 <= finished < 18
    again = dumbbell(*command[3:], "--where", "test=lossy")
    assert again.code == 0
    assert "2 run" in again.err


ENDLESS = """
import dumbbell
endless = dumbbell.Scenario.load("endless.toml")
simulate = dumbbell.simulate  # imports, during which Python may drop an exception
print("ready", flush=True)
simulate(endless, large=True)
"""


def test_ctrl_c_stops_a_single_scenario_at_once(tmp_path: Path) -> None:
    text = SCENARIO.replace('"5s"', '"100000h"')
    text += '[record]\ninterval = "none"\nevents = []\n'
    (tmp_path / "endless.toml").write_text(text)
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert err.endswith(b"KeyboardInterrupt\n")


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert process.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_scenario_is_simulated(dumbbell: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO)
    output = dumbbell("simulate", "two.toml", "--tables", "it.parquet")
    assert output.code == 0
    assert "htcp 1" in output.out
    assert "htcp@li2007" in output.out
    samples = pl.read_parquet(tmp_path / "it-flows.parquet")
    assert samples["label"].unique().sort().to_list() == ["htcp 1", "htcp 2"]
    assert {"time_ns", "cwnd_segs", "received_bytes"} <= set(samples.columns)
    data = dumbbell("simulate", "two.toml", "--json").json
    assert [flow["label"] for flow in data["summary"]["flows"]] == ["htcp 1", "htcp 2"]
    assert data["scenario"]["links"][0]["rate"] == {"constant": 10_000_000}
    assert data["requests"] == []


def test_requests_and_every_queue_are_told(dumbbell: Command, tmp_path: Path) -> None:
    more = """
[[flow]]
algorithm = "reno"
label = "query"
count = 2
workload = { kind = "rpc", bytes = "5kb" }
[[flow]]
transport = "udp"
rate = "100kbit"
[[arrivals]]
algorithm = "reno"
label = "page"
rate = 5
size = "10kb"
"""
    (tmp_path / "mixed.toml").write_text(SCENARIO + more)
    output = dumbbell("simulate", "mixed.toml")
    assert output.code == 0
    for words in ("query × 2", "99.9 % (ms)", "page × ", "udp 1", "forward", "reverse", "marked"):
        assert words in output.out
    data = dumbbell("simulate", "mixed.toml", "--json").json
    query, page = data["requests"]
    assert (query["flows"], query["count"], page["flows"]) == ("query", 2, "page")
    assert query["latency_p50_ms"] >= 20
    assert query["latency_p999_ms"] is None
    assert page["finished"] + page["unfinished"] == page["count"]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("no/where", '"no": no such folder'),
        ("taken", 'taken-receiver.pcapng": cannot be written'),
        ("a.pcapng", "two files"),
        (".", "two files"),
    ],
)
def test_captures_that_cannot_be_written_are_refused_before_the_run(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, wanted: str
) -> None:
    monkeypatch.delattr(SimulatorEngine, "run")
    (tmp_path / "two.toml").write_text(SCENARIO)
    (tmp_path / "taken-receiver.pcapng").mkdir()
    output = dumbbell("simulate", "two.toml", "--pcap", name)
    assert output.code == 2
    assert output.err.startswith("error: --pcap: ")
    assert output.err.count("\n") == 1
    assert wanted in output.err
    assert not (tmp_path / "taken-sender.pcapng").exists()


def test_captures_that_would_be_too_large_are_refused(dumbbell: Command, tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(SCENARIO.replace('"5s"', '"50000s"'))
    output = dumbbell("simulate", "two.toml", "--pcap", "name")
    assert output.code == 2
    assert "GB" in output.err


def test_algorithms_are_compared(dumbbell: Command, tmp_path: Path) -> None:
    arguments = ["compare", "reno", "htcp", "--rate", "10mbit", "--rtt", "20ms", "--runs", "2"]
    output = dumbbell(*arguments, "--duration", "5s", "--figure", "c.svg")
    assert output.code == 0
    assert "reno × 2" in output.out
    assert "±" in output.out
    assert "Figure: c.svg" in output.err
    assert "htcp × 2" in (tmp_path / "c.svg").read_text()
    again = dumbbell(*arguments, "--duration", "5s", "--json").json
    assert [line["flows"] for line in again["lines"]] == ["reno × 2", "htcp × 2"]
    assert not (tmp_path / "compare.html").exists()


def test_output_into_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        f"{sys.executable} -m dumbbell.cli list figures | head -n 1",
        shell=True,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Traceback" not in done.stderr


def test_a_simulation_is_read_once_to_be_shown(
    dumbbell: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def count(place: Any, name: str) -> None:
        call = getattr(place, name)

        def counted(*arguments: Any) -> Any:
            calls.append(name)
            return call(*arguments)

        monkeypatch.setattr(place, name, counted)

    count(Store, "get")
    count(view, "flows_of")
    (tmp_path / "one.toml").write_text(
        'duration = "1s"\nnetwork = { rate = "1mbit", rtt = "20ms", queue = "1bdp" }\n'
        'flow = [{ algorithm = "reno" }]\n'
    )
    assert dumbbell("simulate", "one.toml").code == 0
    assert calls == ["get", "flows_of"]
