"""Draws the chart of `incast plot`: chooses the scenario, makes the chart, writes the file."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incast import charts, plot, plot_style
from incast._echo import CONTROL, word
from incast._limits import LONGEST_TITLE
from incast._nearest import hint
from incast._whole import refuse_if_there
from incast.charts import kinds
from incast.charts.groups import Group, as_option, chosen, fitting_of, read
from incast.charts.over import FIGURES, OF_LABEL, error_bars, over
from incast.charts.uneven import uneven_seeds
from incast.cli import codes
from incast.errors import ResultsError
from incast.few import noted
from incast.integrity import verify
from incast.study.results import open_study

ENDINGS = (".svg", ".pdf", ".png")
BARS = {
    "range": "minimum to maximum over seeds",
    "interval": "95 % confidence intervals of the means (Student's t over seeds)",
}
"""Kinds of error bars, in words."""
MISSING = re.compile(r"Glyph (\d+) ")
"""Matplotlib's warning about a character that its font lacks."""


@dataclass(frozen=True)
class Asked:
    """The options of `incast plot`."""

    chart: str
    where: Sequence[str]
    label: str | None
    bins: int | None
    percentiles: Sequence[str]
    ports: int | None
    flows: int | None
    vms: int | None
    over: str | None
    figure: str | None
    width: float | None
    height: float | None
    title: str | None

    def given(self) -> dict[str, tuple[bool, tuple[str, ...]]]:
        """Options of some charts: true if given, and the charts."""
        return {
            "--label": (self.label is not None, (*kinds.OPTIONS["label"], "over")),
            "--bins": (self.bins is not None, kinds.OPTIONS["bins"]),
            "--percentile": (bool(self.percentiles), kinds.OPTIONS["percentiles"]),
            "--ports": (self.ports is not None, kinds.OPTIONS["ports"]),
            "--flows": (self.flows is not None, kinds.OPTIONS["flows"]),
            "--vms": (self.vms is not None, kinds.OPTIONS["vms"]),
            "--over": (self.over is not None, ("over",)),
            "--figure": (self.figure is not None, ("over",)),
        }

    def check_title(self) -> None:
        """Raise for a title that a scenario cannot have: with control characters, too long, no text."""
        title = self.title or ""
        if found := CONTROL.search(title):
            raise ResultsError(
                f"--title: the text `{word(title)}` has a control character, U+{ord(found[0]):04X}; "
                "allowed: text without control characters"
            )
        if not title.isascii() and title.encode("utf-8", "replace") != title.encode("utf-8", "surrogatepass"):
            raise ResultsError("--title: the text is not in the encoding of the terminal; allowed: text")
        if len(title) > LONGEST_TITLE:
            raise ResultsError(
                f"--title: the text has {len(title):,} characters; allowed: at most {LONGEST_TITLE:,} characters"
            )

    def check(self) -> None:
        """Raise if an option has no effect on the chart."""
        for option, (there, of) in self.given().items():
            if there and self.chart not in of:
                raise ResultsError(f"{option} has no effect on {self.chart}, only on {', '.join(of)}")

    def check_study(self) -> None:
        """Raise if an option has no effect on a figure of a study."""
        given = {**self.given(), "--where": (bool(self.where), ())}
        for option, (there, _) in given.items():
            if there and option != "--figure":
                raise ResultsError(f"{option} has no effect on a figure of a study")


def write(folder: Path | None, asked: Asked, file: Path, *, overwrite: bool) -> Path:
    """Draw the requested chart into a file."""
    if folder is None:
        raise ResultsError("no results folder to draw: name one, or --study RESULTS --figure ID")
    _ready(file, overwrite=overwrite)
    asked.check_title()
    asked.check()
    if asked.figure is not None and asked.figure not in FIGURES:
        there = f"only {', '.join(FIGURES)}{hint(asked.figure, FIGURES)}"
        raise ResultsError(f"--figure {asked.figure}: a run has no such figure, {there}")
    group = only(folder)
    codes.warn(filter(None, [group.warning]))
    chart, options = made(group, asked)
    # Unfinished flows have an effect on slowdowns only.
    if asked.chart != "over" or options["of"].startswith("slowdown"):
        for note in chart.left_out:
            codes.complain(f"note: {note}")
    if not chart.rows:
        raise ResultsError(f"{folder}: {chart.why_empty or 'nothing to draw'}")
    if asked.chart == "over" and all(row[options["of"]] is None for row in chart.dicts()):
        raise ResultsError(f"{folder}: no run has a {FIGURES[options['of']]}")
    title = group.title if asked.title is None else asked.title
    with _glyphs():
        figure = plot.draw(chart, width=asked.width, height=asked.height, title=title, **options)
        return plot.save(figure, file, overwrite=overwrite)


def write_figure(folder: Path | None, study: Path, asked: Asked, out: Path | None, *, overwrite: bool) -> Path:
    """Draw the requested figure of a study into a file."""
    if folder is not None:
        raise ResultsError(f"`{folder}` has no effect with --study: the figure is --figure ID")
    asked.check_title()
    asked.check_study()
    found = open_study(study)
    if asked.figure is None:
        raise ResultsError(f"--study needs --figure ID: {', '.join(each.id for each in found.figures) or 'none there'}")
    file = out or Path(f"{found.figures[asked.figure].id}.svg")
    _ready(file, overwrite=overwrite)
    verify([study])
    with _glyphs():
        figure = found.plot(asked.figure, width=asked.width, height=asked.height, title=asked.title)
        return plot.save(figure, file, overwrite=overwrite)


@contextmanager
def _glyphs() -> Iterator[None]:
    """One note about characters that the font lacks, in place of matplotlib's warning for each text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message="Glyph .* missing from font")
        yield
    missing = []
    for each in caught:
        if found := MISSING.match(str(each.message)):
            missing.append(chr(int(found[1])))
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if missing:
        codes.complain(f"note: the font of pictures lacks {' '.join(dict.fromkeys(missing))}: boxes in their place")


def _ready(file: Path, *, overwrite: bool) -> None:
    """Raise unless a picture can be written; first, because reading the results takes time."""
    if file.suffix not in ENDINGS:
        raise ResultsError(f"{file}: the name of a picture must end in {', '.join(ENDINGS)}")
    refuse_if_there(file, overwrite=overwrite)
    plot_style.matplotlib()


def only(folder: Path) -> Group:
    """The one group of a folder; a study's sweeps are folders of their own."""
    groups = read([folder]).groups
    if len(groups) > 1:
        raise ResultsError(f"{folder} has several sweeps; name one: {', '.join(str(one.path) for one in groups)}")
    return groups[0]


def made(group: Group, asked: Asked) -> tuple[charts.Chart, dict[str, Any]]:
    """The requested chart, and the options for drawing it."""
    where = dict(_pair(text) for text in asked.where)
    if asked.chart == "over":
        return _over(group, asked, where)
    source = chosen(group, where).source
    given = {
        "label": asked.label,
        "bins": asked.bins,
        "percentiles": asked.percentiles,
        "ports": asked.ports,
        "flows": asked.flows,
        "vms": asked.vms,
    }
    chart, options = kinds.make(source, asked.chart, **given)
    return noted(chart, asked.percentiles), options


def _over(group: Group, asked: Asked, where: dict[str, str]) -> tuple[charts.Chart, dict[str, Any]]:
    """A figure of every run that `where` leaves, over one column."""
    if not group.columns:
        raise ResultsError(f"{group.path} is one run; the chart `over` needs a sweep")
    names = [column["name"] for column in group.columns]
    first = next((column["name"] for column in group.columns if len(column["values"]) > 1), names[0])
    x = first if asked.over is None else asked.over
    if x not in names:
        raise ResultsError(f"{group.path} has no column `{x}`, only {', '.join(names)}")
    taken = fitting_of(group, where)
    if not taken:
        chosen(group, where)
    others = [
        column for place, column in enumerate(group.columns)
        if column["name"] != x and column["path"] != "seed" and len({str(one.values[place]) for one in taken}) > 1
    ]  # fmt: skip
    if others:
        say = " ".join(as_option(column["name"], column["values"][0]) for column in others)
        raise ResultsError(f"{group.path}: other columns vary too; choose values, for example {say}")
    of = asked.figure or "slowdown_p99"
    if asked.label is not None and of not in OF_LABEL:
        raise ResultsError(f"--label has no effect on the figure {of}, only on {', '.join(OF_LABEL)}")
    scenarios = ((one.values, one.source) for one in taken)
    chart = over(names, scenarios, taken[0].source.palette, asked.label, of)
    for note in uneven_seeds(names, None if x == group.seed else group.seed, chart.rows):
        codes.complain(f"note: {note}")
    if kind := error_bars(chart.dicts(), x, of):
        codes.complain(f"note: Points: means over seeds. Bars: {BARS[kind]}.")
    return chart, {"x": x, "of": of}


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ResultsError(f"--where {text}: must be COLUMN=VALUE, such as load=0.5")
    return name.strip(), value.strip()
