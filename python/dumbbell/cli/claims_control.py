"""``dumbbell claims --control``: with the names of the algorithms exchanged at random."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dumbbell.algorithms import own_algorithms
from dumbbell.algorithms.labels import label_of
from dumbbell.base.labels import listing
from dumbbell.cli import campaign, progress, reading
from dumbbell.cli.output import Form, print_csv, print_json, print_table, say
from dumbbell.cli.tables import plain, table
from dumbbell.cli.verdicts import marked
from dumbbell.engines.choices import EngineName
from dumbbell.judging.control import Control
from dumbbell.judging.evidence import Verdict

_COLUMNS: Final = ("claim", "verdict", "holds under", "what the authors state")


def exchanged(
    study: str, folder: Path, engine: EngineName, *, draws: int, seed: int, wanted: Form
) -> None:
    """Show how many claims hold with the right names and with exchanged ones."""
    with progress.steps("judging claims", say), own_algorithms.nothing_runs():
        results = reading.results_of(study, folder, engine)
        found = results.control(draws, seed)
    campaign.tell_damaged(results)
    if wanted is Form.JSON:
        print_json(
            {
                "engine": results.engine.identity,
                "seed": found.seed,
                "names": list(found.names),
                "claims": {each.claim.id: each.verdict.value for each in found.claims},
                "blind": list(found.blind),
                "careless": found.careless,
                "draws": [
                    {
                        "names": dict(draw.names),
                        "verdicts": {each.claim.id: each.verdict.value for each in draw.claims},
                    }
                    for draw in found.draws
                ],
            }
        )
        return
    rows = [
        (each.claim.id, each.verdict, found.held(place), each.claim.text)
        for place, each in enumerate(found.claims)
    ]
    if wanted is Form.CSV:
        print_csv(_COLUMNS, ((name, *rest) for name, *rest in rows))
        return
    result = table(*_COLUMNS)
    for name, verdict, held, text in rows:
        share = f"{held} of {len(found.draws)}"
        result.add_row(plain(name), marked(verdict), share, plain(text))
    print_table(result)
    print("\n".join(_summary(found)))


def _summary(found: Control) -> list[str]:
    """Say how many claims hold, in lines."""
    names = listing([label_of(name) for name in found.names])
    lines = [
        f"{len(found.claims)} claims single out some of {names}",
        f"right names: {_counted(found, found.right)}",
        f"exchanged names, mean of {len(found.draws)} draws (seed {found.seed}): "
        + _counted(found, {verdict: found.mean(verdict) for verdict in Verdict}),
    ]
    held = [sum(each.verdict.is_good for each in draw.claims) for draw in found.draws]
    lines.append(f"holding under an exchange: {min(held)} to {max(held)}")
    if found.careless:
        lines.append(f"hold under most exchanges: {', '.join(found.careless)}")
    if found.blind:
        lines.append(f"treat all alike, so not counted: {', '.join(found.blind)}")
    return lines


def _counted(found: Control, counts: Mapping[Verdict, float]) -> str:
    """Say how many claims have each verdict that any of them has."""
    every = (found.claims, *(draw.claims for draw in found.draws))
    verdicts = {each.verdict for claims in every for each in claims}
    return ", ".join(
        f"{counts[verdict]:.3g} {verdict.value}" for verdict in Verdict if verdict in verdicts
    )
