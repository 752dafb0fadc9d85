"""A study's page as Markdown, with the page of checks and the files behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dumbbell.base import markdown
from dumbbell.base.labels import listing
from dumbbell.figures import drawing
from dumbbell.judging.decision import Decided
from dumbbell.judging.standing import Standing
from dumbbell.reports import checks_markdown, cross_links, effect_chart, study_text
from dumbbell.reports.study_page import commands, report_command, write_claims
from dumbbell.reports.study_text import Explained, Group, Sensitivity, StudyText
from dumbbell.results.account import Account
from dumbbell.results.results import Results
from dumbbell.study.model import Study


def write(results: Results, account: Account, page: Path) -> None:
    """Write the page, and next to it its figure, the checks and the claims as data."""
    text = study_text.of(results.study, account)
    behind = {
        part: page.with_name(f"{page.stem}-{part}")
        for part in ("checks.md", "claims", "figure.svg")
    }
    page.write_text(_page(results, text, {part: file.name for part, file in behind.items()}))
    behind["checks.md"].write_text(checks_markdown.page(results, account.claims))
    write_claims(account.claims, behind["claims"])
    if any(effect.is_measured for effect in text.effects):
        chart = effect_chart.draw(text.effects, account.standings)
        behind["figure.svg"].write_bytes(drawing.rendered(chart, ".svg"))


def bar(counts: Mapping[Standing, int]) -> str:
    """Return a mark for each claim, and the number of each."""
    there = {standing: count for standing, count in counts.items() if count}
    marks = " ".join(standing.mark * count for standing, count in there.items())
    legend = [f"{standing.mark} {standing.counted(count)}" for standing, count in there.items()]
    return f"`{marks}`\n\n{' · '.join(legend)}\n"


def _page(results: Results, text: StudyText, behind: Mapping[str, str]) -> str:
    writer = _Writer(results.study, behind["checks.md"])
    return "\n".join(
        filter(
            None,
            (
                writer.answer(text),
                writer.numbers(text, behind["figure.svg"]),
                writer.decided(text.decided),
                writer.claims(text),
                writer.causes(text),
                writer.sensitivity(text.sensitivity),
                writer.open(text),
                _behind(results, behind),
            ),
        )
    )


class _Writer:
    """Writes the sections of a page, with links to the page of checks."""

    def __init__(self, study: Study, checks: str) -> None:
        self.study = study
        self.checks = checks

    def answer(self, text: StudyText) -> str:
        """Describe the paper, and report the standing of its claims and the findings."""
        header = self.study.header
        venue = f" *{markdown.literal(header.venue)}*," if header.venue else ""
        lines = [
            f"# {markdown.literal(header.title)}\n",
            f"{markdown.literal(listing(header.authors))}.{venue} {header.year}.\n",
        ]
        if header.summary:
            lines.append(f"{markdown.prose(markdown.one_line(header.summary))}\n")
        if text.total:
            lines.append(f"**{text.total} statements that runs judge:**\n\n{bar(text.counts)}")
            lines += [f"- {self.linked(sentence)}" for sentence in text.findings]
        return "\n".join((*lines, ""))

    def numbers(self, text: StudyText, figure: str) -> str:
        """Show the figure of effect sizes."""
        if not any(effect.is_measured for effect in text.effects):
            return ""
        legend = (
            "Bars are 95 % intervals, bands factors of 1.25 and 2; triangles are limits and "
            "diamonds ranges, at 1 where they are kept."
        )
        picture = f"![Ours / theirs of each number, on a logarithmic axis]({figure})"
        return f"## Ours against theirs\n\n{picture}\n\n{text.numbers} {legend}\n"

    def decided(self, decided: Sequence[Decided]) -> str:
        """List the decisions."""
        if not decided:
            return ""
        heads = ("parameter", "the paper", "here", "evidence", "dependent claims")
        return "## Decided for the authors\n\n" + markdown.table(
            heads, map(self._decision, decided)
        )

    def _decision(self, decided: Decided) -> Sequence[str]:
        decision = decided.decision
        evidence = [self.linked(decision.evidence)]
        if decision.decided:
            evidence.append(f"Decided {decision.decided}.")
        if decision.set_by:
            leave = "does" if len(decision.set_by) == 1 else "do"
            evidence.append(f"Set by {self.names(decision.set_by)}, which {leave} not count.")
        none = "not run yet" if decided.has_not_run else "no claim that holds"
        dependent = self.names(decided.dependent) or none
        remark = " (not tried)" if decided.dependent and not decided.values else ""
        words = map(markdown.prose, (decision.parameter, decision.stated, decision.value))
        return (*words, " ".join(evidence), dependent + remark)

    def claims(self, text: StudyText) -> str:
        """List the claims by question."""
        if not text.groups:
            return ""
        tables = [self._group(group) for group in text.groups]
        return "\n".join(("## Claims by question\n", *tables, f"{text.not_counted}\n"))

    def _group(self, group: Group) -> str:
        theirs = ("theirs",) if group.has_numbers else ()
        heads = ("", "statement", *theirs, "ours")
        rows = (
            (
                f"{line.standing.mark} {self.names([line.claim])}",
                markdown.prose(line.text),
                *(markdown.prose(line.theirs) for _ in theirs),
                markdown.prose(line.ours),
            )
            for line in group.lines
        )
        return f"### {markdown.prose(group.title)}\n\n{markdown.table(heads, rows)}"

    def causes(self, text: StudyText) -> str:
        """Explain the contradictions."""
        parts = [self._cause(explanation) for explanation in text.explained]
        if text.unexplained:
            known = f"The [checks]({self.checks}) have the details of each."
            parts.append(f"### Cause unknown\n\n{self.names(text.unexplained)}. {known}\n")
        return "\n".join(("## Contradictions by cause\n", *parts)) if parts else ""

    def _cause(self, explanation: Explained) -> str:
        cause = explanation.cause
        would = f"*Would refute it:* {self.linked(cause.refuted_by)}." if cause.refuted_by else ""
        words = " ".join(filter(None, (self.linked(cause.text), would, self._shown(explanation))))
        return f"### {markdown.prose(cause.title)}\n\n{self.names(explanation.claims)}. {words}\n"

    def _shown(self, explanation: Explained) -> str:
        shown_by, waiting = (
            self.names(tests, mark="`") for tests in (explanation.shown_by, explanation.waiting)
        )
        shown = f"Shown by {shown_by}." if shown_by else "No test shows it yet."
        return f"{shown} Not run yet: {waiting}." if waiting else shown

    def sensitivity(self, counts: Sequence[Sensitivity]) -> str:
        """Count verdicts at other values of the decisions."""
        if not counts:
            return ""
        heads = ("decision", "value", "hold", "contradicted", "tie or open", "gained", "lost")
        rows = (
            (
                markdown.prose(row.parameter) if row.is_chosen else "",
                f"**{markdown.prose(row.value)}**" if row.is_chosen else markdown.prose(row.value),
                *map(str, (row.holding, row.contradicted, row.undecided)),
                *map(self.names, (row.gained, row.lost)),
            )
            for row in counts
        )
        about = "The claims that a decision judges, at the chosen value (bold) and at others."
        return f"## Sensitivity\n\n{about}\n\n{markdown.table(heads, rows)}"

    def open(self, text: StudyText) -> str:
        """List the needs of open claims, and the questions to the authors."""
        lines = [
            f"- {self.names(names)}: {markdown.prose(lacks)}." for lacks, names in text.undecided
        ]
        lines += [
            f"- To ask the authors: {self.linked(ask.text)} ({self.names(ask.claims)})"
            for ask in text.asks
        ]
        return "\n".join(("## Open questions\n", *lines, "")) if lines else ""

    def linked(self, text: str) -> str:
        """Return prose with links to tests and claims."""
        return cross_links.in_markdown(text, self.study, self.checks)

    def names(self, names: Sequence[str], mark: str = "") -> str:
        """Return names of claims or tests as links, each between marks."""
        return ", ".join(
            f"[{mark}{name}{mark}]({self.checks}#{cross_links.anchor(name)})" for name in names
        )


def _behind(results: Results, behind: Mapping[str, str]) -> str:
    made: Iterator[str] = (f"`{command}`" for command in commands(results))
    claims = behind["claims"]
    return (
        "## More pages and data\n\n"
        f"[All checks, costs, switches and doubtful runs]({behind['checks.md']}) · "
        f"[{claims}.csv]({claims}.csv), [{claims}.json]({claims}.json)\n\n"
        f"{', '.join(made)} made the runs, on `{results.engine.identity}`. "
        f"`{report_command(results)}` shows this page with the paper's figures and each run; "
        "`dumbbell claims` with `--markdown` writes this one.\n"
    )
