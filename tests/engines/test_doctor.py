"""``dumbbell doctor``: what this machine can do, wherever it runs."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from command_line import line
from dumbbell import _core
from dumbbell.cli import commands
from dumbbell.engines import machine
from dumbbell.engines.machine import Machine

PROCESSORS = os.sched_getaffinity(0) if sys.platform == "linux" else set()

WITHOUT = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]

ABSENT = {
    "name": "this build",
    "state": "without the testbed",
    "ok": False,
    "required": True,
    "needed_for": "everything",
    "remedy": "install libelf-dev",
}


def doctor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["dumbbell", "doctor", *arguments])
    with pytest.raises(SystemExit) as stopped:
        commands.main()
    return int(stopped.value.code or 0), capsys.readouterr().out


def test_every_fact_is_told_and_what_is_lacking_has_a_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = doctor(monkeypatch, capsys, "--json")
    host = Machine.model_validate_json(out)
    assert code == (0 if host.ready else 1)
    assert host.ready == (not host.lacking)
    assert all(fact.remedy for fact in host.facts if not fact.ok)
    code, text = doctor(monkeypatch, capsys)
    # A narrow table breaks names between words.
    words = set(text.split())
    assert all(words.issuperset(fact.name.split()) for fact in host.facts)
    assert f"The simulator works fully; {machine.verdict(host)}." in text


@pytest.mark.skipif(not _core.TESTBED, reason="this build has no testbed")
def test_the_facts_are_those_that_the_testbed_needs() -> None:
    names = {fact.name for fact in machine.look().facts}
    assert names >= {"system", "privileges", "clang", "TUN devices", "network namespaces"}
    assert machine.look().kernel == os.uname().release


def test_a_build_without_the_testbed_still_tells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = json.dumps({"kernel": None, "ready": False, "facts": [ABSENT]})
    monkeypatch.setattr(_core, "testbed_facts", lambda: facts)
    code, out = doctor(monkeypatch, capsys)
    assert code == 1
    assert machine.system() in out
    assert line(out, "because") == snapshot(
        "The simulator works fully; the testbed is not ready, because of this build (without the testbed): install libelf-dev."
    )


def test_another_system_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = json.dumps({"kernel": None, "ready": False, "facts": [ABSENT]})
    monkeypatch.setattr(_core, "testbed_facts", lambda: facts)
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    assert "because of system (Darwin" in machine.verdict(machine.look())
    assert machine.verdict(machine.look()).endswith(": a Linux machine")


@pytest.mark.skipif(
    not _core.TESTBED or os.geteuid() != 0 or shutil.which("setpriv") is None,
    reason="needs the testbed, and root with setpriv to give its privileges up",
)
@pytest.mark.skipif(sys.platform != "linux", reason="measured on Linux")
def test_the_delay_of_the_machine_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    host = machine.with_lateness(Machine(kernel="6.12", ready=True, facts=()), seconds=0.05)
    (fact,) = host.facts
    assert re.fullmatch(r"1 % over [\d.]+ ms, at most [\d.]+ ms \(0.05 s of sleeping\)", fact.state)
    assert host.ready
    assert os.sched_getaffinity(0) == PROCESSORS
    monkeypatch.setattr(time, "sleep", lambda _: threading.Event().wait(0.02))
    (late,) = machine.with_lateness(host.model_copy(update={"facts": ()}), 0.05).facts
    assert (late.ok, late.required) == (False, False)
    assert float(late.state.partition("at most ")[2].split()[0]) > 15
    assert late.remedy


def test_without_privileges_the_way_out_is_named(tmp_path: Path) -> None:
    """Root without capabilities may still read this Python, wherever it lies."""
    done = subprocess.run(
        [*WITHOUT, sys.executable, "-m", "dumbbell.cli", "doctor", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    host = Machine.model_validate_json(done.stdout)
    lacking = {fact.name: fact for fact in host.lacking}
    assert {"privileges", "network namespaces"} <= lacking.keys()
    assert "CAP_SYS_ADMIN" in lacking["privileges"].state
    assert "root" in machine.verdict(host)


def test_its_table_is_as_wide_as_a_terminal_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    _, printed = doctor(monkeypatch, capsys)
    table, _, _ = printed.partition("The simulator works")
    assert max(map(len, table.splitlines()[:8])) <= 80
    assert "…" not in table
