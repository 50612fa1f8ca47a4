"""Claims are judged by figures and their spread over seeds; every interval here was worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from incast._interval import half_width, interval, share_interval
from incast.study.description import Check, Claim, Metric
from incast.study.expectation import Expectation
from incast.study.explaining import Explanation
from incast.study.figures import Figure, Measured, NotUniqueError, PlannedRun, figures
from incast.study.judging import AmbiguousError, claim_outcome, judge
from incast.study.sequential import Looks

METRICS = {"m": Metric(about="a figure", sweep="s", sql="", unit="us")}


@pytest.mark.parametrize(
    ("freedom", "p95", "p975", "p995"),
    [
        (1, 6.314, 12.706, 63.657),
        (2, 2.920, 4.303, 9.925),
        (3, 2.353, 3.182, 5.841),
        (4, 2.132, 2.776, 4.604),
        (9, 1.833, 2.262, 3.250),
        (10, 1.812, 2.228, 3.169),
        (30, 1.697, 2.042, 2.750),
        (100, 1.660, 1.984, 2.626),
    ],
)
def test_quantiles_are_those_of_the_tables(freedom: int, p95: float, p975: float, p995: float) -> None:
    """Table of the NIST/SEMATECH handbook of statistical methods, 1.3.6.7.2."""
    found = [half_width(1.0, freedom, 2 * p - 1) for p in (0.95, 0.975, 0.995)]
    assert [round(value, 3) for value in found] == [p95, p975, p995]


def test_an_interval_of_a_mean() -> None:
    # Mean 2, standard deviation 1, three values: 2 ± 4.3027 · 1 / √3.
    assert interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-5)


@pytest.mark.parametrize(
    ("ones", "draws", "low", "high"),
    [
        (0, 10, 0.0, 0.3085),
        (1, 10, 0.0025, 0.4450),
        (5, 10, 0.1871, 0.8129),
        (10, 10, 0.6915, 1.0),
        (8, 20, 0.1912, 0.6395),
    ],
)
def test_an_interval_of_a_share(ones: int, draws: int, low: float, high: float) -> None:
    """Tables of Clopper and Pearson's interval; with no ones, 1 - 0.025^(1/n)."""
    found = share_interval([1.0] * ones + [0.0] * (draws - ones))
    assert found == pytest.approx((low, high), abs=5e-5)


def check(**fields: Any) -> Check:
    return Check(metric="m", **fields)


def judged(values: list[float], exact: bool = False, **expected: Any) -> Any:
    figure = Figure({}, None, {}, tuple(values), tuple(range(len(values))))
    return judge(figure, Expectation.of(check(**expected)), exact)


@pytest.mark.parametrize(
    ("expected", "verdict"),
    [
        # Values 9, 10, 11 have the interval 10 ± 2.484.
        ({"below": 12.5}, "holds"),
        ({"below": 12.4}, "undecided"),
        ({"below": 7.5}, "fails"),
        ({"above": 7.5}, "holds"),
        ({"above": 7.6}, "undecided"),
        ({"above": 12.5}, "fails"),
        ({"between": [7.5, 12.5]}, "holds"),
        ({"between": [7.6, 12.5]}, "undecided"),
        ({"between": [9.0, 11.0]}, "undecided"),
        ({"between": [12.5, 20.0]}, "fails"),
        ({"about": 10.0, "tolerance": 2.5}, "holds"),
        ({"about": 10.0, "tolerance": 2.4}, "undecided"),
        ({"about": 10.0, "tolerance": "25%"}, "holds"),
        ({"about": 20.0, "tolerance": "37 %"}, "fails"),
        ({"about": 20.0, "tolerance": "38 %"}, "undecided"),
    ],
)
def test_the_whole_interval_has_to_be_inside_or_outside(expected: dict[str, Any], verdict: str) -> None:
    found = judged([9.0, 10.0, 11.0], **expected)
    assert found.verdict == verdict
    assert (found.value, found.confidence) == (10.0, 0.95)
    assert (found.low, found.high) == pytest.approx((7.51586, 12.48414), abs=1e-5)
    assert (found.reason is not None) == (verdict == "undecided")
    assert verdict != "undecided" or found.reason == "the interval is on both sides of a bound"


@pytest.mark.parametrize(
    ("value", "expected", "verdict"),
    [
        (1.0, {"below": 1.0}, "fails"),
        (1.0, {"above": 1.0}, "fails"),
        (1.0, {"between": [1.0, 2.0]}, "holds"),
        (1.0, {"about": 1.0, "tolerance": 0}, "holds"),
        (-95.0, {"about": -100.0, "tolerance": "5%"}, "holds"),
        (-94.9, {"about": -100.0, "tolerance": "5%"}, "fails"),
    ],
)
def test_bounds(value: float, expected: dict[str, Any], verdict: str) -> None:
    """`below` and `above` leave their bound out, the others have it."""
    assert judged([value, value], **expected).verdict == verdict
    assert judged([value], exact=True, **expected).verdict == verdict


def test_one_seed_says_nothing_of_the_spread() -> None:
    found = judged([1.0], below=2.0)
    assert (found.verdict, found.reason, found.value) == ("not measured", "needs several seeds", 1.0)
    assert judged([1.0], exact=True, below=2.0).verdict == "holds"


def test_exact_is_about_every_value() -> None:
    found = judged([1.0, 1.5, 2.5], exact=True, below=2.0)
    assert (found.verdict, found.low, found.high, found.confidence) == ("fails", 1.0, 2.5, None)
    assert judged([1.0, 1.5, 1.9], exact=True, below=2.0).verdict == "holds"


def test_a_share_of_seeds_has_a_binomial_interval() -> None:
    def share(values: list[float], **expected: Any) -> Any:
        figure = Figure({}, None, {}, tuple(values), tuple(range(len(values))))
        return judge(figure, Expectation.of(check(**expected)), False, share=True)

    # 13 of 16: 0.544 to 0.960; Student's t would give 0.598 to 1.027, above every share.
    found = share([1.0] * 13 + [0.0] * 3, above=0.5)
    assert (found.verdict, found.value) == ("holds", 13 / 16)
    assert (found.low, found.high) == pytest.approx((0.5435, 0.9595), abs=5e-5)
    assert share([1.0] * 12 + [0.0] * 4, above=0.5).verdict == "undecided"
    # Without spread there is still an interval.
    assert share([1.0] * 3, above=0.5).verdict == "undecided"
    assert share([0.0] * 16, above=0.5).verdict == "fails"
    found = share([1.0, 0.5], above=0.5)
    assert (found.verdict, found.reason) == ("not measured", "a share needs a 0 or 1 per seed, not 0.5")
    looks = Looks(4, 16)
    figure = Figure({}, None, {}, (1.0,) * 16, tuple(range(16)))
    found = judge(figure, Expectation.of(check(above=0.5)), False, looks, share=True)
    # The last look has an error of 20 / 7 %: 0.0143^(1/16).
    assert (found.low, found.high) == pytest.approx(((0.1 / 7) ** (1 / 16), 1.0))


def rows(*values: tuple[str, float | None, int, float | None]) -> list[dict[str, Any]]:
    """Rows of scheme, load, seed, value."""
    return [{"scheme": a, "load": b, "seed": c, "value": d} for a, b, c, d in values]


def measured(table: list[dict[str, Any]], undone: tuple[tuple[str, float, int], ...] = ()) -> Measured:
    """These rows, of a sweep over two schemes, two loads and three seeds."""
    runs = [
        PlannedRun({"scheme": scheme, "load": load, "seed": seed}, (scheme, load, seed) not in undone)
        for scheme in ("A", "B")
        for load in (0.3, 0.5)
        for seed in (1, 2, 3)
    ]
    columns = tuple(table[0]) if table else ("scheme", "load", "seed", "value")
    return Measured(columns, table, runs)


FULL = rows(
    *(("A", 0.3, seed, value) for seed, value in ((1, 1.0), (2, 2.0), (3, 4.0))),
    *(("A", 0.5, seed, value) for seed, value in ((1, 5.0), (2, 6.0), (3, 7.0))),
    *(("B", 0.3, seed, value) for seed, value in ((3, 1.0), (2, 1.0), (1, 1.0))),
    *(("B", 0.5, seed, value) for seed, value in ((1, 10.0), (2, 12.0), (3, 14.0))),
)


def test_ratios_are_paired_by_seed_and_averaged_on_logarithms() -> None:
    """Ratios 1, 2, 4 at load 0.3: their logarithms to base 2 are 0, 1, 2, so 1 ± 4.3027 / √3."""
    one = check(of={"scheme": "A"}, against={"scheme": "B"}, below=1)
    found = list(figures(one, measured(FULL)))
    assert [(figure.where, figure.values) for figure in found] == [
        ({"load": 0.3}, (1.0, 2.0, 4.0)),
        ({"load": 0.5}, (0.5, 0.5, 0.5)),
    ]
    judgement = judge(found[0], Expectation.of(one), False)
    assert judgement.value == pytest.approx(2.0)
    assert (math.log2(judgement.low or 0), math.log2(judgement.high or 0)) == pytest.approx(
        (-1.48414, 3.48414), abs=1e-5
    )
    assert judge(found[1], Expectation.of(one), False).verdict == "holds"


def test_each_value_with_each_other_and_every_remaining_column() -> None:
    one = check(of={"scheme": ["A", "B"]}, against={"scheme": ["B", "A"]}, above=0)
    found = [
        (figure.of["scheme"], (figure.against or {})["scheme"], figure.where) for figure in figures(one, measured(FULL))
    ]
    assert len(found) == len({str(each) for each in found}) == 2 * 2 * 2
    chosen = list(figures(check(at={"load": [0.5]}, of={"scheme": "B"}, above=0), measured(FULL)))
    assert [(figure.where, figure.values) for figure in chosen] == [({"load": 0.5}, (10.0, 12.0, 14.0))]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (rows(("A", 0.3, 1, 1.0), ("A", 0.3, 2, 1.0)), "the metric has no row with load 0.3, scheme A, seed 3"),
        (
            rows(("A", 0.3, 1, 1.0), ("A", 0.3, 2, None), ("A", 0.3, 3, 1.0)),
            "no finite value with load 0.3, scheme A, seed 2",
        ),
        (rows(("A", 0.3, 1, 1.0), ("A", 0.3, 2, math.nan), ("A", 0.3, 3, 1.0)), "no finite value"),
        (rows(("B", 0.3, 1, 1.0)), "the metric has no row with load 0.3, scheme A"),
    ],
)
def test_what_is_missing_is_told(table: list[dict[str, Any]], says: str) -> None:
    (figure,) = figures(check(at={"load": 0.3}, of={"scheme": "A"}, below=1), measured(table))
    judgement = judge(figure, Expectation.of(check(below=1)), False)
    assert judgement.verdict == "not measured"
    assert says in (judgement.reason or "")


def test_a_run_without_results_spoils_every_figure_it_belongs_to() -> None:
    one = check(of={"scheme": "A"}, against={"scheme": "B"}, above=0)
    kept = [row for row in FULL if (row["scheme"], row["load"], row["seed"]) != ("B", 0.5, 2)]
    found = list(figures(one, measured(kept, (("B", 0.5, 2),))))
    assert [figure.missing for figure in found] == [None, "1 of 3 runs with load 0.5, scheme B have no results"]
    # Averages over loads are made of fewer runs than they should be, which no row shows.
    averages = [{"scheme": "B", "seed": seed, "value": 1.0} for seed in (1, 2, 3)]
    (figure,) = figures(check(of={"scheme": "B"}, above=0), measured(averages, (("B", 0.5, 2),)))
    assert figure.missing == "1 of 6 runs with scheme B have no results"
    # A place all of whose runs failed has no row either.
    undone = tuple(("A", 0.5, seed) for seed in (1, 2, 3))
    kept = [row for row in FULL if (row["scheme"], row["load"]) != ("A", 0.5)]
    assert [figure.missing for figure in figures(one, measured(kept, undone))] == [
        None,
        "3 of 3 runs with load 0.5, scheme A have no results",
    ]


def test_what_is_named_but_not_run_at_this_scale() -> None:
    found = list(figures(check(at={"load": [0.3, 0.7]}, of={"scheme": "A"}, above=0), measured(FULL)))
    assert [figure.missing for figure in found] == [None, "no run has load 0.7, scheme A"]


def test_a_metric_may_leave_runs_out() -> None:
    found = list(figures(check(of={"scheme": "A"}, above=0), measured([row for row in FULL if row["load"] == 0.3])))
    assert [(figure.where, figure.missing) for figure in found] == [({"load": 0.3}, None)]


def test_seeds_that_were_pooled_need_to_be_told_apart() -> None:
    pooled = [{"scheme": "A", "value": 1.0}]
    (figure,) = figures(check(of={"scheme": "A"}, below=2), measured(pooled))
    judgement = judge(figure, Expectation.of(check(below=2)), False)
    assert (judgement.verdict, judgement.value) == ("not measured", 1.0)
    assert "a column `seed`" in (judgement.reason or "")
    assert judge(figure, Expectation.of(check(below=2)), True).verdict == "holds"


def test_without_seeds_there_is_no_spread() -> None:
    (figure,) = figures(check(below=2), Measured(("value",), [{"value": 1}], [PlannedRun({"scheme": "A"}, True)]))
    judgement = judge(figure, Expectation.of(check(below=2)), False)
    assert (judgement.verdict, judgement.value, judgement.low) == ("holds", 1.0, None)


@pytest.mark.parametrize(("own", "other"), [(1.0, 0.0), (-1.0, 1.0), (1.0, -1.0)])
def test_no_ratio_of_what_is_not_above_0(own: float, other: float) -> None:
    table = [row for seed in (1, 2, 3) for row in rows(("A", 0.3, seed, own), ("B", 0.3, seed, other))]
    one = check(at={"load": 0.3}, of={"scheme": "A"}, against={"scheme": "B"}, below=1)
    (figure,) = figures(one, measured(table))
    assert figure.missing is not None
    assert "(seed 1): both must be above 0" in figure.missing


def test_a_ratio_of_0_has_no_mean_but_is_exact() -> None:
    table = [row for seed in (1, 2, 3) for row in rows(("A", 0.3, seed, 0.0), ("B", 0.3, seed, 2.0))]
    one = check(at={"load": 0.3}, of={"scheme": "A"}, against={"scheme": "B"}, below=1)
    (figure,) = figures(one, measured(table))
    assert judge(figure, Expectation.of(one), False).verdict == "not measured"
    assert judge(figure, Expectation.of(one), True).verdict == "holds"


def claim(*checks: Check, **fields: Any) -> Claim:
    return Claim(
        **{
            "id": "C",
            "statement": "S",
            "source": "T",
            "origin": "number",
            "from_": "quick",
            "check": list(checks),
            **fields,
        }
    )


HOLDS = check(at={"load": 0.5}, of={"scheme": "A"}, below=100)
FAILS = check(at={"load": 0.5}, of={"scheme": "A"}, above=100)
OPEN = check(at={"load": 0.5}, of={"scheme": "A"}, below=6)


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((HOLDS, HOLDS), "holds"),
        ((HOLDS, OPEN), "undecided"),
        ((HOLDS, FAILS), "fails"),
        ((OPEN, FAILS, HOLDS), "fails"),
    ],
)
def test_a_claim_holds_if_all_its_checks_do(checks: tuple[Check, ...], verdict: str) -> None:
    found = claim_outcome(claim(*checks), METRICS, {"m": measured(FULL)}, "paper", Explanation("because", None))
    assert (found.verdict, found.explanation, len(found.checks)) == (verdict, "because", len(checks))
    assert [each.check for each in found.checks] == list(range(len(checks)))
    assert (found.reason is not None) == (verdict == "undecided")


def test_below_its_scale_a_claim_is_not_measured_but_figures_are_shown() -> None:
    found = claim_outcome(claim(HOLDS, FAILS, from_="paper"), METRICS, {"m": measured(FULL)}, "quick", None)
    assert (found.verdict, found.reason) == ("not measured", "needs scale paper")
    assert {(each.verdict, each.reason, each.value) for each in found.checks} == {
        ("not measured", "needs scale paper", 6.0)
    }
    assert found.checks[0].label == "m of A, load 0.5"
    assert (found.checks[0].expect, found.checks[0].unit) == ("below 100 us", "us")


def test_rows_that_nothing_tells_apart_are_refused() -> None:
    table = [*FULL, FULL[0]]
    with pytest.raises(NotUniqueError, match=r"load 0\.3, scheme A, seed 1"):
        list(figures(check(of={"scheme": "A"}, below=1), measured(table)))
    with pytest.raises(AmbiguousError):
        claim_outcome(claim(HOLDS, check(of={"scheme": "A"}, below=1)), METRICS, {"m": measured(table)}, "paper", None)


def test_an_interval_of_one_number_is_exact() -> None:
    assert Expectation.of(check(between=[0, 0])).text("Gb/s") == "exactly 0 Gb/s"


@pytest.mark.parametrize(
    ("tolerance", "unit", "text"),
    [
        ("20%", "kB", "60 kB ± 20 %"),
        ("20 %", "", "60 ± 20 %"),
        ("20%", "%", "60 % ± 20 %"),
        (1.5, "kB", "60 ± 1.5 kB"),
        (0, "kB", "60 kB"),
        ("0%", "kB", "60 kB"),
    ],
)
def test_a_tolerance_in_percent_stands_after_the_unit(tolerance: float | str, unit: str, text: str) -> None:
    assert Expectation.of(check(about=60, tolerance=tolerance)).text(unit) == text
