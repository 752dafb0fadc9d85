"""The page of the evaluation: docs/learner.md, and its figure."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import altair as alt
import polars as pl

from dumbbell.base import markdown
from dumbbell.figures import drawing, style
from dumbbell.figures.looks import LOOKS
from dumbbell.learning import Worth
from learner.evaluation import REFERENCE, Beside, Between, Exported, kinds, shares

_LEARNT: Final = "learnt"
_LEAST: Final = -0.1
_LABELS: Final = {"cubic": "CUBIC", "bbr": "BBR", "reno": "Reno"}

_HEAD: Final = """\
# The learnt baseline

`make learner` writes this page. It trains the policy of `examples/learnt` and judges its C file by
runs of the simulator. [Train a baseline](guides/learner.md) explains how. Ranges are 95 % intervals
of a bootstrap over paths.

The *share* is the reward `power-loss` divided by the rate of the bottleneck. A lone flow that fills
its link without a queue and without loss has a share of almost 1. No choice was made by the test
set.
"""


def page(
    curve: Sequence[Mapping[str, str]],
    test_set: Mapping[str, Sequence[Worth]],
    beside: Mapping[str, Beside],
    elsewhere: Mapping[str, tuple[Between, Between, Between]],
    exported: Exported,
) -> str:
    """Return the page."""
    last = curve[-1]
    parts = [
        _HEAD,
        "## Training\n",
        f"{int(last['steps']):,} steps in {last['round']} rounds took"
        f" {float(last['processor_s']):.0f} s of processor time of one core, including the"
        " validations between them. A budget of 15 minutes of two cores would be 1,800 s.\n",
        "A round of training has steps of 32 paths of the training set, with more steps of paths"
        " with short RTTs. The validation set counts each path once.\n",
        "![Reward while it learns, and reward of each path of the test set](images/learner.svg)\n",
        "## The test set\n",
        _test_set(test_set),
        "\n## Next to another flow\n",
        "The table shows the policy's part of the goodput of both flows in 30 s. It is the mean of"
        " 24 paths with a drop-tail queue of 0.2 to 5 BDP, a constant rate and no random loss. The"
        " other flow begins up to 10 s later, so that a fair flow has more than a half. A flow is"
        " starved on a path if it has less than a fifth.\n",
        _beside(beside),
        "\n## Other paths\n",
        "Each row changes one key of the distribution; 24 paths each.\n",
        _elsewhere(elsewhere),
        "\n## The C file and the policy\n",
        _exported(exported),
    ]
    return "\n".join(parts)


def _test_set(test_set: Mapping[str, Sequence[Worth]]) -> str:
    alone = kinds(test_set[REFERENCE])
    heads = (
        "algorithm", "share", "minus CUBIC's", "alone", "next to a TCP flow",
        "better than CUBIC", "goodput, Mbit/s", "mean / smallest RTT", "sent again",
    )  # fmt: skip
    reference = shares(test_set[REFERENCE])
    rows = []
    for name, worths in test_set.items():
        mine = shares(worths)
        is_reference = name == REFERENCE
        better = f"{(mine > reference).sum()} of {len(mine)}"
        rows.append(
            (
                _label(name),
                shown(Between.of(mine)),
                "" if is_reference else shown(Between.of(mine - reference), sign=True),
                shown(Between.of(mine[alone])),
                shown(Between.of(mine[~alone])),
                "" if is_reference else better,
                *(_mean(worths, of) for of in ("goodput_mbit_per_s", "rtt_stretch")),
                f"{100 * sum(worth.loss_share for worth in worths) / len(worths):.1f} %",
            )
        )
    counts = f"{alone.sum()} of the {len(alone)} paths have no other TCP flow.\n\n"
    return counts + markdown.table(heads, rows)


def _beside(others: Mapping[str, Beside]) -> str:
    heads = ("next to", "part of the policy", "starved", "part of CUBIC in its place", "starved")
    rows = [
        (label, shown(other.mine), str(other.starved), shown(other.reference),
         str(other.starved_reference))
        for label, other in others.items()
    ]  # fmt: skip
    return markdown.table(heads, rows)


def _elsewhere(paths: Mapping[str, tuple[Between, Between, Between]]) -> str:
    heads = ("paths", "share of the policy", "share of CUBIC", "difference")
    return markdown.table(
        heads,
        [
            (label, shown(mine), shown(cubic), shown(apart, sign=True))
            for label, (mine, cubic, apart) in paths.items()
        ],
    )


def _exported(exported: Exported) -> str:
    rows = [
        ("decisions that both made", f"{exported.decisions:,}"),
        ("difference of their factors, median", f"{exported.median:.1e}"),
        ("difference of their factors, at most", f"{exported.most:.1e}"),
        ("goodput of the C file, divided by that in the environment", shown(exported.goodput)),
        ("mean RTT / smallest RTT of the C file, divided likewise", shown(exported.stretch)),
    ]
    return markdown.table(("on the validation set", "measured"), rows)


def shown(between: Between, *, sign: bool = False) -> str:
    """Return a mean with its interval: 0.54 (0.49 to 0.59)."""
    form = "+.3f" if sign else ".3f"
    return f"{between.value:{form}} ({between.low:{form}} to {between.high:{form}})"


def _mean(worths: Sequence[Worth], name: str) -> str:
    return f"{sum(getattr(worth, name) for worth in worths) / len(worths):.2f}"


def _label(name: str) -> str:
    return _LABELS.get(name, _LEARNT)


def read_curve(file: Path) -> list[dict[str, str]]:
    """Read the curve that the training wrote."""
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def draw(
    curve: Sequence[Mapping[str, str]],
    validation: Mapping[str, float],
    test_set: Mapping[str, Sequence[Worth]],
    file: Path,
) -> None:
    """Draw the curve, and each path of the test set."""
    alt.data_transformers.disable_max_rows()
    chart: Any = alt.hconcat(_curve(curve, validation), _paths(test_set), spacing=40).resolve_scale(
        color="independent", shape="independent"
    )
    drawing.save(chart.configure(**style.config()), file)


def _curve(curve: Sequence[Mapping[str, str]], validation: Mapping[str, float]) -> Any:
    rounds = pl.DataFrame(list(_rounds(curve)), orient="row", schema=["s", "reward", "validation"])
    x = alt.X("s:Q", title="processor time, s")
    scale = alt.Scale(domain=[0, 0.9])
    y = alt.Y("reward:Q", title="share", scale=scale)
    points = rounds.drop_nulls("validation")
    lines = pl.DataFrame(
        {"share": list(validation.values()), "label": [_label(name) for name in validation]}
    )
    colours = [LOOKS[name].colour for name in validation]
    colour = alt.Color("label:N", scale=alt.Scale(domain=lines["label"].to_list(), range=colours))
    rules = alt.Chart(lines).encode(y=alt.Y("share:Q", scale=scale), color=colour.legend(None))
    return (
        alt.Chart(rounds).mark_line(color="#b8b8b8", strokeWidth=1).encode(x=x, y=y)
        + rules.mark_rule(strokeDash=[6, 4])
        + rules.mark_text(align="right", dy=-7).encode(x=alt.value(375), text="label:N")
        + alt.Chart(points)
        .mark_line(color=style.CHOSEN, point={"color": style.CHOSEN, "size": 50})
        .encode(x=x, y=alt.Y("validation:Q", scale=scale))
    ).properties(
        title="grey: steps of a round of training; orange: validation set", width=380, height=300
    )


def _rounds(curve: Sequence[Mapping[str, str]]) -> Iterator[tuple[float, float, float | None]]:
    for row in curve:
        validation = float(row["validation"]) if row["validation"] else None
        yield float(row["processor_s"]), float(row["reward"]), validation


def _paths(test_set: Mapping[str, Sequence[Worth]]) -> Any:
    mine = next(worths for name, worths in test_set.items() if name not in _LABELS)
    alone = kinds(mine)
    frame = pl.DataFrame(
        {
            "cubic": shares(test_set[REFERENCE]),
            "learnt": shares(mine),
            "path": ["alone" if is_alone else "next to a TCP flow" for is_alone in alone],
        }
    )
    domain = alt.Scale(domain=[_LEAST, 1])
    colours = alt.Scale(domain=["alone", "next to a TCP flow"], range=[style.CHOSEN, style.OTHERS])
    shapes = alt.Scale(domain=["alone", "next to a TCP flow"], range=["circle", "triangle-up"])
    points = alt.Chart(frame).mark_point(size=45, filled=True, opacity=0.85)
    ends = pl.DataFrame({"at": [_LEAST, 1.0]})
    diagonal = alt.Chart(ends).mark_line(color=style.FAINT, strokeDash=[4, 4], strokeWidth=1)
    return (
        diagonal.encode(x=alt.X("at:Q", scale=domain), y=alt.Y("at:Q", scale=domain))
        + points.encode(
            x=alt.X("cubic:Q", scale=domain, title="share of CUBIC"),
            y=alt.Y("learnt:Q", scale=domain, title="share of the policy"),
            color=alt.Color("path:N", scale=colours, legend=alt.Legend(orient="top", title=None)),
            shape=alt.Shape("path:N", scale=shapes, legend=alt.Legend(orient="top", title=None)),
        )
    ).properties(title="paths of the test set", width=300, height=300)
