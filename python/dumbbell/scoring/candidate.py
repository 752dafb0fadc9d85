"""A candidate: its file, its runs, and the checks of it, all in processes with limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dumbbell import _core
from dumbbell.algorithms import apart, catalogue
from dumbbell.algorithms.catalogue import Algorithm
from dumbbell.base.errors import EngineError, InputError, placed, refused
from dumbbell.conformance import fuzzing, interface, kernel
from dumbbell.conformance.verdicts import Row, Verdict
from dumbbell.experiments.mixes import named
from dumbbell.experiments.tune.paths import NetworkPath
from dumbbell.quantities.kept import Values
from dumbbell.scoring import problems
from dumbbell.scoring.measuring import measured
from dumbbell.scoring.problems import Code, Problem, Refused

LIMITS: Final = apart.Limits()
"""Limits of the processes of a candidate."""


@dataclass(frozen=True)
class Candidate:
    """An algorithm that is to be scored; its problems are raised as `Refused`.

    Attributes
    ----------
    choice
        The algorithm, with a preset or without.
    shown
        The name of its file in messages.
    own_algorithms
        Its algorithm by its name, unless it is built in.
    """

    choice: str
    shown: str
    own_algorithms: Mapping[str, Algorithm] = field(default_factory=dict)

    @classmethod
    def read(cls, choice: str) -> Candidate:
        """Compile and describe a candidate; InputError if there is no such file or algorithm."""
        own_algorithms: dict[str, Algorithm] = {}
        if not catalogue.is_file(choice):
            with placed(key="algorithm"):
                return cls(named(choice, own_algorithms), choice.partition("@")[0])
        shown = choice.partition("@")[0]
        try:
            catalogue.check_new_name(Path(shown).stem)
        except InputError as error:
            raise Refused(problems.of_file(error, shown, Code.FILE)) from None
        try:
            return cls(catalogue.named(choice, Path(), own_algorithms), shown, own_algorithms)
        except InputError as error:
            died = error.__cause__
            if isinstance(died, apart.Died | apart.TooLong):
                raise Refused(problems.of_death(died, LIMITS, shown, "loading it")) from None
            if error.source is None:
                raise
            code = Code.FILE if error.source.endswith(".toml") else Code.COMPILE
            raise Refused(problems.of_file(error, shown, code)) from None

    @property
    def _algorithm(self) -> Algorithm | None:
        """The algorithm of its file; None: it is built in."""
        return next(iter(self.own_algorithms.values()), None)

    def check_interface(self) -> None:
        """Check its description and its compiled code before anything of it runs."""
        if self._algorithm is not None:
            with self._guarded("examining it"):
                self._judge(interface.rows(self._algorithm, self._algorithm.code, self.shown))

    def check_calls(self) -> None:
        """Make random calls."""
        if self._algorithm is not None:
            with self._guarded("calling it at random"):
                self._judge(fuzzing.rows(self._algorithm.name, self._algorithm.code))

    def measure(self, choice: str, path: NetworkPath, wanted: list[str]) -> Values:
        """Run it on a path and return quantities of the run."""
        with self._guarded(f"a run on {path.name}"):
            return measured(self.own_algorithms)(choice, path, wanted)

    def in_kernel(self) -> list[Problem]:
        """Check it in the kernel, without limits: hosts of the testbed need the system's rights."""
        algorithm, _ = catalogue.split_preset(self.choice, own_algorithms=self.own_algorithms)
        rows = list(kernel.rows(algorithm))
        failed = [problems.of_row(row, self.shown) for row in rows if row.verdict is Verdict.FAILED]
        if not failed:
            idle = (row for row in rows if row.verdict is Verdict.NOT_CHECKED)
            failed = [problems.unavailable(row, self.shown) for row in idle][:1]
        return failed

    def _judge(self, rows: Iterable[Row]) -> None:
        failed = [row for row in rows if row.verdict is Verdict.FAILED]
        if failed:
            raise Refused(*(problems.of_row(row, self.shown) for row in failed))

    @contextmanager
    def _guarded(self, doing: str) -> Iterator[None]:
        """Turn what a candidate does to its process into Refused."""
        try:
            yield
        except (apart.Died, apart.TooLong) as error:
            raise Refused(problems.of_death(error, LIMITS, self.shown, doing)) from None
        except EngineError as error:
            raise Refused(Problem(Code.CRASH, f"{doing}: {error}", self.shown)) from None
        except InputError as error:
            if not (error.key or "").startswith("sources."):
                raise
            raise Refused(problems.of_file(error, self.shown, Code.COMPILE)) from None
        except _core.AlgorithmError as error:
            refusal = refused(*error.args)
            if refusal.source is None:  # the machine's fault, such as no compiler
                raise refusal from None
            raise Refused(problems.of_file(refusal, self.shown, Code.COMPILE)) from None
