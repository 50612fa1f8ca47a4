"""The stub of the compiled module is what the module is."""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT


def test_stub() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "incast._core"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
