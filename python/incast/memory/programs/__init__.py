"""Real programs that stand for applications of the resource disaggregation study, with inputs that are generated.

The study ran Hadoop, Spark, GraphLab, Timely Dataflow, memcached and HERD on a cluster (Gao et al., OSDI 2016).
These are programs of one machine, from Debian's packages or Python's standard library, that do what those do: sort,
count words, rank pages, serve keys. The programs are real; what they work on is generated, and synthetic in that.
"""

from incast.memory.programs.program import PROGRAMS, Program, Ready

__all__ = ["PROGRAMS", "Program", "Ready"]
