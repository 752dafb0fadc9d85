"""The breakdown of instructions counts each once, for the function that it belongs to."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BREAKDOWN = runpy.run_path(str(ROOT / "benches/breakdown.py"))
PROFILE = """
ob=(1) /bin/program
fn=(1) main
0x1000 3
+4 3
cob=(2) /lib/libc.so
calls=3 0x50
* 900
+4 2
ob=(2)
0x50 900
ob=(1)
0x1008 1
""".splitlines()


def frame(function: str, file: str) -> dict[str, str]:
    return {"FunctionName": function, "FileName": file}


def test_calls_are_counted_where_they_lead_to() -> None:
    counts, elsewhere = BREAKDOWN["executions"](PROFILE, Path("/bin/program"))
    assert counts == {0x1000: 3, 0x1004: 3, 0x1008: 3}
    assert elsewhere == 900


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("get<network::Fifo<u64>>", "get"),
        ("push<fn(Packet) -> u32>", "push"),
        ("simulator::engine::Engine::run::he7fa4c635f6fcb6e", "run"),
    ],
)
def test_names_lose_paths_types_and_hashes(name: str, short: str) -> None:
    assert BREAKDOWN["plain"](name) == short


def test_only_functions_of_this_project_own_instructions() -> None:
    owner = BREAKDOWN["owner"]
    assert owner(frame("min<u64>", "/rustc/1/library/core/src/cmp.rs")) is None
    assert owner(frame("{closure#0}", "/x/crates/tcp/src/rtt.rs")) is None
    c = owner(frame("cc_max", "/x/crates/algorithm/../../algorithms/cc.h"))
    assert (c.name, c.file) == ("cc_max", "algorithms/cc.h")


def test_parts_see_through_containers() -> None:
    function = BREAKDOWN["Function"]
    chain = (
        function("push", "crates/network/src/fifo.rs"),
        function("join", "crates/network/src/occupancy.rs"),
    )
    place: Any = BREAKDOWN["Place"](1.0, chain, "run")
    assert BREAKDOWN["part"](place) == "links"
