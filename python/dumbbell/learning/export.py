"""A policy as a C file, which runs in the simulator and in the kernel."""

from __future__ import annotations

import re
import textwrap
from importlib import resources
from pathlib import Path
from typing import Any, Final

from dumbbell.algorithms import catalogue
from dumbbell.base.arguments import wrong
from dumbbell.base.errors import InputError, refusing
from dumbbell.base.lazy import jinja2
from dumbbell.gym.actions import ACTIONS
from dumbbell.learning.fixed import INTERVALS, ONE, PART_SHIFT, SHIFT, FixedPolicy, Integers
from dumbbell.learning.policy import Policy

_YEAR: Final = 2026
_COLUMNS: Final = 80
_PARTS: Final = 1024

_SEEN: Final = {
    "delivery_mbit_per_s": "NAME_of(rate, state->best_bytes_per_s)",
    "loss_share": "NAME_of((u32)conn->lost_segs - state->lost_segs,\n"
    "\t\t\t  (u64)((u32)conn->lost_segs - state->lost_segs) + delivered)",
    "mark_share": "NAME_of((u32)conn->delivered_ce_segs - state->marked_segs, delivered)",
    "rtt_min_ms": "NAME_of(state->rtt_count ? state->rtt_min_us : state->rtt_us,\n"
    "\t\t\t  NAME_path_us(state))",
    "rtt_mean_ms": "NAME_of(state->rtt_count ? state->rtt_sum_us / state->rtt_count :\n"
    "\t\t\t\t\t     state->rtt_us,\n\t\t\t  NAME_path_us(state))",
    "rtt_ms": "NAME_of(state->rtt_us, NAME_path_us(state))",
    "in_flight_segs": "NAME_of_path(state, in_flight_segs)",
    "cwnd_segs": "NAME_of_path(state, conn->cwnd_segs)",
}
"""Each field in C, with NAME for the name of the algorithm."""


def export(policy: Policy, file: str | Path) -> FixedPolicy:
    """Write a policy as a C file, an algorithm of the file's name.

    Parameters
    ----------
    policy
        The policy.
    file
        The file to write, such as "learnt.c".

    Returns
    -------
    FixedPolicy
        The integers in the file: `act` decides as the file does.

    Raises
    ------
    InputError
        For something else than a policy, a number that is too large, or a name that no algorithm
        can have.
    """
    if not isinstance(policy, Policy):
        raise wrong("policy", policy, "not a policy", "a dumbbell.learning.Policy")
    path = Path(file)
    if path.suffix != ".c":
        raise InputError(
            "not a C file", key="file", value=str(file), valid="a name such as learnt.c"
        )
    catalogue.check_new_name(path.stem)
    fixed = FixedPolicy.of(policy)
    with refusing("write it", path):
        path.write_text(text(fixed, path.stem))
    return fixed


def text(fixed: FixedPolicy, name: str) -> str:
    """Return the C file of an algorithm of that name."""
    policy = fixed.policy
    made = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined, autoescape=False,
    )  # fmt: skip
    source = resources.files("dumbbell.learning").joinpath("learnt.c.j2").read_text()
    window = ACTIONS["window"]
    return made.from_string(source).render(
        name=name,
        NAME=name.upper(),
        title=name.replace("_", " ").capitalize(),
        year=_YEAR,
        observe=policy.observe,
        history=policy.history,
        inputs=policy.history * len(policy.observe),
        seen=_SEEN,
        uses_path=any("path" in _SEEN[observation] for observation in policy.observe),
        uses_amounts=any("of_path" in _SEEN[observation] for observation in policy.observe),
        info_names={
            observation: re.sub(r"_(mbit_per_s|ms|segs|share)$", "", observation)
            for observation in _SEEN
        },
        round_trips=_round_trips(policy.round_trips),
        round_trip_parts=max(1, round(policy.round_trips * _PARTS)),
        low=f"{policy.factor[0]:g}",
        high=f"{policy.factor[1]:g}",
        sizes=" x ".join(str(width) for width in _widths(fixed)),
        layers=_layers(fixed),
        # The numbers of the last hidden layer are not kept.
        stored=max(_widths(fixed)[1:-2], default=0),
        factors=_wrapped(fixed.factors),
        intervals=INTERVALS,
        one=ONE,
        shift=SHIFT,
        part_shift=PART_SHIFT,
        part_mask=(1 << PART_SHIFT) - 1,
        most=int(policy.ceiling * ONE),
        window_min=int(window.low),
        window_max=int(window.high),
    )


def _round_trips(count: float) -> str:
    return "a round trip" if count == 1 else f"{count:g} round trips"


def _widths(fixed: FixedPolicy) -> list[int]:
    first = fixed.layers[0][0].shape[0]
    return [first, *(int(biases.shape[0]) for _, biases in fixed.layers)]


def _wrapped(numbers: Integers) -> str:
    """Return numbers for the lines of a table in C."""
    return textwrap.fill(", ".join(map(str, numbers.tolist())), _COLUMNS, subsequent_indent="\t ")


def _layers(fixed: FixedPolicy) -> list[dict[str, Any]]:
    """Return layers with a row of weights for each output, as C has them."""
    return [
        {
            "inputs": weights.shape[0],
            "outputs": weights.shape[1],
            "weights": [_wrapped(row) for row in weights.T],
            "biases": _wrapped(biases),
        }
        for weights, biases in fixed.layers
    ]
