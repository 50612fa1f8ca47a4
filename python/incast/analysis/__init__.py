"""Analyses: computations or measurements of a study without a simulation, as a table.

from incast import analysis

plan = analysis.read(Path("table.toml"))
done = analysis.run(plan, Path("results/table"))
done.connect().sql("select * from figures")
"""

from incast.analysis.dataset import Analysis, open_analysis
from incast.analysis.plan import AnalysisPlan, Cell, read
from incast.analysis.runner import run

__all__ = ["Analysis", "AnalysisPlan", "Cell", "open_analysis", "read", "run"]
