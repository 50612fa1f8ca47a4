"""Marks tests that need network namespaces."""

from __future__ import annotations

import os

import pytest

from incast import testbed


def needs_networks() -> pytest.MarkDecorator:
    """Skips tests on a machine without network namespaces, and gives the reason.

    If CI is set, as in the project's checks, a missing program is an error of the checks: their tests fail.
    """
    why = testbed.available()
    lacking = why is not None and why.startswith("program `")
    skip = why is not None and not (lacking and os.environ.get("CI"))
    return pytest.mark.skipif(skip, reason=f"no rules in the kernel here: {why}")
