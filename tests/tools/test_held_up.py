"""Tests in real time judge nothing where the testbed says that the machine was held up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import held_up
import process_table
import run_rust

pytest_plugins = ["pytester"]

ALONE = (
    "the emulator was stalled for 41 ms at once (limit 10 ms); leave the machine alone",
    "41 ms",
)
SHARE = (
    "the applications' thread was stalled for 4.2 % of the time (limit 1.0 %); leave the "
    "machine alone, or let fewer flows run at a time",
    "4.2 %",
)


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize(("message", "wanted"), [ALONE, SHARE])
def test_a_test_is_skipped_with_how_long_it_was_held_up(
    message: str, wanted: str, quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_up, "machine_is_quiet", lambda: quiet)
    where = ", on a quiet machine" if quiet else ""
    with pytest.raises(pytest.skip.Exception, match=f"^not judged: held up for {wanted}{where}$"):
        held_up.judge_unless_held_up(f"invalid: {message}\n")


@pytest.mark.parametrize("message", ["", "packets were late by 3 ms; lower the rates"])
def test_a_quiet_machine_is_judged(message: str) -> None:
    held_up.judge_unless_held_up(message)


@pytest.mark.parametrize(
    ("quiet", "busy", "code"), [(0, 1, 0), (0, 5, 0), (2, 3, 0), (3, 0, 1), (3, 3, 1)]
)
def test_a_session_fails_if_a_quiet_machine_left_more_than_two_unjudged(
    pytester: pytest.Pytester, quiet: int, busy: int, code: int
) -> None:
    pytester.makeconftest(Path(__file__).parents[1].joinpath("conftest.py").read_text())
    pytester.makepyfile(f"""
        import held_up
        import pytest

        @pytest.mark.parametrize("quiet", [True] * {quiet} + [False] * {busy})
        def test_in_real_time(quiet, monkeypatch):
            monkeypatch.setattr(held_up, "machine_is_quiet", lambda: quiet)
            held_up.judge_unless_held_up({ALONE[0]!r})

        def test_that_judges():
            pass
    """)
    run = pytester.inline_run("-q")
    run.assertoutcome(passed=1, skipped=quiet + busy)
    assert run.ret == code


LOOP = [sys.executable, "-c", "while True: pass"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs the scheduling classes of Linux")
@pytest.mark.parametrize(
    ("command", "is_counted"),
    [(["chrt", "--other", "0", *LOOP], True), (["chrt", "--idle", "0", *LOOP], False)],
    ids=["normal", "idle class"],
)
def test_normal_programs_of_other_sessions_use_the_machine(
    command: list[str], is_counted: bool
) -> None:
    with subprocess.Popen(command, start_new_session=True) as program:
        try:
            until = time.monotonic() + 60
            while process_table.process(program.pid).ticks < 20 and time.monotonic() < until:
                time.sleep(0.01)
            assert (program.pid in process_table.ticks_of_others()) == is_counted
        finally:
            program.kill()


@pytest.mark.parametrize(
    ("others", "stolen", "quiet"),
    [(4, 0, True), (6, 0, False), (0, 4, True), (0, 6, False), (3, 3, False)],
)
def test_a_quiet_machine_has_a_twentieth_of_a_processor_in_use(
    others: int, stolen: int, quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    per_s = os.sysconf("SC_CLK_TCK")
    used = iter([{1: 1_000}, {1: 1_000 + others * per_s // 200, 2: others * per_s // 200}])
    taken = iter([70, 70 + stolen * per_s // 100])
    monkeypatch.setattr(process_table, "ticks_of_others", lambda: next(used))
    monkeypatch.setattr(process_table, "stolen_ticks", lambda: next(taken))
    monkeypatch.setattr(time, "sleep", lambda _: None)
    assert held_up.machine_is_quiet() == quiet


def test_programs_of_rust_are_counted_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program"
    program.write_text(
        "#!/bin/sh\necho 'test a ... not judged: held up for 413.904681ms'\necho ok\n"
        "echo 'not judged: held up for 2.01s' >&2\necho 'test b ... ok'\n"
    )
    program.chmod(0o755)
    built = {
        "reason": "compiler-artifact",
        "executable": str(program),
        "manifest_path": str(tmp_path / "Cargo.toml"),
        "target": {"name": "it"},
    }
    (tmp_path / "messages").write_text(json.dumps(built))
    monkeypatch.setattr(sys, "argv", ["run_rust", str(tmp_path / "messages")])
    assert run_rust.main() == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert last == f"2 {held_up.NOT_JUDGED}413.904681ms; 2.01s"
