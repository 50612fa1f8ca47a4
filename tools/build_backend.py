"""Build backend of pip: maturin, and the library of `incast memory` before a wheel.

`make` calls maturin directly: a checkout builds that library on first use.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from maturin import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)
from maturin import build_wheel as _build_wheel

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]
LIBRARY = Path(__file__).parents[1] / "python" / "incast" / "memory" / "library.py"


def build_wheel(
    wheel_directory: str, config_settings: dict[str, object] | None = None, metadata_directory: str | None = None
) -> str:
    """Builds a wheel, with the library."""
    library = runpy.run_path(str(LIBRARY))
    try:
        library["build"]()
    except library["BuildError"] as error:
        sys.exit(str(error))
    name: str = _build_wheel(wheel_directory, config_settings, metadata_directory)
    return name
