"""Comparison of results with other results or the output of another simulator, by flow size, flow by flow, by port."""

from incast.comparison.compare import compare
from incast.comparison.comparison import Bin, Comparison, Difference, Flow, Percentiles, Summary, Unmatched
from incast.comparison.frames import compare_pauses
from incast.comparison.lengths import compare_queues
from incast.comparison.ports import PortComparison, Rows

__all__ = [
    "Bin",
    "Comparison",
    "Difference",
    "Flow",
    "Percentiles",
    "PortComparison",
    "Rows",
    "Summary",
    "Unmatched",
    "compare",
    "compare_pauses",
    "compare_queues",
]
