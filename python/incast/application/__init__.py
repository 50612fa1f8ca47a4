"""Slowdown of applications with remote memory.

Computes slowdowns from completion times of page fetches:

from incast import application

for row in application.application_slowdown("results/wordcount", "seed_draft"):
    print(row.calibration, row.application, row.scheme, row.slowdown, row.evidence)

The model is that of Gao et al., "Network Requirements for Resource Disaggregation", OSDI 2016: a thread waits at each
access to remote memory for a completion time drawn from the memory flows of a simulation. The rate of accesses comes
from a calibration or from a trace of page faults.
"""

from incast.application.calibration import Application, Calibration, calibrations
from incast.application.latencies import Latencies
from incast.application.models import ClosedLoop, Paging
from incast.application.replay import Replay, Segments, replay
from incast.application.slowdown import ApplicationSlowdown, application_slowdown, trace_slowdown
from incast.application.table import calibration_rows
from incast.application.trace import read_trace

__all__ = [
    "Application",
    "ApplicationSlowdown",
    "Calibration",
    "ClosedLoop",
    "Latencies",
    "Paging",
    "Replay",
    "Segments",
    "application_slowdown",
    "calibration_rows",
    "calibrations",
    "read_trace",
    "replay",
    "trace_slowdown",
]
