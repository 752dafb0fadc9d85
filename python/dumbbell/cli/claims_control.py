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
from dumbbell.judging.evidence import Verdict, counted

_COLUMNS: Final = ("claim", "verdict", "holds under", "what the authors state")


def exchanged(
    study: str, folder: Path, engine: EngineName, *, draws: int, seed: int, wanted: Form
) -> None:
    """Show how many claims hold with the right names and with exchanged ones."""
    with progress.steps("judging claims", say), own_algorithms.nothing_runs():
        results = reading.results_of(study, folder, engine)
        control = results.control(draws, seed)
    campaign.tell_damaged(results)
    if wanted is Form.JSON:
        print_json(
            {
                "engine": results.engine.identity,
                "seed": control.seed,
                "names": list(control.names),
                "claims": {claim.claim.id: claim.verdict.value for claim in control.claims},
                "blind": list(control.blind),
                "careless": control.careless,
                "draws": [
                    {
                        "names": dict(draw.names),
                        "verdicts": {claim.claim.id: claim.verdict.value for claim in draw.claims},
                    }
                    for draw in control.draws
                ],
            }
        )
        return
    rows = [
        (claim.claim.id, claim.verdict, control.held(place), claim.claim.text)
        for place, claim in enumerate(control.claims)
    ]
    if wanted is Form.CSV:
        print_csv(_COLUMNS, ((name, *rest) for name, *rest in rows))
        return
    result = table(*_COLUMNS)
    for name, verdict, held, text in rows:
        share = f"{held} of {len(control.draws)}"
        result.add_row(plain(name), marked(verdict), share, plain(text))
    print_table(result)
    print("\n".join(_summary(control)))


def _summary(control: Control) -> list[str]:
    """Say how many claims hold, in lines."""
    names = listing([label_of(name) for name in control.names])
    lines = [
        f"{len(control.claims)} claims single out some of {names}",
        f"right names: {_counted(control, control.right)}",
        f"exchanged names, mean of {len(control.draws)} draws (seed {control.seed}): "
        + _counted(control, {verdict: control.mean(verdict) for verdict in Verdict}),
    ]
    held = [sum(claim.verdict.is_good for claim in draw.claims) for draw in control.draws]
    lines.append(f"holding under an exchange: {min(held)} to {max(held)}")
    if control.careless:
        lines.append(f"hold under most exchanges: {', '.join(control.careless)}")
    if control.blind:
        lines.append(f"treat all equally, so not counted: {', '.join(control.blind)}")
    return lines


def _counted(control: Control, counts: Mapping[Verdict, float]) -> str:
    """Say how many claims have each verdict that any of them has."""
    every = (control.claims, *(draw.claims for draw in control.draws))
    verdicts = {claim.verdict for claims in every for claim in claims}
    return ", ".join(
        counted(counts[verdict], verdict) for verdict in Verdict if verdict in verdicts
    )
