"""Scale of a scenario that is drawn at random: its speed and length, for its other values.

Rates span nine orders of magnitude. All times are parts of the run's length, and that is so many
packets' time, so each of these scenarios takes well below a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

Table = dict[str, Any]
Options = Mapping[str, st.SearchStrategy[Any]]

EXAMPLES: Final = Path(__file__).parents[1] / "examples"
TRACES: Final = Path(__file__).parent / "traces"

PACKETS_MAX: Final = 20_000
"""Of 1500 bytes, which the bottleneck carries within the run."""

S: Final = 10**9


@dataclass(frozen=True)
class Scale:
    """Rate of the bottleneck and length of the run.

    If `has_files` is set, the scenario may name files: those of a radio link in `EXAMPLES`, and the
    short delays and the fades in `TRACES`.
    """

    rate_bps: int
    duration_ns: int
    has_files: bool = False

    def rate(self, share: float) -> str:
        """Return a rate that is a part or a multiple of the bottleneck's."""
        return f"{max(1, int(self.rate_bps * share))}bit"

    @property
    def load(self) -> float:
        """Share of some dozens of transfers of a kilobyte in all that the bottleneck carries."""
        return min(0.3, 40 * 8_000 * S / (self.rate_bps * self.duration_ns))

    def time(self, share: float) -> str:
        """Return a part of the run's length."""
        return f"{max(1, int(self.duration_ns * share))}ns"


RADIO: Final = Scale(3_500_000, 20 * S, has_files=True)

_RATES_BPS: Final = (10**7, 10**8, 1_500_000, 10**9, 64_000, 10**10, 10**11, 999_999_937, 1_000)

scales: Final = st.sampled_from(
    [
        Scale(rate_bps, packets * 12_000 * S // rate_bps)
        for packets in (300, 3_000, PACKETS_MAX)
        for rate_bps in _RATES_BPS
    ]
    + [RADIO] * 4
)
"""Common values come first."""


def parts(scale: Scale, *shares: float) -> st.SearchStrategy[str]:
    """Draw a part of the run's length."""
    return st.sampled_from([scale.time(share) for share in shares])


def multiples(scale: Scale, *shares: float) -> st.SearchStrategy[str]:
    """Draw a multiple of the bottleneck's rate."""
    return st.sampled_from([scale.rate(share) for share in shares])


def some(
    required: Options, optional: Options, often: Sequence[str] = ()
) -> st.SearchStrategy[Table]:
    """Draw a table with the required keys and none, a few or all of the optional ones.

    Most shortcuts of the engine are taken only where nearly nothing is set.
    """
    if not optional:
        return st.fixed_dictionaries(required)
    names = st.sampled_from([*optional, *often])
    few = st.one_of(
        *(st.lists(names, unique=True, max_size=most) for most in (0, 1, 2, 3)),
        st.just(list(optional)),
    )

    return _table(required, optional, few)


@st.composite
def _table(
    draw: st.DrawFn, required: Options, optional: Options, names: st.SearchStrategy[list[str]]
) -> Table:
    picked = draw(names)
    chosen = {**required, **{name: optional[name] for name in optional if name in picked}}
    return {name: draw(values) for name, values in chosen.items()}


def changing(
    scale: Scale, key: str, first: st.SearchStrategy[Any], later: st.SearchStrategy[Any]
) -> st.SearchStrategy[list[Table]]:
    """Draw a value that is another from some time on."""
    return st.builds(
        lambda a, b, share: [{"at": "0s", key: a}, {"at": scale.time(share), key: b}],
        first,
        later,
        st.sampled_from([0.3, 0.01]),
    )
