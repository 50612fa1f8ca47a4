"""File descriptors: incast needs some for each process that it records."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

SPARE = 16
"""File descriptors that are kept for everything else (our choice)."""
NO_DESCRIPTORS = "incast may not open more files (ulimit -n), and needs three for each process that runs"


@contextmanager
def raised_limit() -> Iterator[int]:
    """Raise this process's limit of open files as far as it may, as long as this lasts; gives how many can be opened.

    Processes that are started meanwhile inherit the limit.
    """
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        yield max(0, most - len(os.listdir("/proc/self/fd")) - SPARE)  # noqa: PTH208 - names alone are counted
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))
