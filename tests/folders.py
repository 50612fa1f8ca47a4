"""Folders of sweeps and studies, as `incast sweep` and `incast study run` write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import incast
from conftest import write
from incast import sweep
from incast.study.results import FORMAT
from incast.sweep.dataset import write_runs

TINY = """\
title = "two loads, two seeds"
seed = 1

[fabric.star]
hosts = 6

[[workload]]
[workload.poisson]
load = 0.3
sizes = { uniform = { min = "1kB", max = "100kB" } }
duration = "60us"

[scheme.DCQCN]
control = "dcqcn"

[scheme.HPCC]
control = "hpcc"
"""
SWEEP = """\
scenario = "tiny.toml"
title = "two loads, two seeds"

[[vary]]
path = "workload[0].poisson.load"
values = [0.3, 0.6]

[[vary]]
path = "seed"
values = [1, 2]
"""
FAILED = {"key": "none", "columns": {"load": 0.6, "seed": 2}, "scheme": "PFC only", "state": "failed"}


def make_sweep(folder: Path) -> Path:
    """Two loads by two seeds by two schemes, and a run that failed."""
    write(folder.parent, TINY, "tiny.toml")
    sweep.run(sweep.read(write(folder.parent, SWEEP, "sweep.toml")), folder, jobs=1)
    file = folder / "sweep.json"
    index = json.loads(file.read_text(encoding="utf-8"))
    index["runs"].append({**FAILED, "error": "the disk is full"})
    file.write_text(json.dumps(index), encoding="utf-8")
    write_runs(folder)
    return folder


def make_alphas(folder: Path) -> Path:
    """A sweep over thresholds of PFC with like ratios."""
    return make_varied(folder, "switch.pfc_mode.dynamic.alpha.value", [0.0625, 0.125, 1])


def make_varied(folder: Path, path: str, values: Sequence[float | str]) -> Path:
    """A sweep over values of one field of a tiny scenario."""
    write(folder.parent, TINY, "tiny.toml")
    text = f'scenario = "tiny.toml"\n[[vary]]\npath = {json.dumps(path)}\nvalues = {json.dumps(values)}\n'
    return sweep.run(sweep.read(write(folder.parent, text, "sweep.toml")), folder, jobs=1).path


def check(label: str, verdict: str, **more: Any) -> dict[str, Any]:
    """One check of a claim."""
    usual: dict[str, Any] = {
        "metric": "p99",
        "series": label,
        "check": 0,
        "unit": None,
        "reason": None,
        "expect": "ratio below 1",
        "value": None,
        "low": None,
        "high": None,
        "confidence": 0.95,
        "seeds": 2,
        "per_seed": [],
    }
    return {"label": label, "verdict": verdict, **usual, **more}


CLAIMS: list[dict[str, Any]] = [
    {
        "id": "C1",
        "statement": "HPCC keeps short flows faster than DCQCN.",
        "source": "a test",
        "origin": "direction",
        "calibration": None,
        "verdict": "holds",
        "reason": None,
        "explanation": None,
        "checks": [check("HPCC / DCQCN at load 0.3", "holds", value=0.712345, low=0.65, high=0.77)],
    },
    {
        "id": "C2",
        "statement": "DCQCN pauses <nothing>.",
        "source": "a test",
        "origin": "direction",
        "calibration": None,
        "verdict": "fails",
        "reason": None,
        "explanation": "Its *marks* come too late:\n\n- the buffer is small <script>alert(1)</script>\n",
        "checks": [check("pauses at load 0.6", "fails", value=1.25, low=1.2, high=1.3, expect="below 1", unit="ms")],
    },
    {
        "id": "C3",
        "statement": "HPCC is fair.",
        "source": "a test",
        "origin": "ours",
        "calibration": None,
        "verdict": "not measured",
        "reason": "needs scale paper",
        "explanation": None,
        "checks": [],
    },
]


FIGURE: dict[str, Any] = {
    "id": "8a",
    "title": "Slowdowns",
    "source": "figure 8(a) <of a test>",
    "about": "Curves.",
    "claims": ["C1", "C2"],
    "charts": [
        {
            "title": "p99", "about": "p99 slowdown", "unit": "", "x": "load", "series": "scheme", "panels": None,
            "bars": [
                {"x": 0.3, "series": scheme, "panel": None, "value": value, "low": 1.0, "high": 4.5, "seeds": 3}
                for scheme, value in (("HPCC", 2.0), ("DCQCN", 4.0))
            ],
            "missing": [], "absent": ["load 0.6"], "order": ["HPCC", "DCQCN"], "published_source": "caption",
            "published": [
                {"x": 0.3, "series": "DCQCN", "panel": None, "value": 5.0},
                {"x": 0.6, "series": None, "panel": None, "value": 3.0},
            ],
        }
    ],
    "tables": [],
    "pauses": [],
}  # fmt: skip


def make_study(folder: Path) -> Path:
    """The results of a study of one sweep and three claims, one of each verdict."""
    folder.mkdir()
    make_sweep(folder / "fct")
    about = {"format": FORMAT, "study": "tiny", "title": "A tiny study", "source": "ours", "scale": "smoke"}
    (folder / "study.json").write_text(
        json.dumps(
            {
                **about,
                "incast": incast.__version__,
                "date": "2026-11-27",
                "sweeps": ["fct", "later"],
                "wall_s": 1.0,
                "cpu_s": 1.0,
            }
        ),
        encoding="utf-8",
    )
    claims = {"study": "tiny", "scale": "smoke", "claims": CLAIMS, "figures": [FIGURE]}
    (folder / "claims.json").write_text(json.dumps(claims), encoding="utf-8")
    return folder
