"""The command ``dumbbell``.

Results and JSON go to standard output, everything meant for people only to standard error. Exit
codes: 0 all is well; 1 a run failed or is invalid, a check failed or the testbed is not ready; 2
the command line, a file or a request is wrong; 130 stopped by Ctrl-C.

A small module declares the options of each command. The command imports everything else when it
runs, so that help, lists and usage errors appear at once (`benches/start_up.py`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import sys
from typing import Annotated

import typer

from dumbbell.base import documents
from dumbbell.base.errors import DumbbellError, InputError, refusal
from dumbbell.cli import usage
from dumbbell.cli.advise_command import advise
from dumbbell.cli.algorithms_command import show_algorithm
from dumbbell.cli.check_command import check
from dumbbell.cli.checklist_command import checklist
from dumbbell.cli.claims_command import claims
from dumbbell.cli.compare_command import compare
from dumbbell.cli.compete_command import compete
from dumbbell.cli.doctor_command import doctor
from dumbbell.cli.hunt_command import hunt
from dumbbell.cli.import_command import import_measurement
from dumbbell.cli.list_command import list_things
from dumbbell.cli.merge_command import merge
from dumbbell.cli.new_command import new
from dumbbell.cli.open_command import open_page
from dumbbell.cli.output import begin_output, print_error
from dumbbell.cli.report_command import report
from dumbbell.cli.run_command import run
from dumbbell.cli.score_command import score
from dumbbell.cli.serve_command import serve
from dumbbell.cli.simulate_command import simulate
from dumbbell.cli.start import STOPPED, STOPPED_MESSAGE, leave
from dumbbell.cli.store_command import store_app
from dumbbell.cli.trace_command import trace
from dumbbell.cli.tune_command import tune
from dumbbell.cli.validate_command import validate

app = typer.Typer(
    name="dumbbell",
    epilog="Exit codes: 0 all is well, 1 a run failed or is invalid, 2 bad input, "
    "130 stopped by Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"dumbbell {importlib.metadata.version('dumbbell')}")
        raise typer.Exit


@app.callback(help="The gym for TCP congestion control.")
def options(
    _: Annotated[
        bool,
        typer.Option("--version", help="Say the version.", is_eager=True, callback=_say_version),
    ] = False,
) -> None:
    """Take what comes before a command."""


app.command("list")(list_things)
app.command("open")(open_page)
app.command("import")(import_measurement)
for command in (
    run,
    merge,
    report,
    claims,
    simulate,
    compare,
    compete,
    advise,
    tune,
    hunt,
    new,
    trace,
    check,
    checklist,
    score,
    validate,
    doctor,
    serve,
):
    app.command()(command)

algorithms_app = typer.Typer(help="Congestion-control algorithms.", no_args_is_help=True)
algorithms_app.command("show")(show_algorithm)
app.add_typer(algorithms_app, name="algorithms")
app.add_typer(store_app, name="store")


built = functools.cache(typer.main.get_command)
"""The command of an app, built once: Typer reads the annotations of all options each time."""


def main(app: typer.Typer = app) -> None:
    """Run a command and exit with its code."""
    command = built(app)
    begin_output()
    try:
        _check_arguments()
        code = command(prog_name=app.info.name, standalone_mode=False)
    except typer.TyperException as error:
        _leave_help(error)
        _complain(usage.refused(error, command))
        leave(InputError.exit_code)
    except typer.Abort:  # a question at the end of the input
        leave(STOPPED)
    except DumbbellError as error:
        if isinstance(error, InputError):
            error = documents.located(usage.placed(error, command))
        _complain(error)
        leave(error.exit_code)
    except BrokenPipeError:  # nobody reads the rest, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        leave(1)
    except OSError as error:
        refused = refusal(error)
        _complain(refused)
        leave(refused.exit_code)
    if code == STOPPED:  # Typer says nothing of Ctrl-C
        print(STOPPED_MESSAGE, file=sys.stderr)
        leave(STOPPED)
    sys.exit(code)


def _leave_help(error: typer.TyperException) -> None:
    """Print help and exit if the error is only that no command was given."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        sys.exit(error.exit_code)


def _check_arguments() -> None:
    """Raise InputError for an argument that is no text: no file of ours could name it."""
    for argument in sys.argv[1:]:
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise InputError("not UTF-8 text", source="command line", value=argument) from None


def _complain(error: DumbbellError) -> None:
    """Say what went wrong; stopping is the user's own wish, not an error."""
    prefix = "" if error.exit_code == STOPPED else "error: "
    if "--json" in sys.argv[1:] and error.exit_code != STOPPED:
        print_error(error)
    print(prefix + (str(error) or type(error).__name__), file=sys.stderr)
