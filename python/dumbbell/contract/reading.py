"""Reading JSON of the contract.

Msgspec works a type out when it first meets it, and crashes if a second thread reads with that type
meanwhile. So decoders are made when modules are imported, here and where else there are any.

It blocks all other threads and Ctrl-C while it reads. So 100,000 flows and their links, which take
most of a second, are read in two steps.
"""

from __future__ import annotations

from typing import Final

from msgspec import Raw
from msgspec.json import Decoder

from dumbbell.contract.scenario import Flow, LinkConfig, Scenario
from dumbbell.contract.summary import Summary

_AT_ONCE: Final = 10_000_000
"""Letters that are read in one step."""


class _Parts(Scenario, frozen=True, kw_only=True):
    """A scenario whose parts that may be large are not read yet."""

    links: Raw  # type: ignore[assignment]
    flows: Raw  # type: ignore[assignment]


_WHOLE: Final = Decoder(Scenario).decode
_PARTS: Final = Decoder(_Parts).decode
_LINKS: Final = Decoder(tuple[LinkConfig, ...]).decode
_FLOWS: Final = Decoder(tuple[Flow, ...]).decode

read_summary: Final = Decoder(Summary).decode


def read_scenario(text: str | bytes | Raw) -> Scenario:
    """Read a resolved scenario; raises msgspec.ValidationError."""
    if len(memoryview(text) if isinstance(text, Raw) else text) <= _AT_ONCE:
        return _WHOLE(text)
    parts = _PARTS(text)
    read = {name: getattr(parts, name) for name in Scenario.__struct_fields__}
    return Scenario(**{**read, "links": _LINKS(parts.links), "flows": _FLOWS(parts.flows)})
