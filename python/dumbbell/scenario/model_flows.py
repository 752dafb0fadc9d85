"""Flows: single ones, and short ones that arrive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from dumbbell.algorithms import catalogue
from dumbbell.base.errors import InputError, placed
from dumbbell.base.units import (
    NS_PER_S,
    Bytes,
    Count,
    Integer,
    Number,
    Rate,
    Share,
    Time,
    Volume,
    WholeDelay,
    format_bytes,
    format_rate,
    format_time,
)
from dumbbell.scenario import facts
from dumbbell.scenario.model_rates import AppRateSpec, app_rate_steps, check_app_rate
from dumbbell.scenario.model_sizes import SizeSpec
from dumbbell.scenario.model_stack import Stack, Switches
from dumbbell.scenario.model_tcp_bpf import TcpBpf
from dumbbell.scenario.model_workloads import (
    AppLimited,
    Bulk,
    Incast,
    OnOff,
    Rpc,
    Start,
    WorkloadSpec,
)
from dumbbell.scenario.tables import NAME_MAX, Name, Table
from dumbbell.scenario.traces import read_arrivals

FLOWS_MAX: Final = 10_000
"""Of all `[[flow]]` together, which may last for the whole run."""

ALL_FLOWS_MAX: Final = 100_000
"""With those that arrive, of which few are there at the same time."""

HEADER_BYTES: Final = 52
"""IP (20), TCP (20) and its timestamp option (12)."""

TIMESTAMPS_BYTES: Final = 12
"""Bytes of it that a stack whose switch `timestamps` is off saves."""

ACCECN_BYTES: Final = 12
"""Bytes that the AccECN option adds (RFC 9768, section 3.2.3), padded."""

READ_BYTES: Final = 128 << 10
"""Default of a block that an application reads, as in iperf3."""

READ_BYTES_MAX: Final = 1 << 30
"""The largest window."""

UDP_HEADER_BYTES: Final = 28
"""IP (20) and UDP (8)."""


def _pair(hops: tuple[int, ...]) -> tuple[int, ...]:
    if len(hops) != 2:
        raise InputError("not the first and the last hop", value=list(hops), valid="[first, last]")
    return hops


def _check_written_parameters(value: Any, info: ValidationInfo) -> Any:
    """Refuse an unknown name of a parameter before anything that is wrong with its value."""
    choice = info.data.get("algorithm")
    if isinstance(choice, str) and isinstance(value, Mapping) and value:
        algorithm = choose(choice, info).algorithm
        for name, amount in value.items():
            with placed(key=str(name)):
                algorithm.check_written(str(name), amount)
    return value


class Traffic(Table):
    """Keys that single flows and arriving ones share: their TCP and their path."""

    rtt: WholeDelay | None = Field(None, examples=["162ms"])
    """Two-way propagation time of the whole path; by default the network's. Not in a graph."""

    packet: Bytes = Field(1500, examples=[1500, 9000])
    """Size of its full IP packets. It includes 52 bytes of IP and TCP headers (40 without
    timestamps), or 28 bytes of IP and UDP headers."""

    parameters: Annotated[Mapping[str, Integer], BeforeValidator(_check_written_parameters)] = (
        Field({}, examples=[{"delta_l": 500}])
    )
    """Parameters of the algorithm that differ from the preset (`dumbbell algorithms show`)."""

    stack: Stack | None = Field(None, examples=["linux-2.6.6"])
    """Its TCP stack; by default the scenario's."""

    switches: Switches = Field({}, examples=[{"quick_acks": 0}])
    """Switches that differ from its stack."""

    tcp_bpf: TcpBpf | None = Field(None, examples=[{"cwnd_clamp": "100p"}])
    """Settings of a BPF program for its connection; by default none."""

    label: Name | None = Field(None, examples=["late flow"])
    """Name of the flow in tables and figures, numbered if there are several; by default the
    algorithm and a number."""

    group: str | None = Field(
        None, pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=NAME_MAX, examples=["stream"]
    )
    """Name of a group of flows, whose quantities are computed together."""

    class_: Name | None = Field(None, alias="class", examples=["nv"])
    """Class of its packets, data and acknowledgements, in queues that serve classes (discipline
    `classes` with `by = "class"`)."""

    host: Name | None = Field(None, examples=["client"])
    """Name of the sending host; flows of the same host share its access link. By default each flow
    has a separate host."""

    direction: Literal["forward", "reverse"] = Field("forward", examples=["reverse"])
    """Direction of its data. With `reverse`, data crosses the reverse bottleneck, and
    acknowledgements cross the forward one. Not in a graph."""

    hops: Annotated[tuple[Count, ...], AfterValidator(_pair)] | None = Field(
        None, examples=[[1, 3]]
    )
    """First and last hop in a parking lot, from 1; by default all."""

    source: str | None = Field(None, alias="from", examples=["a"])
    """The node in a graph where it enters the network."""

    target: str | None = Field(None, alias="to", examples=["b"])
    """The node in a graph where it leaves the network."""

    via: tuple[str, ...] = Field((), examples=[["c", "d"]])
    """Nodes in a graph that it passes, in this order; between them it takes the path of least
    delay. Acknowledgements come back the same way."""

    @field_validator("packet")
    @classmethod
    def _packet_limits(cls, packet: int) -> int:
        if not HEADER_BYTES < packet <= 65535:
            raise InputError(
                f"an IP packet holds {HEADER_BYTES} bytes of headers, some data and "
                "at most 65535 bytes",
                valid=f"{HEADER_BYTES + 1} to 65535",
            )
        return packet

    _chosen: Chosen | None = PrivateAttr(None)

    @property
    def chosen(self) -> Chosen:
        """Its algorithm and preset; datagrams have none."""
        # Not by its name, which pydantic looks up slowly: each of thousands of flows asks for it.
        chosen: Chosen | None = (self.__pydantic_private__ or {})["_chosen"]
        assert chosen is not None, "UDP has no algorithm"
        return chosen

    def _keep_choice(self, choice: str, info: ValidationInfo) -> None:
        try:
            self._chosen = choose(choice, info)
        except InputError as error:
            if error.value is None:
                error.value = choice
            raise error.at(key="algorithm") from None
        object.__setattr__(self, "algorithm", _settled(choice, self._chosen))
        _check_parameters(self._chosen.algorithm, self.parameters)

    @field_validator("label")
    @classmethod
    def _not_a_connection(cls, label: str | None) -> str | None:
        if label is not None and facts.is_connection(label):
            raise InputError(
                "the connections of a flow with parallel have such names",
                value=label,
                valid=f'for example "{facts.whole(label) or "bulk"}"',
            )
        return label

    @model_validator(mode="after")
    def _buffers_hold_a_packet(self) -> Self:
        if self.tcp_bpf is not None:
            self.tcp_bpf.check_packet(self.packet)
        return self


@dataclass(frozen=True)
class Chosen:
    """A choice of algorithm and preset, as the files were when it was read."""

    algorithm: catalogue.Algorithm
    preset: str | None

    def resolved(self, parameters: Mapping[str, int]) -> tuple[str | None, dict[str, int]]:
        """Return the preset that the engine knows, and the parameters that differ from it."""
        if self.preset is None or not catalogue.is_preset_file(self.preset):
            return self.preset, dict(parameters)
        return None, {**self.algorithm.preset(self.preset).values, **parameters}


def choose(choice: str, info: ValidationInfo) -> Chosen:
    """Return the algorithm and preset of a choice; an unknown one is an InputError."""
    context = info.context or {}
    own_algorithms = context.get("own_algorithms", catalogue.NO_OWN_ALGORITHMS)
    return Chosen(*catalogue.split_preset(choice, context.get("folder", Path()), own_algorithms))


def _settled(choice: str, chosen: Chosen) -> str:
    """Return the choice so that it means the same elsewhere: with the whole path of a file."""
    named_files = chosen.algorithm.path or catalogue.is_preset_file(chosen.preset or "")
    if not named_files:
        return choice
    return (chosen.algorithm.path or chosen.algorithm.name) + (
        f"@{chosen.preset}" if chosen.preset else ""
    )


def _check_parameters(algorithm: catalogue.Algorithm, parameters: Mapping[str, int]) -> None:
    for name, value in parameters.items():
        with placed(key=f"parameters.{name}"):
            algorithm.check_parameter(name, value)


class _FlowKind(Table):
    algorithm: str | None = Field(None, examples=["htcp", "htcp@li2007", "./my_cc.c"])
    """Congestion control, optionally with `@` and the name of a preset; TCP needs one,
    by default the scenario's. A user-defined C file is named by its path, relative to this file."""

    transport: Literal["tcp", "udp"] = Field("tcp", examples=["udp"])
    """Its protocol; `udp` sends at its `rate`."""

    rate: AppRateSpec | None = Field(
        None,
        examples=["200mbit", [{"at": "0s", "rate": "2mbit"}, {"at": "5s", "rate": "500kbit"}]],
    )
    """Rate at which `udp` sends, including IP headers: a constant, a list of changes over the run
    with `0bit` for silence, or a file of such changes."""

    count: Integer = Field(1, examples=[2])
    """Number of such flows."""

    parallel: Integer = Field(1, examples=[16])
    """Connections that carry the flow together (P-TCP). They start at once, from one host over one
    path, and divide `bytes` among them; metrics and figures show their sum."""

    start: Start = Field(
        "0s", validate_default=True, examples=["10s", {"from": "30s", "to": "90s"}]
    )
    """When the flow starts; a range gives each flow a random start."""

    stop: Time | None = Field(None, examples=["600s"])
    """When the flow stops; by default at the end of the run."""

    bytes: Volume | None = Field(None, examples=["10mb"])
    """Size of the flow; by default it never runs out of data."""

    workload: WorkloadSpec | None = Field(
        None,
        examples=[
            {"kind": "rpc", "bytes": "10kb"},
            {"kind": "incast", "bytes": "32kb", "pause": "1ms"},
            {"kind": "on-off", "on": "1s", "off": "2s"},
            {"kind": "app-limited", "rate": "5mbit"},
        ],
    )
    """Its application; by default `bulk`."""

    read_rate: Rate | None = Field(None, examples=["500mbit"])
    """Most payload that the receiving application reads per second. After each read it works for as
    long as `read_bytes` take at this rate, even if it read less. Unread data fills the receive
    buffer, so the receive window limits the sender, as in Linux. By default the application reads
    all data as soon as it arrives, and the receive window limits no sender."""

    read_bytes: Volume | None = Field(None, examples=["128kib"])
    """Most payload of one read; by default 128 KiB, as in iperf3. It needs a `read_rate`."""

    sampled: bool = True
    """True if the flow has rows in the table `flows`."""


class Flow(Traffic, _FlowKind):
    """One or more equal flows."""

    @field_validator("algorithm")
    @classmethod
    def _known_algorithm(cls, choice: str | None, info: ValidationInfo) -> str | None:
        if choice is not None:
            choose(choice, info)
        return choice

    @field_validator("count")
    @classmethod
    def _count_limits(cls, count: int) -> int:
        if not 1 <= count <= FLOWS_MAX:
            raise InputError("impossible number of flows", valid=f"1 to {FLOWS_MAX}")
        return count

    @field_validator("parallel")
    @classmethod
    def _parallel_limits(cls, parallel: int) -> int:
        if not 1 <= parallel <= FLOWS_MAX:
            raise InputError("impossible number of connections", valid=f"1 to {FLOWS_MAX}")
        return parallel

    @model_validator(mode="after")
    def _possible(self, info: ValidationInfo) -> Self:
        if self.transport == "udp":
            self._check_udp()
        else:
            self._check_tcp(info)
        if self.stop is not None and self.stop <= self.start.latest:
            raise InputError(
                f"not after the start at {format_time(self.start.latest)}",
                key="stop",
                value=format_time(self.stop),
                valid=f"more than {format_time(self.start.latest)}",
            )
        return self

    def _check_tcp(self, info: ValidationInfo) -> None:
        if self.algorithm is None:
            raise InputError(
                "is missing", key="algorithm", valid='for example "htcp"; or transport = "udp"'
            )
        self._keep_choice(self.algorithm, info)
        if self.rate is not None:
            raise InputError(
                "TCP finds its rate itself",
                key="rate",
                valid='transport = "udp"; or workload = { kind = "app-limited", rate = "5mbit" }',
            )
        if self.bytes is not None and not isinstance(self.workload, Bulk | None):
            raise InputError(
                f"the workload {self.workload.kind} sets the size",
                key="bytes",
                valid="no such key here, or a bulk workload",
            )
        self._check_reading()
        if isinstance(self.workload, AppLimited):
            self.workload.check_segment(self.packet - HEADER_BYTES)
        if isinstance(self.workload, Incast):
            self._check_incast()
        self._check_parallel()

    def _check_incast(self) -> None:
        if self.count == 1:
            raise InputError(
                "an incast needs more than one flow",
                key="count",
                value=1,
                valid="2 or more; or the workload rpc",
            )
        if self.start.earliest != self.start.latest:
            raise InputError(
                "the flows of an incast start together", key="start", valid='a time, such as "1s"'
            )

    def _check_reading(self) -> None:
        if self.read_rate is None:
            if self.read_bytes is not None:
                raise InputError(
                    "without a read_rate the application reads all data at once",
                    key="read_bytes",
                    value=format_bytes(self.read_bytes),
                    valid="a read_rate, or no read_bytes",
                )
            return
        if isinstance(self.workload, Rpc | Incast):
            raise InputError(
                "a request is answered when it has arrived, not when it has been read",
                key="read_rate",
                value=format_rate(self.read_rate),
                valid="another workload, or no read_rate",
            )
        if self.tcp_bpf is not None and self.tcp_bpf.receive_buffer is not None:
            raise InputError(
                "the stack sizes the buffer of an application with a read_rate",
                key="tcp_bpf.receive_buffer",
                value=format_bytes(self.tcp_bpf.receive_buffer),
                valid="the switches receive_buffer_bytes and receive_buffer_max_bytes,"
                " or no read_rate",
            )
        block = self.read_block
        if block > READ_BYTES_MAX:
            raise InputError(
                "larger than any window",
                key="read_bytes",
                value=format_bytes(block),
                valid=f"at most {format_bytes(READ_BYTES_MAX)}",
            )
        if self.read_rate > block * 8 * NS_PER_S:
            raise InputError(
                "a read takes less than a nanosecond",
                key="read_rate",
                value=format_rate(self.read_rate),
                valid=f"at most {format_rate(block * 8 * NS_PER_S)}",
            )

    @property
    def read_block(self) -> int:
        """Most payload of one read, in bytes."""
        return READ_BYTES if self.read_bytes is None else self.read_bytes

    def _check_parallel(self) -> None:
        if self.parallel == 1:
            return
        if not isinstance(self.workload, Bulk | None):
            raise InputError(
                f"the workload {self.workload.kind} is not divided among connections",
                key="parallel",
                value=self.parallel,
                valid="a bulk workload; or count, for several flows",
            )
        if self.bytes is not None and self.bytes < self.parallel:
            raise InputError(
                f"more connections than the {self.bytes} bytes that they are to carry",
                key="parallel",
                value=self.parallel,
                valid=f"1 to {self.bytes}",
            )

    def _check_udp(self) -> None:
        if self.parallel != 1:
            raise InputError(
                "not for UDP",
                key="parallel",
                value=self.parallel,
                valid="no such key here; or count, for several flows",
            )
        if self.rate is None:
            raise InputError("is missing", key="rate", valid='for example "200mbit"')
        problem = f"a packet of {self.packet} bytes takes less than a nanosecond"
        check_app_rate(self.rate, "rate", self.packet * 8 * NS_PER_S, problem)
        absent = ("algorithm", "bytes", "parameters", "stack", "switches", "tcp_bpf")
        for key in (*absent, "read_rate", "read_bytes"):
            if getattr(self, key):
                raise InputError("not for UDP", key=key, valid="no such key here")
        if not isinstance(self.workload, Bulk | OnOff | None):
            raise InputError("not for UDP", key="workload.kind", valid='"bulk", "on-off"')
        if isinstance(self.workload, OnOff) and len(app_rate_steps(self.rate)) > 1:
            raise InputError(
                "the rate changes already",
                key="workload",
                valid="a constant rate; or silences in the rate, as 0bit",
            )


class _ArrivalsKind(Table):
    algorithm: str | None = Field(None, examples=["cubic", "./my_cc.c"])
    """Congestion control, optionally with `@` and the name of a preset; by default the scenario's.
    A user-defined C file is named by its path, relative to this file."""

    rate: Number | None = Field(None, examples=[20])
    """Flows per second; or set `load` or `file`."""

    load: Share | None = Field(None, examples=["30%"])
    """Their mean share of the slowest link of their path, with headers and the network's
    `overhead`; or set `rate` or `file`."""

    size: SizeSpec | None = Field(
        None,
        examples=["10kb", "web-search", {"distribution": "pareto", "mean": "100kb", "shape": 1.5}],
    )
    """Size of each; required unless there is a `file`."""

    file: str | None = Field(None, examples=["requests.txt"])
    """A file that lists them, relative to the one that names it. Each line has a flow's start,
    counted from `start`, and its size, such as `12.5ms 10kb`. Lines are in order of time."""

    start: Time = Field("0s", validate_default=True, examples=["10s"])
    """Time from which they arrive."""

    stop: Time | None = Field(None, examples=["600s"])
    """Time until which they arrive; by default the end of the run. Not with a `file`."""


class Arrivals(Traffic, _ArrivalsKind):
    """Short flows that arrive at random (a Poisson process) or by a file, without samples.

    Random times and sizes come from the SHA-256 of the scenario's seed, the number of the process
    and the number of the flow. So they are the same on every machine.
    """

    _listed: tuple[tuple[int, int], ...] | None = PrivateAttr(None)

    @property
    def listed(self) -> tuple[tuple[int, int], ...] | None:
        """Starts in ns after `start` and sizes, as in the file; None: they are random."""
        return self._listed

    @model_validator(mode="after")
    def _possible(self, info: ValidationInfo) -> Self:
        if self.algorithm is None:
            raise InputError(
                "is missing", key="algorithm", valid='for example "cubic", "./my_cc.c"'
            )
        self._keep_choice(self.algorithm, info)
        for key in ("rate", "load"):
            if getattr(self, key) == 0:
                raise InputError("must be more than 0", key=key, value=0)
        ways = [key for key in ("rate", "load", "file") if getattr(self, key) is not None]
        if len(ways) != 1:
            problem = f"set twice, as {ways[0]} and as {ways[1]}" if ways else "is missing"
            raise InputError(problem, key="rate", valid="one of rate, load and file")
        if self.file is not None:
            self._read(self.file, info)
        elif self.size is None:
            raise InputError("is missing", key="size", valid='for example "10kb"; or a file')
        if self.stop is not None and self.stop <= self.start:
            raise InputError(
                f"not after the start at {format_time(self.start)}",
                key="stop",
                value=format_time(self.stop),
                valid=f"more than {format_time(self.start)}",
            )
        return self

    def _read(self, file: str, info: ValidationInfo) -> None:
        for key in ("size", "stop"):
            if getattr(self, key) is not None:
                raise InputError(
                    "the file lists the arrivals", key=key, valid="no such key here, or no file"
                )
        path = ((info.context or {}).get("folder", Path()) / file).absolute()
        with placed(key="file"):
            self._listed = read_arrivals(path, ALL_FLOWS_MAX)
        object.__setattr__(self, "file", str(path))

    @field_validator("algorithm")
    @classmethod
    def _known_algorithm(cls, choice: str, info: ValidationInfo) -> str:
        choose(choice, info)
        return choice


AnyTraffic = Flow | Arrivals
"""A source of flows as the file has it."""
