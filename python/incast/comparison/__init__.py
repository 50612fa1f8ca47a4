"""Comparison of results with other results or the output of another simulator, by flow size and flow by flow."""

from incast.comparison.compare import compare
from incast.comparison.comparison import Bin, Comparison, Difference, Flow, Percentiles, Summary, Unmatched

__all__ = ["Bin", "Comparison", "Difference", "Flow", "Percentiles", "Summary", "Unmatched", "compare"]
