"""The page of the worst scenarios: what hunts have found counts only as far as its file replays."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import pytest
from hunts import __main__, page
from hunts.page import How, Others
from hunts.replaying import Replayed, replayed
from hunts.subjects import SUBJECTS
from inline_snapshot import snapshot

from command_line import line
from dumbbell.inference import statistics
from dumbbell.scenario.model import Scenario
from dumbbell.store.store import Store

SCENARIO: Final = """# Found by: dumbbell hunt vegas
# Claim: With Vegas the goodput of a lone flow is less than half of that with CUBIC.
# Again: dumbbell compare vegas cubic reno --on hunted/vegas/vegas-goodput.toml --runs 6
# Judge again: dumbbell claims hunt-vegas-goodput-12345678
title = "20 Mbit/s, RTT 40 ms, queue 1 BDP, jitter 24 ms"
seed = 1
algorithm = "vegas"
duration = "4s"
flow = [{ label = "hunted", group = "hunted" }]

[network]
rate = "20mbit"
rtt = "40ms"
queue = "1bdp"
jitter = "24ms"
"""


def test_the_page_has_what_replays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("vegas", "reno"):
        (tmp_path / "hunted" / name).mkdir(parents=True)
        (tmp_path / "hunted" / name / "index.html").write_text("")
    (tmp_path / "hunted/vegas/vegas-goodput.toml").write_text(SCENARIO)
    (tmp_path / "hunt").mkdir()
    (tmp_path / "hunt/reno.toml").write_text("found by an earlier hunt")
    file, results = tmp_path / "hunt.md", tmp_path / "results"
    options = ["--hunted", f"{tmp_path / 'hunted'}", "--hunt", "--points 40", "--runs", "3"]
    where = ["--markdown", f"{file}", "--results", f"{results}"]
    monkeypatch.setattr(sys, "argv", ["hunts", *options, *where])
    assert __main__.main() == 0
    text = file.read_text()
    assert "| Vegas | 20 Mbit/s, RTT 40 ms, queue 1 BDP, jitter 24 ms | " in text
    assert "[vegas.toml](hunt/vegas.toml)" in text
    assert line(text, "Standard TCP a") == snapshot(
        "No scenario of the search costs Standard TCP a fifth of the goodput."
    )
    assert "Not hunted yet: BBR, BBRv3, BIC-TCP" in text
    assert line(text, "vegas cubic reno") == snapshot(
        "dumbbell compare vegas cubic reno --on docs/hunt/vegas.toml --runs 3"
    )
    kept = (tmp_path / "hunt/vegas.toml").read_text()
    assert kept.splitlines()[:3] == [*SCENARIO.splitlines()[:2], SCENARIO.splitlines()[4]]
    assert not (tmp_path / "hunt/reno.toml").exists()
    again = replayed(tmp_path / "hunt/vegas.toml", SUBJECTS["goodput"].reference, Store(results), 3)
    regret, low, high = again.regret
    assert 0.2 < low < regret < high < 1
    assert again.sides == ["vegas", "cubic", "reno"]
    scenario, quantity = tmp_path / "hunt/vegas.toml", SUBJECTS["goodput"].reference
    one = replayed(scenario, quantity, Store(results), 3, against=["reno"])
    assert (one.sides, one.means["vegas"]) == (["vegas", "reno"], again.means["vegas"])
    assert again.means[again.best].value > 2 * again.means["vegas"].value


def made_up(name: str, ours: list[float], theirs: list[float]) -> Replayed:
    means = {name: statistics.mean(ours), "cubic": statistics.mean(theirs)}
    kept = statistics.ratio(ours, theirs)
    return Replayed(name, f"where {name} is bad", f"{name}.toml", means, "cubic", kept)


def test_what_a_replay_leaves_open_is_apart() -> None:
    sure = made_up("vegas", [1, 1.1, 0.9], [4, 4.1, 3.9])
    worse = made_up("nv", [0.5, 0.51, 0.49], [4, 4.1, 3.9])
    unsure = made_up("bbr", [1, 4, 2], [4, 3, 5])
    text = page.page(
        SUBJECTS["goodput"], [unsure, sure, worse], Others([], []), How("--points 40", 3, "hunt")
    )
    places = [text.index(f"where {replay.algorithm} is bad") for replay in (worse, sure, unsure)]
    assert places == sorted(places)
    assert places[1] < text.index(line(text, "replay leaves")) < places[2]


def test_the_kernel_confirms_a_weakness_contradicts_it_or_leaves_it_open() -> None:
    names = ("vegas", "nv", "bbr", "hybla")
    here = [made_up(name, [1, 1.1, 0.9], [4, 4.1, 3.9]) for name in names]
    there = [
        made_up("vegas", [1, 1.1, 0.9], [4, 4.2, 3.9]),
        made_up("nv", [4, 4.1, 3.9], [4, 4.1, 3.9]),
        made_up("bbr", [1, 4, 2], [4, 3, 5]),
    ]
    kernel = {replay.algorithm: replay for replay in there}
    how = How("--points 40", 3, "hunt", kernel, 3)
    text = page.page(SUBJECTS["goodput"], here, Others([], []), how)
    assert "confirms 1 of 3 weaknesses and contradicts 1." in line(text, "The kernel confirms")
    assert line(text, "no valid runs") == snapshot("The testbed has no valid runs of these: Hybla.")
    table = text[text.index("## On the kernel") :]
    assert [
        line(table, f"| {name} |").rsplit("| ", 1)[1] for name in ("Vegas", "TCP-NV", "BBR")
    ] == (["confirmed |", "contradicted |", "open |"])


def test_a_page_says_which_findings_are_known() -> None:
    confirmed = [made_up(name, [1, 1.1, 0.9], [4, 4.1, 3.9]) for name in ("vegas", "veno")]
    text = page.page(
        SUBJECTS["share"], confirmed, Others([], []), How("--points 9", 3, "hunt-share")
    )
    assert "dumbbell hunt ALGORITHM --goal share --points 9`" in text
    again, missed = text.index("finds these again,"), text.index("finds no scenario")
    assert again < text.index("- Vegas: loss-based") < missed < text.index("- TCP-NV: it was")
    assert line(text, "our list") == snapshot(
        "The others are missing from our list of published failings: Veno. Nobody has searched the literature for them yet."
    )


NEIGHBOURED: Final = """algorithm = "{algorithm}"
duration = "6s"
flow = [
    {{ label = "hunted", group = "hunted" }},
    {{ algorithm = "cubic", label = "beside", group = "beside" }},
]

[network]
rate = "10mbit"
rtt = "40ms"
queue = "{queue}"
"""


@pytest.mark.parametrize(("goal", "algorithm"), [("share", "vegas"), ("harm", "scalable")])
def test_a_replay_next_to_cubic_measures_what_its_goal_does(
    goal: str, algorithm: str, tmp_path: Path
) -> None:
    file = tmp_path / f"{algorithm}.toml"
    title = 'title = "somewhere"\n'
    file.write_text(title + NEIGHBOURED.format(algorithm=algorithm, queue="1bdp"))
    again = replayed(file, SUBJECTS[goal].reference, Store(tmp_path / "results"), 3)
    regret, low, high = again.regret
    assert 0.1 < low <= regret <= high < 1
    # The two goals measure different flows of the same run.
    other = {"share": "harm", "harm": "share"}[goal]
    across = replayed(file, SUBJECTS[other].reference, Store(tmp_path / "results"), 3)
    assert across.regret[0] < 0 < regret


FILES: Final = sorted((Path(__file__).parents[2] / "docs").glob("hunt*/*.toml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_of_the_page_is_a_scenario(file: Path) -> None:
    scenario = Scenario.load(file).resolve().scenario
    assert scenario.duration_ns == 12 * 10**9
    assert Scenario.table(file)["algorithm"] == file.stem
