"""Scenario files: what they mean in base units, and what is wrong with the wrong ones."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from dumbbell.algorithms import catalogue
from dumbbell.base import validation
from dumbbell.base.errors import InputError
from dumbbell.contract.scenario import Demand
from dumbbell.contract.scenario import Scenario as Contract
from dumbbell.scenario import facts
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import ResolvedScenario
from dumbbell.study.model import Study
from sample_runs import plain, plain_links, resolved, scenario, table, tcp
from scenario_checks import assert_accepted

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = sorted([*DOCS.glob("examples/*.toml"), *ROOT.glob("examples/*.toml")])


def link_of(changes: dict[str, Any], name: str = "forward") -> dict[str, Any]:
    return plain_links(resolved(changes))[name]


PLAIN_LINK = {
    "rate": {"constant": 100_000_000},
    "delay": [[0, 0]],
    "overhead_bytes": 0,
    "policer": None,
    "loss": [],
    "duplicate": 0.0,
    "reorder": None,
    "jitter_ns": 0,
    "exit_jitter_ns": 0,
    "batch_ns": 0,
    "interface": False,
    "sampled": True,
}


def fifo(packets: int) -> dict[str, Any]:
    return {"limit": {"packets": packets}, "discipline": {"kind": "fifo"}}


def test_defaults() -> None:
    assert plain(resolved()) == {
        "seed": 1,
        "duration_ns": 60_000_000_000,
        "links": [
            {**PLAIN_LINK, "name": "forward", "queue": fifo(136)},
            {**PLAIN_LINK, "name": "reverse", "queue": fifo(1000)},
        ],
        "flows": [
            {
                "label": "reno 1",
                "start_ns": 0,
                "stop_ns": None,
                "packet_bytes": 1500,
                "header_bytes": 52,
                "sampled": True,
                "forward": {"hops": [{"link": 0, "delay_ns": 41_000_000}], "delay_ns": 0},
                "reverse": {"hops": [{"link": 1, "delay_ns": 0}], "delay_ns": 41_000_000},
                "transport": {
                    "tcp": {
                        "algorithm": "reno",
                        "preset": None,
                        "parameters": {},
                        "stack": {"profile": "linux-6", "switches": {}},
                        "demand": "endless",
                        "tcp_bpf": None,
                    }
                },
            }
        ],
        "record": {
            "interval_ns": 100_000_000,
            "events": ["congestion", "drop", "loss", "retransmit", "timeout"],
            "algorithm_state": False,
            "capture": False,
        },
    }


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        # Li, Leith and Shorten 2007, Fig. 7: 100 Mbit/s and 82 ms are 683 packets.
        ({"network.queue": "1bdp"}, {"packets": 683}),
        ({"network.queue": "20%bdp"}, {"packets": 136}),
        ({"network.queue": "1bdp", "network.overhead": "ethernet"}, {"packets": 666}),
        ({"network.queue": "1bdp", "flow.1.packet": 9000}, {"packets": 113}),
        ({"network.queue": "0.0001bdp"}, {"packets": 1}),
        ({"network.queue": "175p"}, {"packets": 175}),
        ({"network.queue": "10ms"}, {"packets": 83}),
        ({"network.queue": "120us"}, {"packets": 1}),
        ({"network.queue": "256kb"}, {"bytes": 256_000}),
        ({"network.queue": "1500b"}, {"bytes": 1500}),
    ],
)
def test_queue_limits(changes: dict[str, Any], limit: dict[str, int]) -> None:
    assert link_of(changes)["queue"] == {"limit": limit, "discipline": {"kind": "fifo"}}


def test_the_reverse_queue_refers_to_its_own_rate() -> None:
    reverse = link_of({"network.reverse": {"rate": "10mbit", "queue": "1bdp"}}, "reverse")
    assert reverse["rate"] == {"constant": 10_000_000}
    assert reverse["queue"] == fifo(68)


def test_flows_are_expanded_and_named() -> None:
    data = resolved(
        {
            "flow": [
                {"algorithm": "htcp@li2007", "count": 2, "parameters": {}},
                {"algorithm": "htcp", "rtt": "162ms"},
                {"algorithm": "reno", "count": 2, "label": "old", "bytes": "10mb"},
            ]
        }
    ).scenario
    flows = data.flows
    assert [flow.label for flow in flows] == ["htcp 1", "htcp 2", "htcp 3", "old 1", "old 2"]
    tcps = [tcp(flow) for flow in flows]
    assert [flow.preset for flow in tcps] == ["li2007", "li2007", None, None, None]
    rtts = [facts.base_rtt_ns(data, flow) // 10**6 for flow in flows]
    assert rtts == [82, 82, 162, 82, 82]
    assert tcps[3].demand == Demand(transfer=10_000_000)


def test_a_stop_at_the_end_is_no_stop() -> None:
    flows = [{"algorithm": "reno", "stop": "30s"}, {"algorithm": "reno", "stop": "60s"}]
    resolved_flows = resolved({"flow": flows}).scenario.flows
    assert [flow.stop_ns for flow in resolved_flows] == [30 * 10**9, None]


def test_loss_of_zero_is_no_loss() -> None:
    lossless = {"network.loss": [{"place": "receiver", "probability": 0}]}
    assert resolved(lossless).key == resolved().key


def test_random_starts_come_from_the_seed() -> None:
    def starts(seed: int) -> list[int]:
        flow = {"algorithm": "reno", "count": 20, "start": {"from": "30s", "to": "50s"}}
        data = resolved({"seed": seed, "flow": [flow]}).scenario
        return [flow.start_ns for flow in data.flows]

    assert starts(1) == starts(1)
    assert len({*starts(1), *starts(2)}) == 40
    assert all(30 * 10**9 <= start <= 50 * 10**9 for start in starts(1))
    assert max(starts(1)) - min(starts(1)) > 5 * 10**9
    # The draw must never change: results are stored under scenarios that contain it.
    assert starts(1)[0] == 43_763_495_813


def test_the_key_covers_what_determines_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [resolved().key, resolved({"seed": 2}).key]
    monkeypatch.setattr(catalogue, "ENGINE_VERSION", "another")
    keys.append(resolved().key)
    behaviour = {**catalogue.BEHAVIOUR, "algorithms": {"reno": 99}}
    monkeypatch.setattr(catalogue, "BEHAVIOUR", behaviour)
    keys.append(resolved().key)
    assert len(set(keys)) == 4


def test_the_key_does_not_cover_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolved({"title": "Something else"}) == resolved()
    known = {resolved(): "same"}
    assert known[resolved({"network.queue": "136p"})] == "same"
    algorithms = dict(catalogue.algorithms())
    algorithms["reno"] = algorithms["reno"].model_copy(update={"source_hash": "a comment more"})
    monkeypatch.setattr(catalogue, "algorithms", lambda: algorithms)
    assert known[resolved()] == "same"


def test_resolved_json_is_canonical() -> None:
    run = resolved()
    assert msgspec.json.decode(run.json, type=Contract) == run.scenario
    assert ResolvedScenario.of(json.loads(run.json)) == run
    assert run.json.startswith('{"duration_ns":60000000000,"flows":[{"forward":{"delay_ns":0')


rates = st.integers(1_000, 10**11).map(lambda rate: f"{rate}bit")
times = st.integers(1_000, 10**10).map(lambda time: f"{time}ns")
flows = st.fixed_dictionaries(
    {"algorithm": st.sampled_from(["reno", "htcp", "cubic@li2007"])},
    optional={
        "count": st.integers(1, 3),
        "rtt": times,
        "start": st.sampled_from(["0s", "3s", {"from": "1s", "to": "9s"}]),
        "stop": st.sampled_from(["10s", "1h"]),
        "packet": st.integers(53, 65535),
    },
)


@given(
    st.fixed_dictionaries(
        {
            "duration": st.sampled_from(["10s", "600s"]),
            "network": st.fixed_dictionaries(
                {
                    "rate": rates,
                    "rtt": times,
                    "queue": st.sampled_from(["0.2bdp", "3p", "1gb", "10s"]),
                },
                optional={"edge_rate": rates, "delay": times},
            ),
            "flow": st.lists(flows, min_size=1, max_size=3),
        }
    )
)
def test_a_scenario_is_refused_or_survives_being_written_out(data: dict[str, Any]) -> None:
    try:
        read = Scenario.parse(data)
    except InputError:
        return
    assert Scenario.parse(read.model_dump()) == read
    assert Scenario.parse(json.loads(read.model_dump_json())).resolve() == read.resolve()


WRONG = [
    ("network.rate", "0mbit", "network.rate", "more than 0", None),
    ("network.rate", "10mbps", "network.rate", "unknown unit", "10mbit"),
    ("network.queue", "0p", "network.queue", "queue of 0", None),
    ("network.queue", "1kb", "network.queue", "smaller than one packet", None),
    ("network.queue", "100us", "network.queue", "smaller than one packet", None),
    ("network.queue", "1e10gb", "network.queue", "too large", None),
    ("network.reverse.queue", "10b", "network.reverse.queue", "smaller than one packet", None),
    ("network.queeu", "1p", "network.queeu", "unknown key", "queue"),
    ("network", 3, "network", "not a table", None),
    ("network.delay", "42ms", "network.rtt", "smaller than the delay of the", None),
    ("network.rtt", "0ms", "network.rtt", "more than 0", None),
    ("network.edge_rate", "0bit", "network.edge_rate", "more than 0", None),
    ("network.overhead", "ethernt", "network.overhead", "not a known value", "ethernet"),
    ("network.loss", [{"probability": 0.1}], "network.loss.1.place", "is missing", None),
    ("duration", "0s", "duration", "more than 0", None),
    ("duration", 60, "duration", "a time is a text with a unit", None),
    ("durations", "60s", "durations", "unknown key", "duration"),
    ("seed", -1, "seed", "not a seed", None),
    ("seed", 2**64, "seed", "not a seed", None),
    ("seed", "x", "seed", "not a whole number", None),
    ("stack", "linux6", "stack.profile", "unknown stack profile", "linux-6"),
    ("stack", {"switches": {"growht": 1}}, "stack.switches.growht", "unknown switch", "growth"),
    ("stack", {"switches": {"growth": 1}}, "stack.switches.growth", "invalid type", None),
    ("stack", {"switches": {"growth": "ack"}}, "stack.switches.growth", "unknown value", None),
    ("stack", {"switches": {"quick_acks": -1}}, "stack.switches.quick_acks", "invalid value", None),
    ("stack", {"switches": {"growth": "none"}}, "stack.switches.growth", "invalid type", None),
    ("stack", {"switches": {"ecn": "l4s"}}, "stack.switches.ecn", "answers a mark as a loss", None),
    ("flow.1.switches", {"ecn": "l4s"}, "flow.1.switches.ecn", "answers a mark as a loss", None),
    ("flow.1.switches", {"accecn": True}, "flow.1.switches.accecn", "no marks to count", None),
    ("stack", {"switches": {"accecn": True}}, "stack.switches.accecn", "no marks to count", None),
    (
        "flow.1.switches",
        {"ecn": "classic", "accecn_option": "never"},
        "flow.1.switches.accecn_option",
        "accecn = true alone uses it",
        None,
    ),
    ("flow.1.switches", {"ecn_peer": "off"}, "flow.1.switches.ecn_peer", "nothing to agree", None),
    (
        "stack",
        {"switches": {"slow_start": "serach"}},
        "stack.switches.slow_start",
        "unknown value",
        None,
    ),
    (
        "stack",
        {"switches": {"slow_start": "careful-resume", "resume_rtt_ns": 40_000_000}},
        "stack.switches.resume_window_segs",
        "needs resume_window_segs",
        None,
    ),
    (
        "flow.1.switches",
        {"resume_window_segs": 400},
        "flow.1.switches.resume_window_segs",
        "alone uses resume_window_segs",
        None,
    ),
    ("stack", {"profil": "rfc"}, "stack.profil", "unknown key", "profile"),
    ("flow", [], "flow", "no flows", None),
    ("flow", {}, "flow", "not an array", None),
    ("flow.1", "reno", "flow.1", "not a table", None),
    ("flow.1.algorithm", "hctp", "flow.1.algorithm", "unknown algorithm", "htcp"),
    ("flow.1.algorithm", "htcp@li207", "flow.1.algorithm", "unknown preset", "htcp@li2007"),
    ("flow.1.algorithm", 7, "flow.1.algorithm", "not a text", None),
    ("flow.1.parameters", {"x": 1}, "flow.1.parameters.x", "unknown parameter", None),
    ("flow.1.parameters", {"x": 1.5}, "flow.1.parameters.x", "unknown parameter of reno", None),
    ("flow.1.count", 0, "flow.1.count", "impossible number", None),
    ("flow.1.count", 10_001, "flow.1.count", "impossible number", None),
    ("flow.1.start", "60s", "flow.1.start", "not before the end", None),
    ("flow.1.start", {"from": "9s", "to": "8s"}, "flow.1.start.to", "earlier than", None),
    ("flow.1.start", {"from": "9s"}, "flow.1.start.to", "is missing", None),
    ("flow.1.start", {"frm": "9s", "to": "9s"}, "flow.1.start.from", "is missing", None),
    ("flow.1.stop", "0s", "flow.1.stop", "not after the start", None),
    ("flow.1.bytes", 0, "flow.1.bytes", "more than 0", None),
    ("flow.1.packet", 52, "flow.1.packet", "52 bytes of headers", None),
    ("flow.1.packet", "1mb", "flow.1.packet", "at most 65535", None),
    ("flow.1.label", "", "flow.1.label", "empty", None),
    ("record.interval", "1us", "record.interval", "more than 20000000 samples", None),
    ("record.interval", "0s", "record.interval", "more than 0", None),
    ("record.events", ["drops"], "record.events", "unknown kind of event", "drop"),
    ("record.algorithm_state", "maybe", "record.algorithm_state", "neither true nor", None),
]


@pytest.mark.parametrize("key", ["stack.switches.slow_start", "flow.1.switches.slow_start"])
def test_an_algorithm_with_a_start_of_its_own_has_no_other(key: str) -> None:
    with pytest.raises(InputError) as caught:
        scenario({"flow.1.algorithm": "bbr", key: "search"})
    assert caught.value.problem == snapshot("bbr sets its window itself and has its own start")
    assert caught.value.key == key
    scenario({"flow.1.algorithm": "bbr", key: "own"})


@pytest.mark.parametrize(("path", "value", "key", "problem", "near"), WRONG)
def test_what_is_wrong_is_said(
    path: str, value: Any, key: str, problem: str, near: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        scenario({path: value})
    error = caught.value
    assert (error.source, error.key) == ("a.toml", key)
    assert problem in error.problem
    assert error.near == near
    assert error.exit_code == 2
    assert str(error).startswith(f"a.toml: {key}")


def test_an_error_is_one_complete_line() -> None:
    with pytest.raises(InputError) as caught:
        scenario({"network.overhead": "ethernt"})
    assert str(caught.value) == (
        snapshot(
            'a.toml: network.overhead = "ethernt": not a known value '
            '(did you mean "ethernet"?); valid: "none", "ip", "ethernet"'
        )
    )


def test_all_errors_of_a_file_are_said() -> None:
    with pytest.raises(InputError) as caught:
        scenario({"network.rate": "fast", "flow.1.count": 0, "title": 3})
    lines = str(caught.value).splitlines()
    assert [line.split(" = ")[0] for line in lines] == [
        "a.toml: title",
        "a.toml: network.rate",
        "a.toml: flow.1.count",
    ]


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"flow": [{"algorithm": "reno", "rtt": "1ms"}], "network.delay": "1ms"}, "flow.1.rtt", ""),
        (
            {"network": {"rate": "1mbit", "queue": "1bdp"}},
            "flow.1.rtt",
            "is missing",
        ),
        (
            {"network": {"rate": "1mbit", "queue": "1bdp"}, "flow.1.rtt": "1ms"},
            "network.queue",
            "refers to network.rtt",
        ),
        (
            {"network.loss": [{"place": "sender", "probability": 0.1}] * 2},
            "network.loss.2.place",
            "set twice",
        ),
        ({"flow": [{"algorithm": "reno", "label": "a"}] * 2}, "flow.label", "several flows"),
        ({"flow": [{"algorithm": "reno", "count": 9_999}] * 2}, "flow", "too many flows"),
        (
            {"network.loss": [{"place": "sender", "probability": 1}]},
            "network.loss.1.probability",
            "1 or more",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(
    changes: dict[str, Any], key: str | None, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        scenario(changes)
    assert problem in caught.value.problem
    assert key is None or caught.value.key == key


def test_a_parameter_outside_its_limits_is_refused() -> None:
    for algorithm in catalogue.algorithms().values():
        for parameter in algorithm.parameters:
            flow = {"algorithm": algorithm.name, "parameters": {parameter.name: 2**40}}
            with pytest.raises(InputError) as caught:
                scenario({"flow": [flow]})
            assert caught.value.problem.endswith(f"'s parameter {parameter.name}")
            assert caught.value.key == f"flow.1.parameters.{parameter.name}"
            assert caught.value.valid == parameter.limits


def test_a_parameter_between_its_steps_is_refused() -> None:
    flow = {"algorithm": "highspeed", "parameters": {"low_window": 32}}
    with pytest.raises(InputError) as caught:
        scenario({"flow": [flow]})
    assert caught.value.valid == snapshot("31 to 38 in steps of 7 (segments)")


class Circle(pydantic.BaseModel, extra="forbid"):
    kind: Literal["circle"]
    radius: float = pydantic.Field(gt=0, examples=[1.5])


class Square(pydantic.BaseModel, extra="forbid"):
    kind: Literal["square"]
    side: float


class Drawing(pydantic.BaseModel):
    shape: tuple[Annotated[Circle | Square, pydantic.Field(discriminator="kind")], ...] = (
        pydantic.Field(min_length=1)
    )


@pytest.mark.parametrize(
    ("shape", "line"),
    [
        (
            {"kind": "sqare", "side": 1},
            'f: shape.1.kind = "sqare": not a known value (did you mean "square"?); '
            'valid: "circle", "square"',
        ),
        ({"side": 1}, 'f: shape.1.kind: is missing; valid: "circle", "square"'),
        (
            {"kind": "circle", "radus": 1},
            "f: shape.1.radius: is missing; valid: for example 1.5\n"
            'f: shape.1.radus = 1: unknown key (did you mean "radius"?); valid: keys kind, radius',
        ),
        (
            {"kind": "square", "side": "x"},
            'f: shape.1.side = "x": not a number; valid: a number such as 0.5',
        ),
        (
            {"kind": "circle", "radius": 0},
            "f: shape.1.radius = 0: must be more than 0; valid: for example 1.5",
        ),
        (7, "f: shape.1 = 7: not a table; valid: a table of keys"),
    ],
)
def test_errors_in_tables_of_several_kinds_name_the_key_as_it_is_written(
    shape: Any, line: str
) -> None:
    with pytest.raises(InputError) as caught:
        validation.validate(Drawing, {"shape": [shape]}, "f")
    assert str(caught.value) == line


def test_python_gets_pydantic_errors() -> None:
    with pytest.raises(pydantic.ValidationError, match="unknown algorithm"):
        Scenario.model_validate(table({"flow.1.algorithm": "x"}))


def test_a_missing_file_is_named_with_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "two-htcp.toml").touch()
    with pytest.raises(InputError) as caught:
        Scenario.load(tmp_path / "two-hctp.toml")
    assert caught.value.source == str(tmp_path / "two-hctp.toml")
    assert caught.value.near == str(tmp_path / "two-htcp.toml")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"duration = 60s", "not valid TOML: "),
        (b"\xff\xfe", "not UTF-8 text at byte 0"),
        (b"", "is missing"),
    ],
)
def test_a_broken_file_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem) as caught:
        Scenario.load(path)
    assert caught.value.source == str(path)


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        Scenario.load(tmp_path)
    assert refused.value.problem == snapshot("cannot read it: Is a directory")


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    schema = json.loads((DOCS / "scenario.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_valid(path: Path, schema: jsonschema.Draft202012Validator) -> None:
    schema.validate(tomllib.loads(path.read_text()))
    example = Scenario.load(path)
    assert_accepted(example.resolve())
    assert Scenario.parse(example.model_dump()) == example


def test_flows_and_arrivals_may_take_the_algorithm_of_the_scenario(
    schema: jsonschema.Draft202012Validator,
) -> None:
    data = {
        "duration": "2s",
        "network": {"rate": "10mbit", "rtt": "20ms", "queue": "1bdp"},
        "arrivals": [{"load": "30%", "size": "10kb"}],
    }
    named = {**data, "algorithm": "cubic", "flow": [{"count": 2}]}
    schema.validate(named)
    assert [one.algorithm for one in Scenario.parse(named).arrivals] == ["cubic"]
    with pytest.raises(InputError) as refused:
        Scenario.parse(data)
    assert str(refused.value) == snapshot(
        'arrivals.1.algorithm: is missing; valid: for example "cubic", "./my_cc.c"'
    )


def test_the_examples_of_keys_are_valid() -> None:
    schema = json.loads((DOCS / "scenario.schema.json").read_text())
    keys = [
        {"$defs": schema["$defs"], **key}
        for table in (schema, *schema["$defs"].values())
        for key in table.get("properties", {}).values()
    ]
    wrong = [
        example
        for key in keys
        for example in key.get("examples", [])
        if not jsonschema.Draft202012Validator(key).is_valid(example)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "path", sorted(DOCS.glob("examples/studies/*.toml")), ids=lambda path: path.name
)
def test_the_examples_of_studies_are_valid(path: Path) -> None:
    schema = json.loads((DOCS / "study.schema.json").read_text())
    jsonschema.validate(tomllib.loads(path.read_text()), schema)
    study = Study.load(path)
    assert len(study.runs()) > len(study.runs(quick=True)) > 0
