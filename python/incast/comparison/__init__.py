"""Results held against the output of another simulator, size bin by size bin and flow by flow."""

from incast.comparison.compare import compare
from incast.comparison.comparison import Bin, Comparison, Flow, Unmatched, Percentiles, Summary

__all__ = ["Bin", "Comparison", "Flow", "Unmatched", "Percentiles", "Summary", "compare"]
