"""Map of a study's open parameters: at which points each claim holds, as in map.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from incast import _input, sweep
from incast._quantity import Kind
from incast.errors import ResultsError
from incast.study import results
from incast.study.description import MAP, Origin, Value
from incast.study.outcome import Verdict
from incast.study.space import Point

CONTENT = "map.json"
TABLE = "map.md"
PAGE = "map.html"
FILES = (CONTENT, TABLE, PAGE)
RUNS = "runs_at_point"
"""Key of the manifest: size of the runs at a point, in words."""
FORMAT = 1
"""Format of map.json; another one is refused."""
SIGNIFICANT = 0.01
"""Greatest corrected p-value of a parameter that decides a claim (our choice)."""
DECIDING = 2
"""Most parameters that are named as deciding a claim (our choice)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """An open parameter of a map."""

    name: str
    judged: Value
    why: str
    reason: str
    plausible: str
    """Range or values, as text."""
    ordered: bool
    """True if values are numbers or quantities of one kind."""
    kind: Kind | None
    """Kind of the quantities; `None` for numbers and names."""
    log: bool
    """If true, points are uniform in the logarithm."""
    choices: tuple[Value, ...]
    """Values or names of points; empty for a range."""
    sweeps: tuple[str, ...]
    """Sweeps that vary the parameter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Influence:
    """Difference of a parameter between the points where a claim holds and those where it fails."""

    name: str
    """The parameter."""
    distance: float
    """Kolmogorov-Smirnov distance of ordered values, total variation distance of others: 0 to 1."""
    p: float
    """Probability of such a distance by chance (permutations), times the number of parameters, at most 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MappedFigure:
    """A figure of a claim at every point."""

    label: str
    expect: str
    """The expectation, such as `ratio below 1`."""
    values: tuple[float | None, ...]
    """Mean over seeds by point, that of the judged setting first; `None` if not measured."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MappedClaim:
    """A claim at every point."""

    id: str
    statement: str
    origin: Origin
    calibration: str | None
    verdicts: tuple[Verdict, ...]
    """Verdicts on means, without their intervals, by point; the judged setting first."""
    reason: str | None
    """Reason why the claim is not measured at some point; `None` if it is measured at all points."""
    holds: int
    """Sampled points at which it holds, without the judged setting."""
    points: int
    """Sampled points at which it is measured, without the judged setting."""
    low: float | None
    """Lower end of the 95 % interval of the share (Wilson); `None` without points."""
    high: float | None
    """Upper end of the interval."""
    influences: tuple[Influence, ...]
    """Influence of each parameter that its sweeps have, the strongest first; empty if all verdicts are equal."""
    figures: tuple[MappedFigure, ...]

    @property
    def share(self) -> float | None:
        """Share of the space in which it holds."""
        return self.holds / self.points if self.points else None

    @property
    def deciding(self) -> tuple[str, ...]:
        """The parameters that decide it: at most two."""
        return tuple(each.name for each in self.influences if each.p < SIGNIFICANT)[:DECIDING]

    def disagrees(self, verdict: Verdict) -> bool:
        """True if the map's runs have another verdict at the judged setting than a study, and both are measured."""
        return verdict != self.verdicts[0] and "not measured" not in (verdict, self.verdicts[0])

    def share_of_space(self, verdict: Verdict) -> dict[str, Any] | None:
        """The share with its interval, as in claims.json, next to a study's verdict; `None` if not measured."""
        if not self.points:
            return None
        return {
            "share": self.share,
            "low": self.low,
            "high": self.high,
            "holds": self.holds,
            "points": self.points,
            "judged": self.verdicts[0],
            "disagrees": self.disagrees(verdict),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Together:
    """Points at which published statements hold together; calibrations count as constraints."""

    claims: tuple[str, ...]
    """Published statements and calibrations that are measured."""
    all_hold: tuple[int, ...]
    """Points at which all these claims hold; 0 is the judged setting."""
    best: int
    """Point at which most of these claims hold, the first of several."""
    holds: int
    """Number of claims that hold at this point."""
    fail: tuple[str, ...]
    """Claims that do not hold at this point."""
    nowhere: tuple[str, ...]
    """Claims that hold at no point."""
    conflicts: tuple[tuple[str, str], ...]
    """Pairs of claims that hold at no common point, although each holds at some point."""


class StudyMap:
    """A map of a study's open parameters."""

    def __init__(
        self,
        path: Path,
        manifest: dict[str, Any],
        axes: Sequence[Axis],
        points: Sequence[Point],
        claims: Sequence[MappedClaim],
        together: Together,
    ) -> None:
        """Wrap a map that was read or made."""
        self.path = path
        """The folder."""
        self.manifest = manifest
        """Study, version and run times: study.json."""
        self.axes = tuple(axes)
        """The open parameters."""
        self.points = tuple(points)
        """Values of the open parameters by point, the judged setting first."""
        self.claims = tuple(claims)
        """The claims, in the order of the study."""
        self.together = together
        """Where published statements hold together."""

    def __repr__(self) -> str:
        return f"<StudyMap of {self.study} in {self.path}: {len(self.points) - 1} points, {len(self.claims)} claims>"

    def __getitem__(self, claim: str) -> MappedClaim:
        """The claim with this id."""
        for each in self.claims:
            if each.id == claim:
                return each
        raise KeyError(f"there is no claim {claim!r}; there are {', '.join(each.id for each in self.claims)}")

    @property
    def study(self) -> str:
        """The study's name."""
        return str(self.manifest["study"])

    @property
    def sweeps(self) -> dict[str, sweep.Sweep]:
        """The sweeps by name, with the runs of all points."""
        return {name: sweep.open_sweep(self.path / name) for name in self.manifest["sweeps"]}

    def to_tree(self) -> dict[str, Any]:
        """As in map.json."""
        return {
            "format": FORMAT,
            "study": self.study,
            "parameters": [asdict(axis) for axis in self.axes],
            "points": list(self.points),
            "claims": [{**asdict(claim), "share": claim.share, "deciding": claim.deciding} for claim in self.claims],
            "together": asdict(self.together),
        }


def open_map(path: str | PathLike[str], study: str | None = None) -> StudyMap:
    """Open the folder that `incast study map` has written; `study` is the name that the study is to have."""
    folder = Path(path)
    manifest = results.of_study(folder, study)
    if manifest["scale"] != MAP:
        raise ResultsError(f"{folder}: these are results at scale {manifest['scale']}, not a map of open parameters")
    file = folder / CONTENT
    try:
        tree = _input.read_json(file, ResultsError)
        if tree["format"] != FORMAT:
            message = f"format {tree['format']}, but this version of incast reads format {FORMAT}"
            raise ResultsError(f"{file}: {message}; repeat the map")
        axes = [
            Axis(**{**axis, "choices": tuple(axis["choices"]), "sweeps": tuple(axis["sweeps"])})
            for axis in tree["parameters"]
        ]
        claims = [_claim(claim) for claim in tree["claims"]]
        found = tree["together"]
        lists = {name: tuple(found[name]) for name in ("claims", "all_hold", "fail", "nowhere")}
        pairs = tuple((one, other) for one, other in found["conflicts"])
        together = Together(**{**found, **lists, "conflicts": pairs})
        points = [dict(point) for point in tree["points"]]
        for claim in claims:
            if len(claim.verdicts) != len(points):
                raise ValueError(f"{len(claim.verdicts)} verdicts of claim {claim.id} at {len(points)} points")
    except FileNotFoundError:
        raise ResultsError(f"{folder}: the map is not finished: there is no {CONTENT}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{file}: not as incast writes it: {error}") from None
    return StudyMap(folder, manifest, axes, points, claims, together)


def _claim(tree: dict[str, Any]) -> MappedClaim:
    """A claim of map.json; `share` and `deciding` follow from the rest."""
    given = {name: value for name, value in tree.items() if name not in ("share", "deciding")}
    figures = tuple(MappedFigure(**{**each, "values": tuple(each["values"])}) for each in tree["figures"])
    influences = tuple(Influence(**each) for each in tree["influences"])
    return MappedClaim(**{**given, "verdicts": tuple(tree["verdicts"]), "influences": influences, "figures": figures})
