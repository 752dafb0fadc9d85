"""Scripts of expected states: the format, what is played, and what a script finds."""

from __future__ import annotations

import copy
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from command_line import caller
from dumbbell import _core
from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError
from dumbbell.conformance import checking, starting
from dumbbell.conformance.expected import playing, reading, rows
from dumbbell.conformance.expected.calls import Calls
from dumbbell.conformance.expected.script import SUFFIX
from dumbbell.conformance.verdicts import Row, Verdict
from machines import user_machine

HAS_TESTBED = sys.platform == "linux" and os.geteuid() == 0 and _core.TESTBED
NAMES = sorted(catalogue.algorithms())


def played(text: str, name: str = "reno") -> playing.Played:
    algorithm = catalogue.algorithm(name)
    return playing.play(reading.read(text, f"{name}.expect", algorithm), algorithm)


def misses(text: str, name: str = "reno") -> list[str]:
    return [miss.words for miss in played(text, name).misses]


def refused(text: str, name: str = "reno") -> str:
    with pytest.raises(InputError) as caught:
        played(text, name)
    return str(caught.value)


def checked(algorithm: catalogue.Algorithm, **more: Any) -> list[Row]:
    """Check a script without the kernel, unless `more` has one."""
    return list(rows.rows(algorithm, **{"look": lambda: user_machine(False), **more}))


@pytest.mark.parametrize("name", NAMES)
def test_each_shipped_algorithm_does_what_its_script_expects(name: str) -> None:
    native, _ = checked(catalogue.algorithm(name))
    assert native.verdict is Verdict.PASSED, native.details or native.message


def test_no_script_is_of_an_algorithm_that_does_not_ship() -> None:
    assert sorted(file.stem for file in rows.SHIPPED.glob(f"*{SUFFIX}")) == NAMES


@pytest.mark.testbed
@pytest.mark.skipif(not HAS_TESTBED, reason="needs the testbed")
@pytest.mark.parametrize("name", NAMES)
def test_each_shipped_algorithm_makes_the_same_of_the_calls_in_the_kernel(name: str) -> None:
    _, kernel = rows.rows(catalogue.algorithm(name))
    assert kernel.verdict is Verdict.PASSED, kernel.details or kernel.message


MUTATIONS = [
    ("reno", "loss leaves", "CC_ONE / 2", "CC_ONE / 4", "ssthresh is 5, expected 10"),
    ("reno", "slow start stops", "cc_standard_growth", "cc_grow", "cwnd is 20, expected 15"),
    ("scalable", "congestion", "CC_ONE - params->kept", "CC_ONE / 2", "is 400, expected 700"),
    ("dctcp", "the first mark", "2 * CC_ONE", "CC_ONE", "ssthresh is 2, expected 50"),
    ("cubic", "K is", "= cc_cube_root", "= 2 * cc_cube_root", "k_ms is 84"),
    ("vegas", "above beta", "segs - 1, CC_CWND_MIN", "segs - 2, CC_CWND_MIN", "cwnd is 19, "),
    ("htcp", "two seconds", "(10 * d +", "(5 * d +", "alpha_milli is"),
    ("bbr", "three round", ">= params->full_bw_rounds", "> 9", "is_full is 0, expected 1"),
]


def mutated(folder: Path, name: str, old: str, new: str) -> catalogue.Algorithm:
    """Return a shipped algorithm with a change, as a user's file of another name."""
    code = catalogue.algorithm(name).code
    assert code.count(old) == 1
    changed = re.sub(rf"\b{name}(?=\b|_)", f"{name}x", code.replace(old, new))
    file = folder / f"{name}x.c"
    file.write_text(changed)
    return catalogue.read(str(file))


def _one_case(folder: Path, name: str, title: str) -> Path:
    """Write the case of a shipped script whose title begins so, alone, which takes less time."""
    _, *cases = re.split(r"^(?=case )", (rows.SHIPPED / f"{name}.expect").read_text(), flags=re.M)
    (case,) = (case for case in cases if case.startswith(f"case {title}"))
    file = folder / f"{name}.expect"
    file.write_text(case)
    return file


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: " ".join(mutation[:2]))
def test_a_changed_algorithm_fails_its_script(
    tmp_path: Path, mutation: tuple[str, str, str, str, str]
) -> None:
    name, title, old, new, wanted = mutation
    algorithm = mutated(tmp_path, name, old, new)
    native, _ = checked(algorithm, path=_one_case(tmp_path, name, title))
    assert native.verdict is Verdict.FAILED, native.message
    assert wanted in native.message + native.details, native.details
    assert f"{name}.expect:" in native.message
    assert "\n> " in native.details


def test_a_failure_shows_the_lines_around_it_with_what_each_left() -> None:
    text = "case halves\n    start cwnd 20 ssthresh 5\n    loss\n    expect cwnd 9\n\ncase other\n"
    result = played(text)
    assert playing.excerpt(result, result.misses[0]) == snapshot(
        """\
reno.expect:4: cwnd is 10, expected 9
     1 case halves
     2     start cwnd 20 ssthresh 5
     3     loss           -> cwnd 10, ssthresh 10, state Recovery
>    4     expect cwnd 9  -> cwnd 10, ssthresh 10, state Recovery\
"""
    )


def test_a_case_ends_at_its_first_miss_and_the_others_go_on() -> None:
    text = (
        "case a\n expect cwnd 9\n expect cwnd 8\ncase b\n expect cwnd 10\ncase c\n expect cwnd 7\n"
    )
    assert misses(text) == ["cwnd is 10, expected 9", "cwnd is 10, expected 7"]


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("cwnd 11 within 1", None),
        ("cwnd 12 within 1", "cwnd is 10, expected 12 within 1"),
        ("cwnd 10.5", "refused"),
        ("cwnd 11 within 10%", None),
        ("cwnd 12 within 10%", "cwnd is 10, expected 12 within 10%"),
        ("ssthresh infinite", None),
        ("ssthresh 10", "ssthresh is infinite, expected 10"),
        ("state Open, cwnd 10", None),
        ("state Loss, cwnd 10", "state is Open, expected Loss"),
        ("pacing none", None),
        ("pacing 1mbit", "pacing is none, expected 1mbit"),
        ("credit 0", None),
    ],
)
def test_what_is_expected(expected: str, words: str | None) -> None:
    text = f"case a\n    expect {expected}\n"
    if words == "refused":
        assert "not a whole number" in refused(text)
    else:
        assert misses(text) == ([] if words is None else [words])


def test_a_case_that_expects_nothing_is_not_met(tmp_path: Path) -> None:
    script = tmp_path / f"reno{SUFFIX}"
    script.write_text("case growth\nack 1\nexpect cwnd 11\ncase nothing\nack 1\n")
    (row,) = rows.rows(catalogue.algorithm("reno"), script)
    assert row.verdict is Verdict.FAILED
    assert f"{script}:4: the case 'nothing' expects nothing" in row.message


def test_a_script_that_is_none_is_refused() -> None:
    assert [refused(lines) for lines in ("", "ack 1", "case")] == snapshot(
        [
            "reno.expect: has no case; valid: lines that begin with case",
            'reno.expect:1: "ack": comes before the first case; valid: case TITLE',
            "reno.expect:1: a case without a title; valid: case TITLE",
        ]
    )


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("akc 1", 'reno.expect:2: "akc": unknown step (did you mean "ack"?)'),
        ("ack", "acknowledges nothing; valid: ack SEGMENTS"),
        ("ack some", '"some": not a whole number'),
        ("ack 0", '"0": no number of segments; valid: 1 to'),
        ("ack 1 rt 5ms", '"rt": unknown option of this step (did you mean "rtt"?)'),
        ("ack 1 rtt", '"rtt": has no value'),
        ("ack 1 rtt 5", "5"),
        ("ack 1 rtt 0ms", '"0ms": no RTT; valid: 1us or more'),
        ("ack 1 after 10ns", '"10ns": no time in whole microseconds'),
        ("ack 1 marked marked", '"marked": is there twice'),
        ("ack 1 times 0", '"0": no number of times; valid: 1 to 10000'),
        ("loss 1 2", '"1 2": is no such line; valid: loss, or loss SEGMENTS'),
        ("wait", "is no such line; valid: wait TIME, such as wait 1s"),
        ("undo now", '"now": is no such line; valid: undo'),
        ("expect", "is no expectation; valid: expect NAME VALUE"),
        ("expect cwnd", '"cwnd": is no expectation'),
        ("expect cwdn 10", '"cwdn": unknown value to expect (did you mean "cwnd"?)'),
        ("expect state Opn", '"Opn": unknown state (did you mean "Open"?)'),
        ("expect state Open within 1", '"state": has no tolerance: it is a name'),
        ("expect cwnd 10 within x", '"x": no tolerance; valid: a number such as 1, or 2%'),
        ("expect pacing 10", "10"),
        ("preset abc", '"abc": unknown preset of reno (did you mean "abe"?)'),
        ("parameter kept 1", '"kept": unknown parameter of reno (did you mean "kept_ecn"?)'),
        ("parameter kept_ecn 2000", "2000: outside the limits of reno's parameter kept_ecn"),
        ("start window 10", '"window": unknown option of this step'),
        ("start mss 0", '"0": no number of bytes; valid: 1 to'),
        ("ack 11", "reno.expect:2: ack: is about 11 segments, but 10 are in flight"),
        ("loss 11", "reno.expect:2: loss: is about 11 segments, but 10 are in flight"),
        ("recovered", "there is nothing to recover from"),
        ("undo", "there is no reduction to take back"),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(line: str, error: str) -> None:
    message = refused(f"case a\n    {line}\n")
    assert message.startswith("reno.expect:2: ")
    assert error in message


def test_all_wrong_lines_are_told_at_once() -> None:
    assert refused("case a\n x\n y\n").count("unknown step") == 2


def test_a_parameter_comes_before_the_steps() -> None:
    assert refused("case a\n ack 1\n start cwnd 5\n") == snapshot(
        'reno.expect:3: "start": comes after the first step of its case'
    )


def test_modes_are_names_of_the_algorithm() -> None:
    assert misses("case a\n expect mode startup\n", "bbr") == []
    assert 'did you mean "startup"' in refused("case a\n expect mode start\n", "bbr")
    assert refused("case a\n expect mode startup\n") == snapshot(
        'reno.expect:2: "mode": unknown value to expect; valid: cwnd, ssthresh, credit, state, pacing'
    )


def test_a_script_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "ACKS_MAX", 50)
    assert refused("case a\n round times 5\n") == snapshot(
        "reno.expect:2: the script has more than 50 ACKs; valid: fewer or larger ones"
    )


def test_time_passes_as_the_script_says() -> None:
    text = "case a\n start ssthresh 5\n wait 2s\n round rtt 100ms\n ack 1 after 50ms\n"
    result = played(text + " expect since_congestion_ms 2150\n", "htcp")
    assert not result.misses


def test_the_calls_are_in_the_order_of_linux() -> None:
    text = "case a\n start cwnd 20 ssthresh 5\n ack 1 marked\n recovered\n ack 1\n"
    (calls,) = played(text, "dctcp").calls
    assert [f"{line} {hook}" for line, hook in calls.places] == snapshot(
        [
            "1 init",
            "1 cwnd_event",
            "3 in_ack_event",
            "3 ssthresh",
            "3 set_state",
            "4 cwnd_event",
            "4 set_state",
            "5 in_ack_event",
            "5 cong_avoid",
        ]
    )


def test_a_timeout_in_a_recovery_asks_for_no_second_threshold() -> None:
    text = "case a\n start cwnd 20 ssthresh 5\n loss\n timeout\n expect ssthresh 10\n"
    (calls,) = played(text).calls
    assert [hook for _, hook in calls.places].count("ssthresh") == 1


def test_marks_next_to_a_loss_are_one_recovery_that_cannot_be_undone() -> None:
    text = "case a\n start cwnd 20 ssthresh 5\n ack 1 marked lost 1\n"
    assert misses(text + " expect state Recovery, ssthresh 10\n") == []
    assert refused(text + " undo\n") == snapshot(
        'reno.expect:4: "undo": there is no reduction to take back; valid: after loss or timeout'
    )


SEGS = st.integers(1, 30)
ACTIONS = st.one_of(
    st.builds("ack {} after {}ms".format, SEGS, st.integers(0, 200)),
    st.builds("ack {} marked".format, SEGS),
    st.builds("ack {} lost {}".format, SEGS, SEGS),
    st.builds("ack {} app-limited".format, SEGS),
    st.builds("round rtt {}ms every {}".format, st.integers(1, 400), st.integers(1, 5)),
    st.builds("round marked {}".format, SEGS),
    st.builds("loss {}".format, SEGS),
    st.sampled_from(["recovered", "timeout", "undo", "idle 1s", "wait 10ms"]),
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["reno", "dctcp", "bbr", "vegas"]), st.lists(ACTIONS, max_size=25))
def test_whatever_happens_the_sender_counts_each_segment_once(
    name: str, actions: Sequence[str]
) -> None:
    """A step that cannot be made is refused; those before it leave a connection that can be."""
    lines = ["case a", " start cwnd 10 clamp 60", *(f" {action}" for action in actions)]
    try:
        result = played("\n".join(lines), name)
    except InputError as refusal:
        result = played("\n".join(lines[: (refusal.line or 0) - 1]), name)
    (calls,) = result.calls
    for call in calls.made:
        conn = call["before"]["conn"]
        sent = (conn["snd_nxt"] - conn["snd_una"]) // conn["mss_bytes"]
        assert 0 <= conn["in_flight_segs"] <= sent
        assert conn["snd_una"] == conn["delivered_segs"] * conn["mss_bytes"]
        assert conn["delivered_ce_segs"] <= conn["delivered_segs"]
        assert conn["cwnd_segs"] >= 1


def _my_cc(folder: Path, script: str | None) -> catalogue.Algorithm:
    (folder / "my_cc.c").write_text(starting.text("my_cc"))
    if script is not None:
        (folder / "my_cc.expect").write_text(script)
    return catalogue.read(str(folder / "my_cc.c"))


@pytest.mark.parametrize("template", starting.templates())
def test_a_template_does_what_its_script_expects(template: str, tmp_path: Path) -> None:
    mine = catalogue.read(str(starting.write("mine", template, tmp_path)))
    native, _ = checked(mine)
    assert native.verdict is Verdict.PASSED, native
    assert "mine" in (tmp_path / "mine.expect").read_text()


@pytest.mark.parametrize(
    ("template", "right", "wrong"),
    [
        ("loss", "cc_half_window(conn)", "conn->cwnd_segs"),
        ("loss", "conn->cwnd_segs / params->increase", "conn->cwnd_segs"),
        ("loss", "acked = cc_slow_start(conn, acked)", "acked = cc_slow_start(conn, 0)"),
        ("delay", "cc_half_window(conn)", "conn->cwnd_segs"),
        ("delay", "cc_grow(conn, 1)", "cc_grow(conn, 2)"),
        ("delay", "2 * params->target", "3 * params->target"),
        ("delay", "conn->ssthresh_segs = cc_min(conn->ssthresh_segs, conn->cwnd_segs)",
         "conn->cwnd_segs += 0"),
        ("delay", "queued_segs < params->target", "queued_segs < 4"),
    ],
)  # fmt: skip
def test_the_script_of_a_template_finds_what_is_wrong(
    template: str, right: str, wrong: str, tmp_path: Path
) -> None:
    file = starting.write("my_cc", template, tmp_path)
    text = file.read_text()
    assert text.count(right) == 1
    file.write_text(text.replace(right, wrong))
    native, *_ = checked(catalogue.read(str(file)))
    assert native.verdict is Verdict.FAILED, native


def test_the_guide_shows_the_script_of_the_template() -> None:
    guide = Path(__file__).parents[2] / "docs" / "guides" / "expected-states.md"
    assert starting.text("my_cc", suffix=SUFFIX) in guide.read_text()


def test_a_missing_script_is_no_error(tmp_path: Path) -> None:
    (row,) = checked(_my_cc(tmp_path, None))
    assert row.verdict is Verdict.NOT_CHECKED
    assert row.message.endswith("my_cc.expect")
    assert "docs/guides/expected-states.md" in row.remedy


def test_a_script_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(checking.check("reno", script=tmp_path / "other.expect"))


def test_one_part_can_be_checked_alone() -> None:
    checks = list(checking.check("reno", only=rows.PART))
    assert [row.check for row in checks] == ["compiles", rows.NATIVE, rows.KERNEL]


def test_an_unknown_part_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = caller(monkeypatch, capsys)("check", "reno", "--only", "expected")
    assert run.code == 2
    assert run.err == snapshot(
        'error: --only: "expected": unknown part of the checks (did you mean "expected-states"?); valid: expected-states, interface, random-calls, simulator, kernel\n'
    )


def test_the_script_next_to_a_file_is_played(tmp_path: Path) -> None:
    native, kernel = checked(_my_cc(tmp_path, "case a\n expect cwnd 10\n"))
    assert native.message.startswith("1 expectations of 1 cases met")
    assert kernel.verdict is Verdict.NOT_CHECKED
    assert "root" in kernel.message


def test_what_is_wrong_in_a_script_fails_its_row(tmp_path: Path) -> None:
    (row,) = checked(_my_cc(tmp_path, "case a\n expcet cwnd 10\n"))
    assert row.verdict is Verdict.FAILED
    assert 'my_cc.expect:2: "expcet": unknown step (did you mean "expect"?)' in row.message


@pytest.mark.skipif(not _core.TESTBED, reason="needs a build with the testbed")
def test_other_bytes_in_the_kernel_fail_with_line_and_field(tmp_path: Path) -> None:
    def other(calls: Calls) -> Sequence[Mapping[str, Any]]:
        outcomes = copy.deepcopy(calls.outcomes)
        outcomes[-1]["after"]["conn"]["cwnd_segs"] += 1
        return outcomes

    algorithm = _my_cc(tmp_path, "case a\n ack 1\n expect cwnd 11\n")
    _, kernel = checked(algorithm, look=lambda: user_machine(True), in_kernel=other)
    assert kernel.verdict is Verdict.FAILED
    assert kernel.message.rpartition("/")[2] == snapshot(
        "my_cc.expect:2: cong_avoid ends in other bytes in the kernel"
    )
    assert kernel.details == "conn.cwnd_segs: native 11, kernel 12"


def test_the_kernel_loads_each_set_of_parameters_once() -> None:
    cases = "case a\n ack 1\ncase b\n preset abe\n ack 1\ncase c\n ack 1\n"
    merged = rows.merged(played(cases).calls)
    assert [len(calls.made) for calls in merged] == [2, 1]
