"""Verdicts on claims, as in claims.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from incast.study.description import Origin, Value

Verdict = Literal["holds", "fails", "undecided", "not measured"]
VERDICTS: tuple[Verdict, ...] = ("holds", "fails", "undecided", "not measured")


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckOutcome:
    """Outcome of one figure of a claim."""

    metric: str
    """Its metric."""
    series: str
    """Label of the figure within the metric; empty if it is the only one."""
    label: str
    """Metric and label."""
    unit: str | None
    """Unit of the figure; `None` for ratios and plain numbers."""
    verdict: Verdict
    reason: str | None
    """Why it is undecided or not measured."""
    expect: str
    """The expectation, such as `ratio below 1`."""
    value: float | None
    """Mean over seeds; for ratios the geometric mean."""
    low: float | None
    """Lower end of the confidence interval; without `confidence`, the minimum of several values."""
    high: float | None
    """Upper end of the confidence interval; without `confidence`, the maximum of several values."""
    confidence: float | None
    """Confidence level of the interval; `None` without an interval."""
    seeds: int
    """Number of seeds; 0 if the metric has no seeds, or nothing was measured."""
    per_seed: tuple[float, ...]
    """The values by seed, in ascending order of seeds."""
    check: int
    """Number of its `[[claim.check]]`, from 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimOutcome:
    """Outcome of a claim."""

    id: str
    statement: str
    source: str
    """Its place in the publication."""
    origin: Origin
    verdict: Verdict
    reason: str | None
    """Why it is undecided or not measured."""
    explanation: str | None
    """The explanation in explanations.md, in Markdown."""
    taken: str | None = None
    """The run of the figures in the explanation, as a sentence; `None` if not given."""
    checks: tuple[CheckOutcome, ...]
    """All checked figures."""
    calibration: str | None = None
    """The setting that was chosen with the statement's number, so that the verdict is no finding; `None` if none."""
    setting: dict[str, Value] = field(default_factory=dict)
    """Judged values of the open parameters that its sweeps have, by name."""
    share_of_space: dict[str, Any] | None = None
    """Share of the space of open parameters in which it holds, with its interval, the map's verdict at the judged
    setting, and if that differs from this verdict; `None` without a map."""

    def counted(self, verdict: Verdict) -> str:
        """Number of figures with a verdict: `2 of 6 figures`."""
        count = sum(check.verdict == verdict for check in self.checks)
        return f"{count} of {len(self.checks)} figure{'' if len(self.checks) == 1 else 's'}"

    def spaced(self) -> list[str]:
        """Setting of open parameters and share of their space, as phrases."""
        texts = []
        if self.setting:
            texts.append(f"open parameters: {', '.join(f'{name} {value}' for name, value in self.setting.items())}")
        if (share := self.share_of_space) is not None:
            texts.append(
                f"holds at {share['holds']} of {share['points']} points of the space of open parameters "
                f"({100 * share['low']:.0f} to {100 * share['high']:.0f} % of it)"
            )
            judged = share.get("judged")
            if judged in ("holds", "fails") and self.verdict not in (judged, "not measured"):
                texts[-1] += (
                    f", but in the map's own, smaller runs it {judged} at the judged setting: the map does not speak "
                    "about this claim"
                )
        return texts

    def to_tree(self) -> dict[str, Any]:
        """As in claims.json."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> ClaimOutcome:
        """From claims.json."""
        checks = tuple(CheckOutcome(**{**check, "per_seed": tuple(check["per_seed"])}) for check in tree["checks"])
        return cls(**{**tree, "checks": checks})
