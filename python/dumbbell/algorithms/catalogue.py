"""Catalogue of the engine: algorithms, stack profiles and the schema of its tables."""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from dumbbell import _core
from dumbbell.algorithms import head_comments
from dumbbell.algorithms import own_algorithms as descriptions
from dumbbell.algorithms.head_comments import HeadComment
from dumbbell.base import documents, kinds, validation
from dumbbell.base.errors import InputError, listed, placed, refused, unknown
from dumbbell.base.shell import quoted
from dumbbell.base.synonyms import near_key

BEHAVIOUR: Final[Mapping[str, Any]] = json.loads(_core.behaviour())
"""The versions of what the core does, raised when that changes (behaviour/versions)."""

ENGINE_VERSION: str = f"simulator {BEHAVIOUR['engine']}"
"""Version on which a simulation depends, besides its algorithms; another one has other results."""

TESTBED_VERSION: str = f"{BEHAVIOUR['testbed']}.{BEHAVIOUR['network']}"
"""The same of the testbed and of the network that it shares with the simulator."""

KERNEL_HOOKS: Final = frozenset(
    (
        *("init", "ssthresh", "cong_avoid", "pkts_acked", "cwnd_event", "set_state"),
        *("in_ack_event", "undo_cwnd", "cong_control", "info"),
    )
)
"""The hooks for which the kernel has adapters (crates/testbed/bpf/adapter.h)."""


_HOOK: Final = re.compile(r"\bH\(\s*(\w+),\s*(\w+)\)")
"""Registration of a hook in a file: the name of the algorithm, and of the hook."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Parameter(_Entry):
    """One parameter of an algorithm; all values are integers in `unit`."""

    name: str
    unit: str
    initial: int
    low: int
    high: int
    step: int
    what: str
    source: str

    @property
    def limits(self) -> str:
        """The valid values in words."""
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        unit = f" ({self.unit})" if self.unit != "1" else ""
        return f"{self.low} to {self.high}{steps}{unit}"

    @property
    def of_marks(self) -> bool:
        """True if it acts only on congestion marks: its name ends in ``_ecn``."""
        return self.name.endswith("_ecn")

    def in_unit(self, share: Any) -> str:
        """Say what a share such as 0.7 is in the unit of the parameter, if that is a part."""
        parts = re.fullmatch(r"1/([0-9]+)|%", self.unit)
        if parts is None or not isinstance(share, float) or not 0 < share < 100:
            return ""
        return f"; {share:g} is {round(share * float(parts[1] or 100))}"


class Preset(_Entry):
    """A named set of parameter values; the others keep their initial values."""

    name: str
    source: str
    values: Mapping[str, int]


class Algorithm(_Entry):
    """A congestion-control algorithm: built in, or a user's own file.

    `code` is the text of its file. Of a user's own, `path` is the file it was read from, if any.
    """

    name: str
    title: str
    family: str
    year: int
    source: str
    summary: str
    flags: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    presets: tuple[Preset, ...]
    info: tuple[str, ...]
    modes: tuple[str, ...]
    source_hash: str
    code: str = Field(repr=False)
    path: str | None = None
    is_described: bool = True
    """True if more than name and source is known; see `own_algorithms`."""

    @property
    def identity(self) -> str:
        """Identity of its results among those of other algorithms of this name.

        Of a user's own that is the hash of the source, of a built-in one the version of what it
        does.
        """
        if self.is_own:
            return self.source_hash
        return f"{self.name} {BEHAVIOUR['algorithms'].get(self.name, 1)}"

    @property
    def sampled_info(self) -> tuple[str, ...]:
        """The variables that are sampled, in the order of the columns of `internals`."""
        columns = schema().tables["internals"]
        return self.info[: sum(column.name.startswith("info") for column in columns)]

    @property
    def comment(self) -> HeadComment:
        """The head comment of its file."""
        return head_comments.parse(
            self.code, frozenset(parameter.name for parameter in self.parameters)
        )

    @property
    def is_own(self) -> bool:
        """True if it is user-defined rather than built in."""
        return self.name not in algorithms()

    @property
    def hooks(self) -> frozenset[str]:
        """The hooks that its file registers."""
        return frozenset(hook for name, hook in _HOOK.findall(self.code) if name == self.name)

    @property
    def engines(self) -> tuple[str, ...]:
        """Where it runs: in the simulator, and in the kernel if that has adapters for its hooks.

        The kernel of this machine may still be unable to load it; `engines.machine` finds that out.
        """
        return ("simulator", "kernel") if self.hooks <= KERNEL_HOOKS else ("simulator",)

    @property
    def needs_ecn(self) -> bool:
        """True if it has nothing to listen to without congestion marks."""
        return self.family == "ecn" or "ecn" in self.flags

    @property
    def preset_names(self) -> tuple[str, ...]:
        """The names that may follow ``@``."""
        return tuple(preset.name for preset in self.presets)

    def preset(self, name: str) -> Preset:
        """Return a preset; an unknown name is an InputError, unless no names are known."""
        for preset in self.presets:
            if preset.name == name:
                return preset
        if not self.is_described:
            return Preset(name=name, source="", values={})
        raise unknown(f"preset of {self.name}", name, self.preset_names)

    def parameter(self, name: str) -> Parameter:
        """Return a parameter; an unknown name is an InputError."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        names = [parameter.name for parameter in self.parameters]
        more = f"dumbbell algorithms show {quoted(self.path or self.name)}"
        problem = unknown(f"parameter of {self.name}", name, names, more)
        raise replace(problem, near=near_key(name, names))

    def check_written(self, name: str, value: Any) -> None:
        """Raise InputError unless `name` is a parameter and `value`, as a file has it, whole."""
        if not self.is_described:
            return
        try:
            parameter = self.parameter(name)
        except InputError as error:
            raise replace(error, value=value) from None
        if not isinstance(value, int | str) or isinstance(value, bool):
            valid = parameter.limits + parameter.in_unit(value)
            raise InputError("not a whole number", value=value, valid=valid)

    def check_parameter(self, name: str, value: int) -> None:
        """Raise InputError unless `name` is a parameter and `value` within its limits."""
        if not self.is_described:
            return
        parameter = self.parameter(name)
        if value not in range(parameter.low, parameter.high + 1, parameter.step):
            raise InputError(
                f"outside the limits of {self.name}'s parameter {name}",
                value=value,
                valid=parameter.limits,
            )


class StackProfile(_Entry):
    """A TCP stack as a set of switches."""

    name: str
    summary: str
    host_queue: Literal["fifo", "fq-codel"]
    switches: Mapping[str, bool | int | str | None]


class Stacks(_Entry):
    """All stack profiles, and what their switches mean."""

    profiles: Mapping[str, StackProfile]
    switches: Mapping[str, str]

    def check_switches(self, profile: str, switches: Mapping[str, bool | int | str]) -> None:
        """Raise InputError, keyed from ``switches`` on, unless the switches fit together.

        Some can have a value only with another: without SACK, losses are found by New Reno.
        """
        for name in switches:
            if name not in self.switches:
                problem = unknown("switch of the TCP stack", name, self.switches)
                raise problem.at(key=f"switches.{name}")
        try:
            _check_stack(json.dumps({"profile": profile, "switches": engine_switches(switches)}))
        except _core.ScenarioError as error:
            key, problem_found = error.args
            name = key.removeprefix("switches.")
            if problem_found.startswith("unknown variant"):  # `valid` has the names
                problem_found = "unknown value"
            raise InputError(
                problem_found, key=key, value=switches.get(name), valid=self.switches.get(name)
            ) from None


def engine_switches(
    switches: Mapping[str, bool | int | str],
) -> dict[str, bool | int | str | None]:
    """Return the switches as the engine reads them, where what files call "none" is no value."""
    return {name: None if value == "none" else value for name, value in switches.items()}


def switch_in_files(value: bool | int | str | None) -> bool | int | str:
    """Return a switch's value as files give it: the other way round."""
    return "none" if value is None else value


@functools.lru_cache(maxsize=1024)
def _check_stack(choice: str) -> None:
    """Raise what the engine has against a stack; nearly all flows of a study have the same."""
    _core.check_stack(choice)


LISTED: Final = "dumbbell list algorithms"
"""The command that names all of them."""


@functools.cache
def algorithms() -> Mapping[str, Algorithm]:
    """Return the algorithms by name, in the engine's order."""
    entries = [Algorithm.model_validate(entry) for entry in json.loads(_core.algorithms())]
    return {entry.name: entry for entry in entries}


OwnAlgorithms = Mapping[str, Algorithm]
"""A user's own algorithms by name."""

NO_OWN_ALGORITHMS: Final[OwnAlgorithms] = MappingProxyType({})


def algorithm(name: str, own_algorithms: OwnAlgorithms = NO_OWN_ALGORITHMS) -> Algorithm:
    """Return an algorithm of `own_algorithms` or a built-in one; InputError for an unknown name."""
    if name in own_algorithms:
        return own_algorithms[name]
    if name not in algorithms():
        problem = unknown("algorithm", name, [*own_algorithms, *algorithms()], LISTED)
        kinds.check(Path(name), "an algorithm")
        if name.isidentifier() and documents.is_file(Path(f"{name}.c")):
            problem.near = f"./{name}.c"
        raise problem
    return algorithms()[name]


def described(name: str, code: str | None) -> Algorithm:
    """Return what is known of an algorithm by its source; without one, of one that is built in.

    Nothing is compiled: a reader of a result must not run the code in it.
    """
    if code is None:
        return algorithm(name)
    return Algorithm.model_validate(descriptions.known(name, code))


_FILES: Final[dict[tuple[str, str], str]] = {}
"""Name and source of a user's own algorithm -> the file that it was read from last.

A copy that an experiment keeps counts only where no other file was read.
"""

COPIES: Final = "copies"
"""Folder of an experiment for copies of a user's files."""


def file_of(name: str, code: str) -> str:
    """Return what the command can call the file of a user's own algorithm, where it is known."""
    path = _FILES.get((name, code))
    if path is None:
        return f"{name}.c"
    try:
        return f"./{Path(path).relative_to(Path.cwd())}"
    except ValueError:
        return path


def check_new_name(name: str) -> None:
    """Raise InputError if no algorithm of a user's own can have this name."""
    try:
        _core.check_algorithm_name(name, f"{name}.c")
    except _core.AlgorithmError as error:
        file, line, cause = error.args
        raise refused(file, line, cause) from None


BYTES_MAX: Final = 1_000_000
_FILE: Final = re.compile(r"(?P<file>.+\.c)(?:@(?P<preset>.*))?", re.DOTALL)


def is_file(choice: str) -> bool:
    """Return True if a choice names a file, such as ``./my_cc.c@fast``, and no algorithm."""
    return _FILE.fullmatch(choice) is not None


def called(choice: str) -> str:
    """Return a choice as tables show it: ``my_cc@fast`` for ``./my_cc.c@fast``."""
    match = _FILE.fullmatch(choice)
    if match is None:
        return choice
    return Path(match["file"]).stem + (f"@{match['preset']}" if match["preset"] else "")


def seen_from(choice: str, folder: Path) -> str:
    """Return a choice whose files are relative to this folder instead of the current one."""
    return with_files(choice, lambda file: _moved(file, folder))


def anywhere(choice: str) -> str:
    """Return a choice with whole paths for its files of the current folder."""
    return with_files(choice, lambda file: str(Path(file).absolute()))


def with_files(choice: str, named: Callable[[str], str]) -> str:
    """Return a choice with other names for its files."""
    file = _FILE.fullmatch(choice)
    name, preset = (file["file"], file["preset"]) if file else _parted(choice)
    seen = named(name) if file else name
    if preset is None:
        return seen
    return f"{seen}@{named(preset) if is_preset_file(preset) else preset}"


def _parted(choice: str) -> tuple[str, str | None]:
    name, sign, preset = choice.partition("@")
    return name, preset if sign else None


def _moved(file: str, folder: Path) -> str:
    if Path(file).is_absolute():
        return file
    path = os.path.relpath(file, folder)
    return path if path.startswith("..") else f"./{path}"


def read(file: str, folder: Path = Path()) -> Algorithm:
    """Return the algorithm of a C file, relative to a folder; see `own_algorithms.read`."""
    path = (folder / file).absolute()
    valid = "a C file, relative to the file that names it; `dumbbell new` writes one"
    code = documents.read_text(path, BYTES_MAX, named=file, valid=valid)
    if COPIES not in path.parts or (path.stem, code) not in _FILES:
        _FILES[path.stem, code] = str(path)
    known = descriptions.read(path.stem, code, file)
    return Algorithm.model_validate({**known, "path": str(path)})


def split_preset(
    choice: str, folder: Path = Path(), own_algorithms: OwnAlgorithms = NO_OWN_ALGORITHMS
) -> tuple[Algorithm, str | None]:
    """Split ``htcp@li2007`` into the algorithm and the name of an existing preset.

    Instead of names there may be a C file, ``./my_cc.c@fast``, and a preset file,
    ``ccpd@./mine.toml``, relative to a folder. The algorithm then has that preset, too.
    """
    file = _FILE.fullmatch(choice)
    if file is not None:
        entry, at, preset = read(file["file"], folder), file["preset"] is not None, file["preset"]
    else:
        name, sign, preset = choice.partition("@")
        entry, at = algorithm(name, own_algorithms), bool(sign)
    if not at:
        return entry, None
    if is_preset_file(preset):
        return _with_preset_file(entry, preset, folder)
    called = choice.removesuffix(f"@{preset}")
    try:
        chosen = entry.preset(preset)
    except InputError as error:
        raise replace(
            error,
            value=choice,
            valid=listed([called, *(f"{called}@{name}" for name in entry.preset_names)]),
            near=f"{called}@{error.near}" if error.near else None,
        ) from None
    for name, value in chosen.values.items():
        try:
            entry.check_parameter(name, value)
        except InputError as error:
            problem = f"sets {name} = {value}, {error.problem}"
            raise replace(error, problem=problem, value=choice) from None
    return entry, chosen.name


class PresetFile(BaseModel):
    """A file of parameters: a preset of a user's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    algorithm: str = Field(examples=["htcp"])
    """The algorithm whose parameters these are."""

    source: str = ""
    """Origin of the values."""

    parameters: Mapping[str, Any] = Field(examples=[{"delta_l": 500}])
    """Values of parameters; the others keep their initial values."""


def is_preset_file(preset: str) -> bool:
    """Return True if the part behind the ``@`` of a choice names a file rather than a preset."""
    return preset.endswith(".toml")


def _with_preset_file(
    algorithm: Algorithm, file: str, folder: Path
) -> tuple[Algorithm, str | None]:
    """Return the algorithm with the preset of a file, and its name, which is the whole path."""
    path = str((folder / file).absolute())
    content = validation.validate(PresetFile, documents.read_toml(path), file)
    if content.algorithm != algorithm.name:
        raise InputError(
            f"these are not parameters of {algorithm.name}",
            source=file,
            key="algorithm",
            value=content.algorithm,
            valid=f'"{algorithm.name}"',
        )
    for name, value in content.parameters.items():
        with placed(source=file, key=f"parameters.{name}"):
            algorithm.check_written(name, value)
            algorithm.check_parameter(name, value)
    preset = Preset(name=path, source=content.source, values=content.parameters)
    return algorithm.model_copy(update={"presets": (*algorithm.presets, preset)}), path


def named(choice: str, folder: Path, own_algorithms: dict[str, Algorithm]) -> str:
    """Return what a choice is `called`, and add what it reads to `own_algorithms`.

    Two files for one name are an InputError.
    """
    if not is_file(choice):
        return choice
    algorithm, _ = split_preset(choice, folder)
    known = own_algorithms.setdefault(algorithm.name, algorithm)
    if known.source_hash != algorithm.source_hash:
        raise InputError(
            f"another file is called {algorithm.name} here: {known.path}",
            value=choice,
            valid="files with different names",
        )
    return called(choice)


@functools.cache
def stacks() -> Stacks:
    """Return the stack profiles of the engine."""
    content = json.loads(_core.stack_profiles())
    for name, profile in content["profiles"].items():
        profile["name"] = name
    return Stacks.model_validate(content)


def stack_profile(name: str) -> StackProfile:
    """Return one profile; an unknown name is an InputError."""
    if name not in stacks().profiles:
        raise unknown("stack profile", name, stacks().profiles, "dumbbell list stacks")
    return stacks().profiles[name]


class Column(_Entry):
    """One column of a result table; `dtype` is NumPy's name of its type."""

    name: str
    dtype: str
    unit: str
    what: str


class Schema(_Entry):
    """The result tables of the engine; `codes` names the values of enumerations, from 0."""

    version: int
    tables: Mapping[str, tuple[Column, ...]]
    codes: Mapping[str, tuple[str, ...]]


@functools.cache
def schema() -> Schema:
    """Return the schema that this engine writes."""
    return Schema.model_validate_json(_core.schema())
