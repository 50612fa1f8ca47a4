"""Claims of the study of Tagger, judged with invented figures that each claim holds for, and fails for.

The SQL of metrics and the checks are those of the study; tables hold as little as they need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import duckdb
import pytest

import incast
from incast import tagger
from incast.analysis import AnalysisPlan
from incast.study import Study, queries
from incast.study.figures import Measured, PlannedRun
from incast.study.judging import claim_outcome
from incast.study.tables import EmptyTables, of_analysis

Row = dict[str, Any]
Tables = Mapping[str, Iterable[Row]]
"""Rows by table."""
MS = 10**9
"""Picoseconds."""
TOTALS = {row.switches: row.total for row in tagger.published()}


@pytest.fixture(scope="module")
def study() -> Study:
    return incast.load_study("tagger")


@pytest.fixture(scope="module")
def empty() -> EmptyTables:
    return EmptyTables()


Judge = Callable[[str, Mapping[str, Tables]], str]


@pytest.fixture
def judge(study: Study, empty: EmptyTables) -> Judge:
    """The outcome of a claim at scale quick, by the tables of the sweeps and analyses that it looks at."""

    def outcome(name: str, parts: Mapping[str, Tables]) -> str:
        (claim,) = (claim for claim in study.claims if claim.id == name)
        measured = {}
        for metric in {check.metric for check in claim.check}:
            metric_ = study.metrics[metric]
            plan = study.plans["quick"][metric_.part]
            if isinstance(plan, AnalysisPlan):
                connection = of_analysis(plan)
            else:
                known: dict[str, list[Any]] = {}
                for run in plan.runs:
                    for column, value in run.choice.items():
                        known.setdefault(column, []).append(value)
                connection = empty.database(known)
            for table, rows in parts[metric_.part].items():
                insert(connection, table, list(rows))
            runs = [PlannedRun(run.choice, True) for run in plan.runs]
            study.create_views(connection, metric_.part)
            columns = queries.columns(connection, metric_.sql)
            measured[metric] = Measured(columns, queries.rows(connection, metric_.sql), runs)
        return claim_outcome(claim, study.metrics, measured, "quick").verdict

    return outcome


def insert(connection: duckdb.DuckDBPyConnection, table: str, rows: list[Row]) -> None:
    columns = ", ".join(f'"{name}"' for name in rows[0])
    values = ", ".join("?" * len(rows[0]))
    connection.executemany(f"insert into {table} ({columns}) values ({values})", [list(row.values()) for row in rows])


Figures = Callable[[Row], Row | list[Row]]


def cells(study: Study, part: str, figures: Figures) -> dict[str, Tables]:
    """A row for each cell of an analysis, or several."""
    rows: list[Row] = []
    for cell in study.plans["quick"][part].runs:
        found = figures(cell.choice)
        rows += [{**cell.choice, **row} for row in (found if isinstance(found, list) else [found])]
    return {part: {"figures": rows}}


def jellyfish(of: Row, **changed: Any) -> Row:
    """As published."""
    row = {"classes": 2 if of["switches"] == 10 else 3, "total": TOTALS[of["switches"]], "most": 98, "verified": True}
    return {**row, **changed}


@pytest.mark.parametrize(
    ("claim", "convention", "changed", "outcome"),
    [
        ("TG5", "", {}, "holds"),
        ("TG5", "Fm", {"classes": 2}, "fails"),
        ("TG5", "A", {"classes": 2}, "holds"),
        ("TG5b", "F", {"classes": 4}, "holds"),
        ("TG5b", "A", {"classes": 2}, "undecided"),
        ("TG6", "", {}, "holds"),
        ("TG6", "F", {"total": 80_000}, "fails"),
        ("TG7", "F", {"most": 103}, "holds"),
        ("TG7", "Fm", {"most": 100}, "fails"),
        ("TG7b", "Fm", {"most": 103}, "holds"),
        ("TG7b", "F", {"most": 103}, "fails"),
        ("TG8", "F", {"most": 249}, "holds"),
        ("TG8", "F", {"most": 250}, "fails"),
        ("TG8", "A", {"classes": 4}, "fails"),
        ("TG8", "Fm", {"verified": False}, "fails"),
    ],
)
def test_jellyfish(study: Study, judge: Judge, claim: str, convention: str, changed: Row, outcome: str) -> None:
    """With figures of one reading changed, at 1,000 and 2,000 switches."""

    def figures(of: Row) -> Row:
        other = of["convention"] == convention and of["switches"] >= 1000
        return jellyfish(of, **(changed if other else {}))

    assert judge(claim, {**cells(study, "table", figures), **cells(study, "graphs", figures)}) == outcome


def cost(slope: Mapping[str, float], swing: float = 0.0) -> Figures:
    """Figures that change by a part from 0 to 160 rules; as a chain by half. Rounds differ by `swing` up and down."""

    def figures(of: Row) -> list[Row]:
        rows = []
        for rules in (0, 10, 20, 40, 80, 160):
            at = rules / 160
            wave = swing * at * (1 if of["seed"] % 2 else -1)
            change = {name: 1 + (slope.get(name, 0.0) + wave) * at for name in FLAT}
            if of["form"] == "chain":
                change = dict.fromkeys(FLAT, 1 - 0.5 * at)
            rows.append({"rules": rules, **{name: FLAT[name] * change[name] for name in FLAT}})
        return rows

    return figures


FLAT = {"packets_bps": 4e8, "aggregates_bps": 9e9, "rtt_mean_us": 12.0, "rtt_p50_us": 11.0, "rtt_p99_us": 20.0}


@pytest.mark.parametrize(
    ("claim", "slope", "swing", "outcome"),
    [
        ("TG9", {}, 0.0, "holds"),
        ("TG9", {"packets_bps": -0.09, "aggregates_bps": 0.09}, 0.0, "holds"),
        ("TG9", {"packets_bps": -0.12}, 0.0, "fails"),
        ("TG9", {"aggregates_bps": 0.12}, 0.0, "fails"),
        ("TG9", {}, 0.5, "undecided"),
        ("TG10", {"packets_bps": -0.5}, 0.0, "holds"),
        ("TG10", {"rtt_mean_us": 0.2}, 0.0, "fails"),
        ("TG10", {"rtt_p50_us": -0.2}, 0.0, "fails"),
        ("TG10", {"rtt_p99_us": 0.2}, 0.0, "fails"),
        ("TG10", {}, 0.5, "undecided"),
    ],
)
def test_costs(study: Study, judge: Judge, claim: str, slope: Row, swing: float, outcome: str) -> None:
    assert judge(claim, cells(study, "cost", cost(slope, swing))) == outcome


def rated(study: Study, part: str, gbps: Callable[[Row, str], float], labels: Iterable[str], **of_run: Any) -> Tables:
    """A sweep of 40 ms in which flows have these rates throughout; functions give what depends on the run."""
    runs, flows, rates = [], [], []
    for run in study.plans["quick"][part].runs:
        of = run.choice
        values = {name: value(of) if callable(value) else value for name, value in of_run.items()}
        runs.append({**of, "end_ps": 40 * MS, **values})
        for number, label in enumerate(labels):
            acked = gbps(of, label) * 1e9 / 8 * 0.04
            flows.append({**of, "flow": number, "label": label, "acked_bytes": acked})
            rates += [
                {**of, "flow": number, "time_ps": part_ * MS, "acked_bytes": acked * part_ / 40}
                for part_ in (0, 10, 20, 32, 40)
            ]
    return {"runs": runs, "flows": flows, "rates": rates}


@pytest.mark.parametrize(
    ("shared", "outcome"),
    [
        ({"flow 1": 9.5, "flow 2": 19.0, "flow 3": 9.5}, "holds"),
        # As fair as before; less in all; the other user pays.
        ({"flow 1": 12.7, "flow 2": 12.6, "flow 3": 12.7}, "fails"),
        ({"flow 1": 9.5, "flow 2": 17.0, "flow 3": 9.5}, "fails"),
        ({"flow 1": 9.5, "flow 2": 9.5, "flow 3": 19.0}, "fails"),
    ],
)
@pytest.mark.parametrize("priorities", ["three", "two, both ways"])
def test_sharing(study: Study, judge: Judge, priorities: str, shared: Row, outcome: str) -> None:
    """TG13, by either way of sharing; the other one is as it should be."""
    usual = {"flow 1": 9.5, "flow 2": 19.0, "flow 3": 9.5}
    own = dict.fromkeys(usual, 38 / 3)

    def gbps(of: Row, label: str) -> float:
        rates: Row = dict({"four": own, priorities: shared}.get(of["priorities"], usual))
        return float(rates[label])

    assert judge("TG13", {"sharing": rated(study, "sharing", gbps, usual)}) == outcome


@pytest.mark.parametrize(
    ("claim", "cyclic", "deadlocked", "gbps", "outcome"),
    [
        ("TG13a", "two priorities, both ways", "two, both ways", 19.0, "holds"),
        ("TG13a", "three priorities, one way", "", 19.0, "fails"),
        ("TG13a", "", "three", 19.0, "fails"),
        ("TG13a", "", "", 0.0, "fails"),
        ("TG13b", "three priorities, one way", "three", 19.0, "holds"),
        ("TG13b", "two priorities, both ways", "", 19.0, "fails"),
        ("TG13b", "", "two, both ways", 19.0, "fails"),
    ],
)
def test_directions(
    study: Study, judge: Judge, claim: str, cyclic: str, deadlocked: str, gbps: float, outcome: str
) -> None:
    users = cells(study, "users", lambda of: {"cyclic": int(of["sharing"] == cyclic)})
    deadlocks = rated(
        study,
        "crossing",
        lambda _of, _tag: gbps,
        ("user 1", "user 2"),
        deadlocks=lambda of: int(of["priorities"] == deadlocked),
    )
    assert judge(claim, {**users, "crossing": deadlocks}) == outcome


@pytest.mark.parametrize(
    ("claim", "time_us", "gbps", "outcome"),
    [
        ("TG14", {"lossy": 20, "forbidden": 30}, {"lossy": 9.0, "forbidden": 0.5}, "holds"),
        ("TG14", {"lossy": 9, "forbidden": 30}, {"lossy": 9.0, "forbidden": 0.5}, "fails"),
        ("TG14", {"lossy": 20, "forbidden": 9}, {"lossy": 9.0, "forbidden": 0.5}, "fails"),
        # Served as often without bounces.
        ("TG14", {"lossy": 20, "forbidden": 30}, {"lossy": 9.0, "forbidden": 1.0}, "fails"),
        ("TG14b", {"lossy": 9, "forbidden": 9}, {"lossy": 9.0, "forbidden": 9.5}, "holds"),
        ("TG14b", {"lossy": 20, "forbidden": 30}, {"lossy": 11.0, "forbidden": 9.5}, "fails"),
        ("TG14b", {"lossy": 20, "forbidden": 30}, {"lossy": 9.0, "forbidden": 11.0}, "fails"),
    ],
)
def test_applications(study: Study, judge: Judge, claim: str, time_us: Row, gbps: Row, outcome: str) -> None:
    """Lossless bounces take 10 us and give 10 Gb/s, without failures like all others; one of two bulk flows varies."""
    runs, flows = [], []
    for run in study.plans["quick"]["applications"].runs:
        of: Row = dict(run.choice)
        other = of["failures"] != "0" and of["bounces"] != "lossless"
        rate, took = (gbps[of["bounces"]], time_us[of["bounces"]]) if other else (10.0, 10)
        runs.append({**of, "end_ps": 10 * MS})
        empty = {**of, "acked_bytes": None, "start_ps": None, "fct_ps": None, "finish_ps": None}
        flows += [
            {**empty, "flow": number, "label": "throughput", "acked_bytes": each * 1e9 / 8 * 0.01, "start_ps": 0}
            for number, each in ((0, rate), (4, 10.0))
        ]
        flows.append(
            {**empty, "flow": 1, "label": "latency", "start_ps": MS, "fct_ps": took * 10**6, "finish_ps": 2 * MS}
        )
        # Not ended: counts with the time so far.
        flows.append({**empty, "flow": 2, "label": "latency", "start_ps": 10 * MS - took * 10**6})
        # Not begun.
        flows.append({**empty, "flow": 3, "label": "latency"})
    assert judge(claim, {"applications": {"runs": runs, "flows": flows}}) == outcome


SHARES: dict[str, dict[int, float]] = {
    "failures": {1: 0, 2: 100, 4: 400, 8: 700},
    "misroutes": {1: 400, 2: 700, 4: 900, 8: 990},
    "spread": {1: 0.5, 2: 0.75, 4: 1.0, 8: 1.0},
}


@pytest.mark.parametrize(
    ("part", "number", "share", "outcome"),
    [
        ("failures", 2, 100, "holds"),
        ("failures", 2, 0, "fails"),
        ("failures", 4, 100, "fails"),
        ("failures", 8, 400, "fails"),
        ("misroutes", 1, 0, "fails"),
        ("misroutes", 2, 400, "fails"),
        ("misroutes", 4, 700, "fails"),
        ("misroutes", 8, 900, "fails"),
        ("spread", 1, 0.0, "fails"),
        ("spread", 8, 0.5, "fails"),
    ],
)
def test_dependencies(study: Study, judge: Judge, part: str, number: int, share: float, outcome: str) -> None:
    """TG15, with one share changed; of 1,000 sets, or of 20 seeds."""
    shares = {name: {**each} for name, each in SHARES.items()}
    shares[part][number] = share
    figures: dict[str, Callable[[Row], Row]] = {
        "failures": lambda of: {"sets": 1000, "cyclic": shares["failures"][of["failures"]]},
        "misroutes": lambda of: {"sets": 1000, "cyclic": shares["misroutes"][of["misroutes"]]},
        "spread": lambda of: {"sets": 1, "cyclic": int(of["seed"] <= 20 * shares["spread"][of["per_pair"]])},
    }
    parts: dict[str, Tables] = {}
    for name, of in figures.items():
        parts |= cells(study, name, of)
    assert judge("TG15", parts) == outcome


def stops(study: Study, part: str, share: Callable[[Row], float], **of_run: Any) -> list[Row]:
    """Runs of a sweep of 40 ms, of which a share by run ends in a deadlock, first seeds first."""
    runs = study.plans["quick"][part].runs
    seeds = len({run.choice["seed"] for run in runs})
    return [
        {
            **run.choice,
            "end_ps": 40 * MS,
            "deadlocks": int(int(run.choice["seed"]) <= share(run.choice) * seeds),
            **of_run,
        }
        for run in runs
    ]


@pytest.mark.parametrize(
    ("claim", "train", "share", "outcome"),
    [
        ("TG3", "XOFF 40 kB", 0.75, "holds"),
        ("TG3", "XOFF 40 kB", 0.6, "undecided"),
        ("TG3", "XOFF 40 kB", 0.1, "fails"),
        ("TG3b", "XOFF 24.5 kB", 0.1, "fails"),
        ("TG3c", "dynamic thresholds", 1.0, "holds"),
        ("TG3d", "XOFF 40 kB, one receiver", 1.0, "holds"),
    ],
)
def test_trains(study: Study, judge: Judge, claim: str, train: str, share: float, outcome: str) -> None:
    """All other trains of pauses end in a deadlock for TG3b, none for the others."""
    other = 1.0 if claim == "TG3b" else 0.0

    def of(run: Row) -> float:
        return share if run["train"] == train and run["scheme"] == "PFC" else other

    assert judge(claim, {"trains": {"runs": stops(study, "trains", of)}}) == outcome


@pytest.mark.parametrize(
    ("claim", "changed", "outcome"),
    [
        ("TG16", {}, "holds"),
        ("TG16", {"cyclic": "two steps"}, "fails"),
        ("TG16", {"cyclic": "one step"}, "holds"),
        ("TG16", {"stop": "two steps"}, "fails"),
        ("TG16", {"stop": "one step"}, "holds"),
        ("TG16", {"drops": 1}, "fails"),
        ("TG16", {"gbps": 0.0}, "fails"),
        ("TG16b", {}, "holds"),
        ("TG16b", {"cyclic": "one step"}, "fails"),
        ("TG16b", {"stop": "one step"}, "fails"),
    ],
)
def test_changes(study: Study, judge: Judge, claim: str, changed: Row, outcome: str) -> None:
    """A single change of a single seed is enough."""

    def figures(of: Row) -> Row:
        hit = of["seed"] == 3 and of["steps"] == changed.get("cyclic") and of["change"].startswith("Jellyfish of 10")
        return {"cyclic": int(hit)}

    tables = rated(
        study,
        "update",
        lambda _of, _flow: changed.get("gbps", 19.0),
        ("flow 1", "flow 2", "flow 3"),
        deadlocks=lambda of: int(of["seed"] == 3 and of["method"] == changed.get("stop")),
        lossless_drops=changed.get("drops", 0),
    )
    assert judge(claim, {**cells(study, "changes", figures), "update": tables}) == outcome
