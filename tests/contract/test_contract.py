"""The types of what engines read and return: as Rust has them, and cheap to read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import dumbbell.contract
from dumbbell.api import simulate
from dumbbell.contract.scenario import Demand, Limit, Requests, Scenario, Step
from dumbbell.contract.summary import Summary
from dumbbell.scenario import model
from dumbbell.scenario.resolve import ResolvedScenario
from sample_runs import plain, resolved, table
from scenario_refusals import assert_refused

PACKAGE = Path(dumbbell.contract.__file__).parent


def test_a_resolved_scenario_is_read_by_attributes() -> None:
    run = resolved({"network.queue": {"discipline": "step", "limit": "9p", "threshold": "3p"}})
    flow, link = run.scenario.flows[0], run.scenario.links[0]
    assert flow.transport.tcp is not None
    assert flow.transport.udp is None
    assert link.queue.discipline == Step(threshold=Limit(packets=3))
    assert msgspec.json.decode(run.json, type=Scenario) == run.scenario


def test_what_is_not_in_the_contract_is_refused() -> None:
    data = plain(resolved())
    for changed in ({**data, "more": 1}, {**data, "seed": "1"}, {**data, "links": [{}]}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(changed, Scenario)


def test_threads_never_meet_a_type_that_is_not_worked_out() -> None:
    """Msgspec crashes if two of them do so at once; see `contract.reading`."""
    offhand = re.compile(r"json\.decode\(|msgspec\.convert\(")
    files = [file for file in PACKAGE.parent.rglob("*.py") if offhand.search(file.read_text())]
    assert not files


def test_parts_cannot_change() -> None:
    with pytest.raises(AttributeError):
        resolved().scenario.seed = 2  # type: ignore[misc]


def test_every_form_of_a_demand_is_read() -> None:
    def read(text: str) -> Any:
        return msgspec.json.decode(text, type=Demand | str)

    assert read('"endless"') == "endless"
    assert read('{"transfer":3}') == Demand(transfer=3)
    demand = read('{"requests":{"bytes":1,"pause_ns":2}}')
    assert demand == Demand(requests=Requests(bytes=1, pause_ns=2))


def test_a_summary_is_read_by_attributes() -> None:
    run = simulate(resolved({"duration": "1s"}))
    assert isinstance(run.summary, Summary)
    assert run.summary.testbed is None
    assert run.summary.flows[0].received_bytes > 0
    assert run.scenario == resolved({"duration": "1s"}).scenario


def grouped(*groups: str | None, **entry: Any) -> ResolvedScenario:
    flows = [{"algorithm": "reno", "group": group, **entry} for group in groups]
    entries = [{key: value for key, value in flow.items() if value is not None} for flow in flows]
    return model.Scenario.parse(table({"flow": entries}), "a.toml").resolve()


def test_a_flow_names_its_group() -> None:
    run = grouped("stream", None, "stream", count=2)
    groups = [flow.group for flow in run.scenario.flows]
    assert groups == ["stream", "stream", None, None, "stream", "stream"]
    assert "group" not in grouped(None).json
    simulate(run)


def test_connections_and_arrivals_are_of_the_group_too() -> None:
    arrivals = [{"algorithm": "reno", "rate": 20, "size": "1kb", "group": "web"}]
    flows = [{"algorithm": "reno", "parallel": 2, "label": "bulk", "group": "bulk"}]
    run = model.Scenario.parse(table({"flow": flows, "arrivals": arrivals}), "a.toml").resolve()
    groups = [flow.group for flow in run.scenario.flows]
    assert groups[:2] == ["bulk", "bulk"]
    assert set(groups[2:]) == {"web"}


@pytest.mark.parametrize("name", ["", "1st", "a b", "ä", "-a"])
def test_a_group_is_named_plainly(name: str) -> None:
    assert_refused(table({"flow.1.group": name}), "flow.1.group", "not a name of letters")


def test_the_label_of_another_flow_is_no_name_of_a_group() -> None:
    flows = [{"algorithm": "reno", "group": "b"}, {"algorithm": "reno", "label": "b"}]
    assert_refused(table({"flow": flows}), "flow.1.group", "outside this group")
    flows[1]["group"] = "b"
    model.Scenario.parse(table({"flow": flows}), "a.toml")
