"""Subjects of quantities: references, flows by number, label and group, and queues."""

from __future__ import annotations

import string
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from dumbbell.api import simulate
from dumbbell.base.errors import InputError
from dumbbell.engines.result import Run
from dumbbell.plan.windows import Window
from dumbbell.quantities import taking
from dumbbell.quantities.reference import Reference, parse
from dumbbell.quantities.registry import quantities
from dumbbell.quantities.subjects import Absent
from dumbbell.scenario.model import Scenario
from synthetic_runs import HALF_SAMPLED, MBIT_PER_SEG, Taken, constant, measured, planned, played

SUBJECTS = st.text(
    st.characters(exclude_characters="[]", exclude_categories=["Cs"]), min_size=1, max_size=40
)
WINDOWS = st.from_regex(r"[a-z][a-z0-9_-]{0,20}", fullmatch=True)
ARGUMENTS = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=20)


@given(
    st.builds(
        Reference,
        st.sampled_from(sorted(quantities())),
        st.none() | SUBJECTS,
        st.none() | WINDOWS,
        st.none() | ARGUMENTS,
    )
)
def test_references_are_read_as_they_are_written(reference: Reference) -> None:
    assert Reference.parse(str(reference)) == reference == parse(str(reference))


@given(st.text(max_size=60))
def test_whatever_is_read_is_written_the_same(text: str) -> None:
    with suppress(InputError):
        assert str(Reference.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jain", Reference("jain")),
        ("share[1]", Reference("share", "1")),
        ("share@late", Reference("share", None, "late")),
        ("share[web page 7]@during", Reference("share", "web page 7", "during")),
        ("state:alpha[1]@run", Reference("state", "1", "run", "alpha")),
        ("share[a@b]", Reference("share", "a@b")),
    ],
)
def test_references(text: str, expected: Reference) -> None:
    assert Reference.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " jain", "Jain", "jain ", "jain@", "jain[]", "jain[1", "jain1]", "jain[1][2]"),
        *("jain@late@run", "jain@Late", "jain@late[1]", "state:", "state:al pha", "7", "@late"),
        *("jain[[1]]", "j" * 201, "jain\n", "jain[1]@during\n", "jain[1]:alpha"),
    ],
)
def test_other_references_are_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        Reference.parse(text)
    assert refused.value.problem == snapshot("not the name of a quantity")


def test_the_same_quantity_of_another_subject() -> None:
    assert str(parse("jain[a]@late").of("b")) == "jain[b]@late"
    assert str(parse("jain[a]@late").of(None)) == "jain@late"


FLOWS = (
    {"label": "web 1", "group": "stream"},
    {"label": "web 2"},
    {"label": "bulk", "group": "stream"},
    {"label": "lone"},
)
RATES = (100.0, 200.0, 300.0, 50.0)


@pytest.mark.parametrize(
    ("subject", "members"),
    [
        ("1", [0]),
        ("4", [3]),
        ("stream", [0, 2]),
        ("web", [0, 1]),
        ("web 2", [1]),
        ("bulk", [2]),
        ("lone", [3]),
    ],
)
def test_flows_are_named_by_number_group_label_or_what_labels_share(
    subject: str, members: list[int]
) -> None:
    values = measured(planned(flows=FLOWS), *map(constant, RATES))
    rates = [RATES[number] for number in members]
    assert values[f"goodput_mbit_per_s[{subject}]"] == pytest.approx(sum(rates) * MBIT_PER_SEG)
    assert values[f"goodput_fastest_mbit_per_s[{subject}]"] == pytest.approx(
        max(rates) * MBIT_PER_SEG
    )
    assert values[f"goodput_slowest_mbit_per_s[{subject}]"] == pytest.approx(
        min(rates) * MBIT_PER_SEG
    )
    assert values[f"goodput_mean_mbit_per_s[{subject}]"] == pytest.approx(
        sum(rates) / len(rates) * MBIT_PER_SEG
    )
    assert values[f"share[{subject}]"] == pytest.approx(sum(rates) / sum(RATES))
    squares = sum(rate**2 for rate in rates)
    assert values[f"jain[{subject}]"] == pytest.approx(sum(rates) ** 2 / (len(rates) * squares))


@pytest.mark.parametrize("subject", ["0", "5", "wbe", "lone 1", "Stream"])
def test_a_name_that_no_flow_has_is_refused(subject: str) -> None:
    values = measured(planned(flows=FLOWS), *map(constant, RATES))
    with pytest.raises(Absent) as refused:
        values[f"goodput_mbit_per_s[{subject}]"]
    assert refused.value.problem == snapshot("unknown flow or group")


def test_labels_come_before_what_they_share() -> None:
    flows = [{"label": "a 1"}, {"label": "b"}, {"label": "a"}]
    values = measured(planned(flows=flows), *map(constant, RATES[:3]))
    assert values["goodput_mbit_per_s[a]"] == pytest.approx(300 * MBIT_PER_SEG)


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    values = measured(planned(flows=HALF_SAMPLED), constant(100), constant(200))
    assert values["goodput_mbit_per_s[all]"] is None
    assert values["jain[all]"] is None
    assert values["share[b]"] is None
    assert values["share[b]@run"] == pytest.approx(2 / 3)
    assert values["goodput_mbit_per_s[all]@run"] == pytest.approx(300 * MBIT_PER_SEG)


def test_means_are_of_the_flows_that_have_samples() -> None:
    run = played(planned(flows=HALF_SAMPLED), [constant(1), constant(1)])
    first = pl.col("flow") == 0
    tables = {"flows": run.scan("flows", named=False).filter(first)}
    tables |= {name: run.scan(name, named=False) for name in ("queues", "events")}
    values = Taken(Run(run.key, run.scenario, run.summary, tables), planned(flows=HALF_SAMPLED))
    assert values["cwnd_mean_segs[all]"] == 10
    assert values["rtt_mean_ms[all]"] == 100


@pytest.fixture(scope="module")
def exporting() -> Run:
    """Return a run of HighSpeed and of DCTCP next to Reno, with their state."""
    table = {
        "duration": "20s",
        "network": {"rate": "20mbit", "rtt": "20ms", "queue": "1bdp"},
        "flow": [
            {"algorithm": "highspeed", "label": "one", "group": "fast"},
            {"algorithm": "highspeed", "label": "two", "group": "fast"},
            {"algorithm": "reno", "label": "plain"},
            {"transport": "udp", "rate": "1mbit", "label": "udp"},
        ],
        "record": {"interval": "100ms", "algorithm_state": True},
    }
    return simulate(Scenario.parse(table))


def test_what_algorithms_export_is_a_quantity(exporting: Run) -> None:
    windows = {"early": Window.model_validate({"from": "0s", "to": "5s"})}
    texts = [f"state:alpha{where}" for where in ("[one]", "[two]", "[fast]", "", "[one]@early")]
    values = taking.of_run(exporting, texts, windows)
    samples = exporting.tables["internals"].filter(pl.col("flow") == 0, pl.col("time_ns") >= 10**8)
    # It exports `alpha_milli`, in thousandths.
    alphas = samples["info0"].cast(pl.Float64).to_numpy() / 1000
    assert values["state:alpha[one]"] == pytest.approx(alphas.mean())
    one, two = values["state:alpha[one]"], values["state:alpha[two]"]
    assert one is not None
    assert two is not None
    assert values["state:alpha[fast]"] == values["state:alpha"] == pytest.approx((one + two) / 2)
    early = samples["time_ns"].to_numpy() <= 5 * 10**9
    assert values["state:alpha[one]@early"] == pytest.approx(alphas[early].mean())
    assert taking.of_run(exporting, ["state:alpha[plain]", "state:alpha[udp]"]) == {
        "state:alpha[plain]": None,
        "state:alpha[udp]": None,
    }


def test_state_that_is_not_recorded_is_unknown() -> None:
    table = {"duration": "2s", "network": {"rate": "20mbit", "rtt": "20ms", "queue": "1bdp"}}
    run = simulate(Scenario.parse({**table, "flow": [{"algorithm": "highspeed"}]}))
    assert taking.of_run(run, ["state:alpha"]) == {"state:alpha": None}


def test_queues_are_named_by_their_links(exporting: Run) -> None:
    texts = ["utilisation", "utilisation[forward]", "utilisation[reverse]", "utilisation@run"]
    values = taking.of_run(exporting, texts)
    assert values["utilisation"] == values["utilisation[forward]"]
    back = values["utilisation[reverse]"]
    assert back is not None
    assert 0 < back < 0.1
    whole = 8 * exporting.summary.queues[0].departed_bytes / 20 / 20e6
    assert values["utilisation@run"] == pytest.approx(whole)
