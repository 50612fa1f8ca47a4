"""Texts that a study's claims share: views, the columns of a run, common selections, headings of charts."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

import incast
from conftest import ROOT

TINY = ROOT / "tests" / "data" / "study"
SHARED = {
    "[metric.p95]": '[view]\ntails = "select {run}, avg(p95) as p95 from slowdown group by all"\n'
    'high = "from tails where load > 0.3"\n\n[metric.p95]',
    "select load, scheme, seed, avg(p95) as value from slowdown group by all": "select {run}, p95 as value from tails",
    "with tails as (select load, scheme, seed, avg(p95) as p95 from slowdown group by all),\n  sent": "with sent",
    "case when load > 0.3 then 10 end as published\nfrom tails": "if(high.p95 > 0, 10, null) as published\n"
    "from tails left join high using ({run}, p95)",
    'from = "quick"\n\n[[claim.check]]\nmetric = "p95"\nat = { load = [0.2, 0.4] }\n'
    'of = { scheme = ["HPCC", "DCQCN"] }':
    'from = "quick"\nat.load = [0.2, 0.4]\nof.scheme = ["HPCC", "DCQCN"]\n\n[[claim.check]]\nmetric = "p95"',
    'title = "All flows"\n': "",
}  # fmt: skip
"""The tiny study's claims, with each text once."""


def shared(folder: Path, changes: dict[str, str] = SHARED) -> Path:
    """A copy of the tiny study with changed claims."""
    study = Path(shutil.copytree(TINY, folder / "study"))
    text = (study / "claims.toml").read_text(encoding="utf-8")
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (study / "claims.toml").write_text(text, encoding="utf-8")
    return study


def test_shared_texts_change_no_outcome(tmp_path: Path) -> None:
    study = incast.load_study(shared(tmp_path))
    ran = incast.load_study(TINY).run(tmp_path / "out")
    judged = study.judge(shutil.copytree(ran.path, tmp_path / "again"))
    assert list(judged.claims) == list(ran.claims)
    assert judged.tables == ran.tables
    (before,), (after,) = ran.figures["1"].charts, judged.figures["1"].charts
    assert after.bars == before.bars
    # A chart without a title has the text of its metric, once.
    assert after.title == "p95 slowdown of all flows"
    page = (judged.path / "report.html").read_text(encoding="utf-8")
    assert "p95 slowdown of all flows. Bars" not in page
    assert "P95 slowdown" not in page


def test_the_sql_of_metrics_can_be_run_again(tmp_path: Path) -> None:
    study = incast.load_study(shared(tmp_path))
    ran = study.run(tmp_path / "out", scale="smoke")
    assert list(study.views) == ["load"]
    assert list(study.views["load"]) == ["tails", "high"]
    connection = ran.sweeps["load"].connect()
    study.create_views(connection, "load")
    rows = connection.sql(study.metrics["p95"].sql)
    assert rows.columns == ["load", "seed", "scheme", "value"]
    assert len(rows.fetchall()) == 4
    assert "{run}" not in str([study.metrics, study.tables, study.views])


@dataclass(frozen=True)
class Bad:
    """A mistake, the text at its place, and parts of its message."""

    old: str
    new: str
    at: str
    says: tuple[str, ...]


VIEW = "[metric.p95]"
BAD = {
    "a view that nothing uses": Bad(
        VIEW, '[view]\nunused = "from flows"\n\n[metric.p95]', "unused", ("no metric or table uses view `unused`",)
    ),
    "a view of a column that is not there": Bad(
        'as value from flows"',
        'as value from senders"\n\n[view]\nsenders = "select source as src from flows"',
        "senders =",
        ("view `senders`, which `load` uses: the SQL does not run", "source"),
    ),
    "a view that is no query": Bad(
        'as value from flows"',
        'as value from senders"\n\n[view]\nsenders = "drop table flows"',
        "senders =",
        ("the SQL of a view must be one query, `select ...`",),
    ),
    "a view named like a table": Bad(
        VIEW, '[view]\nflows = "from slowdown"\n\n[metric.p95]', "flows =", ("view `flows`", "already exists")
    ),
    "a view that reads a later one": Bad(
        'as value from flows"',
        'as value from senders"\n\n[view]\nsenders = "from later"\nlater = "from flows"',
        "senders =",
        ("view `senders`", "later"),
    ),
    "a column of all checks": Bad(
        'id = "C2"', 'id = "C2"\nat.lod = 0.2', "at.lod", ("no column `lod` to choose by", "did you mean `load`")
    ),
    "a value of all checks": Bad(
        'id = "C1"', 'id = "C1"\nat.load = 0.3', "at.load", ("no run has load `0.3`", "0.2, 0.4")
    ),
    "a column of one check and of all": Bad(
        'id = "C2"', 'id = "C2"\nat.load = 0.2', "at = {", ("`at` of the claim has chosen `load` already",)
    ),
    "a column chosen by `at` of a check and `of` of all": Bad(
        'id = "C2"', 'id = "C2"\nof.load = 0.2', "of.load", ("`at` has chosen `load` already",)
    ),
    "other columns in `against` of all": Bad(
        'id = "C3"', 'id = "C3"\nagainst.load = 0.2', "against.load", ("no column `load` to choose by",)
    ),
    "`against` of all without `of`": Bad(
        'id = "C2"', 'id = "C2"\nagainst.load = 0.2', "against.load", ("`against` chooses other columns than `of`",)
    ),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_what_is_wrong_is_told_where_it_stands(bad: Bad, tmp_path: Path) -> None:
    study = shared(tmp_path, {bad.old: bad.new})
    with pytest.raises(incast.ScenarioError) as caught:
        incast.load_study(study)
    text = str(caught.value)
    for part in bad.says:
        assert part in text, text
    assert caught.value.line is not None, text
    line = (study / "claims.toml").read_text(encoding="utf-8").splitlines()[caught.value.line - 1]
    assert bad.at in line, text
