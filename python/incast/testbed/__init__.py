"""Measures the cost of rules in the kernel of this machine, in temporary network namespaces.

from incast import testbed

if testbed.available() is None:
    cost = testbed.measure(testbed.Plan(seconds=1))
    print(testbed.text(cost))
    cost.table().to_polars()
"""

from incast.testbed.cost import Cost, CostProgress, Figure, Plan, Sample, measure
from incast.testbed.rules import ruleset
from incast.testbed.testbed import Testbed, available
from incast.testbed.text import text
from incast.testbed.trend import Trend, trend

__all__ = [
    "Cost",
    "CostProgress",
    "Figure",
    "Plan",
    "Sample",
    "Testbed",
    "Trend",
    "available",
    "measure",
    "ruleset",
    "text",
    "trend",
]
