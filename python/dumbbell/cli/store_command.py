"""``dumbbell store``: what a results folder holds, and its upkeep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.output import print_table, say
from dumbbell.cli.parameters import DEFAULT_RESULTS, ResultsDir
from dumbbell.errors import InputError

if TYPE_CHECKING:
    from dumbbell.running.store import Store

store_app = typer.Typer(help="Results folders: check, pack, size, prune.", no_args_is_help=True)

_SHOWN = 10


@store_app.command()
def check(
    *,
    results: ResultsDir = DEFAULT_RESULTS,
    contents: Annotated[
        bool, typer.Option("--contents", help="Read what tables hold, not only their bytes.")
    ] = False,
) -> None:
    """Verify every result; the exit code is 1 if one is damaged."""
    from dumbbell.cli import progress
    from dumbbell.running import upkeep

    store = _opened(results)
    with progress.steps("verifying", say) as step:
        damaged = upkeep.check(store, lambda done: step(f"{done} results"), contents=contents)
    total = sum(1 for _ in store.keys())  # noqa: SIM118 - a store is no mapping
    print(f"{total} results, {len(damaged)} damaged")
    _name(damaged)
    if damaged:
        say.print("They count as absent: the same commands run them again.")
        raise typer.Exit(1)


@store_app.command()
def pack(*, results: ResultsDir = DEFAULT_RESULTS) -> None:
    """Put all results into one file, which every command reads as it reads folders.

    For file systems that hold few files well. Nothing else may run in the folder meanwhile.
    """
    from dumbbell.cli import progress
    from dumbbell.labels import amount
    from dumbbell.running import upkeep

    store = _opened(results)
    with progress.steps("packing", say) as step:
        packed = upkeep.pack(store, lambda done: step(f"{done} results"))
    if packed.file is None:
        print("nothing to pack")
    else:
        print(
            f"{packed.results} results in {packed.file}, {amount(packed.file.stat().st_size, 'B')}"
        )
    _name(packed.damaged)


@store_app.command("size")
def sizes(*, results: ResultsDir = DEFAULT_RESULTS) -> None:
    """Say what takes how much room."""
    from dumbbell.cli.asked import asked
    from dumbbell.cli.tables import plain, table
    from dumbbell.labels import amount
    from dumbbell.running.campaigns import held

    store = _opened(results)
    shown = table("", "runs", "packets", "size", right=("runs", "packets", "size"))
    left = set(store.keys())
    for study, keys in asked(store).items():
        found = held(store, sorted(keys & left))
        left -= keys
        shown.add_row(
            plain(study), f"{found.runs}", amount(found.packets), amount(found.size_bytes, "B")
        )
    found = held(store, sorted(left))
    shown.add_row(
        "of no study", f"{found.runs}", amount(found.packets), amount(found.size_bytes, "B")
    )
    for name in ("quantities", "failures", "campaigns"):
        files = [file for file in store.root.glob(f"{name}/**/*") if file.is_file()]
        shown.add_row(name, "", "", amount(sum(file.stat().st_size for file in files), "B"))
    print_table(shown)


@store_app.command()
def prune(
    *,
    results: ResultsDir = DEFAULT_RESULTS,
    unasked: Annotated[
        bool,
        typer.Option(
            "--unasked",
            help="Also what no study asks for; `tune`, `advise` and `compare` ask for no study.",
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it; else it is only said.")] = False,
) -> None:
    """Remove damaged results and those of earlier versions of the simulator."""
    from dumbbell import catalogue
    from dumbbell.cli.asked import asked
    from dumbbell.labels import amount
    from dumbbell.running import upkeep

    store = _opened(results)
    keys = set().union(*asked(store).values()) if unasked else None
    found = list(upkeep.useless(store, catalogue.ENGINE_VERSION, keys))
    by_why: dict[str, list[upkeep.Useless]] = {}
    for each in found:
        by_why.setdefault(each.why, []).append(each)
    for why, those in sorted(by_why.items()):
        print(f"{len(those)} results {why}, {amount(sum(each.size_bytes for each in those), 'B')}")
    if not found:
        print("nothing to remove")
    if yes:
        upkeep.prune(store, found)
    elif found:
        say.print("Nothing was removed; --yes removes it.")


def _opened(results: ResultsDir) -> Store:
    from dumbbell.running.store import FORMAT_FILE, Store

    if not (results / FORMAT_FILE).is_file():
        raise InputError("not a results folder", source="--results", value=str(results))
    return Store(results)


def _name(damaged: list[str]) -> None:
    for line in damaged[:_SHOWN]:
        say.print(line, soft_wrap=True)
    if len(damaged) > _SHOWN:
        say.print(f"... and {len(damaged) - _SHOWN} more")
