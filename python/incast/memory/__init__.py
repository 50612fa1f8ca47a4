"""Real programs with part of their memory remote: record page fetches, or delay them by simulated times.

from incast import memory

found = memory.record(["python3", "-c", "print(sum(list(range(2_000_000))))"], "results/sum")
print(found.summary.fetches_per_s)

Linux serves a program's page faults to a library that is preloaded into it (userfaultfd). The instrument is that of the
resource disaggregation study (Gao et al., "Network Requirements for Resource Disaggregation", OSDI 2016), which was a
swap device.
"""

from incast.memory.delays import Delays
from incast.memory.injection import Injection, Timing, inject
from incast.memory.possible import impossible
from incast.memory.protocol import Bytes, Share
from incast.memory.recording import Recording, open_recording, record
from incast.memory.run import Instrument
from incast.memory.segments import recorded_segments
from incast.memory.summary import Summary
from incast.memory.traffic import Traffic, write_traffic

__all__ = [
    "Bytes",
    "Delays",
    "Injection",
    "Instrument",
    "Recording",
    "Share",
    "Summary",
    "Timing",
    "Traffic",
    "impossible",
    "inject",
    "open_recording",
    "record",
    "recorded_segments",
    "write_traffic",
]
