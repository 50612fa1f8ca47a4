"""Sweeps: one scenario run many times with varied parameters, into one dataset.

from incast import sweep

plan = sweep.read("load.toml")
done = sweep.run(plan, "results/load")
done.connect().sql("select load, scheme, avg(p99) from slowdown group by all")
"""

from incast.sweep.dataset import Sweep, open_sweep
from incast.sweep.plan import Plan, Planned, read
from incast.sweep.progress import Activity, SweepProgress
from incast.sweep.runner import run

__all__ = ["Activity", "Plan", "Planned", "Sweep", "SweepProgress", "open_sweep", "read", "run"]
