"""`dumbbell import` of captures: what tcpdump, dumpcap and editcap write, and what may be in it."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from command_line import line
from dumbbell import api
from dumbbell.base.errors import InputError
from dumbbell.engines import captures
from dumbbell.experiments.imports import fitting, opening, playing, reading
from dumbbell.experiments.imports.measurement import MeasuredFlow, Measurement
from dumbbell.scenario.model import Scenario
from made_captures import LINKS, MSS, Transfer, mutated, pcap, pcapng, samples, together

PLAIN = Transfer()
AT_SENDER = PLAIN.seen(0)
GOODPUT = 1448 * 8 / 1000
"""Mbit/s of a segment every millisecond."""


def read(folder: Path, content: bytes, name: str = "made.pcap") -> Measurement:
    file = folder / name
    file.write_bytes(content)
    return reading.read(file)


def only(measured: Measurement) -> MeasuredFlow:
    (flow,) = measured.flows
    return flow


def delivered(flow: MeasuredFlow) -> float:
    """Return the bytes that its samples come to."""
    return float(flow.samples["goodput_mbit_per_s"].sum()) * 0.1 / 8 * 1e6


def note(measured: Measurement, word: str) -> str:
    """Return the only note with a word."""
    return line("\n".join(measured.notes), word)


def assert_plain(measured: Measurement, rtt_ms: float = 40.0) -> None:
    """Check that a capture shows the plain transfer."""
    flow = only(measured)
    assert flow.rtt_min_ms == pytest.approx(rtt_ms, abs=0.01)
    assert flow.rtt_mean_ms == pytest.approx(rtt_ms, rel=0.05)
    assert flow.goodput_mbit_per_s == pytest.approx(GOODPUT * 400 / 439, rel=0.01)
    assert (flow.segments, flow.retransmitted, flow.mss_bytes) == (400, 0, MSS)
    assert delivered(flow) == pytest.approx(400 * MSS)


@pytest.mark.parametrize("link", LINKS)
def test_every_common_link_is_read(tmp_path: Path, link: str) -> None:
    assert_plain(read(tmp_path, pcap(AT_SENDER, link)))


@pytest.mark.parametrize("link", ["ethernet", "vlan", "raw", "cooked", "cooked 2", "null"])
def test_ipv6_is_read(tmp_path: Path, link: str) -> None:
    transfer = replace(PLAIN, client="2001:db8::1", server="2001:db8::2")
    measured = read(tmp_path, pcap(transfer.seen(0), link))
    assert_plain(measured)
    assert only(measured).label == "[2001:db8::1]:40000 to [2001:db8::2]:5001"


@pytest.mark.parametrize(
    "content",
    [
        pcap(AT_SENDER, order=">"),
        pcap(AT_SENDER, nanoseconds=True),
        pcap(AT_SENDER, order=">", nanoseconds=True),
        pcap(AT_SENDER, snap=100),
        pcap(AT_SENDER, snap=68),
        pcapng(AT_SENDER),
        pcapng(AT_SENDER, order=">"),
        pcapng(AT_SENDER, resolution=9),
        pcapng(AT_SENDER, resolution=0x80 | 20),
        pcapng(AT_SENDER, order=">", offset_s=1_600_000_000),
        pcapng(AT_SENDER[:300]) + pcapng(AT_SENDER[300:], order=">", resolution=9),
        gzip.compress(pcap(AT_SENDER)),
        bz2.compress(pcapng(AT_SENDER)),
        lzma.compress(pcap(AT_SENDER)),
    ],
    ids=[
        "big-endian",
        "nanoseconds",
        "big-endian nanoseconds",
        "cut to 100 bytes",
        "cut to 68 bytes",
        "pcapng",
        "big-endian pcapng",
        "pcapng of nanoseconds",
        "pcapng of 2^-20 s",
        "pcapng with an offset",
        "two sections",
        "gzip",
        "bzip2",
        "xz",
    ],
)
def test_every_format_says_the_same(tmp_path: Path, content: bytes) -> None:
    assert_plain(read(tmp_path, content))


def test_headers_without_their_options_are_enough(tmp_path: Path) -> None:
    measured = read(tmp_path, pcap(AT_SENDER, snap=54))
    assert only(measured).rtt_min_ms == pytest.approx(40, abs=0.01)
    with pytest.raises(InputError) as refused:
        read(tmp_path, pcap(AT_SENDER, snap=50))
    assert refused.value.problem == snapshot(
        "all 803 TCP packets are cut before the end of their header"
    )


def test_packets_of_a_card_that_cuts_them_later_count_as_segments(tmp_path: Path) -> None:
    transfer = replace(PLAIN, at_once=40)
    for says_length in (True, False):
        flow = only(read(tmp_path, pcap(transfer.seen(0), snap=100, says_length=says_length)))
        assert (flow.segments, flow.mss_bytes, flow.retransmitted) == (400, MSS, 0)


@pytest.mark.parametrize("is_download", [False, True], ids=["upload", "download"])
@pytest.mark.parametrize(
    ("has_handshake", "has_timestamps"),
    [(True, True), (True, False), (False, True), (False, False)],
)
@pytest.mark.parametrize("place", [0.0, 0.4, 1.0])
def test_the_place_of_a_capture_is_found(
    tmp_path: Path, place: float, has_handshake: bool, has_timestamps: bool, is_download: bool
) -> None:
    where = {0.0: "at the sender", 0.4: "between the hosts", 1.0: "at the receiver"}[place]
    transfer = replace(
        PLAIN,
        has_handshake=has_handshake,
        has_timestamps=has_timestamps,
        is_download=is_download,
    )
    measured = read(tmp_path, pcap(transfer.seen(place)))
    flow = only(measured)
    if has_handshake or has_timestamps:
        assert where in note(measured, "captured")
        assert flow.rtt_min_ms == pytest.approx(40, rel=0.03)
    elif place == 1:
        # Only that acknowledgements come at once is known.
        assert flow.rtt_min_ms is None
        assert note(measured, "no RTT") == snapshot(
            "no RTT of the flow: segments were acknowledged at once, as at the receiver, and neither a handshake nor timestamps show the way to the sender"
        )
    else:
        assert flow.rtt_min_ms == pytest.approx(40 * (1 - place), rel=0.03)
        assert note(measured, "guess") == snapshot(
            "the point of capture is a guess for the flow: neither a handshake nor the sender's answers show the other part of the round trip"
        )


@pytest.mark.parametrize("place", [0.0, 1.0])
@pytest.mark.parametrize("has_handshake", [False, True])
def test_the_pause_of_an_application_is_no_round_trip(
    tmp_path: Path, place: float, has_handshake: bool
) -> None:
    thin = replace(PLAIN, gap_s=0.23, segments=80, has_handshake=has_handshake)
    measured = read(tmp_path, pcap(thin.seen(place)))
    flow = only(measured)
    where = "sender" if place == 0 else "receiver"
    assert any(f"captured at the {where} of" in note for note in measured.notes)
    if place == 0 or has_handshake:
        assert flow.rtt_min_ms == pytest.approx(40, abs=0.01)
    else:
        assert flow.rtt_min_ms is None
        assert note(measured, "nothing to send") == snapshot(
            "no RTT of the flow: it was captured at the receiver and without the handshake, and before each segment the sender had nothing to send"
        )
        with pytest.raises(InputError) as refused:
            fitting.path(measured, {})
        assert refused.value.problem == snapshot(
            "no RTT is in the file: it was captured at the receiver and without the handshake, and before each segment the sender had nothing to send"
        )


def test_a_delayed_acknowledgement_is_no_queue(tmp_path: Path) -> None:
    thin = replace(PLAIN, gap_s=0.23, segments=80, delayed=frozenset(range(0, 80, 2)))
    flow = only(read(tmp_path, pcap(thin.seen(0))))
    assert flow.rtt_min_ms == pytest.approx(40, abs=0.01)
    assert flow.samples["rtt_high_ms"].max() == pytest.approx(40, abs=0.01)


def test_a_delayed_acknowledgement_is_no_queue_while_more_is_in_flight(tmp_path: Path) -> None:
    thin = replace(PLAIN, rtt_s=0.2, gap_s=0.06, delayed=frozenset(range(1, 400, 3)))
    samples = only(read(tmp_path, pcap(thin.seen(0)))).samples
    assert samples["rtt_high_ms"].max() == pytest.approx(200, abs=0.01)


def test_a_queue_that_fills_at_once_is_seen(tmp_path: Path) -> None:
    """Its acknowledgements come later from one on, each of a single segment."""
    late = replace(PLAIN, rtt_s=0.2, gap_s=0.06, delayed=frozenset(range(100, 400)))
    samples = only(read(tmp_path, pcap(late.seen(0)))).samples
    assert samples["rtt_high_ms"].max() == pytest.approx(240, abs=0.01)


@pytest.mark.parametrize(("distance", "is_sorted"), [(3, True), (600, True), (4500, False)])
def test_packets_stored_out_of_order_are_sorted(
    tmp_path: Path, distance: int, is_sorted: bool
) -> None:
    """Several interfaces in one file are not in order of time."""
    seen = replace(PLAIN, segments=3000, gap_s=0.0001).seen(0)
    plain = read(tmp_path, pcap(seen))
    moved = next(at for at in range(1000, 1100) if seen[at].payload)
    seen.insert(moved + distance, seen.pop(moved))
    measured = read(tmp_path, pcap(seen), "mixed.pcap")
    assert (measured.notes == plain.notes) is is_sorted
    assert any("reordercap" in note for note in measured.notes) is not is_sorted


@pytest.mark.parametrize("place", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("has_timestamps", [False, True])
def test_reordering_is_told_from_loss(tmp_path: Path, place: float, has_timestamps: bool) -> None:
    lost, late = frozenset({50, 151, 252}), frozenset({100, 200, 300, 320})
    transfer = replace(PLAIN, lost=lost, late=late, has_timestamps=has_timestamps)
    measured = read(tmp_path, pcap(transfer.seen(place)))
    assert only(measured).retransmitted == len(lost)
    overtaken = [note for note in measured.notes if f"{len(late)} segments" in note]
    assert len(overtaken) == (place > 0)
    assert only(measured).samples["retransmitted"].sum() == len(lost)


def test_ports_may_be_used_again(tmp_path: Path) -> None:
    later = replace(PLAIN, start_s=PLAIN.start_s + 5, first=PLAIN.first)
    measured = read(tmp_path, pcap(together(AT_SENDER, later.seen(0))))
    assert [flow.segments for flow in measured.flows] == [400, 400]
    assert [flow.label for flow in measured.flows] == [
        "10.0.0.1:40000 to 10.0.1.1:5001",
        "10.0.0.1:40000 to 10.0.1.1:5001, 2",
    ]
    assert [flow.start_s for flow in measured.flows] == pytest.approx([0, 5])


def test_a_silence_takes_no_room_and_no_goodput(tmp_path: Path) -> None:
    later = replace(PLAIN, start_s=PLAIN.start_s + 40_000, has_handshake=False, first=580_200)
    flow = only(read(tmp_path, pcap(together(AT_SENDER, later.seen(0)))))
    samples = flow.samples
    assert samples.height < 20
    assert samples["time_s"].is_sorted()
    gap = samples["time_s"].diff().arg_max()
    assert gap is not None
    assert samples["goodput_mbit_per_s"].to_list()[gap - 1 : gap + 1] == [0, 0]
    assert delivered(flow) == pytest.approx(800 * MSS)


@pytest.mark.parametrize(
    ("is_kept", "goodput", "reason"),
    [
        (
            lambda segment: segment.payload or segment.is_opening,
            GOODPUT,
            "acknowledgements are not in",
        ),
        (lambda segment: not segment.payload, GOODPUT, "its data is not in the capture"),
    ],
    ids=["data", "acknowledgements"],
)
def test_one_direction_alone_says_what_it_can(
    tmp_path: Path, is_kept: Callable[[Any], bool], goodput: float, reason: str
) -> None:
    segments = [segment for segment in AT_SENDER if is_kept(segment) and segment.ports[0] != 0]
    if reason.startswith("acknowledgements"):
        segments = [segment for segment in segments if segment.ports[0] == 40_000]
    else:
        segments = [segment for segment in segments if segment.ports[0] == 5001]
    measured = read(tmp_path, pcap(segments))
    flow = only(measured)
    assert flow.label == "10.0.0.1:40000 to 10.0.1.1:5001"
    assert flow.goodput_mbit_per_s == pytest.approx(goodput, rel=0.02)
    assert flow.rtt_min_ms is None
    assert any(reason in note for note in measured.notes)
    assert flow.retransmitted == (0 if flow.segments else None)


def test_data_may_go_both_ways(tmp_path: Path) -> None:
    back = replace(PLAIN, ports=(40_001, 5001), is_download=True, segments=300)
    measured = read(tmp_path, pcap(together(AT_SENDER, back.seen(1))))
    assert [(flow.segments, flow.direction) for flow in measured.flows] == [
        (400, "forward"),
        (300, "reverse"),
    ]
    assert [flow.rtt_min_ms for flow in measured.flows] == pytest.approx([40, 40], abs=0.01)


def test_a_packet_that_two_interfaces_saw_counts_once(tmp_path: Path) -> None:
    view = AT_SENDER
    twice = together(view, [replace(segment, time_s=segment.time_s + 2e-5) for segment in view])
    measured = read(tmp_path, pcap(twice, "cooked 2"))
    assert_plain(measured)
    assert note(measured, "twice") == snapshot("803 packets were captured twice, and count once")


def test_a_capture_that_was_interrupted_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = pcap(AT_SENDER)
    for content in (
        whole[:-30],
        whole[:-30] + bytes(100_000),
        pcapng(AT_SENDER)[:-30],
        gzip.compress(whole)[:-100],
    ):
        measured = read(tmp_path, content)
        assert note(measured, "ends") == snapshot(
            "the file ends within a packet, and what is before it is used"
        )
        segments = only(measured).segments
        assert segments is not None
        assert segments > 380


def test_a_clock_that_is_set_back_goes_on(tmp_path: Path) -> None:
    segments = AT_SENDER
    later = [replace(segment, time_s=segment.time_s - 3600) for segment in segments[400:]]
    measured = read(tmp_path, pcap([*segments[:400], *later]))
    assert note(measured, "clock") == snapshot(
        "the clock was set back 1 times: time continues from there"
    )
    assert measured.duration_s == pytest.approx(0.44, abs=0.01)


def test_the_receivers_window_is_known_where_the_handshake_was_seen(tmp_path: Path) -> None:
    flow = only(read(tmp_path, pcap(AT_SENDER)))
    assert flow.samples["receive_window_bytes"].max() == 4096 << 8
    assert flow.samples["in_flight_bytes"].max() == pytest.approx(40 * MSS, rel=0.05)
    flow = only(read(tmp_path, pcap(replace(PLAIN, has_handshake=False).seen(0))))
    assert flow.samples["receive_window_bytes"].max() is None


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\x28\xb5\x2f\xfd" + bytes(20), "zstd -d"),
        (b"\xd4\xc3\xb2\xa1" + bytes(8), "damaged: no whole header"),
        (pcap([]), "no connection in its 0 TCP packets carries data"),
        (pcap([], "raw")[:20] + struct.pack("<I", 127) + pcap(AT_SENDER)[24:], "type 127"),
        (pcap(AT_SENDER)[:300] + b"\xff" * 2_000_000, "damaged: an impossible length at byte"),
        (b"\x1f\x8b\x08\x00" + bytes(40), "cannot read it"),
    ],
)
def test_what_is_not_read_says_why(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read(tmp_path, content)
    assert "made.pcap" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_compressed_file_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_COMPRESSED_TO_MAX", 30_000)
    content = pcap(AT_SENDER)
    assert len(content) > 30_000
    assert only(read(tmp_path, content)).segments == 400
    with pytest.raises(InputError) as refused:
        read(tmp_path, gzip.compress(content))
    assert refused.value.problem == snapshot("too large once it is decompressed")


def test_small_connections_are_left_out_and_counted(tmp_path: Path) -> None:
    small = [
        replace(PLAIN, ports=(20_000 + number, 80), segments=2, start_s=PLAIN.start_s + number / 99)
        for number in range(60)
    ]
    views = [transfer.seen(0) for transfer in (*small, replace(PLAIN, segments=2000))]
    measured = read(tmp_path, pcap(together(*views)))
    assert only(measured).segments == 2000
    assert note(measured, "60 connections") == snapshot(
        "60 connections with less than 1% of all bytes are left out"
    )
    more = [
        replace(PLAIN, ports=(20_000 + number, 80), segments=2, start_s=PLAIN.start_s + number / 99)
        for number in range(150)
    ]
    with pytest.raises(InputError) as refused:
        read(tmp_path, pcap(together(*(transfer.seen(0) for transfer in more))))
    assert refused.value.problem == snapshot("none of its 150 connections has 1% of all bytes")


def test_memory_does_not_grow_with_time_and_connections(tmp_path: Path) -> None:
    """A day of 90 connections took 2.3 GB; 20,000 take as much as one."""
    day = [
        replace(PLAIN, ports=(20_000 + number, 80), gap_s=1500.0, segments=55, first=number)
        for number in range(90)
    ]
    measured = read(tmp_path, pcap(together(*(transfer.seen(0) for transfer in day))))
    assert len(measured.flows) == 90
    assert sum(flow.samples.height for flow in measured.flows) < 90 * 55 * 4
    # Its scenario has room for the samples of its runs.
    fitted = fitting.path(measured, {}, "reno")
    Scenario.parse(playing.scenario(measured, fitted, "reno"))


def tool(name: str) -> str:
    """Return a tool of Debian; where it can be installed, its absence is a failure."""
    path = shutil.which(name)
    if path is None:
        if sys.platform == "linux" and os.geteuid() == 0:
            pytest.fail(f"{name} is not installed: apt-get install tshark tcpdump")
        pytest.skip(f"{name} is not installed, and cannot be without being root on Linux")
    return path


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return what the two ends of a simulated path capture."""
    folder = tmp_path_factory.mktemp("captures")
    network = {"rate": "20mbit", "rtt": "40ms", "queue": "50p"}
    flow = [{"algorithm": "reno"}]
    scenario = Scenario.parse({"duration": "6s", "network": network, "flow": flow})
    run = api.simulate(scenario.resolve(capture=True))
    files = captures.paths(folder / "known")
    assert run.captures is not None
    for file, content in zip(files, run.captures, strict=True):
        file.write_bytes(content)
    return files


@pytest.mark.parametrize(
    "arguments",
    [
        ["-F", "pcap"],
        ["-F", "nsecpcap", "-s", "60"],
        ["-F", "pcapng", "-s", "60"],
        ["-F", "pcap", "-T", "rawip"],
        ["-F", "pcap", "-s", "60", "-T", "rawip4"],
        ["-F", "modpcap"],
        ["-F", "pcapng", "-S", "0"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("side", [0, 1])
def test_what_editcap_makes_of_a_capture_says_the_same(
    tmp_path: Path, simulated: tuple[Path, Path], side: int, arguments: list[str]
) -> None:
    made = tmp_path / "made"
    subprocess.run([tool("editcap"), *arguments, simulated[side], made], check=True)
    one, other = only(reading.read(simulated[side])), only(reading.read(made))
    for name in ("segments", "retransmitted", "mss_bytes", "start_s"):
        assert getattr(one, name) == getattr(other, name)
    assert one.rtt_min_ms == pytest.approx(other.rtt_min_ms, abs=0.002)
    assert one.goodput_mbit_per_s == pytest.approx(other.goodput_mbit_per_s, rel=1e-5)
    assert one.retransmitted


def test_files_of_both_ends_that_mergecap_joins_have_the_flow_once(
    tmp_path: Path, simulated: tuple[Path, Path]
) -> None:
    made = tmp_path / "made.pcapng"
    subprocess.run([tool("mergecap"), "-w", made, simulated[0], simulated[0]], check=True)
    measured = reading.read(made)
    assert note(measured, "twice") == snapshot("14,902 packets were captured twice, and count once")
    # Packet 65,536 has no number.
    assert only(measured).segments == pytest.approx(only(reading.read(simulated[0])).segments, 1e-3)


_TRANSFER = r"""
import pathlib, socket, sys, threading, time
server = socket.create_server(("127.0.0.1", 5001))
def serve():
    taken, _ = server.accept()
    while taken.recv(1 << 16):
        pass
    taken.close()
thread = threading.Thread(target=serve)
thread.start()
with socket.create_connection(("127.0.0.1", 5001)) as client:
    client.sendall(bytes(500_000))
thread.join()
# Once a later packet is in the file, all are.
for _ in range(600):
    with socket.socket() as last:
        last.bind(("127.0.0.1", 0xFEED))
        last.connect_ex(("127.0.0.1", 0xFEEE))
    if b"\xfe\xed\xfe\xee" in pathlib.Path(sys.argv[1]).read_bytes():
        break
    time.sleep(0.1)
"""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="makes a namespace")
@pytest.mark.parametrize(
    "recipe",
    [
        "tcpdump -U -s 100 -w FILE tcp",
        "tcpdump -U -i any -s 100 -w FILE tcp",
        "tcpdump -U -i lo --time-stamp-precision=nano -w FILE tcp",
        "dumpcap -q -i lo -s 100 -w FILE",
        "dumpcap -q -i lo -P -w FILE",
    ],
)
def test_the_recipe_of_the_manual_works(tmp_path: Path, recipe: str) -> None:
    """On a machine of any speed bytes and segments are counted, and times exist."""
    tool(recipe.split(maxsplit=1)[0])
    if recipe == "tcpdump -U -s 100 -w FILE tcp":
        assert "tcpdump -s 100 -w path.pcap tcp" in Path("docs/import.md").read_text()
        recipe = recipe.replace("tcpdump", "tcpdump -i lo")
    file = tmp_path / "path.pcap"
    (tmp_path / "transfer.py").write_text(_TRANSFER)
    script = f"""
        ip link set lo up
        {recipe.replace("FILE", str(file))} & watched=$!
        until [ -s {file} ]; do sleep 0.05; done
        {sys.executable} transfer.py {file} || exit
        kill -INT $watched; wait $watched || true
    """
    command = ["unshare", "--net", "sh", "-c", script]
    subprocess.run(command, check=True, timeout=100, capture_output=True, cwd=tmp_path)
    file.chmod(0o644)
    measured = reading.read(file)
    flow = only(measured)
    assert flow.label.endswith("to 127.0.0.1:5001")
    assert delivered(flow) == pytest.approx(500_000, rel=1e-6)
    assert flow.rtt_min_ms is not None
    assert 0 < flow.rtt_min_ms < 1000


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_damaged_captures_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    kinds = samples()
    for number in range(seed, seed + 20):
        chance = random.Random(number)
        # Anything but an InputError is a failure.
        with contextlib.suppress(InputError):
            read(tmp_path, mutated(chance.choice(kinds), chance))
