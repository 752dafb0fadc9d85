"""Errors of a command line, in the words of all other errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any, Final

import typer

from dumbbell.base.errors import InputError, listed, near
from dumbbell.base.labels import listing
from dumbbell.base.synonyms import near_key

_PLACES: Final = {
    "ls": "list",
    "algos": "list algorithms",
    "algorithm": "algorithms show",
    "show": "algorithms show",
    "sim": "simulate",
    "sweep": "compare",
    "plot": "report",
    "view": "open",
    "harm": "compete",
    "fairness": "compete",
    "rfc9743": "checklist",
    "test": "check",
    "init": "new",
    "create": "new",
    "recommend": "advise",
    "optimize": "tune",
    "optimise": "tune",
    "help": "--help",
    "version": "--version",
}
"""Commands' names elsewhere -> ours."""

_FEW: Final = 3
"""Commands with an option up to which an error names them."""


def refused(error: typer.TyperException, command: Any) -> InputError:
    """Return a refused line of the command as an error that names option, value and remedy."""
    context: Any = getattr(error, "ctx", None)
    # Too few values are found before the command has a context.
    words = context.command_path.split()[1:] if context is not None else _named(command)[0]
    message = error.format_message()
    help_command = " ".join(["dumbbell", *words, "--help"])
    if (match := re.fullmatch(r"No such command '(.+?)'\..*", error.message + ".")) is not None:
        return _unknown_command(match[1], words, context)
    if (option := getattr(error, "option_name", None)) is not None:
        return _wrong_option(option, message, context, help_command)
    if (parameter := getattr(error, "param", None)) is not None:
        return _wrong_value(error, parameter, help_command)
    if message.startswith("Got unexpected extra"):
        extra = message[message.index("(", message.index("argument") + 11) + 1 : -1]
        return _too_many(extra, words, help_command)
    return InputError(message[:1].lower() + message[1:].rstrip("."), valid=help_command)


def placed(error: InputError, command: Any) -> InputError:
    """Name options where an error names parameters of the library: ``--pcap-from`` for `pcap_from`.

    A parameter that is an argument of the command is called by the command.
    """
    _, command = _named(command)
    options = {option for parameter in command.params for option in parameter.opts}
    arguments = {
        parameter.name for parameter in command.params if parameter.param_type_name == "argument"
    }
    return _placed(error, options, arguments)


def _named(command: Any) -> tuple[list[str], Any]:
    """Return the names of the command that the command line names, and this command."""
    words = []
    for word in sys.argv[1:]:
        if (below := getattr(command, "commands", {}).get(word)) is None:
            continue
        words.append(word)
        command = below
    return words, command


def _placed(error: InputError, options: Set[str], arguments: Set[str]) -> InputError:
    error = replace(
        error,
        problem=_in_options(error.problem, options),
        valid=None if error.valid is None else _in_options(error.valid, options),
        others=[_placed(other, options, arguments) for other in error.others],
    )
    if error.source is not None or error.key is None:
        return error
    parameter, _, rest = error.key.partition(".")
    if (option := _option(parameter)) in options:
        return replace(error, source=option, key=rest or None)
    if {parameter, f"{parameter}s"} & arguments:
        return replace(error, source=f"dumbbell {sys.argv[1]}", key=rest or None)
    return error


def _option(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def _in_options(text: str, options: Set[str]) -> str:
    """Name the options of the command for the parameters in backticks."""

    def named(match: re.Match[str]) -> str:
        option = _option(match[1])
        return option if option in options else match[0]

    return re.sub(r"`([a-z_]+)`", named, text)


def _unknown_command(name: str, words: Sequence[str], context: Any) -> InputError:
    commands = list(context.command.commands)
    meant: str | None
    if words == ["algorithms"]:
        meant = "list algorithms" if name in ("list", "ls") else "algorithms show"
    elif words:
        nearest = near(name, commands)
        meant = None if nearest is None else " ".join([*words, nearest])
    else:
        meant = _PLACES.get(name) or near(name, commands)
    return InputError(
        "unknown command",
        value=name,
        near=None if meant is None else f"dumbbell {meant}",
        valid=listed([" ".join([*words, command]) for command in commands], "dumbbell --help"),
    )


def _wrong_option(option: str, message: str, context: Any, help_command: str) -> InputError:
    if not message.startswith("No such option"):
        if several := re.search(r"requires (\d+) arguments", message):
            problem = f"needs {several[1]} values"
        else:
            problem = "needs a value" if "requires an argument" in message else "takes no value"
        return InputError(problem, source=option, valid=help_command)
    options = [
        name for parameter in context.command.params for name in parameter.opts if name[:2] == "--"
    ]
    elsewhere = _commands_with(option, context)
    if elsewhere:
        commands = listing([f"dumbbell {name}" for name in elsewhere])
        return InputError(f"is an option of {commands}", source=option, valid=help_command)
    meant = near_key(option.lstrip("-"), [name[2:] for name in options])
    return InputError(
        "unknown option",
        source=option,
        near=None if meant is None else f"--{meant}",
        valid=help_command,
    )


def _commands_with(option: str, context: Any) -> list[str]:
    """Return the commands that have an option, if they are few."""
    commands = context.find_root().command.commands
    having = [
        name
        for name, command in commands.items()
        if any(option in parameter.opts for parameter in getattr(command, "params", ()))
    ]
    return having if len(having) <= _FEW else []


def _wrong_value(error: typer.TyperException, parameter: Any, help_command: str) -> InputError:
    """Say what is wrong with the value of an option or an argument."""
    is_option = parameter.param_type_name == "option"
    name = parameter.opts[0] if is_option else help_command.removesuffix(" --help")
    reports: list[Any] = getattr(error.__cause__, "errors", list)()
    choices = [
        str(getattr(choice, "value", choice)) for choice in parameter.type_descriptor.choices or ()
    ]
    if not reports:
        valid = listed(choices) if choices else help_command
        called = "" if is_option else f"{parameter.metavar or parameter.name.upper()} "
        problem = f"{called}is missing" if "Missing" in type(error).__name__ else error.message
        return InputError(problem, source=name, valid=valid)
    value = reports[0]["input"]
    if choices:
        return InputError(
            "unknown",
            source=name,
            value=value,
            near=near(str(value), choices),
            valid=listed(choices, help_command),
        )
    from dumbbell.base.validation import in_words  # noqa: PLC0415 - takes long to import

    problem, example = in_words(reports[0])
    return InputError(problem, source=name, value=value, valid=example or help_command)


def _too_many(extra: str, words: Sequence[str], help_command: str) -> InputError:
    """Refuse arguments that nothing takes; one behind ``--set KEY`` may be its value."""
    given = sys.argv[1:]
    for option, key, value in zip(given, given[1:], given[2:], strict=False):
        if option in ("--set", "--where") and "=" not in key and value in extra.split():
            return InputError("not KEY=VALUE", source=option, value=key, near=f"{key}={value}")
    return InputError(
        "one argument too many" if " " not in extra else "too many arguments",
        source=" ".join(["dumbbell", *words]),
        value=extra,
        valid=help_command,
    )
