"""``dumbbell claims``: at every value of an axis, and on both engines."""

from __future__ import annotations

from pathlib import Path

from dumbbell.algorithms import own_algorithms
from dumbbell.base.errors import refusing
from dumbbell.cli import campaign, progress
from dumbbell.cli.output import Form, print_csv, print_json, print_table, say
from dumbbell.cli.reading import results_of
from dumbbell.cli.tables import plain, table
from dumbbell.cli.verdicts import marked
from dumbbell.engines.choices import EngineName
from dumbbell.judging import readings
from dumbbell.judging.beside import Beside, beside
from dumbbell.judging.readings import Reading
from dumbbell.reports import beside_markdown, readings_markdown


def at_each_value(
    study: str, folder: Path, engine: EngineName, axis: str, *, markdown: Path | None, wanted: Form
) -> None:
    """Show how many claims hold at each value of an axis."""
    with progress.steps("judging claims", say), own_algorithms.nothing_runs():
        results = results_of(study, folder, engine)
        judged = results.readings(axis)
    campaign.tell_damaged(results)
    if markdown is not None:
        with refusing("write it", markdown):
            markdown.write_text(readings_markdown.page(results, axis, judged))
    if wanted is Form.JSON:
        print_json(
            {
                "engine": results.engine.identity,
                "axis": axis,
                "damaged": list(results.damaged.values()),
                "never": readings_markdown.never(judged),
                "readings": [_reading_as_dict(reading) for reading in judged],
            }
        )
        return
    ranked = readings.ranked(judged)
    if wanted is Form.CSV:
        rows = ((reading.value, *readings_markdown.row(reading, judged)) for reading in ranked)
        print_csv((axis, *readings_markdown.COLUMNS), rows)
        return
    result = table(axis, *readings_markdown.COLUMNS)
    for reading in ranked:
        value = plain(reading.value)
        cells = map(plain, readings_markdown.row(reading, judged))
        result.add_row(f"[bold]{value}[/]" if reading.is_main else value, *cells)
    print_table(result)
    never = readings_markdown.never(judged)
    print(f"in no reading: {', '.join(never)}" if never else "each claim holds in some reading")


def _reading_as_dict(reading: Reading) -> dict[str, object]:
    return {
        "value": reading.value,
        "main": reading.is_main,
        "verdicts": {claim.claim.id: claim.verdict.value for claim in reading.claims},
    }


def on_both_engines(study: str, folder: Path, *, markdown: Path | None, wanted: Form) -> None:
    """Show the verdicts of the simulator and of the kernel next to each other."""
    with progress.steps("judging claims", say), own_algorithms.nothing_runs():
        simulator = results_of(study, folder, EngineName.SIMULATOR)
        kernel = results_of(study, folder, EngineName.TESTBED)
        pairs = beside(simulator.claims(), kernel.claims())
    campaign.tell_damaged(simulator)
    campaign.tell_damaged(kernel)
    if markdown is not None:
        with refusing("write it", markdown):
            markdown.write_text(beside_markdown.page(simulator, kernel, pairs))
    if wanted is Form.JSON:
        identities = [simulator.engine.identity, kernel.engine.identity]
        damaged = [*simulator.damaged.values(), *kernel.damaged.values()]
        claims = [_claim_as_dict(claim) for claim in pairs]
        print_json({"engines": identities, "claims": claims, "damaged": damaged})
        return
    if wanted is Form.CSV:
        print_csv(beside_markdown.COLUMNS, map(beside_markdown.row, pairs))
        return
    result = table(*beside_markdown.COLUMNS)
    for claim in pairs:
        verdicts = (claim.simulator.verdict, *(claim.verdicts or ()))
        cells = [marked(verdict) for verdict in verdicts]
        result.add_row(plain(claim.claim.id), *cells, *[""] * (3 - len(cells)))
    print_table(result)
    print(beside_markdown.headline(pairs))


def _claim_as_dict(claim: Beside) -> dict[str, object]:
    return {
        "id": claim.claim.id,
        "verdict": claim.simulator.verdict.value,
        "checks": [
            {"simulator": pair.simulator.as_dict(), "kernel": pair.kernel.as_dict()}
            for pair in claim.pairs
        ],
    }
