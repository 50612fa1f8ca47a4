"""`incast list`."""

from __future__ import annotations

import json
from typing import Any, Literal

from incast import _core
from incast.errors import translated

Kind = Literal["fabrics", "workloads", "sizes", "controls", "profiles"]


EXAMPLES = """
Examples:
  incast list
  incast list controls
  incast list controls dcqcn
"""


def list_(kind: Kind | None = None, name: str | None = None, /, *, json_: bool = False) -> None:
    """List what a scenario can name: fabrics, workloads, size distributions, congestion controls, profiles.

    Parameters
    ----------
    kind
        One kind only.
    name
        One entry of that kind, with all its parameters.

    """
    with translated():
        catalogue: dict[str, Any] = json.loads(_core.catalogue(kind, name))
    print(catalogue)
