"""``simulate`` and ``compare`` keep and show what they run; ``list runs`` and ``open`` find it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from inline_snapshot import snapshot

import process_table
import small_study
from browser import Browser
from command_line import Command, assert_refused, line
from dumbbell import api
from dumbbell.cli import commands
from dumbbell.figures import drawing
from dumbbell.reports import study_page
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.sampling import sampled
from dumbbell.store.store import Store
from dumbbell.study import experiment_names, files
from dumbbell.study.model import Study

EXAMPLES = Path(__file__).parents[2] / "examples"

SCENARIO = """
title = "Two of {these} against each other"
duration = "4s"
seed = 7
[network]
rate = "10mbit"
rtt = "20ms"
queue = "0.5bdp"
[[flow]]
algorithm = "htcp@li2007"
[[flow]]
algorithm = "cubic"
label = "a {b}"
start = "1s"
"""

PATH = ("--rate", "10mbit", "--rtt", "20ms", "--duration", "4s", "--runs", "3")


@pytest.fixture
def dumbbell(dumbbell: Command, tmp_path: Path, undrawn: None) -> Command:
    """Have a scenario, and empty figures: those of `pages` are drawn."""
    del undrawn
    (tmp_path / "two.toml").write_text(SCENARIO)
    return dumbbell


def only_experiment() -> str:
    (name,) = experiment_names.names(Path("results"))
    return name


def test_a_scenario_is_run_once_and_is_what_it_would_be_alone(dumbbell: Command) -> None:
    first = dumbbell("simulate", "two.toml")
    assert "1 run, 0 reused, 0 failed" in first.err
    again = dumbbell("simulate", "two.toml")
    assert "0 run, 1 reused" in again.err
    assert again.out == first.out
    (key,) = Store("results").keys()
    assert key == sampled(Scenario.load("two.toml")).resolve().key
    assert f"See it: dumbbell open {only_experiment()}" in again.err


def test_repetitions_begin_with_the_seed_and_share_what_is_there(dumbbell: Command) -> None:
    dumbbell("simulate", "two.toml")
    output = dumbbell("simulate", "two.toml", "--runs", "3")
    assert "2 run, 1 reused" in output.err
    assert "Mean of 3 runs" in output.out
    runs = dumbbell("simulate", "two.toml", "--runs", "3", "--json").json["runs"]
    seeds = [run["scenario"]["seed"] for run in runs]
    assert seeds[0] == 7
    assert len(set(seeds)) == 3
    one = dumbbell("simulate", "two.toml", "--seed", str(seeds[1]), "--json")
    assert "1 reused" in one.err
    assert one.json["scenario"] == runs[1]["scenario"]
    assert only_experiment()


def test_what_is_set_is_another_experiment(dumbbell: Command) -> None:
    dumbbell("simulate", "two.toml")
    options = ("--set", "network.rtt=40ms", "--set", "flow.2.algorithm=reno", "--duration", "2s")
    scenario = dumbbell("simulate", "two.toml", *options, "--json").json["scenario"]
    assert scenario["duration_ns"] == 2 * 10**9
    assert [flow["transport"]["tcp"]["algorithm"] for flow in scenario["flows"]] == ["htcp", "reno"]
    names = experiment_names.names(Path("results"))
    assert len(names) == 2
    commands = {Study.load(name, Path("results")).header.command for name in names}
    assert commands == {
        "dumbbell simulate two.toml",
        "dumbbell simulate two.toml --set network.rtt=40ms --set flow.2.algorithm=reno "
        "--duration 2s",
    }


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--set", "network.rttt=40ms"], '--set: network.rttt = "40ms": unknown key'),
        (["--set", "network.rtt=40"], "--set: network.rtt = 40: "),
        (["--set", "rtt"], '--set: "rtt": not a key and a value'),
        (["--duration", "4"], '--duration: "4": '),
        (["--runs", "2", "--pcap", "p"], '--pcap: "p": is of one run'),
        (["--runs", "2", "--tables", "p.csv"], '--tables: "p.csv": is of one run'),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(
    dumbbell: Command, options: list[str], wanted: str
) -> None:
    output = dumbbell("simulate", "two.toml", *options)
    assert output.code == 2
    assert output.err.startswith(f"error: {wanted}")
    assert not Path("results").exists()


def test_files_are_relative_to_the_scenario(dumbbell: Command) -> None:
    output = dumbbell("simulate", EXAMPLES / "radio.toml", "--duration", "11s")
    assert output.code == 0


def test_captured_runs_are_kept_without_their_packets(dumbbell: Command) -> None:
    output = dumbbell("simulate", "two.toml", "--pcap", "name")
    assert Path("name-sender.pcapng").stat().st_size > 10_000
    assert "1 reused" in output.err
    alone = api.simulate("two.toml")
    kept = Store("results").get(alone.key)
    assert kept.summary == alone.summary
    assert kept.tables["flows"].equals(alone.tables["flows"])


def test_ctrl_c_keeps_finished_runs_and_the_same_command_resumes(
    dumbbell: Command, tmp_path: Path
) -> None:
    (tmp_path / "long.toml").write_text(SCENARIO.replace('"4s"', '"500s"'))
    command = [sys.executable, "-m", "dumbbell.cli", "simulate", "long.toml", "--runs", "400"]
    process = subprocess.Popen(
        [*command, "--jobs", "1"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    wait_for_a_run(tmp_path, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command continues" in err
    finished = len(list(tmp_path.glob("results/runs/??/*/run.json")))
    assert 1 <= finished < 400
    again = dumbbell(*command[3:-1], "1")
    assert again.code == 0
    assert "0 run, 1 reused" in again.err


@pytest.mark.parametrize(
    "arguments",
    [("compare", "cubic", "reno", "--runs", "400"), ("tune", "cubic")],
    ids=["compare", "tune"],
)
def test_ctrl_c_ends_what_makes_many_runs_within_half_a_second(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Half a second of work: on a busy machine a clock would measure the others, too."""
    path = ("--rate", "10mbit", "--rtt", "20ms", "--duration", "2000s", "--jobs", "1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [sys.executable, "-m", "dumbbell.cli", *arguments, *path],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_a_run(tmp_path, process)
    used_s = process_table.process(process.pid).ticks / os.sysconf("SC_CLK_TCK")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    total_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert process.returncode == 130
    assert re.search(r"(stopped by Ctrl-C|the same command continues)\n$", err)
    assert total_s - used_s < 0.5


def wait_for_a_run(folder: Path, process: subprocess.Popen[str]) -> None:
    end_s = time.monotonic() + 60
    while not list(folder.glob("results/runs/??/*/run.json")):
        assert process.poll() is None
        assert time.monotonic() < end_s
        time.sleep(0.05)


def test_an_experiment_that_cannot_run_does_not_stay(dumbbell: Command) -> None:
    output = dumbbell("compare", "reno", *PATH[:-2], "--buffer", "1bdp", "--stack", "linux-6.")
    assert output.code == 2
    assert not Path("results/experiments").exists()


def test_runs_are_listed_and_the_newest_comes_first(dumbbell: Command) -> None:
    assert dumbbell("list", "runs").err == snapshot(
        "results holds no runs: dumbbell simulate FILE\n"
    )
    dumbbell("compare", "reno", *PATH)
    dumbbell("simulate", "two.toml", "--results", "results")
    listed = dumbbell("list", "runs", "--json").json
    assert len(listed) == 4
    newest = listed[0]
    assert newest["study"].startswith("two-")
    assert (newest["test"], newest["algorithms"]) == ("run", "htcp@li2007, cubic")
    assert (newest["rate"], newest["rtt (ms)"], newest["seed"]) == ("10mbit", "20", "7")
    assert {run["study"].partition("-")[0] for run in listed[1:]} == {"compare"}
    shown = dumbbell("list", "runs")
    assert newest["run"][:8] in shown.out
    assert "dumbbell open RUN" in shown.err


def page_of(address: str) -> Path:
    return Path(unquote(urlparse(address.strip()).path))


def test_open_draws_a_page_once(dumbbell: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    dumbbell("simulate", "two.toml")
    first = dumbbell("open")
    assert page_of(first.out).is_file()
    write = study_page.write
    monkeypatch.setattr(study_page, "write", None)
    name = only_experiment()
    (key,) = Store("results").keys()
    assert dumbbell("open", name, "--print").out == first.out
    run = dumbbell("open", key[:9]).out
    assert page_of(run) == page_of(first.out).parent / "run.html"
    assert run.strip().endswith(f"#run/{key[:16]}")
    monkeypatch.setattr(study_page, "write", write)
    dumbbell("simulate", "two.toml", "--runs", "2")
    before = page_of(first.out).read_text()
    assert dumbbell("open", name).out == first.out
    assert page_of(first.out).read_text() != before


def test_open_opens_a_browser_only_where_somebody_looks(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    dumbbell("simulate", "two.toml")
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    dumbbell("open")
    assert opened == []
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    dumbbell("open", "--print")
    assert opened == []


def test_open_says_what_there_is(dumbbell: Command) -> None:
    output = dumbbell("open")
    assert output.code == 2
    assert output.err == snapshot(
        "error: results: holds no runs; valid: another folder by --results, or first dumbbell simulate FILE\n"
    )
    dumbbell("simulate", "two.toml")
    output = dumbbell("open", "two-00000000")
    assert output.code == 2
    assert only_experiment() in output.err
    dumbbell("simulate", "two.toml", "--runs", "40")
    output = dumbbell("open", "")
    assert output.code == 2
    assert "40 runs begin like this" in output.err


def test_experiments_are_in_the_site_of_all_studies(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Study, "names", list)
    dumbbell("simulate", "two.toml", "--results", "elsewhere")
    output = dumbbell("report", "--all", "--results", "elsewhere")
    assert output.code == 0
    (name,) = experiment_names.names(Path("elsewhere"))
    index = Path("report/index.html").read_text()
    assert "Own experiments" in index
    assert f'href="studies/{name}/index.html"' in index
    assert "not among the studies" not in output.err
    assert dumbbell("open", name, "--results", "elsewhere").code == 0


def test_experiments_are_merged(dumbbell: Command) -> None:
    dumbbell("simulate", "two.toml", "--results", "part")
    dumbbell("merge", "part")
    assert only_experiment() == experiment_names.names(Path("part"))[0]
    output = dumbbell("simulate", "two.toml")
    assert "1 reused" in output.err
    assert [run["test"] for run in dumbbell("list", "runs", "--json").json] == ["run"]


PRESET = 'algorithm = "my_cc"\n\n[parameters]\nincrease = 4\n'


def compare_own(dumbbell: Command) -> str:
    """Compare a C file with itself under a preset of a file, and return the name of that."""
    if not Path("src/my_cc.c").is_file():
        assert dumbbell("new", "my_cc").code == 0
        Path("src").mkdir()
        Path("my_cc.c").rename("src/my_cc.c")
        Path("src/mine.toml").write_text(PRESET)
    choices = ("src/my_cc.c", "src/my_cc.c@src/mine.toml")
    assert dumbbell("compare", *choices, *PATH, "--flows", "1").code == 0
    return only_experiment()


def test_results_are_there_without_the_own_files_that_made_them(dumbbell: Command) -> None:
    name = compare_own(dumbbell)
    shutil.rmtree("src")
    dumbbell("merge", "results", "--results", "elsewhere")
    for results in ("results", "elsewhere"):
        shown = dumbbell("list", "runs", "--results", results, "--json").json
        assert {run["study"] for run in shown} == {name}
        page = Path(
            dumbbell("open", name, "--results", results).out.strip().removeprefix("file://")
        )
        text = page.read_text()
        assert "my_cc" in text
        assert "4s. 6 runs" in text
        assert dumbbell("run", name, "--results", results).code == 0


def test_an_own_file_that_changes_takes_the_place_of_what_it_was(dumbbell: Command) -> None:
    name = compare_own(dumbbell)
    source = Path("src/my_cc.c")
    source.write_text(source.read_text() + "/* changed */\n")
    assert compare_own(dumbbell) == name
    (copy,) = Path("results/experiments").glob("*/copies/*/src/my_cc.c")
    assert copy.read_text() == source.read_text()


def test_an_own_file_that_is_wrong_leaves_the_copy_as_it_was(dumbbell: Command) -> None:
    compare_own(dumbbell)
    source = Path("src/my_cc.c")
    before = source.read_text()
    source.write_text(before + "no C\n")
    choices = ("src/my_cc.c", "src/my_cc.c@src/mine.toml")
    refused = dumbbell("compare", *choices, *PATH, "--flows", "1")
    assert refused.code != 0
    assert "src/my_cc.c:" in refused.err
    assert "copies" not in refused.err
    (copy,) = Path("results/experiments").glob("*/copies/*/src/my_cc.c")
    assert copy.read_text() == before


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the pages of a simulation and of a comparison, this without PNG and PDF.

    Both take the same way to these.
    """
    folder = tmp_path_factory.mktemp("pages")
    (folder / "two.toml").write_text(SCENARIO)
    for arguments in (
        ["simulate", "two.toml", "--runs", "2", "--report", "simulated"],
        ["compare", "reno", "cubic", *PATH, "--flows", "reno:1,bbr:1", "--report", "compared"],
    ):
        err = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stderr(err):
            patch.chdir(folder)
            patch.setattr(sys, "argv", ["dumbbell", *arguments])
            if "compared" in arguments:
                patch.setattr(drawing, "converted", lambda *_: b"nothing")
            with pytest.raises(SystemExit):
                commands.main()
        assert f"Page: {arguments[-1]}/index.html" in err.getvalue()
    return folder


def test_pages_have_tables_downloads_and_commands(pages: Path) -> None:
    simulated = (pages / "simulated/index.html").read_text()
    assert "dumbbell simulate two.toml --seed 7 --pcap packets" in simulated
    assert "Mean of 2 runs" in simulated
    compared = (pages / "compared/index.html").read_text()
    assert "reno × 1 in the mix" in compared
    assert "±" in compared
    assert "--flows reno:1,bbr:1" in compared
    for folder, names in (
        ("simulated", ("over-time", "delays")),
        ("compared", ("trade-off", "over-time", "delays")),
    ):
        for name in names:
            for suffix, start in ((".svg", b"<svg"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
                content = (pages / folder / "figures" / f"{name}{suffix}").read_bytes()
                assert content.startswith(start) or content == b"nothing"
                assert content != b"nothing" or folder == "compared"
            assert (pages / folder / "data" / f"{name}.csv").stat().st_size > 100


def test_every_link_leads_somewhere(pages: Path) -> None:
    for page in (pages / "simulated/index.html", pages / "compared/index.html"):
        for address in re.findall(r'(?:href|src)="([^"#]+)', page.read_text()):
            assert (page.parent / address).is_file(), address


TOP = "document.querySelector('.chart').getBoundingClientRect()"


@pytest.mark.parametrize("name", ["simulated", "compared"])
def test_the_first_screen_shows_the_figure(pages: Path, tab: Browser, name: str) -> None:
    tab.open(pages / name / "index.html", width=1400)
    assert tab.evaluate(f"{TOP}.top") < 200
    tab.wait("document.querySelector('.chart svg') !== null")
    assert tab.evaluate(f"{TOP}.bottom") < 900
    tab.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    tab.wait("document.querySelectorAll('.chart > img').length === 0")
    assert tab.complaints == []


@pytest.mark.parametrize("name", ["simulated", "compared"])
def test_a_phone_shows_figures_that_can_be_read(pages: Path, tab: Browser, name: str) -> None:
    tab.open(pages / name / "index.html", width=390)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    tab.wait("document.querySelector('.chart svg') !== null")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    sizes = (
        "[...document.querySelectorAll('.chart svg text')].map(t => getComputedStyle(t).fontSize)"
    )
    assert all(float(size.removesuffix("px")) >= 10 for size in tab.evaluate(sizes))
    assert tab.complaints == []


def test_from_a_page_to_a_run(pages: Path, tab: Browser) -> None:
    tab.open(pages / "compared/index.html")
    tab.evaluate("document.querySelector('.files a[href^=runs]').click()")
    tab.wait("location.pathname.endsWith('runs/compare.html')")
    tab.wait("document.querySelectorAll('#runs tbody tr').length === 9")
    tab.evaluate("document.querySelector('#runs tbody a').click()")
    tab.wait("document.querySelectorAll('.panel').length > 3")
    assert tab.complaints == []


def test_seeds_can_be_shared_by_all_grid_points(tmp_path: Path) -> None:
    text = """
[study]
name = "shared"
title = "Shared"
authors = ["A"]
year = 2026
[[test]]
name = "one"
title = "One"
runs = 3
seeds = "shared"
axes = { rtt = ["10ms", "20ms"] }
[test.scenario]
duration = "1s"
network = { rate = "5mbit", rtt = "{rtt}", queue = "1bdp" }
flow = [{ algorithm = "reno" }]
"""
    (tmp_path / "study.toml").write_text(text)
    study = Study.load(tmp_path)
    for seed in (0, 5):
        runs = study.runs(seed=seed)
        seeds = [run.resolved.scenario.seed for run in runs]
        assert seeds[:3] == seeds[3:]
        assert seeds[0] == seed
        assert len(set(seeds)) == 3


def test_merged_results_leave_a_name_where_it_leads(dumbbell: Command, tmp_path: Path) -> None:
    where = ["--where", "test=lossy", "--where", "algorithm=reno", "--quick"]
    for folder, results in (("ours", "results"), ("theirs", "others")):
        small_study.write(tmp_path / folder)
        assert dumbbell("run", f"./{folder}", *where, "--results", results).code == 0
    assert dumbbell("merge", "others").code == 0
    assert files.find("small", Path("results")).name == "ours"


def test_a_name_leads_to_a_study_that_was_run_by_its_path(
    dumbbell: Command, tmp_path: Path
) -> None:
    small_study.write(tmp_path / "elsewhere")
    where = ["--where", "test=lossy", "--where", "algorithm=reno", "--quick"]
    assert dumbbell("run", "./elsewhere", *where).code == 0
    assert dumbbell("open", "--print").code == 0
    for command in ("report", "claims"):
        assert dumbbell(command, "small").code == 0
    assert {run["study"] for run in dumbbell("list", "runs", "--json").json} == {"small"}
    assert dumbbell("merge", "results", "--results", "others").code == 0
    assert dumbbell("claims", "small", "--results", "others").code == 0
    assert "leads" not in dumbbell("run", "./elsewhere", *where).err
    small_study.write(tmp_path / "another")
    assert line(dumbbell("run", "./another", *where).err, "small leads") == snapshot(
        "The name small leads to another from now on, no longer to elsewhere. Runs of both are in this folder; give one another name."
    )
    dumbbell("run", "./elsewhere", *where)
    # Another study took its place, and then nothing.
    text = Path("elsewhere/study.toml").read_text()
    Path("elsewhere/study.toml").write_text(text.replace('name = "small"', 'name = "tiny"', 1))
    assert_refused(dumbbell("claims", "small"))
    shutil.rmtree("elsewhere")
    output = dumbbell("open", "--print")
    assert_refused(output)
    assert output.err == snapshot(
        'error: results: "small": a study that was run from another folder; valid: dumbbell report FOLDER, with the study\'s own folder\n'
    )
    Path("results/studies/small.json").unlink()
    output = dumbbell("open", "--print")
    assert_refused(output)
    assert output.err == snapshot(
        'error: results: "small": ran last, but its plan is not in the folder; valid: dumbbell open RUN, with a run of dumbbell list runs\n'
    )
