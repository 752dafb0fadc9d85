"""``dumbbell advise``: which algorithm to use on a path, and what is never advised."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from command_line import Command, assert_refused, line, unmeasured
from dumbbell.algorithms import catalogue
from dumbbell.experiments.advise import Advice, Candidate, advise, asking, conditions, words
from dumbbell.experiments.advise.choosing import choose
from dumbbell.experiments.setting import Setting
from dumbbell.inference import statistics

WIRED = Setting("10mbit", "40ms", duration="20s")
PROVEN, RUNS = replace(WIRED, duration="40s"), 3
"""Enough to prove Reno fit next to CUBIC: its interval of harm ends well below the bound."""
SHALLOW = Setting("10mbit", "40ms", "0.1bdp", duration="20s")
LONG = Setting("10mbit", "300ms", duration="30s")
FAST = Setting("20mbit", "200ms", duration="30s")
SATELLITE = Setting("10mbit", "600ms", loss="1e-3", duration="30s")

SHARE, HARM, RESENT, MARKS = (
    "share_of_fair_share",
    "harm_to_goodput",
    "retransmitted_share",
    "marks",
)

UNFIT = [
    # Delay gives way to loss: Mo et al. 1999 (Vegas); Hayes, Armitage 2011 (CDG).
    ("vegas", WIRED, "cubic", SHARE),
    ("cdg", WIRED, "cubic", SHARE),
    ("fast", Setting("20mbit", "40ms", duration="20s"), "cubic", SHARE),
    # For the background by design: RFC 6817 and LEDBAT++, Kuzmanovic, Knightly 2003 (TCP-LP).
    ("ledbatpp", LONG, "cubic", SHARE),
    ("lp", LONG, "cubic", SHARE),
    ("hstcplp", WIRED, "cubic", SHARE),
    # For data centres: Brakmo 2010 (NV); RFC 8257 (DCTCP). Prague needs L4S queues: RFC 9331.
    ("nv", SATELLITE, "cubic", SHARE),
    ("dctcp", WIRED, "cubic", MARKS),
    ("prague", WIRED, "cubic", MARKS),
    # Its bandwidth estimate keeps too little where a queue is filled by others.
    ("westwood", LONG, "cubic", SHARE),
    ("westwood", SHALLOW, "cubic", RESENT),
    # More aggressive than standard TCP: Li, Leith, Shorten 2007; Mathis 2009 (Relentless).
    ("scalable", WIRED, "cubic", HARM),
    ("scalable", WIRED, "reno", HARM),
    ("relentless", WIRED, "cubic", HARM),
    ("yeah", SHALLOW, "cubic", HARM),
    ("highspeed", FAST, "reno", HARM),
    ("htcp", FAST, "reno", HARM),
    ("cubic", FAST, "reno", HARM),
    # Next to CUBIC: Hock, Bless, Zitterbart 2017; Ware et al. 2019; Zeynali et al. 2024 (BBRv3).
    ("bbr", WIRED, "cubic", HARM),
    ("bbr", SHALLOW, "cubic", RESENT),
    ("bbr3", WIRED, "reno", HARM),
    # A window that no loss cuts: Kumazoe et al. 2012.
    ("ccp", WIRED, "cubic", RESENT),
    ("ccpd", WIRED, "cubic", RESENT),
    # 2^rho - 1 segments for each ACK of slow start overrun every queue.
    ("hybla", SATELLITE, "cubic", RESENT),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("advise") / "results"


@pytest.fixture(scope="module")
def unfit(results: Path) -> dict[tuple[Setting, str], Advice]:
    """Return what is advised on each path, not on others like it, where all is unfit.

    One run of each scenario refuses by its value; whole intervals are judged below.
    """
    among: dict[tuple[Setting, str], list[str]] = {}
    for name, path, legacy, _ in UNFIT:
        among.setdefault((path, legacy), []).append(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asking, "_settings", lambda setting: [setting])
        return {
            (path, legacy): advise(path, beside=legacy, among=names, runs=1, results=results)
            for (path, legacy), names in among.items()
        }


@pytest.mark.parametrize(
    ("name", "path", "legacy", "condition"),
    UNFIT,
    ids=[f"{name}-{path.rtt}-{path.buffer}-{legacy}" for name, path, legacy, _ in UNFIT],
)
def test_what_is_known_to_be_unfit_is_refused_for_that(
    name: str,
    path: Setting,
    legacy: str,
    condition: str,
    unfit: dict[tuple[Setting, str], Advice],
) -> None:
    advice = unfit[path, legacy]
    broken = [fault for fault in advice.faults[name] if fault.excess > 1]
    assert condition in {fault.condition for fault in broken}
    assert advice.refused[name] == broken[0].reason


def test_where_all_are_unfit_none_is_advised(unfit: dict[tuple[Setting, str], Advice]) -> None:
    for advice in unfit.values():
        assert advice.advised is None
        assert advice.least_bad is not None
        assert advice.refused.keys() == {candidate.name for candidate in advice.candidates}
        assert "Use " not in " ".join(words.conclusion(advice))


@pytest.mark.parametrize(
    ("path", "among", "unfit"),
    [
        (Setting("20mbit", "40ms", duration="30s"), ["reno", "cubic", "vegas"], "vegas"),
        (Setting("20mbit", "600ms", loss="1e-3"), ["hybla", "cubic"], "hybla"),
    ],
)
def test_what_first_contact_was_told_to_use_is_refused(
    path: Setting, among: list[str], unfit: str, results: Path
) -> None:
    advice = advise(path, among=among, runs=1, results=results)
    assert advice.advised is not None
    assert advice.advised.name != unfit
    assert unfit in advice.refused


def test_the_legacy_algorithm_is_what_all_is_measured_by(results: Path) -> None:
    """Next to itself it has a fair share and does no harm, exactly."""
    advice = advise(WIRED, among=["cubic"], runs=2, results=results)
    (cubic,) = advice.candidates
    for meeting in cubic.meetings:
        assert meeting.share is not None
        assert meeting.harm is not None
        assert meeting.share.interval == (1, 1)
        assert meeting.harm.interval == (0, 0)
    assert advice.advised is cubic
    assert advice.reason == snapshot("it is fit")


def test_each_order_of_start_counts(results: Path) -> None:
    """Illinois harms CUBIC only where it comes late and finds a queue that it takes for short."""
    advice = advise(WIRED, among=["illinois"], runs=2, results=results)
    (illinois,) = advice.candidates
    first, last = (meeting.harm for meeting in illinois.meetings)
    assert first is not None
    assert last is not None
    assert first.value < conditions.HARM_MAX < last.value
    assert illinois.harm is last
    assert advice.refused["illinois"].endswith("if cubic starts first")


def test_round_trips_and_retransmissions_are_of_the_whole_run(results: Path) -> None:
    """Hybla fills the queue and loses a third of its packets after the first third of the run."""
    advice = advise(SATELLITE, among=["hybla"], runs=2, results=results)
    (hybla,) = advice.candidates
    assert hybla.rtt is not None
    assert hybla.retransmitted is not None
    assert hybla.rtt.value > 700
    assert hybla.retransmitted.low > 0.2


def test_random_losses_are_the_path_s_fault(results: Path) -> None:
    lossy = Setting("10mbit", "20ms", loss="0.05", duration="10s")
    advice = advise(lossy, among=["cubic"], runs=2, results=results)
    (cubic,) = advice.candidates
    assert cubic.retransmitted is not None
    assert cubic.retransmitted.value > conditions.RETRANSMITTED_MAX
    assert advice.advised is cubic


def test_too_few_runs_make_nothing_fit_but_the_legacy_algorithm(advice: Advice) -> None:
    """An interval that reaches beyond a bound refuses, and the reason has its end."""
    reno = next(candidate for candidate in advice.fit if candidate.name == "reno")
    meeting = replace(reno.meetings[0], harm=statistics.harm([8, 11, 10], [10, 10, 10]))
    choice = choose(PROVEN, "cubic", 1, [replace(reno, meetings=(meeting, reno.meetings[1]))], {})
    assert choice.advised is None
    assert re.fullmatch(
        r"takes 3\.3 % of cubic's goodput if cubic starts last, maybe \d+ %",
        choice.refused["reno"],
    )


def test_what_was_not_measured_is_not_fit(advice: Advice) -> None:
    reno = next(candidate for candidate in advice.candidates if candidate.name == "reno")
    unknown = replace(reno, meetings=(reno.meetings[0], replace(reno.meetings[1], harm=None)))
    choice = choose(PROVEN, "cubic", 1, [unknown], {})
    assert choice.advised is None
    assert choice.refused == snapshot(
        {"reno": "takes an unknown share of cubic's goodput if cubic starts first"}
    )


@pytest.fixture(scope="module")
def advice(results: Path) -> Advice:
    return advise(PROVEN, among=["reno", "cubic", "bbr", "vegas"], runs=RUNS, results=results)


def test_of_what_is_fit_the_shortest_queue_with_as_much_goodput_wins(advice: Advice) -> None:
    assert advice.advised is not None
    assert advice.advised.name == "reno"
    assert [candidate.name for candidate in advice.candidates] == ["cubic", "reno", "vegas", "bbr"]
    assert unmeasured(advice.reason) == snapshot(
        "both that are fit have at least N % of the best goodput; of these it has the shortest round-trip time"
    )
    assert advice.matters == (_rtt("cubic", advice) > 1.1 * _rtt("reno", advice))


def _rtt(name: str, advice: Advice) -> float:
    rtt = next(candidate.rtt for candidate in advice.candidates if candidate.name == name)
    assert rtt is not None
    return rtt.value


def test_goodput_is_compared_with_the_best_that_is_fit(advice: Advice) -> None:
    """An unfit algorithm with most goodput makes nothing else look slow."""
    by_name = {candidate.name: candidate for candidate in advice.candidates}
    bbr = replace(
        by_name["bbr"], goodputs=tuple(10 * goodput for goodput in by_name["bbr"].goodputs)
    )
    choice = choose(PROVEN, "cubic", RUNS, [bbr, by_name["reno"]], {})
    assert choice.advised is by_name["reno"]
    assert choice.of_best["reno"].value == 1


def test_what_may_have_as_much_goodput_is_named(advice: Advice) -> None:
    reno, cubic = (candidate for candidate in _fit(advice))
    changed = zip(cubic.goodputs, cycle((1.3, 0.6)), strict=False)
    noisy = replace(reno, goodputs=tuple(a * b for a, b in changed))
    choice = choose(PROVEN, "cubic", RUNS, [cubic, noisy], {})
    assert choice.undecided == (noisy,)
    assert words.conclusion(choice)[1] == snapshot("More runs may find as much goodput for reno.")


def _fit(advice: Advice) -> list[Candidate]:
    return sorted(advice.fit, key=lambda candidate: candidate.name, reverse=True)


def test_by_default_what_needs_marks_is_left_out_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    known = {name: catalogue.algorithm(name) for name in ("cubic", "dctcp", "prague", "reno")}
    monkeypatch.setattr(catalogue, "algorithms", lambda: known)
    advice = advise(WIRED, runs=2, results=results)
    assert {candidate.name for candidate in advice.candidates} == {"cubic", "reno"}
    assert advice.left_out == dict.fromkeys(("dctcp", "prague"), conditions.NEEDS_MARKS)


# The command


ON_PATH = ("advise", "--rate", "10mbit", "--rtt", "40ms")
COMMAND = (*ON_PATH, "--duration", "20s", "--runs", "2")
COMMAND_PROOF = (*ON_PATH, "--duration", PROVEN.duration, "--runs", str(RUNS))


def test_the_command_fits_80_columns_and_says_what_is_unfit(
    dumbbell: Command, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    output = dumbbell(*COMMAND_PROOF, "--among", "reno,cubic,bbr,vegas", "--results", results)
    assert output.code == 0
    lines = output.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert re.search(r"^ +goodput +RTT +resent +share +harm *$", output.out, re.MULTILINE)
    assert re.search(
        r"^vegas +gets \d+ % of a fair share if cubic starts", output.out, re.MULTILINE
    )
    assert re.search(
        r"^bbr +takes \d+ % of cubic's goodput if cubic starts", output.out, re.MULTILINE
    )
    assert re.search(r"^Use reno: ", output.out, re.MULTILINE)
    assert "takes more than 20 % of its goodput" in " ".join(output.out.split())
    page = Path("advice.html").read_text()
    for part in ("<svg", "harm to RTT (%)", "Unfit here", "gets less than 50 % of what cubic has"):
        assert part in page
    assert not re.search(r'(src|href)="(?!#)', page), "the page is one file"


def test_where_nothing_is_fit_the_command_does_not_say_use(
    dumbbell: Command, results: Path
) -> None:
    output = dumbbell(*COMMAND, "--among", "vegas,bbr", "--results", results, "--figure", "a.svg")
    assert output.code == 0
    assert not re.search(r"^Use ", output.out, re.MULTILINE)
    assert unmeasured(line(output.out, "Least")) == snapshot(
        "None of the 2 is fit for this path. Least bad: vegas, which gets N % of a fair share if cubic starts last."
    )
    assert Path("a.svg").read_text().startswith("<svg")


def test_the_legend_names_the_window_of_each_number(advice: Advice) -> None:
    windows = {"goodput": (0.06, 9.96), "RTT and resent": (0.0, 10.0)}
    assert words.legend(replace(advice, windows=windows)).endswith(
        "Windows: goodput from 0.06 s to 9.96 s; RTT and resent from 0 s to 10 s."
    )


def test_every_harm_may_be_below_zero_on_the_page(advice: Advice) -> None:
    harm = statistics.harm([10, 13, 10], [10, 10, 10])
    meeting = replace(advice.candidates[0].meetings[0], harm=harm, delay_harm=harm, loss_harm=harm)
    candidate = replace(advice.candidates[0], meetings=(meeting, meeting))
    cells = [
        column.cell(candidate)
        for column in (*words.COLUMNS, *words.FURTHER)
        if column.title.startswith("harm")
    ]
    assert cells == snapshot(["−10 (−63 to 26)", "−10 (−63 to 26)", "−10 (−63 to 26)"])


@pytest.mark.usefixtures("undrawn")
def test_json_has_every_measure_with_its_interval(dumbbell: Command, results: Path) -> None:
    output = dumbbell(*COMMAND, "--among", "cubic,bbr", "--results", results, "--json")
    data = output.json
    assert (data["advised"], data["least_bad"]) == ("cubic", None)
    assert [row["name"] for row in data["conditions"]] == [
        "share_of_fair_share",
        "harm_to_goodput",
        "harm_to_delay",
        "retransmitted_share",
    ]
    cubic, bbr = data["candidates"]
    assert (cubic["fit"], bbr["fit"]) == (True, False)
    assert data["refused"] == {"bbr": bbr["faults"][0]["reason"]}
    assert [row["starts"] for row in bbr["meetings"]] == ["first", "last"]
    for name in (
        "goodput_mbit_per_s",
        "rtt_mean_ms",
        "retransmitted_share",
        "recovery",
        "share_of_fair_share",
        "harm_to_goodput",
        "harm_to_delay",
        "harm_to_loss",
    ):
        assert set(bbr[name]) == {"value", "low", "high"}
    worst = max(row["harm_to_goodput"]["value"] for row in bbr["meetings"])
    assert bbr["harm_to_goodput"]["value"] == worst


@pytest.mark.usefixtures("undrawn")
def test_axes_of_the_figure_do_not_blow_noise_up(dumbbell: Command, results: Path) -> None:
    dumbbell(*COMMAND, "--among", "cubic,reno", "--results", results, "--figure", "a.json")
    plots = json.loads(Path("a.json").read_text())["hconcat"]
    domains = {}
    for plot in plots:
        (domain,) = {
            tuple(layer["encoding"]["x"]["scale"]["domain"])
            for layer in plot["layer"]
            if "scale" in layer["encoding"]["x"]
        }
        domains[plot["title"]["text"]] = domain
    assert set(domains) == {column.heading for column in words.COLUMNS}
    for title, (low, high) in domains.items():
        assert low <= 0 < high
        assert low == 0 or title.startswith("harm")
    assert domains["harm (%)"][1] >= 100 * conditions.HARM_MAX
    assert domains["resent (%)"][1] >= 100 * conditions.RETRANSMITTED_MAX


@pytest.mark.usefixtures("undrawn")
def test_one_run_has_no_interval_on_the_path_itself_and_says_so(dumbbell: Command) -> None:
    output = dumbbell(
        *("advise", "--rate", "5mbit", "--rtt", "10ms", "--duration", "300ms", "--runs", "1"),
        *("--among", "reno,cubic"),
    )
    assert output.code == 0
    assert "1 run of 300ms each" in output.out
    assert line(output.out, "23") == snapshot(
        "1 run of 300ms each: alone, and with cubic starting first and last; the same at 3/10 shorter and longer RTTs. That is 23 round trips of the longest path, in which slow start weighs much: a longer duration shows more."
    )
    assert re.search(r"^cubic +\d\.\d+ +\d+\.\d+ ", output.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--among", "nosuch"), "--among"),
        (("--beside", "nosuch"), "--beside"),
        (("--figure", "a.gif"), '--figure: "a.gif": unknown kind of picture'),
        (("--loss", "2"), "loss"),
        (("--duration", "100ms"), "shorter than 20 round trips of the longest path"),
        (("--duration", "100ms"), "520ms or more"),
    ],
)
def test_wrong_options_are_refused(
    dumbbell: Command, arguments: tuple[str, ...], problem: str
) -> None:
    output = dumbbell("advise", "--rate", "10mbit", "--rtt", "20ms", *arguments)
    assert_refused(output)
    assert problem in output.err
