"""Verdicts on claims as text for the terminal and as a page of Markdown."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from incast import _markdown, _terminal
from incast._interval import CONFIDENCE
from incast.study.counting import KINDS, ORIGINS, counted, kind, mark
from incast.study.outcome import VERDICTS, CheckOutcome, ClaimOutcome
from incast.study.results import Claims, StudyResults
from incast.study.tabulating import DrawnTable

NOT_EXPLAINED = "no explanation yet"
"""Text for a failing claim without an explanation."""
NO_FINDING = "a calibration, not a finding"
"""Note at a calibration."""
PERCENT = f"{100 * CONFIDENCE:g} %"
LEGEND = f"in brackets: {PERCENT} confidence interval over seeds of each figure"
FEW = 4
"""Most figures of a check with equal verdicts that have a line each in the terminal; more share a line."""
MARGIN = "    "
WIDEST = 160
"""Most columns of the terminal that are used."""


def terminal(claims: Sequence[ClaimOutcome], *, figures: bool = False) -> Iterator[str]:
    """Every claim with its measurements; with `figures`, each figure has its own line."""
    for claim in claims:
        part = f" ({claim.counted('fails')})" if claim.verdict == "fails" else ""
        yield from wrapped(
            f"{claim.id}  {claim.verdict}{part}{mark(claim.origin, claim.calibration)}: {claim.statement}", MARGIN
        )
        if claim.calibration:
            yield from wrapped(f"{MARGIN}{NO_FINDING}: {claim.calibration}", MARGIN * 2)
        if claim.reason:
            yield from wrapped(f"{MARGIN}why: {claim.reason}", MARGIN * 2)
        if claim.share_of_space:
            yield from wrapped(f"{MARGIN}{claim.spaced()[-1]}", MARGIN * 2)
        for _, group in itertools.groupby(claim.checks, lambda check: check.check):
            checks = list(group)
            yield from wrapped(f"{MARGIN}{checks[0].metric}, expected {checks[0].expect}", MARGIN * 2)
            yield from _rows([_cells(alike, claim.reason) for alike in _alike(checks, figures)])
        if claim.verdict == "fails":
            for text in (claim.explanation or NOT_EXPLAINED).splitlines():
                yield from wrapped(MARGIN + text, MARGIN) or [""]
            if claim.taken:
                yield from wrapped(f"{MARGIN}({claim.taken})", MARGIN)
        yield ""


def tables(found: Sequence[DrawnTable]) -> Iterator[str]:
    """Every table with its rows; a column has the width of its widest cell."""
    for table in found:
        yield from wrapped(table.title, "")
        yield from wrapped(f"{MARGIN}{table.about}", MARGIN)
        yield from columns([table.headings, *table.texts()], table.numeric)
        for note in table.notes:
            yield from wrapped(MARGIN + note, MARGIN)
        yield ""


def columns(rows: Sequence[Sequence[str]], figures: Sequence[bool]) -> Iterator[str]:
    """Cells in columns, figures aligned right; headings are wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows[1:], strict=True)] or [0] * len(figures)
    widths = [max(width, *map(len, head.split())) for width, head in zip(widths, rows[0], strict=True)]
    heads = [textwrap.wrap(head, width) for head, width in zip(rows[0], widths, strict=True)]
    tall = max(map(len, heads))
    folded = [[*[""] * (tall - len(head)), *head] for head in heads]
    for row in [*zip(*folded, strict=True), *rows[1:]]:
        cells = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, figures, strict=True)
        )
        yield f"{MARGIN}{'  '.join(cells)}".rstrip()


def summary(results: StudyResults) -> Iterator[str]:
    """Number of claims by kind and verdict, with their ids; published statements first."""
    yield f"{results.study} at scale {results.scale}: {len(results.claims)} claims"
    for name, verdicts in results.claims.by_kind().items():
        yield from wrapped(f"{name} ({KINDS[name]}): {counted(verdicts)}", MARGIN)
        mine = [claim for claim in results.claims if kind(claim.origin, claim.calibration) == name]
        for verdict in VERDICTS:
            if ids := [claim.id for claim in mine if claim.verdict == verdict]:
                yield from wrapped(f"{MARGIN}{verdict}: {', '.join(ids)}", MARGIN * 2)


def _alike(checks: Sequence[CheckOutcome], each: bool) -> Iterator[list[CheckOutcome]]:
    """Figures of a check that share a line: many with one verdict."""
    for verdict in dict.fromkeys(check.verdict for check in checks):
        same = [check for check in checks if check.verdict == verdict]
        yield from ([check] for check in same) if each or len(same) <= FEW else [same]


def _cells(checks: Sequence[CheckOutcome], known: str | None) -> tuple[str, ...]:
    """Verdict, figure, interval, and label of the figure; the reason if it is not decided, unless already shown."""
    first = checks[0]
    reasons = list(dict.fromkeys(check.reason for check in checks if check.reason not in (None, known)))
    if len(checks) == 1:
        text = ": ".join(part for part in (first.series, *reasons) if part)
        return first.verdict, measured(first) or "-", interval(first), text
    values = [check.value for check in checks if check.value is not None]
    lows = [check.low for check in checks if check.low is not None]
    highs = [check.high for check in checks if check.high is not None]
    figures = spread(values, first.unit) if values else "-"
    intervals = f"({min(lows):.4g} to {max(highs):.4g})" if lows and highs else ""
    more = f", such as: {reasons[0]}" if reasons else ""
    return first.verdict, figures, intervals, f"{len(checks)} figures{more}"


def measured(check: CheckOutcome) -> str:
    """A figure with its unit; nothing if there is none."""
    return "" if check.value is None else f"{check.value:.4g}{f' {check.unit}' if check.unit else ''}"


def spread(values: Sequence[float], unit: str | None) -> str:
    """The lowest and the highest of several figures; one figure if they are written alike."""
    ends = dict.fromkeys(f"{value:.4g}" for value in (min(values), max(values)))
    return f"{' to '.join(ends)}{f' {unit}' if unit else ''}"


def interval(check: CheckOutcome) -> str:
    """The interval of a figure, and how many seeds it comes from; nothing if there is none."""
    if check.low is None or check.high is None:
        return ""
    return f"({check.low:.4g} to {check.high:.4g}, {check.seeds} seeds{'' if check.confidence else ', all values'})"


def _rows(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Cells in columns; the last of a row begins a new line where it does not fit."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row in rows:
        head = MARGIN * 2 + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False) if width)
        if len(head) + 2 + len(row[-1]) <= _width():
            yield f"{head}  {row[-1]}".rstrip()
        else:
            yield head.rstrip()
            yield from wrapped(MARGIN * 3 + row[-1], MARGIN * 4)


def wrapped(text: str, indent: str) -> list[str]:
    """Text folded to the terminal; the first line keeps the spaces that it begins with."""
    start = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(text.strip(), _width(), initial_indent=start, subsequent_indent=indent)


def _width() -> int:
    return _terminal.width(WIDEST)


def markdown(results: StudyResults) -> str:
    """The claims as a page."""
    manifest = results.manifest
    lines = [
        f"# {manifest['title']}: claims",
        "",
        f"Study {manifest['study']} at scale {manifest['scale']}, incast {manifest['incast']}. "
        f"{len(results.claims)} claims.",
        "",
        *_markdown.table(("kind", "verdicts"), verdicts_by_kind(results.claims)),
        "",
    ]
    heads = ("claim", "verdict", "origin", "figures that hold", "statement", "source")
    claims = (
        (
            claim.id,
            f"{claim.verdict}, calibration" if claim.calibration else claim.verdict,
            ORIGINS[claim.origin],
            claim.counted("holds"),
            claim.statement,
            claim.source,
        )
        for claim in results.claims
    )
    lines += _markdown.table(heads, claims)
    for each in results.tables:
        lines += ["", f"## {each.title}", "", each.about, "", *table_rows(each)]
    for claim in results.claims:
        lines += ["", *_section(claim)]
    return "\n".join(lines) + "\n"


def verdicts_by_kind(claims: Claims) -> Iterator[tuple[str, str]]:
    """Each kind of claims with the number of its verdicts."""
    for name, verdicts in claims.by_kind().items():
        yield f"{name} ({KINDS[name]})", counted(verdicts)


def _section(claim: ClaimOutcome) -> Iterable[str]:
    """A claim with all its figures."""
    yield from [f"## {claim.id}: {claim.verdict}", "", claim.statement, ""]
    if claim.calibration:
        yield from [f"{NO_FINDING.capitalize()}: {claim.calibration}.", ""]
    if claim.reason:
        yield from [f"{claim.verdict.capitalize()}: {claim.reason}.", ""]
    for text in claim.spaced():
        yield from [f"{text[:1].upper()}{text[1:]}.", ""]
    if claim.explanation or claim.verdict == "fails":
        yield from [claim.explanation or f"({NOT_EXPLAINED})", ""]
        if claim.taken:
            yield from [f"*{claim.taken}*", ""]
    head = ("figure", "measured", f"{PERCENT} interval", "expected", "verdict", "why not decided")
    cells = (
        (each.label, measured(each), interval(each).strip("()"), each.expect, each.verdict, each.reason or "")
        for each in claim.checks
    )
    yield from _markdown.table(head, cells)


def table_rows(drawn: DrawnTable) -> Iterator[str]:
    """A table in Markdown with its notes."""
    yield from _markdown.table(drawn.headings, drawn.texts(), drawn.numeric)
    yield from itertools.chain.from_iterable(("", note) for note in drawn.notes)
