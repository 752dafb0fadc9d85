"""`dumbbell new` and `dumbbell check`: what is found, and what scripts rely on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from command_line import line
from dumbbell import _core
from dumbbell.algorithms import catalogue, head_comments
from dumbbell.cli import commands
from dumbbell.conformance import kernel, starting
from dumbbell.conformance.verdicts import Verdict
from held_up import judge_unless_held_up
from machines import user_machine

HAS_TESTBED = sys.platform == "linux" and os.geteuid() == 0 and _core.TESTBED

Check = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Check:
    """Check my_cc.c with a text of it replaced; the simulator and the kernel only on request."""
    monkeypatch.chdir(tmp_path)

    def run(old: str = "", new: str = "", *, whole: bool = False) -> tuple[int, dict[str, Any]]:
        text = starting.text("my_cc")
        assert old in text
        (tmp_path / "my_cc.c").write_text(text.replace(old, new) if old else text)
        if not whole:
            for part in ("behaviour", "kernel"):
                monkeypatch.setattr(f"dumbbell.conformance.{part}.rows", lambda _: iter(()))
        monkeypatch.setattr(sys, "argv", ["dumbbell", "check", "./my_cc.c", "--json"])
        with pytest.raises(SystemExit) as stopped:
            commands.main()
        data = json.loads(capsys.readouterr().out)
        rows = {(row["part"], row["check"]): row for row in data["checks"]}
        return int(stopped.value.code or 0), {check: row for (_, check), row in rows.items()}

    return run


@pytest.mark.parametrize("template", starting.templates())
def test_the_commands_of_a_template_stay_lines_of_their_own(template: str) -> None:
    comment = head_comments.parse(starting.text("my_cc", template))
    blocks = [block for paragraph in comment.paragraphs for block in paragraph.blocks]
    (commands,) = [block for block in blocks if "dumbbell check" in block.lines[0]]
    assert len(commands.lines) == 3


@pytest.mark.testbed
def test_the_template_passes_all_that_can_be_checked_here(check: Check, tmp_path: Path) -> None:
    (tmp_path / "my_cc.expect").write_text(starting.text("my_cc", suffix=".expect"))
    code, rows = check(whole=True)
    judge_unless_held_up(str(rows))
    verdicts = {name: row["verdict"] for name, row in rows.items()}
    assert code == 0, rows
    assert set(verdicts.values()) <= {"passed", "not checked"}, rows
    assert rows["state"]["message"] == "8 of 104 bytes"
    assert verdicts["fills a link"] == verdicts["random loss"] == "passed"
    assert verdicts["states"] == "passed"
    if HAS_TESTBED:
        assert set(verdicts.values()) == {"passed"}, rows


@pytest.mark.parametrize(
    ("old", "new", "row", "wanted"),
    [
        ("u32 min_rtt_us;", "u32 many[40], min_rtt_us;", "compiles", "what the kernel grants"),
        ("state->reductions++;", "state->reductions += 1.5;", "integers only", "my_cc.c:60"),
        ("state->reductions++;", "__builtin_abort();", "calls", "abort"),
        ('"RFC 5681: 1"', '""', "parameters", "increase: no source"),
        ("CC_RANGE(1, 100)", "CC_RANGE(2, 100)", "parameters", "initial value 1 is not within"),
        ("increase, 4)", "increase, 400)", "presets", "quick sets increase to 400"),
        ("conn->cwnd_segs / params->increase", "conn->cwnd_segs / (acked - 1)",
         "C's rules (sanitizers)", "division by zero"),
        ("state->min_rtt_us = cc_min", "conn->cwnd_segs = 0, state->min_rtt_us = cc_min",
         "windows", "pkts_acked leaves a window of 0 segments"),
        ("	state->reductions++;", "	static u32 all;\n	state->reductions = all++;",
         "the same twice", "a static variable"),
    ],
)  # fmt: skip
def test_what_is_wrong_fails_its_row_with_a_reason_and_a_way_out(
    check: Check, old: str, new: str, row: str, wanted: str
) -> None:
    code, rows = check(old, new)
    assert code == 1
    assert rows[row]["verdict"] == "failed", rows
    assert wanted in rows[row]["message"].replace("./", ""), rows[row]
    assert rows[row]["remedy"] or row == "compiles"


def test_sequences_are_short_enough_to_be_read(check: Check) -> None:
    _, rows = check("state->min_rtt_us = cc_min", "conn->cwnd_segs = 0, state->min_rtt_us = cc_min")
    assert 2 <= len(rows["windows"]["details"].splitlines()) <= 10


@pytest.mark.testbed
def test_an_algorithm_that_stops_the_process_stops_only_its_row(
    check: Check,
) -> None:
    code, rows = check("state->reductions++;", "__builtin_trap();", whole=True)
    assert code == 1
    assert "the process ended by SIG" in rows["runs to its end"]["message"]
    assert rows["everything"]["verdict"] == "not checked"


@pytest.mark.testbed
def test_a_window_that_never_grows_is_a_warning(check: Check) -> None:
    code, rows = check("if (!cc_may_grow(conn))", "if (conn->cwnd_segs >= 10)", whole=True)
    judge_unless_held_up(str(rows))
    assert rows["fills a link"]["verdict"] == "warning", rows
    assert code == 0


def test_built_in_names_work_and_unknown_ones_do_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in ("behaviour", "kernel"):
        monkeypatch.setattr(f"dumbbell.conformance.{part}.rows", lambda _: iter(()))
    for name, wanted in (("cubic", 0), ("cubicc", 2)):
        monkeypatch.setattr(sys, "argv", ["dumbbell", "check", name])
        with pytest.raises(SystemExit) as stopped:
            commands.main()
        assert int(stopped.value.code or 0) == wanted
    printed = capsys.readouterr()
    assert "of 104 bytes" in printed.out
    assert line(printed.err, "cubic").partition("; valid: ")[0] == snapshot(
        'error: "cubicc": unknown algorithm (did you mean "cubic"?)'
    )


@pytest.mark.skipif(not _core.TESTBED, reason="needs a build with the testbed")
def test_where_the_testbed_cannot_run_the_rows_say_why() -> None:
    rows = list(kernel.rows(catalogue.algorithm("reno"), lambda: user_machine(False)))
    assert [row.verdict for row in rows[1:]] == [Verdict.NOT_CHECKED] * 2
    assert "user (nobody): root" in rows[1].message


@pytest.mark.skipif(not _core.TESTBED, reason="needs a build with the testbed")
def test_callbacks_that_differ_fail_parity() -> None:
    replay = [{"callbacks": {"init": 5}, "differing": 1, "mismatches": ["call 3: ..."]}]
    *_, parity = kernel.rows(
        catalogue.algorithm("reno"), lambda: user_machine(True), lambda _: replay
    )
    assert parity.verdict is Verdict.FAILED
    assert parity.message.startswith("1 of 5 callbacks")
    assert parity.details == "call 3: ..."
