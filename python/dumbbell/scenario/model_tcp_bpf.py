"""TCP-BPF: what a program sets of connections while they are set up."""

from __future__ import annotations

from typing import Any, Final, Self

from pydantic import Field, field_validator, model_validator

from dumbbell.base.errors import InputError
from dumbbell.base.units import Bytes, Duration, Packets, format_bytes, format_time
from dumbbell.scenario.tables import Table

BUFFER_LEAST: Final = 2304
"""The kernel makes smaller ones larger."""

BUFFER_MOST: Final = 2**30 - 1
"""The kernel doubles it in 31 bits."""

_NS_PER_US: Final = 1000
_BASE_RTT_MOST_NS: Final = (2**31 - 1) * _NS_PER_US


class TcpBpf(Table):
    """TCP-BPF (Brakmo 2017): settings that a program makes while a connection is set up.

    It works with every congestion control. On the testbed a BPF program does it; in the simulator
    it has the same effect. At least one key is needed.
    """

    cwnd_clamp: Packets | None = Field(None, examples=["100p"])
    """Largest congestion window that growth may reach. Slow start ends there, and a larger initial
    window is cut to it."""

    initial_window: Packets | None = Field(None, examples=["32p"])
    """The congestion window to begin with; by default the stack's."""

    send_buffer: Bytes | None = Field(None, examples=["150kb"])
    """Size of the sender's buffer, as set by `SO_SNDBUF`. The kernel doubles it, because packets
    need memory besides their payload. A sender needs little such memory, so twice this size of
    payload may be outstanding. On the testbed it is up to 64 KB more, because the last chunk is
    filled."""

    receive_buffer: Bytes | None = Field(None, examples=["150kb"])
    """Size of the receiver's buffer, as set by `SO_RCVBUF`. The kernel doubles it, and half of that
    may be payload, so this size may be outstanding. On the testbed it is somewhat more once the
    kernel has measured the memory of packets; 15 % more was measured."""

    base_rtt: Duration | None = Field(None, examples=["80us"])
    """Round-trip time of the empty path, which some algorithms use; by default they measure it."""

    @field_validator("send_buffer", "receive_buffer")
    @classmethod
    def _buffer_limits(cls, size: int | None) -> int | None:
        if size is not None and not BUFFER_LEAST <= size <= BUFFER_MOST:
            raise InputError(
                "impossible size of a socket's buffer",
                valid=f"{BUFFER_LEAST} to {BUFFER_MOST} bytes",
            )
        return size

    @field_validator("base_rtt")
    @classmethod
    def _whole_microseconds(cls, rtt: int | None) -> int | None:
        if rtt is not None and (rtt % _NS_PER_US or rtt > _BASE_RTT_MOST_NS):
            raise InputError(
                "the kernel counts whole microseconds in 31 bits",
                value=format_time(rtt),
                valid="1us to 2147s, a multiple of 1us",
            )
        return rtt

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if all(getattr(self, key) is None for key in type(self).model_fields):
            raise InputError("sets nothing", valid='at least one key, such as cwnd_clamp = "100p"')
        clamp, initial = self.cwnd_clamp, self.initial_window
        if clamp is not None and initial is not None and initial > clamp:
            raise InputError(
                f"more than cwnd_clamp = {clamp}p lets it be",
                key="initial_window",
                value=f"{initial}p",
                valid=f"1p to {clamp}p",
            )
        return self

    def check_packet(self, packet: int) -> None:
        """Refuse buffers that hold no full packet."""
        for key in ("send_buffer", "receive_buffer"):
            size = getattr(self, key)
            if size is not None and size < packet:
                raise InputError(
                    f"smaller than one packet of {packet} bytes",
                    key=f"tcp_bpf.{key}",
                    value=format_bytes(size),
                    valid=f"{packet} bytes or more",
                )

    def resolve(self) -> dict[str, Any]:
        """Return the settings in base units."""
        return {
            "cwnd_clamp_segs": self.cwnd_clamp,
            "initial_window_segs": self.initial_window,
            "send_buffer_bytes": self.send_buffer,
            "receive_buffer_bytes": self.receive_buffer,
            "base_rtt_us": None if self.base_rtt is None else self.base_rtt // _NS_PER_US,
        }
