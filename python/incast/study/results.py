"""A study's results: a folder of sweeps with verdicts on claims."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from incast import _input, _shape, sweep
from incast._echo import shell
from incast.analysis import Analysis, open_analysis
from incast.analysis.dataset import INDEX
from incast.errors import ResultsError
from incast.study.counting import PUBLISHED, by_kind, counted
from incast.study.description import MAP
from incast.study.drawing_figures import DrawnFigure, Figures
from incast.study.outcome import ClaimOutcome, Verdict
from incast.study.tabulating import DrawnTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANIFEST = "study.json"
CLAIMS = "claims.json"
TABLE = "claims.md"
PAGE = "report.html"
TABLES = "tables"
CAP = "until_decided"
"""Entry of the manifest and of claims.json: most seeds of a figure, if seeds were added until figures were decided."""
KEYS = ("format", "study", "title", "scale", "sweeps", "wall_s", "cpu_s", "incast")
"""Entries of the manifest that each of these formats has."""
TYPES: dict[str, Any] = {
    **dict.fromkeys(("study", "title", "scale", "incast", "date"), str),
    **dict.fromkeys(("wall_s", "cpu_s"), float),
    **dict.fromkeys(("sweeps", "analyses"), list[str]),
}
"""Types of entries of the manifest."""
FORMAT = 3
"""Format of the folder; another one is refused."""
JUDGED = (2, FORMAT)
"""Formats with sweeps and analyses that this version reads: their claims can be judged again."""
SINCE_3 = ("source", "date")
"""Further entries of the manifest of format 3."""


class Claims(Sequence[ClaimOutcome]):
    """Verdicts on claims, in the order of the study, by number or id: `claims["E1"]`."""

    def __init__(self, claims: Sequence[ClaimOutcome]) -> None:
        """Wrap the claims."""
        self._claims = tuple(claims)

    def __len__(self) -> int:
        return len(self._claims)

    @overload
    def __getitem__(self, which: int | str) -> ClaimOutcome: ...
    @overload
    def __getitem__(self, which: slice) -> Claims: ...
    def __getitem__(self, which: int | str | slice) -> ClaimOutcome | Claims:
        if isinstance(which, slice):
            return Claims(self._claims[which])
        if isinstance(which, int):
            return self._claims[which]
        for claim in self._claims:
            if claim.id == which:
                return claim
        raise KeyError(f"there is no claim {which!r}; there are {', '.join(claim.id for claim in self._claims)}")

    def __repr__(self) -> str:
        return f"<Claims: {self.counted()}>"

    def count(self, verdict: Verdict) -> int:
        """Number of claims with this verdict."""
        return sum(claim.verdict == verdict for claim in self._claims)

    def by_kind(self) -> dict[str, list[str]]:
        """Verdicts by kind of claim: `published statements`, `calibrations`, `drafts`, `ours`."""
        return dict(by_kind((claim.origin, claim.calibration, claim.verdict) for claim in self._claims))

    def counted(self) -> str:
        """Number of published statements by verdict: `published statements: 12 hold, 3 fail, 2 undecided`."""
        return f"{PUBLISHED}: {counted(self.by_kind().get(PUBLISHED, []))}"

    def dicts(self) -> Iterator[dict[str, Any]]:
        """A row for each checked figure, with its claim: `polars.DataFrame(list(claims.dicts()))`."""
        for claim in self._claims:
            for check in claim.checks:
                row = {"id": claim.id, "claim_verdict": claim.verdict, "origin": claim.origin}
                fields = (name for name in check.__slots__ if name not in ("per_seed", "check"))
                yield {**row, **{name: getattr(check, name) for name in fields}}

    def _repr_html_(self) -> str:
        rows = []
        for claim in self._claims:
            verdict = f"{claim.verdict}, calibration" if claim.calibration else claim.verdict
            cells = (claim.id, verdict, claim.origin, claim.statement, claim.reason or "")
            rows.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        heads = "".join(f"<th>{name}</th>" for name in ("claim", "verdict", "origin", "statement", "why not decided"))
        return f"<table><caption>{self.counted()}</caption><tr>{heads}</tr>{''.join(rows)}</table>"


class StudyResults:
    """The results of a study: verdicts on claims, sweeps and analyses."""

    def __init__(
        self,
        path: Path,
        manifest: dict[str, Any],
        claims: Claims,
        figures: Sequence[DrawnFigure] = (),
    ) -> None:
        """Wrap a folder that was read."""
        self.path = path
        """The folder."""
        self.manifest = manifest
        """Study, scale, version and run times: study.json."""
        self.claims = claims
        """The verdicts on the claims."""
        self.figures = Figures(figures)
        """The figures of the study, in the order of the publication."""

    @property
    def study(self) -> str:
        """The study's name."""
        return str(self.manifest["study"])

    @property
    def scale(self) -> str:
        """The scale of the run."""
        return str(self.manifest["scale"])

    def plot(
        self, figure: str, *, width: float | None = None, height: float | None = None, title: str | None = None
    ) -> Figure:
        """A figure of the study as a matplotlib figure, with published values.

        Args:
            figure: Its id.
            width: Width in inches. Default: depends on the figure.
            height: Height in inches.
            title: Text above the panels; an empty text for none. Default: title and source of the figure.

        Raises:
            MissingLibraryError: Matplotlib is not installed.
            ResultsError: There is no such figure, or nothing to draw in it.

        """
        # Drawing needs libraries that nothing else of a study needs.
        from incast import plot_study
        from incast.charts.groups import variations_of
        from incast.study.series import places

        drawn = self.figures[figure]
        asked = {each.sweep for each in drawn.pauses}
        sweeps = {name: variations_of(found) for name, found in self.sweeps.items() if name in asked}
        sources = {name: found[0].source for name, found in sweeps.items() if found}
        try:
            return plot_study.draw(drawn, sources, places(self.figures), width=width, height=height, title=title)
        finally:
            for source in sources.values():
                source.close()

    @property
    def tables(self) -> tuple[DrawnTable, ...]:
        """The tables of all figures."""
        return tuple(table for figure in self.figures for table in figure.tables)

    @property
    def sweeps(self) -> dict[str, sweep.Sweep]:
        """The sweeps by name; some can be missing after an interrupted run."""
        names = (name for name in self.manifest["sweeps"] if (self.path / name).exists())
        return {name: sweep.open_sweep(self.path / name) for name in names}

    @property
    def analyses(self) -> dict[str, Analysis]:
        """The analyses by name; some can be missing after an interrupted run."""
        names = (name for name in self.manifest.get("analyses", ()) if (self.path / name / INDEX).exists())
        return {name: open_analysis(self.path / name) for name in names}

    def __repr__(self) -> str:
        return f"<StudyResults of {self.study} at scale {self.scale} in {self.path}: {self.claims.counted()}>"

    def _repr_html_(self) -> str:
        head = f"{self.manifest['title']} ({self.study}, scale {self.scale})"
        return f"<h4>{html.escape(head)}</h4>{self.claims._repr_html_()}"


class OtherFormatError(ResultsError):
    """Results of a study that another version of incast has written."""

    def __init__(self, text: str, manifest: dict[str, Any]) -> None:
        super().__init__(text)
        self.manifest = manifest


def open_study(path: str | PathLike[str], study: str | None = None) -> StudyResults:
    """Open the folder that a study's run has written; `study` is the name that the study is to have."""
    folder = Path(path)
    manifest = of_study(folder, study)
    if manifest["scale"] == MAP:
        raise ResultsError(
            f"{folder}: a map of open parameters, which `incast study show` prints; its page is map.html"
        )
    if manifest["format"] != FORMAT:
        message = f"verdicts of format {manifest['format']}, but this version of incast reads format {FORMAT}"
        help_ = f"`incast study judge {shell(manifest['study'])} {shell(folder)}` judges the runs again"
        raise ResultsError(f"{folder / MANIFEST}: {message}; {help_}")
    try:
        claims = _input.read_json(folder / CLAIMS, ResultsError)
        outcomes = Claims([ClaimOutcome.from_tree(tree) for tree in claims["claims"]])
        figures = [DrawnFigure.from_tree(tree) for tree in claims["figures"]]
        _shape.check(list(outcomes), list[ClaimOutcome], "claims")
        _shape.check(figures, list[DrawnFigure], "figures")
        for number, figure in enumerate(figures):
            if not figure.is_finite():
                raise ValueError(f"figures[{number}] has a point that is no finite number")
    except FileNotFoundError:
        message = f"the study's run is not finished: it has {MANIFEST}, but no {CLAIMS}"
        raise ResultsError(f"{folder}: {message}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{folder / CLAIMS}: not as incast writes it: {error}") from None
    return StudyResults(folder, manifest, outcomes, figures)


def of_study(folder: Path, study: str | None) -> dict[str, Any]:
    """study.json of a folder of results of this study, or of any."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise ResultsError(f"{folder}: no results of a study here: there is no {MANIFEST}")
    if study is not None and manifest["study"] != study:
        raise ResultsError(f"{folder}: these are results of study {manifest['study']}, not of {study}")
    return manifest


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """study.json of a folder; `None` if there is none."""
    file = folder / MANIFEST
    try:
        manifest = _input.read_json(file, ResultsError)
        if manifest["format"] not in JUDGED:
            message = f"format {manifest['format']}, but this version of incast reads format {FORMAT}"
            raise OtherFormatError(f"{file}: {message}; run the study again, with --overwrite or elsewhere", manifest)
        needed = (*KEYS, *SINCE_3) if manifest["format"] == FORMAT else KEYS
        missing = [name for name in needed if name not in manifest]
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{file}: not as incast writes it: {error}") from None
    if missing:
        raise ResultsError(f"{file}: not as incast writes it: no {', '.join(missing)}")
    try:
        for name in TYPES.keys() & manifest.keys():
            _shape.check(manifest[name], TYPES[name], name)
    except TypeError as error:
        raise ResultsError(f"{file}: not as incast writes it: {error}") from None
    return dict(manifest)
