"""Generated traces: the same for a seed, and with the numbers of their sources."""

from __future__ import annotations

import itertools
from decimal import Decimal
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from command_line import Command
from dumbbell.experiments.generated import leo, lte, wifi
from dumbbell.experiments.generated.kinds import KINDS, generated
from dumbbell.scenario import library
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.path_traces import ALL, parse, written
from dumbbell.scenario.traces import read_trace
from sample_runs import links

S = 10**9
SHIPPED = {"leo": ("leo.csv", 60), "lte": ("lte.trace", 20), "wifi": ("wifi.csv", 20)}
NAMED = {"leo": "leo-satellite", "lte": "lte-cell", "wifi": "bad-wifi"}


@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_traces_can_be_generated_again(kind: str) -> None:
    name, seconds = SHIPPED[kind]
    assert generated(kind, 1, seconds * S) == (library.FOLDER / name).read_text()
    assert generated(kind, 2, seconds * S) != generated(kind, 1, seconds * S)


@pytest.mark.parametrize("kind", KINDS)
def test_a_named_scenario_uses_each(kind: str) -> None:
    forward = links(Scenario.load(NAMED[kind]).resolve())["forward"]
    assert forward.route is None  # so that no handover reorders
    assert (forward.rate is not None, len(forward.delay) > 1) == (True, kind != "lte")


def test_satellites_have_the_jitter_the_epochs_and_the_losses_of_their_source() -> None:
    epochs = list(leo.epochs(5, 20 * leo.EPOCH_MS))
    assert sum(epoch.keep_us for epoch in epochs) == 20 * leo.EPOCH_MS * 1000
    lost_us = [epoch.keep_us for epoch in epochs if epoch.loss]
    assert len(lost_us) == 19
    assert {epoch.loss for epoch in epochs} == {0, ALL}
    assert 0.01 <= sum(lost_us) / sum(epoch.keep_us for epoch in epochs) <= 0.02
    assert len({epoch.rate_bps for epoch in epochs}) == 20
    # Within an epoch; 2850 differences of a deviation of their mean: three standard errors 6 %.
    usual = [epoch for epoch in epochs if epoch.keep_us == leo.ROW_MS * 1000]
    pairs = [(a, b) for a, b in itertools.pairwise(usual) if a.rate_bps == b.rate_bps]
    differences = [abs(a.latency_ns - b.latency_ns) for a, b in pairs]
    assert fmean(differences) == pytest.approx(leo.JITTER_MEAN_NS, rel=0.06)


def test_wifi_has_the_mean_of_its_model() -> None:
    latencies = [epoch.latency_ns for epoch in wifi.epochs(4, 400_000)]
    # E N1 - E r + x E N2: 1 ms - 0.5 ms (1 - 1/e) + 12 * 7.5 ms / 15. Of 20,000 draws with a
    # deviation of 23.3 ms three standard errors are 0.5 ms.
    mean_ms = 1 - 0.5 * (1 - 0.36788) + wifi.REPEATS_MEAN * 7.5 * float(wifi.REPEATED)
    assert (fmean(latencies) - wifi.BASE_NS) / 1e6 == pytest.approx(mean_ms, abs=0.5)
    assert all(latency >= wifi.BASE_NS for latency in latencies)


def test_a_cell_has_the_steps_and_outages_of_its_model() -> None:
    rates = [float(rate) for rate in lte.rates(6, 1_000_000)]
    assert 0 <= min(rates) <= max(rates) <= lte.RATE_MAX
    steps = [b - a for a, b in itertools.pairwise(rates) if 150 < a < 850]
    # 200 packets/s per root of a second in 20 ms; three standard errors of some 30,000 are 1.3 %.
    assert pstdev(steps) == pytest.approx(200 * 0.02**0.5, rel=0.013)
    outages = [len(list(ticks)) for rate, ticks in itertools.groupby(rates) if rate == 0]
    # Exponential with a mean of 1 s: three standard errors.
    assert fmean(outages) * 0.02 == pytest.approx(1, rel=3 / len(outages) ** 0.5)


def test_packets_depart_at_the_rate_of_the_cell(tmp_path: Path) -> None:
    (tmp_path / "a.trace").write_text(generated("lte", 3, 60 * S))
    trace = read_trace(tmp_path / "a.trace")
    assert trace.period_ns == 60 * S
    expected = float(sum(lte.rates(3, 60_000), Decimal())) * 0.02
    # Poisson: three deviations.
    assert len(trace.times_ns) == pytest.approx(expected, abs=3 * expected**0.5)


def test_a_written_trace_is_read_again() -> None:
    for epochs in (list(leo.epochs(2, 40_000)), list(wifi.epochs(2, 1_000))):
        assert list(parse(written(epochs), str)) == epochs
    short = "KEEP,LATENCY,RATE,LOSS,LIMIT\n10,2000,30,4,5\n"
    assert written(parse(short, str)) == short


def test_the_command_writes_a_trace_and_shows_how_to_name_it(
    dumbbell: Command, tmp_path: Path
) -> None:
    output = dumbbell("trace", "leo", "--seed", "7", "--duration", "20s", "-o", "a.csv")
    assert (output.code, 'delay = { trace = "a.csv" }' in output.err) == (0, True)
    assert (tmp_path / "a.csv").read_text() == generated("leo", 7, 20 * S)
    output = dumbbell("trace", "wifi", "--duration", "1s")
    assert output.out == generated("wifi", 1, S)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("leo", "--duration", "0.5us"), ("--duration", "500ns")),
        (("leo", "--duration", "2h"), ("--duration", "7200s", "3600s")),
        (("leo", "--duration", "long"), ("--duration", "long")),
        (("geo",), ("geo", "leo")),
        (("leo", "-o", "no/such/a.csv"), ("no/such/a.csv",)),
    ],
)
def test_a_wrong_request_is_refused(
    arguments: tuple[str, ...], words: tuple[str, ...], dumbbell: Command
) -> None:
    output = dumbbell("trace", *arguments)
    assert output.code == 2
    assert all(word in output.err for word in words), output.err
