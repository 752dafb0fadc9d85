"""``dumbbell validate``: its table, its exit codes, its page."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

import passing_kernel
from command_line import Command, assert_refused, sentence
from dumbbell.base.errors import TestbedError
from dumbbell.engines import engines
from dumbbell.engines.choices import EngineName
from dumbbell.engines.engine import Engine
from passing_kernel import Kernel

SCENARIO = """
duration = "2s"
seed = 1
network = { rate = "4mbit", rtt = "20ms", queue = "1bdp" }
flow = [{ algorithm = "cubic" }]
"""

VALIDATE = ("validate", "my.toml", "--runs", "2", "--retries", "0")


class LongerPath(Kernel):
    """A kernel on whose path packets take 9 ms more."""

    def changed(self, data: dict[str, Any]) -> None:
        for flow in data["flows"]:
            flow["forward"]["delay_ns"] += 9_000_000


@pytest.fixture(autouse=True)
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my.toml").write_text(SCENARIO)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def test_agreement_is_exit_code_0_with_a_table_of_80_columns(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing_kernel.installed(Kernel(), monkeypatch)
    output = dumbbell(*VALIDATE)
    assert output.code == 0, output.err
    assert max(map(len, output.out.splitlines())) <= 80
    assert output.out.count("✓ agrees") == 4
    assert sentence(output.out, "The simulator") == snapshot(
        "The simulator agrees with the kernel here:"
    )
    assert "Page: validation.html" in output.err
    assert "<svg" in Path("validation.html").read_text()


@pytest.mark.usefixtures("undrawn")
def test_a_difference_is_exit_code_1_and_stands_in_json_and_csv(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing_kernel.installed(LongerPath(), monkeypatch)
    output = dumbbell(*VALIDATE, "--json")
    assert output.code == 1
    assert output.json["verdict"] == "differs"
    assert output.json["kernel"]["runs"] == 2
    rtt = output.json["measures"]["rtt"]
    assert rtt["kernel"]["value"] > rtt["simulator"]["value"] + rtt["high"]
    table = dumbbell(*VALIDATE, "--csv")
    assert table.code == 1
    (row,) = (row for row in csv.DictReader(io.StringIO(table.out)) if row["measure"] == "rtt")
    assert float(row["difference"]) == rtt["difference"]["value"]
    assert row["verdict"] == "differs"


@pytest.mark.usefixtures("undrawn")
def test_a_change_is_part_of_the_scenario(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing_kernel.installed(Kernel(), monkeypatch)
    output = dumbbell(*VALIDATE, "--set", "network.rtt=40ms", "--duration", "1s")
    assert output.out.startswith(
        "my.toml with network.rtt = 40ms, duration = 1s: 4 Mbit/s, RTT 40 ms"
    )


@pytest.mark.usefixtures("undrawn")
def test_runs_that_were_held_up_are_named_with_the_way_out(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing_kernel.installed(Kernel(invalid=[1]), monkeypatch)
    output = dumbbell(*VALIDATE)
    assert output.code == 1
    assert [sentence(output.out, word) for word in ("run 1 of 2", "doctor")] == snapshot(
        [
            "run 1 of 2, as the emulator was late;",
            "`dumbbell doctor` shows what delays this machine.",
        ]
    )


def test_without_a_testbed_one_line_says_so(
    dumbbell: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def runnable(choice: Engine | str) -> Engine:
        assert choice == EngineName.TESTBED
        raise TestbedError("the testbed is not ready; `dumbbell doctor` shows more")

    monkeypatch.setattr(engines, "runnable", runnable)
    output = dumbbell(*VALIDATE)
    assert output.code == 2
    assert output.err == snapshot(
        "error: the testbed is not ready; `dumbbell doctor` shows more; no run was judged\n"
    )
    assert not Path("results").exists()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("my.toml", "--runs", "1"), "--runs"),
        (("my.toml", "--page", "page.pdf"), "--page: page.pdf"),
        (("my.toml", "--set", "network.rtt=soon"), "--set: network.rtt"),
        (("my.toml", "--set", "network.rtx=1ms"), "--set: network.rtx"),
        (("my.toml", "--set", "seed=5", "--seed", "7"), "--set: seed: 7: is set twice"),
        (("my.toml", "--duration", "long"), "--duration"),
        (("your.toml",), "your.toml"),
        (("my.toml", "--json", "--csv"), "--csv"),
    ],
)
def test_bad_input_is_exit_code_2(dumbbell: Command, words: tuple[str, ...], problem: str) -> None:
    output = dumbbell("validate", *words)
    assert_refused(output)
    assert problem in output.err.replace(" = ", ": ").replace('"', "")
