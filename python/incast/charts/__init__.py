"""The data of every chart, and how it is drawn: one home for the page, notebooks, vector files and CSV."""

from incast.charts.cdf import cdf
from incast.charts.chart import Chart, Field
from incast.charts.closing import closing
from incast.charts.counters import counters
from incast.charts.cycle import Drawing, cycle
from incast.charts.fabric import fabric
from incast.charts.iterations import iterations
from incast.charts.pauses import pauses
from incast.charts.rates import rates
from incast.charts.series import queues
from incast.charts.slowdown import slowdown
from incast.charts.source import Source
from incast.charts.vms import guarantees, vms

__all__ = [
    "Chart",
    "Drawing",
    "Field",
    "Source",
    "cdf",
    "closing",
    "counters",
    "cycle",
    "fabric",
    "guarantees",
    "iterations",
    "pauses",
    "queues",
    "rates",
    "slowdown",
    "vms",
]
