"""Checks claims against measurements; docs/design/studies.md has the reasons."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from incast._document import Document
from incast._interval import CONFIDENCE, interval, share_interval
from incast.errors import IncastError
from incast.study.description import SCALES, Check, Claim, Metric, Scale
from incast.study.expectation import Expectation
from incast.study.explaining import Explanation
from incast.study.figures import Figure, Measured, NotUniqueError, figures, named, said
from incast.study.outcome import CheckOutcome, ClaimOutcome, Verdict
from incast.study.sequential import Looks

NO_MEAN = "a ratio is 0, so there is no geometric mean"


class AmbiguousError(Exception):
    """A metric has several rows for one figure of a check."""

    def __init__(self, check: int, row: str) -> None:
        super().__init__(row)
        self.check = check
        self.row = row

    def located(self, document: Document, number: int, claim: Claim) -> IncastError:
        """The error at the metric's name in claims.toml; `number` is the place of the claim there."""
        metric = claim.check[self.check].metric
        message = f"metric `{metric}` has several rows{self.row}: a column that identifies each row is missing"
        return document.wrong(f"claim[{number}].check[{self.check}].metric", message)


@dataclass(frozen=True)
class Judgement:
    """Verdict on a figure."""

    verdict: Verdict
    reason: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None


def claim_outcome(
    claim: Claim,
    metrics: Mapping[str, Metric],
    measured: Mapping[str, Measured],
    scale: Scale,
    explanation: Explanation | None = None,
    looks: Mapping[str, Looks | None] | None = None,
) -> ClaimOutcome:
    """Check a claim with its metrics at a scale; `looks` by sweep, if seeds were added to undecided figures."""
    small = f"needs scale {claim.from_}" if SCALES.index(scale) < SCALES.index(claim.from_) else None
    checks: list[CheckOutcome] = []
    for number, check in enumerate(claim.check):
        try:
            found = list(figures(check, measured[check.metric]))
        except NotUniqueError as error:
            raise AmbiguousError(number, str(error)) from None
        metric = metrics[check.metric]
        seen = looks.get(metric.part) if looks else None
        checks += (check_outcome(check, figure, number, metric, claim.exact, small, seen) for figure in found)
    verdict, reason = together(checks)
    return ClaimOutcome(
        id=claim.id,
        statement=claim.statement,
        source=claim.source,
        origin=claim.origin,
        verdict=verdict,
        reason=small or reason,
        explanation=explanation.text if explanation else None,
        taken=explanation.taken.sentence(scale) if explanation and explanation.taken else None,
        calibration=claim.calibration,
        checks=tuple(checks),
    )


def together(checks: Sequence[CheckOutcome]) -> tuple[Verdict, str | None]:
    """The verdict on a claim with these checks, and the reason if it is undecided or not measured."""
    verdicts = [check.verdict for check in checks]
    if "fails" in verdicts:
        return "fails", None
    verdict: Verdict = "not measured" if "not measured" in verdicts else "undecided"
    open_ = [check for check in checks if check.verdict == verdict]
    if not open_:
        return "holds", None
    reasons = list(dict.fromkeys(check.reason for check in open_))
    more = f" (and {len(open_) - 1} more of {len(checks)} figures)" if len(reasons) > 1 else ""
    return verdict, f"{reasons[0]}{more}"


def undecided(
    claims: Sequence[Claim],
    metrics: Mapping[str, Metric],
    measured: Mapping[str, Measured],
    scale: Scale,
    looks: Mapping[str, Looks | None],
) -> Iterator[tuple[str, Figure]]:
    """Undecided figures of undecided claims, each with the sweep of its metric."""
    for claim in claims:
        if claim_outcome(claim, metrics, measured, scale, None, looks).verdict != "undecided":
            continue
        for check in claim.check:
            part, share = metrics[check.metric].part, metrics[check.metric].share
            for figure in figures(check, measured[check.metric]):
                if judge(figure, Expectation.of(check), claim.exact, looks.get(part), share).verdict == "undecided":
                    yield part, figure


def check_outcome(
    check: Check,
    figure: Figure,
    number: int,
    metric: Metric,
    exact: bool,
    small: str | None,
    looks: Looks | None = None,
) -> CheckOutcome:
    """Check one figure; `small` is the reason if the scale is too small."""
    judgement = judge(figure, Expectation.of(check), exact, looks, metric.share)
    outcome = _outcome(check, figure, number, metric.unit, judgement)
    return replace(outcome, verdict="not measured", reason=small) if small else outcome


def estimated(check: Check, figure: Figure, number: int, unit: str, exact: bool) -> CheckOutcome:
    """Check the mean of one figure over seeds."""
    return _outcome(check, figure, number, unit, estimate(figure, Expectation.of(check), exact))


def _outcome(check: Check, figure: Figure, number: int, unit: str, judgement: Judgement) -> CheckOutcome:
    expectation, selected = Expectation.of(check), series(figure)
    return CheckOutcome(
        metric=check.metric,
        series=selected,
        label=f"{check.metric} of {selected}" if selected else check.metric,
        unit=None if expectation.ratio or not unit else unit,
        verdict=judgement.verdict,
        reason=judgement.reason,
        expect=expectation.text(unit),
        value=judgement.value,
        low=judgement.low,
        high=judgement.high,
        confidence=judgement.confidence,
        seeds=len(figure.seeds),
        per_seed=figure.values,
        check=number,
    )


def judge(
    figure: Figure, expectation: Expectation, exact: bool, looks: Looks | None = None, share: bool = False
) -> Judgement:
    """Check a figure, with its spread over seeds; after several looks, with the interval of all of them."""
    if figure.missing:
        return Judgement("not measured", figure.missing)
    if exact or (not figure.seeds and not figure.pooled):
        return _exactly(figure.values, expectation)
    if figure.pooled:
        reason = "unknown spread: the metric pools the seeds; it needs a column `seed`"
        return Judgement("not measured", reason, figure.values[0])
    if len(figure.values) < 2:
        return Judgement("not measured", "needs several seeds", figure.values[0])
    if share and not {*figure.values} <= {0.0, 1.0}:
        wrong = next(value for value in figure.values if value not in (0.0, 1.0))
        return Judgement("not measured", f"a share needs a 0 or 1 per seed, not {wrong:.4g}")
    if expectation.ratio and min(figure.values) <= 0:
        return Judgement("not measured", NO_MEAN)
    value = _mean(figure.values, expectation)
    if expectation.ratio:
        logarithms = [math.log(each) for each in figure.values]
        low, high = map(math.exp, _spread(logarithms, looks, share))
    else:
        low, high = _spread(figure.values, looks, share)
    if expectation.wholly(low, high):
        return Judgement("holds", None, value, low, high, CONFIDENCE)
    if expectation.nowhere(low, high):
        return Judgement("fails", None, value, low, high, CONFIDENCE)
    reason = "the interval is on both sides of a bound"
    if looks and looks.after(len(figure.seeds)) is None:
        reason += f", at the cap of {looks.cap} seeds"
    return Judgement("undecided", reason, value, low, high, CONFIDENCE)


def _spread(values: Sequence[float], looks: Looks | None, share: bool) -> tuple[float, float]:
    """Interval of the values' mean, or share of ones."""
    of_values = share_interval if share else interval
    return looks.interval(values, of_values) if looks else of_values(values)


def estimate(figure: Figure, expectation: Expectation, exact: bool) -> Judgement:
    """Check the mean of a figure over seeds, however much these differ; one seed is enough."""
    if figure.missing:
        return Judgement("not measured", figure.missing)
    if exact:
        return _exactly(figure.values, expectation)
    if expectation.ratio and min(figure.values) <= 0:
        return Judgement("not measured", NO_MEAN)
    value = _mean(figure.values, expectation)
    return Judgement("holds" if expectation.holds(value) else "fails", None, value)


def _mean(values: Sequence[float], expectation: Expectation) -> float:
    """The mean; of ratios, which are above 0, the geometric one."""
    if expectation.ratio:
        return math.exp(statistics.fmean(map(math.log, values)))
    return statistics.fmean(values)


def _exactly(values: Sequence[float], expectation: Expectation) -> Judgement:
    """Every value must be as expected."""
    low, high = (min(values), max(values)) if len(values) > 1 else (None, None)
    verdict: Verdict = "holds" if all(map(expectation.holds, values)) else "fails"
    return Judgement(verdict, None, statistics.fmean(values), low, high)


def series(figure: Figure) -> str:
    """Label of a figure: `HPCC / DCTCP, load 0.3`."""
    of = named(figure.of) if figure.against is None else f"{named(figure.of)} / {named(figure.against)}"
    return ", ".join(text for text in (of, said(figure.where)) if text)
