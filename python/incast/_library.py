"""Optional libraries."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from incast.errors import MissingLibraryError


def needed(name: str, by: str = "this") -> ModuleType:
    """Import a module of an optional library.

    Args:
        name: The module, such as `numpy` or `matplotlib.figure`.
        by: The part of incast that needs it, for the message.

    Raises:
        MissingLibraryError: It cannot be imported.

    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing(name.partition(".")[0], by, error) from error


def importable(library: str) -> bool:
    """True if a library is installed."""
    return importlib.util.find_spec(library) is not None


def missing(library: str, by: str, error: ImportError | None = None) -> MissingLibraryError:
    """The error about a library that is not installed, or broken."""
    absent = error is None or (isinstance(error, ModuleNotFoundError) and error.name == library)
    return MissingLibraryError(f"{by} needs {library}: pip install {library}{'' if absent else f' ({error})'}")
