"""File descriptors, of which incast needs some for each recorded process."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

SPARE = 16
"""File descriptors reserved for everything else (our choice)."""
NO_DESCRIPTORS = "the limit of open files is too low (ulimit -n); incast needs three for each process"


@contextmanager
def raised_limit() -> Iterator[int]:
    """Raise this process's limit of open files as far as allowed in this context; yields the number that can be opened.

    Processes started in this context inherit the limit.
    """
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        yield max(0, most - len(os.listdir("/proc/self/fd")) - SPARE)  # noqa: PTH208 - names alone are counted
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))
