"""Compiles the C programs that tests run under `incast memory`."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Compiled = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Compiles a program of the folder `programs` once for each set of compiler options; returns its path."""
    folder = tmp_path_factory.mktemp("programs")

    @functools.cache
    def compile_(name: str, *flags: str) -> Path:
        program = folder / "".join([name, *(flag.replace("/", "") for flag in flags)])
        source = Path(__file__).parent / "programs" / f"{name}.c"
        subprocess.run(["cc", "-O2", "-pthread", source, *flags, "-o", program], check=True)
        return program

    return compile_
