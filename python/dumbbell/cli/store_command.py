"""``dumbbell store``: what a results folder holds, and its upkeep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.base.errors import InputError, printable
from dumbbell.cli.output import print_table, say
from dumbbell.cli.parameters import DEFAULT_RESULTS, ChosenEngine, ResultsDir
from dumbbell.engines.choices import EngineName

if TYPE_CHECKING:
    from dumbbell.store.store import Store

store_app = typer.Typer(help="Results folders: check, pack, size, prune.", no_args_is_help=True)


@store_app.command()
def check(
    *,
    results: ResultsDir = DEFAULT_RESULTS,
    contents: Annotated[
        bool, typer.Option("--contents", help="Read the values of tables, not only their bytes.")
    ] = False,
) -> None:
    """Verify every result and the values computed from it; the exit code is 1 if one is damaged."""
    from dumbbell.cli import progress
    from dumbbell.cli.campaign import tell
    from dumbbell.quantities import kept
    from dumbbell.store import upkeep

    store = _opened(results)
    with progress.steps("verifying", say) as step:
        damaged = upkeep.check(store, lambda done: step(f"{done} results"), contents=contents)
    total = sum(1 for _ in store.keys())  # noqa: SIM118 - a store is no mapping
    print(f"{total} results, {len(damaged)} damaged")
    tell(damaged)
    if damaged:
        say.print("They count as absent: the same commands run them again.")
    measured = list(kept.damaged(store))
    tell(measured)
    if measured:
        say.print(f"{len(measured)} files of what was measured count as absent: it is taken again.")
    tell([f"not part of a result, never read: {name}" for name in store.strangers()])
    if damaged or measured:
        raise typer.Exit(1)


@store_app.command()
def pack(*, results: ResultsDir = DEFAULT_RESULTS) -> None:
    """Put all results into one file, which every command reads as it reads folders.

    This is for file systems that handle only few files well. Nothing else may run in the folder
    meanwhile.
    """
    from dumbbell.base.labels import amount
    from dumbbell.cli import progress
    from dumbbell.cli.campaign import tell
    from dumbbell.store import upkeep

    store = _opened(results)
    with progress.steps("packing", say) as step:
        packed = upkeep.pack(store, lambda done: step(f"{done} results"))
    if packed.file is None:
        print("nothing to pack")
    else:
        print(
            f"{packed.results} results in {packed.file}, {amount(packed.file.stat().st_size, 'B')}"
        )
    tell(packed.damaged)


@store_app.command()
def archive(
    studies: Annotated[list[str], typer.Argument(metavar="STUDY...", help="Names of studies.")],
    *,
    engine: ChosenEngine = EngineName.SIMULATOR,
    results: ResultsDir = DEFAULT_RESULTS,
    output: Annotated[Path, typer.Option(help="Folder of the archives.")] = Path(),
) -> None:
    """Write the runs that pages of studies are drawn from, a file for each study.

    You can publish these files next to the pages: STUDY-runs.tar is a results folder with a README.
    """
    from dumbbell.algorithms import own_algorithms
    from dumbbell.base.labels import amount
    from dumbbell.cli import progress, reading
    from dumbbell.results import archive as archives

    for study in studies:
        with progress.steps(f"reading {study}", say) as step, own_algorithms.nothing_runs():
            results_of_study = reading.runs_of(study, results, engine)
            written = archives.write(results_of_study, output, lambda done: step(f"{done} runs"))
        print(f"{written.runs} runs in {written.file}, {amount(written.size_bytes, 'B')}")
        if not written.fits_a_release:
            say.print("GitHub takes no file of 2 GiB or more as part of a release.")


@store_app.command("size")
def sizes(*, results: ResultsDir = DEFAULT_RESULTS) -> None:
    """Show how much room each part takes."""
    from dumbbell.base.labels import amount
    from dumbbell.cli.in_use import in_use
    from dumbbell.cli.tables import plain, table
    from dumbbell.store.campaigns import held

    store = _opened(results)
    shown = table("", "runs", "packets", "size", right=("runs", "packets", "size"))
    left = set(store.keys())
    known = in_use(store)
    for study, keys in known.keys.items():
        extents = held(store, sorted(keys & left))
        left -= keys
        shown.add_row(
            plain(study),
            f"{extents.runs}",
            amount(extents.packets),
            amount(extents.size_bytes, "B"),
        )
    extents = held(store, sorted(left))
    shown.add_row(
        "of no study", f"{extents.runs}", amount(extents.packets), amount(extents.size_bytes, "B")
    )
    for name in ("quantities", "answers", "failures", "campaigns"):
        shown.add_row(name, "", "", amount(store.size_below(name), "B"))
    print_table(shown)
    for study, why in known.unknown.items():
        say.print(printable(f"{study} is not known here, its runs are of no study: {why}"))


@store_app.command()
def prune(
    *,
    results: ResultsDir = DEFAULT_RESULTS,
    unasked: Annotated[
        bool,
        typer.Option(
            "--unasked",
            help="Also results that no study uses, such as those of `tune`, `advise` and "
            "`compare`.",
        ),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them; without this option they are only counted.")
    ] = False,
) -> None:
    """Remove damaged results and those of earlier versions of the simulator."""
    from dumbbell.algorithms import catalogue
    from dumbbell.base.labels import amount
    from dumbbell.store import upkeep

    store = _opened(results)
    keys = _kept(store) if unasked else None
    useless = list(upkeep.useless(store, catalogue.ENGINE_VERSION, keys))
    by_why: dict[str, list[upkeep.Useless]] = {}
    for result in useless:
        by_why.setdefault(result.why, []).append(result)
    for why, those in sorted(by_why.items()):
        size = amount(sum(result.size_bytes for result in those), "B")
        print(f"{len(those)} results {why}, {size}")
    if not useless:
        print("nothing to remove")
    if yes:
        upkeep.prune(store, useless)
    elif useless:
        say.print("Nothing was removed; --yes removes it.")


def _kept(store: Store) -> set[str] | None:
    """Return the keys that studies ask for; None, and say so, where nobody knows it of all."""
    from dumbbell.cli.in_use import in_use

    known = in_use(store)
    for study, why in known.unknown.items():
        say.print(
            printable(
                f"{study} is not known here, so unused results stay; to have them removed, "
                f"bring the study back or remove {store.root}/studies/{study}.json: {why}"
            ),
            soft_wrap=True,
        )
    return None if known.unknown else set().union(*known.keys.values())


def _opened(results: ResultsDir) -> Store:
    from dumbbell.store.store import FORMAT_FILE, Store

    if not (results / FORMAT_FILE).is_file():
        raise InputError("not a results folder", source="--results", value=str(results))
    return Store(results)
