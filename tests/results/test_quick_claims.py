"""Claims judged by a study's quick runs, and then by all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Command

STUDY = """
[study]
name = "short"
title = "Does a flow fill its path?"
authors = ["Us"]
year = 2026

[[test]]
name = "alone"
title = "One flow"
runs = 2
axes = {{ rtt = ["20ms", "40ms"] }}

[test.scenario]
duration = "6s"
network = {{ rate = "4mbit", rtt = "{{rtt}}", queue = "2bdp" }}
flow = [{{ algorithm = "reno" }}]

[test.quick]
{quick}

[[claim]]
id = "A01"
source = "Fig. 1"
text = "Hardly anything passes."
expectation = "a hundredth of the link"

[[claim.check]]
type = "band"
test = "alone"
quantity = "utilisation"
high = 0.01
quantifier = "{quantifier}"
"""


@pytest.mark.parametrize(
    "part",
    [
        ('set = { duration = "3s" }', "all", "only runs of full length could contradict it"),
        (
            'where = { rtt = "20ms" }',
            "any",
            "only 1 grid point that the quick part leaves out could contradict it",
        ),
        # One counterexample refutes what every grid point shall show.
        ('where = { rtt = "20ms" }', "all", ""),
    ],
)
def test_quick_runs_contradict_only_what_they_can(
    dumbbell: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    part: tuple[str, str, str],
) -> None:
    quick, quantifier, why = part
    monkeypatch.chdir(tmp_path)
    Path("short.toml").write_text(STUDY.format(quick=quick, quantifier=quantifier))
    assert dumbbell("run", "short.toml", "--quick").code == 0
    claim = dumbbell("claims", "short.toml", "--json").json["claims"][0]
    assert claim["verdict"] == ("undecided" if why else "contradicted")
    assert why in claim["checks"][0]["detail"]
    assert claim["quick"] is True
    assert dumbbell("run", "short.toml").code == 0
    claim = dumbbell("claims", "short.toml", "--json").json["claims"][0]
    assert claim["verdict"] == "contradicted"
    assert claim["quick"] is False
