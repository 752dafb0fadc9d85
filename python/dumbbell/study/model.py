"""A published study as data: its tests, figures and claims.

A study is a folder of TOML files that are read as one, or a single file. Each test is a grid of
scenarios; `Study.runs` expands it to the runs that an engine executes.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    Field,
    PrivateAttr,
    SerializeAsAny,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from dumbbell.base import documents, hypertext
from dumbbell.base.errors import InputError, placed, unknown
from dumbbell.base.keys import numbered
from dumbbell.base.shell import joined, quoted
from dumbbell.base.validation import validate
from dumbbell.figures.kinds import FigureSpec
from dumbbell.judging import readings
from dumbbell.judging.claim import Claim
from dumbbell.judging.decision import Decision
from dumbbell.plan import settings
from dumbbell.plan.expanding import More, Plan, PlannedRun, Point
from dumbbell.plan.grid import Selection
from dumbbell.plan.settings import Settings
from dumbbell.plan.tests import Test, Vary
from dumbbell.plan.windows import NamedWindow, differing
from dumbbell.quantities import registry
from dumbbell.quantities.derived import Derived
from dumbbell.quantities.names import Use, Vocabulary, What
from dumbbell.scenario.tables import Table, Title
from dumbbell.study import part as parts
from dumbbell.study.files import RESULTS, StudyFiles, find, names, read
from dumbbell.study.tables import tables as tables_of
from dumbbell.study.telling import Ask, Cause, FoundOut, PageText, Question, named, of_part


class Header(Table):
    """Identity of the study."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", examples=["li2007"])
    """Short name, as given to the commands."""

    title: Title
    """Title of the publication."""

    authors: tuple[str, ...]
    """Its authors."""

    year: int
    """Year of publication."""

    venue: str = ""
    """Its publication."""

    summary: str = ""
    """Summary, in a few sentences."""

    reference: tuple[str, ...] = Field(("reno",), examples=[["reno", "cubic"]])
    """The reference algorithms, with which it compares the others. `dumbbell claims --control`
    exchanges only the names of the others."""

    command: str = Field("", examples=["dumbbell simulate two-flows.toml"])
    """The command that wrote it, if it is an experiment rather than a publication."""

    fork_of: str = Field("", examples=["li2007:fig8"])
    """The study, or the part of a study, from which it was forked."""

    changes: tuple[str, ...] = Field((), examples=[["rtt=42ms"]])
    """Its changes, if it is a fork."""

    @field_validator("command")
    @classmethod
    def _quote(cls, command: str) -> str:
        """Return it with each word quoted, as pages show it to be copied."""
        try:
            words = shlex.split(command)
        except ValueError:
            words = []
        if command and words[:1] != ["dumbbell"]:
            raise InputError(
                "not a command of Dumbbell", value=command, valid="dumbbell simulate FILE"
            )
        return joined(words)


class Study(Table):
    """A study: what it is, its tests, its figures and its claims."""

    documented_in: ClassVar = "docs/study.md"

    header: Header = Field(alias="study")
    """Identity of the study."""

    settings: Annotated[dict[str, SerializeAsAny[Settings]], WithJsonSchema({"type": "object"})] = (
        Field({}, examples=[{"samples": {"interval": "1s"}}])
    )
    """Settings of quantities: a table for each kind of [settings](quantities.md#settings) that
    differs from its defaults."""

    quantities: tuple[Derived, ...] = Field((), alias="quantity")
    """Quantities that are derived from others."""

    windows: tuple[NamedWindow, ...] = Field((), alias="window")
    """Windows of all tests, besides their own."""

    scenario: dict[str, Any] = Field({})
    """Common part of the scenarios of all tests."""

    vary: tuple[Vary, ...] = ()
    """Changes at some grid points of all tests, or of those that `where` names as `test`. A test's
    own scenario and changes come later and win."""

    tests: tuple[Test, ...] = Field(alias="test", min_length=1)
    """Its tests."""

    figures: tuple[FigureSpec, ...] = Field((), alias="figure")
    """Its figures."""

    claims: tuple[Claim, ...] = Field((), alias="claim")
    """Its claims."""

    questions: tuple[Question, ...] = Field((), alias="question")
    """The questions under which its page lists the claims."""

    findings: tuple[FoundOut, ...] = Field((), alias="finding")
    """Results in sentences, while they are true."""

    decisions: tuple[Decision, ...] = Field((), alias="decision")
    """Details that the study decides for the authors."""

    causes: tuple[Cause, ...] = Field((), alias="cause")
    """Causes of contradictions."""

    asks: tuple[Ask, ...] = Field((), alias="ask")
    """Questions to the authors."""

    _files: StudyFiles = PrivateAttr(StudyFiles(Path("study"), {}, {}))
    _part: tuple[str, ...] = PrivateAttr(())

    @classmethod
    def load(cls, study: str | Path, results: Path = RESULTS) -> Self:
        """Read a study by its name, or from its folder or file; see `files.find`.

        ``li2007:fig4,E10`` is a part of it; see `part`.
        """
        wanted: Sequence[str] = ()
        # A file may have a colon in its name, and then it is no part of a study.
        if isinstance(study, str) and not documents.exists(Path(study)):
            study, wanted = parts.split(study)
        content = read(study, results)
        loaded = content.validate(cls)
        loaded._files = content
        return loaded.part(wanted) if wanted else loaded

    def part(self, names: Sequence[str]) -> Self:
        """Return the part that some figures and claims need.

        Figures come with the claims about them. An unknown name is an InputError, and so are
        figures and claims that need no runs.
        """
        kept = parts.part(self, names)
        claims = {claim.id for claim in kept.claims}
        texts = of_part(self._page_texts, claims, {test.name for test in kept.tests})
        update = {
            "tests": kept.tests,
            "figures": kept.figures,
            "claims": kept.claims,
            "decisions": tuple(
                part_of_it
                for decision in self.decisions
                if (part_of_it := decision.of_part(claims, kept.tests)) is not None
            ),
            **texts,
        }
        smaller = self.model_copy(update=update)
        smaller._files = self._files.keeping("test", kept.numbers)
        smaller._part = tuple(names)
        return smaller

    @property
    def path(self) -> Path:
        """Its folder or file."""
        return self._files.path

    @property
    def is_part(self) -> bool:
        """True if it is a part of what its files have."""
        return bool(self._part)

    def tables(self) -> dict[str, Any]:
        """Return the tables of its files, as far as it has them; see `study.tables`."""
        return tables_of(self, self._files)

    def __repr__(self) -> str:
        return f"<Study {self.name}: {self.header.title}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return what it is and its tests, for notebooks."""
        header = self.header
        about = ", ".join(filter(None, (*header.authors, header.venue, str(header.year))))
        rows = (
            (
                test.name,
                test.title,
                ", ".join(test.axes),
                sum(1 for _ in test.grid_points),
                test.runs,
            )
            for test in self.tests
        )
        heads = ("test", "about", "axes", "grid points", "runs of each")
        return hypertext.summary(f"{self.name}: {header.title}", about, heads, rows)

    @staticmethod
    def names() -> list[str]:
        """Return the names of the studies that come with Dumbbell or lie in ``./studies``."""
        return names()

    @property
    def name(self) -> str:
        """Its short name."""
        return self.header.name

    @property
    def named(self) -> str:
        """Its name, with the figures and claims of a part: ``li2007:fig4,E10``."""
        return parts.joined(self.name, self._part)

    @property
    def called(self) -> str:
        """Its name in commands: its name if that finds it, else the path that it was read from.

        A part of a study has its figures and claims behind that.
        """
        try:
            # The name may find another study of this name. Then only the path means this one.
            is_found = find(self.name) == self._files.path
        except InputError:
            is_found = False
        is_file = self._files.path.exists()
        whole = self.name if is_found or not is_file else str(self._files.path)
        return quoted(parts.joined(whole, self._part))

    @property
    def plan(self) -> Plan:
        """Its tests, ready to be expanded to runs."""
        return Plan(self.tests, self.scenario, self.vary, self.windows, self.settings, self._files)

    def test(self, name: str) -> Test:
        """Return a test; an unknown name is an InputError."""
        return self.plan.test(name)

    def figure(self, name: str) -> FigureSpec:
        """Return a figure; an unknown name is an InputError."""
        for figure in self.figures:
            if figure.name == name:
                return figure
        raise unknown("figure", name, [figure.name for figure in self.figures])

    def points(
        self,
        test: str | Test,
        *,
        quick: bool = False,
        where: Selection | None = None,
        runs: int | None = None,
    ) -> list[Point]:
        """Return the grid points of a test; see `Plan.points`."""
        return self.plan.points(test, quick=quick, where=where, runs=runs)

    def runs(
        self,
        quick: bool = False,
        where: Selection | None = None,
        runs: int | None = None,
        seed: int = 0,
        tests: Sequence[str] | None = None,
        *,
        more: Sequence[More] = (),
    ) -> list[PlannedRun]:
        """Expand the tests to their runs; see `Plan.runs`."""
        return self.plan.runs(quick, where, runs, seed, tests, more=more)

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for kind, used in (
            ("test", [test.name for test in self.tests]),
            ("figure", [figure.name for figure in self.figures]),
            ("claim", [claim.id for claim in self.claims]),
        ):
            for before, name in enumerate(used):
                if name in used[:before]:
                    key = f"{kind}.{before + 1}.{'id' if kind == 'claim' else 'name'}"
                    raise InputError(f"a second {kind} of this name", key=key, value=name)
        return self

    @field_validator("settings", mode="before")
    @classmethod
    def _read_settings(cls, tables: Any) -> Any:
        if not isinstance(tables, dict):
            return tables
        # Settings register themselves with the quantities that they are of, so load all of these.
        registry.quantities()
        read_in = {}
        for name, table in tables.items():
            kind = settings.KNOWN.get(name)
            if kind is None:
                raise unknown("table of settings", name, settings.KNOWN).at(key=name)
            read_in[name] = table if isinstance(table, Settings) else _read(kind, name, table)
        return read_in

    @field_validator("windows")
    @classmethod
    def _windows_differ(cls, windows: tuple[NamedWindow, ...]) -> tuple[NamedWindow, ...]:
        return differing(windows)

    @model_validator(mode="after")
    def _check_what_is_named(self) -> Self:
        """Refuse every name in the study that refers to nothing."""
        for key, vary in numbered("vary", self.vary):
            with placed(key=f"{key}.where"):
                self.plan.check(vary.where)
        vocabulary = Vocabulary(self.plan, self.quantities)
        for key, derived in numbered("quantity", self.quantities):
            with placed(key=key):
                vocabulary.check_derived(derived)
        vocabulary.check_common_windows()
        for key, test in numbered("test", self.tests):
            with placed(key=key):
                self.plan.check_axes(test)
                vocabulary.check_windows(test)
        for key, use in self._uses():
            with placed(key=key):
                vocabulary.check(use)
        return self

    @model_validator(mode="after")
    def _check_what_the_page_names(self) -> Self:
        """Refuse claims, tests and axes that do not exist in the texts of the page."""
        for key, claim in self._page_claims():
            if claim not in (ids := [known.id for known in self.claims]):
                raise unknown("claim", claim, ids).at(key=key)
        for key, cause in numbered("cause", self.causes):
            for place, name in numbered(f"{key}.tests", cause.tests):
                with placed(key=place):
                    self.test(name)
        for key, decision in numbered("decision", self.decisions):
            with placed(key=key):
                self._check_decision(decision)
        once: set[str] = set()
        for key, question in numbered("question", self.questions):
            for place, name in numbered(f"{key}.claims", question.claims):
                if name in once:
                    raise InputError("another question has this claim", key=place, value=name)
                once.add(name)
        return self

    @property
    def _page_texts(self) -> Mapping[str, Sequence[PageText]]:
        """The texts of its page, by kind."""
        return {
            "questions": self.questions,
            "findings": self.findings,
            "causes": self.causes,
            "asks": self.asks,
        }

    def _page_claims(self) -> Iterator[tuple[str, str]]:
        """Yield the claims that are named for the page, each with its place."""
        for kind, tables in self._page_texts.items():
            for key, table in numbered(kind.removesuffix("s"), tables):
                yield from ((f"{key}.{place}", name) for place, name in named(table))
        for key, decision in numbered("decision", self.decisions):
            yield from ((f"{key}.{place}", name) for place, name in decision.named())

    def _check_decision(self, decision: Decision) -> None:
        """Refuse an axis, or a value of it, that no test has, or that no claim names."""
        if not decision.axis:
            return
        values = [value for test in self.tests for value in test.axes.get(decision.axis, ())]
        if not values:
            axes = dict.fromkeys(axis for test in self.tests for axis in test.axes)
            raise unknown("axis", decision.axis, axes).at(key="axis")
        for place, value in (("main", decision.main), *numbered("others", decision.others)):
            if value not in values:
                raise unknown(f"value of {decision.axis}", value, values).at(key=place)
        if not decision.tried and not readings.named(self.claims, decision.axis):
            problem = "no claim names it, so none is judged at its values"
            raise InputError(problem, key="axis", value=decision.axis, valid="tried checks")

    def uses(self) -> Iterator[Use]:
        """Yield all that figures and claims refer to."""
        return (use for _, use in self._uses())

    def _uses(self) -> Iterator[tuple[str, Use]]:
        """Yield what figures and claims refer to, with the key of the figure or the check."""
        for key, figure in numbered("figure", self.figures):
            yield key, Use("section", What.TEST, figure.section)
            for use in figure.uses():
                yield key, use
        for key, claim in numbered("claim", self.claims):
            for place, check in numbered(f"{key}.check", claim.checks):
                for use in check.uses():
                    yield place, use
        for key, decision in numbered("decision", self.decisions):
            for place, represented in numbered(f"{key}.tried", decision.tried):
                for use in represented.check.uses():
                    yield f"{place}.check", use


def _read(kind: type[Settings], name: str, table: Any) -> Settings:
    try:
        return validate(kind, table)
    except InputError as error:
        raise error.at(key=name) from None
