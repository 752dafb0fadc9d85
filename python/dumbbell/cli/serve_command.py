"""``dumbbell serve``: a results folder as pages that a browser reads live."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.cli.parameters import DEFAULT_RESULTS, ResultsDir


def serve(
    results: ResultsDir = DEFAULT_RESULTS,
    host: Annotated[
        str, typer.Option(help="Address to listen at; by default only this machine can read.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any that is free.")] = 8765,
) -> None:
    """Show a results folder as pages in the browser, live, until Ctrl-C.

    Prints their address. They show the progress of campaigns, find runs, draw up to four over each
    other, and explain how two differ. They run nothing and change nothing.
    """
    from dumbbell.base import extras
    from dumbbell.base.errors import InputError
    from dumbbell.cli.output import say
    from dumbbell.store.store import Store

    try:
        from dumbbell.serve import listening
        from dumbbell.serve.site import Site
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn"):
            raise
        raise InputError(
            f"needs the package {error.name}",
            source="dumbbell serve",
            valid=extras.install("serve"),
        ) from None
    if not results.is_dir():
        raise InputError("no such folder", source="--results", value=str(results))
    site = Site(Store(results))
    listener = listening.Listener.at(host, port)
    if not listener.is_private:
        say.print(
            f"Warning: anyone who reaches this machine at {listener.host} can read these results; "
            "without --host only this machine can.",
            soft_wrap=True,
        )
    print(listener.address, flush=True)
    listening.serve(site, listener)
