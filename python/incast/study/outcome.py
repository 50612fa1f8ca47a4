"""What became of claims, as it is kept in claims.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Outcome = Literal["holds", "fails", "not measured"]
OUTCOMES: tuple[Outcome, ...] = ("holds", "fails", "not measured")


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckOutcome:
    """What became of one figure of a claim."""

    metric: str
    """The metric that it comes from."""
    series: str
    """Which of its figures it is; empty if it is the only one."""
    label: str
    """Both."""
    unit: str | None
    """Unit of the figure; `None` for ratios and plain numbers."""
    outcome: Outcome
    reason: str | None
    """Why it is not measured."""
    expect: str
    """What is expected of it, such as `ratio below 1`."""
    value: float | None
    """Its mean over seeds; of ratios the geometric mean."""
    low: float | None
    """Lower end of the confidence interval; without `confidence`, the least of several values."""
    high: float | None
    """Upper end of the confidence interval; without `confidence`, the greatest of several values."""
    confidence: float | None
    """Of the interval; `None` if there is none."""
    seeds: int
    """Seeds it was measured under; 0 if the metric does not tell them apart, or nothing was measured."""
    per_seed: tuple[float, ...]
    """The values that `value` is the mean of, by rising seed."""
    check: int
    """The `[[claim.check]]` that it belongs to, from 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimOutcome:
    """What became of a claim."""

    id: str
    statement: str
    source: str
    """Where it is stated."""
    outcome: Outcome
    reason: str | None
    """Why it is not measured."""
    explanation: str | None
    """What the study's authors say about it, in Markdown."""
    taken: str | None = None
    """Of which run the figures in the explanation are, a sentence; `None` if it does not say."""
    checks: tuple[CheckOutcome, ...]
    """Every figure that was looked at."""
    fitted: str | None = None
    """What was fitted to the statement itself, so that its outcome is no independent evidence; `None`: nothing."""

    def counted(self, outcome: Outcome) -> str:
        """How many figures have an outcome: `2 of 6 figures`."""
        count = sum(check.outcome == outcome for check in self.checks)
        return f"{count} of {len(self.checks)} figure{'' if len(self.checks) == 1 else 's'}"

    def to_tree(self) -> dict[str, Any]:
        """As in claims.json."""
        return asdict(self)

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> ClaimOutcome:
        """From claims.json."""
        checks = tuple(CheckOutcome(**{**check, "per_seed": tuple(check["per_seed"])}) for check in tree["checks"])
        return cls(**{**tree, "checks": checks})
