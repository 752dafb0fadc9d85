"""Networks that tc and TheaterQ describe, as tables of a scenario."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from command_line import Command
from dumbbell.base.errors import InputError
from dumbbell.experiments.imports.described.network import Described

ADD = "tc qdisc add dev eth0 root "
LIMITED = f"{ADD}handle 1: tbf rate 10mbit burst 10kb latency 40ms\n"
BELOW = "tc qdisc add dev eth0 parent 1: "

Read = Callable[..., Described]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Return a function that reads a text as a file."""

    def read(text: str, name: str = "queue.sh", **given: str) -> Described:
        file = tmp_path / name
        file.write_text(text)
        described = Described.read(file, {"rtt": "40ms", **given}, None)
        assert described is not None
        return described

    return read


def place_and_problem(error: InputError) -> str:
    """Return the line of an error, if it has one, and what is wrong there."""
    place = (error.source or "").partition(", ")[2]
    return f"{place}: {error.problem}"


def network(described: Described) -> dict[str, Any]:
    """Return the network without the keys that every one here has."""
    return {key: value for key, value in described.scenario["network"].items() if key != "rtt"}


BUCKET = {"rate": {"rate": "10mbit", "burst": "10240b"}}
"""A kilobyte of tc has 1024 bytes, and a kilobit of a rate 1000 bits."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 50 000 bytes in 40 ms, and the bucket.
        (LIMITED, {**BUCKET, "queue": "60240b"}),
        (f"{LIMITED}{BELOW}pfifo limit 50", {**BUCKET, "queue": "50p"}),
        (f"{LIMITED}{BELOW}bfifo limit 10k", {**BUCKET, "queue": "10240b"}),
        (f"{ADD}netem rate 1gbit limit 200", {"rate": "1gbit", "queue": "200p"}),
        (f"{ADD}netem rate 100kbps", {"rate": "800kbit", "queue": "1000p"}),
        (
            f"{ADD}netem rate 1mbit loss 0.5% duplicate 1",
            {
                "rate": "1mbit",
                "queue": "1000p",
                "loss": [{"place": "bottleneck", "probability": 0.005}],
                "duplicate": 0.01,
            },
        ),
        (
            f"{ADD}netem rate 1mbit loss gemodel 1% 20% 70% 0.1%",
            {
                "rate": "1mbit",
                "queue": "1000p",
                "loss": [
                    {
                        "place": "bottleneck",
                        "gilbert_elliott": {
                            "to_bad": 0.01,
                            "to_good": 0.2,
                            "loss_bad": 0.7,
                            "loss_good": 0.001,
                        },
                    }
                ],
            },
        ),
        (
            f"{ADD}netem rate 1mbit delay 10ms reorder 25%",
            {
                "rate": "1mbit",
                "queue": "1000p",
                "holds": "1000p",
                "reorder": {"probability": 0.75, "delay": "10ms"},
            },
        ),
        (
            # With a rate packets keep their order; a normal number is -4 at least.
            f"{ADD}netem rate 1mbit delay 30ms 5ms distribution normal limit 50",
            {
                "rate": "1mbit", "delay": "10ms", "queue": "50p", "holds": "50p",
                "reverse": {"delay": "0s"},
                "jitter": {
                    "mean": "20ms", "deviation": "5ms", "distribution": "normal",
                    "overtaken": False,
                },
            },
        ),
        (
            f"{LIMITED}{BELOW}netem delay 1ms 2ms distribution paretonormal",
            # The tbf has no queue of its own then.
            {
                **BUCKET, "queue": "1000p", "holds": "1000p",
                "jitter": {
                    "mean": "1ms", "deviation": "2ms", "distribution": "pareto-normal",
                    "overtaken": True,
                },
            },
        ),
        (
            f"{ADD}handle 1: netem delay 5ms limit 90\n"
            "tc qdisc add dev eth0 parent 1:1 tbf rate 10mbit burst 10kb latency 40ms",
            {
                **BUCKET, "delay": "5ms", "queue": "60240b", "holds": "90p",
                "reverse": {"delay": "0s"},
            },
        ),
        (
            f"{LIMITED}{BELOW}fq_codel limit 600 flows 64 quantum 300 target 20ms noecn",
            {
                **BUCKET,
                "queue": {
                    "discipline": "fq-codel", "limit": "600p", "queues": 64,
                    "quantum": "300b", "target": "20ms", "ecn": False,
                },
            },
        ),
        (
            f"{LIMITED}{BELOW}pie limit 100 target 20ms tupdate 30ms alpha 2 beta 20 ecn",
            {
                **BUCKET,
                "queue": {
                    "discipline": "pie", "limit": "100p", "target": "20ms", "update": "30ms",
                    "alpha": 0.125, "beta": 1.25, "ecn": True,
                },
            },
        ),
        (
            f"{LIMITED}{BELOW}fq_pie flows 64 target 10ms tupdate 5ms alpha 4 ecn_prob 20 ecn",
            {
                **BUCKET,
                "queue": {
                    "discipline": "fq-pie", "queues": 64, "target": "10ms", "update": "5ms",
                    "alpha": 0.25, "ecn_probability": 0.2, "ecn": True,
                },
            },
        ),
        (
            f"{LIMITED}{BELOW}dualpi2 limit 500 step_thresh 2ms coupling_factor 3 alpha 0.2"
            " classic_protection 5% overflow drop_enqueue",
            {
                **BUCKET,
                "queue": {
                    "discipline": "dualpi2", "limit": "500p", "step": "2ms", "coupling": 3,
                    "alpha": 0.2, "classic_protection": 0.05, "drop_overload": False,
                    "drop_early": True,
                },
            },
        ),
        (
            f"{ADD}cake bandwidth 20mbit besteffort dual-srchost nat ack-filter metro"
            " pppoe-vcmux ether-vlan mpu 60 memlimit 1Mb",
            {
                "rate": "20mbit",
                "queue": {
                    "discipline": "cake", "rate": "20mbit", "isolate": "dual-srchost",
                    "ack_filter": "conservative", "rtt": "10ms", "overhead": 36, "mpu": 60,
                    "framing": "atm", "limit": "1048576b",
                },
            },
        ),
        (
            "qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 20Mbit diffserv3 triple-isolate"
            " nonat nowash no-ack-filter split-gso rtt 50ms raw overhead 0",
            {
                "rate": "20mbit",
                "queue": {
                    "discipline": "cake", "isolate": "triple-isolate", "ack_filter": "off",
                    "rtt": "50ms",
                },
            },
        ),
        (
            f"{LIMITED}{BELOW}cake unlimited flows ethernet",
            {**BUCKET, "queue": {"discipline": "cake", "isolate": "flows"}},
        ),
        (
            "qdisc netem 8001: dev eth0 root refcnt 2 limit 90 delay 5ms rate 2Mbit",
            {
                "rate": "2mbit", "delay": "5ms", "queue": "90p", "holds": "90p",
                "reverse": {"delay": "0s"},
            },
        ),
        (
            f"{ADD}handle 1: htb default 10\n"
            "tc class add dev eth0 parent 1: classid 1:10 htb rate 5mbit ceil 9mbit\n"
            "tc qdisc add dev eth0 parent 1:10 \\\n  codel limit 80",
            {"rate": "5mbit", "queue": {"discipline": "codel", "limit": "80p", "ecn": False}},
        ),
    ],
)  # fmt: skip
def test_lines_of_tc_become_a_network(text: str, expected: dict[str, Any], read: Read) -> None:
    assert network(read(text)) == expected


def test_red_has_the_largest_weight_that_lets_the_burst_pass(read: Read) -> None:
    line = f"{LIMITED}{BELOW}red limit 60000 min 15000 max 45000 avpkt 1000 burst 20"
    queue = network(read(line))["queue"]
    assert (queue["weight"], queue["min_threshold"], queue["gentle"]) == (2**-3, "15000b", False)
    averages = []
    for weight in (queue["weight"], 2 * queue["weight"]):
        average = 0.0
        for waiting in range(1, 21):
            average += weight * (waiting - average)
        averages.append(average)
    assert averages[0] < 15 < averages[1]


def test_a_round_trip_is_the_delay_unless_one_is_given(tmp_path: Path) -> None:
    file = tmp_path / "queue.sh"
    file.write_text(f"{ADD}netem rate 1mbit delay 30ms 10ms")
    described = Described.read(file, {}, "bbr")
    assert described is not None
    assert described.scenario["network"]["rtt"] == "20ms"
    assert described.scenario["network"]["jitter"]["mean"] == "10ms"
    assert described.scenario["network"]["delay"] == "20ms"
    assert described.scenario["flow"] == [{"algorithm": "bbr"}]
    file.write_text(f"{ADD}netem rate 1mbit")
    with pytest.raises(InputError, match=r"gives no delay.*`rtt`"):
        Described.read(file, {}, None)


def test_what_has_no_equal_is_noted_with_its_line(read: Read) -> None:
    notes = read(f"{LIMITED}\n{BELOW}fq_codel memory_limit 4Mb ce_threshold 1ms").notes
    assert notes == snapshot(
        (
            "line 3: `memory_limit 4Mb` of fq-codel has no equal",
            "line 3: `ce_threshold 1ms` of fq-codel has no equal",
        )
    )


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("loss gemodel 1% 20% 70% 0.1%", "loss gemodel p 1% r 20% 1-h 70% 1-k 0.1%"),
        ("loss state 1% 20% 10%", "loss state p13 1% p31 20% p32 10% p23 100% p14 0%"),
        ("rate 2mbit 20 5", "rate 2Mbit packetoverhead 20 cellsize 5"),
        ("slot 800us 1ms packets 5", "slot 800us 1ms packets 5"),
    ],
)
def test_netem_is_read_as_it_is_typed_and_as_it_is_shown(
    typed: str, shown: str, read: Read
) -> None:
    rate = "" if "rate" in typed else "rate 1mbit "
    one = read(f"{ADD}netem {rate}{typed}")
    other = read(f"qdisc netem 8001: dev eth0 root refcnt 2 limit 1000 {rate}{shown}")
    assert (one.scenario, one.notes) == (other.scenario, other.notes)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (
            "red 1: root refcnt 2 limit 400000b min 30000b max 90000b ecn ewma 5 probability 0.1"
            " Scell_log 9",
            {"weight": 2**-5, "max_probability": 0.1, "ecn": True},
        ),
        (
            "fq 1: root refcnt 2 limit 900p bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 weights"
            " 589824 196608 65536 quantum 3028b horizon 10s horizon_drop",
            {"limit": "900p", "quantum": "3028b"},
        ),
        (
            "codel 1: dev eth0 root refcnt 2 limit 90p target 4.99ms interval 100ms\n"
            " Sent 101345 bytes 738 pkt (dropped 0, overlimits 0 requeues 1)\n"
            "  count 0 lastcount 0 ldelay 0us drop_next 0us\n",
            {"limit": "90p", "target": "4.99ms"},
        ),
    ],
)
def test_a_queue_is_read_as_tc_shows_it_with_details_and_counters(
    shown: str, expected: dict[str, Any], read: Read
) -> None:
    queue = network(read(f"qdisc {shown}", rate="1mbit"))["queue"]
    assert expected.items() <= queue.items()


def test_a_round_trip_has_at_least_the_delay_of_the_lines(read: Read) -> None:
    with pytest.raises(InputError) as raised:
        read(f"{ADD}netem rate 1mbit delay 60ms")
    assert (raised.value.key, raised.value.value) == ("rtt", "40ms")


def test_what_gives_way_to_an_option_is_noted(read: Read) -> None:
    described = read(f"{ADD}cake bandwidth 20mbit", rate="100mbit", queue="1bdp")
    assert described.network["rate"] == "100mbit"
    noted = " ".join(described.notes)
    assert all(lost in noted for lost in ('"20mbit"', '"100mbit"', '"cake"', '"1bdp"'))


def test_what_netem_has_more_is_noted(read: Read) -> None:
    text = f"{ADD}netem rate 1mbit 20 5 loss state 1% 20% 10% 100% 0% slot 800us 1ms packets 5"
    assert read(text).notes == snapshot(
        (
            "line 1: `packetoverhead 20` has no equal",
            "line 1: `cellsize 5` has no equal",
            "line 1: `p32 10%` of the loss states has no equal",
            "line 1: `slot 800us 1ms packets 5` has no equal",
        )
    )
    assert read(f"{ADD}netem rate 1mbit loss state 1% 20% 0% 100% 0%").notes == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{ADD}netem rate 1mbit loss gemodel", "line 1: ends where a percentage is expected"),
        (f"{ADD}hfsc default 1", "line 1: hfsc has no equal here"),
        (f"{ADD}netem colour red", "line 1: netem has no option 'colour'"),
        (f"{ADD}netem loss 101%", "line 1: 101 % is more than all"),
        (f"{ADD}netem delay 10km", "line 1: '10km' is not a time"),
        (f"{ADD}netem rate", "line 1: ends where a rate is expected"),
        (f"{ADD}cake tasty", "line 1: cake has no option 'tasty'"),
        (f"{ADD}cake bandwidth 1mbit overhead -4", "line 1: '-4' is not a number"),
        (f"{ADD}tbf rate 1mbit", "line 1: tbf without its rate or burst"),
        (f"{LIMITED}{BELOW}netem rate 2mbit", "line 2: gives a second `rate`"),
        (f"{ADD}netem delay 1ms", "gives no rate"),
        (f"{LIMITED}tc qdisc add dev eth1 root pfifo", "describes 2 devices: eth0, eth1"),
        (f"{LIMITED}echo done", "line 2: 'echo' is no line of tc"),
        (f"{ADD}netem 'rate", "line 1: No closing quotation"),
    ],
)
def test_a_wrong_line_is_an_error_at_its_place(text: str, message: str, read: Read) -> None:
    with pytest.raises(InputError) as raised:
        read(text)
    assert message in place_and_problem(raised.value)


TRACE = """KEEP,LATENCY,RATE,LOSS,LIMIT
1000000,20000000,10000000,0,100
500000,30000000,5000000,0,100
500000,20000000,10000000,4294967295,100
"""


def test_a_trace_of_theaterq_becomes_values_as_they_change(read: Read) -> None:
    described = read(TRACE, "trace.csv")
    assert network(described) == {
        "rate": [
            {"at": "0s", "rate": "10mbit"},
            {"at": "1s", "rate": "5mbit"},
            {"at": "1.5s", "rate": "10mbit"},
        ],
        "delay": [
            {"at": "0s", "delay": "20ms"},
            {"at": "1s", "delay": "30ms"},
            {"at": "1.5s", "delay": "20ms"},
        ],
        "queue": "100p",
        "holds": "100p",
        "loss": [
            {
                "place": "bottleneck",
                "probability": [
                    {"at": "0s", "probability": 0.0},
                    {"at": "1.5s", "probability": 1.0},
                ],
            }
        ],
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (",LIMIT", "", "line 1: has no column LIMIT"),
        ("10000000,0,100", "fast,0,100", "line 2: RATE is no whole number"),
        ("4294967295", "4294967296", "line 4: LOSS is no whole number"),
        ("5000000,0,100", "5000000,0", "line 3: has 4 values"),
        ("500000,", "0,", "line 3: KEEP is 0"),
        (",10000000,0", ",0,0", "a RATE of 0 is no limit in TheaterQ"),
    ],
)
def test_a_wrong_trace_is_an_error_at_its_place(
    old: str, new: str, message: str, read: Read
) -> None:
    with pytest.raises(InputError) as raised:
        read(TRACE.replace(old, new, 1), "trace.csv")
    assert message in place_and_problem(raised.value)


def test_routes_of_theaterq_are_taken_and_its_route_0_is_noted(read: Read) -> None:
    def delays(*routes: int) -> tuple[Any, tuple[str, ...]]:
        rows = [f"{row},{route}" for row, route in zip(TRACE.split()[1:], routes, strict=True)]
        described = read("\n".join([f"{TRACE.split(maxsplit=1)[0]},ROUTE_ID", *rows]), "trace.csv")
        return network(described)["delay"], described.notes

    steps, notes = delays(1, 2, 1)
    assert [step["route"] for step in steps] == [1, 2, 1]
    assert not any("order" in note for note in notes)
    assert any("keep their order" in note for note in delays(0, 0, 0)[1])


def test_a_table_of_netem_is_taken_from_next_to_the_file(read: Read, tmp_path: Path) -> None:
    line = f"{ADD}netem rate 1mbit delay 30ms 5ms distribution experimental"
    with pytest.raises(InputError) as refused:
        read(line)
    assert refused.value.problem == snapshot("the table experimental.dist is not next to the file")
    (tmp_path / "experimental.dist").write_text("# ours\n-8192 0\n4096\n")
    jitter = network(read(line))["jitter"]
    assert jitter["mean"] == "30ms"
    assert jitter["distribution"] == {"table": str(tmp_path / "experimental.dist")}


def test_an_unknown_file_names_what_can_be_imported(dumbbell: Command, tmp_path: Path) -> None:
    (tmp_path / "some.txt").write_text("nothing\n")
    output = dumbbell("import", "some.txt")
    assert output.code == 2
    assert all(word in output.err for word in ("iperf3", "tc qdisc", "TheaterQ")), output.err


def test_a_described_network_can_be_simulated(dumbbell: Command, tmp_path: Path) -> None:
    (tmp_path / "queue.sh").write_text(f"{LIMITED}{BELOW}netem delay 20ms\n")
    output = dumbbell("import", "queue.sh")
    assert (output.code, tomllib.loads(output.out)["network"]["rtt"]) == (0, "20ms")
    output = dumbbell("import", "queue.sh", "--scenario", "net.toml")
    assert (output.code, "dumbbell simulate net.toml" in output.err) == (0, True)
    assert dumbbell("simulate", "net.toml", "--duration", "1s").code == 0
